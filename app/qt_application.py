"""Qt's application, and what the system hands over to it while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import final

from PySide6.QtCore import QEvent, QLocale, QTimer, Signal
from PySide6.QtGui import QFileOpenEvent, QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

from core.program import RESOURCES

FAMILY, WEIGHTS = "Inter", ("Regular", "SemiBold")
LETTERS = 13  # pixels of the type, unless the system's is larger
INCH = 72.0  # points


def use_typeface(application: QApplication) -> None:
    """Set the shipped typeface, in the size of the system's but no smaller than `LETTERS`."""
    for weight in WEIGHTS:
        path = Path(str(RESOURCES.joinpath("fonts", f"{FAMILY}-{weight}.ttf")))
        QFontDatabase.addApplicationFont(path.as_posix())
    font = application.font()
    font.setFeature(QFont.Tag("tnum"), 1)  # OpenType's tabular numerals
    # Signs that it lacks come from the system's typeface.
    font.setFamilies([FAMILY, *font.families()])
    least = LETTERS * INCH / application.primaryScreen().logicalDotsPerInch()
    font.setPointSizeF(max(font.pointSizeF(), least))
    application.setFont(font)


@final
class QtApplication(QApplication):
    """Application that takes files and links from the system.

    asked(names): files and links that came together. On macOS a double click on a run, or a click
    on a link, is an event, where other systems name it on the command line.
    """

    open_requested = Signal(list)

    def __init__(self, arguments: list[str]) -> None:
        super().__init__(arguments)
        QLocale.setDefault(QLocale.c())  # decimal points, as in the rest of the program
        use_typeface(self)
        self._names: list[str] = []
        self._together = QTimer(self, singleShot=True, interval=0)
        self._together.timeout.connect(self._request_open)

    # Not a filter, which would be called for the events of all objects.
    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        self._names.append(event.file() or event.url().toString())
        self._together.start()
        return True

    def _request_open(self) -> None:
        names, self._names = self._names, []
        self.open_requested.emit(names)
