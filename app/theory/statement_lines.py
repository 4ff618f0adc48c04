"""Statements over time: when each holds, and how timeline and panel paint it.

Each state has a shape as well as a colour.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.state.resolve import TimeSpan
from app.widgets.verdict_mark import Hue, hue_of
from core.figures.palette import Palette
from core.numbers import raise_powers, time_text
from core.problem.schedule import coordinate

if TYPE_CHECKING:  # loads the numerical libraries
    import numpy as np
    from numpy.typing import NDArray

    from core.theorems.statement import Assessment
    from core.theorems.states import States


# Words for each state of the conclusion, by its name in core.theorems.states.State.
CONCLUSION = {
    "HOLDS": "the conclusion holds",
    "FAILS": "the conclusion does not hold",
    "OPEN": "the conclusion is undecided",
    "SILENT": "the theorem says nothing",
}
# Words for a conclusion that only the last frame decides.
AT_END = {"OPEN": "the conclusion concerns the end of the run only and is undecided"}
LAST = "At the end only:"
# Words for each state of the hypotheses together.
PREMISES = {
    "HOLDS": "the hypotheses hold",
    "FAILS": "the hypotheses do not hold",
    "OPEN": "the hypotheses are undecided",
    "SILENT": "the theorem says nothing",
}


WHOLE = TimeSpan(0.0, 1.0, 1.0, live=False)  # span of a run of at most one frame


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of the time axis with one state, in the coordinate of core.problem.schedule.

    `state` is the name of a core.theorems.states.State. `start` is -inf at t = 0, and equals `end`
    for the last frame alone. `words` are the state and its times. `promised`: the hypotheses hold
    at the first frame; always true for stretches of the hypotheses themselves.
    """

    state: str
    start: float
    end: float
    words: str
    promised: bool = True


@final
@dataclass(frozen=True, slots=True)
class StatementLine:
    """Hypotheses and conclusion of a statement over the time axis.

    Stretches, SILENT ones too, follow each other without gaps from the first frame to the last.
    `key` is unique, `name` the number in the paper ("Lemma 2.3"), `text` a sentence. `verdict` is a
    value of core.theorems.statement.Verdict. `span` is the time axis of the run's frames.
    """

    key: str
    name: str
    text: str
    verdict: str
    premises: tuple[Stretch, ...]
    conclusion: tuple[Stretch, ...]
    span: TimeSpan = WHOLE

    @property
    def is_decided(self) -> bool:
        """True if the conclusion holds or fails over some time, not only at the last frame."""
        decided = (one for one in self.conclusion if one.state in ("HOLDS", "FAILS"))
        return any(one.end > one.start for one in decided)

    def stretches_of_lane(self, upper: bool) -> tuple[Stretch, ...]:
        """Return the stretches of the hypotheses if `upper`, of the conclusion otherwise."""
        return self.premises if upper else self.conclusion


def make_statement_lines(
    assessments: Sequence[Assessment], log10_time: NDArray[np.float64]
) -> tuple[StatementLine, ...]:
    """Return the lines of statements about times, over frames at log10 t (T,), -inf at t = 0.

    The order is that of `assessments`. Statements that the last frame alone decides have lines too,
    which say so. Left out are statements about no time, those whose hypotheses have no states, and
    those that no frame decides under unchanging hypotheses.
    """
    from app.state.node_values import with_finite_first

    span = WHOLE
    if log10_time.size > 1:
        low, high = coordinate(with_finite_first(log10_time)[[0, -1]]).tolist()
        span = TimeSpan(low, high, high, live=False)
    lines = []
    for one in assessments:
        premises = one.premises
        if premises is None or not (one.has_times or one.is_decided_at_end):
            continue
        states, words = one.comparison.states, CONCLUSION
        if states is None:
            states, words = _final_states(one, premises.size), CONCLUSION | AT_END
        elif not _is_informative(states, premises):
            continue
        statement = one.statement
        lines.append(
            StatementLine(
                statement.key,
                statement.name,
                f"{LAST} {statement.text}" if one.is_decided_at_end else statement.text,
                one.verdict.value,
                _make_stretches(premises, log10_time, PREMISES, steps=one.steps),
                _make_stretches(states, log10_time, words, premises, one.steps),
                span,
            )
        )
    return tuple(lines)


def _final_states(one: Assessment, frames: int) -> States:
    """Return the states (frames,) of a conclusion decided by the last frame: OPEN before it."""
    import numpy as np

    from core.theorems.states import State, state_of

    states = np.full(frames, State.OPEN, dtype=np.int8)
    states[-1:] = state_of(one.comparison.holds)
    return states


def _is_informative(states: States, premises: States) -> bool:
    """Return True if any frame decides the conclusion, or the hypotheses change with time.

    Both arrays are (T,), T > 0.
    """
    from core.theorems.states import State

    decided = (states == State.HOLDS) | (states == State.FAILS)
    return bool(decided.any() or (premises != premises[0]).any())


def _make_stretches(
    states: States,
    log10_time: NDArray[np.float64],
    words: dict[str, str],
    premises: States | None = None,
    steps: bool = False,
) -> tuple[Stretch, ...]:
    """Return the stretches of equal state in order, each to the start of the next.

    The last stretch ends at the last frame. With `premises` a failing conclusion is also cut where
    the hypotheses start or cease to hold. `words` are by state; `steps`: t counts steps.
    """
    from core.theorems.states import State, equal_value_ranges

    parts = []
    last = states.size - 1
    promised = None if premises is None else premises == State.HOLDS
    cut = promised is not None and (states == State.FAILS) & promised
    codes = 2 * states + cut
    for first, through in equal_value_ranges(codes):
        end = min(through + 1, last)
        state = State(int(states[first])).name
        times = _interval_text(float(log10_time[first]), float(log10_time[end]), steps)
        sure = True if promised is None else bool(promised[first])
        start, until = (_moment_of_time(float(log10_time[frame])) for frame in (first, end))
        parts.append(Stretch(state, start, until, f"{words[state]} {times}", sure))
    return tuple(parts)


def count_holding(
    lines: Sequence[StatementLine],
) -> tuple[tuple[float, float, int, bool], ...]:
    """Return stretches of time: start, end, number of statements that hold, True for a violation.

    A statement holds if its hypotheses and its conclusion hold. It is violated if its hypotheses
    hold and its conclusion fails. Stretches follow each other without gaps, and equal neighbours
    are joined. Times are in the coordinate of core.problem.schedule, -inf for t = 0. The result is
    empty without lines, and for a run of one frame.
    """
    ends = {
        moment
        for line in lines
        for one in _stretches_of_both_lanes(line)
        for moment in (one.start, one.end)
    }
    cuts = sorted(ends)
    stretches: list[tuple[float, float, int, bool]] = []
    for start, end in itertools.pairwise(cuts):
        states = [_states_at(line, start, end) for line in lines]
        count, violated = states.count(("HOLDS", "HOLDS")), ("HOLDS", "FAILS") in states
        if stretches and stretches[-1][2:] == (count, violated):
            stretches[-1] = (stretches[-1][0], end, count, violated)
        else:
            stretches.append((start, end, count, violated))
    return tuple(stretches)


def _stretches_of_both_lanes(line: StatementLine) -> tuple[Stretch, ...]:
    """Return the stretches of the hypotheses, then those of the conclusion."""
    return line.premises + line.conclusion


def _states_at(line: StatementLine, start: float, end: float) -> tuple[str, str]:
    """Return the states of hypotheses and conclusion from `start` to `end`.

    No stretch ends between the two. "SILENT" where the line has no stretch.
    """
    premises, conclusion = (
        next((one.state for one in lane if one.start <= start and end <= one.end), "SILENT")
        for lane in (line.premises, line.conclusion)
    )
    return premises, conclusion


def _moment_of_time(log10_time: float) -> float:
    """Return the time axis' coordinate of log10 t; -inf for -inf, t = 0."""
    return float(coordinate(log10_time)) if math.isfinite(log10_time) else -math.inf


def _interval_text(first: float, last: float, steps: bool = False) -> str:
    """Return the times log10 t of a stretch in words; `steps`: t counts steps.

    Equal times are written once.

    >>> _interval_text(-math.inf, 2.0), _interval_text(2.0, 2.0)
    ('from t = 0 to t = 100', 'at t = 100')
    """
    start, end = (raise_powers(time_text(one, steps)) for one in (first, last))
    return f"at {start}" if start == end else f"from {start} to {end}"


# State, True if of the hypotheses, and its name in the legend, from left to right.
SHAPES = (
    ("HOLDS", False, "holds"),
    ("FAILS", False, "does not hold"),
    ("OPEN", False, "undecided"),
    ("HOLDS", True, "thin line: hypotheses"),
)
LEGEND = (
    "Solid bar: the conclusion holds. Hatched bar: it does not hold. Dots: it is undecided. "
    "The thin line above each bar shows the hypotheses in the same way: solid, dashed or "
    "dotted. Where nothing is drawn, the theorem says nothing about those times."
)
HATCH = 5.0  # pixels between strokes
SWATCH = 22.0  # pixels, width of a shape in the legend


def hue_of_stretch(stretch: Stretch, upper: bool) -> Hue:
    """Return the colour of a stretch, in the upper lane (hypotheses) or the lower (conclusion).

    "positive" if it holds. A failing conclusion is "negative" if its hypotheses hold, else
    "warning", as failing hypotheses are. "muted" if undecided or silent.
    """
    if stretch.state == "HOLDS":
        return "positive"
    if stretch.state == "FAILS":
        return "negative" if stretch.promised and not upper else "warning"
    return "muted"


def paint_stretch(painter: QPainter, box: QRectF, state: str, colour: QColor, upper: bool) -> None:
    """Paint a stretch into its box: a bar for the conclusion, a thin line for the hypotheses.

    HOLDS is solid. FAILS is a hatched bar or a dashed line. OPEN is a dotted line in both lanes.
    Nothing is painted for SILENT.
    """
    if state == "SILENT":
        return
    middle = box.center().y()
    line = QLineF(box.left(), middle, box.right(), middle)
    pen = QPen(colour, 2.0 if upper else 2.5)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if state == "OPEN":
        pen.setDashPattern([1.0, 2.0])
        pen.setWidthF(1.5 if upper else 2.0)
    elif upper and state == "FAILS":
        pen.setDashPattern([3.0, 2.5])
    elif not upper:
        _paint_bar(painter, box, colour, hatched=state == "FAILS")
        return
    painter.setPen(pen)
    painter.drawLine(line)


def paint_stripe(painter: QPainter, line: StatementLine, box: QRectF, palette: Palette) -> None:
    """Paint a statement's conclusion over the width of a box, which is the span of the line.

    Each stretch is at least a pixel wide. The hypotheses are not painted, but change the colour of
    a failing conclusion.
    """
    for one in line.conclusion:
        left, right = (box.width() * line.span.share(end) for end in (one.start, one.end))
        part = QRectF(box.left() + left, box.top(), max(right - left, 1.0), box.height())
        colour = QColor(hue_of(hue_of_stretch(one, False), palette))
        paint_stretch(painter, part, one.state, colour, False)


def _paint_bar(painter: QPainter, box: QRectF, colour: QColor, hatched: bool) -> None:
    """Fill a box with a colour, or paint its outline and strokes on a faint ground."""
    painter.save()
    if not hatched:
        painter.fillRect(box, colour)
    else:
        faint = QColor(colour)
        faint.setAlpha(60)
        painter.setClipRect(box.adjusted(-0.5, -0.5, 0.5, 0.5))
        painter.fillRect(box, faint)
        painter.setPen(QPen(colour, 1.2))
        painter.drawRect(box)
        x = box.left() - box.height()
        while x < box.right():
            painter.drawLine(QPointF(x, box.bottom()), QPointF(x + box.height(), box.top()))
            x += HATCH
    painter.restore()


def paint_legend(painter: QPainter, box: QRectF, palette: Palette) -> None:
    """Paint the shapes with their names, aligned to the right.

    If the box is too narrow, the shapes at the left of SHAPES are left out.
    """
    metrics = painter.fontMetrics()
    x, height = box.right(), 0.5 * metrics.height()
    for state, upper, name in reversed(SHAPES):
        wide = metrics.horizontalAdvance(name)
        x -= wide
        if x - SWATCH - 6.0 < box.left():
            return
        painter.setPen(QColor(palette.muted))
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRectF(x, box.top(), wide + 2.0, box.height()), flags, name)
        x -= SWATCH + 6.0
        swatch = QRectF(x, box.center().y() - 0.5 * height, SWATCH, height)
        hue = hue_of_stretch(Stretch(state, 0.0, 0.0, "", promised=False), upper)
        paint_stretch(painter, swatch, state, QColor(hue_of(hue, palette)), upper)
        x -= 14.0
