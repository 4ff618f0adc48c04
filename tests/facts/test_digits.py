"""Batch norm on digits 3 and 8 (docs/theory.md, 7.9; batchnorm, Figure 1)."""

from __future__ import annotations

import numpy as np
import pytest

from core.problem.problem import Problem, resolve_problem
from core.study_file.validation import build_experiment
from tests.frames_in_chunks import trajectory


def digits(kind: str) -> Problem:
    """Return 3 against 8, m = 512, eta = .1, 1,000 steps in single precision."""
    tables = {
        "data": {"kind": "digits", "classes": [3, 8], "scale": "centred", "n": 300},
        "network": {"kind": kind, "m": 512},
        "loss": {"kind": "logistic"},
        "dynamics": {"kind": "gd", "step": 0.1, "until_log10_time": 2.0},
        "recording": {"frames": 3},
        "run": {"precision": "float32"},
    }
    return resolve_problem(build_experiment(tables, "test"))


@pytest.mark.parametrize(("kind", "risk"), [("batch_norm", 0.00105), ("standard", 0.035)])
def test_risk_with_and_without_batch_norm(kind: str, risk: float) -> None:
    """.00105 with it, .035 without, on a subset that is not known: within 12 %."""
    at = digits(kind)
    assert np.linalg.norm(at.dataset.x, axis=1).max() <= 1.0 + 1e-12
    assert np.abs(at.dataset.x.mean(axis=0)).max() < 1e-12
    last = list(trajectory(at))[-1]
    assert last.step == 1000
    assert np.exp(at.loss.log_risk(at.scores(last.parameters.astype(np.float64)))) == pytest.approx(
        risk, rel=0.12
    )
