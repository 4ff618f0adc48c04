"""Components of the program: state, threads, panels and controllers, made and connected.

app.shell.application adds the actions and the start and end of the program.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject

from app.data.drawing import DrawingController
from app.data.preview import PreviewController
from app.export.controller import ExportController
from app.export.snapshot import export_snapshot
from app.library.compare import CompareController
from app.library.controller import LibraryController
from app.places import Places, writable_places
from app.playback.display import DisplayController
from app.playback.live_files import LiveFileController
from app.playback.open_runs import OpenRunController
from app.playback.readout import Readout
from app.playback.transport import PlaybackController
from app.scenes.controller import SceneController
from app.scenes.links import LinkController
from app.scenes.named_items import BookmarkController, LayoutController, SelectionController
from app.scenes.session_keeper import SessionKeeper
from app.shell.action_state import ActionStateController
from app.shell.appearance import AppearanceController
from app.shell.commands import CommandController
from app.shell.curve_choice import CurveChoiceController
from app.shell.drawers import DrawerController
from app.shell.help import HelpController
from app.shell.lifecycle import ShutdownController, StartupController
from app.shell.main_window import MainWindow
from app.shell.record import RecordController
from app.shell.settings import SettingsController
from app.shell.shortcuts import ShortcutController
from app.shell.tour import TourController
from app.shell.view_menu import ViewMenuController
from app.state.session import Session
from app.stories.controller import StoryController
from app.stories.notes import NoteController
from app.stories.player import StoryPlayer
from app.study.controller import StudyController
from app.study.result import ResultController
from app.theory.controller import TheoryController
from app.theory.judge import Judge
from app.theory.margin_worker import MarginWorker
from app.training.branching import BranchController
from app.training.cell_runs import CellRunController
from app.training.controller import TrainingController
from app.training.fields import in_words
from app.training.files import FileController
from app.training.first_start import FirstStartNotice
from app.training.run_choice import RunChoiceController
from app.training.run_questions import RunQuestions
from app.training.run_worker import RunWorker
from app.training.seeds import SeedController
from core.figures.palette import PALETTES


class Components(QObject):
    """Controllers of all features, connected with each other and with the window."""

    def __init__(
        self,
        places: Places,
        names: Sequence[str] = (),
        margins: MarginWorker | None = None,
        judge: Judge | None = None,
    ) -> None:
        """Open files by their names; the default workers compute theory unless others are given."""
        super().__init__()
        places, unkept = writable_places(places)
        self.places = places
        self.settings = SettingsController(places, unkept)
        self.session = Session()
        self.worker = RunWorker(self)
        intent = self.settings.intent()
        self.window = MainWindow(PALETTES[intent.palette])
        window = self.window
        self.display = DisplayController(self.session, intent, self)
        self.open_runs = OpenRunController(self.display, in_words, self)
        form = window.form
        self.questions = RunQuestions(window)
        self.training = TrainingController(
            self.display, self.worker, form, self.questions, places, self
        )
        self.seeds = SeedController(self.training, self)
        self.run_choice = RunChoiceController(self.display, self.training, self)
        self.following = LiveFileController(self.display, self.open_runs, self)
        self.branches = BranchController(self.display, self.training, form, self.questions, self)
        self.playback = PlaybackController(self.display, window.transport, self)
        self.files = FileController(
            self.session, self.training, form, self.questions, places, window
        )
        self.cell_runs = CellRunController(
            self.session, self.training, self.run_choice, self.files, places, window
        )
        self._make_scenes(names)
        self.drawers = DrawerController(window)
        self.appearance = AppearanceController(window, self.display, self.scenes, self.drawers)
        self._make_features(margins, judge)
        self._make_tools()
        self._connect_window()
        self._connect_features()
        self._connect_worker()
        self._connect_messages()

    # -------------------------------------------------------------------------------- making

    def _make_tools(self) -> None:
        """Make the controllers of actions, menus and help."""
        window = self.window
        self.help = HelpController(window, self.display)
        self.curve_choice = CurveChoiceController(window, self.display, self.compare)
        self.view_menu = ViewMenuController(
            window, self.display, self.export, self.help, self.curve_choice, self.compare
        )
        self.tour = TourController(window, self.display, self.training, self.playback, self.drawers)
        self.record = RecordController(
            window, self.training, self.branches, self.files, self.export, self.scenes
        )
        self.shutdown = ShutdownController(
            window, self.session, self.studies, self.shut_down, self.save
        )
        self.action_state = ActionStateController(
            window, self.display, self.appearance, self.readout
        )
        settings = self.settings.values
        self.commands = CommandController(
            window, self.curve_choice, self.library.librarian, settings.commands
        )
        self.shortcuts = ShortcutController(window, settings.shortcuts)

    def _make_features(self, margins: MarginWorker | None, judge: Judge | None) -> None:
        """Make the controllers that work on open and on recorded runs."""
        window, settings = self.window, self.settings.values
        self.preview = PreviewController(window, window.form, self.training, self.files)
        self.drawing = DrawingController(window, window.form, self.training, self.scenes)
        self.readout = Readout(self.display, window.inspector, window.status, self)
        self.theory = TheoryController(
            window.theory,
            window.times,
            window.margin_choice,
            self.display,
            self.playback,
            margins or MarginWorker(),
            judge or Judge(),
            self.worker.compiler,
            self,
        )
        snapshot = partial(export_snapshot, self.display, self.theory, self.selections)
        last = settings.export_tab, settings.export_preset
        self.export = ExportController(window, snapshot, *last)
        self.theory.throttle_while(self.export.waited_for)
        self._make_stories()
        self.first = FirstStartNotice(self.worker, self.display, window.bar, self)
        self.studies = StudyController(
            window,
            window.form,
            self.training,
            self.files,
            self.places,
            settings.cluster,
            settings.jobs,
        )
        palette = PALETTES[self.display.intent.palette]
        figures = self.export.figure_process
        self.result = ResultController(window.result, self.cell_runs, figures, palette, self)
        self.compare = CompareController(
            window, window.pages, self.session, self.display, self.playback, self.questions
        )
        self.library = LibraryController(
            window,
            window.columns,
            self.session,
            self.places,
            self.files,
            self.compare,
            self.theory,
            self.worker,
            self.following,
            settings.library_columns,
            1e6 * settings.first_starts_mb,
        )

    def _make_stories(self) -> None:
        """Make the controllers of notes and stories."""
        window, display, scenes = self.window, self.display, self.scenes
        self.notes = NoteController(window, window.notes, window.transport.slider, display)
        player = StoryPlayer(window, window.caption, display, scenes)
        owners = (scenes, self.training, self.files, self.export)
        self.stories = StoryController(window, window.stories, player, display, *owners)

    def _make_scenes(self, names: Sequence[str]) -> None:
        """Make the controllers of scenes (app.scenes.scene): undo, links, bookmarks, sessions."""
        window, settings = self.window, self.settings.values
        self.scenes = SceneController(window.form, self.display, self.training, self.files)
        self.links = LinkController(window, self.scenes, self.training, self.files)
        self.bookmarks = BookmarkController(
            window, window.bookmarks, window.transport.slider, self.display, self.scenes
        )
        self.selections = SelectionController(window, window.selections, self.display)
        self.layouts = LayoutController(window, window.layouts, self.scenes, settings.layouts)
        self.keeper = SessionKeeper(self.places, window, self.display, self.scenes)
        self.startup = StartupController(
            window, self.training, self.files, self.scenes, self.keeper, names, settings.restores
        )

    @abstractmethod
    def save(self) -> str:
        """Save the settings; return a sentence if the disk is full."""

    @abstractmethod
    def shut_down(self) -> None:
        """Stop the training, save the settings and close the files."""

    # ----------------------------------------------------------------------------- connecting

    def _connect_window(self) -> None:
        """Connect the window's own widgets with the features."""
        window, files = self.window, self.files
        welcome, chooser = window.welcome, window.chooser
        for chosen in (window.dropped, welcome.file_chosen, self.commands.open_requested):
            chosen.connect(files.open_files)
        window.recent.triggered.connect(files.open_recent)
        window.chips.chosen.connect(self.run_choice.choose)
        self.run_choice.chosen.connect(window.views.reveal)
        window.chips.close_requested.connect(self.run_choice.close_run)
        self.run_choice.step_named.connect(self.scenes.name_next_step)
        window.chips.chip_moved.connect(self.display.move_run)
        for chosen in (chooser.chosen, self.commands.study_chosen, self.studies.study_chosen):
            chosen.connect(self.training.choose)
            chosen.connect(self.result.offer)
        chooser.open_requested.connect(files.open)
        chooser.browse_requested.connect(self.studies.browse)
        welcome.run_requested.connect(self.training.run)
        welcome.open_requested.connect(files.open)
        welcome.own_data_requested.connect(self.drawing.show)
        welcome.paper_chosen.connect(self.studies.browse_paper)
        self.view_menu.note_requested.connect(self.notes.request_note)
        welcome.story_chosen.connect(self.stories.play_study)
        self.stories.offer_changed.connect(window.result.set_story)
        self.commands.study_offered.connect(self.training.offer)
        window.form.attention_needed.connect(self.drawers.show_form)
        self.theory.alarms_changed.connect(window.transport.slider.set_alarms)

    def _connect_features(self) -> None:
        """Connect features that do not know each other."""
        for part in (self.library, self.studies, self.result, self.preview, self.drawing):
            self.appearance.palette_changed.connect(part.set_colours)
        self.training.study_loaded.connect(self.action_state.show_study)
        self.training.study_loaded.connect(self.result.show_study)
        self.result.result_offered.connect(self.drawers.show_result)
        self.result.whole_requested.connect(self.studies.show_window)
        self.keeper.restored.connect(self.training.refresh_proposals)
        self.drawing.runs_superseded.connect(self.library.actions.trash_superseded)
        self.readout.set_names(self.selections.name_of)
        self.readout.set_reach(self.theory.describe_reach)
        self.theory.margin_work_changed.connect(self.action_state.show_margin_work)
        self.library.librarian.runs_listed.connect(self.action_state.show_recorded)
        self.selections.names_changed.connect(self.readout.schedule_update)
        self.compare.visibility_changed.connect(self.help.leave_welcome)
        for opener in (self.training, self.files):
            opener.runs_replaced.connect(self.help.leave_welcome)
            # Before comparisons are left, since panels must not draw frames of runs that they
            # lack.
            opener.runs_replaced.connect(self.display.rearrange)
            opener.runs_replaced.connect(self.compare.leave)
            opener.runs_replaced.connect(self.playback.play_from_start)
            opener.runs_replaced.connect(self.stories.player.return_to_moment)
        self.open_runs.pending_shown.connect(self.training.runs_replaced)
        self.files.runs_restored.connect(self.help.leave_welcome)
        self.files.runs_restored.connect(self.display.rearrange)

    def _connect_worker(self) -> None:
        """Connect the training thread."""
        worker, open_runs = self.worker, self.open_runs
        worker.run_replaced.connect(open_runs.on_replaced)
        worker.run_started.connect(open_runs.on_started)
        worker.progress.connect(open_runs.on_frames)
        worker.finished.connect(open_runs.on_finished)
        worker.finished.connect(self.drawing.tidy)
        worker.error.connect(open_runs.on_failed)
        worker.status.connect(self.readout.show_message)
        worker.status.connect(self.display.set_waiting)
        worker.ready.connect(self.commands.ready)

    def _connect_messages(self) -> None:
        """Connect the controllers' messages with the message bar and the status line."""
        bar, readout = self.window.bar, self.readout
        for busy in (self.training, self.studies):
            busy.message.connect(bar.show_message)
            busy.status.connect(readout.show_message)
        editors = (self.layouts, self.bookmarks, self.selections, self.record, self.stories)
        for part in (self.library, self.links, *editors):
            part.message.connect(bar.show_message)
            part.status.connect(bar.show_notice)
        self.library.actions.runs_changed.connect(bar.show_notice)
        for update in (self.display.update_own_names, self.compare.update_names):
            self.library.librarian.operations_finished.connect(update)
        opening = (self.files, self.open_runs, self.following, self.branches, self.keeper)
        views = (self.playback, self.compare, self.scenes)
        for source in (*opening, *views, self.questions, self.drawing, self.cell_runs):
            source.message.connect(bar.show_message)
        self.notes.message.connect(bar.show_message)
        self.notes.notice.connect(bar.show_notice)
        self.training.notice.connect(self.action_state.show_choice)
        self.export.error.connect(bar.show_message)
        for finished in (self.export.finished, self.export.export_refused, self.view_menu.status):
            finished.connect(bar.show_notice)
        self.theory.status.connect(self.window.status.show_work)
        self.window.theory.summary_changed.connect(self.window.status.show_summary)
