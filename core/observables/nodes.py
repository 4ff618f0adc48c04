"""Norms, distances, and the nodes one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.observables.observable import Observable, Shape
from core.runs import Run

Array = NDArray[np.float64]


def norm_squared(run: Run, index: int) -> float:
    flat = run.parameters(index)
    with np.errstate(over="ignore"):
        return float(np.exp(2.0 * run.rho[index]) * np.dot(flat, flat))


def distance(run: Run, index: int) -> float:
    return float(np.linalg.norm(np.exp(run.rho[index]) * run.parameters(index) - run.origin))


def balance_drift(run: Run, index: int) -> float:
    # At the flat scale, since at the physical one the difference of large numbers is lost.
    flat = run.parameters(index)
    squared = float(np.dot(flat, flat))
    if squared == 0.0:
        return float("nan")
    shrink = np.exp(-2.0 * run.rho[index])
    drift = run.network.imbalance(flat) - shrink * run.network.imbalance(run.origin)
    return float(np.abs(drift).max()) / squared


def rotation(run: Run, index: int) -> Array:
    now, then = (run.network.directions(flat) for flat in (run.parameters(index), run.origin))
    lengths = np.linalg.norm(now, axis=1) * np.linalg.norm(then, axis=1)
    inner = np.einsum("jk,jk->j", now, then)
    safe = np.where(lengths > 0.0, lengths, 1.0)
    return np.where(lengths > 0.0, np.clip(inner / safe, -1.0, 1.0), np.nan)


def node_norms(run: Run, index: int) -> Array:
    """|alpha_j u_j| at the flat parameters, (m,)."""
    alpha, U = run.network.effective(run.parameters(index))
    return np.asarray(np.abs(alpha) * np.linalg.norm(U, axis=1))


def relative_norm(run: Run, index: int) -> Array:
    norms = node_norms(run, index)
    largest = norms.max()
    return norms / largest if largest > 0.0 else np.full(norms.shape, np.nan)


def positions(run: Run, index: int) -> Array:
    """|alpha_j| u_j at the physical scale, (m, d): what the trajectories of Figure 1 show."""
    alpha, U = run.network.effective(run.parameters(index))
    factor = np.exp(run.network.degree * run.rho[index])
    return np.asarray(factor * np.abs(alpha)[:, None] * U)


def outer_signs(run: Run, index: int) -> Array:
    """The present sign of each alpha_j, (m,)."""
    return np.asarray(np.sign(run.network.effective(run.parameters(index))[0]))


def stable_rank(run: Run, index: int) -> float:
    U = run.network.effective(run.parameters(index))[1]
    gram = U @ U.T if U.shape[0] < U.shape[1] else U.T @ U
    largest = float(np.linalg.eigvalsh(gram)[-1])
    return float(np.trace(gram)) / largest if largest > 0.0 else float("nan")


def patterns_changed(run: Run, index: int) -> float:
    now, then = (
        run.network.effective(flat)[1] @ run.dataset.x.T > 0.0
        for flat in (run.parameters(index), run.origin)
    )
    return float(np.mean(now != then))


S, N = Shape.SCALAR, Shape.NODE
OBSERVABLES = (
    Observable(
        "norm_squared", "squared norm", "|W|^2 = |a|^2 + |V|_F^2", "telgarsky22, section 1.2", S,
        norm_squared,
    ),
    Observable(
        "distance", "distance from the start", "|W(t) - W(0)|", "telgarsky22, Theorem 2.1", S,
        distance,
    ),
    Observable(
        "balance_drift", "balance drift",
        "max_j |(a_j^2 - |v_j|^2)(t) - (a_j^2 - |v_j|^2)(0)| / |W(t)|^2; 0 for exact gradient flow",
        "telgarsky22, section 3.1", S, balance_drift,
    ),
    Observable(
        "stable_rank", "stable rank", "|V|_F^2 / |V|_2^2", "frei23, Definition 4.1", S, stable_rank
    ),
    Observable(
        "patterns_changed", "activation patterns changed",
        "share of all pairs (j, i) whose 1[<v_j, x_i> > 0] differs from t = 0",
        "wei19, section F.1", S, patterns_changed,
    ),
    Observable(
        "rotation", "rotation", "<v_j(0)/|v_j(0)|, v_j(t)/|v_j(t)|>", "telgarsky22, Figure 1c", N,
        rotation,
    ),
    Observable(
        "relative_norm", "relative norm", "|a_j v_j| / max_k |a_k v_k|", "telgarsky22, Figure 1d",
        N, relative_norm,
    ),
)  # fmt: skip
