"""Components of the program: state, threads, panels and controllers, and their dependencies.

The wires between them are in app.shell.wiring, their start and end in app.shell.application.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject

from app import actions
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
from app.scenes.named import BookmarkController, LayoutController, SelectionController
from app.scenes.session_keeper import SessionKeeper
from app.shell.action_state import OPTIONS, ActionStateController
from app.shell.appearance import AppearanceController
from app.shell.commands import CommandController
from app.shell.help import HelpController
from app.shell.lifecycle import FIRST_STUDY, ShutdownController, StartupController
from app.shell.main_window import MainWindow
from app.shell.record import RecordController
from app.shell.settings import SettingsController
from app.shell.shortcuts import ShortcutController
from app.shell.tour import TourController
from app.state.documents import site
from app.state.session import Session
from app.study.controller import StudyController
from app.theory.controller import TheoryController
from app.theory.judge import Judge
from app.theory.margin_worker import MarginWorker
from app.training.branching import BranchController
from app.training.controller import TrainingController
from app.training.files import FileController
from app.training.first_start import FirstStartNotice
from app.training.run_questions import RunQuestions
from app.training.run_worker import RunWorker
from core.figures.palette import PALETTES
from core.studies.study import load_study


class Parts(QObject):
    """Components of the program, without the connections of app.shell.wiring."""

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
        self.settings = SettingsController(places, unkept)
        self.session = Session()
        self.worker = RunWorker(self)
        intent = self.settings.intent()
        self.window = MainWindow(PALETTES[intent.palette])
        window = self.window
        self.display = DisplayController(self.session, intent, self)
        self.open_runs = OpenRunController(self.display, self)
        form = window.form
        self.questions = RunQuestions(window)
        self.training = TrainingController(
            self.display, self.worker, form, self.questions, places, self
        )
        self.following = LiveFileController(self.display, self.open_runs, self)
        self.branches = BranchController(self.display, self.training, form, self.questions, self)
        self.playback = PlaybackController(self.display, window.transport, self)
        self.files = FileController(
            self.session, self.training, form, self.questions, places, window
        )
        self._make_scenes(names)
        self.appearance = AppearanceController(window, self.display, self.scenes)
        self._make_features(margins, judge)
        self.help = HelpController(window, self.display)
        self.tour = TourController(
            window, self.display, self.training, self.playback, self.appearance
        )
        self.record = RecordController(
            window, self.training, self.branches, self.files, self.export, self.scenes
        )
        self.shutdown = ShutdownController(
            window, self.session, self.studies, self.shut_down, self.save
        )
        self._make_actions()

    # -------------------------------------------------------------------------------- making

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
        self.export = ExportController(window, snapshot)
        self.theory.throttle_while(self.export.waited_for)
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
        self.compare = CompareController(
            window, window.pages, self.session, self.display, self.playback, self.questions
        )
        self.library = LibraryController(
            window,
            self.session,
            self.places,
            self.files,
            self.compare,
            self.theory,
            self.worker,
            self.following,
            settings.library_columns,
            first_settings,
            1e6 * settings.first_starts_mb,
        )

    def _make_scenes(self, names: Sequence[str]) -> None:
        """Make the controllers of scenes (app.state.scene): undo, links, bookmarks, sessions."""
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

    def _make_actions(self) -> None:
        settings = self.settings.values
        self.action_state = ActionStateController(
            self.window, self.display, self.appearance, self.readout
        )
        self.commands = CommandController(
            self.window, self.action_state, self.library.librarian, settings.commands
        )
        self.shortcuts = ShortcutController(self.window, settings.shortcuts)
        self.actions = actions.make_actions(self.window, _handlers(self))
        self.window.set_actions(self.actions)
        self.commands.set_actions(self.actions)
        self.shortcuts.set_actions(self.actions)
        self.appearance.set_actions(self.actions, self.settings.panels())
        self.tour.set_actions(self.actions)
        self.actions["library"].setChecked(settings.library_shown)
        self.actions["dark"].setChecked(self.display.intent.palette == "dark")
        self.actions["system"].setChecked(settings.follows_system)
        self.window.set_recent(settings.recent)
        self.actions["last"].setEnabled(self.keeper.previous is not None)
        self.actions["site"].setVisible(site() is not None)
        self.actions["restores"].setChecked(settings.restores)
        self.scenes.set_actions(self.actions, self.appearance.auto_folding)
        self.action_state.set_actions(self.actions)

    @abstractmethod
    def save(self) -> str:
        """Save the settings; return a sentence if the disk is full."""

    @abstractmethod
    def shut_down(self) -> None:
        """Stop the training, save the settings and close the files."""


def _handlers(parts: Parts) -> actions.Handlers:
    """Return what each action does."""
    return {
        **dict.fromkeys(OPTIONS.values(), parts.action_state.set_options),
        # File
        **{"open": parts.files.open, "open_beside": parts.files.open_beside},
        **{"save_study": parts.files.save_study},
        **{"last": parts.keeper.restore_previous, "record": parts.record.save},
        **{"restores": parts.startup.set_restores},
        **{"figure": parts.export.figure, "copy_figure": parts.export.copy_figure},
        **{"film": parts.export.film, "page": parts.export.page, "data": parts.export.data},
        **{"cite": parts.export.cite},
        **{"folder": parts.files.show_folder, "close": parts.training.close_runs},
        **{"quit": parts.window.close},
        # Edit
        **{"undo": parts.scenes.undo, "redo": parts.scenes.redo},
        **{"name": parts.selections.request_name, "selection_back": parts.scenes.back},
        **{"selection_forward": parts.scenes.forward},
        **{"copy_link": parts.links.copy, "open_link": parts.links.ask},
        **{"register": parts.links.register, "save_view": parts.links.save},
        # Experiment
        **{"run": parts.training.run, "pause": parts.training.pause},
        **{"stop": parts.training.stop, "restart": parts.training.restart},
        **{"seed": parts.training.new_seed, "weights": parts.training.new_weights},
        **{"further": parts.branches.continue_runs, "branch": parts.branches.offer},
        **{"rewind": parts.branches.rewind},
        **{"margins_again": parts.theory.resume, "margins_stop": parts.theory.cancel},
        **{"studies": parts.studies.browse, "whole": parts.studies.show_window},
        **{"cells": parts.training.choose_cells},
        **{"preview": parts.preview.show, "draw": parts.drawing.show},
        # Play
        **{"play": parts.playback.toggle, "back": parts.playback.back},
        **{"forward": parts.playback.forward, "start": parts.playback.to_start},
        **{"end": parts.playback.to_end, "jump": parts.playback.jump},
        **{"bookmark": parts.bookmarks.request_name},
        **{"slower": parts.playback.slower, "faster": parts.playback.faster},
        **{"loop_from": parts.playback.from_here},
        **{"loop_to": parts.playback.to_here, "loop_all": parts.playback.no_interval},
        **{"follow": parts.playback.set_follow},
        # View
        **{
            "coordinates": parts.action_state.choose_coordinates,
            "compare": parts.compare.set_shown,
        },
        **{"unpin": parts.help.leave_or_unpin},
        **{"library": parts.library.set_shown, "dark": parts.appearance.set_dark},
        **{"system": parts.appearance.set_follows_system, "lecture": parts.appearance.set_lecture},
        **{"form": parts.appearance.set_form, "times": parts.appearance.set_times},
        **{"inspector": parts.appearance.set_inspector},
        # Help
        **{"palette": parts.commands.show, "shortcuts": parts.shortcuts.show},
        **{"what": parts.help.explain_pointed},
        **{"welcome": parts.help.set_welcome_shown, "tour": parts.tour.start},
        **{"documents": parts.help.show_documents, "site": parts.help.show_site},
        **{"log": parts.files.show_log, "about": parts.appearance.about},
    }


def first_settings() -> list[dict[str, object]]:
    """Return the settings of the runs that are trained when no file is given."""
    from core.library.reading import flattened

    cells = load_study(FIRST_STUDY).cells()
    tables = [cell.experiment.model_dump(mode="json", exclude_none=True) for cell in cells]
    return [dict(flattened(table)) for table in tables]
