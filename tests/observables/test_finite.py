"""No observable of any kind of run is infinite, however late its frames are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.observables.observable import Observable, Shape
from core.observables.proofs import log_mean_slope
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, resolve_problem
from core.run_files.frame import Frame
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.frames_in_chunks import trajectory
from tests.networks import HEADS, HOMOGENEOUS, TWO_LAYER, UNCOMPILED, Case, small_problem

FEW, WIDE = 6, 40  # examples and nodes: data that the network can fit, or t grows only like steps
LATE = {"kind": "flow", "until_log10_time": 1e5}
NORMALISED = ("normalised", "batch_norm")  # stiff: they get there in more steps
SLOW = {"kind": "flow", "until_log10_time": 300.0}
DESCENT = {"kind": "gd", "step": 0.1, "until_log10_time": 1.0}


def built(**tables: dict[str, Any]) -> Problem:
    return resolve_problem(build_experiment(tables, "test"))


def on_cones() -> Problem:
    return built(
        data={"kind": "cones", "d": 4, "n": 12},
        network={"m": 20},
        dynamics=LATE,
        recording={"frames": 4},
    )


def two_frames() -> Problem:
    """Return t = 0 and t = 10^100000, with nothing between."""
    frames = {"frames": 2, "log10_times": []}
    return small_problem(TWO_LAYER[0], LATE, n=FEW, m=WIDE, recording=frames)


def mirror() -> Problem:
    return small_problem(
        Case("scalar", "exponential"), {"kind": "mirror", **_until(1e5)}, n=FEW, m=WIDE
    )


def _until(value: float) -> dict[str, float]:
    return {"until_log10_time": value}


def of(case: Case) -> Callable[[], Problem]:
    late = SLOW if case.kind in NORMALISED else LATE
    return lambda: small_problem(case, late, n=FEW, m=WIDE, recording={"frames": 3})


def descent(case: Case, **dynamics: Any) -> Callable[[], Problem]:
    return lambda: small_problem(case, DESCENT | dynamics, recording={"frames": 2})


KINDS: dict[str, Callable[[], Problem]] = {
    **{f"flow {case}": of(case) for case in HOMOGENEOUS},
    **{f"gd {case}": descent(case) for case in (*TWO_LAYER, *UNCOMPILED, HEADS[1])},
    "sgd": descent(TWO_LAYER[1], kind="sgd", fresh=False),
    "adam": descent(TWO_LAYER[1], kind="adam"),
    "cones": on_cones,
    "two frames": two_frames,
    "mirror": mirror,
}


def recorded(problem: Problem, path: Path) -> Run:
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    return open_run(path)


@pytest.mark.parametrize("name", KINDS)
def test_no_observable_is_infinite(name: str, tmp_path: Path) -> None:
    with recorded(KINDS[name](), tmp_path / "run.msrun") as run:
        if name == "two frames":
            assert run.frames == 2
        check_finite(run)


def check_finite(run: Run) -> None:
    applied = [item for item in OBSERVABLES.values() if item.applies(run)]
    assert applied
    for item in applied:
        assert not np.isinf(item.trace(run)).any(), item.name


def test_no_observable_of_a_late_head_is_infinite(tmp_path: Path) -> None:
    """Record made-up frames of a fit until t = 10^100000, which the flow reaches in 12 s."""
    at = small_problem(HEADS[1], LATE, n=FEW)
    fit = small_problem(HEADS[1], DESCENT, n=FEW)
    scaled = at.network.scaled
    last = list(trajectory(fit))[-1].parameters.astype(np.float64)
    margin = float(at.margins(last).min() / np.linalg.norm(last[:scaled]) ** at.network.degree)
    assert margin > 0.0
    times = (-np.inf, 2.0, 300.0, 1e4, 1e5)
    path = tmp_path / "run.msrun"
    recorder = Recorder(path, at, engine="tests", planned=len(times), temperature_cap=1e7)
    frames = [Frame(0, times[0], 0.0, at.start.parameters)]
    last[:scaled] /= np.linalg.norm(last[:scaled])
    for step, time in enumerate(times[1:], start=1):
        rho = np.log(time * np.log(10.0) / margin) / at.network.degree
        frames.append(Frame(step, time, float(rho), last))
    recorder.append(frames)
    recorder.finish("completed")
    with open_run(path) as run:
        assert run.frames == len(times)
        check_finite(run)
        # ln R = -e^(L rho) margin, to the logarithm of n
        logarithms = OBSERVABLES["log10_risk"].trace(run)
        assert logarithms[1:] == pytest.approx(-np.array(times[1:]), rel=1e-3, abs=1.0)


def test_logarithms_stand_for_what_overflows(tmp_path: Path) -> None:
    """At t = 10^100000 with two frames: NaN, and the logarithm by its own formula."""
    with recorded(two_frames(), tmp_path / "run.msrun") as run:
        value = {
            name: OBSERVABLES[name].value_at(run, 1) for name in OBSERVABLES if "perceptron" in name
        }
        assert np.isnan(value["perceptron_sum"])
        low, high = log_mean_slope(run, 0), log_mean_slope(run, 1)
        # int_0^t of an exponential from G_0 down to nearly 0 is t G_0 / ln(G_0/G_1).
        wanted = 1e5 + (low - np.log(low - high)) / np.log(10.0)
        assert value["log10_perceptron_sum"] == pytest.approx(wanted, rel=1e-12)
        assert np.isnan(OBSERVABLES["log10_perceptron_sum"].value_at(run, 0))
        assert OBSERVABLES["perceptron_sum"].value_at(run, 0) == 0.0
        ratio = OBSERVABLES["log10_loss_ratio"].value_at(run, 1)
        p = run.dataset.y * run.problem.outputs(run.parameters(1)) * np.exp(2.0 * run.rho[1])
        assert ratio == pytest.approx((p.max() - p.min()) / np.log(10.0), rel=1e-12)
        assert np.isnan(OBSERVABLES["loss_ratio"].value_at(run, 1)) == (ratio > 308.3)


def test_an_infinite_value_is_told_as_not_a_number(tmp_path: Path) -> None:
    """For numbers and for arrays, whatever the observable."""
    with recorded(descent(TWO_LAYER[0])(), tmp_path / "run.msrun") as run:
        made = [
            Observable("made", "t", "f", "s", lambda run, index: -np.inf),
            Observable("up", "t", "f", "s", lambda run, index: np.array([1.0, np.inf]), Shape.NODE),
        ]
        assert np.isnan(made[0].value_at(run, 0))
        assert np.array_equal(made[1].value_at(run, 0), [1.0, np.nan], equal_nan=True)
