"""The shipped recording of Figure 1 says what the program computes today."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.problem.problem import Problem, resolve_problem
from core.runs import open_run
from core.studies.study import load_study
from core.studies.tables import Cell
from core.study_file.experiment import Experiment
from core.training.shipped_recording import STUDY, ShippedRecording, file_of, read, unpack
from tests.frames_in_chunks import trajectory

MOST_BYTES = 2_000_000
# What the flow promises of a hard margin, and as much again for the rounding of the recording.
MARGIN = 2 * 3e-5
CELLS = load_study(STUDY).cells()


def _problem(experiment: Experiment) -> Problem:
    return resolve_problem(experiment)


def _recording(experiment: Experiment) -> ShippedRecording:
    file = file_of(experiment)
    assert file is not None, "record it anew: python -m core.training.shipped_recording"
    assert len(file.read_bytes()) < MOST_BYTES / len(CELLS)
    return read(file)


def _hard_margin(problem: Problem, theta: NDArray[np.floating]) -> float:
    """Return min_i y_i f(x_i) / |W|^2 of the paper's network, straight from its formula."""
    m, d = problem.network.m, problem.dataset.d
    a, v = theta[:m], theta[m:].reshape(m, d)
    f = np.maximum(problem.dataset.x @ v.T, 0.0) @ a
    return float((problem.dataset.y * f).min() / (theta @ theta))


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_the_recording_is_what_the_flow_computes(cell: Cell) -> None:
    experiment = cell.experiment
    recording, problem = _recording(experiment), _problem(experiment)
    computed = list(trajectory(problem))
    assert len(computed) == recording.log10_time.size
    for frame, recorded in zip(computed, recording.frames(), strict=True):
        assert recorded.log10_time == pytest.approx(frame.log10_time, abs=1e-9)
        assert recorded.rho == pytest.approx(frame.rho, abs=1e-3)
        now, then = (_hard_margin(problem, f.parameters) for f in (frame, recorded))
        assert abs(now - then) < MARGIN
        # A hundredth of the largest weight is less than a point on the screen.
        largest = np.abs(frame.parameters).max()
        assert np.abs(frame.parameters - recorded.parameters).max() < 0.01 * largest


def test_it_becomes_a_run_file_like_any_other(tmp_path: Path) -> None:
    cell = CELLS[0]
    problem, path = _problem(cell.experiment), tmp_path / "recorded.msrun"
    assert unpack(problem, path)
    recording = _recording(cell.experiment)
    with open_run(path) as run:
        assert run.reason == "completed"
        assert run.experiment == cell.experiment
        assert run.frames == recording.log10_time.size
        np.testing.assert_array_equal(run.log10_time, recording.log10_time)
        assert run.dataset.x.shape == (64, 20)


def test_no_other_experiment_has_one(tmp_path: Path) -> None:
    study = load_study(STUDY).with_value("run.seed", 1)
    for cell in study.cells():
        assert file_of(cell.experiment) is None
        assert not unpack(_problem(cell.experiment), tmp_path / "none.msrun")
    assert not list(tmp_path.iterdir())
