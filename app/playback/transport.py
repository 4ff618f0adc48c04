"""The transport: buttons, pace, the time, one slider, and whether to follow the training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QToolButton, QWidget

from app.playback.time_slider import TimeSlider
from app.qt_workarounds import ActionButtonSync
from app.state.intent import PACES
from app.state.resolve import ResolvedView
from app.widgets.layouts import filled, laid
from app.widgets.pressed import PressedByKeys
from core.figures.numbers import MINUS, clock_text
from core.figures.palette import Palette

BUTTONS = ("start", "back", "play", "forward", "end", "loop")
FROM_HERE = ("branch", "rewind")  # beside the time, from which they begin


@final
class TransportBar(QWidget):
    """Shows where the display is, and asks for other moments.

    moment_requested: a coordinate. time_typed: what was typed as a time. pace_requested: a factor.
    """

    moment_requested = Signal(float)
    time_typed = Signal(str)
    pace_requested = Signal(float)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transport")
        self._pressed = PressedByKeys(self)
        self._layout = laid(QHBoxLayout(self), (16, 8, 16, 0), 4)
        self.pace = QComboBox(self)
        self.pace.setAccessibleName("Pace")
        self.pace.setToolTip("Pace: at 1\u00d7 a whole run plays in about ten seconds.")
        for pace in PACES:
            self.pace.addItem(f"{pace:g}\u00d7".lstrip("0"), pace)
        self.pace.activated.connect(self._pace_chosen)
        self.time = QLineEdit(self)
        self.time.setObjectName("timeField")
        self.time.setAccessibleName("Time at the cursor")
        self.time.setToolTip("The time shown. Type another one, such as 10^2.5, 300 or 0.")
        # Return is told first; what somebody leaves without it is forgotten.
        self.time.returnPressed.connect(self._time_typed)
        self.time.editingFinished.connect(self._show_time)
        self.slider = TimeSlider(palette, self)
        self.slider.requested.connect(self.moment_requested)
        self._steps = False  # t counts steps
        self._shown_time = clock_text(float("-inf"))
        self._show_time()

    def add_buttons(self, actions: Mapping[str, QAction]) -> None:
        """The buttons of the table's actions, then the other parts from left to right."""
        buttons = [self._button(actions[key]) for key in BUTTONS]
        follow = self._button(actions["follow"])
        follow.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        begin = [self._button(actions[key]) for key in FROM_HERE]
        filled(self._layout, *buttons, self.pace, self.time, *begin, (self.slider, 1), follow)
        self._fit()

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton(self, autoRaise=True)
        button.setDefaultAction(action)
        ActionButtonSync(button)
        self._pressed.add(button)
        button.setAccessibleName(action.iconText())  # without the mark of a key
        return button

    def _fit(self) -> None:
        # Of the longest time that is usual: the slider must not move while time passes.
        self.time.setFixedWidth(self.time.fontMetrics().horizontalAdvance("log10 t = 10000") + 24)

    def set_colours(self, palette: Palette) -> None:
        """Another palette; fonts may have changed with it."""
        self.slider.set_colours(palette)
        self._fit()

    def show_view(self, view: ResolvedView, log10_time: float, steps: bool = False) -> None:
        """Put everything where the view says; log10_time is that of the frame shown, and `steps`
        says that t counts steps."""
        self._steps = steps
        self.slider.set_steps(steps)
        self.slider.set_empty(not view.runs)
        self.slider.set_span(view.span)
        self.slider.set_value(view.cursor)
        self.slider.set_interval(view.wishes.interval)
        index = self.pace.findData(view.wishes.pace)
        if index != self.pace.currentIndex():
            self.pace.setCurrentIndex(index)
        self._shown_time = clock_text(log10_time, steps).replace("-", MINUS)
        if not (self.time.hasFocus() and self.time.isModified()):  # else somebody is typing
            self._show_time()

    def _show_time(self) -> None:
        if self.time.text() != self._shown_time:
            self.time.setText(self._shown_time)
        self.time.setModified(False)

    def _pace_chosen(self, index: int) -> None:
        self.pace_requested.emit(float(self.pace.itemData(index)))

    def _time_typed(self) -> None:
        text = self.time.text()
        if self._steps:  # as the field itself writes it
            text = text.strip().removeprefix("step ")
        self.time.setModified(False)
        self.time_typed.emit(text)
