"""Lines of a study's figure against closed forms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.studies.cells import RecordedValues, StudyCell, cell_of
from core.studies.layout import PanelLayout, parse_layout
from core.studies.panel_lines import Line, lines_of
from core.studies.statistics import (
    first_below,
    fitted_slope,
    mean_bar,
    ratio_of_means,
    slope_of,
)
from core.studies.study import parse_study
from core.study_file.validation import build_experiment


def cell(
    value: Callable[[str, float], float], times: Any = (1.0, 10.0, 100.0), **settings: Any
) -> StudyCell:
    """Return a cell with made-up observables; `value` gets a name and t."""
    keys = {key.replace("__", "."): number for key, number in settings.items()}
    t = np.array([0.0, *times])
    with np.errstate(divide="ignore"):
        log10_times = np.log10(t)
    steps = np.round(t * 10).astype(np.int64)
    record = RecordedValues(log10_times, steps, lambda name, frame: value(name, float(t[frame])))
    return StudyCell(keys, lambda: record)


def panel(**table: Any) -> PanelLayout:
    table = {"kind": "sweep", "x": "data.d", "y": "risk"} | table
    return parse_layout({"panels": [table]}, "test").panels[0]


def grid(value: Callable[[int, int], float], spread: str = "sd") -> tuple[Line, ...]:
    cells = [
        cell(lambda _n, _t, d=d, seed=seed: value(d, seed), data__d=d, run__seed=seed)
        for d in (8, 2, 4)
        for seed in (0, 1, 2)
    ]
    random.Random(3).shuffle(cells)
    return lines_of(panel(spread=spread), cells)


def test_a_factor_that_a_file_name_does_not_have_is_refused() -> None:
    """A copy that a file manager has made, of which nothing says its factor."""
    text = '[axes]\n"factor.c" = [0.5, 2]\n[derived]\n"network.m" = "8 * c"\n'
    study = parse_study(text, "mine")
    path = Path("mine__factor.c=0.5 (copy).msrun")
    run = SimpleNamespace(path=path, experiment=build_experiment({"network": {"m": 4}}, "mine"))
    with pytest.raises(InputError, match=r"copy.*factor\.c = 0\.5 \(copy\), which is not a number"):
        cell_of(run, study)


def test_a_sweep_has_means_and_standard_deviations() -> None:
    """Values d + {-1, 0, 1}: mean d, sample standard deviation 1."""
    (line,) = grid(lambda d, seed: d + seed - 1.0)
    assert line.x.tolist() == [2.0, 4.0, 8.0]
    assert line.mean == pytest.approx([2.0, 4.0, 8.0])
    assert line.high - line.mean == pytest.approx([1.0] * 3)
    assert line.mean - line.low == pytest.approx([1.0] * 3)
    assert line.count.tolist() == [3, 3, 3]


def test_two_standard_errors() -> None:
    (line,) = grid(lambda d, seed: d + seed - 1.0, "2se")
    assert line.high - line.mean == pytest.approx([2.0 / math.sqrt(3.0)] * 3)


def test_logarithms_have_geometric_means() -> None:
    """Of e^-1, 1, e: mean 1, and one standard deviation is a factor e."""
    ends = mean_bar(np.exp([-1.0, 0.0, 1.0]).tolist(), "sd", log=True)
    assert ends == pytest.approx((1.0, math.exp(-1.0), math.e))


def test_runs_without_a_number_do_not_count() -> None:
    (line,) = grid(lambda d, seed: math.nan if seed == 0 else float(d * seed))
    assert line.count.tolist() == [2, 2, 2]
    assert line.mean == pytest.approx([3.0, 6.0, 12.0])


def test_moments_are_lines() -> None:
    """At steps 10 and 1000, which are t = 1 and 100, of an observable t^2 d."""
    cells = [cell(lambda _n, t, d=d: t * t * d, data__d=d) for d in (2, 3)]
    lines = lines_of(panel(steps=[10, 1000]), cells)
    assert [line.value for line in lines] == [10.0, 1000.0]
    assert lines[0].mean.tolist() == [2.0, 3.0]
    assert lines[1].mean.tolist() == [2e4, 3e4]
    by_time = lines_of(panel(log10_times=[0, 2]), cells)
    assert [line.mean.tolist() for line in by_time] == [line.mean.tolist() for line in lines]


def test_formulas_know_the_start_sizes_and_factors() -> None:
    """(t + 1)/1 * n / c, at t = 100."""
    one = cell(lambda _n, t: t + 1.0, data__d=4, data__n=6, factor__c=3.0)
    (line,) = lines_of(panel(y="risk / risk_0 * n / c", x="n / d"), [one])
    assert (line.x.tolist(), line.mean.tolist()) == ([1.5], [202.0])


def test_a_formula_with_a_function_is_undefined_where_the_function_is() -> None:
    """At t = 100, where the first run has risk 0: it does not count, as without a function."""
    cells = [cell(lambda _n, t, d=d: t * (d - 2), data__d=d) for d in (2, 3)]
    for y, value in (("ln(risk)", math.log(100.0)), ("1 / risk", 0.01), ("1e-3 * risk", 0.1)):
        (line,) = lines_of(panel(y=y), cells)
        assert line.mean[-1] == pytest.approx(value)
        assert np.isnan(line.mean[0]) or y.startswith("1e")


def test_a_name_that_does_not_exist_is_refused() -> None:
    one = cell(lambda _n, t: t, data__d=4)
    for y in ("rsik", "rotation", "risk + q"):
        with pytest.raises(InputError, match=r"known|more than one"):
            lines_of(panel(y=y), [one])
    with pytest.raises(InputError, match=r"not a setting|not known"):
        lines_of(panel(x="data.dd"), [one])


def test_where_and_lines() -> None:
    cells = [
        cell(lambda _n, _t, m=m, d=d: float(m * d), data__d=d, network__m=m, variant=name)
        for m in (16, 2)
        for d in (1, 3)
        for name in ("flow", "SGD")
    ]
    lines = lines_of(panel(lines="network.m", where={"variant": "SGD"}), cells)
    assert [line.value for line in lines] == [2, 16]
    assert [line.mean.tolist() for line in lines] == [[2.0, 6.0], [16.0, 48.0]]
    assert lines[0].count.tolist() == [1, 1]
    assert lines_of(panel(where={"variant": ["flow", "SGD"]}), cells)[0].count.tolist() == [4, 4]
    assert lines_of(panel(where={"variant": "kernel"}), cells) == ()


def test_unfit_runs_are_left_out() -> None:
    cells = [
        cell(lambda n, _t, e=e: e if n == "train_error" else 1.0 + e, data__d=2) for e in (0.0, 0.5)
    ]
    (line,) = lines_of(panel(exclude_unfit=True), cells)
    assert (line.mean.tolist(), line.count.tolist()) == ([1.0], [1])


def test_traces_of_other_times_are_interpolated_in_log_time() -> None:
    """Both runs follow log10 t exactly, at different moments: the mean is log10 t, without spread.

    Where the second run has no moment yet, only the first counts.
    """
    cells = [
        cell(lambda _n, t: math.log10(t) if t else 0.0, times=times, run__seed=seed)
        for seed, times in enumerate([(1.0, 10.0, 100.0), (2.0, 50.0, 100.0)])
    ]
    for x in ("t", "step"):
        (line,) = lines_of(panel(kind="traces", x=x, y="risk"), cells)
        assert line.mean == pytest.approx([0.0, 1.0, 2.0])
        assert line.high - line.low == pytest.approx([0.0] * 3, abs=1e-12)
        assert line.count.tolist() == [1, 2, 2]


def test_a_trace_against_an_observable() -> None:
    one = cell(lambda name, t: t if name == "distance" else 2.0 * t)
    (line,) = lines_of(panel(kind="traces", x="distance", y="risk", x_scale="linear"), [one])
    assert line.x.tolist() == [0.0, 1.0, 10.0, 100.0]
    assert line.mean.tolist() == [0.0, 2.0, 20.0, 200.0]


def test_crossings_and_their_slope() -> None:
    """An error of .1 (3 d^2/n) falls to .1 at n = 3 d^2 exactly where it is log-linear in n."""

    def error(n: int, d: int) -> float:
        return 0.1 + 0.2 * math.log(3.0 * d * d / n)

    cells = [
        cell(lambda _n, _t, n=n, d=d: error(n, d), data__n=n, data__d=d, run__seed=seed)
        for d in (4, 8, 16)
        for n in (10, 30, 100, 300, 1000, 3000)
        for seed in (0, 1)
    ]
    layout = panel(kind="crossing", y="test_error", along="data.n", level=0.1)
    (line,) = lines_of(layout, cells)
    assert line.mean == pytest.approx([48.0, 192.0, 768.0])
    assert line.slope is not None
    assert line.slope == pytest.approx((2.0, 2.0, 2.0))


def test_crossings_that_were_not_seen() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert math.isnan(first_below(x, np.array([0.5, 0.4, 0.3]), 0.1))
    assert math.isnan(first_below(x, np.array([0.05, 0.0, 0.0]), 0.1))
    assert first_below(x, np.array([0.5, 0.1, 0.3]), 0.1) == 2.0


def test_a_slope_and_its_error_against_scipy() -> None:
    from scipy.stats import linregress

    rng = np.random.default_rng(1)
    x = np.array([2.0, 3.0, 5.0, 9.0, 14.0])
    y = 3.0 * x**1.4 * np.exp(0.1 * rng.standard_normal(5))
    found, other = fitted_slope(x, y), linregress(np.log(x), np.log(y))
    assert found is not None
    assert found == pytest.approx((other.slope, other.stderr))
    assert fitted_slope(x[:1], y[:1]) is None
    # Points without a logarithm are left out.
    zeros = fitted_slope(np.append(x, [0.0, 1.0]), np.append(y, [1.0, 0.0]))
    assert zeros == pytest.approx(found)


def test_the_interval_of_a_slope_is_that_of_students_t() -> None:
    from scipy.stats import linregress, t

    x = np.array([2.0, 3.0, 5.0, 9.0, 14.0])
    y = 3.0 * x**1.4 * np.exp(0.1 * np.random.default_rng(1).standard_normal(5))
    # One seed has no bootstrap.
    slope = slope_of([(one, {0: value}) for one, value in zip(x, y, strict=True)], "mean")
    wanted = linregress(np.log(x), np.log(y))
    half = t.ppf(0.975, 3) * wanted.stderr
    assert (slope.low, slope.high) == pytest.approx((wanted.slope - half, wanted.slope + half))
    assert "regression residuals" in slope.note


def test_the_interval_of_a_ratio_holds_the_middle_of_the_resamples() -> None:
    """Against other resamples, and the percentiles of another function."""
    first, second = np.ones(20), np.arange(20.0)
    value, low, high = ratio_of_means(first, second)
    assert value == 9.5
    means = np.random.default_rng(7).choice(second, (20_000, 20)).mean(axis=1)
    assert low == pytest.approx(np.percentile(means, 2.5), abs=0.15)
    assert high == pytest.approx(np.percentile(means, 97.5), abs=0.15)
