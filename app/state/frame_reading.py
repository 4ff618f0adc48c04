"""Reading of frames: by several threads in order, and of a run's parent."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, final

import numpy as np

from app.state.node_values import Floats, Indices
from core.errors import MarginscopeError

if TYPE_CHECKING:
    from core.runs import Run


AHEAD = 8  # tasks given to the threads at a time; at most these run past the deadline


def ordered_map(
    work: Callable[[int], None], first: int, end: int, deadline: float, hands: Executor
) -> Iterator[int]:
    """Call work(i) for first <= i < end in threads, and yield each i in order when done.

    After `deadline`, in seconds of time.perf_counter, only `first` is started. An exhausted
    iterator leaves no thread at work. Raises what `work` raises.
    """
    waiting: deque[tuple[int, Future[None]]] = deque()
    submitted = first
    while True:
        while submitted < end and len(waiting) < AHEAD:
            if submitted > first and time.perf_counter() >= deadline:
                break
            waiting.append((submitted, hands.submit(work, submitted)))
            submitted += 1
        if not waiting:
            return
        index, job = waiting.popleft()
        job.result()
        yield index


MOST_BYTES = 16 << 20  # 30 ms
TOO_LONG = (
    "parent not drawn: it has more than 16 MiB of frames",
    "parent not drawn",
)


@final
class ParentHistory:
    """Margins of the parent run, read little by little after the run's own frames.

    The arrays have a row for each of the P frames read so far, from t = 0 towards the start of
    the run: use them once `is_complete`. They stay empty after an error. `too_long`: the frames,
    which files hold in one piece, take longer than a turn of the event loop, and are not read.
    """

    def __init__(self, run: Run, names: tuple[str, ...]) -> None:
        self._run, self._names = run, names
        has_parent = run.continues is not None and math.isfinite(run.start.log10_time)
        self._left = 1 if has_parent else 0  # the count is known once the file is read
        self._is_requested = False
        self.too_long = False
        self._values: list[list[float]] = []
        self._log10_norm: list[float] = []

    @property
    def has_unread(self) -> bool:
        """True while frames remain to be read."""
        return self._left > 0

    @property
    def is_complete(self) -> bool:
        """True if the run has a parent that is fully read."""
        return bool(self._values) and not self.has_unread

    def read(self, deadline: float) -> None:
        """Read the next frame, and more until `deadline`, a time of time.perf_counter."""
        if not self.has_unread:
            return
        try:
            if not self._is_requested and self._run.history_bytes() > MOST_BYTES:
                self._left, self.too_long = 0, True
                return
            full_run = self._run.whole_run
            if not self._is_requested:
                self._is_requested = True
                # A gap would join frame 0 to frames long after it.
                self._left = full_run.frames_before if full_run.complete else 0
            while self._left:
                self._read_one(full_run, len(self._values))
                self._left -= 1
                if time.perf_counter() >= deadline:
                    break
        except (MarginscopeError, OSError):  # without its past; the run's own frames are read
            self._left, self._values, self._log10_norm = 0, [], []

    def _read_one(self, full_run: Run, index: int) -> None:
        """Append margins and norm of the next frame."""
        from core.observables.registry import OBSERVABLES

        self._values.append([OBSERVABLES[name].value_at(full_run, index) for name in self._names])
        length = full_run.network.norm(full_run.parameters(index))
        unit = math.log10(length) if length > 0.0 else -math.inf
        self._log10_norm.append(2.0 * (unit + float(full_run.rho[index]) / math.log(10.0)))

    # --------------------------------------------------------------------------------- read frames

    @property
    def margins(self) -> Floats:
        """Values of the margins, (P, len(names))."""
        return np.array(self._values).reshape(-1, len(self._names))

    @property
    def log10_time(self) -> Floats:
        """log10 t, (P,); -inf at t = 0."""
        return self._run.whole_run.log10_time[: len(self._values)]

    @property
    def steps(self) -> Indices:
        """Steps taken, (P,)."""
        return self._run.whole_run.steps[: len(self._values)]

    @property
    def log10_norm_squared(self) -> Floats:
        """log10 |W|^2, (P,)."""
        return np.array(self._log10_norm)
