"""Measures of frei23: the items of Theorem 3.2 at the end of a run, and what activations are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.runs import Run, open_run
from core.studies.trials import Trial

Array = NDArray[np.float64]
POINTS = 20_000  # random points on which signs are compared
REACH, CELLS = 40.0, 32_001


def pieces(run: Run) -> tuple[Array, Array, Array, float]:
    """(V, a, p, gamma) at the last frame, V (m, d) divided by min_i p_i, p (n,) likewise.

    Raises InputError for a network without a fixed outer layer, or one that does not fit its data.
    """
    slope = getattr(run.experiment.network, "slope", None)
    if slope is None or run.frames == 0:
        raise InputError("The items of Theorem 3.2 are those of network.kind = fixed_outer.")
    flat = run.parameters(run.frames - 1)
    p = run.dataset.y * np.asarray(run.network.outputs(flat, *run.seen(run.dataset.x)))
    if p.min() <= 0.0:
        raise InputError("The run does not fit its data, so the items of Theorem 3.2 say nothing.")
    V = run.network.directions(flat)
    if run.reduction is not None:
        V = run.reduction.full(V)
    return V / p.min(), np.asarray(run.network.fixed["a"], dtype=np.float64), p / p.min(), slope


def spread_of_outputs(run: Run) -> float:
    """Item 1: max_i |p_i/min_k p_k - 1|."""
    return float(np.abs(pieces(run)[2] - 1.0).max())


def spread_of_nodes(run: Run) -> float:
    """Item 2: the largest |w_j - mean|/|mean| over nodes of the same sign."""
    V, a, _, _ = pieces(run)
    found = []
    for side in (a > 0.0, a < 0.0):
        mean = V[side].mean(axis=0)
        found.append(np.linalg.norm(V[side] - mean, axis=1).max() / np.linalg.norm(mean))
    return float(max(found))


def multipliers_within(run: Run) -> float:
    """Item 3: the share of lambda_i in (1/(2 Rmax^2), 3/(2 gamma^2 Rmin^2)).

    They are read off v and u, of which each is such a combination, by least squares.
    """
    V, a, _, slope = pieces(run)
    x, y = run.dataset.x, run.dataset.y
    scale = 1.0 / np.sqrt(a.size)
    rows = [
        scale * np.where(y > 0.0, 1.0, -slope)[:, None] * x,
        scale * np.where(y < 0.0, 1.0, -slope)[:, None] * x,
    ]
    matrix = np.concatenate(rows, axis=1).T
    target = np.concatenate([V[a > 0.0].mean(axis=0), V[a < 0.0].mean(axis=0)])
    multipliers = np.linalg.lstsq(matrix, target, rcond=None)[0]
    squares = (x**2).sum(axis=1)
    low, high = 0.5 / squares.max(), 1.5 / (slope**2 * squares.min())
    return float(np.mean((multipliers > low) & (multipliers < high)))


def _linear(V: Array, a: Array) -> Array:
    """z = (m1/sqrt m) v - (m2/sqrt m) u = sum_j a_j w_j."""
    return np.asarray(a @ V)


def disagreements(run: Run) -> float:
    """Item 6: the share of random points with sign f(x) != sign <z, x>.

    Half of the points are Gaussian, half Gaussian combinations of the examples.
    """
    V, a, _, slope = pieces(run)
    rng = np.random.default_rng(0)
    x = run.dataset.x
    inside = rng.standard_normal((POINTS // 2, x.shape[0])) @ x
    points = np.concatenate([rng.standard_normal((POINTS // 2, x.shape[1])), inside])
    h = points @ V.T
    f = np.maximum(h, slope * h) @ a
    return float(np.mean(np.sign(f) != np.sign(points @ _linear(V, a))))


def length_of_linear(run: Run) -> float:
    """Item 7: |z| (kappa + gamma)/(2 |z*|), which is at most 1; infinite if some y_i <z, x_i> < 1.

    z* is the hard-margin vector without intercept, kappa = sqrt(min(m1, m2)/max(m1, m2)). A
    thousandth is allowed in y_i <z, x_i> >= 1 for the flow's own distance from its limit.
    """
    from core.reference.registry import REFERENCES, compute
    from core.reference.watch import Watch

    V, a, _, slope = pieces(run)
    z = _linear(V, a)
    if (run.dataset.y * (run.dataset.x @ z)).min() < 0.999:
        return float("inf")
    ones, twos = int((a > 0.0).sum()), int((a < 0.0).sum())
    kappa = np.sqrt(min(ones, twos) / max(ones, twos))
    linear = compute(REFERENCES["gamma_linear"], run.problem, Watch()).bracket.value
    return float(np.linalg.norm(z) * linear * (kappa + slope) / 2.0)


ITEMS: MappingProxyType[str, Callable[[Run], float]] = MappingProxyType(
    {
        "1": spread_of_outputs,
        "2": spread_of_nodes,
        "3": multipliers_within,
        "6": disagreements,
        "7": length_of_linear,
    }
)


def item_of(run: Run, options: Any) -> float:
    """The item of Theorem 3.2 that `options.item` names."""
    name = str(options.get("item", ""))
    if name not in ITEMS:
        raise InputError(f"options.item = {name!r}; allowed: {', '.join(ITEMS)}.")
    return ITEMS[name](run)


def activation_of(run: Run, options: Any) -> float:
    """A property of the run's activation on [-40, 40]: its slopes, curvature, or value at 0."""
    phi = getattr(run.network, "activation", None)
    if phi is None:
        raise InputError("The network of this run has no activation function of its own.")
    z = np.linspace(-REACH, REACH, CELLS)
    slopes = np.asarray(phi.slopes(z), dtype=np.float64)
    known = {
        "smallest slope": float(slopes.min()),
        "largest slope": float(slopes.max()),
        "largest curvature": float(np.abs(np.diff(slopes)).max() / (z[1] - z[0])),
        "value at 0": float(phi(np.zeros(1))[0]),
    }
    name = str(options.get("of", ""))
    if name not in known:
        raise InputError(f"options.of = {name!r}; allowed: {', '.join(known)}.")
    return known[name]


def values(
    trials: Sequence[Trial], function: Callable[[Run, Any], float], options: Any
) -> list[float]:
    """A function of each run's last frame."""
    found = []
    for trial in trials:
        with open_run(trial.path) as run:
            found.append(function(run, options))
    return found
