"""Puts the window together: state, training thread, panels and controllers, and their wires.

The window is shown first, with nothing heavy loaded. Once it is painted, the training thread loads
the numerical libraries and the views are made.
"""

from __future__ import annotations

import base64
import gc
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QByteArray, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app import actions
from app.controllers.closing import Closing
from app.controllers.compare import CompareController
from app.controllers.display import DisplayController
from app.controllers.experiment import ExperimentController
from app.controllers.export import Exportable, ExportController
from app.controllers.files import FileController
from app.controllers.first_start import FirstStart
from app.controllers.folding import Folding
from app.controllers.help import HelpController
from app.controllers.library import LibraryController
from app.controllers.looks import Looks
from app.controllers.playback import Playback
from app.controllers.preview import PreviewController
from app.controllers.proposals import Proposals
from app.controllers.readout import Readout
from app.controllers.slot import PanelSlot
from app.controllers.theory import TheoryController
from app.controllers.whole_study import WholeStudyController
from app.errors import LOG, LOG_FILE, Reporter, open_log
from app.main_window import MainWindow
from app.places import Places, user_places
from app.settings import load_settings, save_settings
from app.state.intent import Intent
from app.state.session import MOST_RUNS, Session
from app.state.views import known
from app.termination import Termination
from app.workers.judge import Judge
from app.workers.margin_worker import MarginWorker
from app.workers.run_worker import RunWorker
from core.figures.palette import PALETTES
from core.studies.study import Study, load_study, shipped_ids

FIRST_STUDY = "telgarsky22-figure-1"
# For windows that are covered or minimised when they open, and so are not painted.
UNPAINTED_MS = 500
# Threads of Python that compute hand the interpreter over at least so often, for the window's sake.
SWITCH_S = 2e-4
EDITED = "Edited: press Run to train these settings."
# Intent and Settings have these names in common: one is filled from the other.
REMEMBERED = {  # wishes that are settings too
    *("palette", "pace", "loop"),
    *("linked", "equal", "views", "curves"),
    *("neuron_range", "neuron_points"),
}


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
        self._names = list(names)
        self.settings, self._warning = load_settings(places.settings)
        self.session = Session()
        self.worker = RunWorker(self)
        intent = Intent(**self.settings.model_dump(include=REMEMBERED))
        self.window = MainWindow(PALETTES[intent.palette])
        window = self.window
        self.display = DisplayController(self.session, intent, self)
        self.experiment = ExperimentController(self.session, self.worker, window.form, places, self)
        self.playback = Playback(self.display, window.transport, self)
        self.files = FileController(self.session, self.experiment, window.form, places, window)
        self.looks = Looks(window, self.display)
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
            window, places, self.settings.cluster, self.settings.jobs, window.form.study
        )
        self.library = LibraryController(
            window,
            self.session,
            places,
            self.settings.library_columns,
            first_settings,
            1e6 * self.settings.first_starts_mb,
        )
        self.library.librarian.sharing(self.theory.share)
        self.compare = CompareController(window, self.session, self.display, self.playback)
        self.closing = Closing(window, self.session, self.whole, self.put_away)
        self._unpainted = QTimer(self, singleShot=True, interval=UNPAINTED_MS)
        self._make_actions()
        self._connect()
        self._begun = self._ended = self._settled = self._studied = False

    # -------------------------------------------------------------------------------- making

    def _make_actions(self) -> None:
        self.actions = actions.make_actions(self.window, self)
        self.window.set_actions(self.actions)
        self.looks.set_actions(self.actions)
        # An action that is set as it was says nothing, so that the panels are told as well.
        settings = self.settings
        chosen = {
            ("form", False): settings.form_shown,
            ("form", True): settings.form_small,
            ("inspector", False): settings.inspector_shown,
            ("inspector", True): settings.inspector_small,
        }
        self.folding = Folding(self.window, self.actions, chosen)
        self.looks.set_form(self.actions["form"].isChecked())
        self.looks.set_inspector(self.actions["inspector"].isChecked())
        self.actions["equal"].setChecked(settings.equal)
        self.actions["library"].setChecked(settings.library_shown)
        self.actions["dark"].setChecked(self.settings.palette == "dark")
        self.actions["link"].setChecked(self.settings.linked)
        self.window.set_recent(self.settings.recent)
        self.window.show_wishes(self.display.view.wishes)

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
        window.form.submitted.connect(self.experiment.run)
        window.empty.run_requested.connect(self.experiment.run)
        window.empty.open_requested.connect(self.files.open)
        told = (self.experiment, self.files, self.playback, self.whole, self.proposals)
        for source in (*told, self.library, self.compare, display):
            source.message.connect(window.bar.say)
        self.export.error.connect(window.bar.say)
        parts = (self.experiment.started, self.export.finished)
        for words in (*parts, self.whole.status, self.library.status):
            words.connect(self.readout.say)
        self.whole.run_requested.connect(self.files.open_files)
        for part in (self.library, self.whole, self.preview):
            self.looks.recoloured.connect(part.set_colours)
        self.experiment.loaded.connect(self._show_study)
        self.experiment.loaded.connect(self.proposals.set_study)
        display.runs_changed.connect(self.proposals.refresh)
        self.experiment.loaded.connect(self.preview.refresh)
        window.form.changed.connect(self._show_edit)
        self.files.opened.connect(self._remember)
        for opener in (self.experiment, self.files):
            opener.replaced.connect(self.compare.leave)
            opener.replaced.connect(display.rearrange)
            opener.replaced.connect(self.playback.play_from_start)
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
        display.changed.connect(self._show_transport)
        display.runs_changed.connect(self._show_runs)
        self._connect_library()

    def _connect_library(self) -> None:
        self.library.open_requested.connect(self.files.open_files)
        self.library.deeds.compare_requested.connect(self.compare.compare)
        self.compare.shown.connect(self.actions["compare"].setChecked)
        self.compare.help_requested.connect(self.help.explain)
        self.actions["library"].triggered.connect(self.library.search)
        self.library.shown.connect(self.actions["library"].setChecked)
        self.theory.judge.result.connect(self.library.keep_verdicts)
        self.worker.finished.connect(self.library.refresh)
        self.worker.started.connect(self.library.refresh)

    def start(self) -> None:
        """Show the window, and begin once it can be seen."""
        self.looks.apply()
        if self.settings.geometry_bytes:
            self.window.restoreGeometry(QByteArray(self.settings.geometry_bytes))
        if self._warning:
            self.window.bar.say(self._warning)
        self._show_runs()
        self._show_transport()
        self._offer()
        self.window.show()
        # Keys play from the start: in a field of the form the space bar would type.
        self.window.transport.slider.setFocus()
        self._unpainted.start()

    def _offer(self) -> None:
        """The form has the study that is about to be trained, and no other one before it."""
        name = self._names[0] if self._names else FIRST_STUDY
        if name in shipped_ids():
            self.experiment.offer(name)
        else:
            self.window.chooser.announce(f"Opening {Path(name).name} ...")

    def _begin(self) -> None:
        """Load what is heavy, make the views, and open what was asked for."""
        if self._begun:
            return
        self._begun = True
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
        if self._names:
            self.files.open_files(self._names)
        else:
            self.experiment.choose(FIRST_STUDY)
        if self._warning:
            self.window.bar.say(self._warning)

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
            self.files.ready()
            if not self._studied:  # so that Run means something where nothing could be opened
                self.experiment.offer(FIRST_STUDY)
            self.library.begin()

    # ------------------------------------------------------------------------------- showing

    def _show_transport(self) -> None:
        """The transport and its actions follow the view."""
        view = self.display.view
        times = []
        for shown in view.runs:
            run = self.session.get(shown.key)
            if run is not None and run.data is not None and shown.frame >= 0:
                times.append(float(run.data.log10_time[shown.frame]))
        self.window.transport.show_view(view, max(times, default=float("-inf")))
        wishes = view.wishes
        self.actions["loop"].setChecked(wishes.loop)
        self.actions["follow"].setChecked(wishes.follow)
        moving = wishes.playing and not wishes.follow
        actions.show_playing(self.actions["play"], moving, self.looks.icon)

    def _show_runs(self) -> None:
        """The window follows which runs are open, and whether one is being trained."""
        live = self.session.live
        shown = len(self.session) > 0
        actions.enable(self.actions, shown=shown, live=bool(live))
        held = any(run.control is not None and run.control.pause_requested for run in live)
        self.actions["pause"].setChecked(held)
        window = self.window
        if self._begun:
            window.show_page(shown)
        headings = " | ".join(run.heading for run in self.session)
        window.setWindowTitle(f"{headings} \u2013 Marginscope" if headings else "Marginscope")

    def _show_study(self, study: Study) -> None:
        self._studied = True
        self.window.chooser.set_study(study)
        self.window.empty.set_study(study.title)
        self.window.empty.set_runnable(True)

    def _show_edit(self) -> None:
        """The form was edited: say what is to be done for it to matter."""
        right = self.window.form.study() is not None
        self.window.empty.set_runnable(right)
        self.readout.say(EDITED if right else "")

    def _exportable(self) -> Exportable:
        """The runs that are shown, as they are drawn."""
        intent = self.display.intent
        runs = tuple(run.source for run in self.session if run.data is not None)
        lines = {run.source: self.theory.lines_of(run.key) for run in self.session}
        return Exportable(runs, intent.plane, PALETTES[intent.palette], lines)

    def _remember(self, name: str) -> None:
        self.settings = self.settings.with_recent(Path(name))
        self.window.set_recent(self.settings.recent)

    # -------------------------------------------------------------------------------- ending

    def put_away(self) -> None:
        """Stop the training, save the settings and close the files."""
        self._begun = self._ended = True
        self._unpainted.stop()
        self._save_settings()
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

    def _save_settings(self) -> None:
        wishes = self.display.view.wishes
        lecture = self.actions["lecture"]
        if lecture.isChecked():  # the panels are remembered as they were before it
            lecture.setChecked(False)
        geometry = base64.b64encode(self.window.saveGeometry().data()).decode()
        cluster, jobs = self.whole.remembered
        changes = {name: getattr(wishes, name) for name in REMEMBERED} | {
            "views": known(self.display.intent.views),
            "geometry": geometry,
            "form_shown": self.folding.chosen["form", False],
            "form_small": self.folding.chosen["form", True],
            "inspector_shown": self.folding.chosen["inspector", False],
            "inspector_small": self.folding.chosen["inspector", True],
            "library_shown": self.actions["library"].isChecked(),
            "library_columns": self.library.columns,
            "cluster": cluster,
            "jobs": jobs,
        }
        self.settings = self.settings.model_copy(update=changes)
        save_settings(self.places.settings, self.settings)


def first_settings() -> list[dict[str, object]]:
    """The settings of the runs that are trained when the window opens by itself."""
    from core.library.reading import flattened

    cells = load_study(FIRST_STUDY).cells()
    tables = [cell.experiment.model_dump(mode="json", exclude_none=True) for cell in cells]
    return [dict(flattened(table)) for table in tables]


def main(arguments: Sequence[str]) -> int:
    """Open the window and stay until it is closed."""
    # Ctrl-C in the terminal ends the program at once; what is committed is safe in the run files.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.setswitchinterval(SWITCH_S)
    places = user_places()
    open_log(places.logs)
    # Without the names of files, which Qt might take for options of its own.
    application = QApplication([sys.argv[0]])
    application.setApplicationName("marginscope")
    application.setApplicationDisplayName("Marginscope")
    program = Marginscope(places, arguments)
    reporter = Reporter(places.logs / LOG_FILE)
    reporter.message.connect(program.window.bar.say)
    reporter.install()
    termination = Termination(program.closing.at_once, program)
    termination.install()
    program.worker.started.connect(program.settle)
    program.start()
    code = application.exec()
    termination.uninstall()
    reporter.uninstall()
    return code if termination.code is None else termination.code
