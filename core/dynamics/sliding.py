"""Gradient flow where the data are not fitted: implicit steps in t, checked by halves.

Some example stays wrong there, the risk does not vanish, and neurons slide along the kinks of these
examples while the margins of the others grow like ln t. Proximal steps (core.dynamics.proximal)
follow that at a step in proportion to t. Each is computed as a whole, W', and as two halves, W''.
If both hold the same kinks the step ends at 2 W'' - W', of second order, else at W''.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled import log_time as state
from core.compiled.log_time_state import State as Scheme
from core.dynamics.proximal import Proximal, Weights
from core.losses import MarginLoss
from core.network.activation import SMOOTH
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem

Array = NDArray[np.float64]
# docs/decisions/0003 has alternatives, and these numbers against explicit steps.
LONGEST = 0.05  # of t
FIRST = 0.01
TOLERANCE = 2e-4  # |W' - W''|/|W| of one step; the accepted result is much more accurate
OF_A_NODE = 5e-3  # the same for each neuron that grows: small ones must leave their saddle in time
FAST = 0.1  # fraction of a neuron removed in a step
TINY = 1e-300
GROWTH = 1.5  # largest ratio of successive steps
LARGEST_NORM = 1e6
LATEST = 1e14
FAR = 2.0  # ln t: steps are fitted to a frame's time within this distance
ROUNDING = 1e-12
PAUSE = 1000  # explicit steps before another try, after implicit ones failed
LEFT = 3e-8  # relative to R: with a smaller fall per ln t float64 does not resolve the motion
QUIET_FOR = 1.2  # ln t of rest required, since a saddle looks the same for a while
MOST_EXAMPLES = 1500
MOST_ENTRIES = 4_000_000  # of the matrix of neurons and examples


@final
@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Accepted step: W flat, its length and the next one's as parts of t, and its errors."""

    flat: Array
    part: float
    next_part: float
    distance: float  # |W(t + dt) - W(t)|
    margin_error: float  # of min p, from the half steps
    error: float  # |W' - W''|


@final
class Sliding:
    """Implicit steps for one problem that `can_integrate` accepts."""

    def __init__(self, problem: Problem, balance: Array) -> None:
        """Prepare steps; `balance` (m,) holds a_j^2 - |u_j|^2, which the flow conserves."""
        network, loss = problem.network, problem.loss
        assert isinstance(network, TwoLayer) and isinstance(loss, MarginLoss)
        self._network, self._loss = network, loss
        y = np.asarray(problem.dataset.y, dtype=np.float64)
        self._proximal = Proximal(problem.inputs, y, loss, network.activation)
        self._balance = balance

    @staticmethod
    def can_integrate(problem: Problem) -> bool:
        """Return True for a and U trained directly, with kinks, on two classes of few points."""
        network, n = problem.network, problem.dataset.n
        if not isinstance(network, TwoLayer) or not isinstance(problem.loss, MarginLoss):
            return False
        small = n <= MOST_EXAMPLES and network.m * n <= MOST_ENTRIES
        plain = network.k == 1 and network.activation.code != SMOOTH
        return small and plain and network.direct and not network.fixed

    def advance(self, theta: Array, previous: Array, s: Scheme, marks: Array) -> int:
        """Take one implicit step of the flow whose state is `s`; return STICKS while it goes on.

        If no implicit step above four times the longest explicit one is found, explicit steps
        follow for a while.

        Parameters
        ----------
        theta : array (size,)
            Parameters of norm 1, updated in place.
        previous : array (size,)
            Set to the parameters before the step.
        s : State
            State of the scheme, updated in place.
        marks : array (T,)
            log10 t of the frames.

        Returns
        -------
        int
            Code of core.compiled.log_time.
        """
        t = math.exp(s.ln_t)
        distance = marks[s.mark] * state.LN_10 - s.ln_t
        # dt/t to the next frame, even if that is a rounding error away.
        gap = math.expm1(min(distance, FAR))
        longest = s.part if s.part > 0.0 else FIRST
        count = max(1, math.ceil(gap / longest))
        part = max(gap / count, ROUNDING)
        unit = math.exp(s.log_n_q)  # dt/ds
        flat = math.exp(s.rho) * theta
        step = self.step(flat, t, part, min(part, 4.0 * s.h_early * unit / t))
        if step is None:
            return self._switch_to_explicit(s)
        size = float(np.linalg.norm(step.flat))
        previous[:], theta[:] = theta, step.flat / size
        s.previous_rho, s.previous_ln_t = s.rho, s.ln_t
        s.rho = math.log(size)
        s.peak_rho = max(s.peak_rho, s.rho)
        s.ln_t += math.log1p(step.part)
        if step.part == part:
            s.part = max(s.part, step.next_part)
            # Exactly: ln t and the frame's time would otherwise differ in their last digits.
            if count == 1:
                s.ln_t = marks[s.mark] * state.LN_10
        else:
            s.part = step.next_part
        s.h = t * step.part / unit
        s.error, s.turn_error = step.margin_error / size**2, step.error / size
        s.step += 1
        s.phase = state.EMIT
        return self._finish_step(step, t, s)

    def _finish_step(self, step: Step, t: float, s: Scheme) -> int:
        """Update speed, margins and rest in `s` after an accepted step; return the run's code."""
        p = self._proximal.margins(self._weights(step.flat))
        atoms = int((self._loss.dual(p) > state.ATOM).sum())
        s.fewest_atoms = min(s.fewest_atoms, atoms)
        speed, unit = step.distance / (t * step.part), math.exp(s.log_n_q)
        s.speed = speed * unit * math.exp(-s.rho)
        at_rest = state.STATIONARY_SPEED * min(1.0, math.sqrt(s.eigenvalue))
        vanished = s.rho < s.peak_rho - state.VANISHED
        if s.speed < at_rest or vanished:
            return state.STATIONARY
        s.smoothed = self._loss.smoothed_margin(p)
        if s.smoothed > 0.0:
            use_explicit_steps(s)
            return state.STICKS
        if step.distance < step.part * np.linalg.norm(step.flat):
            s.stuck = state.HARDLY
        # dR/dln t = -t |dW/dt|^2
        if t * speed**2 > LEFT * math.exp(self._loss.log_risk(p)):
            s.quiet = 0.0
        elif s.quiet == 0.0:
            s.quiet = s.ln_t
        elif s.ln_t - s.quiet > QUIET_FOR:
            return state.ENDED
        return state.STICKS

    def _switch_to_explicit(self, s: Scheme) -> int:
        """Let `PAUSE` explicit steps follow and return STICKS; return ENDED for a run at rest."""
        if s.quiet > 0.0:
            return state.ENDED
        use_explicit_steps(s)
        s.slides_from = s.step + PAUSE
        return state.STICKS

    def _weights(self, flat: Array) -> Weights:
        return Weights(*self._network.effective(flat))

    def step(self, flat: Array, t: float, part: float, least: float) -> Step | None:
        """Return an implicit step from W at t; `part` is halved until its error is tolerated.

        Parameters
        ----------
        flat : array (size,)
            W.
        t : float
            Time.
        part : float
            First length to try, as a part of t.
        least : float
            Shortest length to try.

        Returns
        -------
        Step or None
            None if no length of at least `least` is accepted.
        """
        start = self._weights(flat)
        if not (start.norm() < LARGEST_NORM and t < LATEST):
            return None
        while part >= least:
            trial = self._try_step(start, t * part)
            if trial is not None:
                w, distance, margin_error, error, measure = trial
                # The error of a step is of second order in its length; .9 keeps it below the
                # tolerance.
                grown = min(GROWTH, 0.9 / np.sqrt(max(measure, 1e-6)))
                after = float(np.clip(part * grown, least, LONGEST))
                flat = np.asarray(self._network.pull(flat, w.a, w.U), dtype=np.float64)
                return Step(flat, part, after, distance, margin_error, error)
            part /= 2.0
        return None

    def _try_step(
        self, start: Weights, dt: float
    ) -> tuple[Weights, float, float, float, float] | None:
        """Take a step of dt in t as a whole, W', and as two halves, W'', without a change of self.

        Return the end of the step, its distance from `start`, the difference of min p between W'
        and W'', |W' - W''|, and the ratio of error to tolerance (`_measure`). None if the ratio is
        above 1, or a proximal step was not found.
        """
        full_step = self._proximal.step(start, dt)
        half = None if full_step is None else self._proximal.step(start, 0.5 * dt)
        second = None if half is None else self._proximal.step(half[0], 0.5 * dt)
        if full_step is None or second is None:
            return None
        (w, sides), (rough, rough_sides) = second, full_step
        difference = w.minus(rough)
        measure = _measure(start, w, difference)
        if not measure <= 1.0:
            return None
        p, q = self._proximal.margins(w).min(), self._proximal.margins(rough).min()
        # Richardson's extrapolation gains an order for smooth motion only: not if the whole step
        # and the halves end on different kinks.
        halves = w
        if np.array_equal(sides, rough_sides):
            w = w.plus(difference)
        w = self._rebalance(start, halves, w)
        return w, w.minus(start).norm(), abs(float(p - q)), difference.norm(), measure

    def _rebalance(self, start: Weights, halves: Weights, end: Weights) -> Weights:
        """Return `end` with the balance restored in neurons whose a_j conserves its sign.

        Extrapolation would change the signs of balanced neurons that shrink fast. Their halves are
        corrected instead: a half divides a neuron by 1 + z/2, and the flow multiplies by e^(-z/2).
        """
        a, U = end.a.copy(), end.U.copy()
        can_rebalance = self._balance >= 0.0
        shrinks = np.abs(halves.a) < (1.0 - FAST) * np.abs(start.a)
        fast = (self._balance == 0.0) & shrinks
        ratio = np.sqrt(np.abs(start.a[fast] / np.maximum(np.abs(halves.a[fast]), TINY)))
        factor = np.exp(-2.0 * (ratio - 1.0)) * ratio**2
        U[fast] = factor[:, None] * halves.U[fast]
        lengths = np.sqrt(
            self._balance + np.einsum("jd,jd->j", U, U), where=can_rebalance, out=a.copy()
        )
        a[can_rebalance] = np.copysign(lengths[can_rebalance], start.a[can_rebalance])
        return Weights(a, U)


def use_explicit_steps(s: Scheme) -> None:
    """Switch the state to explicit steps, whose length and stiffness are found again."""
    s.stuck, s.power = state.MOVES, -1
    s.h, s.part = 1e-3, 0.0


def _measure(start: Weights, end: Weights, difference: Weights) -> float:
    """Return the larger of two ratios of error to tolerance; a step is accepted up to 1.

    One is of all weights, the other the largest of the neurons that grow.
    """
    of_all = difference.norm() / (TOLERANCE * start.norm())
    size = end.squares()
    grows = size > start.squares()
    if not grows.any():
        return of_all
    of_nodes = np.sqrt(difference.squares()[grows] / size[grows]).max() / OF_A_NODE
    return max(of_all, float(of_nodes))
