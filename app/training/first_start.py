"""First start: its study, and the messages while kernels are compiled for this computer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from app.playback.display import DisplayController
from app.training.run_worker import RunWorker
from app.widgets.message_bar import MessageBar
from core.studies.study import load_study

FIRST_STUDY = "telgarsky22-figure-1"
RECORDING = (
    "You are watching a shipped recording while Marginscope compiles its numerical code for this "
    "computer (once, about half a minute). Your own run then takes over."
)
WAITING = (
    "Compiling the numerical code for this computer (once, about half a minute). Training then "
    "starts automatically."
)
NEW = "New here? Take the tour, train on your own data, or browse the papers."
FIRST_ACTIONS = ("tour", "draw", "studies")  # keys of actions


def first_settings() -> list[dict[str, object]]:
    """Return the settings of the runs that are trained when no file is given."""
    from core.library.reading import flatten_tables

    cells = load_study(FIRST_STUDY).cells()
    tables = [cell.experiment.model_dump(mode="json", exclude_none=True) for cell in cells]
    return [dict(flatten_tables(table)) for table in tables]


@final
class FirstStartNotice(QObject):
    """Says in the message bar what is shown while kernels are missing, and how to begin."""

    def __init__(
        self, worker: RunWorker, display: DisplayController, bar: MessageBar, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._display, self._bar = display, bar
        self._waiting: set[int] = set()
        self._beginnings: tuple[QAction, ...] = ()
        worker.waiting.connect(self._on_waiting)
        worker.compiler.compiling_refused.connect(self._on_refused)
        display.runs_changed.connect(self._update)

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Use the actions with which a new user begins."""
        self._beginnings = tuple(actions[key] for key in FIRST_ACTIONS)

    def greet(self) -> None:
        """Offer a new user where to begin."""
        if not self._bar.text:
            self._bar.show_message(NEW, self._beginnings)

    def _on_refused(self, sentence: str) -> None:
        """Say that kernels cannot be stored, after what is said of other folders."""
        text = "" if self._bar.text in (RECORDING, WAITING) else self._bar.text
        self._bar.show_message(f"{text} {sentence}".strip())

    def _on_waiting(self, key: int, waits: bool) -> None:
        (self._waiting.add if waits else self._waiting.discard)(key)
        self._update()

    def _update(self) -> None:
        session = self._display.session
        if any(run.stands_in for run in session):
            self._bar.show_message(RECORDING, self._beginnings)
        elif any(run.key in self._waiting for run in session.all_runs):
            self._bar.show_message(WAITING)
        # Only its own words: the bar may say something else by now, which stays.
        elif self._bar.text in (RECORDING, WAITING):
            self._bar.clear()
