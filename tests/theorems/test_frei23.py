"""frei23: Theorems 3.1, 3.2, 3.4 and 4.2 where their hypotheses are met, and their constants."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.runs import Run
from core.theorems import common
from core.theorems.statement import Assessment, Verdict
from tests.support.judged_runs import condition, margins_of, of_paper, problem_of, recorded_run

GAMMA, M, D, N, COHERENCE = 0.5, 10, 40, 6, 0.005
DELTA = 0.05
NEAR = {"kind": "near_orthogonal", "d": D, "n": N, "coherence": COHERENCE}
LEAKY = {"kind": "fixed_outer", "slope": GAMMA, "m": M}


@pytest.fixture(scope="module")
def limit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Yield the leaky network at log10 t = 1e4 on data that meet (H)."""
    flow = {"kind": "flow", "until_log10_time": 1e4, "accuracy": "numbers"}
    at = problem_of(LEAKY, flow, "exponential", NEAR, frames=60)
    with recorded_run(tmp_path_factory.mktemp("runs") / "limit", at) as run:
        yield run


@pytest.fixture(scope="module")
def of_limit(limit: Run) -> dict[str, Assessment]:
    return of_paper(limit, margins_of(limit.problem), "frei23", DELTA)


def lengths(run: Run) -> tuple[float, float, float]:
    """Return Rmin, Rmax and P by hand."""
    x = run.dataset.x
    sizes = np.sqrt(np.square(x).sum(axis=1))
    pairs = [abs(x[i] @ x[j]) for i in range(len(x)) for j in range(i)]
    return float(sizes.min()), float(sizes.max()), float(max(pairs))


ITEMS = (
    "item 1",
    "item 2",
    "item 3",
    "item 3 (signs)",
    "item 3 (lower)",
    "item 3 (upper)",
    "item 4",
    "item 5",
    "item 6",
    "item 7 (margins)",
    "item 7 (norm)",
)


@pytest.mark.parametrize("item", ITEMS)
def test_theorem_3_2_holds(of_limit: dict[str, Assessment], item: str) -> None:
    one = of_limit[f"Theorem 3.2, {item}"]
    assert [hypothesis.text for hypothesis in one.hypotheses if not hypothesis.met] == []
    assert one.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "name",
    [
        "Theorem 3.1",
        "Theorem 3.4 (time)",
        "Theorem 3.4 (15)",
        "Theorem 3.4 (mean)",
        "Corollary 3.5",
    ],
)
def test_the_flow_holds(of_limit: dict[str, Assessment], name: str) -> None:
    assert all(hypothesis.met for hypothesis in of_limit[name].hypotheses)
    assert of_limit[name].verdict is Verdict.HOLDS


def test_orthogonality(limit: Run, of_limit: dict[str, Assessment]) -> None:
    """Rmin^2 >= 3 gamma^-3 R^2 n P."""
    low, high, most = lengths(limit)
    needed = 3 * GAMMA**-3 * (high / low) ** 2 * N * most
    found = condition(of_limit["Theorem 3.2, item 1"], "near-orthogonal")
    assert (found.needed, found.present) == (
        f">= {common.format_number(needed)}",
        common.format_number(low**2),
    )
    assert low**2 >= needed


def test_what_is_measured(limit: Run, of_limit: dict[str, Assessment]) -> None:
    """Items 1, 2, 4, 5 and 7 by hand at W with min p = 1."""
    x, y, a = limit.dataset.x, limit.dataset.y, limit.network.fixed["a"]
    V = limit.network.unpack(limit.parameters(limit.frames - 1))["V"]
    if limit.reduction is not None:
        V = limit.reduction.full(V)
    z = x @ V.T
    p = y * (np.maximum(z, GAMMA * z) @ a)
    V, p = V / p.min(), p / p.min()
    measured = {name: of_limit[f"Theorem 3.2, {name}"].comparison.measured for name in ITEMS}
    assert measured["item 1"] == pytest.approx(p.max() - 1.0, abs=1e-9)
    v, u = V[a > 0].mean(axis=0), V[a < 0].mean(axis=0)
    apart = [
        np.linalg.norm(row - mean) / np.linalg.norm(mean)
        for mean, group in ((v, V[a > 0]), (u, V[a < 0]))
        for row in group
    ]
    assert measured["item 2"] == pytest.approx(max(apart), rel=1e-6)
    line = (a[:, None] * V).sum(axis=0)
    assert measured["item 7 (margins)"] == pytest.approx((y * (x @ line)).min())
    # z*: all points support it, so that |z*|^2 = 1' (YXX'Y)^-1 1; m_1 = m_2, so that kappa = 1.
    signed = y[:, None] * x
    dual = np.linalg.solve(signed @ signed.T, np.ones(N))
    assert (dual > 0).all()
    allowed = 2 / (1 + GAMMA) * math.sqrt(dual.sum())
    assert measured["item 7 (norm)"] == pytest.approx(np.linalg.norm(line) / allowed, rel=1e-6)
    # The least |W|^2 from (K o G) lambda = 1 (docs/theory.md, 5.4): |W*|^2 = sum lambda.
    same, other = 0.5 * (1 + GAMMA**2), -GAMMA
    K = np.where(y[:, None] * y > 0, same, other)
    multipliers = np.linalg.solve(K * (x @ x.T), np.ones(N))
    excess = np.square(V).sum() / multipliers.sum() - 1.0
    assert measured["item 4"] == pytest.approx(excess, abs=1e-6)
    assert measured["item 5"] == pytest.approx(excess, abs=1e-4)
    low, high, _ = lengths(limit)
    assert measured["item 3 (lower)"] == pytest.approx(2 * high**2 * multipliers.min())
    upper = 2 / 3 * GAMMA**2 * low**2 * multipliers.max()
    assert measured["item 3 (upper)"] == pytest.approx(upper)


def test_constants_of_theorem_3_4(limit: Run, of_limit: dict[str, Assessment]) -> None:
    low, high, _ = lengths(limit)
    ratio = high / low
    p = limit.network.margins(limit.origin, limit.inputs, limit.dataset.y)
    start = np.exp(-p).mean()
    bound = 85 * start * ratio**2 * N**3 / (GAMMA**2 * low**2)
    assert of_limit["Theorem 3.4 (time)"].comparison.bound == pytest.approx(math.log10(bound))
    mean = of_limit["Theorem 3.4 (mean)"].comparison
    signed = limit.dataset.y[:, None] * limit.dataset.x
    direction = signed.sum(axis=0) / np.linalg.norm(signed.sum(axis=0))
    assert mean.bound == pytest.approx(math.sqrt(2) * low / (3 * ratio * math.sqrt(N)))
    assert mean.measured == pytest.approx((signed @ direction).min())


def test_the_time_is_not_judged_between_frames(tmp_path: Path) -> None:
    """With few frames the first one that fits comes after the bound; that refutes nothing."""
    flow = {"kind": "flow", "until_log10_time": 300.0}
    at = problem_of(LEAKY, flow, "exponential", {**NEAR, "seed": 0}, frames=4)
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "frei23")["Theorem 3.4 (time)"]
        times = run.log10_time.tolist()
    first = times.index(one.comparison.measured)
    assert times[first - 1] < one.comparison.bound < times[first]
    assert one.verdict is Verdict.UNDECIDED
    assert "between" in one.comparison.why


def test_before_its_limit_a_run_is_not_judged(tmp_path: Path) -> None:
    flow = {"kind": "flow", "until_log10_time": 2.0}
    with recorded_run(tmp_path / "run", problem_of(LEAKY, flow, "exponential", NEAR)) as run:
        one = of_paper(run, {}, "frei23")["Theorem 3.2, item 1"]
    assert one.verdict is Verdict.UNDECIDED
    assert "not a KKT point yet" in one.comparison.why


@pytest.mark.parametrize("eps", [0.001, 1.0 / 72.0])
def test_lemma_b_8(tmp_path: Path, eps: float) -> None:
    """lambda = 8/(4 eps + 5) twice and 8/5: here from the linear system of active constraints."""
    data = {"kind": "three_point", "eps": eps}
    flow = {"kind": "flow", "until_log10_time": 1.0}
    with recorded_run(tmp_path / "run", problem_of(LEAKY, flow, "exponential", data)) as run:
        one = of_paper(run, {}, "frei23")["Lemma B.8"]
        x, y = run.dataset.x, run.dataset.y
    assert one.verdict is Verdict.HOLDS
    assert condition(one, "eps").met is True
    K = np.where(y[:, None] * y > 0, 0.5 * (1 + 0.25), -0.5)
    by_hand = np.linalg.solve(K * (x @ x.T), np.ones(3))
    wanted = [8 / (4 * eps + 5), 8 / (4 * eps + 5), 8 / 5]
    assert np.sort(by_hand) == pytest.approx(sorted(wanted), abs=1e-12)


# ------------------------------------------------------------------------------- Theorem 4.2

STEP = 4e-4


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Yield two nearly orthogonal points, a step below (A1) and a start below (A2)."""
    data: dict[str, Any] = {"kind": "near_orthogonal", "d": 50, "n": 2, "coherence": 2e-4}
    network = {**LEAKY, "smooth": True, "init_multiple": 1e-10}
    descent = {"kind": "gd", "step": STEP, "until_log10_time": 1.0}
    at = problem_of(network, descent, "logistic", data, frames=200)
    with recorded_run(tmp_path_factory.mktemp("runs") / "smooth", at) as run:
        yield run


@pytest.fixture(scope="module")
def of_smooth(smooth: Run) -> dict[str, Assessment]:
    return of_paper(smooth, margins_of(smooth.problem), "frei23", DELTA)


DESCENT = (
    "Theorem 4.2, item 1",
    "Theorem 4.2, item 2",
    "Theorem 4.2, item 3",
    "Lemma E.4",
    "Lemma E.11 (a)",
    "Lemma E.11 (c)",
    "Lemma E.12",
    "Lemma E.13",
    "Lemma E.14",
)


@pytest.mark.parametrize("name", DESCENT)
def test_theorem_4_2_holds_where_its_hypotheses_are_met(
    of_smooth: dict[str, Assessment], name: str
) -> None:
    one = of_smooth[name]
    assert [hypothesis.text for hypothesis in one.hypotheses if not hypothesis.met] == []
    assert one.verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", ["Lemma E.1 (norms)", "Lemma E.1 (mean)"])
def test_the_start_holds(of_smooth: dict[str, Assessment], name: str) -> None:
    assert of_smooth[name].verdict is Verdict.HOLDS


def test_hypotheses_of_theorem_4_2(smooth: Run, of_smooth: dict[str, Assessment]) -> None:
    low, high, most = lengths(smooth)
    ratio, n, d = (high / low) ** 2, 2, 50
    c_r = 10 * ratio / GAMMA**2 + 10
    one = of_smooth["Theorem 4.2, item 1"]
    near = 5 * GAMMA**-2 * c_r * n * most
    step = GAMMA**2 / (5 * n * high**2 * ratio * c_r * 1.0)  # H = (1 - gamma)/4 < 1
    root = math.sqrt(M * d * math.log(4 * M / DELTA))
    start = STEP * GAMMA**2 * low / (72 * (high / low) * c_r * n * root)
    assert condition(one, "near-orthogonal").needed == f">= {common.format_number(near)}"
    assert condition(one, "(A1)").needed == f"<= {common.format_number(step)}"
    assert condition(one, "(A2)").needed == f"<= {common.format_number(start)}"
    assert condition(one, "(A2)").present == common.format_number(1e-10 * math.sqrt(2 / (M + d)))


def test_bounds_of_theorem_4_2(smooth: Run, of_smooth: dict[str, Assessment]) -> None:
    low, high, _ = lengths(smooth)
    ratio, n, d = (high / low) ** 2, 2, 50
    c_r = 10 * ratio / GAMMA**2 + 10
    p = [
        smooth.network.margins(smooth.parameters(k), smooth.inputs, smooth.dataset.y)
        for k in range(smooth.frames)
    ]
    risk = np.array([np.log1p(np.exp(-one)).mean() for one in p])
    steps = smooth.steps.astype(float)
    loss = of_smooth["Theorem 4.2, item 1"].comparison
    bound = 2 * np.sqrt(16 * risk[0] * n * ratio / (GAMMA**2 * low**2 * STEP * (steps[1:] + 1)))
    assert loss.bound_trace is not None
    assert loss.measured_trace is not None
    assert loss.bound_trace[1:] == pytest.approx(np.log10(bound))
    assert loss.measured_trace == pytest.approx(np.log10(risk))
    rank = of_smooth["Theorem 4.2, item 3"].comparison
    assert rank.bound == pytest.approx(256 * c_r * ratio**2 / GAMMA**2)
    assert of_smooth["Lemma E.4"].comparison.bound == pytest.approx(c_r)
    w = 1e-10 * math.sqrt(2 / (M + d))
    logarithm = math.log(4 * M / DELTA)
    norms, mean = of_smooth["Lemma E.1 (norms)"], of_smooth["Lemma E.1 (mean)"]
    assert norms.comparison.bound == pytest.approx(5 * w**2 * d * logarithm, abs=0.0)
    assert mean.comparison.bound == pytest.approx(2 * w * math.sqrt(logarithm), abs=0.0)


def test_sums_of_theorem_4_2_step_by_step(smooth: Run, of_smooth: dict[str, Assessment]) -> None:
    """alpha sum Ghat by a descent of our own, against items 2, E.12 and E.13 (1 % of room)."""
    x, y, a = smooth.dataset.x, smooth.dataset.y, smooth.network.fixed["a"]
    V = smooth.network.unpack(smooth.origin)["V"]
    if smooth.reduction is not None:
        V = smooth.reduction.full(V)
    total, totals, wanted = 0.0, {}, set(smooth.steps.tolist())
    for step in range(int(smooth.steps[-1]) + 1):
        if step in wanted:
            totals[step] = total
        z = x @ V.T
        phi = GAMMA * z + (1 - GAMMA) * (np.logaddexp(0, z) - math.log(2))
        slope = GAMMA + (1 - GAMMA) / (1 + np.exp(-z))
        weight = 1 / (1 + np.exp(y * (phi @ a)))
        total += STEP * weight.mean()
        V = V + STEP / len(y) * a[:, None] * ((slope * (y * weight)[:, None]).T @ x)
    sums = np.array([totals[step] for step in smooth.steps.tolist()])
    low, high, _ = lengths(smooth)
    root = math.sqrt(2)
    nodes = of_smooth["Theorem 4.2, item 2"].comparison.bound_trace
    assert nodes is not None
    factor = low**2 / (4 * root * high * root)
    assert (nodes[1:] <= factor * sums[1:]).all()
    assert (nodes[1:] >= 0.99 * factor * sums[1:]).all()
    top = of_smooth["Lemma E.13"].comparison.bound_trace
    assert top is not None
    factor = GAMMA * low / (4 * root * (high / low) * root)
    assert (top[1:] <= factor * sums[1:]).all()
    assert (top[1:] >= 0.99 * factor * sums[1:]).all()
    size = of_smooth["Lemma E.12"].comparison.bound_trace
    assert size is not None
    c_r = 10 * (high / low) ** 2 / GAMMA**2 + 10
    start = float(np.linalg.norm(smooth.origin))
    wanted_size = start + math.sqrt(2 * c_r) * high / root * sums
    assert (size >= wanted_size * (1 - 1e-12)).all()
    assert size == pytest.approx(wanted_size, rel=0.02)


def test_constants_that_follow_from_others(of_smooth: dict[str, Assessment]) -> None:
    """(E.14) has gamma Rmin/(2 sqrt2 R sqrt n), 3/4 of (15)'s sqrt2 Rmin gamma/(3 R sqrt n)."""
    assert of_smooth["Lemma E.14"].comparison.bound == pytest.approx(
        (1 / (2 * math.sqrt(2))) / (math.sqrt(2) / 3)
    )
    assert of_smooth["Lemma E.11 (a)"].comparison.bound == 2.0
    rank = of_smooth["Initial stable rank"].comparison
    assert rank.bound == pytest.approx(M * 50 / (math.sqrt(M) + math.sqrt(50)) ** 2)
    assert of_smooth["Initial stable rank"].verdict is Verdict.NO_CONSTANT
