"""batchnorm: bounds, needed widths and steps, recomputed from the papers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.runs import Run
from core.theorems import common
from core.theorems.statement import Assessment, Verdict
from tests.support.judged_runs import (
    condition,
    exactly,
    margins_of,
    of_paper,
    problem_of,
    recorded_run,
)

DELTA, EPS, M, D, N = 0.1, 0.04, 40, 6, 16
A, C = 0.05, 0.03
GAMMA, EPS_N = A + C, 1 / math.sqrt(EPS)
MARGINS = exactly(gamma_a=A, gamma_c=C)
NETWORK = {"kind": "batch_norm", "m": M, "eps": EPS}


@pytest.fixture(scope="module")
def descent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    at = problem_of(NETWORK, {"kind": "gd", "step": 0.1, "until_log10_time": 1.0})
    with recorded_run(tmp_path_factory.mktemp("runs") / "gd", at) as run:
        yield run


@pytest.fixture(scope="module")
def sgd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    dynamics = {"kind": "sgd", "step": 0.05, "until_log10_time": 1.0}
    with recorded_run(
        tmp_path_factory.mktemp("runs") / "sgd", problem_of(NETWORK, dynamics)
    ) as run:
        yield run


@pytest.fixture(scope="module")
def of_descent(descent: Run) -> dict[str, Assessment]:
    return of_paper(descent, MARGINS, "batchnorm", DELTA)


@pytest.fixture(scope="module")
def of_sgd(sgd: Run) -> dict[str, Assessment]:
    return of_paper(sgd, MARGINS, "batchnorm", DELTA)


def moved(run: Run, *names: str) -> np.ndarray:
    """Return |W_t - W_0| in some parameters, (T,)."""
    start = run.network.unpack(run.origin)
    frames = [run.network.unpack(run.parameters(index)) for index in range(run.frames)]
    return np.array(
        [
            math.sqrt(sum(float(np.square(parts[name] - start[name]).sum()) for name in names))
            for parts in frames
        ]
    )


def normalisers(run: Run) -> np.ndarray:
    """Return N(v_j) = sqrt(v' Sigma v + eps) at the start, biased covariance of all examples."""
    V = run.network.unpack(run.origin)["V"]
    x = run.dataset.x - run.dataset.x.mean(axis=0)
    return np.asarray(np.sqrt(((x @ V.T) ** 2).mean(axis=0) + EPS))


def test_assumptions(descent: Run, of_descent: dict[str, Assessment]) -> None:
    first, second = of_descent["Assumption 1.1"], of_descent["Assumption 1.2"]
    assert first.comparison.bound == pytest.approx(EPS_N)
    assert first.comparison.measured == pytest.approx((1 / normalisers(descent)).max())
    assert (second.comparison.bound, second.comparison.measured) == (0.0, pytest.approx(GAMMA))
    assert first.verdict is second.verdict is Verdict.HOLDS


def test_eps_n_is_what_the_start_has_where_eps_is_zero(tmp_path: Path) -> None:
    at = problem_of({**NETWORK, "eps": 0.0}, {"kind": "gd", "step": 0.1, "until_log10_time": 0.0})
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, MARGINS, "batchnorm")["Assumption 1.1"]
    assert one.comparison.bound == max(1.0, one.comparison.measured)
    assert one.verdict is Verdict.HOLDS


def test_theorem_2_1(sgd: Run, of_sgd: dict[str, Assessment]) -> None:
    """With 2^23, which E.5 proves, and not the printed 2^15."""
    t = np.maximum(sgd.steps, 1)
    error = of_sgd["Theorem 2.1 (error)"].comparison
    assert error.bound_trace == pytest.approx(
        2**23 * EPS_N**4 / (GAMMA**2 * t) + 4 * math.log(1 / DELTA) / t
    )
    outer, inner = of_sgd["Theorem 2.1 (outer)"], of_sgd["Theorem 2.1 (inner)"]
    radius = GAMMA ** (1 / 3) * M ** (1 / 6) / (27 * EPS_N)
    assert outer.comparison.bound == pytest.approx(radius)
    assert inner.comparison.bound == pytest.approx(1 / (2 * EPS_N))
    assert outer.comparison.measured_trace == pytest.approx(moved(sgd, "a", "c"))
    assert inner.comparison.measured_trace == pytest.approx(moved(sgd, "V"))
    assert condition(outer, "Lemma D.3").present == common.format_number(radius)
    assert condition(outer, "Lemma D.3").met is False
    assert condition(outer, "fresh").met is False


def test_hypotheses(sgd: Run, of_sgd: dict[str, Assessment]) -> None:
    one, steps = of_sgd["Theorem 2.1 (error)"], int(sgd.steps[-1])
    assert steps == 200
    logarithm = math.log(5 * N * steps / DELTA)
    lower = 2**29 * EPS_N**3 * logarithm**1.5 / GAMMA**2
    assert condition(one, "width m >=").needed == f">= {common.format_number(lower)}"
    assert (
        condition(one, "width m <=").needed == f"<= {common.format_number(DELTA * math.exp(D / 8))}"
    )
    step = 1 / (28 * EPS_N * GAMMA ** (2 / 3) * M ** (1 / 3))
    assert condition(one, "step eta").needed == common.format_number(step)
    assert condition(one, "step eta").met is False
    assert condition(one, "Assumption 1.2").met is True
    x = sgd.dataset.x - sgd.dataset.x.mean(axis=0)
    assert condition(one, "|x - mu|").present == common.format_number(
        float(np.sqrt(np.square(x).sum(axis=1)).max())
    )


def test_the_step_of_the_theorems_is_recognised(tmp_path: Path) -> None:
    step = 1 / (28 * EPS_N * GAMMA ** (2 / 3) * M ** (1 / 3))
    at = problem_of(NETWORK, {"kind": "gd", "step": step, "until_log10_time": 0.0})
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, MARGINS, "batchnorm", DELTA)["Theorem 2.2 (inner)"]
        unknown = of_paper(run, {}, "batchnorm", DELTA)["Theorem 2.2 (inner)"]
    assert condition(one, "step eta").met is True
    assert condition(unknown, "step eta").met is None
    assert condition(unknown, "Assumption 1.2").met is None


def test_theorem_2_2(descent: Run, of_descent: dict[str, Assessment]) -> None:
    t = np.maximum(descent.steps, 1)
    error = of_descent["Theorem 2.2 (error)"]
    first = 2**17 * M ** (1 / 3) * EPS_N**4 / (GAMMA ** (1 / 3) * t * math.sqrt(N))
    assert error.comparison.bound_trace == pytest.approx(first + 4 * math.log(1 / DELTA) / t)
    assert error.verdict is Verdict.NO_CONSTANT
    assert "inconsistent" in error.statement.slip
    proved = of_descent["Theorem 2.2 (as proved)"]
    wanted = 2**11 / (GAMMA * math.sqrt(N)) + 3 * math.sqrt(math.log(2 / DELTA) / (2 * N))
    assert proved.comparison.bound == pytest.approx(wanted)
    outer, inner = of_descent["Theorem 2.2 (outer)"], of_descent["Theorem 2.2 (inner)"]
    assert outer.comparison.bound == 8.0
    assert outer.comparison.measured_trace == pytest.approx(moved(descent, "a", "c"))
    assert inner.comparison.bound == pytest.approx(1 / (2 * EPS_N))
    assert inner.comparison.measured_trace == pytest.approx(moved(descent, "V"))


def test_the_start(descent: Run, of_descent: dict[str, Assessment]) -> None:
    parts = descent.network.unpack(descent.origin)
    sizes = np.linalg.norm(parts["V"], axis=1)
    outputs, outer = of_descent["Lemma C.1"].comparison, of_descent["Lemma C.2 (outer)"].comparison
    assert outputs.bound == pytest.approx(4 * EPS_N * math.log(N / DELTA))
    x = descent.dataset.x - descent.dataset.x.mean(axis=0)
    f = np.maximum(x @ parts["V"].T / normalisers(descent), 0.0) @ parts["a"]
    assert outputs.measured == pytest.approx(np.abs(f).max())
    assert outer.bound == pytest.approx(1 + math.sqrt(2 * math.log(1 / DELTA) / M))
    assert outer.measured == pytest.approx(np.linalg.norm(parts["a"]))
    inner = of_descent["Lemma C.2 (inner)"].comparison
    assert inner.bound == 1.0
    assert inner.measured == pytest.approx(max(sizes.max() / 2, (1 / sizes).max() / 5))


def test_gradients(descent: Run, of_descent: dict[str, Assessment]) -> None:
    """|grad_U p_i|^2 by central differences in a and c."""
    one = of_descent["Lemma E.1"].comparison
    assert one.bound == pytest.approx(2**11 * EPS_N**4 * M)
    flat, h = descent.parameters(descent.frames - 1), 1e-6
    names = [block.name for block in descent.network.layout]
    assert names[:2] == ["a", "c"]
    largest = np.zeros(N)
    for j in range(2 * M):
        up, down = flat.copy(), flat.copy()
        up[j] += h
        down[j] -= h
        difference = descent.problem.margins(up) - descent.problem.margins(down)
        largest += np.square(difference / (2 * h))
    assert one.measured == pytest.approx(largest.max(), rel=1e-6)


@pytest.mark.parametrize("d", [2, 4])
def test_dyadic_set(tmp_path: Path, d: int) -> None:
    """Proposition 1.1: (sqrt(d)/40) gamma_linear; the best a beats gamma_linear itself."""
    data = {"kind": "dyadic", "d": d}
    at = problem_of(
        {"kind": "batch_norm", "m": 400},
        {"kind": "gd", "step": 0.1, "until_log10_time": -1.0},
        data=data,
    )
    with recorded_run(tmp_path / "run", at) as run:
        margins = margins_of(at)
        one = of_paper(run, margins, "batchnorm")["Proposition 1.1"]
    linear = math.sqrt(3 / (4 ** (d + 1) - 4))
    assert one.comparison.bound == pytest.approx(math.sqrt(d) / 40 * linear)
    assert one.comparison.measured == margins["gamma_a"].bracket.upper
    assert one.comparison.measured > linear
    assert one.verdict is Verdict.HOLDS_ANYWAY  # m' is not explicit
