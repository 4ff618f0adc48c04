"""Shared parts of the papers' statements: hypotheses in words with numbers.

Comparisons (core.theorems.comparisons), traces of a run (core.theorems.traces) and arithmetic
(core.theorems.arithmetic) have their names here too, as `marginscope.kinds.common`.

Where a needed width contains a margin, its proved lower end is used, so that a hypothesis that is
met is met. In a bound "measured >= c gamma" too the lower end replaces gamma: a value below it
violates the statement for certain. Comparisons allow for rounding, one part in 1e9.

m is the number of neurons, W all trained parameters, R the mean loss over the n training examples,
l the loss of one example, and (T,) the shape of an array with one value a frame.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.runs import Run
from core.study_file.experiment import LOSSES
from core.theorems import states
from core.theorems.arithmetic import divide as divide
from core.theorems.arithmetic import format_number as format_number
from core.theorems.arithmetic import log as log
from core.theorems.arithmetic import log_term as log_term
from core.theorems.arithmetic import power as power
from core.theorems.comparisons import compare_all_frames as compare_all_frames
from core.theorems.comparisons import compare_final as compare_final
from core.theorems.comparisons import compare_once as compare_once
from core.theorems.comparisons import last_value as last_value
from core.theorems.comparisons import leave_open as leave_open
from core.theorems.comparisons import margin_at_least as margin_at_least
from core.theorems.comparisons import where_proved as where_proved
from core.theorems.statement import Context, Hypothesis, proved_below
from core.theorems.states import State
from core.theorems.traces import counted_steps as counted_steps
from core.theorems.traces import fitted_frames as fitted_frames
from core.theorems.traces import last_log10_time as last_log10_time
from core.theorems.traces import least_before as least_before
from core.theorems.traces import log_norms as log_norms
from core.theorems.traces import log_times as log_times
from core.theorems.traces import step_size as step_size
from core.theorems.traces import times as times

Array = NDArray[np.float64]
HOMOGENEOUS_ROOM = 1e-6  # relative tolerance: a user's network may compute in float32
ROUNDING = states.ROUNDING
NAN = float("nan")


def at_least(text: str, needed: Any, present: Any) -> Hypothesis:
    """Return the hypothesis present >= needed, undecided if a number is not known.

    Parameters
    ----------
    text : str
        The condition in words.
    needed, present : float or array (T,)
        Needed and present value; NaN where unknown. Of an array the last value is reported and
        decides `met`, and `at` has the states of all frames.

    Returns
    -------
    Hypothesis
        Met up to 1e-9 of |needed|.
    """
    # The tolerance lowers the requirement, also if it is negative.
    return _make_hypothesis((text, ">="), needed, present, present >= needed - _room(needed))


def at_most(text: str, needed: Any, present: Any) -> Hypothesis:
    """Return the hypothesis present <= needed, undecided if a number is not known.

    Parameters
    ----------
    text : str
        The condition in words.
    needed, present : float or array (T,)
        As in `at_least`.

    Returns
    -------
    Hypothesis
        Met up to 1e-9 of |needed|.
    """
    return _make_hypothesis((text, "<="), needed, present, present <= needed + _room(needed))


def less_than(text: str, needed: Any, present: Any) -> Hypothesis:
    """Return the hypothesis present < needed, undecided if a number is not known.

    Parameters
    ----------
    text : str
        The condition in words.
    needed, present : float or array (T,)
        As in `at_least`.

    Returns
    -------
    Hypothesis
        Without a tolerance: equal numbers do not meet it.
    """
    return _make_hypothesis((text, "<"), needed, present, present < needed)


def greater_than(text: str, needed: Any, present: Any) -> Hypothesis:
    """Return the hypothesis present > needed, undecided if a number is not known.

    Parameters
    ----------
    text : str
        The condition in words.
    needed, present : float or array (T,)
        As in `at_least`.

    Returns
    -------
    Hypothesis
        Without a tolerance: equal numbers do not meet it.
    """
    return _make_hypothesis((text, ">"), needed, present, present > needed)


def _room(needed: Any) -> Any:
    """Return the allowance for rounding, 1e-9 of |needed|; 0 where `needed` is not finite."""
    return np.where(np.isfinite(needed), ROUNDING * np.abs(needed), 0.0)


def _make_hypothesis(words: tuple[str, str], needed: Any, present: Any, met: Any) -> Hypothesis:
    """Return a hypothesis on numbers or arrays (T,); OPEN where a number is NaN.

    `words` are the text and the sense, and `met` (bool, or (T,) of bool) the condition itself. The
    last values are reported. `at` is None if all inputs are numbers.
    """
    unknown = np.isnan(needed) | np.isnan(present)
    states_ = np.where(unknown, State.OPEN, np.where(met, State.HOLDS, State.FAILS)).astype(np.int8)
    numbers = [float(np.atleast_1d(value)[-1]) for value in (needed, present)]
    (text, sense), trace = words, states_ if states_.ndim else None
    last = int(np.atleast_1d(states_)[-1])
    bound, measured = (format_number(one) for one in numbers)
    return Hypothesis(text, f"{sense} {bound}", measured, states.met_of(last), trace)


def positive(context: Context, name: str, text: str) -> Hypothesis:
    """Return the hypothesis that a reference margin is positive; if none exists, say why.

    Met if the proved lower end is positive. Fails if the margin is proved to be zero. Undecided for
    a margin that was not resolved or not computed, and for a margin whose bracket holds with some
    probability only.

    Parameters
    ----------
    context : Context
        Reference margins of the run.
    name : str
        Name of the margin, such as gamma_linear.
    text : str
        The condition in words.

    Returns
    -------
    Hypothesis
    """
    margin = context.margins.get(name)
    if margin is None:
        return Hypothesis(text, "> 0", "not known", None)
    bracket = margin.bracket
    if not bracket.exists:
        return Hypothesis(text, "> 0", bracket.method, False if bracket.is_zero else None)
    present = format_number(bracket.lower)
    # Beyond the plane gamma_ntk is known by a draw only, which may miss: it meets no hypothesis,
    # however narrow its bracket (decision 0008).
    if not proved_below(margin):
        return Hypothesis(text, "> 0", f"{present}, which {margin.certainty}", None)
    return Hypothesis(text, "> 0", present, bracket.lower > 0.0)


def width(run: Run, needed: Any, formula: str) -> Hypothesis:
    """Return the hypothesis m >= `needed` on the number m of neurons, as `at_least`.

    Parameters
    ----------
    run : Run
        Open run.
    needed : float or array (T,)
        Needed width; NaN if unknown.
    formula : str
        Formula of the needed width, as the paper prints it.

    Returns
    -------
    Hypothesis
    """
    return at_least(f"width m >= {formula}", needed, float(run.network.m))


def loss_is(run: Run, *kinds: str) -> Hypothesis:
    """Return the hypothesis that the run's loss is of one of `kinds`; a penalty does not count."""
    kind = run.loss.kind
    return Hypothesis("loss", " or ".join(kinds), kind, kind in kinds)


def exp_tailed(run: Run) -> Hypothesis:
    """Return the hypothesis that the loss has an exponential tail: exponential or logistic."""
    return loss_is(run, *(kind for kind, loss in LOSSES.items() if loss.exp_tailed))


def flow(run: Run) -> Hypothesis:
    """Return the hypothesis of gradient flow in log time without a penalty.

    Mirror flow meets it for networks of fixed features. All other dynamics fail it, descent and
    `plain_flow` too, which only approximate the flow. Any penalty fails it. Undecided for runs of
    other programs.
    """
    dynamics: Any = run.experiment.dynamics
    text = "gradient flow"
    if run.is_external:
        return _undecided_steps(run, text, "dW/dt = -grad R")
    if run.experiment.loss.is_penalised:
        present = f"{dynamics.words} with {_penalty(run)}"
        return Hypothesis(text, "dW/dt = -grad R", present, False)
    exact = dynamics.log_time and (dynamics.full_gradient or run.network.fixed_features)
    present = dynamics.words
    if not exact and getattr(dynamics, "step", None) is not None:
        present += f", step {format_number(float(dynamics.step))}: an approximation"
    return Hypothesis(text, "dW/dt = -grad R", present, exact)


def _undecided_steps(run: Run, text: str, needed: str) -> Hypothesis:
    """Return an undecided hypothesis on the steps, which other programs' recordings do not show."""
    return Hypothesis(text, needed, f"{run.experiment.dynamics.words}, which is not checked", None)


def standard_relu(run: Run) -> bool:
    """Return True for f(x) = sum_j a_j relu(<v_j, x>) of the kind `standard`, a and V trained.

    False for a leaky ReLU of this kind.
    """
    return run.network.kind == "standard" and run.network.plain_relu


def follows_gradient(run: Run, mirror: bool = False) -> bool:
    """Return True if W follows -grad R by flow or full-batch descent without momentum.

    With `mirror` True also for mirror flow. The dynamics alone decide, also for runs of other
    programs. The risk may have a penalty (`flow` and `plain_risk` exclude it).
    """
    dynamics = run.experiment.dynamics
    return dynamics.full_gradient or (mirror and dynamics.log_time)


def plain_risk(run: Run) -> Hypothesis:
    """Return the hypothesis of training without any penalty; undecided for other programs' runs."""
    if run.is_external:
        return _undecided_steps(run, "the risk without a penalty", "l2 = 0")
    plain = not run.experiment.loss.is_penalised
    return Hypothesis("the risk without a penalty", "l2 = 0", _penalty(run), plain)


def _penalty(run: Run) -> str:
    """Return the penalties of a run in words, l2 before l23; "l2 = 0" if it has none."""
    loss = run.experiment.loss
    l23 = [f"l23 = {format_number(loss.l23)}"] if loss.l23 > 0.0 else []
    l2 = [f"l2 = {format_number(loss.l2)}"] if loss.l2 > 0.0 or not l23 else []
    return ", ".join(l2 + l23)


def one_fresh_example(run: Run, present: str) -> Hypothesis:
    """Return the hypothesis of SGD on a single new example each step.

    `present` is the text for a run that meets it, and decides nothing. Batches of several examples,
    and steps on the training examples, fail. Undecided for runs of other programs.
    """
    if run.is_external:
        return _undecided_steps(run, "one fresh example a step", "fresh")
    dynamics = run.experiment.dynamics
    fresh = bool(getattr(dynamics, "fresh", False)) and getattr(dynamics, "batch", 1) == 1
    words = present if fresh else "the training examples, or batches"
    return Hypothesis("one fresh example a step", "fresh", words, fresh)


def balanced_start(run: Run) -> Hypothesis:
    """Return the hypothesis a_j(0)^2 - b_j(0)^2 = 0 for all j, up to 1e-9 |W_h(0)|^2.

    The network must have outer weights a_j b_j. W_h are its homogeneous parameters.
    """
    largest = float(np.abs(run.network.imbalance(run.origin)).max(initial=0.0))
    room = ROUNDING * run.network.norm(run.origin) ** 2
    text = "|a_j(0)| = |b_j(0)| for all j: max_j |a_j(0)^2 - b_j(0)^2|"
    return Hypothesis(text, "0", format_number(largest), largest <= room)


def homogeneous(run: Run) -> Hypothesis:
    """Return the hypothesis f(c W_h) = c^L f(W_h), W_h the homogeneous parameters, L the degree.

    A user's own network (kind `custom`) is tested at c = 2, on the training inputs at the run's
    start, up to 1e-6 of the largest output. Every other network meets it without a test: callers
    select homogeneous networks beforehand.
    """
    text = "f is L-homogeneous in its homogeneous parameters"
    network, degree = run.network, run.network.degree
    if network.kind != "custom":
        return Hypothesis(text, "L-homogeneous", f"{network.kind}, L = {degree}", True)
    flat = run.start.parameters
    doubled = network.outputs(network.physical(flat, math.log(2.0)), run.inputs)
    expected = 2.0**degree * network.outputs(flat, run.inputs)
    difference = float(np.abs(doubled - expected).max())
    met = bool(difference <= HOMOGENEOUS_ROOM * float(np.abs(expected).max()))
    present = f"L = {degree} by its file, apart by {format_number(difference)}"
    return Hypothesis(text, "f(2 W) = 2^L f(W)", present, met)


def unit_ball(run: Run) -> Hypothesis:
    """Return the hypothesis |x_i| <= 1 for the training inputs as given, up to 1e-9."""
    # Assumed throughout telgarsky22 and homogeneity; the data D of wei19 have |x| = sqrt(d - 1).
    largest = float(np.linalg.norm(run.dataset.x, axis=1).max())
    return at_most("inputs |x| <= 1", 1.0, largest)


def paper_start(run: Run, law: str) -> Hypothesis:
    """Return the hypothesis that the parameters at t = 0 were drawn by the paper's law.

    `law` is the text of the law, and decides nothing. Met by `init = "paper"` alone, also the value
    of networks without that setting. Undecided for the start of another program, and for a run of
    which the start is not known. Fails for dynamics that draw their own start, and for a run that
    continues a run with another loss or dynamics.
    """
    section: Any = run.experiment.network
    init = getattr(section, "init", "paper")
    present = f'init = "{init}"'
    if run.is_external:
        words = "the start of another program, whose law is not known"
        return Hypothesis(f"start {law}", 'init = "paper"', words, None)
    if run.has_changed_rule:
        words = "the end of a run with other settings"
        return Hypothesis(f"start {law}", 'init = "paper"', words, False)
    if not run.complete:
        words = f"{present}, then an unknown run"
        return Hypothesis(f"start {law}", 'init = "paper"', words, None)
    particles = getattr(run.experiment.dynamics, "particles", "network")
    if particles != "network":  # the perturbed flow draws its own start
        return Hypothesis(f"start {law}", 'init = "paper"', f'particles = "{particles}"', False)
    return Hypothesis(f"start {law}", 'init = "paper"', present, init == "paper")


def known_law(run: Run, needed: str) -> Hypothesis:
    """Return the hypothesis that the law of the data is known, undecided for files and points.

    `needed` is the text of the needed law, and decides nothing: every known law meets it.
    """
    data = run.experiment.data
    if not data.known_law:
        words = "data from a file" if data.embedded else "points of the study file"
        return Hypothesis("the law of the data", needed, f"{words}: the law is not known", None)
    return Hypothesis("the law of the data", needed, f"{data.kind}, known", True)
