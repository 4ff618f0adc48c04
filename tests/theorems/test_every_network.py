"""Every kind of network under flow and descent: what is judged, and nothing is violated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.problem.problem import Start
from core.theorems.statement import Verdict
from tests.frames_in_chunks import trajectory
from tests.networks import HEADS, HOMOGENEOUS, TWO_LAYER, UNCOMPILED, Case, small_problem
from tests.support.judged_runs import (
    check_margins,
    judge,
    margins_of,
    recorded_run,
    violated_statements,
)

FLOW = {"kind": "flow", "until_log10_time": 2.5}
GD = {"kind": "gd", "step": 0.1, "until_log10_time": 2.0}
# The flow of a head has no kernel: a step takes 10 ms.
HEAD_FLOWS = ((HEADS[0], {"kind": "flow", "until_log10_time": -0.75}, 12),)


@pytest.mark.parametrize(
    ("case", "dynamics", "n"),
    [
        *((case, FLOW, 6) for case in HOMOGENEOUS),
        *HEAD_FLOWS,
        *((case, GD, 6) for case in (*TWO_LAYER, *UNCOMPILED, *HEADS)),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else str(value),
)
def test_nothing_is_violated(case: Case, dynamics: dict[str, Any], n: int, tmp_path: Path) -> None:
    # As wide as Lemma B.1 needs: without a good measure its search takes a second.
    m = 100 if case.kind == "normalised" else 9
    at = small_problem(case, dynamics, n=n, d=7 if n < 10 else 5, m=m, recording={"frames": 8})
    with recorded_run(tmp_path / "run", at) as run:
        margins = margins_of(at)
        found = judge(run, margins)
        assert violated_statements(found) == []
        for one in found.values():
            assert all(isinstance(hypothesis.present, str) for hypothesis in one.hypotheses)
            if one.verdict is Verdict.UNDECIDED:
                assert one.comparison.why
            for trace in (one.comparison.bound_trace, one.comparison.measured_trace):
                assert trace is None or trace.shape == (run.frames,)
        check_margins(run, margins.get("gamma_gl"))


def test_nothing_is_violated_by_a_head_that_fits(tmp_path: Path) -> None:
    """From where descent has brought it below R = l(0)/n, in 60 steps of the flow, not 300."""
    fitting, flow = GD | {"until_log10_time": 0.7}, FLOW | {"until_log10_time": 0.3}
    last = list(trajectory(small_problem(HEADS[1], fitting, n=6)))[-1].parameters
    marks = np.linspace(-0.3, 0.25, 6).tolist()
    at = small_problem(HEADS[1], flow, n=6, recording={"frames": 8, "log10_times": marks})
    with recorded_run(tmp_path / "run", replace(at, start=Start(last, last))) as run:
        found = judge(run, margins_of(at))
        assert violated_statements(found) == []
        for key in (("telgarsky22", "Lemma A.4"), ("homogeneity", "Theorem 3.6")):
            assert found[key].verdict is Verdict.HOLDS, key


@pytest.mark.parametrize("seed", range(4))
def test_monotone_statements_hold_along_the_flow(seed: int, tmp_path: Path) -> None:
    """Lemma A.4, Theorem 3.6 and Lemma A.5, on other samples and further in time."""
    case = Case("standard", "exponential")
    at = small_problem(
        case,
        {"kind": "flow", "until_log10_time": 100.0},
        d=5,
        n=10,
        m=32,
        seed=seed,
        recording={"frames": 40},
    )
    with recorded_run(tmp_path / "run", at) as run:
        found = judge(run, {})
        for key in (
            ("telgarsky22", "Lemma A.4"),
            ("telgarsky22", "Lemma A.5"),
            ("homogeneity", "Theorem 3.6"),
            ("homogeneity", "Lemma A.1 (2)"),
        ):
            assert found[key].verdict is Verdict.HOLDS, key
        trace = found["homogeneity", "Theorem 3.6"].comparison.measured_trace
        assert trace is not None
        assert np.isfinite(trace).sum() > 10
