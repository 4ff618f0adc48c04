"""Moments of a run to which a verdict refers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.theorems.states import State, States


@final
@dataclass(frozen=True, slots=True)
class Timing:
    """Moments as log10 t (-inf for t = 0), None if undefined.

    `told`: moment of the compared numbers, which have the least room among all frames, or belong to
    one frame. `first_violated`: first frame at which the conclusion fails. `holds_from`: first
    frame at which the conclusion holds and after which no frame fails. Frames that are open or
    silent count for neither.
    """

    told: float | None = None
    first_violated: float | None = None
    holds_from: float | None = None

    def as_json(self) -> dict[str, str | None]:
        """Return t by field name as text, as `python -m core branch --at` reads it; None if none.

        t = 0 is "0", any other time a power of ten such as "10^2.5".

        >>> Timing(-np.inf, 2.5).as_json()
        {'told': '0', 'first_violated': '10^2.5', 'holds_from': None}
        """
        return {name: _moment_text(moment) for name, moment in asdict(self).items()}


def _moment_text(log10_time: float | None) -> str | None:
    """Return "10^" and log10 t in all its digits; "0" if not finite, None for None."""
    if log10_time is None:
        return None
    return f"10^{log10_time!r}" if np.isfinite(log10_time) else "0"


NO_TIME = Timing()


def make_timing(
    states: States | None, frame: int | None, log10_time: NDArray[np.float64]
) -> Timing:
    """Return the moments of a conclusion.

    Parameters
    ----------
    states : array (T,) or None
        State of each frame; None for a conclusion that belongs to no time.
    frame : int or None
        Frame of the conclusion's numbers, negative if counted from the end; None for no frame.
    log10_time : array (T,)
        log10 t of each frame.

    Returns
    -------
    Timing
        `told` is log10 t of `frame`. The other moments are None if `states` is None.

    Examples
    --------
    >>> make_timing(np.array([3, 0, 1, 2, 1]), 1, np.array([-np.inf, 0.0, 1.0, 2.0, 3.0]))
    Timing(told=0.0, first_violated=0.0, holds_from=1.0)
    >>> make_timing(np.array([1, 0]), 1, np.array([-np.inf, 0.0])).holds_from is None
    True
    """
    log10_t = None if frame is None or not log10_time.size else float(log10_time[frame])
    if states is None:
        return Timing(log10_t)
    fails, holds = np.flatnonzero(states == State.FAILS), np.flatnonzero(states == State.HOLDS)
    after = holds[holds > fails[-1]] if fails.size else holds
    return Timing(
        log10_t,
        float(log10_time[fails[0]]) if fails.size else None,
        float(log10_time[after[0]]) if after.size else None,
    )
