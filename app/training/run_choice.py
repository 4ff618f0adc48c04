"""Choice of the current run, and closing of one open run."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, Signal

from app.playback.display import DisplayController
from app.training.controller import TrainingController


@final
class RunChoiceController(QObject):
    """Actions on one of the open runs."""

    chosen = Signal(object)
    """Panel of a run that was chosen, to be brought into sight."""

    step_named = Signal(str)
    """Name for undo of the change that follows."""

    def __init__(
        self,
        display: DisplayController,
        training: TrainingController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._display, self._training = display, training

    def show_numbered(self) -> None:
        """Make the run current whose number, from the left, ends the sender's name."""
        number = int(self.sender().objectName().rpartition("_")[2])
        runs = list(self._display.session)
        if number <= len(runs):
            self.choose(runs[number - 1].key)

    def choose(self, key: int) -> None:
        """Make a run the current one, and scroll to it."""
        self._display.set_current(key)
        run = self._display.session.get(key)
        for panel in self._display.panels_of(run) if run is not None else ():
            self.chosen.emit(panel)

    def close_run(self, key: int) -> None:
        """Stop and close one run; the others remain, and continue training."""
        session = self._display.session
        run = session.get(key)
        if run is None:
            return
        self.step_named.emit(f"Close {run.heading}")
        if len(session) == 1 and not session.is_starting:
            self._training.close_runs()
            return
        self._training.stop_runs([run])
        session.remove(key)
        self._display.rearrange()

    def close_current(self) -> None:
        """Stop and close the current run."""
        if (run := self._display.current) is not None:
            self.close_run(run.key)
