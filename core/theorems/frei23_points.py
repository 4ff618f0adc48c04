"""frei23, Theorem 3.2: KKT points of the leaky network on nearly orthogonal data.

p_i = y_i f(x_i) are margins, y_i = +-1. The m_1 neurons with a_j > 0 are v_j, the m_2 with a_j < 0
are u_j, v and u their means; gamma is the slope of the leaky ReLU, and lambda_i are multipliers of
p_i >= 1. Problem (3) is the reduced max-margin problem in v and u.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import final

import numpy as np

from core.network.standard import FixedOuter
from core.observables.registry import OBSERVABLES
from core.observables.testing import points_of
from core.reference.leaky import solve_leaky_problem
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.frei23_data import (
    input_length_range,
    is_leaky_flow,
    leaky_slope,
    near_orthogonal,
    network_hypotheses,
    of_frei23,
)
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.states import State, state_of

TOLERANCE = 1e-3  # tolerance of the items of Theorem 3.2 at a KKT point accurate to CLOSE
CLOSE = 1e-4  # largest residual and complementarity of a KKT point
KKT = "kkt_residual"


def has_certificate(run: Run) -> bool:
    """Return True for `is_leaky_flow` where the observable `kkt_residual` applies: few examples."""
    return is_leaky_flow(run) and OBSERVABLES[KKT].applies(run)


# --------------------------------------------------------------------------- Theorem 3.2, items


@final
class KktPoint:
    """Parameters of the last frame scaled to min_i p_i = 1, for a network with fixed outer weights.

    `plus` and `minus` are the scaled rows of V with a_j > 0 and a_j < 0, and v and u their means
    (D,). z (D,) is the sum of a_j times row j of V, and p (n,) the scaled margins. All these are
    NaN unless the least unscaled margin, `least`, is positive. x (n, D) are the run's network
    inputs, y the labels, and m counts neurons.
    """

    def __init__(self, run: Run) -> None:
        """Read the last frame of a run with a `FixedOuter` network."""
        assert isinstance(run.network, FixedOuter)
        flat = run.parameters(run.frames - 1)
        p = run.network.margins(flat, run.inputs, run.dataset.y)
        self.least = float(p.min())
        # V/min p has smallest margin 1, since f is of degree 1 in V.
        scale = 1.0 / self.least if self.least > 0.0 else common.NAN
        self.p = np.asarray(p * scale)
        V = scale * run.network.unpack(flat)["V"]
        a = run.network.fixed["a"]
        self.plus, self.minus = V[a > 0.0], V[a < 0.0]
        self.m = run.network.m
        self.v, self.u = _mean(self.plus), _mean(self.minus)
        self.z = (a[:, None] * V).sum(axis=0)
        self.x, self.y = run.inputs, run.dataset.y


def _mean(group: Array) -> Array:
    """Return the mean row of a group of neurons; the zero vector for an empty group."""
    return np.asarray(group.sum(axis=0) / max(len(group), 1))


def kkt_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem 3.2: the network's two, `near_orthogonal`, a KKT point.

    A KKT point has a `kkt_residual` <= `CLOSE` at the last frame. Earlier frames are OPEN.
    """
    run = context.run
    residual = float(OBSERVABLES[KKT].value_at(run, run.frames - 1))
    point = common.at_most("W is a KKT point: residual at the last frame", CLOSE, residual)
    # A residual requires a least-squares problem, solved for the last frame only.
    states_of_frames = np.full(run.frames, State.OPEN, dtype=np.int8)
    states_of_frames[-1] = state_of(point.met)
    return (*network_hypotheses(run), near_orthogonal(run), replace(point, at=states_of_frames))


def why_not_near(context: Context) -> str:
    """Return why the last frame is not a KKT point; "" if it is.

    `kkt_residual` and `complementarity` must both be <= `CLOSE`, and not NaN.
    """
    run = context.run
    residual = float(OBSERVABLES[KKT].value_at(run, run.frames - 1))
    slack = float(OBSERVABLES["complementarity"].value_at(run, run.frames - 1))
    # Both are needed: the multipliers of the residual may be on examples with p_i > 1, which only
    # the slack shows.
    if residual <= CLOSE and slack <= CLOSE:
        return ""
    return (
        f"not a KKT point yet: residual {common.format_number(residual)}, complementarity "
        f"{common.format_number(slack)}, both to be below {CLOSE:g}"
    )


def make_item_comparison(
    measure: Callable[[KktPoint, Context], float], bound: float = TOLERANCE, sense: str = "<="
) -> Callable[[Context], Comparison]:
    """Return the function that compares a number of the last frame's KKT point with a bound.

    Parameters
    ----------
    measure : callable
        Computes the number from the point and the context.
    bound : float
        Bound of the number.
    sense : str
        "<=" or ">=": measured `sense` bound.

    Returns
    -------
    callable
        Its comparison leaves a violation open while the last frame is not a KKT point
        (`why_not_near`). A number that meets the bound holds even then. Undecided, without
        a number, while some margin is not positive.
    """

    def compare(context: Context) -> Comparison:
        """Compare the measured number of the last frame with the bound."""
        point = KktPoint(context.run)
        if not point.least > 0.0:
            reason = "some example is on the wrong side: no W has min p = 1"
            return replace(common.leave_open(sense, bound, common.NAN, reason), frame=-1)
        comparison = common.compare_once(sense, bound, measure(point, context), frame=-1)
        reason = why_not_near(context)
        # An item that fails before the run is near its limit contradicts nothing.
        if comparison.holds or not reason:
            return comparison
        return replace(common.leave_open(sense, bound, comparison.measured, reason), frame=-1)

    return compare


def largest_margin_deviation(point: KktPoint, context: Context) -> float:
    """Return max_i |p_i - 1| of the scaled margins, at most `TOLERANCE` by item 1."""
    return float(np.abs(point.p - 1.0).max())


def largest_neuron_spread(point: KktPoint, context: Context) -> float:
    """Return max_j |v_j - v|/|v| and |u_j - u|/|u|, the larger of both: item 2.

    Signs without neurons, or with zero neurons alone, count as 0. Infinite if v or u vanishes
    otherwise.
    """
    worst = 0.0
    for group, mean in ((point.plus, point.v), (point.minus, point.u)):
        if len(group):
            spread = np.linalg.norm(group - mean, axis=1).max() / np.linalg.norm(mean)
            worst = max(worst, float(spread))
    return worst


def multipliers(point: KktPoint, context: Context) -> Array:
    """Return lambda of the optimum of problem (3) for the run's data and numbers m_1, m_2.

    Parameters
    ----------
    point : KktPoint
        Its data and m_1, m_2 are used, not its weights.
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (n,)
        Not negative; NaN if problem (3) has no known optimum.
    """
    plus, minus = len(point.plus) / point.m, len(point.minus) / point.m
    best = solve_leaky_problem(point.x, point.y, plus, minus, leaky_slope(context.run))
    return np.full(point.y.shape, np.nan) if best is None else best.multipliers


def distance_from_formula(point: KktPoint, context: Context) -> float:
    """Return |(v, u) - (v*, u*)|/|(v*, u*)|, (v*, u*) the formulas of item 3 in `multipliers`.

    v* = (sum_+ lambda_i x_i - gamma sum_- lambda_i x_i)/sqrt(m), sums over y_i = 1 and y_i = -1. u*
    has both sums exchanged.
    """
    # 1/sqrt(m) is |a_j|.
    weights = multipliers(point, context) / math.sqrt(point.m)
    positive, gamma = point.y > 0.0, leaky_slope(context.run)
    first = (weights * positive) @ point.x
    second = (weights * ~positive) @ point.x
    v, u = first - gamma * second, second - gamma * first
    difference = np.linalg.norm(np.concatenate([point.v - v, point.u - u]))
    return float(difference / np.linalg.norm(np.concatenate([v, u])))


def scaled_smallest_multiplier(point: KktPoint, context: Context) -> float:
    """Return 2 Rmax^2 min_i lambda_i, at least 1 by item 3; Rmax = max |x_i|, `multipliers`."""
    high = input_length_range(context.run)[1]
    return float(multipliers(point, context).min()) * 2.0 * high**2


def scaled_largest_multiplier(point: KktPoint, context: Context) -> float:
    """Return (2/3) gamma^2 Rmin^2 max_i lambda_i, at most 1 by item 3; Rmin = min |x_i|."""
    low = input_length_range(context.run)[0]
    return (
        float(multipliers(point, context).max())
        * 2.0
        * leaky_slope(context.run) ** 2
        * low**2
        / 3.0
    )


def smallest_signed_product(point: KktPoint, context: Context) -> float:
    """Return the least of y_i <v, x_i> and -y_i <u, x_i> over all i, positive by item 3 (signs)."""
    v, u = point.y * (point.x @ point.v), -point.y * (point.x @ point.u)
    return float(min(v.min(), u.min()))


def excess_objective(point: KktPoint, context: Context) -> float:
    """Return |W|^2/|W*|^2 - 1, W scaled to min p = 1; NaN if `leaky_optimum` is not known.

    1/|W*| is the upper end of that reference margin, so that the excess is taken from above.
    """
    # The reference margin is 1/|W*|.
    best = context.upper("leaky_optimum")
    squared = float((point.plus**2).sum() + (point.minus**2).sum())
    return squared * best**2 - 1.0


def excess_reduced_objective(point: KktPoint, context: Context) -> float:
    """Return (m_1 |v|^2 + m_2 |u|^2)/|W*|^2 - 1, W* as in `excess_objective`; NaN if not known."""
    best = context.upper("leaky_optimum")
    value = len(point.plus) * float(point.v @ point.v) + len(point.minus) * float(point.u @ point.u)
    return value * best**2 - 1.0


def share_of_disagreements(point: KktPoint, context: Context) -> float:
    """Return the share of points with sign f(x) != sign <z, x>, f of the last frame.

    The points are the test points. In row-space form, or without test points, they are the training
    examples.
    """
    run = context.run
    points = points_of(run)
    inputs = point.x  # in row-space form z is known along the training data only
    if points is not None and run.reduction is None:
        inputs, _ = run.as_network_inputs(points.x)
    outputs = run.network.outputs(run.parameters(run.frames - 1), inputs)
    return float((np.sign(outputs) != np.sign(inputs @ point.z)).mean())


def smallest_linear_margin(point: KktPoint, context: Context) -> float:
    """Return min_i y_i <z, x_i>, z the sum over all neurons j of a_j times row j of V.

    At least 1 by item 7.
    """
    return float((point.y * (point.x @ point.z)).min())


def relative_linear_norm(point: KktPoint, context: Context) -> float:
    """Return |z| over (2/(kappa + gamma)) |z*|, kappa^2 = min(m_1, m_2)/max(m_1, m_2).

    |z*| = 1/gamma_linear, from the proved lower end; NaN if gamma_linear is not known.
    """
    first, second = len(point.plus), len(point.minus)
    kappa = math.sqrt(min(first, second) / max(first, second))
    allowed = common.divide(2.0 / (kappa + leaky_slope(context.run)), context.lower("gamma_linear"))
    return float(np.linalg.norm(point.z)) / allowed


def linear_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of item 7: `kkt_hypotheses`, and gamma_linear > 0."""
    separable = common.positive(context, "gamma_linear", "linearly separable data")
    return (*kkt_hypotheses(context), separable)


WHERE = "fixed_outer with a leaky ReLU under gradient flow"
CERTIFIED = (has_certificate, WHERE)
FLOWED = (*CERTIFIED, kkt_hypotheses)
LINEAR = (*CERTIFIED, linear_hypotheses)
ROOM = f" (to {TOLERANCE:g})"
STATEMENTS = (
    of_frei23(
        "Theorem 3.2, item 1",
        f"All margins are equal{ROOM}.",
        r"y_i f(x_i; W) = 1 \quad \mathrm{for\ all\ } i",
        *FLOWED,
        make_item_comparison(largest_margin_deviation),
    ),
    of_frei23(
        "Theorem 3.2, item 2",
        f"Neurons of one sign are equal, so that W has rank 2{ROOM}.",
        r"v_1 = \ldots = v_{m_1} = v, \quad u_1 = \ldots = u_{m_2} = u",
        *FLOWED,
        make_item_comparison(largest_neuron_spread),
    ),
    of_frei23(
        "Theorem 3.2, item 3",
        f"v and u are sums over the examples{ROOM}.",
        r"v = \frac{1}{\sqrt{m}} \left(\sum_{I_+} \lambda_i x_i - \gamma \sum_{I_-} \lambda_i "
        r"x_i\right)",
        *FLOWED,
        make_item_comparison(distance_from_formula),
    ),
    of_frei23(
        "Theorem 3.2, item 3 (signs)",
        "v sees its own class, u the other one.",
        r"y_i \langle v, x_i \rangle > 0, \quad y_i \langle u, x_i \rangle < 0",
        *FLOWED,
        make_item_comparison(smallest_signed_product, 0.0, ">="),
    ),
    of_frei23(
        "Theorem 3.2, item 3 (lower)",
        "No multiplier is small.",
        r"2 R_{\max}^2\, \lambda_i \geq 1",
        *FLOWED,
        make_item_comparison(scaled_smallest_multiplier, 1.0, ">="),
    ),
    of_frei23(
        "Theorem 3.2, item 3 (upper)",
        "No multiplier is large.",
        r"\frac{2}{3} \gamma^2 R_{\min}^2\, \lambda_i \leq 1",
        *FLOWED,
        make_item_comparison(scaled_largest_multiplier, 1.0),
    ),
    of_frei23(
        "Theorem 3.2, item 4",
        f"W is the global optimum{ROOM}.",
        r"\Vert W \Vert^2 / \Vert W^* \Vert^2 - 1 \leq 0",
        *FLOWED,
        make_item_comparison(excess_objective),
    ),
    of_frei23(
        "Theorem 3.2, item 5",
        f"(v, u) is the optimum of problem (3){ROOM}.",
        r"\frac{m_1}{2} \Vert v \Vert^2 + \frac{m_2}{2} \Vert u \Vert^2 \quad \mathrm{minimal}",
        *FLOWED,
        make_item_comparison(excess_reduced_objective),
    ),
    of_frei23(
        "Theorem 3.2, item 6",
        f"The network's sign is that of a linear predictor{ROOM}.",
        r"\mathrm{sign} f(x) = \mathrm{sign} \langle z, x \rangle",
        *FLOWED,
        make_item_comparison(share_of_disagreements),
    ),
    of_frei23(
        "Theorem 3.2, item 7 (margins)",
        f"z separates the data with margin 1{ROOM}.",
        r"y_i \langle z, x_i \rangle \geq 1",
        *LINEAR,
        make_item_comparison(smallest_linear_margin, 1.0 - TOLERANCE, ">="),
    ),
    of_frei23(
        "Theorem 3.2, item 7 (norm)",
        f"z is nearly the max-margin predictor{ROOM}.",
        r"\Vert z \Vert \leq \frac{2}{\kappa + \gamma} \Vert z^* \Vert",
        *LINEAR,
        make_item_comparison(relative_linear_norm, 1.0 + TOLERANCE),
    ),
)
