"""Quantities of homogeneity, Theorem 3.1, for features F of <a*b, F(x; V)>: C_1, C_2 and KL."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.head import Head
from core.network.normalised_network import Normalised
from core.network.parametrisation import Network, TwoLayer
from core.observables.node_coordinates import unit_rows
from core.observables.observable import (
    Observable,
    Shape,
    cached_per_frame,
    cached_per_run,
    has_labels,
)
from core.runs import Run

Array = NDArray[np.float64]
MOST_FEATURES = 512  # n m of a deep head whose features are differentiated one by one
MOST_VALUES = 20_000_000


def has_reparametrisation(run: Run) -> bool:
    """Return True if the outer weights are products a_j b_j."""
    return run.network.factored


def has_pbar(run: Run) -> bool:
    """Return True if a p of largest margin exists: factored outer weights, and labels."""
    return has_reparametrisation(run) and has_labels(run)


def reparametrise(run: Run, index: int) -> Array:
    """Return u = |a * b| at the physical scale.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        NaN if the outer weights are no products.
    """
    if not has_reparametrisation(run):
        return np.full(run.network.m, np.nan)
    parts = run.network.unpack(run.parameters(index))
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(2.0 * run.rho[index]) * np.abs(parts["a"] * parts["b"]))


def signed_features(run: Run, index: int) -> Array:
    """Return the signed features of all examples (homogeneity, 3.2).

    The flat parameters give the inner weights, the start the signs of a and b.

    For the scalar network F_j is relu(sgn(b_j(0)) <v_j, x>) with the sign of a_j(0), so that the
    network is <u, .> too.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n, m)
        z_i = y_i beta * F(x_i; V), beta_j = sgn(a_j(0) b_j(0)).
    """
    return features_at(run, run.parameters(index))


def features_at(run: Run, flat: Array) -> Array:
    """Return the signed features at any flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (n, m)
        z_i of `signed_features`.
    """
    network, y = run.network, run.dataset.y[:, None]
    signed = np.array(flat)
    # With outer weights +-1 each neuron's output is its feature, with the sign of the start.
    signed[: 2 * network.m] = np.sign(run.origin[: 2 * network.m])
    if isinstance(network, Head):
        F = network.features(signed, run.inputs)
        return np.asarray(y * signed[: network.m] * signed[network.m : 2 * network.m] * F)
    assert isinstance(network, TwoLayer)
    beta, U = network.effective(signed)
    return np.asarray(y * beta * network.activation(run.inputs @ U.T))


def _single(network: Network, flat: Array, j: int) -> Array:
    """Return parameters with a*b = e_j, at which the network is its feature j."""
    single = np.array(flat)
    single[: 2 * network.m] = 0.0
    single[j] = single[network.m + j] = 1.0
    return single


@cached_per_run
def reference_distribution(run: Run) -> Array:
    """Return the pbar of largest margin on the initial features, by linear programming.

    The theorem leaves pbar open; this one has the largest gamma of the initial features.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (m,)
        pbar >= 0 with |pbar|_1 = 1 and the largest min_i <pbar, z_i(0)>; NaN if the solver fails.
    """
    from scipy.optimize import linprog  # slow to load

    Z = features_at(run, run.origin)  # before frame 0 in a continued run
    n, m = Z.shape
    # HiGHS treats numbers beyond 1e20 as infinite. The distribution does not depend on the scale.
    Z = Z / max(float(np.abs(Z).max()), np.finfo(float).tiny)
    solution = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.concatenate([-Z, np.ones((n, 1))], axis=1),  # gamma - <pbar, z_i> <= 0
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * m + [(None, None)],
        method="highs",
    )
    return np.asarray(solution.x[:m]) if solution.success else np.full(m, np.nan)


def kl(v: Array, u: Array) -> float:
    """Return KL(v, u) = <v, ln(v/u)> + <1, u - v> for v and u of any total.

    Source: homogeneity, section 3. Infinite if u is 0 where v is positive.

    >>> round(float(np.exp(kl(np.array([1.0, 0.0]), np.array([0.5, 0.5])))), 12)
    2.0
    """
    if (u[v > 0.0] == 0.0).any():
        return float("inf")
    inside = v[v > 0.0]
    logs = np.log(inside) - np.log(u[v > 0.0])  # v/u may exceed float64
    return float(inside @ logs + u.sum() - v.sum())


def kl_from_reference(run: Run, index: int) -> float:
    """Return KL(pbar, u), pbar = `reference_distribution` and u = `reparametrise` at a frame.

    NaN if u is not finite.
    """
    u = reparametrise(run, index)
    return kl(reference_distribution(run), u) if np.isfinite(u).all() else float("nan")


def _gradients(run: Run, index: int) -> Array:
    """Return grad_V F_j(x_i) of a deep head, (n, m, size of V)."""
    network, flat = run.network, run.parameters(index)
    n, m = run.dataset.n, network.m
    rows = np.zeros((n, m, network.size - network.scaled))
    for j in range(m):
        single = _single(network, flat, j)
        for i in range(n):
            slope = network.gradient(single, run.inputs[i : i + 1], np.ones(1))
            rows[i, j] = slope[network.scaled :]
    return rows


@cached_per_frame
def slopes(run: Run, index: int) -> tuple[float, float]:
    """Return (C_1, C_2) at one frame of a run with `has_slopes`.

    The theorem takes their largest values up to the frame.
    """
    network = run.network
    if isinstance(network, Normalised):
        # grad_V F_j has only neuron j's block, (I - u u') x o/|v|: C_1 is at i = r, and C_2 = 0.
        unit, lengths = unit_rows(network.directions(run.parameters(index)))
        Z = unit @ run.inputs.T
        squared = np.einsum("ik,ik->i", run.inputs, run.inputs)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            # |v|^-2 exceeds float64 for |v| below 1e-154; inactive entries are 0.
            across = (squared - Z**2) / lengths[:, None] ** 2
        across = np.where(Z > 0.0, across, 0.0)
        return float(across.max()), 0.0
    rows = _gradients(run, index)
    n, m, size = rows.shape
    flat, c_2 = rows.reshape(n * m, size), 0.0
    c_1 = float(np.einsum("ijk,ijk->ij", rows, rows).max())
    for j in range(m):
        inner = np.abs(rows[:, j] @ flat.T).reshape(n, n, m)
        # Other neurons only: the text prints C_1 with j != k, which is C_2 (docs/theory.md, 8.3).
        inner[:, :, j] = 0.0
        c_2 = max(c_2, float(inner.max()))
    return c_1, c_2


def c_1(run: Run, index: int) -> float:
    """Return C_1 at one frame, as `slopes`."""
    return slopes(run, index)[0]


def c_2(run: Run, index: int) -> float:
    """Return C_2 at one frame, as `slopes`."""
    return slopes(run, index)[1]


def has_slopes(run: Run) -> bool:
    """Return True if F has trained parameters, and their gradients are few enough."""
    if run.network.kind == "normalised":
        return True
    count = run.dataset.n * run.network.m
    small = count <= MOST_FEATURES and count * run.network.size <= MOST_VALUES
    return run.network.kind == "head" and small


SOURCE = "homogeneity, Theorem 3.1"
WITH_U = "networks whose outer weights are products a_j b_j"
OBSERVABLES = (
    Observable(
        "u",
        "reparametrised weights",
        "u_j = |a_j b_j|",
        "homogeneity, section 3.2",
        reparametrise,
        shape=Shape.NODE,
        applies=has_reparametrisation,
        where=WITH_U,
        tex=r"u_j=|a_jb_j|",
    ),
    Observable(
        "kl_pbar",
        "KL(pbar, u)",
        "<pbar, ln(pbar/u)> + <1, u - pbar>, ln natural; pbar: largest margin of F(x; V(0))",
        SOURCE,
        kl_from_reference,
        applies=has_pbar,
        tex=r"\langle\bar p,\ln(\bar p/u)\rangle+\langle 1,u-\bar p\rangle",
        normalisation="|pbar|_1 = 1, u of any total; natural logarithm",
        costly=True,
    ),
    Observable(
        "c_1",
        "C_1",
        "max over i, r, j of |<grad_V F_j(x_i; V), grad_V F_j(x_r; V)>|",
        SOURCE,
        c_1,
        applies=has_slopes,
        tex=r"\max_{i,r,j}|\langle\nabla_VF_j(x_i),\nabla_VF_j(x_r)\rangle|",
        costly=True,
    ),
    Observable(
        "c_2",
        "C_2",
        "max over i, r, j != k of |<grad_V F_j(x_i; V), grad_V F_k(x_r; V)>|",
        SOURCE,
        c_2,
        applies=has_slopes,
        tex=r"\max_{i,r,j\neq k}|\langle\nabla_VF_j(x_i),\nabla_VF_k(x_r)\rangle|",
        costly=True,
    ),
)
