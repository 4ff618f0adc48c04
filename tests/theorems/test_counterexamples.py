"""Runs on which a conclusion fails because a hypothesis does: none is "violated" with all met.

Each has a twin that keeps the hypothesis, or a bound by hand, so that the failure is the one meant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import trust
from core.problem.problem import Problem, resolve_problem
from core.study_file.validation import build_experiment
from core.theorems.statement import Assessment, Verdict
from tests.support.judged_runs import (
    Margins,
    condition,
    exactly,
    judge,
    margins_of,
    problem_of,
    recorded_run,
)

DELTA = 0.05


def stored(folder: Path, name: str, **arrays: Any) -> str:
    np.savez(folder / f"{name}.npz", **arrays)
    return str(folder / f"{name}.npz")


def points(folder: Path, x: Any, y: Any) -> dict[str, Any]:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return {"kind": "file", "path": stored(folder, "data", x=x, y=y)}


def assessed(
    folder: Path, at: Problem, margins: Margins, source: str, name: str, delta: float = DELTA
) -> Assessment:
    with recorded_run(folder / "run", at) as run:
        return judge(run, margins, delta)[source, name]


def refuted_only_without(one: Assessment, words: str) -> None:
    """Assert that the conclusion fails, and that only this hypothesis is not met."""
    assert one.verdict is Verdict.VIOLATED_NOT_MET
    assert condition(one, words).met is False


@pytest.mark.parametrize("far", [1000.0, 0.5])
def test_batchnorm_c_1_needs_the_unit_ball(far: float, tmp_path: Path) -> None:
    """x_1 = (far, 0) and 3,999 points near 0: N(v) is about |v_1| far/sqrt(4000)."""
    x = np.random.default_rng(0).normal(0.0, 1e-3, (4000, 2))
    x[0] = far, 0.0
    data = points(tmp_path, x, np.where(np.arange(4000) % 2 == 0, 1.0, -1.0))
    at = problem_of(
        {"kind": "batch_norm", "m": 2},
        {"kind": "gd", "step": 0.01, "until_log10_time": -2.0},
        data=data,
        frames=2,
        seed=3,
    )
    one = assessed(tmp_path, at, {}, "batchnorm", "Lemma C.1")
    if far > 1.0:
        refuted_only_without(one, "|x - mu| <= 1")
        assert one.comparison.bound == pytest.approx(4.0 * np.log(4000 / DELTA))
        assert one.comparison.measured == pytest.approx(91.2, abs=0.2)
        return
    assert one.verdict is Verdict.HOLDS


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_frei23_3_2_needs_its_outer_weights(scale: float, tmp_path: Path) -> None:
    """Item 3: with a_j = scale/sqrt(m) the nodes are 1/scale of what the formula says."""
    m, generator = 4, np.random.default_rng(0)
    a = scale * np.array([1.0, 1.0, -1.0, -1.0]) / np.sqrt(m)
    start = stored(tmp_path, "start", a=a, V=generator.normal(0.0, 0.1, (m, 6)))
    at = problem_of(
        {"kind": "fixed_outer", "m": m, "slope": 0.5, "init": "file", "init_path": start},
        {"kind": "flow", "until_log10_time": 1e4},
        "exponential",
        {"kind": "near_orthogonal", "d": 6, "n": 4, "coherence": 0.001},
    )
    one = assessed(tmp_path, at, {}, "frei23", "Theorem 3.2, item 3")
    if scale < 1.0:
        refuted_only_without(one, "outer weights")
        assert one.comparison.measured == pytest.approx(1.0 / scale - 1.0, rel=1e-3)
        return
    assert one.verdict is Verdict.HOLDS


@pytest.mark.parametrize("length", [10.0, 1.0])
def test_wei19_4_3_counts_every_weight(length: float, tmp_path: Path) -> None:
    """Fixed inner weights of norm 10 give ten times the margin for nothing."""
    data = points(tmp_path, [[0.6, 0.8], [-0.8, 0.6]], [1.0, -1.0])
    V = length * np.array([[0.6, 0.8], [-0.8, 0.6], [-0.6, -0.8], [0.8, -0.6]])
    start = stored(
        tmp_path, "start", V=V, a=np.array([1.0, -1.0, 1.0, -1.0]), b=np.array([1.0, 1.0, 0.1, 0.1])
    )
    at = problem_of(
        {"kind": "scalar", "m": 4, "init": "file", "init_path": start},
        {"kind": "gd", "step": 0.001, "until_log10_time": -1.0},
        data=data,
    )
    one = assessed(tmp_path, at, margins_of(at), "wei19", "Theorem 4.3, Proposition B.10")
    if length > 1.0:
        refuted_only_without(one, "every weight counts")
        return
    assert one.verdict is Verdict.HOLDS


@pytest.mark.parametrize("l2", [1.0, 0.0])
def test_frei23_4_2_needs_the_plain_risk(l2: float, tmp_path: Path) -> None:
    """A penalty keeps L at ln 2, which the bound falls below at alpha T = 64 n^2 or so."""
    network = {"kind": "fixed_outer", "m": 2, "slope": 1.0, "smooth": True, "init_multiple": 1e-7}
    data = points(tmp_path, np.eye(2), [1.0, -1.0])
    at = problem_of(
        network,
        {"kind": "gd", "step": 0.004, "until_log10_time": 3.0},
        {"kind": "logistic", "l2": l2},
        data,
    )
    one = assessed(tmp_path, at, {}, "frei23", "Theorem 4.2, item 1")
    if l2 > 0.0:
        refuted_only_without(one, "without a penalty")
        assert [h.text for h in one.hypotheses if not h.met] == ["the risk without a penalty"]
        return
    assert one.verdict is Verdict.HOLDS


@pytest.mark.parametrize("seed", range(3))
def test_batchnorm_c_2_needs_two_dimensions(seed: int, tmp_path: Path) -> None:
    """In d = 1 a node is as near to 0 as it likes: delta = .95 allows m = 1 there."""
    drawn = [s for s in range(40) if abs(np.random.default_rng(s).standard_normal(2)[1]) < 0.2]
    data = points(tmp_path, [[0.5], [-0.5]], [1.0, -1.0])
    at = problem_of(
        {"kind": "batch_norm", "m": 1},
        {"kind": "gd", "step": 0.01, "until_log10_time": -2.0},
        data=data,
        frames=2,
        seed=drawn[seed],
    )
    one = assessed(tmp_path, at, {}, "batchnorm", "Lemma C.2 (inner)", delta=0.95)
    refuted_only_without(one, "dimension d")
    assert [h.text for h in one.hypotheses if not h.met] == ["dimension d (for 1/|v_j|)"]


def test_batchnorm_e_1_needs_a_and_c_near_their_start(tmp_path: Path) -> None:
    """In d = 1 with eps = 0 the direction v/N(v) never moves, and one long step moves c far."""
    data = points(tmp_path, [[0.5], [-0.5], [0.3]], [1.0, -1.0, 1.0])
    at = problem_of(
        {"kind": "batch_norm", "m": 4},
        {"kind": "gd", "step": 1e5, "until_log10_time": 5.0},
        data=data,
        frames=2,
    )
    margins = exactly(gamma_a=0.5, gamma_c=0.2)
    one = assessed(tmp_path, at, margins, "batchnorm", "Lemma E.1")
    refuted_only_without(one, "|U_t - U_0|")
    assert condition(one, "|V_t - V_0|").met is True


SATURATES = """
degree = 2

def initial(generator, m, d, k):
    return {"w": 0.3 * generator.standard_normal((m, d))}

def outputs(parameters, x):
    w = parameters["w"]
    f = (x @ w.T).sum(dim=1)
    return 3.0 * f / (1.0 + f * f).sqrt()
"""


def test_a_degree_that_is_not_true_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """f of a user's file is bounded, and its file says degree = 2."""
    monkeypatch.setattr(trust, "is_trusted", lambda code: code == SATURATES)
    path = tmp_path / "network.py"
    path.write_text(SATURATES)
    tables = {
        "data": points(tmp_path, [[0.6, 0.8], [-0.8, -0.6]], [1.0, -1.0]),
        "network": {"kind": "custom", "path": str(path), "m": 2},
        "loss": {"kind": "exponential"},
        "dynamics": {"kind": "gd", "step": 0.05, "until_log10_time": 0.5},
        "recording": {"frames": 8},
    }
    at = resolve_problem(build_experiment(tables, "test"))
    with recorded_run(tmp_path / "run", at) as run:
        found = judge(run, {})
    for key in (
        ("homogeneity", "Theorem 3.6"),
        ("telgarsky22", "Lemma A.4"),
        ("telgarsky22", "Lemma A.5"),
    ):
        assert condition(found[key], "L-homogeneous").met is False, key
        assert found[key].verdict is not Verdict.VIOLATED


def test_a_lower_end_that_is_not_proved_decides_nothing(tmp_path: Path) -> None:
    """gamma_ntk of sampled nodes without a certificate: no bound, and the hypothesis is open."""
    from dataclasses import replace

    at = problem_of({"m": 8}, {"kind": "flow", "until_log10_time": 1.0}, "exponential")
    (margin,) = exactly(gamma_ntk=0.2).values()
    sampled = replace(margin, bracket=replace(margin.bracket, certified=False))
    with recorded_run(tmp_path / "run", at) as run:
        found = judge(run, {"gamma_ntk": sampled})
        proved = judge(run, {"gamma_ntk": margin})
    words = "Assumption 1.3: gamma_ntk of the sample"
    for name in ("Lemma 2.4 (margin)", "Lemma 2.4 (distance)", "Lemma 2.4 (rebalanced)"):
        one = found["telgarsky22", name]
        assert one.verdict is Verdict.UNDECIDED
        assert condition(one, words).met is None
        assert condition(one, words).present == "0.2, which holds except with probability 10^-6"
        assert condition(proved["telgarsky22", name], words).met is True


def test_an_upper_end_that_is_not_proved_refutes_nothing(tmp_path: Path) -> None:
    from dataclasses import replace

    at = problem_of({"m": 8}, {"kind": "gd", "step": 0.1, "until_log10_time": 0.0})
    low = exactly(gamma_gl=0.001, gamma_ntk=1e-5, gamma_linear=0.5)
    guessed = {
        name: replace(one, bracket=replace(one.bracket, certified=False))
        for name, one in low.items()
    }
    with recorded_run(tmp_path / "run", at) as run:
        sure, unsure = judge(run, low), judge(run, guessed)
    for name in (
        "Proposition 1.5 (1)",
        "Proposition 1.5 (2)",
        "Proposition 1.5 (3)",
        "Proposition 1.6 (1)",
        "Proposition 1.6 (2)",
    ):
        assert sure["telgarsky22", name].verdict is Verdict.VIOLATED, name
        assert unsure["telgarsky22", name].verdict is Verdict.UNDECIDED, name
        assert "not proved" in unsure["telgarsky22", name].comparison.why
