"""Exact zeros: one neuron, one example, zero weights, dead neurons, zero inputs. Nothing raises.

And nothing is called violated with its hypotheses met, and what is not decided says why.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.problem.problem import resolve_problem
from core.study_file.validation import build_experiment
from core.theorems.statement import Verdict
from tests.support.judged_runs import (
    judge,
    problem_of,
    recorded_run,
    violated_statements,
    without_numbers,
)

FLOW = {"kind": "flow", "until_log10_time": 2.0}
GD = {"kind": "gd", "step": 0.1, "until_log10_time": 0.5}
OPPOSITE = ([[0.6, 0.8], [-0.6, -0.8]], [1.0, -1.0])
CONTRADICTION = ([[0.6, 0.8], [0.6, 0.8]], [1.0, -1.0])
WITH_ZERO = ([[0.6, 0.8], [0.0, 0.0], [0.8, -0.6]], [1.0, -1.0, 1.0])
ALL_ZERO = ([[0.0, 0.0], [0.0, 0.0]], [1.0, -1.0])
LINE = ([[1.0], [-0.5], [0.25]], [1.0, -1.0, 1.0])
STANDARD, EXPONENTIAL = {"m": 1}, "exponential"
LEAKY, SMOOTH = {"kind": "fixed_outer", "m": 1}, {"kind": "fixed_outer", "m": 2, "smooth": True}
ZERO = {"a": np.zeros(2), "V": np.zeros((2, 2))}
DEAD = {"a": np.full(2, 0.5), "V": np.full((2, 2), -0.5)}


def check(folder: Path, problem: Any) -> None:
    """Check every statement about a run of this problem, without any margin."""
    with recorded_run(folder / "run", problem) as run:
        found = judge(run, {})
        assert violated_statements(found) == []
        assert without_numbers(found) == []
        for one in found.values():
            assert one.comparison.why or one.verdict is not Verdict.UNDECIDED


def test_parity_with_one_normalised_neuron(tmp_path: Path) -> None:
    """R = KL(pbar, u(0)) is exactly 0 there, and ln R was taken."""
    data = {"kind": "parity", "d": 4, "n": 16}
    check(tmp_path, problem_of({"kind": "normalised", "m": 1}, FLOW, "logistic", data))


@pytest.mark.parametrize(
    ("network", "dynamics", "loss", "data"),
    [
        ({"kind": "normalised", "m": 1}, FLOW, "logistic", OPPOSITE),
        ({"kind": "normalised", "m": 2}, GD, "exponential", CONTRADICTION),
        ({"kind": "scalar", "m": 1}, FLOW, EXPONENTIAL, OPPOSITE),
        (STANDARD, FLOW, EXPONENTIAL, OPPOSITE),
        (STANDARD, GD, "logistic", ALL_ZERO),
        ({"m": 2}, FLOW, EXPONENTIAL, LINE),
        (LEAKY, FLOW, "logistic", OPPOSITE),
        (LEAKY, GD, "logistic", WITH_ZERO),
        (SMOOTH, GD, "logistic", WITH_ZERO),
        (SMOOTH, GD, "logistic", ALL_ZERO),
        ({"kind": "batch_norm", "m": 1, "eps": 0.1}, FLOW, EXPONENTIAL, CONTRADICTION),
        ({"kind": "batch_norm", "m": 1}, GD, "logistic", LINE),
        ({"kind": "bias", "m": 1}, FLOW, EXPONENTIAL, ALL_ZERO),
        ({"m": 2}, GD, {"kind": "squared", "l2": 0.01}, WITH_ZERO),
        ({"m": 2}, {"kind": "perturbed", "until_log10_time": 0.5}, "logistic", ALL_ZERO),
    ],
    ids=str,
)
def test_few_neurons_and_examples(
    network: dict[str, Any], dynamics: dict[str, Any], loss: Any, data: Any, tmp_path: Path
) -> None:
    np.savez(tmp_path / "data.npz", x=np.array(data[0]), y=np.array(data[1]))
    section = {"kind": "file", "path": str(tmp_path / "data.npz")}
    check(tmp_path, problem_of(network, dynamics, loss, section, frames=4))


@pytest.mark.parametrize("start", [ZERO, DEAD], ids=["zero weights", "dead neurons"])
@pytest.mark.parametrize("dynamics", [GD, {"kind": "sgd", "step": 0.1, "until_log10_time": 0.0}])
def test_weights_that_do_nothing(
    start: dict[str, Any], dynamics: dict[str, Any], tmp_path: Path
) -> None:
    np.savez(tmp_path / "start.npz", **start)
    np.savez(tmp_path / "data.npz", x=[[0.6, 0.8], [0.8, 0.6]], y=[1.0, -1.0])
    network = {"init": "file", "init_path": str(tmp_path / "start.npz")}
    data = {"kind": "file", "path": str(tmp_path / "data.npz")}
    check(tmp_path, problem_of(network, dynamics, EXPONENTIAL, data, frames=4))


def test_an_example_at_zero_is_not_fitted(tmp_path: Path) -> None:
    """Lemma E.11 (c) promises min p_i > 0, and p_i = 0 at inputs of 0."""
    np.savez(tmp_path / "data.npz", x=np.zeros((2, 2)), y=np.array([1.0, -1.0]))
    data = {"kind": "file", "path": str(tmp_path / "data.npz")}
    with recorded_run(tmp_path / "run", problem_of(SMOOTH, GD, "logistic", data, frames=4)) as run:
        one = judge(run, {})["frei23", "Lemma E.11 (c)"].comparison
    assert (one.measured, one.holds) == (0.0, False)


@pytest.mark.parametrize("kind", ["normalised", "batch_norm"])
def test_a_direction_that_is_not_there_is_refused(kind: str, tmp_path: Path) -> None:
    """Networks that divide by |v_j| or N(v_j) were NaN from their first frame."""
    second = "b" if kind == "normalised" else "c"
    np.savez(
        tmp_path / "start.npz", a=np.ones(2), V=np.eye(2) * [[0.0], [1.0]], **{second: np.ones(2)}
    )
    network = {"kind": kind, "init": "file", "init_path": str(tmp_path / "start.npz")}
    tables = {"network": network, "data": {"d": 2, "n": 4}, "dynamics": GD}
    with pytest.raises(InputError, match=r"row 0 of V in .*start\.npz"):
        resolve_problem(build_experiment(tables, "test"))
