"""Measures over the frames of each run: statements about a time span, and not about its end.

`span` is the least, largest or mean value between two moments; `fall` how far a quantity ever falls
below an earlier value; `when` where it first passes a level; `statement` the paper's own bound
beside the measured value, at the worst frame. All bring the runs together by `over`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import final

import numpy as np

from core.errors import InputError, did_you_mean
from core.reference.margin import ReferenceMargin
from core.runs import Run, open_run
from core.studies.claims import Quantity
from core.studies.measures.measurement import (
    Array,
    Measurement,
    aggregate_values,
    number,
    option,
    share_of_rises,
    statistic,
)
from core.studies.statistics import NAN, aggregate
from core.studies.trials import Trial
from core.theorems.statement import Context, assess

MARGIN_SECONDS = 20.0  # limit for a reference margin; then the bracket found so far is used


def span(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return a statistic `by` (min, max, mean, median) of the formula `of` over frames.

    The frames are those with `since` <= log10 t <= `until`, and with `after` those from the first
    on at which that formula is positive. With `nodes` (min, max, mean, median) `of` is an
    observable of each neuron, reduced by that statistic at every frame. A run without such frames,
    or with a frame that has no number, has no number.
    """
    by = statistic(str(option(quantity, "by")), "by")
    numbers = []
    for trial in trials:
        values = _values_over_frames(trial, quantity)
        is_finite = values.size > 0 and bool(np.isfinite(values).all())
        numbers.append(aggregate([*values], by) if is_finite else NAN)
    return aggregate_values(numbers, quantity.over)


def fall(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return the largest relative fall of the formula `of` over the frames of `span`.

    That is max over s < t of (y_s - y_t - room_t)/|y_s|, and 0 for a formula that never falls;
    `room` is a formula for the error of a frame, 0 by default. A run with fewer than two such
    frames has no number.
    """
    numbers = []
    for trial in trials:
        values = _values_over_frames(trial, quantity)
        room = np.zeros(values.size)
        if "room" in quantity.options:
            room = _values_over_frames(trial, quantity, "room")
        is_finite = values.size > 1 and bool(np.isfinite(values).all() and np.isfinite(room).all())
        numbers.append(largest_fall(values, room) if is_finite else NAN)
    return aggregate_values(numbers, quantity.over)


def rises(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return the share of intervals between frames of `span` in which the formula `of` rises."""
    values = [share_of_rises(_values_over_frames(trial, quantity)) for trial in trials]
    return aggregate_values(values, quantity.over)


def largest_fall(values: Array, room: Array) -> float:
    """Return max over s < t of (y_s - y_t - room_t)/|y_s|, at least 0; y and room are (k,).

    >>> largest_fall(np.array([1.0, 2.0, 1.5, 3.0]), np.zeros(4))
    0.25
    """
    worst, top = 0.0, values[0]
    for value, slack in zip(values[1:], room[1:], strict=True):
        if value < top:
            worst = max(worst, (top - value - slack) / abs(top) if top else math.inf)
        top = max(top, value)
    return float(worst)


def measure_first_passage(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return where the formula `of` first passes `level` over the frames of `span`.

    The place is t, or the formula `x`, linear between the two frames. A run that does not pass the
    level, or starts at it, has no number; frames at which `of` has no number are left out.
    """
    level = float(option(quantity, "level"))
    numbers = []
    for trial in trials:
        values = _values_over_frames(trial, quantity)
        has_x = "x" in quantity.options
        places = (
            _values_over_frames(trial, quantity, "x")
            if has_x
            else _at_frames(trial, quantity, _times(trial))
        )
        is_known = np.isfinite(values) & np.isfinite(places)
        numbers.append(first_passage(places[is_known], values[is_known], level))
    return aggregate_values(numbers, quantity.over)


def first_passage(x: Array, y: Array, level: float) -> float:
    """Return the x at which y first reaches a level, or the other side of it than at its start.

    Parameters
    ----------
    x, y : array (k,)
        Points in their order, finite.
    level : float
        Level of y.

    Returns
    -------
    float
        Linear between two points; NaN if y starts at the level or never reaches it.

    Examples
    --------
    >>> first_passage(np.array([1.0, 2.0, 4.0]), np.array([3.0, 2.0, 0.0]), 0.5)
    3.5
    """
    above = y - level if y.size and y[0] > level else level - y
    passed = np.flatnonzero(above <= 0.0)
    if not passed.size or passed[0] == 0:
        return NAN
    k = int(passed[0])
    part = above[k - 1] / (above[k - 1] - above[k])
    return float(x[k - 1] + part * (x[k] - x[k - 1]))


def _times(trial: Trial) -> Array:
    """Return t of each frame, (T,); infinite beyond float64."""
    with np.errstate(over="ignore"):
        return np.asarray(10.0**trial.log10_times)


def _values_over_frames(trial: Trial, quantity: Quantity, name: str = "of") -> Array:
    """Return the formula of an option at the frames of the quantity, (k,)."""
    formula = str(option(quantity, name))
    if "nodes" in quantity.options and name == "of":
        by = statistic(str(quantity.options["nodes"]), "nodes")
        values = trial.node_trace(formula, lambda each: aggregate([*each], by))
    else:
        values = trial.trace(formula)
    return _at_frames(trial, quantity, values)


def _at_frames(trial: Trial, quantity: Quantity, values: Array) -> Array:
    """Return values of all frames (T,) at the frames of the quantity, (k,)."""
    times = trial.log10_times
    # 1e-9: frames of descent are at steps, whose log10 t equals a mark up to rounding.
    chosen = times >= number(quantity, "since", -math.inf) - 1e-9
    chosen &= times <= number(quantity, "until", math.inf) + 1e-9
    if "after" in quantity.options:
        positive = np.flatnonzero(trial.trace(str(quantity.options["after"])) > 0.0)
        first = int(positive[0]) if positive.size else times.size
        chosen &= np.arange(times.size) >= first
    return values[chosen]


@final
class RunMargins(Mapping[str, ReferenceMargin]):
    """Reference margins of a run, each computed when it is first read."""

    def __init__(self, run: Run) -> None:
        from core.reference.registry import references_of

        self._run = run
        self._references = {reference.name: reference for reference in references_of(run.problem)}

    def __getitem__(self, name: str) -> ReferenceMargin:
        from core.reference.cancel_token import CancelToken
        from core.reference.registry import compute

        # On demand: a margin may take its full time limit, and few statements need one.
        return compute(self._references[name], self._run.problem, CancelToken(MARGIN_SECONDS))

    def __iter__(self) -> Iterator[str]:
        return iter(self._references)

    def __len__(self) -> int:
        return len(self._references)


def statement(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return measured over bound of the statement `name`, at the worst frame of each run.

    The theorems' panel evaluates the same (core.theorems): the bound holds in a run where the
    number is at least 1 for "measured >= bound" and at most 1 for "<=". A run of which the
    statement decides nothing has no number.
    """
    ratios, met = [], 0
    for trial in trials:
        with open_run(trial.path) as run:
            ratio, hypotheses = _worst_ratio(run, str(option(quantity, "name")))
        ratios.append(ratio)
        met += hypotheses
    note = f"hypotheses met in {met} of {len(ratios)} runs"
    return aggregate_values(ratios, quantity.over, note)


def _worst_ratio(run: Run, name: str) -> tuple[float, bool]:
    """Return measured over bound at the worst frame, and True if all hypotheses are met."""
    from core.theorems.registry import applicable_statements

    by_name = {one.name: one for one in applicable_statements(run)}
    if name not in by_name:
        raise InputError(f"No statement {name} applies to this run: {did_you_mean(name, by_name)}")
    with np.errstate(all="ignore"):  # late frames overflow
        one = assess(by_name[name], Context(run, RunMargins(run)))
    stated, met = one.comparison, all(hypothesis.met for hypothesis in one.hypotheses)
    # "measured/bound" is compared with 1, which needs a positive bound.
    if stated.holds is None or not stated.bound > 0.0:
        return NAN, met
    return stated.measured / stated.bound, met
