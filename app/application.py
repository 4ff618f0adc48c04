"""Puts the window together: state, training thread, panels and controllers, and their wires.

The window is shown first, with nothing heavy loaded. Once it is painted, the training thread loads
the numerical libraries and the views are made.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QByteArray, QObject, QTimer

from app import actions
from app.controllers.bookmarks import BookmarkController
from app.controllers.branching import BranchController
from app.controllers.cells import CellsController
from app.controllers.closing import Closing
from app.controllers.commands import CommandController
from app.controllers.compare import CompareController
from app.controllers.display import DisplayController
from app.controllers.experiment import ExperimentController
from app.controllers.export import Exportable, ExportController
from app.controllers.files import FileController
from app.controllers.first_start import FirstStart
from app.controllers.folding import Folding
from app.controllers.help import HelpController
from app.controllers.layouts import LayoutController
from app.controllers.library import LibraryController
from app.controllers.links import LinkController
from app.controllers.looks import Looks
from app.controllers.memory import Memory
from app.controllers.opening import FIRST_STUDY, Opening
from app.controllers.playback import Playback
from app.controllers.preview import PreviewController
from app.controllers.proposals import Proposals
from app.controllers.readout import Readout
from app.controllers.record import RecordController
from app.controllers.run_question import RunQuestion
from app.controllers.scenes import SceneController
from app.controllers.selections import SelectionController
from app.controllers.session_keeper import SessionKeeper
from app.controllers.shortcuts import ShortcutController
from app.controllers.slot import PanelSlot
from app.controllers.studies import StudyController
from app.controllers.theory import TheoryController
from app.controllers.upkeep import Upkeep
from app.controllers.whole_study import WholeStudyController
from app.errors import LOG
from app.main_window import MainWindow
from app.places import Places
from app.state.session import MOST_RUNS, Session
from app.workers.judge import Judge
from app.workers.margin_worker import MarginWorker
from app.workers.run_worker import RunWorker
from core.figures.palette import PALETTES
from core.studies.study import load_study

# For windows that are covered or minimised when they open, and so are not painted.
UNPAINTED_MS = 500


@final
class Marginscope(QObject):
    """The program behind one window. `start` shows it; it puts itself away when it is closed."""

    def __init__(
        self,
        places: Places,
        names: Sequence[str] = (),
        margins: MarginWorker | None = None,
        judge: Judge | None = None,
    ) -> None:
        """Open files by their names; theory is computed by the usual workers or by those given."""
        super().__init__()
        self.places = places
        self.memory = Memory(places)
        settings = self.memory.settings
        self.session = Session()
        self.worker = RunWorker(self)
        intent = self.memory.intent()
        self.window = MainWindow(PALETTES[intent.palette])
        window = self.window
        self.display = DisplayController(self.session, intent, self)
        self.experiment = ExperimentController(self.session, self.worker, window.form, places, self)
        self.branches = BranchController(self.display, self.experiment, window.form, self)
        self.question = RunQuestion(window, self.session, self.experiment)
        self.cells = CellsController(window, self.experiment)
        self.playback = Playback(self.display, window.transport, self)
        self.files = FileController(self.session, self.experiment, window.form, places, window)
        self.looks = Looks(window, self.display)
        self._make_scenes(names)
        self.export = ExportController(window, self._exportable)
        self.preview = PreviewController(window)
        self.readout = Readout(self.display, window.inspector, window.status, self)
        self.theory = TheoryController(
            window, self.display, margins or MarginWorker(), judge or Judge(), self
        )
        self.proposals = Proposals(self.display, window)
        self.first = FirstStart(self.worker, self.display, self.theory.margins, window.bar, self)
        self.help = HelpController(window)
        self.whole = WholeStudyController(
            window, places, settings.cluster, settings.jobs, window.form.study
        )
        most, columns = 1e6 * settings.first_starts_mb, settings.library_columns
        self.library = LibraryController(
            window, self.session, places, columns, first_settings, most
        )
        self.library.librarian.sharing(self.theory.share)
        self.compare = CompareController(window, self.session, self.display, self.playback)
        self.record = RecordController(
            window, self.experiment, self.branches, self.files, self.export, self.scenes
        )
        self.closing = Closing(window, self.session, self.whole, self.put_away)
        self._unpainted = QTimer(self, singleShot=True, interval=UNPAINTED_MS)
        self._make_actions()
        self._connect()
        self._begun = self._ended = self._settled = False

    # -------------------------------------------------------------------------------- making

    def _make_scenes(self, names: Sequence[str]) -> None:
        """All that is made of scenes (app.state.scene): undo, links, bookmarks, sessions."""
        window, settings = self.window, self.memory.settings
        self.scenes = SceneController(window, self.display, self.experiment, self.files)
        self.links = LinkController(window, self.scenes)
        self.bookmarks = BookmarkController(window, self.display, self.scenes)
        self.selections = SelectionController(window, self.display)
        self.layouts = LayoutController(window, self.scenes, settings.layouts)
        self.keeper = SessionKeeper(self.places, window, self.display, self.scenes)
        self.opening = Opening(
            window, self.experiment, self.files, self.scenes, self.keeper, names, settings.restores
        )

    def _make_actions(self) -> None:
        settings = self.memory.settings
        self.commands = CommandController(
            self.window, self.looks, self.library.librarian, settings.commands
        )
        self.studies = StudyController(self.window, self.experiment)
        self.shortcuts = ShortcutController(self.window, settings.shortcuts)
        self.actions = actions.make_actions(self.window, self)
        self.window.set_actions(self.actions)
        self.looks.set_actions(self.actions)
        self.commands.set_actions(self.actions)
        self.shortcuts.set_actions(self.actions)
        # An action that is set as it was says nothing, so that the panels are told as well.
        self.folding = Folding(self.window, self.actions, self.memory.panels())
        self.looks.set_form(self.actions["form"].isChecked())
        self.looks.set_inspector(self.actions["inspector"].isChecked())
        self.actions["equal"].setChecked(settings.equal)
        self.actions["library"].setChecked(settings.library_shown)
        self.actions["dark"].setChecked(settings.palette == "dark")
        self.actions["link"].setChecked(settings.linked)
        self.window.set_recent(settings.recent)
        self.window.show_wishes(self.display.view.wishes)
        self.actions["last"].setEnabled(self.keeper.previous is not None)
        self.actions["restores"].setChecked(settings.restores)
        self.scenes.set_actions(self.actions, self.folding)
        self.upkeep = Upkeep(self.window, self.display, self.looks, self.readout, self.actions)

    def _connect(self) -> None:
        window, worker, display = self.window, self.worker, self.display
        window.painted.connect(self._begin)
        self._unpainted.timeout.connect(self._begin)
        window.dropped.connect(self.files.open_files)
        window.recent.triggered.connect(self.files.open_recent)
        for menu in (window.margin_axes, window.neuron_choice):
            menu.triggered.connect(self.looks.choose)
        window.view_choice.triggered.connect(self.looks.choose_view)
        window.curve_choice.aboutToShow.connect(self.looks.offer_curves)
        window.curve_choice.triggered.connect(self.looks.choose_curve)
        window.chooser.chosen.connect(self.experiment.choose)
        window.chooser.open_requested.connect(self.files.open)
        window.chooser.browse_requested.connect(self.studies.show)
        window.form.submitted.connect(self.experiment.run)
        window.empty.run_requested.connect(self.experiment.run)
        window.empty.open_requested.connect(self.files.open)
        self._connect_words()
        self.whole.run_requested.connect(self.files.open_files)
        for part in (self.library, self.whole, self.preview):
            self.looks.recoloured.connect(part.set_colours)
        self.experiment.loaded.connect(self.upkeep.show_study)
        self.experiment.loaded.connect(self.proposals.set_study)
        display.runs_changed.connect(self.proposals.refresh)
        self.experiment.loaded.connect(self.preview.refresh)
        self.readout.set_names(self.selections.name_of)
        self.selections.renamed.connect(self.readout.touch)
        self.files.opened.connect(self._remember)
        for opener in (self.experiment, self.files):
            opener.replaced.connect(self.compare.leave)
            opener.replaced.connect(display.rearrange)
            opener.replaced.connect(self.playback.play_from_start)
        self.files.restored.connect(display.rearrange)
        self.files.view_requested.connect(self.links.open)
        self.links.opened.connect(self._remember)
        worker.ready.connect(self._ready)
        worker.stood_in.connect(display.stood_in)
        worker.started.connect(display.begun)
        worker.progress.connect(display.grew)
        worker.finished.connect(display.ended)
        worker.error.connect(display.failed)
        worker.status.connect(self.readout.say)
        worker.status.connect(display.preparing)
        self.theory.status.connect(window.status.show_work)
        self.theory.alarmed.connect(window.transport.slider.set_alarms)
        window.status.cancel_requested.connect(self.actions["margins_stop"].trigger)
        self._connect_library()
        self.commands.study_chosen.connect(self.experiment.choose)
        self.commands.open_requested.connect(self.files.open_files)
        worker.ready.connect(self.commands.ready)

    def _connect_words(self) -> None:
        """Who says something, and where."""
        window = self.window
        for source in (
            self.experiment,
            self.files,
            self.playback,
            self.whole,
            self.proposals,
            self.library,
            self.compare,
            self.scenes,
            self.links,
            self.layouts,
            self.bookmarks,
            self.selections,
            self.record,
            self.cells,
            self.keeper,
            self.display,
        ):
            source.message.connect(window.bar.say)
        self.export.error.connect(window.bar.say)
        kept = (self.layouts, self.bookmarks, self.selections, self.record)
        sayers = (self.whole, self.library, self.links, *kept)
        told = (self.experiment.started, self.export.finished)
        for words in (*told, *(part.status for part in sayers)):
            words.connect(self.readout.say)

    def _connect_library(self) -> None:
        self.library.open_requested.connect(self.files.open_files)
        self.library.deeds.compare_requested.connect(self.compare.compare)
        self.compare.shown.connect(self.actions["compare"].setChecked)
        self.compare.help_requested.connect(self.help.explain)
        self.actions["library"].triggered.connect(self.library.search)
        self.library.shown.connect(self.actions["library"].setChecked)
        self.theory.judge.result.connect(self.library.keep_verdicts)
        self.worker.finished.connect(self.library.refresh)
        self.worker.finished.connect(self.experiment.go_on)
        self.worker.started.connect(self.library.refresh)

    def start(self) -> None:
        """Show the window, and begin once it can be seen."""
        self.looks.apply()
        if geometry := self.memory.settings.geometry_bytes:
            self.window.restoreGeometry(QByteArray(geometry))
        if self.memory.warning:
            self.window.bar.say(self.memory.warning)
        self.upkeep.show_runs()
        self.upkeep.show_transport()
        self.opening.offer()
        self.window.show()
        # Keys play from the start: in a field of the form the space bar would type.
        self.window.transport.slider.setFocus()
        self._unpainted.start()

    def _begin(self) -> None:
        """Load what is heavy, make the views, and open what was asked for."""
        if self._begun:
            return
        self._begun = self.upkeep.begun = True
        self._unpainted.stop()
        # Before the thread that loads numba: both load colorama, and two threads that begin with
        # different parts of it have been seen to end in a KeyError of the import system.
        from app.views.run_panel import RunPanel

        self.worker.start()
        palette = self.looks.palette_now
        panels = [RunPanel(palette, self.window.views) for _ in range(MOST_RUNS)]
        for panel in panels:
            self.window.views.addWidget(panel)
        self.display.set_slots([PanelSlot(panel, self) for panel in panels])
        for panel in panels:
            panel.moment_clicked.connect(self.playback.to_moment)
            panel.help_requested.connect(self.help.explain)
        self.opening.begin()
        self._warn()

    def settle(self) -> None:
        """Everything is loaded: the collector of cyclic garbage need not look through it again.

        All threads wait while it does, and for a tenth of a second where there is so much.
        """
        if not self._settled:
            self._settled = True
            gc.freeze()

    def _ready(self) -> None:
        """Run files can be read; told by the training thread, and so perhaps after the end."""
        if not self._ended:
            self.opening.ready()
            if not self.upkeep.studied:  # so that Run means something where nothing could be opened
                self.experiment.offer(FIRST_STUDY)
            self.library.begin()
            if not self.window.bar.text:  # opening files begins with an empty bar
                self._warn()

    def _warn(self) -> None:
        """Say what was the matter with the files of the user."""
        if warning := self.memory.warning or self.keeper.warning:
            self.window.bar.say(warning)

    # ------------------------------------------------------------------------------- asked

    def _exportable(self) -> Exportable:
        """The runs that are shown, as they are drawn."""
        intent = self.display.intent
        runs = tuple(run.source for run in self.session if run.data is not None)
        lines = {run.source: self.theory.lines_of(run.key) for run in self.session}
        chosen = {run.source: self.selections.selected(run) for run in self.session}
        return Exportable(runs, intent.plane, PALETTES[intent.palette], lines, chosen)

    def _remember(self, name: str) -> None:
        self.memory.note_file(name)
        self.window.set_recent(self.memory.settings.recent)

    # -------------------------------------------------------------------------------- ending

    def put_away(self) -> None:
        """Stop the training, save the settings and close the files."""
        self._begun = self._ended = True
        self._unpainted.stop()
        self.question.close()
        self.keeper.stop()
        self.scenes.stop()
        self._remember_window()
        self.display.stop()
        self.readout.stop()
        self.export.close()
        self.preview.close()
        self.compare.close()
        self.theory.stop()
        self.whole.close()
        self.library.close()
        if not self.worker.close():
            LOG.error("The training did not end in time.")
        self.session.clear()  # last, since the threads were reading its files until here

    def _remember_window(self) -> None:
        lecture = self.actions["lecture"]
        if lecture.isChecked():  # the panels are remembered as they were before it
            lecture.setChecked(False)
        cluster, jobs = self.whole.remembered
        self.memory.note(
            library_shown=self.actions["library"].isChecked(),
            restores=self.opening.restores,
            layouts=self.layouts.own,
            commands=self.commands.used,
            shortcuts=self.shortcuts.own,
            library_columns=self.library.columns,
            cluster=cluster,
            jobs=jobs,
        )
        self.memory.note_window(self.window, self.display.intent, self.folding.chosen)
        self.memory.save()


def first_settings() -> list[dict[str, object]]:
    """The settings of the runs that are trained when the window opens by itself."""
    from core.library.reading import flattened

    cells = load_study(FIRST_STUDY).cells()
    tables = [cell.experiment.model_dump(mode="json", exclude_none=True) for cell in cells]
    return [dict(flattened(table)) for table in tables]
