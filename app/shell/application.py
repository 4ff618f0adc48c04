"""The program's life: what its window shows first, what is loaded then, how it ends.

Its parts are made in app.shell.parts and wired up in app.shell.wiring. The window is shown first,
with nothing heavy loaded. Once it is painted, the training thread loads the numerical libraries
and the views are made.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QByteArray, QTimer

from app.errors import LOG
from app.places import Places
from app.qt_workarounds import GarbageCollector
from app.shell.lifecycle import FIRST_STUDY
from app.shell.parts import Parts
from app.shell.serving import bring_up
from app.shell.wiring import connect
from app.state.session import MOST_CELLS
from app.theory.judge import Judge
from app.theory.margin_worker import MarginWorker
from app.widgets.screen_room import resize_on_screen

# For windows that are covered or minimised when they open, and so are not painted.
UNPAINTED_MS = 500


@final
class Marginscope(Parts):
    """Program of one window. `start` shows the window; closing it shuts the program down."""

    def __init__(
        self,
        places: Places,
        names: Sequence[str] = (),
        margins: MarginWorker | None = None,
        judge: Judge | None = None,
    ) -> None:
        """Open files by their names; theory is computed by the usual workers or by those given."""
        super().__init__(places, names, margins, judge)
        self._collector = GarbageCollector(self)
        self._collector.start()  # before any thread does
        self._unpainted = QTimer(self, singleShot=True, interval=UNPAINTED_MS)
        connect(self)
        self.window.painted.connect(self._begin)
        self._unpainted.timeout.connect(self._begin)
        self.files.file_opened.connect(self._remember)
        self.files.file_saved.connect(self._remember)
        self.links.opened.connect(self._remember)
        self.worker.ready.connect(self._ready)
        self._begun = self._ended = self._settled = False
        self._asked_early: list[list[str]] = []

    def start(self) -> None:
        """Show the window, and begin once it can be seen."""
        self.appearance.apply()
        if geometry := self.settings.values.geometry_bytes:
            self.window.restoreGeometry(QByteArray(geometry))
        if not (self.window.isMaximized() or self.window.isFullScreen()):
            resize_on_screen(self.window, self.window.size())
        self._warn()
        self.action_state.show_runs()
        self.action_state.show_transport()
        self.startup.announce()
        self.window.show()
        # Keys play from the start: in a field of the form the space bar would type.
        self.window.transport.slider.setFocus()
        self._unpainted.start()

    def _begin(self) -> None:
        """Load what is heavy, make the views, and open what was asked for."""
        if self._begun:
            return
        self._begun = self.action_state.views_made = True
        self._unpainted.stop()
        # Before the thread that loads numba, python/cpython#83065: pyqtgraph and numba load
        # different parts of colorama, which fails in two of three tries by two threads (3.11.7).
        import app.views.run_panel  # noqa: F401

        self.worker.start()
        self.display.panels_needed.connect(self._add_panels)
        self._add_panels(MOST_CELLS)  # more of them are made when they are needed
        self.startup.open()
        asked, self._asked_early = self._asked_early, []
        for names in asked:  # after what the window was opened with, as they came
            self.show_files(names)
        self._warn()

    def _add_panels(self, count: int) -> None:
        """Make panels until `count` runs can be shown."""
        from app.views.run_panel import RunPanel

        palette = self.appearance.palette_now
        panels = [RunPanel(palette) for _ in range(len(self.display.panels), count)]
        for panel in panels:
            self.window.views.add(panel)
            panel.moment_clicked.connect(self.playback.seek)
            panel.help_requested.connect(self.help.explain)
            panel.arranged.connect(self._order)
        self.display.add_panels(panels)
        self._order()

    def _order(self) -> None:
        """Have Tab go through the plots before it comes to theory and numbers."""
        from app.widgets.plot_focus import order_before

        stops = [stop for panel in self.display.panels for stop in panel.tab_order]
        order_before(stops, self.window.side)

    def settle(self) -> None:
        """Exclude what is loaded by now from future collections (`gc.freeze`), once."""
        if not self._settled:
            self._settled = True
            gc.collect()  # frozen garbage is never collected
            gc.freeze()

    def _ready(self) -> None:
        """Open files, which can be read now; the signal may arrive after the end."""
        if not self._ended:
            self.startup.on_ready()
            if not self.action_state.has_study:  # nothing could be opened: Run needs one
                self.training.offer(FIRST_STUDY)
            self.library.start()
            if not self.window.bar.text:  # opening files begins with an empty bar
                self._warn()

    def _warn(self) -> None:
        """Report problems with the user's settings, session and shortcuts."""
        settings, keeper, shortcuts = self.settings, self.keeper, self.shortcuts
        if warning := settings.warning or keeper.warning or shortcuts.warning:
            self.window.bar.show_message(warning)

    def show_link(self, link: str) -> None:
        """Show the picture of a link that came from another program, in front of everything."""
        self.show_files([link])

    def show_files(self, names: list[str]) -> None:
        """Show files or a link that the system or another program hands over."""
        if self._ended:
            return
        if not self._begun:
            self._asked_early.append(names)
            return
        if any(run.outdated for run in self.session):  # their paths mean other files by now
            self.training.close_runs()
        self.files.open_files(names)
        bring_up(self.window)

    def _remember(self, name: str) -> None:
        self.settings.add_recent(name)
        self.window.set_recent(self.settings.values.recent)

    # -------------------------------------------------------------------------------- ending

    def shut_down(self) -> None:
        """Stop the training, save the settings and close the files."""
        self._begun = self._ended = True
        self._unpainted.stop()
        self.questions.close()
        self.drawing.close()  # what was drawn gets into the form, and so into the session
        self.training.close()
        self.keeper.stop()
        self.scenes.stop()
        if sentence := self.save():
            LOG.error("The settings are lost: %s", sentence)
        self.open_runs.stop()
        self.display.stop()
        self.readout.stop()
        self.export.close()
        self.preview.close()
        self.compare.close()
        self.theory.stop()
        self.following.stop()
        self.studies.close()
        self.library.close()
        if not self.worker.close():
            LOG.error("The training did not end in time.")
        self.session.clear()  # last, since the threads were reading its files until here
        self._collector.stop()

    def save(self) -> str:
        """Save the settings; return a sentence if the disk is full."""
        self._remember_window()
        return self.settings.save()

    def _remember_window(self) -> None:
        lecture = self.actions["lecture"]
        if lecture.isChecked():  # the panels are remembered as they were before it
            lecture.setChecked(False)
        cluster, jobs = self.studies.remembered
        self.settings.update(
            library_shown=self.actions["library"].isChecked(),
            restores=self.startup.restores,
            follows_system=self.appearance.follows_system,
            layouts=self.layouts.own,
            commands=self.commands.used,
            shortcuts=self.shortcuts.own,
            library_columns=self.library.columns,
            cluster=cluster,
            jobs=jobs,
        )
        self.settings.update_window(self.window, self.display.intent, self.appearance.chosen)
