"""The transport's requests: where the cursor is, whether it moves by itself, and how fast."""

from __future__ import annotations

import math
from typing import final

from PySide6.QtCore import QObject, Signal

from app.playback.display import DisplayController
from app.playback.transport import TransportBar
from app.state.intent import PACES, START
from app.state.resolve import NEAR, clamped, resolve, span_of, stepped
from core.problem.schedule import coordinate, parse_time

NO_TIME = "is no time; type one such as 10^2.5, 300, log10 t = 2000 or 0."


@final
class Playback(QObject):
    """Turns buttons, keys and the slider into changes of the intent. Looking elsewhere by hand
    ends following; only playing and following ever move the cursor by themselves."""

    message = Signal(str)

    def __init__(
        self, display: DisplayController, transport: TransportBar, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._display = display
        self._transport = transport
        transport.moment_requested.connect(self.to_moment)
        transport.time_typed.connect(self.to_typed)
        transport.slider.interval_requested.connect(self.set_interval)
        transport.slider.interval_refused.connect(self.no_interval)
        transport.pace_requested.connect(self.set_pace)

    def toggle(self) -> None:
        """Play from here, or from the start at the end of ended runs; or hold."""
        display = self._display
        if display.intent.playing and not display.intent.follow:
            display.ask(playing=False)
            return
        span = span_of(display.session.snapshot())
        view = resolve(display.intent, display.session.snapshot())
        # The edge of a run that is trained is not its end: playing waits there for frames.
        at_end = not span.live and view.cursor >= span.edge - NEAR
        cursor = START if at_end else clamped(view.cursor, span)
        display.ask(playing=True, follow=False, cursor=cursor)

    def play_from_start(self) -> None:
        """Play newly opened runs; where nothing is open any more, nothing plays."""
        display = self._display
        # Who follows the training sees new runs at their edge.
        playing = len(display.session) > 0 and not display.intent.follow
        display.ask(cursor=START, playing=playing, interval=None)

    def to_moment(self, moment: float) -> None:
        """Look at a moment; playing goes on from there."""
        span = span_of(self._display.session.snapshot())
        self._display.ask(cursor=clamped(moment, span), follow=False)

    def to_typed(self, text: str) -> None:
        """Look at a time that was typed."""
        log10_time = parse_time(text)
        if log10_time is None:
            self.message.emit(f"{text.strip() or 'Nothing'} {NO_TIME}")
            return
        self.message.emit("")
        self.to_moment(float(coordinate(log10_time)) if math.isfinite(log10_time) else START)

    def jump(self) -> None:
        """Let the user type a time."""
        self._transport.time.setFocus()
        self._transport.time.selectAll()

    def back(self) -> None:
        """The frame before, held."""
        self._step(-1)

    def forward(self) -> None:
        """The next frame, held."""
        self._step(1)

    def to_start(self) -> None:
        """To t = 0."""
        self.to_moment(START)

    def to_end(self) -> None:
        """To the latest frame there is."""
        self.to_moment(span_of(self._display.session.snapshot()).edge)

    def slower(self) -> None:
        """The next slower pace."""
        below = [pace for pace in PACES if pace < self._display.intent.pace]
        self.set_pace(max(below, default=PACES[0]))

    def faster(self) -> None:
        """The next faster pace."""
        above = [pace for pace in PACES if pace > self._display.intent.pace]
        self.set_pace(min(above, default=PACES[-1]))

    def set_pace(self, pace: float) -> None:
        """Play so many times as fast as usual."""
        self._display.ask(pace=pace)

    def from_here(self) -> None:
        """Play round and round from here to the end of the interval, or of the run."""
        self._bound(first=self._display.view.cursor)

    def to_here(self) -> None:
        """Play round and round from the start of the interval, or of the run, to here."""
        self._bound(last=self._display.view.cursor)

    def _bound(self, first: float | None = None, last: float | None = None) -> None:
        view = self._display.view
        span = view.span
        before = view.wishes.interval or (span.low, span.high)
        first, last = before[0] if first is None else first, before[1] if last is None else last
        if last - first <= NEAR:  # the other end was on this side: it goes to the end of the run
            first, last = (first, span.high) if first == view.cursor else (span.low, last)
        self.set_interval(first, last)

    def set_interval(self, first: float, last: float) -> None:
        """Play round and round between two moments."""
        if last - first > NEAR:
            self._display.ask(interval=(first, last))

    def no_interval(self) -> None:
        """Play over the whole run."""
        self._display.ask(interval=None)

    def set_follow(self, follow: bool) -> None:
        """Whether to stay at the latest frame; when that ends the cursor stays where it is."""
        display = self._display
        if follow == display.intent.follow:
            return
        if follow:
            display.ask(follow=True, playing=False)
        else:
            span = span_of(display.session.snapshot())
            # The intent's own cursor is where it stood before it followed.
            display.ask(follow=False, cursor=clamped(display.view.cursor, span))

    def _step(self, direction: int) -> None:
        display = self._display
        cursor = stepped(display.intent, display.session.snapshot(), direction)
        display.ask(cursor=cursor, playing=False, follow=False)
