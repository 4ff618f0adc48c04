"""wei19: bounds, hypotheses and verdicts recomputed from the papers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.problem.problem import points_for_test
from core.runs import Run
from core.theorems import common
from core.theorems.report import report
from core.theorems.statement import Verdict
from tests.support.judged_runs import (
    condition,
    exactly,
    margin,
    margins_of,
    of_paper,
    problem_of,
    recorded_run,
)

DELTA = 0.1
GD = {"kind": "gd", "step": 0.2, "until_log10_time": 3.0}
BEST = "Theorem 4.3, Proposition B.10"


def hard_margins(run: Run) -> np.ndarray:
    """Return min y f / |Theta|^2 of the standard network by hand."""
    found = []
    for index in range(run.frames):
        parts = run.network.unpack(run.parameters(index))
        f = np.maximum(run.dataset.x @ parts["V"].T, 0.0) @ parts["a"]
        found.append((run.dataset.y * f).min() / np.square(run.parameters(index)).sum())
    return np.array(found)


def test_the_kernel_on_d(tmp_path: Path) -> None:
    data = {"kind": "wei19", "d": 4, "n": 12}
    at = problem_of({"m": 8}, {"kind": "kernel"}, "squared", data)
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "wei19", DELTA)["Theorem 2.1 (i)"]
        test = points_for_test(run.problem)
        assert test is not None
        f = run.network.outputs(run.parameters(run.frames - 1), test.x)
    assert one.verdict is Verdict.NO_CONSTANT
    assert (condition(one, "n <= d^2").needed, condition(one, "n <= d^2").met) == ("<= 16", True)
    # A lower bound without its constant: no number is promised, and none is shown as if it were.
    assert one.comparison.sense == ">="
    assert math.isnan(one.comparison.bound)
    assert one.comparison.holds is None
    assert "Omega(1)" in one.comparison.why
    assert one.comparison.measured == pytest.approx(float((test.y * f <= 0.0).mean()))
    assert one.comparison.measured > 0.0
    assert f"measured {one.comparison.measured:.6g}\n" in str(report(one))


@pytest.mark.parametrize(("n", "met"), [(12, True), (20, False)])
def test_the_network_on_d(tmp_path: Path, n: int, met: bool) -> None:
    data = {"kind": "wei19", "d": 4, "n": n}
    at = problem_of({"m": 8}, GD, {"kind": "logistic", "l2": 1e-4}, data)
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "wei19", DELTA)["Theorem 2.1 (ii)"]
    assert one.comparison.bound == pytest.approx(math.sqrt(4 / n))
    assert one.verdict is Verdict.NO_CONSTANT
    assert condition(one, "n <= d^2").met is met
    assert (condition(one, "width").needed, condition(one, "width").met) == (">= 4", True)
    assert condition(one, "global minimiser").met is None


def test_margins_of_a_penalised_network(tmp_path: Path) -> None:
    """gamma* = gamma_gl/2; C.2 with alpha <= 2 is gamma*/20; 4.1 is a limit, never a verdict."""
    at = problem_of({"m": 24}, GD, {"kind": "logistic", "l2": 1e-3})
    margins = exactly(gamma_gl=0.16)
    with recorded_run(tmp_path / "run", at) as run:
        found, hard = of_paper(run, margins, "wei19", DELTA), hard_margins(run)
        error = run.dataset.n, float(np.linalg.norm(run.dataset.x, axis=1).max())
    limit, near = found["Theorem 4.1"], found["Theorem C.2"]
    assert (limit.comparison.bound, limit.verdict) == (0.08, Verdict.UNDECIDED)
    assert limit.comparison.measured == pytest.approx(hard[-1])
    assert near.comparison.bound == pytest.approx(0.08 / 20)
    assert condition(near, "alpha").met is None
    assert near.verdict in (Verdict.HOLDS_ANYWAY, Verdict.VIOLATED_NOT_MET)
    best = found[BEST].comparison
    assert hard[-1] > 0
    assert best.bound == 0.08
    assert best.measured_trace == pytest.approx(hard)
    assert best.bound_trace is not None
    assert (np.isnan(best.bound_trace) == (hard < 0)).all()
    assert found[BEST].verdict is Verdict.HOLDS
    # Corollary 4.2: C/(gamma sqrt(2 n)) + sqrt(ln log2(4 C/gamma)/n) + sqrt(ln(1/delta)/n).
    shape = found["Corollary 4.2, Proposition D.1"]
    n, C = error
    bound = C / (hard[-1] * math.sqrt(2 * n))
    bound += math.sqrt(math.log(math.log2(4 * C / hard[-1])) / n)
    bound += math.sqrt(math.log(1 / DELTA) / n)
    assert shape.comparison.bound_trace is not None
    assert shape.comparison.bound_trace[-1] == pytest.approx(bound)
    assert shape.verdict is Verdict.NO_CONSTANT


def test_only_a_proved_upper_end_refutes(tmp_path: Path) -> None:
    """A heuristic upper end may be too low: then nothing is said."""
    with recorded_run(tmp_path / "run", problem_of({"m": 24}, GD)) as run:
        low = margin("gamma_gl", 1e-4)
        proved = of_paper(run, {"gamma_gl": low}, "wei19")[BEST]
        guess = replace(low, bracket=replace(low.bracket, certified=False))
        heuristic = of_paper(run, {"gamma_gl": guess}, "wei19")[BEST]
    assert proved.verdict is Verdict.VIOLATED
    assert heuristic.verdict is Verdict.UNDECIDED
    assert "not proved" in heuristic.comparison.why


def test_networks_on_the_line(tmp_path: Path) -> None:
    """With biases gamma* is gamma_l1/2, exact in one dimension; no network has more."""
    data = {"kind": "intervals", "n": 8}
    at = problem_of({"kind": "bias", "m": 30}, GD, {"kind": "logistic", "l2": 1e-4}, data)
    with recorded_run(tmp_path / "run", at) as run:
        margins = margins_of(at)
        found = of_paper(run, margins, "wei19")
        parts = run.network.unpack(run.parameters(run.frames - 1))
        squared = sum(float(np.square(part).sum()) for part in parts.values())
        outputs = run.network.outputs(run.parameters(run.frames - 1), run.inputs)
        hard = (run.dataset.y * outputs).min() / squared
    upper = margins["gamma_l1"].bracket.upper
    assert found["Theorem 4.1"].comparison.bound == pytest.approx(
        margins["gamma_l1"].bracket.lower / 2
    )
    assert found["Theorem 4.1"].comparison.measured == pytest.approx(hard)
    assert hard <= upper / 2


def test_several_classes_are_a_limit(tmp_path: Path) -> None:
    data = {"kind": "digits", "classes": [0, 1, 2], "n": 30}
    at = problem_of(
        {"kind": "multiclass", "m": 8},
        {"kind": "gd", "step": 0.01, "until_log10_time": -1.0},
        {"kind": "cross_entropy", "l2": 1e-3},
        data,
    )
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "wei19")["Theorem C.1"]
    assert one.verdict is Verdict.UNDECIDED
    assert "not computed" in one.comparison.why


def test_the_perturbed_flow_is_a_shape(tmp_path: Path) -> None:
    dynamics = {"kind": "perturbed", "sigma": 1e-3, "step": 0.2, "until_log10_time": 1.0}
    at = problem_of({"m": 16}, dynamics, {"kind": "logistic", "l2": 1e-3})
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "wei19")["Theorem 3.3"]
        risks = [
            float(np.logaddexp(0, -run.problem.margins(run.parameters(k))).mean())
            for k in (0, run.frames - 1)
        ]
        # Its particles start on the sphere, not at the papers' Gaussian start.
        start = condition(of_paper(run, {}, "telgarsky22")["Lemma A.2 (norms)"], "start")
    assert one.verdict is Verdict.NO_CONSTANT
    assert [one.comparison.bound, one.comparison.measured] == pytest.approx(risks)
    smooth, sigma = condition(one, "Assumption 3.1"), condition(one, "sigma")
    assert (smooth.met, sigma.met, sigma.present) == (False, None, common.format_number(1e-3))
    assert (start.met, start.present) == (False, 'particles = "sphere"')
