"""Margins over other norms than |W|: from dense matrices, and what they do not depend on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.dynamics.rows import reduce_rows
from core.observables.norm_margins import OBSERVABLES
from core.observables.registry import OBSERVABLES as ALL
from core.observables.registry import explain, usual_of
from core.observables.table import weights_at
from core.problem.problem import Problem, Start
from core.runs import Recorder, Run, open_run
from core.training.trajectory import run as train
from tests.networks import HEADS, TWO_LAYER, Case, at_a_random_point, small_problem

NAMES = ("margin_linf", "margin_spectral", "margin_l1")
DESCENT = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}
WHOLE = [one for one in TWO_LAYER if one.kind not in ("normalised", "batch_norm")]
WHOLE = [one for one in WHOLE if "smooth" not in one.settings and one.loss != "least_squares"]


def recorded(problem: Problem, path: Path) -> Run:
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    return open_run(path)


def values(run: Run, index: int) -> list[float]:
    return [float(ALL[name].value_at(run, index)) for name in NAMES]


def moved(problem: Problem, flat: np.ndarray) -> Problem:
    return replace(problem, start=Start(flat, flat))


@pytest.mark.parametrize("case", WHOLE, ids=str)
def test_margins_from_dense_matrices(case: Case, tmp_path: Path) -> None:
    """Of the physical weights, by singular values and by all entries in one array."""
    problem, _ = at_a_random_point(small_problem(case, DESCENT, recording={"frames": 3}))
    with recorded(problem, tmp_path / "a.msrun") as run:
        last = run.frames - 1
        names = [block.name for block in run.network.layout]
        arrays = [np.asarray(weights_at(run, last)[name]) for name in names]
        entries = np.abs(np.concatenate([one.reshape(-1) for one in arrays]))
        blocks = [one if one.ndim == 2 else one[:, None] for one in arrays]
        operator = max(np.sqrt(np.linalg.eigvalsh(one.T @ one)[-1]) for one in blocks)
        L, m = run.network.degree, run.network.m
        p = run.problem.margins(run.physical_parameters(last)).min()
        expected = [p / (m * entries.max() ** L), p / operator**L, p / entries.sum() ** L]
        assert values(run, last) == pytest.approx(expected, rel=1e-9)


def test_they_depend_neither_on_the_scale_nor_on_the_order_of_nodes(tmp_path: Path) -> None:
    problem, flat = at_a_random_point(small_problem(Case("standard"), DESCENT))
    a, V = problem.network.effective(flat)
    order = np.random.default_rng(1).permutation(a.size)
    permuted = np.concatenate([a[order], V[order].reshape(-1)])
    found = []
    for number, start in enumerate((flat, 7.0 * flat, permuted)):
        with recorded(moved(problem, start), tmp_path / f"{number}.msrun") as run:
            found.append(values(run, 0))
    assert found[1] == pytest.approx(found[0], rel=1e-12)
    assert found[2] == pytest.approx(found[0], rel=1e-12)


def test_they_are_bounded_by_each_other(tmp_path: Path) -> None:
    """|W|_op <= |W|_2 <= |W|_1 and |W|_inf <= |W|_op: the smaller norm has the larger margin."""
    with recorded(small_problem(Case("standard"), DESCENT), tmp_path / "a.msrun") as run:
        last, m = run.frames - 1, run.network.m
        largest, operator, total = (abs(value) for value in values(run, last))
        length = abs(float(ALL["hard_margin"].value_at(run, last)))
        assert m * largest > operator > length > total > 0.0


def test_they_are_taken_in_the_space_of_the_data(tmp_path: Path) -> None:
    """In row-space form V has other entries, and other products of different nodes."""
    problem = small_problem(Case("standard"), DESCENT, d=30, n=5, recording={"frames": 3})
    with (
        recorded(problem, tmp_path / "plain.msrun") as plain,
        recorded(reduce_rows(problem), tmp_path / "reduced.msrun") as other,
    ):
        assert other.reduction is not None
        assert values(other, 2) == pytest.approx(values(plain, 2), rel=1e-9)


def test_late_flow_has_them_without_overflow(tmp_path: Path) -> None:
    problem = small_problem(
        Case("standard", "exponential"),
        {"kind": "flow", "until_log10_time": 1e5},
        recording={"frames": 5},
        n=6,
    )
    with recorded(problem, tmp_path / "a.msrun") as run:
        assert run.rho[-1] > 5.0
        assert all(0.0 < value < 10.0 for value in values(run, run.frames - 1))


def test_they_are_of_networks_with_a_norm_of_all_weights(tmp_path: Path) -> None:
    cases = (Case("normalised"), Case("batch_norm"), HEADS[1])
    for case in (*cases, Case("fixed_outer", settings={"smooth": True})):
        with recorded(small_problem(case, DESCENT), tmp_path / f"{case.kind}.msrun") as run:
            assert not any(ALL[name].applies(run) for name in NAMES)


def test_tables_have_them_where_they_are_named(tmp_path: Path) -> None:
    with recorded(small_problem(Case("standard"), DESCENT), tmp_path / "a.msrun") as run:
        assert all(item.applies(run) for item in OBSERVABLES)
        assert not set(NAMES) & {item.name for item in usual_of(run)}
    assert explain("margin_linf").formula.startswith("min_i p_i / (m max_k |W_k|^L)")
