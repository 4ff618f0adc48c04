"""telgarsky22, section 1 and appendix A: margins of data, and the start of training.

n examples x_i in R^d, labels y_i = +-1; m neurons w_j = (a_j, v_j), W_0 the parameters at t = 0,
delta the context's probability of failure. gamma_linear is the largest min_i y_i <u, x_i>, |u| = 1.
gamma_gl is the largest min_i y_i f(x_i) over networks with sum_j |a_j v_j| = 1, twice the best one
over |W|^2. gamma_ntk is Assumption 1.3's, of the kernel at a wide start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from core.data.parity import ParityData
from core.observables.observable import cached_per_run
from core.reference.hull import gram_coordinates, separate_from_origin
from core.runs import Run
from core.theorems import common
from core.theorems.common import NAN, Array
from core.theorems.statement import Comparison, Context, Hypothesis, Statement

# ---------------------------------------------------------------- a transport of the outer layer
#
# With S(v) = sum_i q_i y_i relu(<v, x_i>), q in the simplex, theta(w) = (S/max(|S|, s), 0) where
# |w| < 2: the sign of S, but linear where |S| < s. By minimax the largest min_i E theta g_i, g_i(w)
# = y_i relu(<v, x_i>) 1[|w| < 2], is min over q of E |sum_i q_i g_i|. A sample of neurons gives q
# and s by reweighted least squares, which minimise the Huber loss of S instead of |S|. The sign
# alone may be far from the best theta even if q is nearly best, since it jumps where S = 0. On
# fresh neurons the empirical Bernstein inequality (Maurer and Pontil 2009, Theorem 4) then bounds
# gamma below, so that theta and gamma are a pair of Assumption 1.3 with probability 1 - 1e-6.

MOST_EXAMPLES = 300  # examples of a transport
FEWEST, FRESH, BLOCK = 4000, 2**17, 2**13  # neurons for q (at least), for gamma, and in a block
MOST, WORK = 16_000, 6e7  # neurons for q (at most), and n^2 times them: a second for the rounds
ROUNDS = 30
SMOOTH = 0.2  # s over the mean of |S| during the search for q
SHARP = (1.0, 0.25, 0.0)  # fractions of SMOOTH that theta may have
FAILURE = 1e-6
CUTOFF = 2.0
SEED = 19


@final
@dataclass(frozen=True, slots=True, eq=False)
class Transport:
    """Bound gamma <= min_i E theta g_i, g_i = y_i relu(<v, x_i>) 1[|w| < 2], and a direction.

    `direction` (size,) is flat like the run's parameters: theta(w_j)/sqrt(m) for a_j, 0 for V.
    `gamma` holds with probability 1 - FAILURE, and may be negative.
    """

    gamma: float
    direction: Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Weights q (n,) of sum 1, and s: theta = S/max(|S|, s), S = sum_i q_i y_i relu(<v, x_i>)."""

    q: Array
    s: float

    def theta(self, G: Array) -> Array:
        """Return theta of neurons, S/max(|S|, s) with S = <q, G_j>.

        Parameters
        ----------
        G : array (N, n)
            y_i relu(<v_j, x_i>) of N neurons.

        Returns
        -------
        array (N,)
            In [-1, 1]; 0 if S = 0.
        """
        sums = G @ self.q
        size = np.maximum(np.abs(sums), self.s)
        return np.divide(sums, size, out=np.zeros_like(sums), where=size > 0.0)


def n_fitting_neurons(n: int) -> int:
    """Return the number of neurons on which q is optimised: WORK/n^2, clipped to [FEWEST, MOST].

    n is the number of examples.
    """
    return int(min(max(WORK / n**2, FEWEST), MOST))


@cached_per_run
def outer_transport(run: Run) -> Transport:
    """Return the transport for a run's examples and start, computed once a run.

    The run's network must be the standard one. gamma is NaN and the direction 0 if no q exists.
    """
    x, y, m = run.dataset.x, run.dataset.y, run.network.m
    parts = run.network.unpack(run.origin)
    try:
        mixture = fit_mixture(
            np.concatenate(list(sample_features(x, n_fitting_neurons(len(x)), SEED))) * y
        )
    except ArithmeticError:
        return Transport(NAN, np.zeros(run.network.size))
    # A neuron of Assumption 1.3 has a ~ N(0, 1), which is sqrt(m) a_j(0).
    squares = m * parts["a"] ** 2 + np.square(parts["V"]).sum(axis=1)
    moves = mixture.theta(np.maximum(run.inputs @ parts["V"].T, 0.0).T * y)
    theta = np.where(squares < CUTOFF**2, moves, 0.0) / math.sqrt(m)
    direction = run.network.pack({"a": theta, "V": np.zeros(parts["V"].shape)})
    return Transport(margin_lower_bound(x, y, mixture), direction)


def sample_features(x: Array, count: int, seed: int) -> Iterator[Array]:
    """Yield blocks of random neurons' features relu(<v, x_i>) 1[|(a, v)| < 2], without labels y_i.

    a ~ N(0, 1) and v ~ N(0, I/d). Only the part of v in the span of the examples is drawn, and the
    length of the rest. Equal arguments give equal blocks.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    count : int
        Number of neurons in all.
    seed : int
        Seed of the generator.

    Yields
    ------
    array (B, n)
        One row a neuron; B is `BLOCK`, less in the last block.
    """
    n, d = x.shape
    points = gram_coordinates(x @ x.T) if n < d else x
    outside = d - points.shape[1]
    generator = np.random.default_rng(seed)
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        v = generator.standard_normal((size, points.shape[1]))
        squares = np.square(v).sum(axis=1)
        squares += generator.chisquare(outside, size) if outside else 0.0
        # |w|^2 = a^2 + |v|^2, in which only v has variance 1/d.
        squares = squares / d + np.square(generator.standard_normal(size))
        mask = squares < CUTOFF**2
        yield np.maximum(v @ points.T / math.sqrt(d), 0.0) * mask[:, None]


def fit_mixture(G: Array) -> Mixture:
    """Return the tried q and s whose theta has the largest margin min_i mean_j theta_j G_ji.

    q nearly minimises the Huber loss of S_j = sum_i q_i G_ji over the simplex. Reweighted least
    squares give a q in each of `ROUNDS` rounds; each is tried with every s of `SHARP`, fractions of
    SMOOTH mean_j |S_j|. Raises ArithmeticError if a least-squares problem has no end.

    Parameters
    ----------
    G : array (N, n)
        y_i relu(<v_j, x_i>) of N neurons.
    """
    n = G.shape[1]
    best, least = Mixture(np.full(n, 1.0 / n), 0.0), -math.inf
    q = best.q
    for _ in range(ROUNDS):
        sums = np.abs(G @ q)
        s = SMOOTH * float(sums.mean())
        for mixture in (Mixture(q, share * s) for share in SHARP):
            reached = float((mixture.theta(G) @ G).min()) / len(G)
            if reached > least:
                best, least = mixture, reached
        if not s > 0.0:
            break
        weight = 1.0 / np.maximum(sums, s)
        q = separate_from_origin(gram_coordinates((G * weight[:, None]).T @ G / len(G))).q
    return best


def margin_lower_bound(x: Array, y: Array, mixture: Mixture) -> float:
    """Return a lower bound of min_i E theta g_i from FRESH neurons, of probability 1 - FAILURE.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels, 1 or -1.
    mixture : Mixture
        theta, found on other neurons.

    Returns
    -------
    float
        May be negative.
    """
    n, total, squares = x.shape[0], 0.0, 0.0
    for block in sample_features(x, FRESH, SEED + 1):
        values = block * y
        values = mixture.theta(values)[:, None] * values
        total, squares = total + values.sum(axis=0), squares + np.square(values).sum(axis=0)
    mean = np.asarray(total / FRESH)
    variance = np.maximum(squares / FRESH - mean**2, 0.0) * FRESH / (FRESH - 1.0)
    width = 2.0 * CUTOFF * float(np.linalg.norm(x, axis=1).max())  # |theta g_i| <= 2 |x_i|
    # The factor n: the bound must hold for all examples at once.
    logarithm = math.log(2.0 * n / FAILURE)
    room = np.sqrt(2.0 * variance * logarithm / FRESH)
    return float((mean - room).min()) - 7.0 * width * logarithm / (3.0 * (FRESH - 1.0))


# ------------------------------------------------------------------------------------ statements

of_telgarsky22 = partial(Statement, "telgarsky22")
GAUSSIAN = "a ~ N(0, 1/m), V ~ N(0, I/d)"


def is_two_parity(run: Run) -> bool:
    """Return True for the data 2-parity with the uniform law on all corners (no frozen bit).

    Any network and dynamics.
    """
    section = run.experiment.data
    if not isinstance(section, ParityData) or section.k != 2:
        return False
    return section.law == "uniform" and not section.freeze


def has_two_classes(run: Run) -> bool:
    """Return True for data of two classes, with any network; real targets count as two classes."""
    return bool(run.dataset.classes == 2)


# ------------------------------------------------------------------ Propositions 1.5 and 1.6


def linear_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Proposition 1.5: gamma_linear > 0, and |x_i| <= 1."""
    return (
        common.positive(
            context, "gamma_linear", "a unit u with min_i y_i <x_i, u> >= gamma_linear"
        ),
        common.unit_ball(context.run),
    )


def _make_linear_comparison(
    name: str, factor: float, root_d: bool = False
) -> Callable[[Context], Comparison]:
    """Return the function that tests the margin `name`, from above, >= gamma_linear/factor.

    `root_d` divides the bound by sqrt d too. gamma_linear is taken from below; without one the
    result is undecided.
    """

    def compare(context: Context) -> Comparison:
        """Test the upper end of the margin >= the bound."""
        scale = math.sqrt(context.run.dataset.d) if root_d else 1.0
        bound = context.lower("gamma_linear") / (factor * scale)
        linear = context.margins.get("gamma_linear")
        reason = ""
        if linear is not None and not linear.bracket.exists:
            is_zero = linear.bracket.is_zero
            reason = "no linear margin exists" if is_zero else "no linear margin is known"
        return common.margin_at_least(context, name, bound, reason=reason)

    return compare


def parity_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypothesis of Proposition 1.6: uniform 2-parity on all corners."""
    run = context.run
    text = "x on {+-1/sqrt(d)}^d, y = d x_a x_b"
    met = is_two_parity(run)
    return (Hypothesis(text, "2-parity", f"{run.experiment.data.kind}", met),)


def compare_parity_ntk(context: Context) -> Comparison:
    """Test the upper end of gamma_ntk of the examples >= 1/(50 d); undecided if not known."""
    return common.margin_at_least(context, "gamma_ntk", 1.0 / (50.0 * context.run.dataset.d))


def compare_parity_global(context: Context) -> Comparison:
    """Test the upper end of gamma_gl of the examples >= 1/sqrt(8 d); undecided if not known."""
    # A lower bound in the paper; for all corners it equals the margin (docs/theory.md, 5.4).
    bound = 1.0 / math.sqrt(8.0 * context.run.dataset.d)
    return common.margin_at_least(context, "gamma_gl", bound)


# ------------------------------------------------------------------------------ Lemma A.2


def gaussian_start_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses a ~ N(0, 1/m), V ~ N(0, I/d), and |x_i| <= 1, in this order."""
    return common.paper_start(context.run, GAUSSIAN), common.unit_ball(context.run)


def norm_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma A.2 on norms: Gaussian start, m >= 2 ln(1/delta)."""
    needed = 2.0 * math.log(1.0 / context.delta)
    return *gaussian_start_hypotheses(context), common.width(context.run, needed, "2 ln(1/delta)")


def compare_start_norms(context: Context) -> Comparison:
    """Test the larger of |a_0|/2 and |V_0|/(2 sqrt m) <= 1, |V_0| the Frobenius norm."""
    run = context.run
    parts = run.network.unpack(run.origin)
    m = run.network.m
    ratio = max(
        float(np.linalg.norm(parts["a"])) / 2.0,
        float(np.linalg.norm(parts["V"])) / (2.0 * math.sqrt(m)),
    )
    return common.compare_once("<=", 1.0, ratio, frame=0)


def compare_start_outputs(context: Context) -> Comparison:
    """Test max_i |f(x_i; W_0)| <= 4 ln(n/delta)."""
    run = context.run
    outputs = np.abs(run.network.outputs(run.origin, run.inputs)).max()
    bound = 4.0 * common.log_term(run.dataset.n, context.delta)
    return common.compare_once("<=", bound, float(outputs), frame=0)


def is_standard(run: Run) -> bool:
    """Return True for f = sum_j a_j relu(<v_j, x>), a and V trained, and `has_two_classes`."""
    return common.standard_relu(run) and has_two_classes(run)


def has_transport(run: Run) -> bool:
    """Return True for `is_standard` with at most MOST_EXAMPLES examples, as theta requires."""
    return is_standard(run) and run.dataset.n <= MOST_EXAMPLES


TWO_CLASSES = (has_two_classes, "data of two classes", linear_hypotheses)
WITH_THETA = (has_transport, f"the standard network, at most {MOST_EXAMPLES} examples")
PARITY = (is_two_parity, "2-parity on the corners", parity_hypotheses)
DRAWN = (is_standard, "the standard network")
CUTOFF_SLIP = (
    "The text does not print that theta is bounded by 1 pointwise; appendix A uses it, and so does "
    "the value here."
)
STATEMENTS = (
    of_telgarsky22(
        "Proposition 1.5 (1)",
        "A linear margin implies an NTK margin.",
        r"\gamma_{\mathrm{ntk}} \geq \hat\gamma / 32",
        *TWO_CLASSES,
        _make_linear_comparison("gamma_ntk", 32.0),
        CUTOFF_SLIP,
    ),
    of_telgarsky22(
        "Proposition 1.5 (2)",
        "The outer layer alone yields an NTK margin.",
        r"\gamma_{\mathrm{ntk}} \geq \hat\gamma / (16 \sqrt{d})",
        *TWO_CLASSES,
        _make_linear_comparison("gamma_ntk", 16.0, True),
        CUTOFF_SLIP,
    ),
    of_telgarsky22(
        "Proposition 1.5 (3)",
        "A linear margin implies half as large a global margin.",
        r"\gamma_{\mathrm{gl}} \geq \hat\gamma / 2",
        *TWO_CLASSES,
        _make_linear_comparison("gamma_gl", 2.0),
    ),
    of_telgarsky22(
        "Proposition 1.6 (1)",
        "2-sparse parity has an NTK margin of order 1/d.",
        r"\gamma_{\mathrm{ntk}} \geq 1 / (50\, d)",
        *PARITY,
        compare_parity_ntk,
        "The proof's theta has no cutoff at |w| < 2, and it uses E|a| >= 1, which is .798.",
    ),
    of_telgarsky22(
        "Proposition 1.6 (2)",
        "2-sparse parity has a global margin of order 1/sqrt(d).",
        r"\gamma_{\mathrm{gl}} \geq 1 / \sqrt{8\, d}",
        *PARITY,
        compare_parity_global,
    ),
    of_telgarsky22(
        "Lemma A.2 (norms)",
        "Initial norms concentrate.",
        r"\max(\Vert a_0 \Vert / 2,\ \Vert V_0 \Vert / (2 \sqrt{m})) \leq 1",
        *DRAWN,
        norm_hypotheses,
        compare_start_norms,
    ),
    of_telgarsky22(
        "Lemma A.2 (outputs)",
        "Initial outputs are small.",
        r"\max_i |f(x_i; W_0)| \leq 4 \ln(n / \delta)",
        *DRAWN,
        gaussian_start_hypotheses,
        compare_start_outputs,
    ),
)
