"""Perturbed Wasserstein flow by particles (wei19, equation 3.2 and section E.3).

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

from collections import deque
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics import solver_state
from core.dynamics.batch_engine import ArrayEngine, CompiledEngine, make_batch_engine
from core.dynamics.step_size import default_step, round_down
from core.dynamics.stepper import Stepper
from core.dynamics.stream import make_generator
from core.dynamics.update_rule import Rule
from core.network.standard import draw_on_sphere
from core.problem.problem import Problem, Start
from core.study_file.dynamics import PerturbedFlow

Array = NDArray[np.float64]
BLOCK = 1024  # steps whose replacements are drawn together
# Step before the replacement, indices, new particles.
Replacement = tuple[int, NDArray[np.int64], Array]


def perturbed_start(problem: Problem) -> Problem:
    """Return the problem at the particles of its section: on a sphere, an atom, or its own.

    Its own start if the section says "network", or the run continues another one.
    """
    dynamics, start = problem.experiment.dynamics, problem.start
    assert isinstance(dynamics, PerturbedFlow)
    if dynamics.particles == "network" or start.continues is not None:
        return problem
    m, d = problem.network.m, problem.inputs.shape[1]
    generator = np.random.default_rng([problem.experiment.run.seed, 3])
    points = draw_on_sphere(generator, 1 if dynamics.particles == "atom" else m, d + 1)
    points = np.broadcast_to(points, (m, d + 1)) / np.sqrt(m)
    flat = np.concatenate([points[:, 0], points[:, 1:].reshape(-1)])
    return replace(problem, start=Start(flat, flat))


def perturbed_step(problem: Problem) -> float:
    """Return the smaller of 1/max_i |x_i|^2 and `default_step` at the particles' start.

    With inputs of entries +-1, eta = 1/d and lambda = 2e-3 suffice (docs/theory.md, 7.5). With
    |x| = 1 the same run has eta = d^(-1/2) and lambda = 2e-3 d^(-1/2).
    """
    largest = float((problem.dataset.x**2).sum(axis=1).max())
    step = default_step(problem)
    return min(1.0 / largest, step) if largest > 0.0 else step


@final
class Replacements:
    """Replaced particles and the steps after which they are replaced, in order.

    The numbers of a block of steps are drawn together, and then the particles one step after the
    other. `block` is the step before the present block.
    """

    def __init__(self, generator: np.random.Generator, m: int, d: int, probability: float) -> None:
        self._generator, self._m, self._d = generator, m, d
        self._probability = probability
        self._left: deque[tuple[int, int]] = deque()
        self._after = 0  # step before the next block
        self._store_block_state()

    def _store_block_state(self) -> None:
        """Store the state from which the next block is drawn."""
        self._block = np.array([self._after, *solver_state.generator_words(self._generator)])

    def get_place(self) -> Array:
        """Return the state from which the present block is drawn.

        Returns
        -------
        array (11,)
            Step before the block, and the generator's words there.
        """
        return self._block

    def set_place(self, values: Array) -> None:
        """Return to the start of the block where `get_place` was called."""
        self._after, self._left = int(values[0]), deque()
        solver_state.set_generator(self._generator, values[1:])
        self._store_block_state()

    def find_next(self, last: int) -> Replacement | None:
        """Draw and return the next replacement; None if no block up to that of `last` has one.

        Rare replacements may be further ahead than any run goes.
        """
        while not self._left:
            if self._after >= last or not self._probability > 0.0:
                return None
            self._store_block_state()
            counts = self._generator.binomial(self._m, self._probability, BLOCK)
            steps = np.flatnonzero(counts).tolist()
            self._left = deque((self._after + i + 1, int(counts[i])) for i in steps)
            self._after += BLOCK
        step, count = self._left.popleft()
        # The number of replaced particles is binomial, and all sets of that size are equally
        # likely, as if each was drawn independently.
        particles = self._generator.choice(self._m, count, replace=False)
        return (
            step,
            particles,
            draw_on_sphere(self._generator, count, self._d + 1) / np.sqrt(self._m),
        )


@final
class PerturbedDescent(Stepper):
    """Gradient descent with random replacements of particles between its steps."""

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, PerturbedFlow)
        super().__init__(problem, dynamics.step or perturbed_step(problem))
        n, limit = problem.dataset.n, self._limit()
        engine = make_batch_engine(problem, Rule(self.step_size), self.dtype, limit, n, full=True)
        assert isinstance(engine, CompiledEngine | ArrayEngine)
        self._engine, self.engine = engine, engine.name
        # Among the updates with the mean of equation 3.2: independent particles of equal masses.
        probability = min(1.0, self.step_size * dynamics.sigma)
        generator, start = make_generator(problem, 4), problem.start
        self._replacements = Replacements(
            generator, problem.network.m, problem.inputs.shape[1], probability
        )
        # A dynamics that starts here counts its replacements from here.
        self._first = 0 if start.same_dynamics else start.step
        self._now = start.step
        self._next: Replacement | None = None
        self._resume()
        self._nothing = (np.zeros((0, 1), self.dtype), np.zeros(0, self.dtype))

    def _parts(self) -> solver_state.Parts:
        draws = np.append(self._replacements.get_place(), self._first)
        return {**super()._parts(), "draws": draws}

    def _resume(self) -> None:
        """Restore the place in the stream of replacements from the saved state, if any.

        Raises InputError for a place that no run can have.
        """
        super()._resume()
        state, now = self.problem.start.state, self._now
        if state is None:
            return
        block, first = float(state["draws"][0]), float(state["draws"][-1])
        is_block = block % BLOCK == 0.0 and first == round(first)
        # The next replacement may be blocks ahead, without any in between.
        if not (is_block and 0.0 <= first <= now and 0.0 <= block < solver_state.LARGEST_INTEGER):
            raise solver_state.invalid_state("the replacements' place is none")
        self._replacements.set_place(state["draws"][:-1])
        self._first = int(first)

    def _find_next(self, last: int) -> None:
        """Set `_next` to the next replacement after the present step, or None up to about `last`.

        Earlier ones, which a continued run has had, are drawn and dropped.
        """
        while self._next is None or self._next[0] <= self._now:
            following = self._replacements.find_next(last - self._first)
            if following is None:
                self._next = None
                return
            self._next = (following[0] + self._first, *following[1:])

    def _advance(self, count: int) -> int:
        end = self._now + count
        while self._now < end:
            self._find_next(end)
            until = end if self._next is None else min(end, self._next[0])
            n_steps = self._engine.take_steps(*self._nothing, until - self._now)
            self._now += n_steps
            if self._now < until:
                break
            if self._next is not None and self._now == self._next[0]:
                self._replace_particles(self._next)
        return count - (end - self._now)

    def _replace_particles(self, replacement: Replacement) -> None:
        """Write the new particles into the engine's parameters, in place."""
        _, particles, points = replacement
        flat, m = self._engine.current, self.problem.network.m
        flat[particles] = points[:, 0]
        flat[m:].reshape(m, -1)[particles] = points[:, 1:]

    def _flat(self) -> NDArray[np.floating]:
        return self._engine.flat()

    def suggested_step(self) -> float:
        return round_down(min(perturbed_step(self.problem), self.step_size / 2.0))
