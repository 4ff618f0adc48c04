"""The hard margin in the space of the tangent kernel, the arc-cosine RKHS."""

from __future__ import annotations

from typing import final

from core.network.kernel_predictor import tangent_kernel
from core.problem import Problem
from core.reference.hull import MOST_POINTS, TOO_MANY, coordinates, nearest
from core.reference.linear import bracket_of
from core.reference.margin import Bracket, Reference, absent
from core.reference.sample import binary, data_key, refusal
from core.reference.watch import Watch


@final
class KernelMargin(Reference):
    """max over |f|_H = 1 of min_i y_i f(x_i): both layers' weights, v ~ N(0, I/d).

    = min over q in the simplex of sqrt(q' Y K Y q), K the tangent kernel of
    core.network.kernel_predictor. It bounds theta in the mean square and not pointwise, and has no
    cutoff, so it is at least gamma_ntk.
    """

    name = "rkhs"
    title = "tangent kernel's margin"
    formula = (
        "max over |f|_H = 1 of min_i y_i f(x_i), kernel K1 + K2/d per node (arc-cosine, "
        "a ~ N(0, 1), v ~ N(0, I/d)); theta is bounded in mean square, not pointwise, so it is at "
        "least gamma_ntk. Not comparable with margins divided by |W|^2"
    )
    source = "telgarsky22, Assumption 1.3 (the kernel's weights); wei19, section 2"
    label = "RKHS margin"
    where = (
        "networks without biases that have both layers (standard, scalar, normalised), two classes"
    )

    def applies(self, problem: Problem) -> bool:
        kinds = ("standard", "scalar", "normalised")
        return binary(problem) and problem.network.kind in kinds

    def key(self, problem: Problem) -> str:
        return data_key(problem)

    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        sentence = refusal(problem)
        data = problem.dataset
        if sentence or data.n > MOST_POINTS:
            return absent(sentence or TOO_MANY)
        watch.look()
        K = tangent_kernel(data.x, data.x) * data.y[:, None] * data.y
        try:
            return bracket_of(nearest(coordinates(K)), "the tangent kernel")
        except ArithmeticError as error:
            return absent(str(error))
