"""Numbers of a run that take longer than a frame of the screen, computed in another thread.

The screen requests them; app.playback.calculator calls `work` in its own thread. An array element
is written before it is marked as known, so that readers never see a half-written one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from core.observables.node_groups import GroupFacts
    from core.runs import Run


Floats = NDArray[np.float64]
SPECTRUM = "log10 of the leading singular values"
# As many as core.observables.spectrum keeps per frame.
LEADING = 16
Q = TypeVar("Q")
A = TypeVar("A")
STRIDES = (64, 16, 4, 1)  # compute curves coarsely first, over the whole run

log = logging.getLogger(__name__)


@final
@dataclass(frozen=True, slots=True)
class PredictorQuestion:
    """Grid of points for the predictor at a frame.

    `axes` are the numbers of two coordinates of the data, whose ranges and counts of points are
    `first` and `second`, (low, high, count). For data of one coordinate `second` has no points.
    """

    frame: int
    axes: tuple[int, int]
    first: tuple[float, float, int]
    second: tuple[float, float, int]


@final
@dataclass(frozen=True, slots=True, eq=False)
class PredictorAnswer:
    """f at the flat parameters, (second, first) or (first,); the class for several of them.

    Physical values are 10^log10_scale times these. `zero`: lines (k, 2) along which f is 0, NaN
    between them; None where they are found from the values. `fitted`: f (n,) at the training
    inputs, of real targets.
    """

    question: PredictorQuestion
    values: Floats
    log10_scale: float
    zero: Floats | None = None
    fitted: Floats | None = None


@final
@dataclass(frozen=True, slots=True)
class GroupQuestion:
    """Neurons whose facts at a frame are requested."""

    frame: int
    nodes: frozenset[int]


@final
@dataclass(frozen=True, slots=True)
class NodesQuestion:
    """Observables of single neurons, requested at a frame."""

    frame: int
    names: tuple[str, ...]


@final
class LatestRequest(Generic[Q, A]):
    """Latest-wins slot: the newest question, and the last (question, answer), perhaps older."""

    def __init__(self, lock: threading.Lock, answer: Callable[[Run, Q], A]) -> None:
        self._lock, self._answer = lock, answer
        self._question: Q | None = None
        # Read without the lock: one assignment replaces the frozen value, and the screen must not
        # wait.
        self.known: tuple[Q, A] | None = None

    def request(self, question: Q | None) -> None:
        """Replace the question; None withdraws it."""
        with self._lock:
            self._question = question

    @property
    def pending_question(self) -> Q | None:
        """Question without an answer so far."""
        with self._lock:
            question, answer = self._question, self.known
        return None if answer is not None and answer[0] == question else question

    def work(self, run: Run) -> bool:
        """Answer the pending question; return False if there was none."""
        question = self.pending_question
        if question is None:
            return False
        self.known = (question, self._answer(run, question))
        return True


@final
class Trace:
    """Curve with a value, or a few, for each frame: values (T, width), known (T,)."""

    def __init__(self, room: int, width: int) -> None:
        self.values = np.full((room, width), np.nan)
        self.known = np.zeros(room, dtype=bool)

    def make_room(self, room: int) -> None:
        """Lengthen the arrays to at least `room` frames; new ones are NaN and unknown."""
        missing = room - self.known.size
        if missing > 0:
            rows = np.full((missing, self.values.shape[1]), np.nan)
            self.values = np.concatenate([self.values, rows])
            self.known = np.concatenate([self.known, np.zeros(missing, dtype=bool)])

    def missing(self, frames: int) -> int:
        """Return the next frame to compute of the first `frames`; -1 for none."""
        if frames == 0:
            return -1
        # Newest first: it is at the live edge, which users watch.
        if not self.known[frames - 1]:
            return frames - 1
        for stride in STRIDES:
            unknown = np.flatnonzero(~self.known[:frames:stride])
            if unknown.size:
                return int(unknown[0]) * stride
        return -1


@final
class BackgroundValues:
    """Requested and known values of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._traces: dict[str, Trace] = {}
        # By the requesting view, so that a closed view withdraws only its own requests.
        self._requested: tuple[str, ...] = ()  # "owner:name"
        self._frames = 0
        self.prediction: LatestRequest[PredictorQuestion, PredictorAnswer] = LatestRequest(
            self._lock, answer
        )
        self.group: LatestRequest[GroupQuestion, GroupFacts] = LatestRequest(
            self._lock, _group_facts
        )
        self.nodes: LatestRequest[NodesQuestion, dict[str, Floats]] = LatestRequest(
            self._lock, _node_values
        )
        self._latest = (self.prediction, self.group, self.nodes)
        self._broken = False
        self.traced = 0  # values of traces computed so far

    # ------------------------------------------------------------------------------- window thread

    def request_traces(self, owner: str, names: tuple[str, ...], frames: int) -> None:
        """Request scalars by their names, or SPECTRUM, at the first `frames` frames.

        This replaces the earlier request of the same owner.
        """
        with self._lock:
            remaining = tuple(name for name in self._requested if not name.startswith(f"{owner}:"))
            self._requested = remaining + tuple(f"{owner}:{name}" for name in names)
            self._frames = max(self._frames, frames)  # another view may have read further
            room = max(frames, self._run.planned_frames)
            for name in names:
                width = LEADING if name == SPECTRUM else 1
                self._traces.setdefault(name, Trace(room, width)).make_room(room)

    def trace(self, name: str, frames: int) -> Floats:
        """Return a requested trace at the first frames, (frames, width), NaN where unknown."""
        trace = self._traces[name]
        # Use `known`, not the values: a row may be half written at this moment.
        return np.where(trace.known[:frames, None], trace.values[:frames], np.nan)

    def has_requested(self, owner: str, name: str) -> bool:
        """Return True if an owner requested a trace."""
        return f"{owner}:{name}" in self._requested

    def known_frames(self, name: str, frames: int) -> NDArray[np.bool_]:
        """Return which of the first frames of a requested trace are known, (frames,)."""
        return np.array(self._traces[name].known[:frames])

    @property
    def answer(self) -> PredictorAnswer | None:
        """Last computed predictor, perhaps for an older question."""
        prediction = self.prediction.known
        return prediction[1] if prediction is not None else None

    @property
    def pending(self) -> bool:
        """True while a request is unanswered; False after an error, which ends the work."""
        if self._broken:
            return False
        is_waiting = any(latest.pending_question is not None for latest in self._latest)
        return is_waiting or self._next_trace() is not None

    # -------------------------------------------------------------------------------- other thread

    def work(self, seconds: float) -> bool:
        """Compute for about so many seconds; return False if nothing was pending."""
        deadline = time.perf_counter() + seconds
        has_worked = False
        while not self._broken and self._step():
            has_worked = True
            if time.perf_counter() >= deadline:
                break
        return has_worked

    def _step(self) -> bool:
        """Compute one answer or one value of a trace; return False if nothing was pending.

        An exception ends the work on this run.
        """
        try:
            if any(latest.work(self._run) for latest in self._latest):
                return True
            missing = self._next_trace()
            if missing is None:
                return False
            self._compute(*missing)
        except Exception:
            # The run was closed, or its file is gone; other runs continue.
            self._broken = True
            log.debug("numbers for the screen ended", exc_info=True)
        return True

    def _next_trace(self) -> tuple[str, Trace, int] | None:
        """Return name, trace and frame of the next value to compute; None if all are known."""
        with self._lock:
            for request in self._requested:
                name = request.split(":", 1)[1]
                trace = self._traces[name]
                frame = trace.missing(self._frames)
                if frame >= 0:
                    return name, trace, frame
        return None

    def _compute(self, name: str, trace: Trace, frame: int) -> None:
        """Compute a trace at one frame, and store the value in it."""
        from core.observables.registry import observable_of

        if name == SPECTRUM:
            from core.observables.spectrum import log10_singular_values

            sigma = log10_singular_values(self._run, frame)
            value = np.full(LEADING, np.nan)
            value[: sigma.size] = sigma[:LEADING]
        else:
            value = np.array([observable_of(name).value_at(self._run, frame)], dtype=np.float64)
        with self._lock:  # the window's thread may enlarge the arrays
            trace.values[frame] = value
            trace.known[frame] = True
            self.traced += 1


def _group_facts(run: Run, question: GroupQuestion) -> GroupFacts:
    from core.observables.node_groups import group_facts

    return group_facts(run, question.frame, question.nodes)


def _node_values(run: Run, question: NodesQuestion) -> dict[str, Floats]:
    from core.observables.registry import observable_of

    values = ((name, observable_of(name).value_at(run, question.frame)) for name in question.names)
    return {name: np.asarray(some, dtype=np.float64) for name, some in values}


def answer(run: Run, question: PredictorQuestion) -> PredictorAnswer:
    """Compute the predictor of a run at the points of a question."""
    from core.observables.piecewise import level_segments, lines_of, plane_function
    from core.observables.predictor_values import flat_values, grid_values

    plane, data = question, run.dataset
    grid = grid_values(run, plane.frame, plane.axes, plane.first, plane.second)
    function = plane_function(run, plane.frame, plane.axes)
    zero = None
    if function is not None:
        zero = lines_of(level_segments(function, plane.first[:2], plane.second[:2]))
    return PredictorAnswer(
        plane, *grid, zero, flat_values(run, plane.frame, data.x) if data.real else None
    )
