"""homogeneity, Lemma B.1: the neurons of a wide start carry a good measure.

A measure u >= 0 (m,) on m neurons has the margin min_i <u, z_i> over n examples in R^d, z_i the
signed features of the start (`start_features`). 1/m is the vector of m entries 1/m, and gamma or
gamma_D the margin of `population_gamma`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from core.observables.observable import cached_per_run
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.homogeneity_mirror import START, of_homogeneity
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.telgarsky22_global import population_gamma, support_hypothesis

MOST_VALUES = 1_000_000  # n m of the features
REACHED = 1e-6  # of gamma/4: tolerated deficit of the margin of the computed measure


def can_sample(run: Run) -> bool:
    """Return True for the normalised network with two classes and n m <= MOST_VALUES.

    Any loss and dynamics.
    """
    small = run.dataset.n * run.network.m <= MOST_VALUES
    return run.network.kind == "normalised" and run.dataset.classes == 2 and small


def measure_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma B.1: |x_i| <= 1, start, gamma_D > 0, d >= 2, and width.

    m >= 2^10 ln^2(2 n/(delta gamma)) (8/gamma)^(2d-2); undecided if gamma_D is not known.
    """
    run, gamma = context.run, population_gamma(context)
    d, needed = run.dataset.d, common.NAN
    if gamma > 0.0:
        power = math.exp(min((2 * d - 2) * math.log(8.0 / gamma), 600.0))
        logarithm = common.log_term(2.0 * run.dataset.n / gamma, context.delta)
        needed = 2.0**10 * logarithm**2 * power
    return (
        common.unit_ball(run),
        common.paper_start(run, START),
        support_hypothesis(context, "gamma_D of the support"),
        common.at_least("dimension d", 2.0, float(d)),
        common.width(run, needed, "2^10 ln(2n/(delta gamma))^2 (8/gamma)^(2d-2)"),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class NearestMeasure:
    """Measure u (m,) of a margin that is nearest to 1/m, and its divergence D(u, 1/m).

    `divergence` is infinite if no measure with the margin was found. `u` then misses the margin.
    `ceiling` is a proved upper bound of max over 0 <= u <= 1/sqrt(m) of min_i <u, z_i>, NaN if the
    search found none.
    """

    divergence: float
    u: Array
    ceiling: float


def nearest_measure(Z: Array, margin: float) -> NearestMeasure:
    """Minimise D(u, 1/m) over <u, z_i> >= margin and 0 <= u_j <= 1/sqrt(m), for Z (n, m).

    Rows of Z are z_i. The margin may be missed by one part in 1e6. D(u, v) = <u, ln(u/v)> + <1, v -
    u>. By its dual: u_j = min(e^s_j/m, 1/sqrt m), s = Z' lambda, and lambda >= 0 maximises margin
    sum lambda + sum_j [u_j ln(m u_j) - u_j + 1/m - u_j s_j]. Any lambda bounds all margins by
    sum_j max(s_j, 0)/(sqrt(m) sum lambda).
    """
    from scipy.optimize import minimize  # slow to load
    from scipy.special import xlogy

    n, m = Z.shape
    # The lemma's bound on |u|, without which a smaller D could concentrate on few neurons.
    cap = 1.0 / math.sqrt(m)

    def measure(multipliers: Array) -> tuple[Array, Array]:
        """Return s = Z' lambda and the measure u of these multipliers lambda, both (m,)."""
        s = multipliers @ Z
        # Where e^s would overflow, `cap` is smaller anyway.
        return s, np.minimum(np.exp(np.minimum(s, 700.0)) / m, cap)

    def negative(multipliers: Array) -> tuple[float, Array]:
        """Return the negative dual value and its gradient (n,) in the multipliers."""
        s, u = measure(multipliers)
        value = margin * multipliers.sum() + (xlogy(u, m * u) - u + 1.0 / m - u * s).sum()
        return -float(value), Z @ u - margin

    # Below the cap D is largest for u = 0 or u = cap. If u exists, no dual value exceeds that.
    largest = max(1.0, m * (cap * math.log(m * cap) - cap) + 1.0)

    def stop(intermediate_result: Any) -> None:
        """Stop the search once the dual value shows that no measure has the margin."""
        if -intermediate_result.fun > 1.001 * largest:
            raise StopIteration

    options = {"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-12}
    bounds = [(0.0, None)] * n
    solution = minimize(
        negative,
        np.zeros(n),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=stop,
        options=options,
    )
    s, u = measure(np.asarray(solution.x))
    ceiling = common.divide(cap * float(np.maximum(s, 0.0).sum()), float(solution.x.sum()))
    # If no measure has the margin the dual is unbounded, and its iterates miss the margin.
    if (Z @ u).min() < margin * (1.0 - REACHED):
        return NearestMeasure(math.inf, u, ceiling)
    return NearestMeasure(float((xlogy(u, m * u) - u + 1.0 / m).sum()), u, ceiling)


def start_features(run: Run) -> Array:
    """Return the signed features of the start.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (n, m)
        z_i = y_i beta * relu(<v_j/|v_j|, x_i>) at t = 0, beta_j = sgn(a_j b_j).
    """
    parts, U = run.network.unpack(run.origin), run.network.nodes(run.origin)[1]
    signs = np.sign(parts["a"] * parts["b"])
    return np.asarray(run.dataset.y[:, None] * signs * np.maximum(run.inputs @ U.T, 0.0))


def compare_nearest_measure(context: Context) -> Comparison:
    """Test the least D(u, 1/m) of the start's measures of margin gamma/4 <= (d - 1) ln(48/gamma).

    If no measure has the margin gamma/4, test the `ceiling` of margins >= gamma/4 instead, which is
    violated. Undecided if gamma is not known, or the search ends without either. The run caches the
    measure.
    """
    run, gamma = context.run, population_gamma(context)
    if not gamma > 0.0:
        return common.leave_open("<=", common.NAN, common.NAN, "gamma_D is not known")
    measures, margin = _measures_of(run), gamma / 4.0
    if gamma not in measures:
        measures[gamma] = nearest_measure(start_features(run), margin)
    measure = measures[gamma]
    if math.isfinite(measure.divergence):
        return common.compare_once(
            "<=", (run.dataset.d - 1.0) * math.log(48.0 / gamma), measure.divergence
        )
    if not measure.ceiling < margin:
        return common.leave_open(">=", margin, common.NAN, "the search for a measure did not end")
    reason = "no measure has the margin gamma/4: the largest margin is measured, from above"
    return replace(common.compare_once(">=", margin, measure.ceiling), why=reason)


@cached_per_run
def _measures_of(run: Run) -> dict[float, NearestMeasure]:
    """Return the run's mutable cache of nearest measures by gamma, empty at the first call.

    gamma changes with known margins.
    """
    return {}


STATEMENTS = (
    of_homogeneity(
        "Lemma B.1",
        "A measure on the initial neurons attains a quarter of the margin.",
        r"\exists u \geq 0: \min_i \langle u, z_i \rangle \geq \gamma / 4, \quad D(u, 1 / m) \leq "
        r"(d - 1) \ln(48 / \gamma), \quad |u|_\infty \leq 1 / \sqrt{m}",
        can_sample,
        "the normalised network",
        measure_hypotheses,
        compare_nearest_measure,
        "d = 1 is left out: the bound on D is 0 there, and only u = 1/m has that. What is measured "
        "is the least D of the measures with the margin and the bound on |u|; where no measure has "
        "the margin, the largest margin is measured against gamma/4.",
    ),
)
