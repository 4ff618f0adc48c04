"""Hard margins that are linear in features: of x, the tangent kernel, and batch norm."""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np

from core.data.dataset import Array
from core.network.kernel_predictor import tangent_kernel
from core.network.normalised_network import BatchNorm
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import (
    MOST_POINTS,
    Separation,
    explain_no_margin,
    gram_coordinates,
    rounding_bound,
    separate_from_origin,
)
from core.reference.margin import (
    Bracket,
    SampleMargin,
    absent_bracket,
    data_key,
    has_binary_labels,
    signed_inputs,
    unresolved_bracket,
    zero_bracket,
)


def bracket_of(best: Separation, subject: str, divisor: float = 1.0, error: float = 0.0) -> Bracket:
    """Return the bracket of a separation with its gap.

    The value is the primal one, attained by a predictor. If rounding could hide its sign the
    bracket has an upper bound alone; if weights q with G' q = 0 are proved to exist it has no
    margin.

    Parameters
    ----------
    best : Separation
        Separation of the rows y_i times features.
    subject : str
        Kind of predictor, for sentences.
    divisor : float
        Divides both bounds and the value.
    error : float
        Error of the rows.

    Returns
    -------
    Bracket
        Certified bracket.
    """
    if best.farkas:
        return zero_bracket(
            f"These data are not separable by {subject}: weights q >= 0 of sum 1 (Farkas) have "
            f"|sum_i q_i y_i x_i| = {best.upper:.1e} at {int((best.q > 0).sum())} examples, "
            f"where the longest is {best.scale:.3g}."
        )
    slack = best.slack + error
    # Widened by rounding: a proof in floating point holds up to the error of its sums.
    lower, upper = (best.lower - slack) / divisor, (best.upper + slack) / divisor
    if not lower > 0.0:
        reason = f"separability by {subject} is lost in rounding"
        return unresolved_bracket(upper, best.scale / divisor, True, reason)
    gap = max(best.upper - best.lower, 0.0) / divisor
    method = f"active-set NNLS, primal and dual; gap {gap:.1e}"
    return Bracket(lower, upper, min(best.lower / divisor, upper), True, method)


@final
class LinearMargin(SampleMargin):
    """gamma_linear: margin of the hard-margin SVM through the origin."""

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

    def is_comparable(self, problem: Problem) -> bool:
        """Return True for plain ReLU networks.

        A linear predictor is a ReLU network of margin gamma_linear / 2, but no leaky one.
        """
        return problem.network.plain_relu

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        # Not scikit-learn's SVC: it always fits an intercept, which changes the margin on
        # unbalanced data (docs/theory.md, 9).
        G = np.unique(signed_inputs(problem), axis=0)
        return bracket_of(separate_from_origin(G), "a hyperplane through the origin")


# -------------------------------------------------------------------------------- tangent kernel


@final
class KernelMargin(SampleMargin):
    """Margin in the tangent kernel's space, max over |f|_H = 1 of min_i y_i f(x_i).

    Both layers' weights, v ~ N(0, I/d). It equals min over q in the simplex of sqrt(q' Y K Y q), K
    the tangent kernel of core.network.kernel_predictor. It bounds theta in the mean square and not
    pointwise, and has no cutoff, so it is at least gamma_ntk.
    """

    name = "rkhs"
    title = "tangent kernel's margin"
    formula = (
        "max over |f|_H = 1 of min_i y_i f(x_i), kernel K1 + K2/d per neuron (arc-cosine, "
        "a ~ N(0, 1), v ~ N(0, I/d)); theta is bounded in mean square, not pointwise, so it is at "
        "least gamma_ntk. Not comparable with margins divided by |W|^2"
    )
    source = "telgarsky22, Assumption 1.3 (the kernel's weights); wei19, section 2"
    label = "RKHS margin"
    plain_relu = True
    version = 2
    most_examples = MOST_POINTS
    where = (
        "networks without biases that have both layers (standard, scalar, normalised), two classes"
    )

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        data = problem.dataset
        # Data that no finite network separates are not separated by limits of networks either.
        reason = explain_no_margin(data.x, data.y)
        if reason:
            return zero_bracket(f"The tangent kernel has no margin: {reason}")
        K = tangent_kernel(data.x, data.x) * data.y[:, None] * data.y
        return bracket_in_kernel_space(
            K, rounding_bound(data.d + data.n, float(K.diagonal().max()))
        )


def bracket_in_kernel_space(K: Array, error: float) -> Bracket:
    """Return the bracket of the kernel matrix K_ik y_i y_k (n, n), with entries good to `error`.

    With weights q: at most sqrt(q' K q), and f = sum_i q_i y_i k(x_i, .) has min_i (K q)_i over
    |f| = sqrt(q' K q). Both are read off K itself, since its square root is good to sqrt(eps) only.
    """
    q = separate_from_origin(gram_coordinates(K)).q
    tight, size = K @ q, float(np.sqrt(K.diagonal().max()))
    square = max(float(q @ tight), 0.0)
    upper = float(np.sqrt(square + error))
    if not square > 0.0 or not tight.min() > error:
        reason = "separability by the tangent kernel is lost in rounding"
        return unresolved_bracket(upper, size, True, reason)
    lower, value = (float(tight.min()) - error) / upper, float(tight.min() / np.sqrt(square))
    method = f"active-set NNLS, primal and dual; gap {upper - lower:.1e}"
    return Bracket(lower, upper, min(value, upper), True, method)


# ------------------------------------------------------------------------------------ batch norm
#
# gamma_a and gamma_c of batchnorm, Assumption 1.2, with V frozen at its initial value: both
# reference networks are then linear in what moves, so that each is an exact hard margin:
#
#     gamma_a = max over |a| <= 1 of min_i y_i sum_j a_j relu(c_j A_ij)/sqrt(m),
#     gamma_c = max over |c| <= 1 of min_i y_i sum_j c_j a_j(0) 1[c_j(0) A_ij > 0] A_ij/sqrt(m),
#
# A_ij = <v_j(0), x_i - mu>/N(v_j(0)). The text's inequalities lack y_i and the division by sqrt(m)
# (its Appendix A.2 divides, equation 28 uses it).


def start_features(problem: Problem) -> tuple[Array, Array, Array]:
    """Return the outer weights, scales and features of a batch-norm network at its start.

    Parameters
    ----------
    problem : Problem
        Problem with a batch-norm network.

    Returns
    -------
    tuple of arrays
        a(0) (m,), c(0) (m,) and A (n, m); A is not finite where N(v_j) = 0.
    """
    network = problem.network
    assert isinstance(network, BatchNorm)
    origin = np.asarray(problem.start.origin, dtype=np.float64)
    V = network.directions(origin)
    N, _ = network.statistics(V)
    arrays = network.unpack(origin)
    with np.errstate(divide="ignore", invalid="ignore"):  # N(v) = 0 gets an error message
        # Inputs are already x - mu: batch norm centres them with the training mean.
        A = problem.inputs @ (V / N).T
    return arrays["a"], arrays["c"], np.asarray(A)


class FrozenMargin(SampleMargin):
    """Margin of the part of a batch-norm network that moves: base of gamma_a and gamma_c."""

    source = "batchnorm, Assumption 1.2, equation 28 and Appendix A.1"
    version = 2
    most_examples = MOST_POINTS
    where = 'network.kind = "batch_norm", at the start'

    @abstractmethod
    def rows(self, a: Array, c: Array, A: Array) -> Array:
        """Return the derivative of the outputs in the part that moves.

        Parameters
        ----------
        a : array (m,)
            Outer weights at the start.
        c : array (m,)
            Scales at the start.
        A : array (n, m)
            Features <v_j(0), x_i - mu>/N(v_j(0)).

        Returns
        -------
        array (n, m)
            d f(x_i).
        """

    def applies(self, problem: Problem) -> bool:
        return has_binary_labels(problem) and isinstance(problem.network, BatchNorm)

    def key(self, problem: Problem) -> str:
        network = problem.network
        assert isinstance(network, BatchNorm)
        settings = (network.eps, network.normalise, network.m)
        return data_key(problem, settings, np.asarray(problem.start.origin))

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        data, m = problem.dataset, problem.network.m
        a, c, A = start_features(problem)
        if not np.isfinite(A).all():
            return absent_bracket(
                "A neuron's N(v) is zero at the start, so its features are not defined."
            )
        # With frozen V the network is linear in this layer: its margin is a linear one.
        best = separate_from_origin(self.rows(a, c, A) * data.y[:, None])
        error = rounding_bound(data.d + data.n, best.scale)  # of the features, and of N(v)
        return bracket_of(best, "this layer with V at its start", float(np.sqrt(m)), error)


@final
class OuterMargin(FrozenMargin):
    """gamma_a: margin with only the outer weights moving."""

    name = "gamma_a"
    title = "margin of the outer weights"
    formula = (
        "max over |a| <= 1 of min_i y_i <a, d_a f(x_i; W_0)>/sqrt(m), V frozen at its start; a "
        "lower bound of the paper's, which lets V move by gamma/32. Not comparable with margins "
        "divided by |a|^2 + |c|^2"
    )
    label = "gamma_a"

    def rows(self, a: Array, c: Array, A: Array) -> Array:
        """Return the derivatives of the outputs in the outer weights.

        Parameters
        ----------
        a : array (m,)
            Outer weights at the start; not used.
        c : array (m,)
            Scales at the start.
        A : array (n, m)
            Features <v_j(0), x_i - mu>/N(v_j(0)).

        Returns
        -------
        array (n, m)
            relu(c_j A_ij).
        """
        return np.maximum(c * A, 0.0)


@final
class ScaleMargin(FrozenMargin):
    """gamma_c: margin with only the scales c moving."""

    name = "gamma_c"
    title = "margin of the scales"
    formula = (
        "max over |C| <= 1 of min_i y_i <C, d_c f(x_i; W_0)>/sqrt(m), a and V frozen at their "
        "start. Not comparable with margins divided by |a|^2 + |c|^2"
    )
    label = "gamma_c"

    def rows(self, a: Array, c: Array, A: Array) -> Array:
        """Return the derivatives of the outputs in the scales.

        Parameters
        ----------
        a : array (m,)
            Outer weights at the start.
        c : array (m,)
            Scales at the start.
        A : array (n, m)
            Features <v_j(0), x_i - mu>/N(v_j(0)).

        Returns
        -------
        array (n, m)
            a_j A_ij 1[c_j A_ij > 0].
        """
        return a * np.where(c * A > 0.0, A, 0.0)
