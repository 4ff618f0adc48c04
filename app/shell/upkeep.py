"""Keeps the window's buttons, slider and title at what is open and what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from app import actions
from app.playback.display import DisplayController
from app.playback.readout import Readout
from app.shell.looks import Looks
from app.shell.main_window import MainWindow
from app.state.intent import VIEW_OPTIONS
from app.widgets.plain_text import window_title
from core.studies.changes import is_modified
from core.studies.study import Study

EDITED = "Edited: press Run to train these settings."


@final
class Upkeep(QObject):
    """`begun`: the views are made, so that they or the welcome page can be shown. `studied`: the
    form has a study."""

    def __init__(
        self,
        window: MainWindow,
        display: DisplayController,
        looks: Looks,
        readout: Readout,
        table: Mapping[str, QAction],
    ) -> None:
        super().__init__(window)
        self._window, self._display = window, display
        self._looks, self._readout = looks, readout
        self._actions = table
        self.begun = self.studied = False
        display.changed.connect(self.show_transport)
        display.intent_changed.connect(self.show_wishes)
        display.runs_changed.connect(self.show_runs)
        window.form.changed.connect(self.show_edit)

    def show_transport(self) -> None:
        """The transport and its actions follow the view."""
        view = self._display.view
        times, steps = [], True
        for shown in view.runs:
            run = self._display.session.get(shown.key)
            if run is not None and run.data is not None and shown.frame >= 0:
                times.append(float(run.data.log10_time[shown.frame]))
                steps = steps and run.counts_steps
        latest = max(times, default=float("-inf"))
        self._window.transport.show_view(view, latest, steps and bool(times))
        wishes = view.wishes
        moving = wishes.playing and not wishes.follow
        actions.show_playing(self._actions["play"], moving, self._looks.icon)

    def show_wishes(self) -> None:
        """Mark what is chosen, whoever chose it; an action that is marked so already is silent."""
        wishes = self._display.view.wishes
        for option in VIEW_OPTIONS.values():
            if option.action:
                self._actions[option.action].setChecked(getattr(wishes, option.name))
        self._actions["follow"].setChecked(wishes.follow)
        self._actions["dark"].setChecked(wishes.palette == "dark")
        self._enable()
        self._window.show_wishes(wishes)

    def _enable(self) -> None:
        """What can be done with what is shown."""
        session = self._display.session
        compared = self._display.view.wishes.compared is not None
        shown, live = len(session) > 0, bool(session.live)
        actions.enable(self._actions, shown=shown, live=live, compared=compared)

    def show_runs(self) -> None:
        """The window follows which runs are open, and whether one is being trained."""
        session = self._display.session
        shown = len(session) > 0
        self._enable()
        held = any(run.control is not None and run.control.pause_requested for run in session.live)
        self._actions["pause"].setChecked(held)
        window = self._window
        if self.begun:
            window.show_page(shown)
        headings = " | ".join(run.heading for run in session)
        titles = {run.data.run.title for run in session if run.data is not None}
        changed = [title for title in titles if is_modified(title) and title not in headings]
        parts = [part for part in (headings, *sorted(changed), "Marginscope") if part]
        window.setWindowTitle(window_title(" \u2013 ".join(parts)))

    def show_study(self, study: Study) -> None:
        """Another study is in the form."""
        self.studied = True
        self._window.chooser.set_study(study)
        self._window.welcome.set_study(study.title)
        self._window.welcome.set_runnable(True)

    def show_edit(self) -> None:
        """The form was edited: say what is to be done for it to matter."""
        right = self._window.form.study() is not None
        self._window.welcome.set_runnable(right)
        self._readout.say(EDITED if right else "")
