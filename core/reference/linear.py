"""The linear hard margin without intercept."""

from __future__ import annotations

from typing import final

import numpy as np

from core.problem.problem import Problem
from core.reference.hull import MOST_POINTS, Separation, nearest
from core.reference.margin import Bracket, nothing, unresolved
from core.reference.sample import SampleMargin, signed
from core.reference.watch import Watch


def bracket_of(best: Separation, what: str, divisor: float = 1.0, error: float = 0.0) -> Bracket:
    """The bracket of a separation with its gap, divided by `divisor`; `error` is that of the rows.

    The value is the primal one, attained by a predictor. Where rounding could hide its sign there
    is an upper bound alone, and where weights q with G' q = 0 are proved to exist no margin.
    """
    if best.farkas:
        return nothing(
            f"These data are not separable by {what}: weights q >= 0 of sum 1 (Farkas) have "
            f"|sum_i q_i y_i x_i| = {best.upper:.1e} at {int((best.q > 0).sum())} examples, "
            f"where the longest is {best.scale:.3g}."
        )
    slack = best.slack + error
    # Widened by rounding: a proof in floating point is one up to what its sums may be off.
    lower, upper = (best.lower - slack) / divisor, (best.upper + slack) / divisor
    if not lower > 0.0:
        why = f"whether {what} separates the data is lost in rounding"
        return unresolved(upper, best.scale / divisor, True, why)
    gap = max(best.upper - best.lower, 0.0) / divisor
    method = f"active-set NNLS, primal and dual; gap {gap:.1e}"
    return Bracket(lower, upper, min(best.lower / divisor, upper), True, method)


@final
class LinearMargin(SampleMargin):
    """gamma_linear: the hard-margin SVM through the origin."""

    name = "gamma_linear"
    title = "linear margin"
    formula = (
        "max over |u| = 1 of min_i y_i <u, x_i>, no intercept. As a network with |W|^2 = |a|^2 + "
        "|V|^2 the predictor u has half of it, which is the line in the plot"
    )
    source = "telgarsky22, Proposition 1.5 and 2.6 (not halved there)"
    label = "gamma_linear / 2"
    factor = 0.5
    version = 2
    most_examples = MOST_POINTS

    def drawn_in(self, problem: Problem) -> bool:
        """A linear predictor is a ReLU network of margin gamma_linear / 2, but no leaky one."""
        return problem.network.plain_relu

    def of_sample(self, problem: Problem, watch: Watch) -> Bracket:
        # Not scikit-learn's SVC: its intercept cannot be switched off, so that its margin is
        # another one on unbalanced data (docs/theory.md, 9).
        G = np.unique(signed(problem), axis=0)
        return bracket_of(nearest(G), "a hyperplane through the origin")
