"""Mirror flow of u = |a b|: exactly for the scalar network, by explicit steps for the others.

d ln u/dt = -2 dR/du for networks with outer weights a_j b_j and a balanced start |a_j| = |b_j|,
which is the gradient flow of (a, b) in other coordinates (homogeneity, Lemma 3.2). Frames hold
a_j = sgn(a_j) sqrt(u_j) and b_j likewise.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.compiled import log_time as state
from core.compiled import mirror as kernel
from core.dynamics import solver_state
from core.dynamics.integrator import Integrator, Pace, first_units
from core.dynamics.kernel_arrays import padded_zeros
from core.dynamics.log_time_flow import LogTimeFlow
from core.dynamics.mirror_field import MirrorField, is_balanced
from core.dynamics.step_size import default_step, round_down
from core.dynamics.stepper import Stepper
from core.errors import InputError
from core.problem.problem import Problem, with_dynamics
from core.study_file.dynamics import GradientFlow, MirrorFlow

Array = NDArray[np.float64]


def check_balanced(problem: Problem) -> None:
    """Raise InputError unless |a_j| = |b_j| at the start."""
    if not is_balanced(problem.network, problem.start.parameters):
        raise InputError(
            'dynamics.kind = "mirror" needs a balanced start, |a_j| = |b_j| for every neuron, '
            "since only then u = |a b| determines the run; use the paper's init, or "
            'dynamics.kind = "flow" or "gd".'
        )


def features(problem: Problem) -> tuple[Array, Array]:
    """Return the matrix that maps u to a scalar network's margins, and the neurons' signs.

    Parameters
    ----------
    problem : Problem
        Problem with a scalar network, at a balanced start.

    Returns
    -------
    Z : array (n, m)
        p = Z u.
    signs : array (2, m)
        Signs of a and b.
    """
    network, flat = problem.network, problem.start.parameters
    signs = np.sign(flat.reshape(2, network.m))
    nodes = signs[1][:, None] * network.fixed["V"]
    Z = np.maximum(problem.inputs @ nodes.T, 0.0) * signs[0] * problem.dataset.y[:, None]
    return np.ascontiguousarray(Z), signs


@final
class ScalarMirror(LogTimeFlow):
    """Compiled mirror flow u = u(0) exp(2 Z' lambda) with lambda in R^n, in log time."""

    engine = "compiled float64, n-dimensional"

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, MirrorFlow)
        check_balanced(problem)
        # Schedule, scheme and step sizes are those of the flow, since it is the same flow.
        flow = GradientFlow(until_log10_time=dynamics.until_log10_time)
        super().__init__(with_dynamics(problem, flow))
        self.problem = problem
        self.kernel_state.h_early = 0.05

    def _allocate(self) -> None:
        problem, n, m = self.problem, self.problem.dataset.n, self.problem.network.m
        Z, signs = features(problem)
        with np.errstate(divide="ignore"):
            # In logarithms: u changes by many powers of ten, and -inf is a neuron that stays 0.
            start = 2.0 * (np.log(np.abs(self.direction[:m])) + self.kernel_state.rho)
        vectors = list(map(padded_zeros, (*[n] * 5, m, m, *[n] * 4)))
        self._advance = kernel.advance
        self._work = kernel.Work(*[Z, start, signs, *vectors, self._wave, *vectors[-2:]])
        self.pace = Pace(first_units(m, n, 1))

    def _vectors(self) -> dict[str, Array]:
        work = self._work
        return {"base": work.start, "lambda": work.theta, "previous": work.previous}

    def integrate_for(self, budget: int) -> int:
        code = super().integrate_for(budget)
        if code == state.STATIONARY:
            work, s = self._work, self.kernel_state
            # The same formula as `weights` of the kernels.
            u = np.exp(work.start + 2.0 * (work.theta @ work.Z) - 2.0 * s.rho)
            # |a|^2 + |b|^2 = 2 sum u is 1 at the stored scale.
            self.direction = (work.signs * np.sqrt(u / (2.0 * u.sum()))).reshape(-1)
        return code


@final
class SteppedMirror(Stepper):
    """Explicit steps u <- u exp(-2 eta dR/du) and V <- V - eta dR/dV."""

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, MirrorFlow)
        check_balanced(problem)
        super().__init__(problem, dynamics.step or default_step(problem))
        self.engine = f"{problem.network.engine} float64"
        self._field = MirrorField(problem)
        self._state = self._field.state(problem.physical_start())
        self._most = self._limit()
        self._resume()

    def _parts(self) -> solver_state.Parts:
        return {**super()._parts(), "logarithms": self._state}

    def _advance(self, count: int) -> int:
        for index in range(count):
            # Non-finite values count as divergence.
            with np.errstate(over="ignore", invalid="ignore"):
                f = self._field.outputs(self._state)
                if not float(np.abs(f).mean()) <= self._most:
                    return index
                self._state = self._state + self.step_size * self._field(self._state, f)
        return count

    def _flat(self) -> NDArray[Any]:
        return self._field.flat(self._state)

    def suggested_step(self) -> float:
        """Return the smaller of the default step and half the present one, rounded down."""
        return round_down(min(default_step(self.problem), self.step_size / 2.0))


def mirror_step(problem: Problem) -> float | None:
    """Return the default step; None for the scalar network, which chooses its own."""
    return None if problem.network.fixed_features else default_step(problem)


def make_mirror_flow(problem: Problem) -> Integrator:
    """Return the exact engine for fixed features (the scalar network), else explicit steps."""
    if problem.network.fixed_features:
        return ScalarMirror(problem)
    return SteppedMirror(problem)
