"""Program of one window: its actions, its start and its end.

The window is shown first, with nothing heavy loaded. Once it is painted, the training thread loads
the numerical libraries and the views are made.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QByteArray, QTimer

from app import actions
from app.errors import LOG
from app.places import Places
from app.qt_workarounds import GarbageCollector
from app.shell.action_state import OPTIONS
from app.shell.components import Components
from app.shell.documents import site
from app.shell.drawers import DRAWERS
from app.shell.show_server import bring_up
from app.state.session import MOST_CELLS
from app.theory.judge import Judge
from app.theory.margin_worker import MarginWorker
from app.training.first_start import FIRST_STUDY
from app.widgets.screen_room import resize_on_screen

# For windows that are covered or minimised when they open and so are not painted.
UNPAINTED_MS = 500


@final
class Marginscope(Components):
    """Program of one window. `start` shows the window; closing it shuts the program down."""

    def __init__(
        self,
        places: Places,
        names: Sequence[str] = (),
        margins: MarginWorker | None = None,
        judge: Judge | None = None,
    ) -> None:
        """Open files by their names; the default workers compute theory unless others are given."""
        super().__init__(places, names, margins, judge)
        self._collector = GarbageCollector(self)
        self._collector.start()  # before any thread starts
        self._paint_timeout = QTimer(self, singleShot=True, interval=UNPAINTED_MS)
        self._make_actions()
        self.window.painted.connect(self._on_painted)
        self._paint_timeout.timeout.connect(self._on_painted)
        self.files.file_opened.connect(self._add_recent)
        self.files.file_saved.connect(self._add_recent)
        self.links.opened.connect(self._add_recent)
        self.stories.opened.connect(self._add_recent)
        self.worker.ready.connect(self._on_ready)
        self._opened = self._stopped = self._settled = False
        self._early_names: list[list[str]] = []

    def start(self) -> None:
        """Show the window, and begin once it is visible."""
        self.appearance.apply()
        if geometry := self.settings.values.geometry_bytes:
            self.window.restoreGeometry(QByteArray(geometry))
        if not (self.window.isMaximized() or self.window.isFullScreen()):
            resize_on_screen(self.window, self.window.size())
        self._show_warnings()
        self.action_state.show_runs()
        self.action_state.show_transport()
        self.startup.announce()
        self.window.show()
        # Keys work from the start; in a field of the form the space bar would type a space.
        self.window.transport.slider.setFocus()
        self._paint_timeout.start()

    def _on_painted(self) -> None:
        """Load the heavy modules, make the views, and open what was requested."""
        if self._opened:
            return
        self._opened = self.action_state.views_made = True
        self._paint_timeout.stop()
        # Before the thread that loads numba, because of python/cpython#83065: pyqtgraph and numba
        # load different parts of colorama, which fails in two of three tries by two threads
        # (3.11.7).
        import app.views.run_panel  # noqa: F401

        self.worker.start()
        self.display.panels_needed.connect(self._add_panels)
        self._add_panels(MOST_CELLS)  # more panels are made when needed
        self.startup.open()
        early, self._early_names = self._early_names, []
        for names in early:  # requests that arrived during the start, in their order
            self.show_files(names)
        self._show_warnings()

    def _add_panels(self, count: int) -> None:
        """Make panels until `count` runs can be shown."""
        from app.views.run_panel import RunPanel

        palette = self.appearance.palette_now
        panels = [RunPanel(palette) for _ in range(len(self.display.panels), count)]
        for panel in panels:
            self.window.views.add(panel)
            panel.moment_clicked.connect(self.playback.seek)
            self.view_menu.add(panel)
            panel.views_arranged.connect(self._set_tab_order)
        self.display.add_panels(panels)
        self._set_tab_order()

    def _set_tab_order(self) -> None:
        """Make Tab go through the plots before theory and numbers."""
        from app.widgets.keyboard import order_before

        stops = [stop for panel in self.display.panels for stop in panel.tab_order]
        order_before(stops, self.window.transport)

    def settle(self) -> None:
        """Exclude all loaded objects from future collections (`gc.freeze`), once."""
        if not self._settled:
            self._settled = True
            gc.collect()  # gc.freeze keeps garbage forever
            gc.freeze()

    def _on_ready(self) -> None:
        """Open files, which can now be read; the signal may arrive after the end."""
        if not self._stopped:
            self.startup.on_ready()
            if not self.action_state.has_study:  # nothing could be opened, and Run needs a study
                self.training.offer(FIRST_STUDY)
            self.library.start()
            if not self.window.bar.text:  # opening a file clears the bar
                self._show_warnings()
            is_first = self.settings.is_new and self.keeper.previous is None
            if is_first and not self.startup.opens_files:
                self.first.greet()

    def _show_warnings(self) -> None:
        """Report problems with the user's settings, session and shortcuts."""
        settings, keeper, shortcuts = self.settings, self.keeper, self.shortcuts
        if warning := settings.warning or keeper.warning or shortcuts.warning:
            self.window.bar.show_message(warning)

    def show_link(self, link: str) -> None:
        """Show the picture of a link from another program, in front of all windows."""
        self.show_files([link])

    def show_files(self, names: list[str]) -> None:
        """Show files or a link passed on by the system or another program."""
        if self._stopped:
            return
        if not self._opened:
            self._early_names.append(names)
            return
        if any(run.is_outdated for run in self.session):  # their paths now name other files
            self.training.close_runs()
        self.files.open_files(names)
        bring_up(self.window)

    def _add_recent(self, name: str) -> None:
        self.settings.add_recent(name)
        self.window.set_recent(self.settings.values.recent)

    # ------------------------------------------------------------------------------- actions

    def _make_actions(self) -> None:
        """Make the actions, and pass them to the controllers that use them."""
        settings, window = self.settings.values, self.window
        self.actions = table = actions.make_actions(window, self._handlers())
        users = (self.commands, self.shortcuts, self.tour, self.action_state, self.appearance)
        self.stories.player.set_actions(table)
        for user in (window, window.result, *users, self.drawers, self.first):
            user.set_actions(table)
        self.scenes.set_actions(table, self.drawers.automatic)
        window.columns.widths.update(settings.drawer_widths)
        window.form.fold(settings.folded_sections)
        window.set_recent(settings.recent)
        if settings.drawer in DRAWERS:
            self.drawers.show(settings.drawer)
        table["times"].setChecked(settings.times_open)
        table["dark"].setChecked(self.display.intent.palette == "dark")
        table["system"].setChecked(settings.follows_system)
        table["restores"].setChecked(settings.restores)
        table["site"].setVisible(site() is not None)
        table["last"].setEnabled(self.keeper.previous is not None)
        table["library"].triggered.connect(self.library.focus_search)
        self.library.run_requested.connect(table["run"].trigger)
        self.library.open_requested.connect(table["open"].trigger)
        self.help.welcome_shown.connect(table["welcome"].setChecked)
        self.compare.visibility_changed.connect(table["compare"].setChecked)
        window.status.cancel_requested.connect(table["margins_stop"].trigger)
        window.status.clicked.connect(table["times"].toggle)

    def _handlers(self) -> actions.Handlers:
        """Return the method of each action."""
        options = dict.fromkeys(OPTIONS.values(), self.action_state.set_options)
        menus = (self._file_handlers(), self._run_handlers(), self._view_handlers())
        return {key: method for menu in (options, *menus) for key, method in menu.items()}

    def _file_handlers(self) -> actions.Handlers:
        return {
            # File
            "open": self.files.open,
            "open_beside": self.files.open_beside,
            "save_study": self.files.save_study,
            "last": self.keeper.restore_previous,
            "record": self.record.save,
            "restores": self.startup.set_restores,
            "export": self.export.show,
            "figure": self.export.figure,
            "copy_figure": self.export.copy_figure,
            "film": self.export.film,
            "page": self.export.page,
            "story_page": self.stories.export,
            "data": self.export.data,
            "cite": self.export.cite,
            "folder": self.files.show_folder,
            "close_run": self.run_choice.close_current,
            "close": self.training.close_runs,
            "quit": self.window.close,
            # Edit
            "undo": self.scenes.undo,
            "redo": self.scenes.redo,
            "name": self.selections.request_name,
            "selection_back": self.scenes.select_previous,
            "selection_forward": self.scenes.select_next,
            "copy_link": self.links.copy,
            "open_link": self.links.show_dialog,
            "register": self.links.register,
            "save_view": self.links.save,
        }

    def _run_handlers(self) -> actions.Handlers:
        return {
            # Experiment
            "run": self.training.run,
            "pause": self.training.pause,
            "stop": self.training.stop,
            "restart": self.training.restart,
            "seed": self.seeds.train_next,
            "weights": self.seeds.train_next,
            "further": self.branches.continue_runs,
            "branch": self.branches.offer,
            "rewind": self.branches.rewind,
            "margins_again": self.theory.resume,
            "margins_stop": self.theory.cancel,
            "studies": self.studies.browse,
            "whole": self.studies.show_window,
            "cells": self.cell_runs.choose_cells,
            "preview": self.preview.show,
            "draw": self.drawing.show,
            # Play
            "play": self.playback.toggle,
            "back": self.playback.step_back,
            "forward": self.playback.step_forward,
            "start": self.playback.seek_start,
            "end": self.playback.seek_end,
            "jump": self.playback.jump,
            "bookmark": self.bookmarks.request_name,
            "note": self.notes.request_text,
            "story": self.stories.show,
            "play_story": self.stories.play,
            "slower": self.playback.decrease_speed,
            "faster": self.playback.increase_speed,
            "loop_from": self.playback.from_here,
            "loop_to": self.playback.to_here,
            "loop_all": self.playback.no_interval,
            "follow": self.playback.set_follow,
        }

    def _view_handlers(self) -> actions.Handlers:
        return {
            # View
            "coordinates": self.action_state.choose_coordinates,
            "curves": self.curve_choice.show_picker,
            "compare": self.compare.set_shown,
            "fill": self.view_menu.fill_pointed,
            "unpin": self.help.leave_or_unpin,
            **{f"run_{k}": self.run_choice.show_numbered for k in actions.NUMBERS},
            "library": self.library.set_shown,
            "dark": self.appearance.set_dark,
            "system": self.appearance.set_follows_system,
            "lecture": self.appearance.set_lecture,
            **dict.fromkeys(("form", "inspector", "numbers", "result"), self.drawers.on_toggled),
            "times": self.appearance.set_times,
            # Help
            "palette": self.commands.show,
            "shortcuts": self.shortcuts.show,
            "what": self.help.explain_pointed,
            "welcome": self.help.set_welcome_shown,
            "tour": self.tour.start,
            "documents": self.help.show_documents,
            "site": self.help.show_site,
            "messages": self.help.show_messages,
            "log": self.files.show_log,
            "about": self.appearance.about,
        }

    # -------------------------------------------------------------------------------- ending

    def shut_down(self) -> None:
        """Stop the training, save the settings and close the files."""
        self._opened = self._stopped = True
        self._paint_timeout.stop()
        self.questions.close()
        self.drawing.close()  # puts the drawn points into the form, and so into the session
        self.stories.close()
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
        self.result.close()
        self.library.close()
        if not self.worker.close():
            LOG.error("Training did not stop in time.")
        self.session.clear()  # last: threads read its files until here
        self._collector.stop()

    def save(self) -> str:
        """Save the settings; return a sentence if the disk is full."""
        self._collect_settings()
        return self.settings.save()

    def _collect_settings(self) -> None:
        lecture = self.actions["lecture"]
        if lecture.isChecked():  # store the panels as they were before the lecture
            lecture.setChecked(False)
        cluster, jobs = self.studies.stored_options
        self.settings.update(
            restores=self.startup.restores,
            follows_system=self.appearance.follows_system,
            layouts=self.layouts.own,
            commands=self.commands.used,
            shortcuts=self.shortcuts.own,
            library_columns=self.library.columns,
            export_tab=self.export.tab,
            export_preset=self.export.preset,
            cluster=cluster,
            jobs=jobs,
        )
        self.settings.update_window(self.window, self.display.intent)
