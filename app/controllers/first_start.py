"""The first start: what is said, and what waits, while kernels are compiled for this computer."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject

from app.controllers.display import DisplayController
from app.errors import MessageBar
from app.workers.kernels import KernelCompiler
from app.workers.margin_worker import MarginWorker
from core.compiled import warming

RECORDING = (
    "What plays is a recording that is shipped with the program. The kernels are being compiled "
    "for this computer, once; as soon as those it needs are there, it is trained here and takes "
    "the recording's place."
)


@final
class FirstStart(QObject):
    """Says that recordings are shown, and lets reference margins wait for their kernels."""

    def __init__(
        self, compiler: KernelCompiler, display: DisplayController, margins: MarginWorker,
        bar: MessageBar, parent: QObject,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._compiler, self._display = compiler, display
        self._margins, self._bar = margins, bar
        margins.held_by(self._lacks_margins)
        compiler.moved.connect(self._moved)
        display.runs_changed.connect(self._look)

    def _lacks_margins(self) -> bool:
        return self._compiler.lacks((warming.MARGINS,))

    def _moved(self, _stage: object) -> None:
        self._margins.wake()

    def _look(self) -> None:
        """Recordings are shown, or no more."""
        if any(run.stands_in for run in self._display.session):
            self._bar.say(RECORDING)
        elif self._bar.text == RECORDING:
            self._bar.clear()
