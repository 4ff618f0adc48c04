"""The perturbed Wasserstein flow by particles (wei19, equation 3.2 and section E.3).

    d rho/dt = -sigma rho + sigma U^d - div(v[rho] rho),    v[rho] = -grad L'[rho],

with U^d uniform on the unit sphere of (a, v) in R^(d+1). rho is m particles theta_j of mass 1/m, so
that the network is (1/m) sum_j Phi(theta_j); with w_j = theta_j/sqrt(m) this is the standard
network of the w_j, the penalty lambda int |theta|^2 d rho is lambda sum_j |w_j|^2, and moving along
v[rho] is gradient descent of R + lambda |W|^2 on it. Of the discrete updates that have equation 3.2
as their mean we take the one with equal masses: in each step every particle is replaced, with
probability eta sigma and independently, by a uniform one. Starts come from
`default_rng([run.seed, 3])`, replacements from `default_rng([run.seed, 4])`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.batch_engine import ArrayEngine, CompiledEngine, Rule, batch_engine
from core.dynamics.step_size import default_step, rounded_down
from core.dynamics.stepper import Stepper
from core.problem import Problem, Start
from core.sections.dynamics import PerturbedFlow

Array = NDArray[np.float64]
BLOCK = 1024  # steps whose replacements are drawn together
Replacement = tuple[int, NDArray[np.int64], Array]  # after which step, which, and by what


def on_sphere(generator: np.random.Generator, count: int, d: int) -> Array:
    """`count` independent uniform points (a, v) of the unit sphere of R^(d+1)."""
    points = generator.standard_normal((count, d + 1))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def perturbed_start(problem: Problem) -> Problem:
    """The problem with its particles where the section wants them at t = 0."""
    dynamics, start = problem.experiment.dynamics, problem.start
    assert isinstance(dynamics, PerturbedFlow)
    if dynamics.particles == "network" or start.continues is not None:
        return problem
    m, d = problem.network.m, problem.inputs.shape[1]
    generator = np.random.default_rng([problem.experiment.run.seed, 3])
    points = on_sphere(generator, 1 if dynamics.particles == "atom" else m, d)
    points = np.broadcast_to(points, (m, d + 1)) / np.sqrt(m)
    flat = np.concatenate([points[:, 0], points[:, 1:].reshape(-1)])
    return replace(problem, start=Start(flat, flat))


def perturbed_step(problem: Problem) -> float:
    """The smaller of 1/max_i |x_i|^2 and 1/lambda_0 at the particles' start.

    THEORY, section 8, has eta = 1/d and lambda = 2e-3 for inputs of entries +-1. For those of
    |x| = 1 the same run has eta = d^(-1/2) and lambda = 2e-3 d^(-1/2).
    """
    largest = float((problem.dataset.x**2).sum(axis=1).max())
    step = default_step(problem)
    return min(1.0 / largest, step) if largest > 0.0 else step


def replacements(
    generator: np.random.Generator, m: int, d: int, probability: float
) -> Iterator[Replacement]:
    """What is replaced after which step, in order; endless for a probability above 0."""
    begun = 0
    while probability > 0.0:
        counts = generator.binomial(m, probability, BLOCK)
        for index in np.flatnonzero(counts).tolist():
            count = int(counts[index])
            which = generator.choice(m, count, replace=False)
            yield begun + index + 1, which, on_sphere(generator, count, d) / np.sqrt(m)
        begun += BLOCK


@final
class Perturbed(Stepper):
    """Gradient descent, with particles drawn anew between its steps."""

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, PerturbedFlow)
        super().__init__(problem, dynamics.step or perturbed_step(problem))
        n, limit = problem.dataset.n, self._limit()
        engine = batch_engine(problem, Rule(self.step_size), self.dtype, limit, n, full=True)
        assert isinstance(engine, CompiledEngine | ArrayEngine)
        self._engine, self.engine = engine, engine.name
        probability = min(1.0, self.step_size * dynamics.sigma)
        generator = np.random.default_rng([problem.experiment.run.seed, 4])
        self._replacements = replacements(
            generator, problem.network.m, problem.inputs.shape[1], probability
        )
        self._now = problem.start.step
        self._next: Replacement | None = None
        self._find_next()
        self._nothing = (np.zeros((0, 1), self.dtype), np.zeros(0, self.dtype))

    def _find_next(self) -> None:
        """The next replacement after the present step (a continued run has had the earlier)."""
        self._next = next(self._replacements, None)
        while self._next is not None and self._next[0] <= self._now:
            self._next = next(self._replacements, None)

    def _take(self, count: int) -> int:
        end = self._now + count
        while self._now < end:
            until = end if self._next is None else min(end, self._next[0])
            done = self._engine.steps(*self._nothing, until - self._now)
            self._now += done
            if self._now < until:
                break
            if self._next is not None and self._now == self._next[0]:
                self._put(self._next)
                self._find_next()
        return count - (end - self._now)

    def _put(self, replacement: Replacement) -> None:
        _, which, points = replacement
        flat, m = self._engine.current, self.problem.network.m
        flat[which] = points[:, 0]
        flat[m:].reshape(m, -1)[which] = points[:, 1:]

    def _flat(self) -> NDArray[np.floating]:
        return self._engine.flat()

    def suggested_step(self) -> float:
        return rounded_down(min(perturbed_step(self.problem), self.step_size / 2.0))
