"""How far a batch-norm network moves: U = (a, c) and V apart, and the divisors N(v_j)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.batch_norm import BatchNorm
from core.observables.margins import is_batch_norm
from core.observables.observable import Observable, Shape, memoised
from core.runs import Run

Array = NDArray[np.float64]


def outer_displacement(run: Run, index: int) -> float:
    """|U_t - U_0|, U = (a, c); NaN for other networks."""
    if not is_batch_norm(run):
        return float("nan")
    scaled = run.network.scaled
    with np.errstate(over="ignore"):
        physical = run.network.physical(run.parameters(index), float(run.rho[index]))
        return float(np.linalg.norm(physical[:scaled] - run.origin[:scaled]))


def inner_displacement(run: Run, index: int) -> float:
    """|V_t - V_0|_F; NaN for other networks."""
    if not is_batch_norm(run):
        return float("nan")
    scaled = run.network.scaled
    # V is a part of degree 0: e^rho does not multiply it.
    return float(np.linalg.norm(run.parameters(index)[scaled:] - run.origin[scaled:]))


@memoised
def normaliser(run: Run, index: int) -> Array:
    """N(v_j) = sqrt(v_j' Sigma v_j + eps), (m,)."""
    if not isinstance(run.network, BatchNorm):
        return np.full(run.network.m, np.nan)
    N, _ = run.network.statistics(run.network.directions(run.parameters(index)))
    return np.asarray(N[:, 0])


def smallest_normaliser(run: Run, index: int) -> float:
    return float(normaliser(run, index).min())


def median_normaliser(run: Run, index: int) -> float:
    return float(np.median(normaliser(run, index)))


SOURCE = "batchnorm, Theorem 2.1"
OBSERVABLES = (
    Observable(
        "outer_displacement",
        "outer displacement",
        "|U_t - U_0|, U = (a, c)",
        SOURCE,
        outer_displacement,
        applies=is_batch_norm,
        where="batch_norm",
        tex=r"|U_t-U_0|,\ U=(a,c)",
    ),
    Observable(
        "inner_displacement",
        "inner displacement",
        "|V_t - V_0|_F",
        SOURCE,
        inner_displacement,
        applies=is_batch_norm,
        where="batch_norm",
        tex=r"|V_t-V_0|_F",
    ),
    Observable(
        "smallest_normaliser",
        "smallest normaliser",
        "min_j N(v_j)",
        "batchnorm, section 1.3",
        smallest_normaliser,
        applies=is_batch_norm,
        where="batch_norm",
        tex=r"\min_jN(v_j)",
    ),
    Observable(
        "median_normaliser",
        "median normaliser",
        "the median of N(v_j)",
        "batchnorm, section 1.3",
        median_normaliser,
        applies=is_batch_norm,
        where="batch_norm",
        tex=r"\mathrm{median}_j\,N(v_j)",
    ),
    Observable(
        "normaliser",
        "normaliser",
        "N(v_j) = sqrt(v_j' Sigma v_j + eps)",
        "batchnorm, section 1.3",
        normaliser,
        shape=Shape.NODE,
        applies=is_batch_norm,
        where="batch_norm",
        tex=r"N(v_j)=\sqrt{v_j^T\Sigma v_j+\epsilon}",
    ),
)
