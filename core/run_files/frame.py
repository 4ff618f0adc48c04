"""Arrays of a run file: frames, the schedule of when they are due, and a digest of data."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.schema import MAX_FRAMES

Array = NDArray[np.float64]


def _no_diagnostics() -> Mapping[str, float]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Trained parameters at one moment of the schedule.

    `parameters` is flat, in the order of the network's layout, float64 or float32. The physical
    parameters are W = e^rho * parameters: rho = 0 for gradient descent, while gradient flow emits
    a unit vector theta, since e^rho and the margins late in a run need all the digits.
    `log10_time` is -inf at t = 0. `dual` is q (n,) if the parameters are float32.
    `diagnostics` are numbers of the integrator since the frame before (named by each dynamics).
    """

    step: int
    log10_time: float
    rho: float
    parameters: NDArray[np.floating]
    dual: Array | None = None
    diagnostics: Mapping[str, float] = field(default_factory=_no_diagnostics)


def digest(arrays: Iterable[NDArray[Any]]) -> str:
    """Return the SHA-256 of the shapes and values of arrays, as hexadecimal digits."""
    hasher = hashlib.sha256()
    for array in arrays:
        hasher.update(repr(array.shape).encode())
        # Little-endian on every machine: the digest is part of an experiment.
        hasher.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return hasher.hexdigest()


# ----------------------------------------------------------------------------------------- schedule

PLAIN_HORIZON = 10.0
# Frames per decade without a known end: 400 reach t = 10^6.7 of a loop that counts steps.
A_DECADE = 60


def coordinate(log10_time: Array | float) -> Array:
    """Return u(x) = x for x <= 1, 1 + ln x above; continuously differentiable and increasing.

    Parameters
    ----------
    log10_time : array or float
        x = log10 t.

    Returns
    -------
    array
        Of the shape of `log10_time`.

    Examples
    --------
    >>> coordinate(np.array([-2.0, 1.0, np.e])).tolist()
    [-2.0, 1.0, 2.0]
    """
    x = np.asarray(log10_time, dtype=np.float64)
    return np.where(x <= 1.0, x, 1.0 + np.log(np.maximum(x, 1.0)))


def inverse_coordinate(u: Array | float) -> Array:
    """Return the x with coordinate(x) = u.

    Parameters
    ----------
    u : array or float
        Values of `coordinate`.

    Returns
    -------
    array
        log10 t, of the shape of `u`.
    """
    u = np.asarray(u, dtype=np.float64)
    return np.where(u <= 1.0, u, np.exp(np.maximum(u, 1.0) - 1.0))


def log10_schedule(first: float, last: float, frames: int, marks: tuple[float, ...]) -> Array:
    """Return the times of all frames after frame 0.

    They are equally spaced in log10 t (in `coordinate` for late ends), with the marks inserted.

    Parameters
    ----------
    first, last : float
        log10 t of frame 1 and of the last frame.
    frames : int
        Largest number of frames, frame 0 included.
    marks : tuple of float
        log10 t of frames that must exist; those above `last` are left out.

    Returns
    -------
    array (at most frames - 1,)
        log10 t, increasing, ending at `last`.

    Examples
    --------
    >>> log10_schedule(-1.0, 2.0, 5, (1.0,)).tolist()
    [-1.0, 0.5, 1.0, 2.0]
    """
    required = {float(mark) for mark in marks if mark <= last} | {float(last)}
    room = frames - 1 - len(required)
    first = min(first, last)
    if last > PLAIN_HORIZON:
        low, high = coordinate(np.array([first, last]))
        spaced = inverse_coordinate(np.linspace(low, high, room + 1))
    else:
        spaced = np.linspace(first, last, room + 1)
    # Drop the last one, which equals `last` up to rounding: `kept` has the exact value.
    return np.array(sorted(required | {float(x) for x in spaced[:-1]}), dtype=np.float64)


@final
class Schedule:
    """Times t >= 0 of frames, each queried once and in order.

    With an end: at most `frames`, equally spaced in log10 t from t = `first` on, and the marks.
    Without: 60 to a decade, and `frames` does not count.

    >>> times = Schedule(until=100.0, frames=5)
    >>> [t for t in range(101) if times.due(t)]
    [0, 1, 5, 22, 100]
    """

    def __init__(
        self,
        until: float | None = None,
        frames: int = 400,
        marks: tuple[float, ...] = (),
        first: float = 1.0,
    ) -> None:
        if not 2 <= frames <= MAX_FRAMES:
            raise InputError(f"frames = {frames}; give 2 to {MAX_FRAMES}.")
        if until is not None and not (math.isfinite(until) and until > 0.0):
            raise InputError(f"until = {until}; give a time above 0, or None.")
        if any(not mark > 0.0 for mark in marks) or len(set(marks)) > frames - 2:
            raise InputError("marks must be times above 0, at least two fewer than frames.")
        self.frames, self.first = frames, first
        self._marks = sorted({float(mark) for mark in marks})
        self._times: list[float] | None = None
        if until is not None:
            logs = tuple(math.log10(mark) for mark in self._marks)
            times = log10_schedule(math.log10(first), math.log10(until), frames, logs)
            # Rounding margin: 10^2 - 1e-14 is step 100.
            self._times = [float(t) for t in 10.0**times * (1.0 - 1e-9)]
        self.next = -math.inf  # least t at which a frame is due

    def due(self, t: float) -> bool:
        """Return True if a frame at t is due, which then counts as `note_frame`."""
        if not t >= self.next:
            return False
        self.note_frame(t)
        return True

    def note_frame(self, t: float) -> None:
        """Note that a frame at t was recorded."""
        marks = [mark for mark in self._marks if mark > t]
        after = marks[0] if marks else math.inf
        if self._times is not None:
            place = bisect_right(self._times, t)
            after = self._times[place] if place < len(self._times) else math.inf
        elif t < self.first:
            after = min(after, self.first)
        else:
            # 1e-6 of a slot is a rounding margin: 60 log10 of 10 is slot 60.
            slot = math.floor(A_DECADE * math.log10(t / self.first) + 1e-6)
            with suppress(OverflowError):
                after = min(after, self.first * 10.0 ** ((slot + 1 - 1e-6) / A_DECADE))
        self.next = max(self.next, after)
