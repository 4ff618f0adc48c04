"""Sharpness as an observable: against dense eigenvalues, and the edge of stability."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.dynamics.curvature import TOLERANCE, Curvature, sharpness
from core.observables.registry import OBSERVABLES, last_values, scalars_of, usual_of
from core.observables.table import check_columns
from core.problem.problem import Problem, resolve_problem
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.networks import HEADS, TWO_LAYER, UNCOMPILED, Case, small_problem
from tests.observables.columns import scalar_columns

NAMES = ("sharpness", "hessian_2", "hessian_3")


def recorded(problem: Problem, path: Path) -> Run:
    train(problem, partial(Recorder, path))
    return open_run(path)


@pytest.mark.parametrize("case", [*TWO_LAYER, *UNCOMPILED, HEADS[0]], ids=str)
def test_eigenvalues_are_those_of_the_dense_hessian(tmp_path: Path, case: Case) -> None:
    """To the tolerance of the bound, at three frames; the Gauss-Newton part too."""
    dynamics = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}
    problem = small_problem(case, dynamics=dynamics, d=4, n=8, m=6, loss={"l2": 0.01})
    with closing(recorded(problem, tmp_path / "a.msrun")) as run:
        for index in (0, 3, run.frames - 1):
            curvature = Curvature(run.problem, run.parameters(index))
            units = np.eye(curvature.size)
            whole = np.linalg.eigvalsh(np.array([curvature(one) for one in units]))[::-1]
            part = np.linalg.eigvalsh(np.array([curvature.gauss_newton(one) for one in units]))
            found = [OBSERVABLES[name].value_at(run, index) for name in NAMES]
            assert found == pytest.approx(whole[:3].tolist(), abs=TOLERANCE * whole[0])
            other = OBSERVABLES["gauss_newton"].value_at(run, index)
            assert other == pytest.approx(part[-1], rel=TOLERANCE)


def test_stability_is_the_factor_of_a_step(tmp_path: Path) -> None:
    """A step multiplies what lies along the top vector by 1 - 2 stability, up to a second order:
    of two runs that begin a little apart along it. Other dynamics have none."""
    dynamics = {"kind": "gd", "step": 0.05, "until_log10_time": 0.0}
    problem = small_problem(Case("standard", "squared"), dynamics=dynamics)
    with closing(recorded(problem, tmp_path / "a.msrun")) as run:
        q = OBSERVABLES["stability"].value_at(run, 0)
        flat = run.parameters(0)
        top = sharpness(run.problem, flat, 1, 1e-10)
        assert q == pytest.approx(0.5 * 0.05 * top.largest, rel=TOLERANCE)
        apart = 1e-6 * top.vectors[0]
        after = [one - 0.05 * gradient(run.problem, one) for one in (flat - apart, flat + apart)]
        factor = (after[1] - after[0]) @ top.vectors[0] / 2e-6
        assert factor == pytest.approx(1.0 - 2.0 * q, abs=1e-4)
    flow = small_problem(Case("standard"), {"kind": "flow", "until_log10_time": 0.0})
    with closing(recorded(flow, tmp_path / "b.msrun")) as run:
        assert not OBSERVABLES["stability"].applies(run)
        assert OBSERVABLES["sharpness"].applies(run)


def gradient(problem: Problem, flat: np.ndarray) -> np.ndarray:
    f, y = problem.outputs(flat), problem.dataset.y
    g = problem.loss.output_gradient(f, y) / y.size
    return np.asarray(problem.network.gradient(flat, problem.inputs, g))


def test_a_frame_has_one_value_whatever_was_looked_at_before(tmp_path: Path) -> None:
    dynamics = {"kind": "gd", "step": 0.05, "until_log10_time": 1.0}
    path = tmp_path / "a.msrun"
    recorded(small_problem(TWO_LAYER[0], dynamics=dynamics), path).close()
    values = []
    for order in (1, -1):
        with closing(open_run(path)) as run:
            at = {i: OBSERVABLES["sharpness"].value_at(run, i) for i in range(run.frames)[::order]}
            values.append([at[index] for index in sorted(at)])
    assert values[0] == values[1]


def test_it_is_in_tables_where_it_is_named(tmp_path: Path) -> None:
    with closing(recorded(small_problem(TWO_LAYER[0]), tmp_path / "a.msrun")) as run:
        asked = {item.name for item in scalars_of(run)} - {item.name for item in usual_of(run)}
        assert asked >= {*NAMES, "gauss_newton", "stability"}
        assert not asked & scalar_columns(run).keys()
        assert not asked & last_values(run).keys()
        assert [item.name for item in check_columns(run, ["sharpness"])] == ["sharpness"]


@pytest.mark.parametrize(("eta", "at_the_edge"), [(1.0, False), (2.0, True)])
def test_descent_ends_at_the_edge_where_its_step_is_long(
    tmp_path: Path, eta: float, at_the_edge: bool
) -> None:
    """Cohen et al. 2021: S rises to 2/eta and stays there, or ends below where 2/eta is above all.

    On digits 3 and 8 (256 of them, centred, the longest of length 1) and with the squared loss
    without 1/2 it ends at 1.24 to 1.39 by itself: eta = 1 does not reach its edge, eta = 2 does.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    chosen = np.isin(digits.target, (3, 8))
    x, y = digits.data[chosen][:256], np.where(digits.target[chosen] == 3, 1.0, -1.0)[:256]
    x = x - x.mean(axis=0)
    np.savez(tmp_path / "x.npz", x=x / np.linalg.norm(x, axis=1).max(), y=y)
    tables = {
        "data": {"kind": "file", "path": "x.npz"},
        "network": {"kind": "standard", "m": 64},
        "loss": {"kind": "squared"},
        "dynamics": {"kind": "gd", "step": eta, "until_log10_time": 3.5},
        "recording": {"frames": 40},
    }
    problem = resolve_problem(build_experiment(tables, "edge"), tmp_path)
    with closing(recorded(problem, tmp_path / "a.msrun")) as run:
        q = [0.5 * eta * OBSERVABLES["sharpness"].value_at(run, i) for i in range(run.frames)]
    late = np.mean(q[-4:])
    assert (0.98 <= late <= 1.02) if at_the_edge else (0.5 <= late <= 0.75)
    assert q[0] < 0.5
