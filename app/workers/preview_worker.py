"""Draws and describes data in a thread of its own; of several requests the last one counts."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QObject, Signal

from core.errors import MarginscopeError

log = logging.getLogger(__name__)
Request = tuple[Any, int, Path | None]  # data section, run.seed, folder of the study

NO_MEMORY = "There is not enough memory for these data; choose a smaller n or d."
OUR_ERROR = "The data cannot be shown because of an error in the program; the log says more."


@final
class PreviewWorker(QObject):
    """Signals arrive in the thread of the window: `made(preview)`, or `refused(sentence)`."""

    made = Signal(object)
    refused = Signal(str)
    _thread_done = Signal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._next: Request | None = None
        self._closed = False
        self._thread_done.connect(self._on_done)

    @property
    def busy(self) -> bool:
        return self._thread is not None

    def ask(self, request: Request) -> None:
        """Describe the data of a section; while another one is at work, afterwards."""
        if self._closed:
            return
        if self._thread is not None:
            self._next = request
            return
        self._thread = threading.Thread(target=self._work, args=request, name="preview")
        self._thread.start()

    def close(self) -> None:
        """Wait for the thread; nothing is said any more."""
        self._closed, self._next = True, None
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _work(self, section: Any, seed: int, folder: Path | None) -> None:
        from core.data.preview import preview  # loads readers of files, which a window need not

        found, wrong = None, ""
        try:
            found = preview(section, seed, folder)
        except MarginscopeError as error:
            wrong = str(error)
        except MemoryError:
            wrong = NO_MEMORY
        except Exception:
            log.exception("a preview failed")
            wrong = OUR_ERROR
        self._thread_done.emit(found, wrong)

    def _on_done(self, found: object, wrong: str) -> None:
        thread, self._thread = self._thread, None
        if thread is None:  # closed meanwhile
            return
        thread.join()
        if self._next is not None:
            request, self._next = self._next, None
            self.ask(request)
        elif wrong:
            self.refused.emit(wrong)
        else:
            self.made.emit(found)
