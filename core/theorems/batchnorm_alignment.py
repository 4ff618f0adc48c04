"""batchnorm, Lemmas D.3, E.1 and F.1: near the start features align, slopes are small.

p_i = y_i f(x_i) for n examples, m neurons, U = (a, c) and V the weights, gamma `start_margin`, R
`outer_radius`, R_V `inner_radius`, mu the mean input, N(v_j) the normaliser. Ubar (2 m,), of
norm sqrt 2, joins unit directions of a and of c of largest margin at the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps

import numpy as np

from core.observables.proof_potentials import (
    Reference,
    batch_norm_reference,
    has_batch_norm_potential,
)
from core.runs import Run
from core.theorems import common
from core.theorems.batchnorm import (
    NORMALISED,
    eps_n,
    network_of,
    of_batchnorm,
    outer_radius,
    positive_start_margin,
    radius_at_least_8,
    standing_hypotheses,
    start_margin,
    width_hypotheses,
)
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis

MOST_SIGNS = 12  # examples up to which all vectors of signs are used
DRAWN = 256  # vectors of signs drawn for more examples
SEED = 17  # of the signs
BLOCK = 32  # vectors multiplied with the features at a time


def inner_radius(run: Run) -> float:
    """Return R_V = 1/(2 eps_N)."""
    # D.2 and E print eps_N/2 by mistake; the proofs use this one (docs/theory.md, 8.6).
    return 1.0 / (2.0 * eps_n(run))


# ------------------------------------------------------------------------------------ Lemma D.3


def alignment_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma D.3: `standing_hypotheses`, gamma > 0, the width, R >= 8.

    The width has a lower and an upper bound (`width_hypotheses` without t).
    """
    lemma = width_hypotheses(context, trained=False)
    return (
        *standing_hypotheses(context),
        positive_start_margin(context),
        *lemma,
        radius_at_least_8(context),
    )


def frames_near_start(context: Context) -> Array:
    """Return the mask of frames in Gamma: |U_t - U_0| < R and |V_t - V_0| < R_V, both strict.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,) of bool
        False at all frames if R is not known.
    """
    outer, inner = context.trace("outer_displacement"), context.trace("inner_displacement")
    within = inner < inner_radius(context.run)
    return np.logical_and(outer < outer_radius(context), within)


def require_reference(
    compare: Callable[[Context, Reference], Comparison],
) -> Callable[[Context], Comparison]:
    """Wrap a comparison to pass `batch_norm_reference`; undecided without one.

    None exists if the start's features do not separate the data in both layers, and none is
    computed for more than 1000 examples.
    """

    @wraps(compare)
    def compared(context: Context) -> Comparison:
        """Compare along the reference directions, or return an undecided comparison."""
        reason = "too many examples for the reference directions"
        if has_batch_norm_potential(context.run):
            reference = batch_norm_reference(context.run)
            if reference is not None:
                return compare(context, reference)
            reason = "the features of the start do not separate the data in both layers"
        return common.leave_open(">=", common.NAN, common.NAN, reason)

    return compared


def margin_derivatives(run: Run, index: int, direction: Array) -> Array:
    """Return the directional derivatives of the margins at the physical parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    direction : array (size,)
        Direction in the flat parameters, not normalised.

    Returns
    -------
    array (n,)
        <direction, grad p_i(W_t)>, W_t the parameters of the frame.
    """
    slopes = run.network.derivative(run.physical_parameters(index), run.inputs, direction)
    return np.asarray(run.dataset.y * slopes)


AWAY = "no frame is within R and R_V of the start"


@require_reference
def compare_alignment(context: Context, reference: Reference) -> Comparison:
    """Test min_i <Ubar, d_U p_i(W_t)> >= gamma sqrt(m)/2 at `frames_near_start`: item (1)."""
    run = context.run
    direction = np.zeros(run.network.size)
    # U = (a, c) comes first, like all homogeneous parameters (decision 0004).
    direction[: run.network.scaled] = reference.direction
    frames = frames_near_start(context)
    least = np.full(run.frames, np.nan)
    for k in np.flatnonzero(frames):
        least[k] = margin_derivatives(run, int(k), direction).min()
    bound = start_margin(context) * math.sqrt(run.network.m) / 2.0
    return common.compare_all_frames(">=", bound, least, frames=frames, reason=AWAY)


@require_reference
def compare_progress(context: Context, reference: Reference) -> Comparison:
    """Test item (2) >= r gamma sqrt(m)/4 at `frames_near_start`.

    Item (2): min_i <Ub, d_U p_i> - p_i + al <V_0 - V_t, d_V p_i>, Ub = U_0 + r Ubar, r = R/8, al =
    R^2/R_V^2.
    """
    run = context.run
    m, radius = run.network.m, outer_radius(context)
    r, al = radius / 8.0, (radius / inner_radius(run)) ** 2
    outer = run.origin[: 2 * m] + r * reference.direction
    frames = frames_near_start(context)
    least = np.full(run.frames, np.nan)
    for k in np.flatnonzero(frames):
        now = run.physical_parameters(int(k))
        direction = np.concatenate([outer, al * (run.origin[2 * m :] - now[2 * m :])])
        p = run.network.margins(now, run.inputs, run.dataset.y)
        least[k] = (margin_derivatives(run, int(k), direction) - p).min()
    bound = r * start_margin(context) * math.sqrt(m) / 4.0
    return common.compare_all_frames(">=", bound, least, frames=frames, reason=AWAY)


# ------------------------------------------------------------------------------------ Lemma E.1


def gradient_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma E.1: `standing_hypotheses`, the width, and two distances.

    They are |U_t - U_0| <= R and |V_t - V_0| <= R_V at the last frame.
    """
    run = context.run
    outer, inner = (
        common.last_value(context.trace(name))
        for name in ("outer_displacement", "inner_displacement")
    )
    radius = outer_radius(context)
    return (
        *standing_hypotheses(context),
        *width_hypotheses(context, trained=False),
        common.at_most("|U_t - U_0| <= gamma^(1/3) m^(1/6)/(27 eps_N)", radius, outer),
        common.at_most("|V_t - V_0| <= 1/(2 eps_N)", inner_radius(run), inner),
    )


def compare_outer_gradient(context: Context) -> Comparison:
    """Test max_i |grad_U f(x_i)|^2 <= 2^11 eps_N^4 m at the last frame, |grad_U p_i| the same."""
    run = context.run
    flat = run.physical_parameters(run.frames - 1)
    largest = 0.0
    for i in range(run.dataset.n):
        # `gradient` sums over examples; a single example gives its own gradient.
        slope = run.network.gradient(flat, run.inputs[i : i + 1], np.ones(1))
        largest = max(largest, float(np.square(slope[: run.network.scaled]).sum()))
    return common.compare_once("<=", 2.0**11 * eps_n(run) ** 4 * run.network.m, largest, frame=-1)


# ------------------------------------------------------------------------------------ Lemma F.1


def ball_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return |x_i - mu| <= 1, the only hypothesis of Lemma F.1."""
    return (standing_hypotheses(context)[0],)


def sign_vectors(n: int) -> Array:
    """Return all vectors of n signs, up to one sign, or a random sample of them for large n.

    Parameters
    ----------
    n : int
        Length of the vectors.

    Returns
    -------
    array (K, n)
        Entries 1 and -1. All 2^(n-1) with the first sign +, or for n > MOST_SIGNS a draw of DRAWN
        vectors with any first sign, with repetitions possible and equal at each call.
    """
    if n > MOST_SIGNS:
        return np.random.default_rng(SEED).choice([-1.0, 1.0], (DRAWN, n))
    # The first sign is +: vectors s and -s are equivalent.
    numbers = np.arange(2 ** (n - 1))[:, None]
    return np.asarray(1.0 - 2.0 * ((numbers >> np.arange(n)) & 1))


def rademacher_complexity(inputs: Array, V: Array) -> float:
    """Return (1/n) E_eps max over j and both signs s of |sum_i eps_i relu(s <v_j, x_i - mu>)|.

    `inputs` (n, d) are x_i - mu already, as a run's `inputs` of a batch-norm network, and V is
    (m, d). E_eps is a mean over `sign_vectors`: exact for n <= MOST_SIGNS, else of a fixed draw.
    This is the Rademacher complexity of the networks with these V and |a_j c_j/N(v_j)|_1 <= 1,
    whose best choice puts all weight on one neuron.
    """
    Z = inputs @ V.T
    features = np.concatenate([np.maximum(Z, 0.0), np.maximum(-Z, 0.0)], axis=1)
    signs = sign_vectors(inputs.shape[0])
    largest = [
        np.abs(signs[k : k + BLOCK] @ features).max(axis=1) for k in range(0, len(signs), BLOCK)
    ]
    return float(np.concatenate(largest).mean() / inputs.shape[0])


def compare_complexity(context: Context) -> Comparison:
    """Test B times `rademacher_complexity` <= 4 B (max_j |v_j(0)| + rho)/sqrt(n).

    B = sum_j |a_j c_j|/N(v_j), V of the complexity and rho = |V_t - V_0| are those of the last
    frame.
    """
    run, index = context.run, context.run.frames - 1
    parts = run.network.unpack(run.physical_parameters(index))
    N = network_of(run).statistics(parts["V"])[0][:, 0]
    size = float((np.abs(parts["a"] * parts["c"]) / N).sum())
    longest = float(np.linalg.norm(network_of(run).directions(run.origin), axis=1).max())
    displacement = common.last_value(context.trace("inner_displacement"))
    bound = 4.0 * size * (longest + displacement) / math.sqrt(run.dataset.n)
    measured = size * rademacher_complexity(run.inputs, parts["V"])
    return common.compare_once("<=", bound, measured, frame=-1)


ALIGNED = (*NORMALISED, alignment_hypotheses)
STATEMENTS = (
    of_batchnorm(
        "Lemma D.3 (1)",
        "Near initialisation the slopes follow the reference directions.",
        r"\langle \vec{U}, \partial_U p_i(W) \rangle \geq \gamma \sqrt{m} / 2",
        *ALIGNED,
        compare_alignment,
        "Printed with 3 gamma sqrt(m)/4; the proof (34) ends with 1/2, which is evaluated.",
    ),
    of_batchnorm(
        "Lemma D.3 (2)",
        "Near initialisation every slope points towards the reference.",
        r"\langle \bar{U}, \partial_U p_i \rangle - p_i + \alpha \langle V_0 - V, \partial_V p_i "
        r"\rangle \geq r \gamma \sqrt{m} / 4",
        *ALIGNED,
        compare_progress,
        "Printed with r gamma sqrt(m)/2; with the 1/2 of (34) the proof gives 1/4.",
    ),
    of_batchnorm(
        "Lemma E.1",
        "Gradients in a and c are bounded near initialisation.",
        r"\Vert \nabla_U\, p_i \Vert^2 \leq 2^{11} \epsilon_N^4\, m",
        *NORMALISED,
        gradient_hypotheses,
        compare_outer_gradient,
    ),
    of_batchnorm(
        "Lemma F.1",
        "Networks near initialisation have a small Rademacher complexity.",
        r"\mathrm{Rad}(\mathcal{H}) \leq 4 B (\max_j \Vert v_j(0) \Vert + \rho) / \sqrt{n}, \quad "
        r"B = \sum_j |a_j c_j| / N(v_j)",
        *NORMALISED,
        ball_hypotheses,
        compare_complexity,
        "Printed with rho alone, which is 0 where V has not moved and a and c are free: the proof "
        "drops <v_j(0), .> inside a supremum. Measured for the last V alone, which H lets move.",
    ),
)
