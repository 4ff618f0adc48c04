"""The hard margin in the space of the tangent kernel, the arc-cosine RKHS."""

from __future__ import annotations

from typing import final

import numpy as np

from core.data.dataset import Array
from core.network.kernel_predictor import tangent_kernel
from core.problem.problem import Problem
from core.reference.degenerate import rounding, why_not
from core.reference.hull import MOST_POINTS, coordinates, nearest
from core.reference.margin import Bracket, nothing, unresolved
from core.reference.sample import SampleMargin, binary
from core.reference.watch import Watch


@final
class KernelMargin(SampleMargin):
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
    version = 2
    most_examples = MOST_POINTS
    where = (
        "networks without biases that have both layers (standard, scalar, normalised), two classes"
    )

    def applies(self, problem: Problem) -> bool:
        return binary(problem) and problem.network.plain_relu

    def of_sample(self, problem: Problem, watch: Watch) -> Bracket:
        data = problem.dataset
        # What defeats every finite network defeats their limits, which the functions here are.
        why = why_not(data.x, data.y)
        if why:
            return nothing(f"The tangent kernel has no margin: {why}")
        K = tangent_kernel(data.x, data.x) * data.y[:, None] * data.y
        return in_space(K, rounding(data.d + data.n, float(K.diagonal().max())))


def in_space(K: Array, error: float) -> Bracket:
    """The margin of the kernel matrix K_ik y_i y_k (n, n), each entry good to `error`.

    With weights q: at most sqrt(q' K q), and f = sum_i q_i y_i k(x_i, .) has min_i (K q)_i over
    |f| = sqrt(q' K q). Both are read off K itself, since its square root is good to sqrt(eps) only.
    """
    q = nearest(coordinates(K)).q
    tight, size = K @ q, float(np.sqrt(K.diagonal().max()))
    square = max(float(q @ tight), 0.0)
    upper = float(np.sqrt(square + error))
    if not square > 0.0 or not tight.min() > error:
        why = "whether the tangent kernel separates the data is lost in rounding"
        return unresolved(upper, size, True, why)
    lower, value = (float(tight.min()) - error) / upper, float(tight.min() / np.sqrt(square))
    method = f"active-set NNLS, primal and dual; gap {upper - lower:.1e}"
    return Bracket(lower, upper, min(value, upper), True, method)
