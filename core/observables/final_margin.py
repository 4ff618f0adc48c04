"""Bracket of the margin to which a run converges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.network.activation import LEAKY, RELU
from core.network.parametrisation import TwoLayer
from core.observables.alarms import tolerance
from core.observables.certificates import has_error, integration_error
from core.observables.margins import ATOM, hard_margin, smoothed_margin
from core.reference.cancel_token import CancelToken
from core.reference.gated_limits import (
    FixedPattern,
    bracket_gated_limit,
    bracket_leaky_limit,
    gates_and_neurons,
)
from core.reference.margin import ReferenceMargin
from core.runs import Run

Array = NDArray[np.float64]
CLOSED = 0.01  # relative to the upper end: narrower brackets count as closed
PROVED = ("gamma_gl", "gamma_l1")  # references that, times their factors, no network exceeds
KEY = "final margin"  # name of its lines among the bounds
SWITCHES = "switches on or off on an example"
CONDITIONS = {
    FixedPattern.OWN_LABEL: f"no neuron changes sign, or {SWITCHES} of its own label",
    FixedPattern.CONES: f"no neuron changes sign, or {SWITCHES}",
    FixedPattern.GATES: f"no neuron {SWITCHES}",
}


@final
@dataclass(frozen=True, slots=True)
class Carrier:
    """Neurons of one sign and one pattern, and their weight in the best network, of total 1."""

    nodes: tuple[int, ...]
    sign: int
    weight: float


@final
@dataclass(frozen=True, slots=True)
class ConditionalBound:
    """Upper bound on the final margin that holds as long as a condition does.

    No frame from `since` (log10 t) to the last one breaks the condition, and the frame before
    `frame` does; `frame` is 0 if no frame does. `reached` is the margin of a network that meets the
    condition, so that the program's optimum is between `reached` and `above`. `examples` are those
    with more than .001 of the certificate's weight q, (number, q), and `nodes` the best network's,
    the largest first.
    """

    pattern: FixedPattern
    above: float
    reached: float
    frame: int
    since: float
    examples: tuple[tuple[int, float], ...]
    nodes: tuple[Carrier, ...]

    @property
    def condition(self) -> str:
        """The condition in words, to be read after "while"."""
        return CONDITIONS[self.pattern]


@final
@dataclass(frozen=True, slots=True)
class FinalMargin:
    """Bracket `below` <= the final margin <= `upper_end`, valid while `condition` holds.

    `hard` is the margin at the frame. `below` is NaN if nothing is guaranteed, and `why` says why;
    `above_always` is NaN if no such bound is proved, and `always` is its name.
    """

    frame: int
    log10_time: float
    hard: float
    below: float
    why: str
    above_always: float
    always: str
    above_while: tuple[ConditionalBound, ...]

    @property
    def weakest_bound(self) -> ConditionalBound:
        """Bound under the weakest condition."""
        return self.above_while[0]

    @property
    def upper_end(self) -> float:
        """Upper end under the weakest condition."""
        return float(np.fmin(self.above_always, self.weakest_bound.above))

    @property
    def condition(self) -> str:
        """Condition of `upper_end` in words; "" if that end always holds."""
        return self.weakest_bound.condition if self.weakest_bound.above <= self.upper_end else ""

    @property
    def gap(self) -> float:
        """(upper_end - below)/upper_end; NaN without a lower end or a positive upper one."""
        return (self.upper_end - self.below) / self.upper_end if self.upper_end > 0.0 else nan

    @property
    def is_closed(self) -> bool:
        """True if the ends are within a hundredth of each other."""
        return bool(self.gap <= CLOSED)

    def as_json(self) -> dict[str, Any]:
        """Return the fields of `python -m core limit --json`; NaN for a missing number."""
        return {
            "frame": self.frame,
            "log10_time": self.log10_time,
            "hard_margin": self.hard,
            "below": self.below,
            "above": self.upper_end,
            "condition": self.condition,
            "closed": self.is_closed,
            "why_no_below": self.why,
            "above_always": self.above_always,
            "always": self.always,
            "above_while": [
                {
                    "condition": one.condition,
                    "above": one.above,
                    "reached": one.reached,
                    "since_frame": one.frame,
                    "since_log10_time": one.since,
                    "examples": [{"example": i, "q": q} for i, q in one.examples],
                    "nodes": [
                        {"nodes": list(part.nodes), "sign": part.sign, "weight": part.weight}
                        for part in one.nodes
                    ],
                }
                for one in self.above_while
            ],
        }


def traces(margin: FinalMargin) -> tuple[tuple[str, Array], ...]:
    """Return the ends of a bracket as lines among the margins.

    Parameters
    ----------
    margin : FinalMargin
        Bracket at a frame.

    Returns
    -------
    tuple of (str, array (T,))
        Name, "" for the lower end, and values at the frames up to the bracket's: NaN before its
        last tenth, or before the condition's first frame if that is earlier. A NaN end has no line.
    """
    first = min(margin.weakest_bound.frame, (9 * margin.frame) // 10)
    words = f"final <= {margin.upper_end:.3g}".replace(" 0.", " .")
    lines = []
    for name, value in ((words, margin.upper_end), ("", margin.below)):
        if isfinite(value):
            trace = np.full(margin.frame + 1, value)
            trace[:first] = nan
            lines.append((name, trace))
    return tuple(lines)


# --------------------------------------------------------------------------- finding the bracket
#
# Lower end: the smoothed margin, less the known integration error of the run. Along gradient flow
# of an exponentially tailed loss it never falls once it is positive (homogeneity, Theorem 3.6; Lyu
# and Li 2020, Theorem 4.1), and it never exceeds the hard margin.
# Upper end: the bound of every network (gamma_gl/2, where defined and proved), and convex programs
# over u_j = |a_j| v_j that hold while no neuron changes its sign or activation pattern
# (core.reference.gated_limits; fixed patterns as gates: Pilanci and Ergen 2020). These conditions
# concern the future and cannot be checked in advance; the bracket states since when they have held.
# All margins are divided by |W|^L, as `hard_margin` is.

# Relative to |u_j| |x_i|: an example this near to a neuron's kink counts on both sides.
AT_KINK = 1e-9
# Error bound of a hard margin (docs/accuracy.md) if no step was checked, relative to max |x_i|.
UNCHECKED = 5e-5
PRECISION, DRAWN = 1e-4, 1e-3  # accuracy of brackets, and of brackets for drawing
NETWORKS = (
    "a bracket is known for two-layer ReLU networks whose margins are divided by |W|^2 (standard, "
    "scalar, normalised, bias), and for the leaky one with a fixed outer layer, not smooth"
)


def refusal(run: Run) -> str:
    """Return a sentence that says why the run has no bracket; "" if it has one."""
    if run.dataset.real:
        return "The targets are real numbers, but margins need labels."
    if run.dataset.classes != 2:
        return (
            f"The data have {run.dataset.classes} classes; a bracket on the final margin is "
            "known for two labels only."
        )
    network = run.network
    if _is_leaky(run) or _is_rectified(run):
        return ""
    return f'network.kind = "{network.kind}" has no bracket: {NETWORKS}.'


def _is_rectified(run: Run) -> bool:
    """Return True if f = sum_j alpha_j relu(<u_j, x~>) with sum_j |alpha_j| |u_j| <= |W|^2/2."""
    network = run.network
    if not isinstance(network, TwoLayer) or not (network.homogeneous and network.plain_sum):
        return False
    is_plain = network.degree == 2 and not network.product and not network.centred
    return is_plain and network.k == 1 and network.activation.code == RELU


def _is_leaky(run: Run) -> bool:
    """Return True if f = sum_j a_j phi(<v_j, x>) with only V trained, phi homogeneous."""
    network = run.network
    fixed = isinstance(network, TwoLayer) and network.direct and set(network.fixed) == {"a"}
    return fixed and network.activation.code in (RELU, LEAKY) and network.k == 1  # type: ignore[attr-defined]


def final_margin(
    run: Run,
    index: int,
    references: Mapping[str, ReferenceMargin],
    watch: CancelToken,
    conditions: tuple[FixedPattern, ...] = (FixedPattern.OWN_LABEL, FixedPattern.CONES),
    precision: float = PRECISION,
) -> FinalMargin:
    """Return the bracket at a frame, computed from the frames up to it.

    Parameters
    ----------
    run : Run
        Open run for which `refusal` returns "".
    index : int
        Index of the frame; negative ones count from the end.
    references : mapping of str to ReferenceMargin
        Reference margins of the data, by name.
    watch : CancelToken
        Cancellation token.
    conditions : tuple of FixedPattern
        Conditions to try, the weakest first; a fixed outer layer has one of its own.
    precision : float
        Relative precision of the program's optimum.

    Returns
    -------
    FinalMargin

    Raises
    ------
    CancelledError
        `watch` was cancelled.
    ValueError
        The run has no bracket; the message is that of `refusal`.
    """
    if sentence := refusal(run):
        raise ValueError(sentence)
    index = range(run.frames)[index]
    below, reason = lower_end(run, index)
    always, name = upper_end(run, references)
    if _is_leaky(run):
        bounds: tuple[ConditionalBound, ...] = (_while_leaky(run, index, watch),)
    else:
        bounds = tuple(_conditional_bound(run, index, one, watch, precision) for one in conditions)
    time = float(run.log10_time[index])
    return FinalMargin(index, time, hard_margin(run, index), below, reason, always, name, bounds)


def lower_end(run: Run, index: int) -> tuple[float, str]:
    """Return the smoothed margin less its error bound, and ""; NaN and a reason if it may fall."""
    dynamics: Any = run.experiment.dynamics
    flow = dynamics.log_time and (dynamics.full_gradient or run.network.fixed_features)
    if run.is_external or not flow:
        return nan, f"{dynamics.words} may lower the smoothed margin; only gradient flow may not"
    if run.experiment.loss.is_penalised:
        return nan, "with a penalty the flow may lower the smoothed margin"
    if not run.experiment.loss.exp_tailed:
        return nan, "the smoothed margin is defined for losses with an exponential tail"
    smoothed = smoothed_margin(run, index)
    if not smoothed > 0.0:
        return nan, "the smoothed margin never falls once it is positive, and it is not yet"
    error = integration_error(run, index) if has_error(run) else nan
    if isnan(error):
        error = UNCHECKED * float(np.linalg.norm(run.inputs, axis=1).max())
    return smoothed - max(error, tolerance(run, index, smoothed)), ""


def _norm_factor(run: Run) -> float:
    """Return the factor by which sum_j |alpha_j| |u_j| may exceed |W|^2/2; 1 for trained V."""
    fixed = run.network.fixed.get("V")
    return 1.0 if fixed is None else max(1.0, float(np.linalg.norm(fixed, axis=1).max()))


def upper_end(run: Run, references: Mapping[str, ReferenceMargin]) -> tuple[float, str]:
    """Return the first certified bound of `PROVED` over |W|^L, and its label; else NaN and ""."""
    for name in PROVED:
        margin = references.get(name)
        if margin is not None and margin.factor is not None and margin.bracket.certified:
            upper = margin.factor * margin.bracket.upper
            return _norm_factor(run) * upper, margin.reference.label
    return nan, ""


def _conditional_bound(
    run: Run, index: int, pattern: FixedPattern, watch: CancelToken, precision: float
) -> ConditionalBound:
    """Bound the margin by the convex program whose patterns are those of a frame's neurons."""
    flat = np.asarray(run.parameters(index), dtype=np.float64)
    gates, nodes = gates_and_neurons(run.problem, flat, pattern)
    limit = bracket_gated_limit(run.inputs, run.dataset.y, gates, watch, precision, pattern)
    frame = find_first_frame(run, index, pattern, watch)
    weights = np.bincount(limit.gate, limit.weights, minlength=len(nodes)).astype(np.float64)
    upper, time = _norm_factor(run) * limit.upper, float(run.log10_time[frame])
    carriers = _carriers(weights, gates.signs, nodes)
    return ConditionalBound(pattern, upper, limit.lower, frame, time, _examples(limit.q), carriers)


def _examples(q: Array) -> tuple[tuple[int, float], ...]:
    order = np.argsort(-q, kind="stable")
    return tuple((int(i), float(q[i])) for i in order if q[i] > ATOM)


def _carriers(
    weights: Array, signs: Array, nodes: Sequence[tuple[int, ...]]
) -> tuple[Carrier, ...]:
    shares = weights / max(float(weights.sum()), 1e-300)
    order = np.argsort(-shares, kind="stable")
    return tuple(
        Carrier(nodes[k], int(np.sign(signs[k])), float(shares[k]))
        for k in order
        if shares[k] > ATOM
    )


def _while_leaky(run: Run, index: int, watch: CancelToken) -> ConditionalBound:
    """Bound the margin for fixed a: in each cell f is linear in V, with a hard margin in |V|."""
    network, data = run.network, run.dataset
    flat = np.asarray(run.parameters(index), dtype=np.float64)
    alpha, U = network.effective(flat)  # type: ignore[attr-defined]
    slopes = network.activation.slopes(U @ run.inputs.T)  # type: ignore[attr-defined]
    watch.check()
    lower, upper, q = bracket_leaky_limit(run.inputs, data.y, alpha, slopes)
    lengths = (((slopes * (q * data.y)) @ run.inputs) ** 2).sum(axis=1) * alpha**2
    carriers = _carriers(lengths, alpha, [(j,) for j in range(len(alpha))])
    frame = find_first_frame(run, index, FixedPattern.GATES, watch)
    time = float(run.log10_time[frame])
    return ConditionalBound(FixedPattern.GATES, upper, lower, frame, time, _examples(q), carriers)


def find_first_frame(run: Run, index: int, pattern: FixedPattern, watch: CancelToken) -> int:
    """Return the first frame from which on a condition has held at every frame up to `index`.

    An example within rounding of a neuron's kink is on both sides of it.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the last frame.
    pattern : FixedPattern
        Condition: OWN_LABEL compares the activation of neurons on examples of their own label only.
    watch : CancelToken
        Cancellation token, checked at each frame.

    Returns
    -------
    int
    """
    signs, cosines = _cosines(run, index)
    active = cosines > 0.0
    own = signs[:, None] * run.dataset.y > 0.0
    counted = own if pattern is FixedPattern.OWN_LABEL else np.ones_like(active)
    frame = index
    while frame > 0:
        watch.check()
        before, earlier = _cosines(run, frame - 1)
        crossed = np.where(active, earlier < -AT_KINK, earlier > AT_KINK) & counted
        if crossed.any() or not np.array_equal(before, signs):
            break
        frame -= 1
    return frame


def _cosines(run: Run, index: int) -> tuple[Array, Array]:
    """Return the signs of alpha_j (m,), and <u_j, x_i>/(|u_j| |x_i|) (m, n), 0 for zeros."""
    flat = np.asarray(run.parameters(index), dtype=np.float64)
    alpha, U = run.network.effective(flat)  # type: ignore[attr-defined]
    x = run.inputs
    sizes = np.linalg.norm(U, axis=1)[:, None] * np.linalg.norm(x, axis=1)
    return np.sign(alpha), np.divide(U @ x.T, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
