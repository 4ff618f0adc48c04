"""What float32 cannot hold is refused before anything is cast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.problem.problem import Problem, resolve_problem
from core.study_file.validation import build_experiment


def made(
    folder: Path,
    size: float,
    precision: str,
    kind: str,
    network: dict[str, Any] | None = None,
    **dynamics: float,
) -> Problem:
    x = size * np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -1.0], [-1.0, 0.2]])
    np.savez(folder / "data.npz", x=x, y=[1.0, -1.0, 1.0, -1.0])
    tables = {
        "data": {"kind": "file", "path": str(folder / "data.npz")},
        "network": network or {"m": 3},
        "loss": {"kind": "logistic"},
        "dynamics": {"kind": kind, "until_log10_time": 0.0, **dynamics},
        "run": {"precision": precision},
    }
    return prepare(resolve_problem(build_experiment(tables, "test")))


@pytest.mark.parametrize("kind", ["gd", "sgd", "adam"])
def test_inputs_beyond_float32(kind: str, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"float32.* the largest input reaches 1e\+60; use run.precision"
    ):
        make_integrator(made(tmp_path, 1e60, "float32", kind, step=0.1))
    make_integrator(made(tmp_path, 1e60, "float64", kind, step=0.1))
    make_integrator(made(tmp_path, 1e18, "float32", kind, step=0.1))


def test_products_beyond_float32(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"squared length of an input reaches 1.3e\+60"):
        make_integrator(made(tmp_path, 1e30, "float32", "gd", step=0.1))


def test_more_steps_than_are_counted(tmp_path: Path) -> None:
    """1e96 steps were cast to a negative whole number."""
    words = r"dynamics.step = 1e-96 takes 1e\+96 steps to log10 t = 0, .* earlier"
    with pytest.raises(InputError, match=words):
        make_integrator(made(tmp_path, 1.0, "float64", "gd", step=1e-96))
    make_integrator(made(tmp_path, 1.0, "float64", "gd", step=1e-15))


def test_a_step_beyond_float32(tmp_path: Path) -> None:
    """The default step of inputs near 1e-60 is about 1e120: a warning of NumPy's, and infinity."""
    with pytest.raises(InputError, match="the step size reaches"):
        make_integrator(made(tmp_path, 1e-60, "float32", "sgd"))


def test_directions_whose_squares_float32_does_not_hold(tmp_path: Path) -> None:
    """v/|v| was not a number: a warning of NumPy's, and a run of nothing."""
    start = {"a": np.ones(2), "b": np.ones(2), "V": 1e-30 * np.eye(2)}
    np.savez(tmp_path / "start.npz", **start)
    init = {"kind": "normalised", "m": 2, "init": "file", "init_path": str(tmp_path / "start.npz")}
    with pytest.raises(InputError, match="squared length of some initial v_j is smaller"):
        make_integrator(made(tmp_path, 1.0, "float32", "gd", init, step=0.1))
    make_integrator(made(tmp_path, 1.0, "float64", "gd", init, step=0.1))
