"""A continued run with the frames before its start, and the cache of a run's latest frames."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, final

import numpy as np

from core.data.dataset import Array
from core.problem.problem import History, Start, State
from core.runs.base import Run
from core.runs.meta import Reason
from core.runs.run_file import Event, Index


@final
class FrameCache:
    """Cache of the frames used last, at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._frames: OrderedDict[int, tuple[Array, Array | None]] = OrderedDict()

    @property
    def bytes(self) -> int:
        return self._bytes

    def get(self, index: int) -> tuple[Array, Array | None] | None:
        """Return a cached frame and make it the one used last.

        Parameters
        ----------
        index : int
            Index of the frame.

        Returns
        -------
        (array (size,), array (n,) or None), or None
            Parameters and stored q; None if the frame is not cached.
        """
        frame = self._frames.get(index)
        if frame is not None:
            self._frames.move_to_end(index)
        return frame

    def add(self, index: int, frame: tuple[Array, Array | None]) -> None:
        """Cache a frame unless it exceeds the limit; drop those used longest ago."""
        size = _bytes_of(frame)
        if size > self._limit or index in self._frames:
            return
        self._frames[index] = frame
        self._bytes += size
        # Limited by bytes, not number: frames have a few kilobytes or many megabytes.
        while self._bytes > self._limit:
            _, removed = self._frames.popitem(last=False)
            self._bytes -= _bytes_of(removed)


def _bytes_of(frame: tuple[Array, Array | None]) -> int:
    return frame[0].nbytes + (0 if frame[1] is None else frame[1].nbytes)


@final
class WholeRun(Run):
    """Run from t = 0 on, on which statements about all s <= t are judged.

    Frame 0 is the origin, at t = 0; frames 1 to `frames_before` - 1 are those of the runs before,
    as far as the file contains them, and frame `frames_before` is the run's own frame 0. `complete`
    is false if frames are missing between.
    """

    def __init__(self, run: Run, history: History | None) -> None:
        # A separate memo: observables change if t = 0 is another frame.
        self.path, self.memo = run.path, dict[Any, Any]()
        self._header = run._header
        self._run, self._history = run, history
        self._joined: tuple[Index, Index] | None = None

    @property
    def frames_before(self) -> int:
        return 1 + (0 if self._history is None else self._history.steps.size)

    @property
    def complete(self) -> bool:
        return self._history is not None and self._history.complete

    @cached_property
    def start(self) -> Start:
        goes_on = self._run.start.same_dynamics
        return Start(self.origin, self.origin, continues=self.continues, same_dynamics=goes_on)

    @property
    def planned_frames(self) -> int:
        return self.frames_before + self._run.planned_frames

    @property
    def status(self) -> str:
        return self._run.status

    @property
    def is_recording(self) -> bool:
        return self._run.is_recording

    @property
    def reason(self) -> Reason | None:
        return self._run.reason

    @property
    def index(self) -> Index:
        own, history = self._run.index, self._history
        # The run creates a new index only for new frames.
        if self._joined is not None and self._joined[0] is own:
            return self._joined[1]
        steps, times, rho = [0], [-np.inf], [0.0]
        if history is not None:
            steps += history.steps.tolist()
            times += history.log10_time.tolist()
            rho += history.rho.tolist()
        joined = Index(
            np.concatenate([np.array(steps, dtype=np.int64), own.steps]),
            np.concatenate([times, own.log10_time]),
            np.concatenate([rho, own.rho]),
        )
        self._joined = own, joined
        return joined

    @property
    def is_replaced(self) -> bool:
        return self._run.is_replaced

    @property
    def bytes_on_disk(self) -> int:
        return self._run.bytes_on_disk

    def refresh(self) -> int:
        return self.frames_before + self._run.refresh()

    @property
    def whole_run(self) -> Run:
        return self

    def parameters(self, index: int) -> Array:
        """Return the parameters of a frame of this run, or of one before its start.

        Parameters
        ----------
        index : int
            Index of the frame, from t = 0; 0 is the origin.

        Returns
        -------
        array (size,)
            Flat float64; e^rho[index] times it is physical.

        Raises
        ------
        IndexError
            The run has no such frame.
        """
        if index >= self.frames_before:
            return self._run.parameters(index - self.frames_before)
        if index < 0:
            raise IndexError(f"frame {index} of {self.path}")
        if index == 0:
            return self.origin
        assert self._history is not None
        return np.asarray(self._history.parameters[index - 1], dtype=np.float64)

    def dual(self, index: int) -> Array | None:
        """Return the stored dual weights of a frame with float32 parameters.

        Parameters
        ----------
        index : int
            Index of the frame, from t = 0.

        Returns
        -------
        array (n,) or None
            None before the start of the continued run, and if q is computed from the parameters.
        """
        return self._run.dual(index - self.frames_before) if index >= self.frames_before else None

    def last_state(self, index: int) -> tuple[int, State] | None:
        state = self._run.last_state(index - self.frames_before)
        return None if state is None else (self.frames_before + state[0], state[1])

    def diagnostics(self, index: int) -> dict[str, float]:
        own = (
            self._run.diagnostics(index - self.frames_before) if index >= self.frames_before else {}
        )
        # Steps before the start are judged by the errors that the earlier runs noted for them.
        errors = None if self._history is None else self._history.errors
        if (
            errors is None
            or not 0 < index <= self.frames_before
            or not np.isfinite(errors[index - 1])
        ):
            return own
        return {**own, "margin_error": float(errors[index - 1])}

    @property
    def loop_names(self) -> tuple[str, ...]:
        return self._run.loop_names

    def events(self) -> tuple[Event, ...]:
        return tuple(
            (self.frames_before + frame, kind, text) for frame, kind, text in self._run.events()
        )

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._run.batch():
            yield

    def close(self) -> None:
        self._run.close()


MOST_HISTORY = 16 << 20  # bytes of earlier frames, which take 30 ms to read


def with_history(run: Run) -> Run:
    """Return a run that continues another with the frames before its start.

    A branch, a run whose settings changed, or a run with an incomplete or very long history is
    returned unchanged.
    """
    if run.continues is None or run.continues.get("branch") or run.has_changed_rule:
        return run
    if not (run.start.same_dynamics and np.isfinite(run.start.log10_time)):
        return run
    if run.history_bytes() > MOST_HISTORY:
        return run
    full_run = run.whole_run
    return full_run if isinstance(full_run, WholeRun) and full_run.complete else run
