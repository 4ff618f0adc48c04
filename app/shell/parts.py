"""What the program is made of: state, threads, panels and controllers, and who knows whom.

The wires between them are in app.shell.wiring, their start and end in app.shell.application.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from PySide6.QtCore import QObject

from app import actions
from app.data.drawing import DrawingController
from app.data.preview import PreviewController
from app.export.controller import ExportController
from app.export.drawn import drawn
from app.library.compare import CompareController
from app.library.controller import LibraryController
from app.places import Places, writable_places
from app.playback.display import DisplayController
from app.playback.following import FollowController
from app.playback.player import Playback
from app.playback.readout import Readout
from app.scenes.bookmarks import BookmarkController
from app.scenes.controller import SceneController
from app.scenes.folding import Folding
from app.scenes.layouts import LayoutController
from app.scenes.links import LinkController
from app.scenes.selections import SelectionController
from app.scenes.session_keeper import SessionKeeper
from app.shell.closing import Closing
from app.shell.commands import CommandController
from app.shell.documents import DocumentsController
from app.shell.help import HelpController
from app.shell.looks import Looks
from app.shell.main_window import MainWindow
from app.shell.memory import Memory
from app.shell.opening import FIRST_STUDY, Opening
from app.shell.record import RecordController
from app.shell.shortcuts import ShortcutController
from app.shell.system_theme import SystemTheme
from app.shell.tour import TourController
from app.shell.upkeep import Upkeep
from app.shell.welcome import WelcomeController
from app.state.exports import Exportable
from app.state.intent import VIEW_OPTIONS
from app.state.session import Session
from app.study.browser import StudyController
from app.study.controller import WholeStudyController
from app.theory.controller import TheoryController
from app.theory.final_margins import FinalMargins
from app.theory.first_start import FirstStart
from app.theory.judge import Judge
from app.theory.margin_worker import MarginWorker
from app.training.branching import BranchController
from app.training.controller import TrainingController
from app.training.files import FileController
from app.training.run_questions import RunQuestions
from app.training.run_worker import RunWorker
from core.figures.palette import PALETTES
from core.studies.study import load_study


class Parts(QObject):
    """What the program is made of, none of it wired up yet."""

    def __init__(
        self,
        places: Places,
        names: Sequence[str] = (),
        margins: MarginWorker | None = None,
        judge: Judge | None = None,
    ) -> None:
        """Open files by their names; theory is computed by the usual workers or by those given."""
        super().__init__()
        places, unkept = writable_places(places)
        self.places = places
        self.memory = Memory(places, unkept)
        self.session = Session()
        self.worker = RunWorker(self)
        intent = self.memory.intent()
        self.window = MainWindow(PALETTES[intent.palette])
        window = self.window
        self.display = DisplayController(self.session, intent, self)
        form = window.form
        self.questions = RunQuestions(window)
        self.training = TrainingController(
            self.display, self.worker, form, self.questions, places, self
        )
        self.following = FollowController(self.display, self)
        self.branches = BranchController(self.display, self.training, form, self.questions, self)
        self.playback = Playback(self.display, window.transport, self)
        self.files = FileController(
            self.session, self.training, form, self.questions, places, window
        )
        self.looks = Looks(window, self.display)
        self.theme = SystemTheme(self.looks, self.display)
        self._make_scenes(names)
        self._make_features(margins, judge)
        self.help = HelpController(window, self.session)
        self.documents = DocumentsController(window)
        self.tour = TourController(window, self.display, self.training, self.playback)
        self.welcome = WelcomeController(window, self.display)
        self.record = RecordController(
            window, self.training, self.branches, self.files, self.export, self.scenes
        )
        self.closing = Closing(window, self.session, self.whole, self.put_away, self.save)
        self._make_actions()

    # -------------------------------------------------------------------------------- making

    def _make_features(self, margins: MarginWorker | None, judge: Judge | None) -> None:
        """Make what works on the runs that are open, and on recorded ones."""
        window, settings = self.window, self.memory.settings
        self.export = ExportController(window, self._exportable)
        self.preview = PreviewController(window, window.form, self.training, self.files)
        self.drawing = DrawingController(window, window.form, self.training, self.scenes)
        self.readout = Readout(self.display, window.inspector, window.status, self)
        self.theory = TheoryController(
            window.theory,
            window.times,
            window.margin_choice,
            self.display,
            margins or MarginWorker(),
            judge or Judge(),
            self,
        )
        self.theory.give_way(self.export.waited_for)
        self.final = FinalMargins(self.display, self.theory, self)
        self.first = FirstStart(self.worker, self.display, self.theory.margins, window.bar, self)
        self.whole = WholeStudyController(
            window, self.places, settings.cluster, settings.jobs, window.form.study
        )
        most, columns = 1e6 * settings.first_starts_mb, settings.library_columns
        self.library = LibraryController(
            window, self.session, self.places, columns, first_settings, most
        )
        self.library.librarian.sharing(self.theory.share)
        self.compare = CompareController(
            window, window.pages, self.session, self.display, self.playback
        )

    def _make_scenes(self, names: Sequence[str]) -> None:
        """All that is made of scenes (app.state.scene): undo, links, bookmarks, sessions."""
        window, settings = self.window, self.memory.settings
        self.scenes = SceneController(window.form, self.display, self.training, self.files)
        self.links = LinkController(window, self.scenes)
        self.bookmarks = BookmarkController(
            window, window.bookmarks, window.transport.slider, self.display, self.scenes
        )
        self.selections = SelectionController(window, window.selections, self.display)
        self.layouts = LayoutController(window, window.layouts, self.scenes, settings.layouts)
        self.keeper = SessionKeeper(self.places, window, self.display, self.scenes)
        self.opening = Opening(
            window, self.training, self.files, self.scenes, self.keeper, names, settings.restores
        )

    def _make_actions(self) -> None:
        settings = self.memory.settings
        self.commands = CommandController(
            self.window, self.looks, self.library.librarian, settings.commands
        )
        self.studies = StudyController(self.window, self.training)
        self.shortcuts = ShortcutController(self.window, settings.shortcuts)
        self.actions = actions.make_actions(self.window, _handlers(self))
        self.window.set_actions(self.actions)
        self.looks.set_actions(self.actions)
        self.commands.set_actions(self.actions)
        self.shortcuts.set_actions(self.actions)
        # An action that is set as it was says nothing, so that the panels are told as well.
        self.folding = Folding(self.window, self.actions, self.memory.panels())
        self.window.resized.connect(self.folding.fit)
        self.tour.set_actions(self.actions, self.folding)
        self.looks.set_form(self.actions["form"].isChecked())
        self.looks.set_inspector(self.actions["inspector"].isChecked())
        self.looks.set_times(self.actions["times"].isChecked())
        self.actions["library"].setChecked(settings.library_shown)
        self.actions["dark"].setChecked(self.display.intent.palette == "dark")
        self.theme.set_action(self.actions["system"])
        self.actions["system"].setChecked(settings.follows_system)
        self.window.set_recent(settings.recent)
        self.actions["last"].setEnabled(self.keeper.previous is not None)
        self.actions["restores"].setChecked(settings.restores)
        self.scenes.set_actions(self.actions, self.folding)
        self.upkeep = Upkeep(self.window, self.display, self.looks, self.readout, self.actions)
        self.upkeep.show_wishes()

    @abstractmethod
    def save(self) -> str:
        """Save the settings; return a sentence if the disk is full."""

    @abstractmethod
    def put_away(self) -> None:
        """Stop the training, save the settings and close the files."""

    # ------------------------------------------------------------------------------- asked

    def _exportable(self) -> Exportable:
        """The runs that are shown, as they are drawn."""
        return drawn(self.display, self.theory, self.selections)


def _handlers(parts: Parts) -> actions.Handlers:
    """Return what each action does."""
    toggles = [option.action for option in VIEW_OPTIONS.values() if option.action]
    return {
        **dict.fromkeys(toggles, parts.looks.set_option),
        # File
        **{"open": parts.files.open, "open_beside": parts.files.open_beside},
        **{"save_study": parts.files.save_study},
        **{"last": parts.keeper.again, "record": parts.record.save},
        **{"restores": parts.opening.set_restores},
        **{"figure": parts.export.figure, "copy_figure": parts.export.copy_figure},
        **{"film": parts.export.film, "page": parts.export.page, "data": parts.export.data},
        **{"cite": parts.export.cite},
        **{"folder": parts.files.show_folder, "close": parts.training.close_runs},
        **{"quit": parts.window.close},
        # Edit
        **{"undo": parts.scenes.undo, "redo": parts.scenes.redo},
        **{"name": parts.selections.ask, "selection_back": parts.scenes.back},
        **{"selection_forward": parts.scenes.forward},
        **{"copy_link": parts.links.copy, "open_link": parts.links.ask},
        **{"register": parts.links.register, "save_view": parts.links.save},
        # Experiment
        **{"run": parts.training.run, "pause": parts.training.pause},
        **{"stop": parts.training.stop, "restart": parts.training.restart},
        **{"seed": parts.training.new_seed, "weights": parts.training.new_weights},
        **{"further": parts.branches.continue_runs, "branch": parts.branches.offer},
        **{"rewind": parts.branches.rewind},
        **{"margins_again": parts.theory.again, "margins_stop": parts.theory.cancel},
        **{"studies": parts.studies.show, "whole": parts.whole.show},
        **{"cells": parts.training.choose_cells},
        **{"preview": parts.preview.show, "draw": parts.drawing.show},
        # Play
        **{"play": parts.playback.toggle, "back": parts.playback.back},
        **{"forward": parts.playback.forward, "start": parts.playback.to_start},
        **{"end": parts.playback.to_end, "jump": parts.playback.jump},
        **{"bookmark": parts.bookmarks.ask},
        **{"slower": parts.playback.slower, "faster": parts.playback.faster},
        **{"loop_from": parts.playback.from_here},
        **{"loop_to": parts.playback.to_here, "loop_all": parts.playback.no_interval},
        **{"follow": parts.playback.set_follow},
        # View
        **{"coordinates": parts.looks.choose_coordinates, "compare": parts.compare.set_shown},
        **{"unpin": parts.display.unpin},
        **{"library": parts.library.set_shown, "dark": parts.looks.set_dark},
        **{"system": parts.theme.set_follows, "lecture": parts.looks.set_lecture},
        **{"form": parts.looks.set_form, "times": parts.looks.set_times},
        **{"inspector": parts.looks.set_inspector},
        # Help
        **{"palette": parts.commands.show, "shortcuts": parts.shortcuts.show},
        **{"what": parts.help.what},
        **{"welcome": parts.welcome.set_shown, "tour": parts.tour.begin},
        **{"documents": parts.documents.show, "site": parts.documents.show_site},
        **{"log": parts.files.show_log, "about": parts.looks.about},
    }


def first_settings() -> list[dict[str, object]]:
    """The settings of the runs that are trained when the window opens by itself."""
    from core.library.reading import flattened

    cells = load_study(FIRST_STUDY).cells()
    tables = [cell.experiment.model_dump(mode="json", exclude_none=True) for cell in cells]
    return [dict(flattened(table)) for table in tables]
