"""Training without compiled kernels until these are there, and with them from then on.

Where kernels are not compiled yet, a run whose dynamics has an engine in NumPy (or, for a network
of the user's own, in PyTorch) begins with that one. The compiled engine takes over between two
chunks: descent from the very parameters, the flow from its state at the last frame, so that it goes
on as a continued run does. Where Python's arithmetic raises, which compiled code does not, the
compiled engine repeats the chunk: no frame of it was handed on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import final

import numpy as np

from core.compiled import jit
from core.dynamics.general_descent import GeneralDescent
from core.dynamics.general_flow import GeneralFlow
from core.dynamics.gram_descent import GramDescent
from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.dynamics.registry import integrator
from core.dynamics.stochastic import Stochastic
from core.problem.problem import Problem
from core.problem.start import State
from core.study_file.dynamics import Adam, GradientDescent, GradientFlow, StochasticGradientDescent

WAIT_SECONDS = 0.02
# What Python's own arithmetic raises where compiled code has an infinity, which is no mistake.
BEYOND = (ArithmeticError, ValueError)


def uncompiled(problem: Problem) -> Integrator | None:
    """The engine of a prepared problem that needs no kernel, or None.

    It has the compiled engine's numbers to rounding, or to the integration error of a flow.
    """
    if problem.start.earlier is not None or problem.experiment.run.device == "cuda":
        return None
    dynamics, network = problem.experiment.dynamics, problem.network
    # Parts of degree 0 are moved with other speeds there (core.dynamics.general_flow).
    if isinstance(dynamics, GradientFlow) and (
        network.scaled == network.size or not network.compiled
    ):
        return GeneralFlow(problem)
    if isinstance(dynamics, GradientDescent) and network.compiled:
        return GeneralDescent(problem)
    if isinstance(dynamics, StochasticGradientDescent | Adam) and network.compiled:
        return Stochastic(problem, compiled=False)
    return None


def meanwhile(problem: Problem, ready: Callable[[], bool]) -> Meanwhile | None:
    """The integrator of a prepared problem that begins without kernels; None where none can."""
    begun = uncompiled(problem)
    if begun is None:
        return None
    made = integrator(problem)
    # Its coordinates are those of where it began, which nothing can be put into.
    return None if isinstance(made, GramDescent) else Meanwhile(begun, made, ready)


@final
class Meanwhile(Integrator):
    """`first` until `ready()`, then `then`, which goes on from where that one stood."""

    def __init__(self, first: Integrator, then: Integrator, ready: Callable[[], bool]) -> None:
        self._first: Integrator | None = first
        self._then, self._ready = then, ready
        self._last = Chunk((), Outcome.GOING, 0, -math.inf)
        self._lost = False
        self.by = first.engine
        self.engine = f"{first.engine}, then {then.engine}"
        self.planned, self.temperature_cap = then.planned, then.temperature_cap

    @property
    def waits(self) -> bool:
        """Whether the compiled engine has not taken over."""
        return self._first is not None

    def advance(self) -> Chunk:
        if self._first is not None and self._ready():
            self._first = None
        if self._first is None:
            return self._then.advance()
        if not self._lost:
            try:
                # Compiled code does not warn either.
                with jit.interpreted(), np.errstate(all="ignore"):
                    self._last = self._first.advance()
            except BEYOND:
                self._lost = True
            else:
                # After each chunk: one that raises leaves `first` somewhere in its middle.
                self._then.take_over(self._first)
                return self._last
        time.sleep(WAIT_SECONDS)
        return Chunk((), Outcome.GOING, self._last.step, self._last.log10_time)

    def state(self) -> State | None:
        return (self._then if self._first is None or self._lost else self._first).state()
