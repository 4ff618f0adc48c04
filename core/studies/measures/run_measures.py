"""Measures that are a named function of each run: `options.of` (or `item`) says which.

`activation` is about the network's activation function, `leaky_item` measures the items of frei23's
Theorem 3.2 as its statements do (core.theorems.frei23_points) and two of them in other ways,
`l1_path` compares a network with the l1 problem that it solves at the run's own lambda (wei19,
section F.4), and `sample` counts in the training examples of the distribution D (wei19, 2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from core.errors import InputError, did_you_mean
from core.network.standard import FixedOuter
from core.reference.l1_path import PathPoint, lifted_inputs, solve_problem
from core.runs import Run, open_run
from core.studies.claims import Quantity
from core.studies.measures.frame_measures import RunMargins
from core.studies.measures.measurement import Array, Measurement, aggregate_values, option
from core.studies.panel_lines import evaluate_on_interval
from core.studies.trials import Trial
from core.theorems.frei23_data import input_length_range, leaky_slope
from core.theorems.frei23_points import (
    TOLERANCE,
    KktPoint,
    largest_margin_deviation,
    largest_neuron_spread,
    relative_linear_norm,
    smallest_linear_margin,
)
from core.theorems.statement import Context

POINTS = 20_000  # random points at which signs are compared
# Arguments at which an activation is compared: up to 40, where e^-z is below the spacing of float64
# at 1, and a smoothed leaky ReLU is straight.
# Arguments at which an activation is compared: up to 40, where e^-z is below the spacing of float64
# at 1, and a smoothed leaky ReLU is straight.
ARGUMENTS = np.linspace(-40.0, 40.0, 32_001)
Functions = Mapping[str, Callable[[Run], float]]


def measure_of(
    functions: Functions, key: str
) -> Callable[[Sequence[Trial], Quantity], Measurement]:
    """Return the measure that evaluates the function that an option names, joined by `over`."""

    def measure(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
        name = str(option(quantity, key))
        if name not in functions:
            raise InputError(f"options.{key} = {name!r}: {did_you_mean(name, functions)}")
        values = []
        for trial in trials:
            with open_run(trial.path) as run:
                values.append(functions[name](run))
        return aggregate_values(values, quantity.over)

    return measure


# ----------------------------------------------------------------------------------- activations


def _activation(run: Run) -> Any:
    phi = getattr(run.network, "activation", None)
    if phi is None:
        raise InputError("The network of this run has no activation function of its own.")
    return phi


def _slopes(run: Run) -> Array:
    """Return phi' on ARGUMENTS."""
    return np.asarray(_activation(run).slopes(ARGUMENTS), dtype=np.float64)


def largest_curvature(run: Run) -> float:
    """Return the Lipschitz constant of phi', by differences."""
    return float(np.abs(np.diff(_slopes(run))).max() / (ARGUMENTS[1] - ARGUMENTS[0]))


ACTIVATION: Functions = MappingProxyType(
    {
        "smallest slope": lambda run: float(_slopes(run).min()),
        "largest slope": lambda run: float(_slopes(run).max()),
        "largest curvature": largest_curvature,
        "value at 0": lambda run: float(_activation(run)(np.zeros(1))[0]),
    }
)


# -------------------------------------------------------------------- items of frei23, Theorem 3.2


def item(measure: Callable[[KktPoint, Context], float]) -> Callable[[Run], float]:
    """Return the function that measures an item at the last frame, scaled to min_i p_i = 1."""

    def measured(run: Run) -> float:
        if not isinstance(run.network, FixedOuter) or run.frames == 0:
            raise InputError("The items of Theorem 3.2 are defined for network.kind = fixed_outer.")
        point = KktPoint(run)
        # False for NaN, which does not fit either.
        if not point.least > 0.0:
            raise InputError(
                "The run does not fit its data, so the items of Theorem 3.2 do not apply."
            )
        return measure(point, Context(run, RunMargins(run)))

    return measured


def multipliers_within(point: KktPoint, context: Context) -> float:
    """Return the share of lambda_i in (1/(2 Rmax^2), 3/(2 gamma^2 Rmin^2)).

    The lambda_i are fitted by least squares to v and u, which are such combinations.
    """
    gamma, (lower, upper) = leaky_slope(context.run), input_length_range(context.run)
    sides = [np.where(point.y == sign, 1.0, -gamma)[:, None] * point.x for sign in (1.0, -1.0)]
    matrix = np.concatenate(sides, axis=1).T / np.sqrt(point.m)
    multipliers = np.linalg.lstsq(matrix, np.concatenate([point.v, point.u]), rcond=None)[0]
    low, high = 0.5 / upper**2, 1.5 / (gamma**2 * lower**2)
    return float(np.mean((multipliers > low) & (multipliers < high)))


def disagreements(point: KktPoint, context: Context) -> float:
    """Return the share of random points with sign f(x) != sign <z, x>, z = sum_j a_j w_j.

    Half of the points are Gaussian, half Gaussian combinations of the examples.
    """
    run = context.run
    flat, x = run.parameters(run.frames - 1), run.dataset.x
    V = run.network.directions(flat)
    z = run.network.fixed["a"] @ (V if run.reduction is None else run.reduction.full(V))
    # A fixed seed: verdicts do not change between evaluations.
    rng = np.random.default_rng(0)
    inside = rng.standard_normal((POINTS // 2, x.shape[0])) @ x
    points = np.concatenate([rng.standard_normal((POINTS // 2, x.shape[1])), inside])
    # Points in row-space form have parts outside the coordinates.
    f = np.asarray(run.network.outputs(flat, *run.as_network_inputs(points)))
    return float(np.mean(np.sign(f) != np.sign(points @ z)))


def length_of_linear(point: KktPoint, context: Context) -> float:
    """Return |z| (kappa + gamma)/(2 |z*|); infinite if some y_i <z, x_i> < 1, to a thousandth."""
    separates = smallest_linear_margin(point, context) >= 1.0 - TOLERANCE
    return relative_linear_norm(point, context) if separates else float("inf")


LEAKY: Functions = MappingProxyType(
    {
        "1": item(largest_margin_deviation),
        "2": item(largest_neuron_spread),
        "3": item(multipliers_within),
        "6": item(disagreements),
        "7": item(length_of_linear),
    }
)


# ------------------------------------------------------------------------------ wei19's l1 problem


def _objective(run: Run, frame: int) -> float:
    """Return R + lambda |W|^2 at a frame."""
    flat = run.parameters(frame)  # physical: log-time flows have l2 = 0
    p = run.network.margins(flat, run.inputs, run.dataset.y)
    return float(run.loss.value(p).mean()) + run.experiment.loss.l2 * run.network.norm(flat) ** 2


def _path_solution(run: Run) -> PathPoint:
    """Return the solution of the l1 problem. Raises InputError where it is not solved."""
    point = solve_problem(run.problem)
    if point is None:
        raise InputError(
            "The l1 problem is solved for the logistic loss with l2 > 0, and for networks with "
            "biases on the line or without biases in the plane."
        )
    return point


def excess(run: Run) -> float:
    """Return the run's objective over the least one, less 1."""
    return _objective(run, run.frames - 1) / _path_solution(run).objective - 1.0


def least_excess(run: Run) -> float:
    """Return the least `excess` of all frames (Theorem 3.3 is about min over t)."""
    best = min(_objective(run, frame) for frame in range(run.frames))
    return best / _path_solution(run).objective - 1.0


def distance(run: Run) -> float:
    """Return max |f/|W|^2 - g| / max |g| on the data's interval.

    g is the normalised hard-margin l1-SVM.
    """
    if lifted_inputs(run.problem) is None or run.dataset.d != 1:
        raise InputError("Functions are compared on the line, with network.kind = bias.")
    _, f, g = evaluate_on_interval(run)
    assert g is not None
    return float(np.abs(f - g).max() / np.abs(g).max())


PATH: Functions = MappingProxyType(
    {"excess": excess, "least excess": least_excess, "distance": distance}
)


# -------------------------------------------------------------------------------- samples of D


def cases(run: Run) -> float:
    """Return the largest difference from 1/4 of the shares of the four cases.

    They are e_1 and -e_1 (y = +1), e_2 and -e_2 (y = -1).
    """
    x, y = run.dataset.x, run.dataset.y
    # `scaled` data store zeros and ones at another size.
    scale = float(np.abs(x).max())
    shares = [
        np.mean((y == label) & (np.sign(x[:, k]) == sign) & (np.abs(x[:, 1 - k]) < 1e-12 * scale))
        for label, k in ((1.0, 0), (-1.0, 1))
        for sign in (1.0, -1.0)
    ]
    return float(max(abs(share - 0.25) for share in shares))


def square_lengths(run: Run) -> float:
    """Return the largest difference of |x_i|^2 from d - 1."""
    squares = (run.dataset.x**2).sum(axis=1)
    return float(np.abs(squares - (run.dataset.d - 1)).max())


def correlations(run: Run) -> float:
    """Return the largest |mean of y_i x_ij| over j; 0 where no linear predictor helps."""
    return float(np.abs((run.dataset.y[:, None] * run.dataset.x).mean(axis=0)).max())


SAMPLE: Functions = MappingProxyType(
    {"cases": cases, "lengths": square_lengths, "correlations": correlations}
)
