"""What is recorded is read back to the bit, also while the recording goes on."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.data.dataset import Dataset
from core.run_files.frame import Frame
from core.runs import estimated_bytes, open_run
from core.runs.run_history import FrameCache
from tests.support.run_files import (
    FLOAT32,
    assert_frames,
    content,
    continue_problem,
    frame_of,
    frames_of,
    record,
    recorder_at,
    small_problem,
)

QUICK = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUICK
@given(
    m=st.integers(1, 9),
    d=st.integers(2, 6),
    n=st.integers(2, 7),
    frames=st.integers(0, 40),
    single=st.booleans(),
)
def test_every_shape_comes_back(
    tmp_path: Path, m: int, d: int, n: int, frames: int, single: bool
) -> None:
    problem = small_problem(m, d, n, FLOAT32 if single else ())
    given_frames = frames_of(problem, frames)
    recorder = recorder_at(tmp_path / "a.msrun", problem, force=True)
    recorder.append(given_frames)
    recorder.finish("completed")
    with open_run(tmp_path / "a.msrun") as run:
        assert_frames(run, given_frames)
        assert run.dataset.x.tobytes() == problem.dataset.x.tobytes()
        assert run.dataset.y.tobytes() == problem.dataset.y.tobytes()


def test_a_run_carries_its_problem(tmp_path: Path) -> None:
    problem = small_problem()
    with open_run(record(tmp_path / "a.msrun")) as run:
        assert run.experiment == problem.experiment
        assert (run.title, run.source, run.engine) == ("A title", "telgarsky22", "tests")
        assert (run.status, run.reason, run.planned_frames) == ("finished", "completed", 40)
        assert (run.temperature_cap, run.precision) == (1e5, "float64")
        assert run.creation_time.endswith("+00:00")
        assert run.loss is problem.loss
        assert np.array_equal(run.origin, problem.start.origin)
        assert run.start.parameters is run.origin
        assert (run.start.rho, run.start.step, run.start.log10_time) == (0.0, 0, -np.inf)
        assert run.continues is None
        assert run.events() == ((5, "note", {"text": "half way", "value": 1.5}),)
        again = run.problem
        flat = problem.start.parameters
        assert np.array_equal(again.margins(flat), problem.margins(flat))
        assert run.bytes_on_disk == (tmp_path / "a.msrun").stat().st_size


def test_a_continued_run_knows_its_start(tmp_path: Path) -> None:
    problem = continue_problem(small_problem())
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    recorder.append([replace(frame_of(problem, 1), log10_time=2.0, step=30)])
    recorder.finish("cancelled")
    with open_run(tmp_path / "a.msrun") as run:
        start = run.problem.start
        assert np.array_equal(start.parameters, problem.start.parameters)
        assert np.array_equal(start.origin, problem.start.origin)
        assert (start.rho, start.step, start.log10_time) == (1.5, 30, 2.0)
        assert start.continues == problem.start.continues
        assert run.reason == "cancelled"


def test_test_data_come_with_the_run(tmp_path: Path) -> None:
    problem = small_problem()
    data = problem.dataset
    with_tests = Dataset(data.x, data.y, -data.x[:2], data.y[:2])
    record(tmp_path / "a.msrun", replace(problem, dataset=with_tests))
    with open_run(tmp_path / "a.msrun") as run:
        assert run.dataset.digest() == with_tests.digest()


def test_times_beyond_the_largest_float(tmp_path: Path) -> None:
    problem = small_problem()
    frames = [
        replace(frame_of(problem, i), log10_time=time, rho=300.0 * i)
        for i, time in enumerate((-np.inf, 308.0, 309.0, 1e200))
    ]
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    recorder.append(frames)
    recorder.finish("completed")
    with open_run(tmp_path / "a.msrun") as run:
        assert_frames(run, frames)


def test_diagnostics_that_are_not_numbers(tmp_path: Path) -> None:
    problem = small_problem()
    numbers = {"nan": float("nan"), "inf": float("inf"), "one": 1.0}
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    recorder.append([replace(frame_of(problem, 0), diagnostics=numbers)])
    recorder.event("trouble", {"value": float("nan"), "list": (1, np.float64(2.0))})
    recorder.finish("diverged")
    with open_run(tmp_path / "a.msrun") as run:
        found = run.diagnostics(0)
        assert np.isnan(found["nan"])
        assert (found["inf"], found["one"]) == (np.inf, 1.0)
        assert run.events()[0][2] == {"value": None, "list": [1, 2.0]}


def test_a_growing_run_is_followed(tmp_path: Path) -> None:
    problem = small_problem()
    path = tmp_path / "a.msrun"
    recorder = recorder_at(path, problem)
    with open_run(path) as run:
        assert (run.frames, run.status, run.reason) == (0, "recording", None)
        for index in range(5):
            assert recorder.append([frame_of(problem, index)]) <= index
            assert recorder.flush() == index
            assert run.refresh() == index + 1
            assert np.array_equal(run.parameters(index), frame_of(problem, index).parameters)
        recorder.finish("completed")
        assert list(content(tmp_path)) == ["a.msrun"]
        assert run.refresh() == 5
        assert (run.status, run.reason) == ("finished", "completed")
        assert_frames(run, frames_of(problem, 5))
    assert [path.name for path in tmp_path.iterdir()] == ["a.msrun"]


def test_a_reader_in_another_thread_never_disturbs_the_recorder(tmp_path: Path) -> None:
    problem = small_problem()
    path = tmp_path / "a.msrun"
    recorder = recorder_at(path, problem)
    seen: list[int] = []
    opened = threading.Event()

    def watch() -> None:
        with open_run(path) as run:
            opened.set()
            while run.status == "recording":
                seen.append(run.refresh())
                if run.frames:
                    run.parameters(run.frames - 1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        opened.wait()  # on a busy machine all would be recorded before the first look
        for index in range(100):
            recorder.append([frame_of(problem, index)])
            recorder.flush()
        recorder.finish("completed")
    finally:
        recorder.abandon()
        watcher.join()
    assert seen == sorted(seen)
    assert seen[-1] == 100
    assert [path.name for path in tmp_path.iterdir()] == ["a.msrun"]


def test_threads_take_turns(tmp_path: Path) -> None:
    problem = small_problem()
    record(tmp_path / "a.msrun", problem)
    found: list[bool] = []
    with open_run(tmp_path / "a.msrun") as run:
        threads = [
            threading.Thread(
                target=lambda: found.append(
                    np.array_equal(run.parameters(3), frame_of(problem, 3).parameters)
                )
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [True] * 4


def test_indices_and_closed_runs(tmp_path: Path) -> None:
    run = open_run(record(tmp_path / "a.msrun"))
    for index in (-1, 6):
        with pytest.raises(IndexError, match=r"a\.msrun"):
            run.parameters(index)
    run.close()
    run.close()
    with pytest.raises(ValueError, match="closed"):
        run.parameters(0)


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    cache = FrameCache(3 * 80)
    frame: tuple[np.ndarray, None] = (np.zeros(10), None)
    for index in range(3):
        cache.add(index, frame)
    assert cache.get(0) is frame
    cache.add(3, frame)
    assert cache.get(1) is None
    assert cache.get(0) is frame
    cache.add(4, (np.zeros(100), None))
    assert cache.get(4) is None
    assert cache.bytes == 3 * 80


@pytest.mark.parametrize("m", [2, 16, 60, 400])
def test_the_size_is_estimated(tmp_path: Path, m: int) -> None:
    problem = small_problem(m, 20, 8)
    generator = np.random.default_rng(0)
    recorder = recorder_at(tmp_path / "a.msrun", problem)
    for index in range(60):
        flat = generator.standard_normal(problem.network.size)
        recorder.append([Frame(index, float(index), 1.0, flat)])
    recorder.finish("completed")
    real = (tmp_path / "a.msrun").stat().st_size
    assert 0.9 * real - 65536 <= estimated_bytes(problem, 60) <= 1.6 * real + 65536
