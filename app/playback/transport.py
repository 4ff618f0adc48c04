"""Transport bar, and the controller that turns its requests into changes of the intent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.playback.display import DisplayController
from app.playback.time_slider import TimeSlider
from app.qt_workarounds import ActionButtonSync
from app.state.intent import START
from app.state.resolve import NEAR, ResolvedView, clamp, find_next_moment, resolve, span_of
from app.state.view_options import PACES
from app.widgets.keyboard import ButtonKeyActivation, order_before
from app.widgets.layouts import add_all, space
from core.figures.palette import Palette
from core.numbers import raise_powers, time_text
from core.problem.schedule import coordinate, parse_time

BUTTONS = ("back", "play", "forward", "loop")
STATUS_SHARE = 0.35  # most of the bar's width
NO_TIME = "is not a time. Try 300, 10^2.5, log10 t = 2000 or 0."


@final
class TransportBar(QWidget):
    """Buttons, pace, slider and time of the shown moment; below the time the status."""

    moment_requested = Signal(float)
    """A moment in the schedule's coordinate."""
    time_typed = Signal(str)
    """Text that was typed as a time."""
    pace_requested = Signal(float)
    """A factor, one of PACES."""

    def __init__(
        self, palette: Palette, status: QWidget | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("transport")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._button_keys = ButtonKeyActivation(self)
        self._layout = space(QHBoxLayout(self), (12, 2, 12, 2), 4)
        self._status = status
        self.pace = QComboBox(self)
        self.pace.setAccessibleName("Speed")
        self.pace.setToolTip("Speed: at 1\u00d7, a whole run plays in about ten seconds.")
        for pace in PACES:
            self.pace.addItem(f"{pace:g}\u00d7".lstrip("0"), pace)
        self.pace.activated.connect(self._pace_chosen)
        self.time = QLineEdit(self)
        self.time.setObjectName("timeField")
        self.time.setAccessibleName("Current time")
        self.time.setToolTip("Current time. Enter another one, such as 10^2.5, 300 or 0.")
        # Return emits this signal first; text left without Return is discarded.
        self.time.returnPressed.connect(self._time_typed)
        self.time.editingFinished.connect(self._show_time)
        self.slider = TimeSlider(palette, self)
        self.slider.time_requested.connect(self.moment_requested)
        self._steps = False  # True if t counts steps
        self._shown_time = time_text(float("-inf"))
        self._show_time()

    def add_buttons(self, actions: Mapping[str, QAction]) -> None:
        """Add the buttons of actions, and the other parts from left to right."""
        buttons = [self._button(actions[key]) for key in BUTTONS]
        follow = self._button(actions["follow"])
        now = add_all(space(QHBoxLayout(), spacing=4), 1, self.time, follow)
        clock = add_all(space(QVBoxLayout(), spacing=0), now)
        if self._status is not None:
            clock.addWidget(self._status)
        add_all(self._layout, *buttons, self.pace, (self.slider, 1), clock)
        order_before([*buttons, self.pace], self.slider)
        QWidget.setTabOrder(self.slider, self.time)
        QWidget.setTabOrder(self.time, follow)
        self._fit()

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton(self, autoRaise=True)
        button.setDefaultAction(action)
        ActionButtonSync(button)
        self._button_keys.add(button)
        button.setAccessibleName(action.iconText())  # without the mnemonic
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Of large type the status would leave the slider a fifth of a small window.
        if self._status is not None:
            self._status.setMaximumWidth(int(STATUS_SHARE * event.size().width()))

    def _fit(self) -> None:
        # Wide enough for the longest usual time, so that the slider does not move as time passes.
        self.time.setFixedWidth(self.time.fontMetrics().horizontalAdvance("log10 t = 10000") + 24)

    def set_colours(self, palette: Palette) -> None:
        """Set the palette, and the sizes of a font that may have changed with it."""
        self.slider.set_colours(palette)
        self._fit()

    def show_view(self, view: ResolvedView, log10_time: float, steps: bool = False) -> None:
        """Show a view; `log10_time` is that of its frame, and `steps` says that t counts steps."""
        self._steps = steps
        self.slider.set_steps(steps)
        self.slider.set_empty(not view.runs)
        self.slider.set_span(view.span)
        self.slider.set_value(view.cursor)
        self.slider.set_interval(view.wishes.interval)
        index = self.pace.findData(view.wishes.pace)
        if index != self.pace.currentIndex():
            self.pace.setCurrentIndex(index)
        self._shown_time = raise_powers(time_text(log10_time, steps, padded=True))
        if not (self.time.hasFocus() and self.time.isModified()):  # not while the user types
            self._show_time()

    def _show_time(self) -> None:
        if self.time.text() != self._shown_time:
            self.time.setText(self._shown_time)
        self.time.setModified(False)

    def _pace_chosen(self, index: int) -> None:
        self.pace_requested.emit(float(self.pace.itemData(index)))

    def _time_typed(self) -> None:
        text = self.time.text()
        if self._steps:  # in the format that the field shows
            text = text.strip().removeprefix("step ")
        self.time.setModified(False)
        self.time_typed.emit(text)


@final
class PlaybackController(QObject):
    """Turns buttons, keys and the slider into changes of the intent.

    Seeking ends following. The cursor moves by itself only while it plays or follows.
    """

    message = Signal(str)
    """A sentence for the user."""

    def __init__(
        self, display: DisplayController, transport: TransportBar, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._display = display
        self._transport = transport
        transport.moment_requested.connect(self.seek)
        transport.time_typed.connect(self.to_typed)
        transport.slider.interval_requested.connect(self.set_interval)
        transport.slider.interval_refused.connect(self.no_interval)
        transport.pace_requested.connect(self.set_pace)

    def toggle(self) -> None:
        """Play from the cursor, or from the start if it is at the end; or pause."""
        display = self._display
        if display.intent.playing and not display.intent.follow:
            display.update_intent(playing=False)
            return
        span = span_of(display.session.snapshot())
        view = resolve(display.intent, display.session.snapshot())
        # The end of a run being trained is not final: playing waits there for frames.
        at_end = not span.live and view.cursor >= span.edge - NEAR
        cursor = START if at_end else clamp(view.cursor, span)
        display.update_intent(playing=True, follow=False, cursor=cursor)

    def play_from_start(self) -> None:
        """Play newly opened runs; stop playing when none is open.

        Runs that were continued here play on from the end of the earlier ones.
        """
        display = self._display
        # While following, new runs are shown at their last frame.
        playing = len(display.session) > 0 and not display.intent.follow
        cursor = min((run.first_moment for run in display.session), default=START)
        display.update_intent(cursor=cursor, playing=playing, interval=None)

    def seek(self, moment: float) -> None:
        """Move the cursor to a moment; playing continues from there."""
        display = self._display
        cursor = clamp(moment, span_of(display.session.snapshot()))
        display.set_intent(replace(display.intent, cursor=cursor, follow=False))

    def to_typed(self, text: str) -> None:
        """Move the cursor to a time that was typed."""
        log10_time = parse_time(text)
        if log10_time is None:
            self.message.emit(f'"{text.strip()}" {NO_TIME}')
            return
        self.message.emit("")
        self.seek(float(coordinate(log10_time)) if math.isfinite(log10_time) else START)

    def jump(self) -> None:
        """Let the user type a time."""
        self._transport.time.setFocus()
        self._transport.time.selectAll()

    def step_back(self) -> None:
        """Step to the previous frame, and pause."""
        self._step(-1)

    def step_forward(self) -> None:
        """Step to the next frame, and pause."""
        self._step(1)

    def seek_start(self) -> None:
        """Move the cursor to t = 0."""
        self.seek(START)

    def seek_end(self) -> None:
        """Move the cursor to the latest frame."""
        self.seek(span_of(self._display.session.snapshot()).edge)

    def decrease_speed(self) -> None:
        """Play at the next slower pace."""
        below = [pace for pace in PACES if pace < self._display.intent.pace]
        self.set_pace(max(below, default=PACES[0]))

    def increase_speed(self) -> None:
        """Play at the next faster pace."""
        above = [pace for pace in PACES if pace > self._display.intent.pace]
        self.set_pace(min(above, default=PACES[-1]))

    def set_pace(self, pace: float) -> None:
        """Play so many times as fast as usual."""
        self._display.update_intent(pace=pace)

    def from_here(self) -> None:
        """Loop from here to the end of the interval, or of the run."""
        self._bound(first=self._display.view.cursor)

    def to_here(self) -> None:
        """Loop from the start of the interval, or of the run, to here."""
        self._bound(last=self._display.view.cursor)

    def _bound(self, first: float | None = None, last: float | None = None) -> None:
        """Set one end of the interval; the other moves to the run's end if it must."""
        view = self._display.view
        span = view.span
        before = view.wishes.interval or (span.low, span.high)
        first, last = before[0] if first is None else first, before[1] if last is None else last
        if last - first <= NEAR:  # the other end was on this side: move it to the run's end
            first, last = (first, span.high) if first == view.cursor else (span.low, last)
        self.set_interval(first, last)

    def set_interval(self, first: float, last: float) -> None:
        """Loop between two moments."""
        if last - first > NEAR:
            self._display.update_intent(interval=(first, last))

    def no_interval(self) -> None:
        """Play over the whole run."""
        self._display.update_intent(interval=None)

    def set_follow(self, follow: bool) -> None:
        """Set whether the cursor stays at the latest frame."""
        display = self._display
        if follow == display.intent.follow:
            return
        if follow:
            display.update_intent(follow=True, playing=False)
        else:
            span = span_of(display.session.snapshot())
            # The intent's own cursor has not moved since following began.
            display.update_intent(follow=False, cursor=clamp(display.view.cursor, span))

    def _step(self, direction: int) -> None:
        """Pause at the next frame of a run in a direction, 1 or -1."""
        display = self._display
        cursor = find_next_moment(display.intent, display.session.snapshot(), direction)
        display.update_intent(cursor=cursor, playing=False, follow=False)
