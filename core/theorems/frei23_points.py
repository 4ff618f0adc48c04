"""frei23, Theorem 3.2: KKT points of the leaky network on nearly orthogonal data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import final

import numpy as np

from core.network.standard import FixedOuter
from core.observables.registry import OBSERVABLES
from core.observables.testing import points_of
from core.reference.leaky import optimum
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis, Statement
from core.theorems.states import State, state_of

of_frei23 = partial(Statement, "frei23")
TOLERANCE = 1e-3  # tolerance of the items of Theorem 3.2 at a KKT point accurate to CLOSE
CLOSE = 1e-4
KKT = "kkt_residual"


def is_leaky(run: Run) -> bool:
    """Return True for a fixed outer layer, leaky slope in (0, 1), two classes, a monotone loss."""
    network = run.network
    if not isinstance(network, FixedOuter) or not run.experiment.loss.exp_tailed:
        return False
    return network.homogeneous and 0.0 < network.activation.slope < 1.0


def is_leaky_flow(run: Run) -> bool:
    return is_leaky(run) and common.follows_gradient(run)


def has_certificate(run: Run) -> bool:
    """Return True for leaky networks under gradient flow and few enough examples for a residual."""
    return is_leaky_flow(run) and OBSERVABLES[KKT].applies(run)


def leaky_slope(run: Run) -> float:
    """Return gamma, the slope of the leaky ReLU."""
    assert isinstance(run.network, FixedOuter)
    return float(run.network.activation.slope)


def input_length_range(run: Run) -> tuple[float, float]:
    """Return (Rmin, Rmax) of |x_i|."""
    sizes = np.linalg.norm(run.dataset.x, axis=1)
    return float(sizes.min()), float(sizes.max())


def input_length_ratio(run: Run) -> float:
    """Return R = Rmax/Rmin; infinite if an input is zero."""
    low, high = input_length_range(run)
    return high / low if low > 0.0 else math.inf


def coherence(run: Run) -> float:
    """Return P = max over i != j of |<x_i, x_j>|."""
    gram = np.abs(run.dataset.x @ run.dataset.x.T)
    np.fill_diagonal(gram, 0.0)
    return float(gram.max())


def orthogonality(run: Run, formula: str, factor: float) -> Hypothesis:
    """Return the hypothesis Rmin^2 >= factor n P, which fails if an input is zero.

    Parameters
    ----------
    run : Run
        Open run of a leaky network.
    formula : str
        Text of the factor.
    factor : float
        Factor of n P.
    """
    low, _ = input_length_range(run)
    text = f"near-orthogonal data: Rmin^2 >= {formula} n P"
    if low == 0.0:
        return Hypothesis(text, "> 0", "an input is zero", False)
    return common.at_least(text, factor * run.dataset.n * coherence(run), low**2)


def near_orthogonal(run: Run) -> Hypothesis:
    """Return the hypothesis of Theorem 3.2 on the data."""
    return orthogonality(
        run, "3 gamma^-3 R^2", 3.0 * leaky_slope(run) ** -3 * input_length_ratio(run) ** 2
    )


def outer_layer(run: Run) -> Hypothesis:
    """Return the hypothesis a_j = +-1/sqrt(m), up to rounding; a file may contain others."""
    network = run.network
    assert isinstance(network, FixedOuter)
    difference = float(np.abs(np.abs(network.fixed["a"]) * math.sqrt(run.network.m) - 1.0).max())
    text = "outer weights a_j = +-1/sqrt(m): max_j | |a_j| sqrt(m) - 1 |"
    return common.at_most(text, common.ROUNDING, difference)


def both_signs(run: Run) -> Hypothesis:
    """Return the hypothesis of m_1, m_2 >= 1 nodes of each sign."""
    network = run.network
    assert isinstance(network, FixedOuter)
    a = network.fixed["a"]
    fewer = min(int((a > 0.0).sum()), int((a < 0.0).sum()))
    return common.at_least("neurons of each sign m_1, m_2", 1.0, float(fewer))


def network_hypotheses(run: Run) -> tuple[Hypothesis, Hypothesis]:
    """Return the assumptions of section 3, from (2) on, about the network."""
    return outer_layer(run), both_signs(run)


def flow_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    run = context.run
    return (
        *network_hypotheses(run),
        near_orthogonal(run),
        common.flow(run),
        common.exp_tailed(run),
    )


# --------------------------------------------------------------------------- Theorem 3.2, items


@final
class KktPoint:
    """W of the last frame scaled to min_i p_i = 1: groups of nodes, z, and p."""

    def __init__(self, run: Run) -> None:
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
    """Return the mean of a group of nodes; zero if empty, as for m = 1."""
    return np.asarray(group.sum(axis=0) / max(len(group), 1))


def kkt_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    run = context.run
    residual = float(OBSERVABLES[KKT].value_at(run, run.frames - 1))
    point = common.at_most("W is a KKT point: residual at the last frame", CLOSE, residual)
    # A residual requires a least-squares problem, solved for the last frame only.
    states_of_frames = np.full(run.frames, State.OPEN, dtype=np.int8)
    states_of_frames[-1] = state_of(point.met)
    return (*network_hypotheses(run), near_orthogonal(run), replace(point, at=states_of_frames))


def why_not_near(context: Context) -> str:
    """Return why the last frame is not a KKT point to the tolerance; "" if it is."""
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
    """Return the comparison of a residual of the KKT point with a bound, undecided far from one.

    `measure` computes the residual, `sense` is "<=" or ">=".
    """

    def compare(context: Context) -> Comparison:
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
    return float(np.abs(point.p - 1.0).max())


def largest_neuron_spread(point: KktPoint, context: Context) -> float:
    worst = 0.0
    for group, mean in ((point.plus, point.v), (point.minus, point.u)):
        if len(group):
            spread = np.linalg.norm(group - mean, axis=1).max() / np.linalg.norm(mean)
            worst = max(worst, float(spread))
    return worst


def multipliers(point: KktPoint, context: Context) -> Array:
    """Return lambda of the optimum of (3).

    Returns
    -------
    array (n,)
        NaN without an optimum.
    """
    plus, minus = len(point.plus) / point.m, len(point.minus) / point.m
    best = optimum(point.x, point.y, plus, minus, leaky_slope(context.run))
    return np.full(point.y.shape, np.nan) if best is None else best.multipliers


def distance_from_formula(point: KktPoint, context: Context) -> float:
    """Return the relative distance of v and u from their formulas in lambda."""
    # 1/sqrt(m) is |a_j|.
    weights = multipliers(point, context) / math.sqrt(point.m)
    positive, gamma = point.y > 0.0, leaky_slope(context.run)
    first = (weights * positive) @ point.x
    second = (weights * ~positive) @ point.x
    v, u = first - gamma * second, second - gamma * first
    difference = np.linalg.norm(np.concatenate([point.v - v, point.u - u]))
    return float(difference / np.linalg.norm(np.concatenate([v, u])))


def scaled_smallest_multiplier(point: KktPoint, context: Context) -> float:
    high = input_length_range(context.run)[1]
    return float(multipliers(point, context).min()) * 2.0 * high**2


def scaled_largest_multiplier(point: KktPoint, context: Context) -> float:
    low = input_length_range(context.run)[0]
    return (
        float(multipliers(point, context).max())
        * 2.0
        * leaky_slope(context.run) ** 2
        * low**2
        / 3.0
    )


def smallest_signed_product(point: KktPoint, context: Context) -> float:
    """Return min over i of y_i <v, x_i> and -y_i <u, x_i>, positive if the item holds."""
    v, u = point.y * (point.x @ point.v), -point.y * (point.x @ point.u)
    return float(min(v.min(), u.min()))


def excess_objective(point: KktPoint, context: Context) -> float:
    """Return |W|^2 over that of the optimum, minus 1."""
    # The reference margin is 1/|W*|.
    best = context.upper("leaky_optimum")
    squared = float((point.plus**2).sum() + (point.minus**2).sum())
    return squared * best**2 - 1.0


def excess_reduced_objective(point: KktPoint, context: Context) -> float:
    """Return (m_1 |v|^2 + m_2 |u|^2) over that of the optimum of (3), minus 1."""
    best = context.upper("leaky_optimum")
    value = len(point.plus) * float(point.v @ point.v) + len(point.minus) * float(point.u @ point.u)
    return value * best**2 - 1.0


def share_of_disagreements(point: KktPoint, context: Context) -> float:
    """Return the share of points with sign f(x) != sign <z, x>.

    They are the test points, or in row-space form the examples.
    """
    run = context.run
    points = points_of(run)
    inputs = point.x  # in row-space form z is known along the training data only
    if points is not None and run.reduction is None:
        inputs, _ = run.as_network_inputs(points.x)
    outputs = run.network.outputs(run.parameters(run.frames - 1), inputs)
    return float((np.sign(outputs) != np.sign(inputs @ point.z)).mean())


def smallest_linear_margin(point: KktPoint, context: Context) -> float:
    return float((point.y * (point.x @ point.z)).min())


def relative_linear_norm(point: KktPoint, context: Context) -> float:
    """Return |z| over (2/(kappa + gamma)) |z*|, |z*| = 1/gamma_linear."""
    first, second = len(point.plus), len(point.minus)
    kappa = math.sqrt(min(first, second) / max(first, second))
    allowed = common.divide(2.0 / (kappa + leaky_slope(context.run)), context.lower("gamma_linear"))
    return float(np.linalg.norm(point.z)) / allowed


def linear_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
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
