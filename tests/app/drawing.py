"""Drawing data with the mouse and the keys, in tests of the window for that."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.data.drawing_window import DrawingWindow
from tests.app.mouse import pixel, pull

FOUR = ((-0.5, 0.0, -1.0), (0.5, 0.0, 1.0), (0.0, 0.5, 1.0), (0.0, -0.5, -1.0))
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def begin_with_four(window: DrawingWindow) -> None:
    """Show four points, and the square from -1.2 to 1.2."""
    window.start(FOUR)
    window.canvas.plot.set_home(type(window.canvas.plot.home)(-1.2, 1.2, -1.2, 1.2))


def steps_of(window: DrawingWindow) -> list[str]:
    return [window.history.text(place) for place in range(window.history.index())]


def click(window: DrawingWindow, x: float, y: float, button: Qt.MouseButton = LEFT) -> None:
    plot = window.canvas.plot
    QTest.mouseClick(plot.viewport(), button, NONE, pixel(plot, x, y))


def drag(window: DrawingWindow, start: tuple[float, float], end: tuple[float, float]) -> None:
    plot = window.canvas.plot
    pull(plot, pixel(plot, *start), pixel(plot, *end))


def press(window: DrawingWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    window.activateWindow()
    window.canvas.plot.setFocus()
    QTest.keyClick(window.canvas.plot, key, modifiers)
