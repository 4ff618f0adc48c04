"""The times that a verdict refers to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.theorems.states import State, States


@final
@dataclass(frozen=True, slots=True)
class Timing:
    """Moments as log10 t (-inf for t = 0), None where there is none.

    `told`: of the numbers that the verdict tells, the frame of the least room. `first_violated`:
    the first frame at which the conclusion fails. `holds_from`: the first frame from which on it
    never fails again, among those of which something is known.
    """

    told: float | None = None
    first_violated: float | None = None
    holds_from: float | None = None

    def as_json(self) -> dict[str, str | None]:
        """The moments by name, as `python -m core branch --at` reads them: JSON has no -inf.

        >>> Timing(-np.inf, 2.5).as_json()
        {'told': '0', 'first_violated': '10^2.5', 'holds_from': None}
        """
        return {name: _typed(moment) for name, moment in asdict(self).items()}


def _typed(log10_time: float | None) -> str | None:
    """A moment to the last digit."""
    if log10_time is None:
        return None
    return f"10^{log10_time!r}" if np.isfinite(log10_time) else "0"


NO_TIME = Timing()


def timed(states: States | None, frame: int | None, log10_time: NDArray[np.float64]) -> Timing:
    """The moments of a conclusion from its states (T,) and the frame that its numbers are of.

    >>> timed(np.array([3, 0, 1, 2, 1]), 1, np.array([-np.inf, 0.0, 1.0, 2.0, 3.0]))
    Timing(told=0.0, first_violated=0.0, holds_from=1.0)
    >>> timed(np.array([1, 0]), 1, np.array([-np.inf, 0.0])).holds_from is None
    True
    """
    told = None if frame is None or not log10_time.size else float(log10_time[frame])
    if states is None:
        return Timing(told)
    fails, holds = np.flatnonzero(states == State.FAILS), np.flatnonzero(states == State.HOLDS)
    after = holds[holds > fails[-1]] if fails.size else holds
    return Timing(
        told,
        float(log10_time[fails[0]]) if fails.size else None,
        float(log10_time[after[0]]) if after.size else None,
    )
