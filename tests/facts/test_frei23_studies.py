"""Figures of frei23 and batchnorm by the shipped studies (docs/theory.md, 7.7 and 7.9)."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.observables.registry import OBSERVABLES
from core.problem.problem import resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.registry import REFERENCES, compute
from core.runs import Recorder, open_run
from core.studies.measures.run_measures import LEAKY
from core.studies.study import load_study
from core.training.trajectory import run as run_problem


def stable_ranks(folder: Path, *settings: str) -> dict[int, float]:
    study = load_study("frei23-figure-1").with_settings(["run.seed=0", *settings])
    (cell,) = study.cells()
    path = folder / "run.msrun"
    run_problem(resolve_problem(cell.experiment), partial(Recorder, path))
    with open_run(path) as run:
        assert run.bytes_on_disk < 60e6  # of which data, basis and E are 56e6
        ranks = OBSERVABLES["stable_rank"].trace(run)
        return dict(zip(run.steps.tolist(), ranks.tolist(), strict=True))


def test_stable_ranks_of_figure_1_left_at_10_000_dimensions(tmp_path: Path) -> None:
    """341 at the start; relative to it .57, .028, .0065, .0043 after 1, 10, 100, 1000 steps,
    within 4 %."""
    found = stable_ranks(tmp_path, "variant=dimension", "factor.c=2.0")
    edge = 512.0 * 1e4 / (math.sqrt(512.0) + 100.0) ** 2
    assert edge == pytest.approx(341.0, abs=1.0)
    assert found[0] == pytest.approx(edge, rel=0.005)
    for steps, expected in ((1, 0.57), (10, 0.028), (100, 0.0065), (1000, 0.0043)):
        assert found[steps] / found[0] == pytest.approx(expected, rel=0.04)


def test_every_step_of_figure_1_right_has_its_frame(tmp_path: Path) -> None:
    """Steps of .16, of which 1, 10, 100, 1000 are marked; in 100 dimensions as in 10^4."""
    settings = ("variant=initialisation", "factor.c=0.0", "data.d=100", "network.m=8")
    assert {1, 10, 100, 1000} <= stable_ranks(tmp_path, *settings).keys()


def test_theorem_3_2_item_by_item(tmp_path: Path) -> None:
    study = load_study("frei23-theorem-3-2").with_settings(["run.seed=3"])
    path = tmp_path / "run.msrun"
    problem = resolve_problem(study.cells()[0].experiment)
    run_problem(problem, partial(Recorder, path))
    with open_run(path) as run:
        found = {name: item(run) for name, item in LEAKY.items()}
        margin = OBSERVABLES["hard_margin"].value_at(run, run.frames - 1)
    assert found["1"] < 1e-3
    assert found["2"] < 1e-2
    assert found["3"] == 1.0
    assert found["6"] == 0.0
    assert 0.0 < found["7"] <= 1.0
    best = compute(REFERENCES["leaky_optimum"], problem, CancelToken(), cache=False).bracket
    assert margin == pytest.approx(best.value, rel=1e-5)


@pytest.mark.parametrize(("d", "times"), [(2, 1.5), (4, 2.7), (6, 3.8), (8, 4.3), (10, 4.7)])
def test_outer_weights_beat_the_linear_margin_of_the_dyadic_points(d: int, times: float) -> None:
    """1.5, 2.7, 3.8, 4.3, 4.7 times (m = 1000); single seeds scatter by 6 %."""
    study = load_study("batchnorm-dyadic").with_settings([f"data.d={d}", "run.seed=[0, 1]"])
    linear = math.sqrt(3.0 / (4.0 ** (d + 1) - 4.0))
    found = []
    for cell in study.cells():
        problem = resolve_problem(cell.experiment)
        found.append(
            compute(REFERENCES["gamma_a"], problem, CancelToken(), cache=False).bracket.value
        )
    assert np.mean(found) / linear == pytest.approx(times, rel=0.06)


def test_claims_of_figure_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The activations are what the paper says, and a claim against them is refuted."""
    given = ["check", "frei23-figure-3", "--quiet", "--out", str(tmp_path), "--jobs", "1"]
    assert main(given) == 0
    told = capsys.readouterr().out
    assert told.count("confirmed: ") == 6
    assert main([*given, "--set", "network.slope=0.05"]) != 0


def test_the_items_tell_a_flow_that_is_not_there_yet(tmp_path: Path) -> None:
    """At log10 t = 2 outputs and nodes are still far from equal."""
    settings = ["run.seed=3", "dynamics.until_log10_time=2.0"]
    study = load_study("frei23-theorem-3-2").with_settings(settings)
    path = tmp_path / "run.msrun"
    run_problem(resolve_problem(study.cells()[0].experiment), partial(Recorder, path))
    with open_run(path) as run:
        assert LEAKY["1"](run) > 0.01
        assert LEAKY["2"](run) > 0.1
