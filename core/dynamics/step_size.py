"""lambda_0, the curvature that limits the step of gradient descent at the start.

lambda_0 = lambda_max(J' H J)/n + 2 lambda, with J the derivative of the outputs in the trained
parameters, H the loss's curvature in the outputs (l''(p_i) for two classes) and lambda the
penalty's factor. Constant-step descent is safe below about 2/lambda_0; the default is 1/lambda_0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import Network, TwoLayer
from core.problem.problem import Problem
from core.study_file.momentum import Momentum
from core.study_file.sam import SharpnessAware

Array = NDArray[np.float64]
# Limits: an eigenvalue problem of 1,500 examples, or 160 MB of derivatives; beyond, products only.
DENSE_EXAMPLES = 1_500
DENSE_VALUES = 2e7
SAMPLED_EXAMPLES = 256
TRIED = 10  # steps in which the risk must not rise
ROUNDING = 1e-9  # relative to the risk
MOST_SHORTENED = 100  # 1/lambda_0 was up to 1e25 times too long


def jacobian(network: Network, flat: Array, inputs: Array) -> Array:
    """Return the derivative of the outputs in the trained parameters.

    Parameters
    ----------
    network : Network
        Network with k outputs.
    flat : array (size,)
        Trained parameters.
    inputs : array (n, D)
        Inputs x~.

    Returns
    -------
    array (n, size), or (n k, size) with the class fastest
        d f / d flat.
    """
    return np.array(list(network.output_slopes(flat, inputs)))


def lambda_0(problem: Problem, flat: Array | None = None) -> float:
    """Return lambda_0 at flat parameters, by default those the run starts from.

    Infinite where l'' overflows (margins below -700): no step is safe there.
    """
    flat = problem.physical_start() if flat is None else flat
    key = problem.dataset, problem.network, problem.experiment.loss
    return problem.last_lambda_0.value(key, flat, partial(_solve, problem, flat))


def _solve(problem: Problem, flat: Array) -> float:
    """Compute lambda_0 at `flat`, penalty included; inf where l'' is not finite."""
    network, n = problem.network, problem.dataset.n
    penalty = 2.0 * problem.experiment.loss.l2
    f = problem.outputs(flat)
    ones = problem.loss.output_curvature(f, problem.dataset.y, np.ones_like(f))
    if not np.isfinite(ones).all():
        return float("inf")
    # H^(1/2) J J' H^(1/2), (n, n), has the nonzero eigenvalues of J' H J.
    dense = isinstance(network, TwoLayer) or n * network.size <= DENSE_VALUES
    if network.k == 1 and n <= DENSE_EXAMPLES and dense:
        root = np.sqrt(ones)
        weighted = root[:, None] * network.gram(flat, problem.inputs) * root
        return float(np.linalg.eigvalsh(weighted)[-1]) / n + penalty
    return solve_by_lanczos(problem, flat, f) / n + penalty


def solve_by_lanczos(problem: Problem, flat: Array, f: Array) -> float:
    """Return lambda_max(J' H J), not divided by n, from products with J, H and J'.

    For many examples or classes.

    Parameters
    ----------
    problem : Problem
        Problem whose loss and network count.
    flat : array (size,)
        Trained parameters.
    f : array (n,) or (n, k)
        Outputs there.

    Returns
    -------
    float
        Eigenvalue to a relative 1e-8; 0 if no parameter moves.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    network, inputs, y = problem.network, problem.inputs, problem.dataset.y

    def product(w: Array) -> Array:
        df = network.derivative(flat, inputs, np.ravel(w))
        curved = problem.loss.output_curvature(f, y, df)
        return np.asarray(network.gradient(flat, inputs, curved))

    operator = LinearOperator((flat.size, flat.size), matvec=product, dtype=np.float64)
    # A fixed start, so that a run's default step is reproducible, and without a symmetry that could
    # hide the eigenvector.
    start = 1.0 + 0.3 * np.cos(1.0 + np.arange(flat.size) ** 2)
    if not product(start).any():  # dead neurons or zero weights: Lanczos has no start
        return 0.0
    return float(eigsh(operator, k=1, v0=start, tol=1e-8, return_eigenvectors=False)[0])


def pulls(problem: Problem) -> Array:
    """Return |l'_i| |x_i| at f = 0, by which each example pulls small neurons.

    Parameters
    ----------
    problem : Problem
        Problem of one output.

    Returns
    -------
    array (n,)
        With least squares and real y it is |y_i| |x_i|.
    """
    y = problem.dataset.y
    slope = np.abs(problem.loss.output_gradient(np.zeros(y.size), y))
    return np.asarray(slope * np.linalg.norm(problem.inputs, axis=1))


def growth_rate(problem: Problem) -> float:
    """Return (1/n) sum_i |l'_i| |x_i| at f = 0: no small neuron turns or grows faster than that."""
    return float(pulls(problem).mean())


def default_step(problem: Problem) -> float:
    """Return 1/lambda_0, or 1 where lambda_0 is zero (a network that cannot move).

    At most 1 for the networks with outer weights a_j b_j and a normalised inside: these start with
    sum |a_j b_j| = 1 and outputs near zero, so that lambda_0 says nothing about what comes. At most
    .1/`growth_rate` from a start of a chosen scale, for the same reason: where such a run has
    fitted regression data its curvature is 1 to 20 times that rate. Shorter, a `ShortenedStep`,
    where the first steps of this length would raise the risk.
    """
    value = lambda_0(problem)
    step = 1.0 / value if np.isfinite(value) and value > 0.0 else 1.0
    return _shorten_until_safe(problem, _cap_rate(problem, step, 1.0, np.mean))


def momentum_step(problem: Problem) -> float:
    """Return (1 - beta) times the step of descent: in a steady slope the velocity adds up to it."""
    dynamics = problem.experiment.dynamics
    assert isinstance(dynamics, Momentum)
    return (1.0 - dynamics.beta) * default_step(problem)


def sharpness_aware_step(problem: Problem) -> float:
    """Return the step of descent over 1 + rho lambda_0/|g|: half of the edge at the start."""
    dynamics = problem.experiment.dynamics
    assert isinstance(dynamics, SharpnessAware)
    step, flat = default_step(problem), problem.physical_start()
    slope, curvature = float(np.linalg.norm(objective_gradient(problem, flat))), lambda_0(problem)
    if not (np.isfinite(curvature) and slope > 0.0):
        return step
    return float(step) / (1.0 + dynamics.rho * curvature / slope)


@final
class ShortenedStep(float):
    """Default step that is shorter than 1/lambda_0, since that would raise the risk."""

    __slots__ = ()

    @property
    def note(self) -> str:
        """Sentence on the step that was shortened."""
        return (
            f"dynamics.step = {self:g} was chosen: the default 1/lambda_0 raises the risk at "
            "once, as the curvature grows along its steps."
        )


def _shorten_until_safe(problem: Problem, step: float) -> float:
    """Return the step, or a shorter one whose first `TRIED` steps do not raise the risk.

    Where margins are large and negative l'' is nearly 0, and so is lambda_0, although l' is not:
    with the logistic loss and columns up to 4,254 the first step of 1/lambda_0 multiplied the risk
    by 10^6 (m = 16) and 10^16 (m = 256). What counts is the curvature along the step,
    2 (R(W') - R(W) + eta |g|^2)/(eta |g|)^2.
    """
    start_risk = objective(problem, problem.physical_start())
    shortened = step
    for _ in range(MOST_SHORTENED if np.isfinite(start_risk) else 0):
        curvature = _curvature_along(problem, shortened, start_risk)
        if curvature is None:
            return step if shortened == step else ShortenedStep(round_down(shortened))
        shortened = min(shortened / 2.0, 1.0 / curvature if curvature > 0.0 else np.inf)
    return step  # no better one is known


def _curvature_along(problem: Problem, step: float, start_risk: float) -> float | None:
    """Return the mean curvature along the first step that raises the risk above `start_risk`.

    None if no step does; 0 if the curvature is beyond float64.
    """
    flat, value, eta = problem.physical_start(), start_risk, np.float64(step)
    with np.errstate(all="ignore"):
        for _ in range(TRIED):
            slope = objective_gradient(problem, flat)
            squared = slope @ slope
            flat = flat - eta * slope
            after = objective(problem, flat)
            if not after <= start_risk * (1.0 + ROUNDING):
                curvature = 2.0 * ((after - value) / eta + squared) / (eta * squared)
                return float(curvature) if np.isfinite(curvature) else 0.0
            value = after
    return None


def objective(problem: Problem, flat: Array) -> float:
    """Return R + lambda |W|^2 at flat parameters; infinite where a loss overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        risk = float(problem.loss.value(problem.scores(flat)).mean())
        return risk + problem.experiment.loss.l2 * float(flat @ flat)


def objective_gradient(problem: Problem, flat: Array) -> Array:
    """Return the gradient of `objective`.

    Parameters
    ----------
    problem : Problem
        Problem with loss.l2.
    flat : array (size,)
        Trained parameters.

    Returns
    -------
    array (size,)
        grad R + 2 lambda W.
    """
    slope = problem.loss.output_gradient(problem.outputs(flat), problem.dataset.y)
    gradient = problem.network.gradient(flat, problem.inputs, slope)
    l2 = problem.experiment.loss.l2
    return np.asarray(gradient / problem.dataset.n + 2.0 * l2 * flat)


def _cap_rate(
    problem: Problem, step: float, limit: float, rate_of: Callable[[Array], Any]
) -> float:
    """Return the step, capped at `limit`, or for a small start at a tenth of `limit` over its rate.

    `rate_of` makes one number of the examples' `pulls`. Networks that neither have a small start
    nor start near zero keep the step.
    """
    if problem.experiment.network.small_start:
        rate = float(rate_of(pulls(problem)))
        limit = 0.1 * limit / rate if np.isfinite(rate) and rate > 0.0 else limit
        return min(step, limit)
    return min(step, limit) if problem.network.starts_small else step


def round_down(value: float) -> float:
    """Return two significant digits, rounded down: a step that can be typed.

    >>> round_down(0.4491), round_down(7.199)
    (0.44, 7.1)
    """
    if not np.isfinite(value) or value <= 0.0:
        return value
    scale = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    # 1e-12: 0.29 / 0.01 is 28.999999999999996.
    return float(f"{np.floor(value / scale * (1.0 + 1e-12)) * scale:.2g}")


def largest_curvature(problem: Problem) -> float:
    """Return max_i lambda_max(H_i J_i J_i') + 2 lambda at the start, over at most 256 examples.

    J_i is the derivative of the outputs at x_i and H_i the loss's curvature there: for two classes
    l''(p_i) |grad f(x_i)|^2. No batch's curvature is larger.
    """
    network, flat = problem.network, problem.physical_start()
    largest = 0.0
    for i in range(min(problem.dataset.n, SAMPLED_EXAMPLES)):
        x, y = problem.inputs[i : i + 1], problem.dataset.y[i : i + 1]
        f = np.asarray(network.outputs(flat, x))
        J = jacobian(network, flat, x)
        units = [np.ones(1)] if network.k == 1 else [e[None] for e in np.eye(network.k)]
        H = np.array([np.ravel(problem.loss.output_curvature(f, y, e)) for e in units])
        with np.errstate(over="ignore", invalid="ignore"):
            product = H @ (J @ J.T)
        if not np.isfinite(product).all():
            return float("inf")
        # For several classes the product is not symmetric; its eigenvalues are those of J_i' H_i
        # J_i.
        largest = max(largest, float(np.abs(np.linalg.eigvals(product)).max()))
    return largest + 2.0 * problem.experiment.loss.l2


def stochastic_step(problem: Problem) -> float:
    """Return 1/(5 max_i l''(p_i) |grad f(x_i)|^2): a tenth of one example's edge at the start.

    The edge falls as the network grows: for the standard network of telgarsky22 with the logistic
    loss it is 16 d/(m + d) at the start, and below about .6 later. At most .02/max_i |l'_i| |x_i|
    from a start of a chosen scale. Shorter, a `ShortenedStep`, where steps of five times this
    length along the full gradient would raise the risk. Where the curvature is 0 or not finite,
    the formula's value is 1/5.
    """
    value = largest_curvature(problem)
    step = 0.2 / value if np.isfinite(value) and value > 0.0 else 0.2
    step = _cap_rate(problem, step, 0.2, np.max)
    safe = _shorten_until_safe(problem, 5.0 * step)
    return ShortenedStep(round_down(0.2 * safe)) if isinstance(safe, ShortenedStep) else step
