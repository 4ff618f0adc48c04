"""Potentials of telgarsky22 (Theorems 3.2 and 3.3) and of batchnorm (appendix D)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.data.cones import ConesData
from core.network.normalised_network import BatchNorm
from core.observables.law_features import known_features, knows_features, unit_directions
from core.observables.observable import Observable, cached_per_run
from core.runs import Run

Array = NDArray[np.float64]


def cone_potential(run: Run, index: int) -> float:
    """Return Phi = (1/4) sum_k |alpha_k| ln sum_j phi_kj |a_j v_j|; -inf if a cone has no neuron.

    phi_kj = clip to [0, 1] of sgn(alpha_k) a_j relu(<v_j, beta_k>) - (1 - eps) |a_j| |v_j|, as the
    proof uses it, at the physical scale. For runs with `has_cone_potential`.
    """
    return 0.25 * float(np.abs(_features_of(run)[0]) @ _log_sums(run, index))


def empty_cones(run: Run, index: int) -> float:
    """Return the number of cones without a neuron: phi_kj = 0 for all j."""
    return float(np.count_nonzero(np.isneginf(_log_sums(run, index))))


def _features_of(run: Run) -> tuple[Array, Array]:
    """Return `known_features` of a law that has them: alpha (r,) and beta (r, d)."""
    features = known_features(run)
    assert features is not None
    return features


def _log_sums(run: Run, index: int) -> Array:
    """Return ln sum_j phi_kj |a_j v_j| for each cone, (r,)."""
    alpha, beta = _features_of(run)
    parts = run.network.unpack(run.parameters(index))
    a, V = parts["a"], parts["V"]
    double = 2.0 * float(run.rho[index])
    lengths = np.abs(a) * np.linalg.norm(V, axis=1)
    # The printed phi is garbled; this is the form that the proof uses (docs/theory.md, 8.2).
    reach = np.sign(alpha)[:, None] * a * np.maximum(beta @ V.T, 0.0)
    above = reach - (1.0 - cone_eps(run)) * lengths
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        # In logarithms: the physical |a_j v_j| is e^(2 rho) times the flat one.
        phi = np.exp(np.minimum(np.log(np.maximum(above, 0.0)) + double, 0.0))
        return np.asarray(np.log((phi * lengths).sum(axis=1)) + double)


def cone_eps(run: Run) -> float:
    """Return eps of the law: its points are at most gamma_nc sqrt(eps/2) across their own axis."""
    law = run.experiment.data
    assert isinstance(law, ConesData)
    return 2.0 * (law.offset / law.gamma_nc) ** 2


def has_cone_potential(run: Run) -> bool:
    """Return True for the standard network on cones with the exponential loss."""
    exponential = run.loss.kind == "exponential"
    return (
        run.network.kind == "standard"
        and run.network.plain_relu
        and exponential
        and run.reduction is None  # the products <v_j, beta_k> are computed in R^d
        and run.experiment.data.kind == "cones"
        and knows_features(run)
    )


@cached_per_run
def matched_nodes(run: Run) -> Array:
    """Return the neuron that matches each reference direction.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (r,) of int
        For each beta_k, the neuron of sgn(a_j) = sgn(alpha_k) whose sgn(b_j) v_j(0) has the
        nearest direction; 0 if no neuron has the sign.
    """
    alpha, beta = _features_of(run)
    parts = run.network.unpack(run.origin)
    cosines = beta @ (np.sign(parts["b"])[:, None] * unit_directions(run, run.origin)).T
    allowed = np.sign(parts["a"])[None, :] == np.sign(alpha)[:, None]
    return np.asarray(np.where(allowed, cosines, -np.inf).argmax(axis=1))


def scalar_potential(run: Run, index: int) -> float:
    """Return Phi = (1/4) sum_k |alpha_k| ln(a_k^2 + b_k^2) at the physical scale.

    a_k and b_k are those of the neuron that matches beta_k (`matched_nodes`). For runs with
    `has_scalar_potential`.
    """
    parts, nodes = run.network.unpack(run.parameters(index)), matched_nodes(run)
    squares = parts["a"][nodes] ** 2 + parts["b"][nodes] ** 2
    with np.errstate(divide="ignore"):
        logs = np.log(squares) + 2.0 * float(run.rho[index])
    return 0.25 * float(np.abs(_features_of(run)[0]) @ logs)


def has_scalar_potential(run: Run) -> bool:
    """Return True for scalar networks with the exponential loss on data with known directions."""
    return run.network.kind == "scalar" and run.loss.kind == "exponential" and knows_features(run)


class Reference(NamedTuple):
    """Directions of a and of c, each of length 1, joined (2 m,); r = R/8 and al = R^2 / R_V^2."""

    direction: Array
    r: float
    al: float


@cached_per_run
def batch_norm_reference(run: Run) -> Reference | None:
    """Return the reference of the batch-norm potential; None without separating frozen features.

    With V frozen p is linear in a and in c: their hard-margin directions, and gamma = gamma_a +
    gamma_c, both margins over sqrt m. R = gamma^(1/3) m^(1/6)/(27 eps_N), R_V = 1/(2 eps_N), and
    eps_N = max(1, max_j 1/N(v_j(0))).
    """
    from core.data.geometry import max_margin
    from core.dynamics.step_size import jacobian
    from core.errors import InputError

    network = run.network
    assert isinstance(network, BatchNorm)
    m = network.m
    rows = run.dataset.y[:, None] * jacobian(network, run.origin, run.inputs)
    try:
        (gamma_a, a, _), (gamma_c, c, _) = (
            max_margin(part) for part in (rows[:, :m], rows[:, m : 2 * m])
        )
    except InputError:
        return None
    # Over sqrt(m), as in equation 28; Assumption 1.2 is printed without it.
    gamma = (gamma_a + gamma_c) / float(np.sqrt(m))
    N = network.statistics(network.directions(run.origin))[0]
    eps_N = max(1.0, float(1.0 / N.min()))
    radius = gamma ** (1.0 / 3.0) * m ** (1.0 / 6.0) / (27.0 * eps_N)
    return Reference(np.concatenate([a, c]), radius / 8.0, (2.0 * eps_N * radius) ** 2)


def batch_norm_potential(run: Run, index: int) -> float:
    """Return |U_t - Ub|^2 - |U_0 - Ub|^2 + al |V_t - V_0|^2, U = (a, c), Ub = U_0 + r Ubar.

    r, al and Ubar are those of `batch_norm_reference`; NaN if that is None.
    """
    reference = batch_norm_reference(run)
    if reference is None:
        return float("nan")
    scaled = run.network.scaled
    displacement = run.physical_parameters(index) - run.origin
    U, V = displacement[:scaled], displacement[scaled:]
    return float(U @ U - 2.0 * reference.r * (reference.direction @ U) + reference.al * (V @ V))


def has_batch_norm_potential(run: Run) -> bool:
    """Return True for batch norm, a loss that tends to zero, and at most 1000 examples."""
    return run.network.kind == "batch_norm" and run.loss.monotone and run.dataset.n <= 1000


OBSERVABLES = (
    Observable(
        "cone_potential",
        "potential Phi of the cones",
        "(1/4) sum_k |alpha_k| ln sum_j phi_kj |a_j v_j|, phi_kj = clip_[0,1](sgn(alpha_k) a_j "
        "relu(<v_j, beta_k>) - (1 - eps) |a_j v_j|), natural log; at most (1/2) ln |W|; NaN while "
        "some cone has no neuron (empty_cones)",
        "telgarsky22, Theorem 3.2 (appendix)",
        cone_potential,
        applies=has_cone_potential,
        where="standard, exponential loss, cones",
        tex=r"\Phi=\frac{1}{4}\sum_k|\alpha_k|\,\ln\sum_j\varphi_{kj}|a_jv_j|",
        normalisation="sum_k |alpha_k| = 1; natural logarithm",
    ),
    Observable(
        "empty_cones",
        "cones without a neuron",
        "number of k with phi_kj = 0 for all j: until it is 0 the potential Phi is ln 0, and NaN",
        "telgarsky22, Theorem 3.2 (appendix)",
        empty_cones,
        applies=has_cone_potential,
        where="standard, exponential loss, cones",
        tex=r"\#\{k:\ \varphi_{kj}=0\ \mathrm{for\ all}\ j\}",
        normalisation="a count",
    ),
    Observable(
        "scalar_potential",
        "potential Phi of the scalar network",
        "(1/4) sum_k |alpha_k| ln(a_k^2 + b_k^2), neuron k the nearest of the right sign to beta_k "
        "at the start, sum |alpha| = 1, natural log",
        "telgarsky22, Theorem 3.3 (appendix)",
        scalar_potential,
        applies=has_scalar_potential,
        where="scalar, exponential loss, 2-parity or cones",
        tex=r"\Phi=\frac{1}{4}\sum_k|\alpha_k|\,\ln(a_k^2+b_k^2)",
        normalisation="sum_k |alpha_k| = 1; natural logarithm",
    ),
    Observable(
        "batch_norm_potential",
        "potential Phi of batch norm",
        "|U_t - Ub|^2 - |U_0 - Ub|^2 + al |V_t - V_0|^2, U = (a, c), Ub = U_0 + (R/8) Ubar, "
        "al = (2 eps_N R)^2, R = gamma^(1/3) m^(1/6) / (27 eps_N)",
        "batchnorm, Appendix D",
        batch_norm_potential,
        applies=has_batch_norm_potential,
        where="batch_norm, losses with duals, n <= 1000",
        tex=r"|U_t-\bar U|^2-|U_0-\bar U|^2+\alpha|V_t-V_0|^2",
        normalisation="squared norms, |abar| = |cbar| = 1 in Ubar = (abar, cbar)",
    ),
)
