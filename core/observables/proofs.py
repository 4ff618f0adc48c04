"""Quantities in the papers' proofs: sums of |l'|, loss ratio, proxy-PL, covering radius.

The slopes are stored as ln |l'(p_i)|, which neither under- nor overflows, whatever the size of p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.losses import softplus
from core.network.standard import FixedOuter
from core.observables.features import has_pbar, reference_distribution, signed_features
from core.observables.law_features import covering_radius, knows_features
from core.observables.margins import dual_margin, flat_scores, scale
from core.observables.observable import Observable, cached_per_run
from core.runs import Run
from core.study_file.descent import GradientDescent, StochasticGradientDescent
from core.study_file.dynamics import GradientFlow

Array = NDArray[np.float64]
LN_10 = float(np.log(10.0))
LATE = 3.0  # log10 t from which sums of the flow are computed in rho
# Relative tolerance of a sum between two frames: two interpolations may agree by chance.
LEAST_ROOM = 1e-4


def has_slopes(run: Run) -> bool:
    """Return True for two classes and a loss that tends to zero."""
    return run.loss.monotone and run.network.k == 1


def log_slopes(run: Run, index: int) -> Array:
    """Return ln |l'(p_i)| of each example.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n,)
        -p_i for the exponential, -ln(1 + e^p_i) for the logistic loss.
    """
    p = scale(run, index) * flat_scores(run, index)
    return np.asarray(-p if run.loss.kind == "exponential" else -softplus(p))


def log_mean_slope(run: Run, index: int) -> float:
    """Return ln G, G = (1/n) sum_i |l'(p_i)|."""
    slopes = log_slopes(run, index)
    largest = float(slopes.max())
    with np.errstate(under="ignore"):
        return largest + float(np.log(np.mean(np.exp(slopes - largest))))


def log_logarithmic_mean(log_a: float, log_b: float) -> float:
    """Return ln of (b - a)/ln(b/a), the mean of exp over a line through both ends.

    >>> round(log_logarithmic_mean(0.0, 1.0), 9) == round(float(np.log(np.e - 1.0)), 9)
    True
    >>> round(log_logarithmic_mean(0.0, -1e5), 9) == round(-float(np.log(1e5)), 9)
    True
    """
    top, gap = max(log_a, log_b), abs(log_b - log_a)
    # 0/0 if both are equal; the geometric mean has the relative error gap^2/24, below 1e-13.
    if gap < 1e-6:
        return 0.5 * (log_a + log_b)
    return top + float(np.log(-np.expm1(-gap) / gap))


def perceptron_sum(run: Run, index: int) -> float:
    """Return int_0^t G ds, or for sgd sum_(s<t) G_s, G = (1/n) sum_i |l'(p_i)|, by recorded frames.

    Between two frames G is taken as a power of t (and as an exponential in t from t = 0), which
    lies between the rectangle sums of both ends wherever G is monotone: their difference bounds the
    error. Descent adds the excess of its left sum over the integral, (step/2) (G_0 - G_1). Flow
    beyond t = 1000 uses d rho = L e^((L-2) rho) G <q, p(theta)> / sum q dt instead, by the
    trapezium rule in rho: there t G is a difference of two large logarithms. Frames that are far
    apart make the sum large beyond measure: it is stored as its logarithm. A continued run counts
    from t = 0, by the frames before its start.
    """
    with np.errstate(over="ignore"):
        return float(np.exp(log_perceptron_sum(run, index)))


def log10_perceptron_sum(run: Run, index: int) -> float:
    """Return log10 of `perceptron_sum`, finite also where the sum overflows; -inf at t = 0."""
    return log_perceptron_sum(run, index) / LN_10


def log_perceptron_sum(run: Run, index: int) -> float:
    """Return ln of `perceptron_sum`; -inf at t = 0, where the sum is 0.

    The sums of all earlier frames are computed first, once for each run.
    """
    run, index = run.whole_run, run.whole_run.frames_before - run.frames_before + index
    sums = _sums_of(run)
    while len(sums) <= index:
        frame = len(sums)
        sums.append(
            float(np.logaddexp(sums[-1], _log_increment(run, frame - 1, frame)))
            if frame
            else -np.inf
        )
    return sums[index]


@cached_per_run
def _sums_of(run: Run) -> list[float]:
    """Return the run's list of sums computed so far, which later frames extend."""
    return []


def sum_bounds(run: Run) -> tuple[Array, Array]:
    """Return bounds on the growth of perceptron_sum from each frame to the next.

    Over two neighbouring intervals the growth is also taken from their outer frames alone. Each may
    be off by twice the difference of the logarithms: interpolation is of second order, so that its
    error is about a third of it. In a run of one interval, |l'| at its ends bounds the growth.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    two arrays (T,)
        Lower and upper bounds. Entry k is about the interval that ends at frame k; entry 0 about
        the time before the run.
    """
    full_run, first = run.whole_run, run.whole_run.frames_before - run.frames_before
    last = first + run.frames
    fine = np.array([_log_increment(full_run, k - 1, k) for k in range(1, last)])
    coarse = np.array([_log_increment(full_run, k - 1, k + 1) for k in range(1, last - 1)])
    pairs = np.logaddexp(fine[:-1], fine[1:])
    with np.errstate(invalid="ignore"):
        # Both are -inf if nothing has grown.
        gaps = np.where(coarse == pairs, 0.0, 2.0 * np.abs(coarse - pairs))
    if fine.size == 1:
        gaps = np.array([abs(log_mean_slope(full_run, 0) - log_mean_slope(full_run, 1))])
    room = LEAST_ROOM + np.maximum(np.append(gaps, 0.0), np.append(0.0, gaps))[: fine.size]
    if not isinstance(full_run.experiment.dynamics, GradientFlow):
        room[np.diff(full_run.steps[:last]) == 1] = 0.0  # no interpolation: every step is recorded
    with np.errstate(over="ignore", invalid="ignore"):
        lower, upper = (np.append(0.0, np.exp(fine + sign * room)) for sign in (-1.0, 1.0))
    lower[first], upper[first] = lower[: first + 1].sum(), upper[: first + 1].sum()
    return lower[first:], upper[first:]


def _log_increment(run: Run, start: int, stop: int) -> float:
    """Return ln of the sum between two frames, from these frames alone."""
    dynamics = run.experiment.dynamics
    if isinstance(dynamics, GradientFlow) and run.log10_time[start] >= LATE:
        margins = [dual_margin(run, k) for k in (start, stop)]
        if min(margins) > 0.0:
            return _logarithm(_integrate_in_rho(run, (start, stop), margins))
    low, high = (log_mean_slope(run, k) for k in (start, stop))
    if isinstance(dynamics, GradientFlow):
        start_time, end = (LN_10 * float(run.log10_time[k]) for k in (start, stop))
        return _power_law(start_time, end, low, high)
    log_unit = 0.0
    if isinstance(dynamics, GradientDescent):
        assert dynamics.step is not None  # every run has an explicit step
        log_unit = float(np.log(dynamics.step))
    first, last = (int(run.steps[k]) for k in (start, stop))
    # Every step between is recorded: the sum is exact, without interpolation.
    if last == first + 1:
        return log_unit + low
    integral = _power_law(_logarithm(first), _logarithm(last), low, high)
    top = max(low, high, integral)
    if not np.isfinite(top):
        return top
    with np.errstate(under="ignore"):
        ends = 0.5 * (np.exp(low - top) - np.exp(high - top))
        return log_unit + top + _logarithm(float(np.exp(integral - top) + ends))


def _logarithm(value: float) -> float:
    """Return ln; -inf at 0 and for the negative rest of rounding."""
    return float(np.log(value)) if value > 0.0 else (-np.inf if value <= 0.0 else float("nan"))


def _power_law(start: float, end: float, low: float, high: float) -> float:
    """Return ln of int of G between two times; all four are logarithms, those of t first."""
    if start == -np.inf:
        return end + log_logarithmic_mean(low, high)
    return float(np.log(end - start)) + log_logarithmic_mean(start + low, end + high)


def _integrate_in_rho(run: Run, ends: tuple[int, int], margins: list[float]) -> float:
    """Return int G dt between two frames of a flow, by the trapezium rule in ln |W|.

    `margins` are the dual margins at both ends, which must be positive:
    G dt = d rho/(L e^((L-2) rho) margin), and d rho = d ln |W|.
    """
    degree = run.network.degree
    norms = [run.network.norm(run.parameters(k)) for k in ends]
    # Margins are over |W_h|^L for the flow's unit vectors, or over |a| |c| for batch norm.
    sizes = [run.network.norm_power(run.parameters(k)) for k in ends]
    rates = [
        1.0 / (degree * margin * size * float(np.exp((degree - 2) * run.rho[k])))
        for k, margin, size in zip(ends, margins, sizes, strict=True)
    ]
    grown = float(run.rho[ends[1]] - run.rho[ends[0]]) + float(np.log(norms[1] / norms[0]))
    return grown * 0.5 * (rates[0] + rates[1])


def has_perceptron_sum(run: Run) -> bool:
    """Return True for flow, full-batch descent, and SGD on the training examples.

    Without a penalty, for two classes, from t = 0; a flow needs a homogeneous network.
    """
    dynamics = run.experiment.dynamics
    is_known = isinstance(dynamics, GradientDescent | GradientFlow) or (
        isinstance(dynamics, StochasticGradientDescent) and not dynamics.fresh
    )
    homogeneous = run.network.homogeneous or not isinstance(dynamics, GradientFlow)
    plain = (
        run.whole_run.complete and not run.has_changed_rule and not run.experiment.loss.is_penalised
    )
    return has_slopes(run) and is_known and homogeneous and plain


def loss_ratio(run: Run, index: int) -> float:
    """Return max over i, j of l'(p_i) / l'(p_j); inf beyond float64."""
    slopes = log_slopes(run, index)
    with np.errstate(over="ignore"):
        return float(np.exp(slopes.max() - slopes.min()))


def log10_loss_ratio(run: Run, index: int) -> float:
    """Return log10 of `loss_ratio`, finite also where the ratio overflows."""
    slopes = log_slopes(run, index)
    return float(slopes.max() - slopes.min()) / LN_10


def proxy_pl(run: Run, index: int) -> float:
    """Return |grad L| / (sqrt2 Rmin gamma Ghat/(3 R sqrt n)), Ghat = (1/n) sum |l'(p_i)|.

    R = Rmax/Rmin. At least 1 where (15) of frei23 holds. The common factor Ghat cancels.
    """
    network, slopes = run.network, log_slopes(run, index)
    assert isinstance(network, FixedOuter)
    with np.errstate(under="ignore"):
        # The factor cancels and can be chosen: with the largest weight 1 nothing overflows.
        weights = np.exp(slopes - slopes.max())
    weights /= weights.sum()
    slope = network.gradient(run.physical_parameters(index), run.inputs, run.dataset.y * weights)
    lengths = np.linalg.norm(run.dataset.x, axis=1)
    smallest, ratio = float(lengths.min()), float(lengths.max() / lengths.min())
    gamma = float(network.activation.slope)
    right = np.sqrt(2.0) * smallest * gamma / (3.0 * ratio * np.sqrt(run.dataset.n))
    return float(np.linalg.norm(slope)) / float(right)


def has_proxy_pl(run: Run) -> bool:
    """Return True for the fixed outer layer, with a positive leaky slope and no zero input."""
    network = run.network
    if not isinstance(network, FixedOuter) or not has_slopes(run):
        return False
    nonzero = bool((np.linalg.norm(run.dataset.x, axis=1) > 0.0).all())
    return network.activation.slope > 0.0 and nonzero


def pbar_margin(run: Run, index: int) -> float:
    """Return min_i <pbar, z_i(s)>, z_i = y_i beta * F(x_i; V(s)), with the initial pbar."""
    return float((signed_features(run, index) @ reference_distribution(run)).min())


OBSERVABLES = (
    Observable(
        "perceptron_sum",
        "perceptron sum",
        "int_0^t (1/n) sum_i |l'(p_i)| ds by a power of t between frames; for sgd sum_(s<t) of the "
        "same mean over the training examples, without the step size",
        "telgarsky22, Appendix B.1",
        perceptron_sum,
        applies=has_perceptron_sum,
        where="flow, gd and sgd on the training examples, two classes, no l2, from t = 0",
        tex=r"\int_0^t\frac{1}{n}\sum_i|\ell'(p_i)|\,ds",
        normalisation="with 1/n; for sgd a sum over steps, without the step size",
    ),
    Observable(
        "log10_perceptron_sum",
        "log10 of the perceptron sum",
        "log10 of perceptron_sum, which is NaN beyond 1e308; NaN at t = 0, where the sum is 0",
        "telgarsky22, Appendix B.1",
        log10_perceptron_sum,
        applies=has_perceptron_sum,
        where="flow, gd and sgd on the training examples, two classes, no l2, from t = 0",
        tex=r"\log_{10}\int_0^t\frac{1}{n}\sum_i|\ell'(p_i)|\,ds",
        normalisation="logarithm to base 10 of what has 1/n",
    ),
    Observable(
        "loss_ratio",
        "loss ratio",
        "max over i, j of l'(p_i) / l'(p_j); NaN beyond 1e308, see log10_loss_ratio",
        "frei23, Lemma E.4",
        loss_ratio,
        applies=has_slopes,
        where="two classes, losses with duals",
        tex=r"\max_{i,j}\frac{\ell'(p_i)}{\ell'(p_j)}",
        normalisation="a ratio",
    ),
    Observable(
        "log10_loss_ratio",
        "log10 of the loss ratio",
        "log10 of the max over i, j of l'(p_i) / l'(p_j), without overflow",
        "frei23, Lemma E.4",
        log10_loss_ratio,
        applies=has_slopes,
        where="two classes, losses with duals",
        tex=r"\log_{10}\max_{i,j}\frac{\ell'(p_i)}{\ell'(p_j)}",
        normalisation="logarithm to base 10 of a ratio",
    ),
    Observable(
        "proxy_pl",
        "proxy-PL ratio",
        "|grad L| / (sqrt2 Rmin gamma Ghat / (3 R sqrt n)), L with 1/n, Ghat = (1/n) sum -l'(p_i), "
        "R = Rmax/Rmin; the paper says at least 1",
        "frei23, equation 15",
        proxy_pl,
        applies=has_proxy_pl,
        where="fixed_outer with a positive slope",
        tex=r"\frac{3R\sqrt{n}\,|\nabla L|}{\sqrt{2}R_{\min}\gamma\,\hat G},\ "
        r"\hat G=-\frac{1}{n}\sum_i\ell'(p_i)",
        normalisation="a ratio; both sides with 1/n",
    ),
    Observable(
        "pbar_margin",
        "margin of pbar",
        "min_i <pbar, z_i>, z_i = y_i beta * F(x_i; V), |pbar|_1 = 1: largest margin at the start",
        "homogeneity, equation 5",
        pbar_margin,
        applies=has_pbar,
        where="networks whose outer weights are products a_j b_j",
        tex=r"\min_i\langle\bar p,z_i\rangle",
        normalisation="|pbar|_1 = 1 (l1)",
    ),
    Observable(
        "covering_radius",
        "covering radius of the start",
        "max_k min_j |v_j(0)/|v_j(0)| - beta_k|, Euclidean; beta_k known directions of the law",
        "telgarsky22, Lemma C.1",
        covering_radius,
        applies=knows_features,
        where="2-parity and cones",
        tex=r"\max_k\min_j|\frac{v_j(0)}{|v_j(0)|}-\beta_k|",
        normalisation="unit directions",
    ),
)
