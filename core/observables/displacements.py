"""Distances of a run from its start, and from the mirror flow that it approximates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.mirror_field import MirrorField, is_balanced
from core.network.normalised_network import BatchNorm
from core.observables.margins import is_batch_norm
from core.observables.observable import Observable, Shape, cached_per_frame, cached_per_run
from core.runs import Run
from core.study_file.descent import GradientDescent

Array = NDArray[np.float64]


def outer_displacement(run: Run, index: int) -> float:
    """Return |U_t - U_0|, U = (a, c); NaN for networks without batch normalisation."""
    if not is_batch_norm(run):
        return float("nan")
    scaled = run.network.scaled
    with np.errstate(over="ignore"):
        physical = run.physical_parameters(index)
        return float(np.linalg.norm(physical[:scaled] - run.origin[:scaled]))


def inner_displacement(run: Run, index: int) -> float:
    """Return |V_t - V_0|_F; NaN for networks without batch normalisation."""
    if not is_batch_norm(run):
        return float("nan")
    scaled = run.network.scaled
    # V is of degree 0, and not multiplied by e^rho.
    return float(np.linalg.norm(run.parameters(index)[scaled:] - run.origin[scaled:]))


@cached_per_frame
def normaliser(run: Run, index: int) -> Array:
    """Return the normaliser of each neuron of a network with batch normalisation.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        N(v_j) = sqrt(v_j' Sigma v_j + eps); NaN for other networks.
    """
    if not isinstance(run.network, BatchNorm):
        return np.full(run.network.m, np.nan)
    N, _ = run.network.statistics(run.network.directions(run.parameters(index)))
    return np.asarray(N[:, 0])


def smallest_normaliser(run: Run, index: int) -> float:
    """Return min_j N(v_j); NaN without batch normalisation."""
    return float(normaliser(run, index).min())


def median_normaliser(run: Run, index: int) -> float:
    """Return the median of N(v_j); NaN without batch normalisation."""
    return float(np.median(normaliser(run, index)))


# ------------------------------------------------------------------- distance to the mirror flow
#
# From a balanced start gradient flow on (a, b, V) is the mirror flow of u = |a b| (homogeneity,
# Lemma 3.2); gradient descent deviates from it by O(eta). The companion integrates that flow in
# (ln u, V) by the classical Runge-Kutta method of fourth order, with steps of at most eta: its own
# error is far below O(eta), and it is stable where descent is.

MOST_STEPS = 20_000  # of the companion: seconds on one core


@final
@dataclass(slots=True)
class Companion:
    """Mirror flow at the run's own frame times, integrated as far as requested."""

    run: Run
    step_size: float
    flow: MirrorField
    state: Array
    u: list[Array] = field(default_factory=list)
    steps: int = 0

    def solution_at(self, index: int) -> Array | None:
        """Return the mirror flow's u at a frame, integrating up to it.

        Parameters
        ----------
        index : int
            Index of the frame in `run`, which starts at t = 0.

        Returns
        -------
        array (m,) or None
            None beyond `MOST_STEPS` steps.
        """
        while len(self.u) <= index:
            if not self._advance_frame():
                return None
        return self.u[index]

    def _advance_frame(self) -> bool:
        """Append u at the next frame; return False, without a change, beyond `MOST_STEPS`."""
        frame, m = len(self.u), self.run.network.m
        if frame > 0:
            start, end = (10.0 ** self.run.log10_time[frame - 1 : frame + 1]).tolist()
            # 1e-9: frames of descent are whole steps apart up to rounding, which must not add a
            # step.
            count = max(1, int(np.ceil((end - start) / self.step_size - 1e-9)))
            if self.steps + count > MOST_STEPS:
                return False
            with np.errstate(over="ignore", invalid="ignore"):  # NaN if it diverges
                for _ in range(count):
                    self.state = runge_kutta(self.flow, self.state, (end - start) / count)
            self.steps += count
        with np.errstate(over="ignore"):
            self.u.append(np.exp(self.state[:m]))
        return True


def runge_kutta(flow: MirrorField, state: Array, h: float) -> Array:
    """Take one step of the classical Runge-Kutta method of fourth order.

    Parameters
    ----------
    flow : MirrorField
        Right-hand side of the flow.
    state : array (size,)
        State before the step.
    h : float
        Step size, in t.

    Returns
    -------
    array (size,)
        State after the step.
    """
    k1 = flow(state)
    k2 = flow(state + 0.5 * h * k1)
    k3 = flow(state + 0.5 * h * k2)
    k4 = flow(state + h * k3)
    return np.asarray(state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))


def has_companion(run: Run) -> bool:
    """Return True for gradient descent on outer weights a_j b_j, started balanced at t = 0."""
    return (
        isinstance(run.experiment.dynamics, GradientDescent)
        and run.network.factored
        and not run.experiment.loss.is_penalised
        and run.whole_run.complete
        and not run.has_changed_rule
        and is_balanced(run.network, run.origin)
    )


@cached_per_run
def companion_of(run: Run) -> Companion | None:
    """Return the mirror flow of a run from t = 0; None for runs that have none."""
    if not has_companion(run):
        return None
    dynamics = run.experiment.dynamics
    assert isinstance(dynamics, GradientDescent)
    assert dynamics.step is not None  # every run has an explicit step
    flow = MirrorField(run.problem)
    return Companion(run, dynamics.step, flow, flow.state(run.origin))


def mirror_gap(run: Run, index: int) -> float:
    """Return max_j |u_j - u_j^mirror| / max_j u_j at a frame, u = |a b|; NaN without mirror flow.

    O(eta) for gradient descent on the scalar and normalised networks and the abstract head. NaN
    also beyond 20,000 steps, and for other dynamics. Source: homogeneity, Lemma 3.2.
    """
    companion = companion_of(run.whole_run)
    u_mirror = (
        None
        if companion is None
        else companion.solution_at(run.whole_run.frames_before - run.frames_before + index)
    )
    if u_mirror is None:
        return float("nan")
    m, flat = run.network.m, run.parameters(index)
    u = np.abs(flat[:m] * flat[m : 2 * m])
    largest = float(u.max())
    return float(np.abs(u - u_mirror).max()) / largest if largest > 0.0 else float("nan")


SOURCE = "batchnorm, Theorem 2.1"
of_batch_norm = partial(Observable, applies=is_batch_norm, where="batch_norm")
OBSERVABLES = (
    of_batch_norm(
        "outer_displacement",
        "outer displacement",
        "|U_t - U_0|, U = (a, c)",
        SOURCE,
        outer_displacement,
        tex=r"|U_t-U_0|,\ U=(a,c)",
    ),
    of_batch_norm(
        "inner_displacement",
        "inner displacement",
        "|V_t - V_0|_F",
        SOURCE,
        inner_displacement,
        tex=r"|V_t-V_0|_F",
    ),
    of_batch_norm(
        "smallest_normaliser",
        "smallest normaliser",
        "min_j N(v_j)",
        "batchnorm, section 1.3",
        smallest_normaliser,
        tex=r"\min_jN(v_j)",
    ),
    of_batch_norm(
        "median_normaliser",
        "median normaliser",
        "the median of N(v_j)",
        "batchnorm, section 1.3",
        median_normaliser,
        tex=r"\mathrm{median}_j\,N(v_j)",
    ),
    of_batch_norm(
        "normaliser",
        "normaliser",
        "N(v_j) = sqrt(v_j' Sigma v_j + eps)",
        "batchnorm, section 1.3",
        normaliser,
        shape=Shape.NODE,
        tex=r"N(v_j)=\sqrt{v_j^T\Sigma v_j+\epsilon}",
    ),
    Observable(
        "mirror_gap",
        "distance from the mirror flow",
        "max_j |u_j - u_j'| / max_j u_j, u = |a b|, u' the mirror flow from the same start: O(eta)",
        "homogeneity, Lemma 3.2",
        mirror_gap,
        applies=has_companion,
        tex=r"\frac{\max_j|u_j-u_j^{\mathrm{mirror}}|}{\max_ju_j}",
        normalisation="divided by max_j u_j",
    ),
)
