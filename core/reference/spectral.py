"""gamma_spec: largest margin of two-layer ReLU networks over max(|a|, |V|_op)^2, of any width.

A network, whose margin anyone can check, is the lower end. The upper end is gamma_gl of the points
Lam^-1/2 x_i for a Lam of trace 1: with |a| <= 1 and V'V <= I

    sum_j |a_j| sqrt(v_j' Lam v_j) <= sqrt(tr(Lam V'V)) <= 1,
    <v, x> = <Lam^1/2 v, Lam^-1/2 x>.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.corners import find_corner_parity
from core.reference.ellipsoids import find_saddle, square_roots
from core.reference.global_margin import global_margin, row_space
from core.reference.hull import explain_no_margin, pair_bound, rounding_bound
from core.reference.margin import (
    NO_NETWORK,
    Bracket,
    absent_bracket,
    exact_bracket,
    unresolved_bracket,
    zero_bracket,
)
from core.reference.norms import NormMargin

Array = NDArray[np.float64]
MOST_EXAMPLES, MOST_RANK = 1000, 100
POWERS = (30.0, 100.0, 300.0, 1000.0, 3000.0)  # powers of the smoothed margin and norm, in order
STEPS = 300  # L-BFGS steps per power
SEARCH_SHARE, NETWORK_SHARE = 0.25, 0.15  # fractions of the time limit
# The proof is slow for a nearly singular Lam: fractions of the remaining time, and of I/d in Lam.
# Parity (d, n) = (20, 64) has .2243 with a tenth of I/d in 37 s, and .2354 with .3 in 12 s.
PROOFS = ((0.25, 0.0), (0.5, 0.1), (1.0 - NETWORK_SHARE, 0.3))
OFF = 1e-9  # relative error of Lam^-1/2


def spectral_margin(a: Array, V: Array, x: Array, y: Array) -> float:
    """Return min_i y_i f(x_i) / (|a| |V|_op) of a network.

    Its layers can be scaled so that both norms are one: this is the margin over max(|a|, |V|_op)^2.

    Parameters
    ----------
    a : array (m,)
        Outer weights.
    V : array (m, d)
        Inner weights.
    x : array (n, d)
        Points.
    y : array (n,)
        Labels +-1.

    Returns
    -------
    float
        Margin; 0 of a network whose weights are 0.
    """
    size = float(np.linalg.norm(a) * np.linalg.norm(V, 2)) if V.size else 0.0
    return float((y * (np.maximum(x @ V.T, 0.0) @ a)).min()) / size if size > 0.0 else 0.0


def _smooth_value(
    flat: Array, x: Array, y: Array, power: float, unit: float
) -> tuple[float, Array]:
    """Return minus a network's smoothed margin over `unit`, and its gradient.

    Soft minimum of y_i f(x_i) and Schatten norm of V, both at `power`, over |a| and that norm.
    """
    m = flat.size // (x.shape[1] + 1)
    a, V = flat[:m], flat[m:].reshape(m, -1)
    z = V @ x.T
    hidden = np.maximum(z, 0.0)
    # In place of |V|_op the Schatten norm of V at this power.
    values, vectors = np.linalg.eigh(V.T @ V)
    top = float(values[-1])
    ratio = np.maximum(values / top, 0.0)
    total = float((ratio ** (0.5 * power)).sum())
    norm, length = np.sqrt(top) * total ** (1.0 / power), float(a @ a)
    by_square = (vectors * (ratio ** (0.5 * power - 1.0))) @ vectors.T / (top * total)
    size = float(norm * np.sqrt(length) * unit)
    p = y * (a @ hidden) / size
    least = float(p.min())
    parts = np.exp(-power * (p - least))
    share = parts / parts.sum()
    q, weighted_margin = share * y / size, float(share @ p)
    by_a = -(hidden @ q) + weighted_margin * a / length
    by_V = -(a[:, None] * (z > 0.0) * q) @ x + weighted_margin * V @ by_square
    value = float(np.log(parts.sum())) / power - least
    return value, np.r_[by_a, by_V.ravel()]


def refine_network(
    network: tuple[Array, Array], x: Array, y: Array, unit: float, watch: CancelToken
) -> tuple[Array, Array]:
    """Return the network (a, V) of largest margin met by L-BFGS on smoothed margins.

    Parameters
    ----------
    network : tuple of array (m,), array (m, d)
        Weights a and V to start from.
    x : array (n, d)
        Points.
    y : array (n,)
        Labels +-1.
    unit : float
        Expected size of the margin.
    watch : CancelToken
        Cancellation token; once it has timed out, the best network so far is returned.

    Returns
    -------
    tuple of array (m,), array (m, d)
        The start itself if no margin is larger. The power of the smoothed margins rises through
        `POWERS`.
    """
    from scipy.optimize import minimize  # slow to load

    (a, V), best, margin = network, network, spectral_margin(*network, x, y)
    if not V.any() or not a.any():
        return best

    def check(_: Any) -> None:
        watch.check()

    flat, m = np.r_[a, V.ravel() / np.linalg.norm(V, 2)], a.size
    flat[:m] /= np.linalg.norm(a)
    for power in POWERS:
        if watch.timed_out:
            break
        answer = minimize(
            _smooth_value,
            flat,
            args=(x, y, power, unit),
            jac=True,
            method="L-BFGS-B",
            callback=check,
            options={"maxiter": STEPS, "maxcor": 20},
        )
        if not np.isfinite(answer.x).all():
            break
        flat = answer.x
        now = flat[:m], flat[m:].reshape(m, -1)
        flat = np.r_[now[0] / np.linalg.norm(now[0]), now[1].ravel() / np.linalg.norm(now[1], 2)]
        reached = spectral_margin(*now, x, y)
        if reached > margin:
            best, margin = now, reached
    return best


def bound_both(x: Array, y: Array, watch: CancelToken) -> tuple[float, Bracket, int]:
    """Bound the margin from both sides.

    Parameters
    ----------
    x : array (n, d)
        Points.
    y : array (n,)
        Labels +-1.
    watch : CancelToken
        Cancellation token, whose time limit the steps share.

    Returns
    -------
    reached : float
        Margin of the best network that was found.
    bracket : Bracket
        gamma_gl of the transformed points Lam^-1/2 x_i, whose upper end bounds the margin.
    most : int
        Largest number of neurons of a network, for the bound of rounding errors.
    """
    saddle = find_saddle(x, y, watch.with_timeout(SEARCH_SHARE * watch.limit), diagonal=False)
    margins = []
    for share, spread in PROOFS:
        Lam = (1.0 - spread) * saddle.Lam + spread / x.shape[1] * np.eye(x.shape[1])
        root, inverse = square_roots(Lam)
        part = watch.with_timeout(share * max(watch.limit - watch.seconds, 0.0))
        margins.append((global_margin(x @ inverse, y, part, columns=saddle.V @ root), inverse))
        if margins[-1][0].bracket.certified:
            break
    solution, inverse = margins[-1] if margins[-1][0].bracket.certified else margins[0]
    mass = np.sqrt(solution.weights)
    starts = [(saddle.a, saddle.V)]
    starts += [(mass * solution.alpha, mass[:, None] * (solution.beta @ inverse))]
    part = watch.with_timeout(NETWORK_SHARE * watch.limit)
    networks = [refine_network(start, x, y, saddle.price, part) for start in starts]
    reached = max(spectral_margin(a, V, x, y) for a, V in networks)
    return reached, solution.bracket, max(a.size for a, _ in networks)


def spectral_bracket(x: Array, y: Array, watch: CancelToken) -> Bracket:
    """Return the bracket of gamma_spec.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.
    watch : CancelToken
        Cancellation, and the time limit of the search.

    Returns
    -------
    Bracket
        In units of |x|. Zero if no predictor separates the data, absent for points that span more
        than MOST_RANK dimensions, unresolved if no network with a positive margin was found.
        Certified if the upper end is proved.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) / np.sqrt(2.0)
    >>> round(spectral_bracket(x, np.array([1.0, -1.0, -1.0, 1.0]), CancelToken()).value, 6)
    0.353553
    """
    sentence = explain_no_margin(x, y)
    if sentence:
        return zero_bracket(f"gamma_spec is 0: {sentence}")
    parity = find_corner_parity(x, y)
    if parity is not None:
        return exact_bracket(parity.margin, f"closed form of {parity.k} bits on all corners")
    scale = float(np.linalg.norm(x, axis=1).max())
    # Components of the inner weights outside the span of the points only increase the norm.
    inner, _ = row_space(x / scale)
    r = inner.shape[1]
    if r > MOST_RANK:
        return absent_bracket(
            f"The points span {r} dimensions; this margin is computed for up to {MOST_RANK}."
        )
    # |V| <= sqrt(r) |V|_op, hence gamma_spec <= sqrt(r) gamma_gl.
    near = np.sqrt(r) * pair_bound(x, y)
    reached, solution_bracket, nodes = bound_both(inner, y, watch)
    error = rounding_bound(sum(inner.shape) + sum(x.shape) + nodes, scale)
    lower = scale * reached - error
    upper = scale * solution_bracket.upper * (1.0 + OFF) + error
    certified = solution_bracket.certified and bool(np.isfinite(upper))
    if not upper < near:
        upper, certified = near, True
    if not lower > 0.0:
        return unresolved_bracket(upper, scale, certified, NO_NETWORK)
    upper = max(upper, lower)
    words = "a network, and gamma_gl of transformed points"
    words += "" if certified else ": upper end heuristic, the best of many starts"
    bracket = Bracket(lower, upper, lower, certified, words)
    return Bracket(lower, upper, lower, certified, f"{words}; gap {bracket.gap:.1e}")


@final
class SpectralMargin(NormMargin):
    """gamma_spec of the training data, a property of the data alone."""

    name = "gamma_spec"
    title = "global margin in the spectral norm"
    formula = (
        "gamma_spec = max over |a| <= 1, |V|_op <= 1 and all widths of min_i y_i sum_j a_j "
        "relu(<v_j, x_i>): bounds margin_spectral, the margin over max(|a|, |V|_op)^2, which Muon "
        "raises"
    )
    source = "our derivation (docs/theory.md, 5.7)"
    label = "gamma_spec"
    where = "data of two classes, standard, scalar and normalised networks"
    norm = "spectral"
    plain_relu = True
    most_examples = MOST_EXAMPLES

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        return spectral_bracket(problem.dataset.x, problem.dataset.y, watch)
