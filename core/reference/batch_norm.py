"""gamma_a and gamma_c of batchnorm, Assumption 1.2, with V frozen at its initial value.

Both reference networks are then linear in what moves, so that each is an exact hard margin:

    gamma_a = max over |a| <= 1 of min_i y_i sum_j a_j relu(c_j A_ij)/sqrt(m),
    gamma_c = max over |c| <= 1 of min_i y_i sum_j c_j a_j(0) 1[c_j(0) A_ij > 0] A_ij/sqrt(m),

A_ij = <v_j(0), x_i - mu>/N(v_j(0)). The text's inequalities lack y_i and the division by sqrt(m)
(its Appendix A.2 divides, equation 28 uses it).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np

from core.data.dataset import Array
from core.network.batch_norm import BatchNorm
from core.problem.problem import Problem
from core.reference.degenerate import rounding
from core.reference.hull import MOST_POINTS, nearest
from core.reference.linear import bracket_of
from core.reference.margin import Bracket, absent
from core.reference.sample import SampleMargin, binary, data_key
from core.reference.watch import Watch


def features(problem: Problem) -> tuple[Array, Array, Array]:
    """(a(0) (m,), c(0) (m,), A (n, m)) of a batch-norm network."""
    network = problem.network
    assert isinstance(network, BatchNorm)
    origin = np.asarray(problem.start.origin, dtype=np.float64)
    V = network.directions(origin)
    N, _ = network.statistics(V)
    arrays = network.unpack(origin)
    with np.errstate(divide="ignore", invalid="ignore"):  # N(v) = 0 is answered in a sentence
        # Inputs are x - mu already: batch norm centres them with the mean of the training set.
        A = problem.inputs @ (V / N).T
    return arrays["a"], arrays["c"], np.asarray(A)


class FrozenMargin(SampleMargin):
    """What gamma_a and gamma_c share."""

    source = "batchnorm, Assumption 1.2, equation 28 and Appendix A.1"
    version = 2
    most_examples = MOST_POINTS
    where = 'network.kind = "batch_norm", at the start'

    @abstractmethod
    def rows(self, a: Array, c: Array, A: Array) -> Array:
        """d f(x_i) by the part that moves, (n, m)."""

    def applies(self, problem: Problem) -> bool:
        return binary(problem) and isinstance(problem.network, BatchNorm)

    def key(self, problem: Problem) -> str:
        network = problem.network
        assert isinstance(network, BatchNorm)
        settings = (network.eps, network.normalise, network.m)
        return data_key(problem, settings, np.asarray(problem.start.origin))

    def of_sample(self, problem: Problem, watch: Watch) -> Bracket:
        data, m = problem.dataset, problem.network.m
        a, c, A = features(problem)
        if not np.isfinite(A).all():
            return absent("A node's N(v) is zero at the start, so its features are not defined.")
        # With V frozen the network is linear in this layer, so that its margin is a linear one.
        best = nearest(self.rows(a, c, A) * data.y[:, None])
        error = rounding(data.d + data.n, best.scale)  # of the features, and of N(v)
        return bracket_of(best, "this layer with V at its start", float(np.sqrt(m)), error)


@final
class OuterMargin(FrozenMargin):
    """gamma_a: only the outer weights move."""

    name = "gamma_a"
    title = "margin of the outer weights"
    formula = (
        "max over |a| <= 1 of min_i y_i <a, d_a f(x_i; W_0)>/sqrt(m), V frozen at its start; a "
        "lower bound of the paper's, which lets V move by gamma/32. Not comparable with margins "
        "divided by |a|^2 + |c|^2"
    )
    label = "gamma_a"

    def rows(self, a: Array, c: Array, A: Array) -> Array:
        return np.maximum(c * A, 0.0)


@final
class ScaleMargin(FrozenMargin):
    """gamma_c: only the scales c move."""

    name = "gamma_c"
    title = "margin of the scales"
    formula = (
        "max over |C| <= 1 of min_i y_i <C, d_c f(x_i; W_0)>/sqrt(m), a and V frozen at their "
        "start. Not comparable with margins divided by |a|^2 + |c|^2"
    )
    label = "gamma_c"

    def rows(self, a: Array, c: Array, A: Array) -> Array:
        return a * np.where(c * A > 0.0, A, 0.0)
