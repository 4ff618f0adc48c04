"""Second solution of a flow at another step length, which measures the error of early frames.

Before t = 10^3 the errors of single steps add up: the flow forgets them only later. The scheme is
of first order, so that a solution with steps of three times the length differs from the finer one
by about twice its error (Richardson). The companion runs ahead of the flow, to its next frame.
Measurements: docs/decisions/0038.
"""

from __future__ import annotations

from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from core.compiled import log_time as scheme
from core.compiled.log_time_state import State as Scheme
from core.dynamics.solver_state import Parts, invalid_state
from core.problem.problem import Problem, State

Array = NDArray[np.float64]
UNTIL_LOG10_TIME = 3.0
PER_DECADE = 3  # comparisons per decade, at most
SAFETY = 2.0  # estimate over difference, which is about twice the error
RATIO = 3.0  # ratio of the step lengths
PREFIX = "companion"


class Flow(Protocol):
    """Integrator of a flow in log time (`core.dynamics.log_time_flow`)."""

    problem: Problem
    kernel_state: Scheme
    marks: Array  # (frames,) log10 t of the frames after the start
    direction: Array  # (P,) the parameters, of norm 1

    def integrate_for(self, budget: int) -> int: ...

    def last_emitted(self) -> Array:
        """Return the parameters of the last frame written.

        Returns
        -------
        array (P,)
            Of norm 1.
        """

    def parts(self) -> Parts: ...

    def set_state(self, state: State) -> None: ...


def has_companion(state: State) -> bool:
    """Return True if a saved state holds that of a companion."""
    return any(name.startswith(PREFIX) for name in state)


def select_compared(marks: Array, start: float) -> Array:
    """Return the frames' times at which a run and its companion compare.

    Steps end at the frames' times. If all were compared, a run of many frames and its companion
    would take the same steps.

    Parameters
    ----------
    marks : array (T,)
        log10 t of the frames after the start.
    start : float
        log10 t of the start.

    Returns
    -------
    array
        Times among `marks`, at most PER_DECADE a decade, up to UNTIL_LOG10_TIME.
    """
    bins = np.floor(PER_DECADE * np.append(start, marks))
    chosen: Array = marks[(bins[1:] > bins[:-1]) & (marks <= UNTIL_LOG10_TIME)]
    return chosen


def is_needed_after(log10_time: float) -> bool:
    """Return True if a later frame of the run, or of one that continues it, may be compared."""
    return log10_time < UNTIL_LOG10_TIME


@final
class Companion:
    """Same flow with steps of another length, ahead of the run.

    Parameters
    ----------
    flow : Flow
        New integrator of the same problem, which nothing else advances.
    """

    def __init__(self, flow: Flow) -> None:
        self._flow, self._at_rest, self._next = flow, False, 0
        flow.marks = select_compared(flow.marks, flow.problem.start.log10_time)
        s = flow.kernel_state
        # Euler steps have the largest stable length; longer ones would be unstable.
        self._factor, ratio = (RATIO * SAFETY, 1.0 / RATIO) if s.euler else (SAFETY, RATIO)
        for name in ("tau_early", "h_early", "tau_late", "h_late", "h", "euler_h", "euler_c"):
            setattr(s, name, ratio * getattr(s, name))
        # Near t = 0 steps grow geometrically: one step of the companion spans three.
        s.growth **= ratio

    @property
    def is_behind(self) -> bool:
        """True while the companion has not reached the next comparison, and moves."""
        behind = int(self._flow.kernel_state.mark) == self._next < self._flow.marks.size
        return behind and not self._at_rest

    @property
    def log10_time(self) -> float:
        return float(self._flow.kernel_state.ln_t / np.log(10.0))

    def integrate_for(self, budget: int) -> int:
        """Advance by `budget` field evaluations or to the next frame; return the scheme's code."""
        code = self._flow.integrate_for(budget)
        # A companion that stopped for another reason is not advanced, and the difference grows.
        self._at_rest = code not in (scheme.GOING, scheme.STICKS, scheme.BUFFER_FULL, scheme.DONE)
        return code

    def compare(self, mark: float, parameters: Array) -> float:
        """Return the estimated error of min p at a frame, and go to the next comparison.

        NaN, without a change, if no comparison is due at log10 t = `mark`. `parameters` (P,) are
        those of the run's frame, of norm 1.
        """
        if self._next == self._flow.marks.size or mark < self._flow.marks[self._next]:
            return float("nan")
        error = self.error_ahead(parameters)
        self._next += 1
        self._flow.kernel_state.buffered = 0
        return error

    def error_ahead(self, parameters: Array) -> float:
        """Return the estimated error of min p of a run that stays at `parameters` (P,), of norm 1.

        The companion's last frame, or its present state if it is at rest, is the reference. NaN if
        no comparison is left and the companion is not at rest.
        """
        if self._next == self._flow.marks.size and not self._at_rest:
            return float("nan")
        return self._error(parameters)

    def _error(self, parameters: Array) -> float:
        """Return `_factor` times the largest difference of normalised scores, times the norm.

        Margins are divided by the frame's own norm, which two solutions need not share: networks
        exist whose margins are over another norm than the one that the flow keeps at 1.
        """
        reference = self._flow.direction if self._at_rest else self._flow.last_emitted()
        difference = self._normalised_scores(parameters) - self._normalised_scores(reference)
        power = self._flow.problem.network.norm_power(parameters)
        return self._factor * power * float(np.abs(difference).max())

    def _normalised_scores(self, parameters: Array) -> Array:
        problem = self._flow.problem
        power = problem.network.norm_power(parameters)
        scores: Array = problem.scores(parameters) / (power if power > 0.0 else np.nan)
        return scores

    def parts(self) -> Parts:
        """Return the companion's live state arrays, by names that start with `PREFIX`."""
        return {PREFIX + name: part for name, part in self._flow.parts().items()}

    def set_state(self, state: State, log10_time: float) -> None:
        """Continue from the companion's part of a saved state of the run at a time."""
        own = {
            name.removeprefix(PREFIX): part
            for name, part in state.items()
            if name.startswith(PREFIX)
        }
        self._flow.set_state(own)
        s = self._flow.kernel_state
        # An untrusted file could hold counts for which a half step never ends.
        if s.phase not in (scheme.EMIT, scheme.START_STEP) or s.half != 0:
            raise invalid_state("that of its companion is not that of a step's end")
        if not (np.isfinite([s.rho, s.h, s.safety]).all() and s.ln_t < np.inf):
            raise invalid_state("that of its companion holds a value that is not finite")
        self._next = int(np.searchsorted(self._flow.marks, log10_time, "right"))
        s.mark = self._next
