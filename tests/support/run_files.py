"""Small problems, frames with known content, and tampered files."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import RunFileError
from core.problem.problem import Problem, resolve_problem
from core.run_files.frame import Frame
from core.runs import Recorder, Run, open_run
from core.studies.study import load_study

FLOAT32 = ("dynamics.kind=gd", "run.precision=float32")


@cache
def small_problem(m: int = 4, d: int = 3, n: int = 5, settings: tuple[str, ...] = ()) -> Problem:
    """Return a problem of the first shipped study with few nodes and examples."""
    sizes = (f"network.m={m}", f"data.d={d}", f"data.n={n}")
    for seed in range(1, 100):  # until both classes are among the few examples
        changes = [*sizes, f"run.seed={seed}", *settings]
        study = load_study("telgarsky22-figure-1").with_settings(changes)
        experiment = study.cells()[0].experiment
        corners = np.random.default_rng(seed).choice([-1, 1], (n, d))
        if abs(int(corners[:, :2].prod(axis=1).sum())) < n:
            return resolve_problem(experiment, title="A title", source="telgarsky22")
    raise AssertionError("no seed has both classes")


def frame_of(problem: Problem, index: int) -> Frame:
    """Return frame `index` of a made-up run: the index determines every number."""
    generator = np.random.default_rng([7, index])
    parameters = generator.standard_normal(problem.network.size)
    log10_time = -np.inf if index == 0 else -1.0 + 0.25 * index
    numbers = {"stages": float(index), "fewest_atoms": 20.5}
    if problem.experiment.run.precision == "float32":
        dual = generator.random(problem.dataset.n)
        return Frame(index, log10_time, 0.0, parameters.astype(np.float32), dual, numbers)
    return Frame(10 * index, log10_time, 0.125 * index, parameters, None, numbers)


def frames_of(problem: Problem, count: int) -> list[Frame]:
    return [frame_of(problem, index) for index in range(count)]


def recorder_at(path: Path, problem: Problem, planned: int = 40, force: bool = False) -> Recorder:
    """Return a recorder with the engine and the cap that the tests expect."""
    return Recorder(
        path, problem, engine="tests", planned=planned, temperature_cap=1e5, force=force
    )


def record(path: Path, problem: Problem | None = None, count: int = 6) -> Path:
    problem = problem or small_problem()
    recorder = recorder_at(path, problem)
    recorder.append(frames_of(problem, count))
    recorder.event("note", {"text": "half way", "value": 1.5})
    recorder.finish("completed")
    return path


def crash(path: Path, problem: Problem | None = None, count: int = 6) -> Path:
    """Write a run as a crash leaves it, with its rows in the `-wal` beside the file."""
    problem = problem or small_problem()
    aside = path.with_name("recording")
    aside.mkdir()
    recorder = recorder_at(aside / path.name, problem)
    recorder.append(frames_of(problem, count))
    recorder.flush()
    for suffix in ("", "-wal"):
        shutil.copy(f"{aside / path.name}{suffix}", f"{path}{suffix}")
    recorder.abandon()
    shutil.rmtree(aside)
    return path


def assert_frames(run: Run, frames: Sequence[Frame]) -> None:
    """Assert that every frame of a run equals, to the bit, the one given to the recorder."""
    assert run.frames == len(frames)
    for index, frame in enumerate(frames):
        parameters, dual = run.parameters(index), run.dual(index)
        assert parameters.dtype == np.float64
        assert not parameters.flags.writeable
        stored = parameters.astype(frame.parameters.dtype)
        assert stored.tobytes() == frame.parameters.tobytes()
        assert (dual is None) == (frame.dual is None)
        assert dual is None or frame.dual is None or dual.tobytes() == frame.dual.tobytes()
        assert run.diagnostics(index) == dict(frame.diagnostics)
        numbers = (run.steps[index], run.log10_time[index], run.rho[index])
        assert numbers == (frame.step, frame.log10_time, frame.rho)


def tamper(path: Path, *statements: str | tuple[str, tuple[object, ...]]) -> Path:
    """Change a file with SQLite itself, with a writable schema."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            sql, values = (statement, ()) if isinstance(statement, str) else statement
            connection.execute(sql, values)
    finally:
        connection.close()
    return path


def content(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files except `-shm`, SQLite's scratch memory beside a `-wal`."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.name.endswith("-shm")
    }


def read_all(path: Path) -> int:
    """Read an entire file; return the number of frames."""
    with open_run(path) as run:
        for index in range(run.frames):
            assert np.isfinite(run.parameters(index)).all()
            run.dual(index)
            run.diagnostics(index)
        run.events()
        return run.frames


def refusal(path: Path, read: Callable[[Path], object] = read_all) -> str:
    """Return the sentence with which a file is refused; check that its bytes are unchanged."""
    before = content(path.parent) if path.parent.is_dir() else {}
    with pytest.raises(RunFileError) as caught:
        read(path)
    assert before == (content(path.parent) if path.parent.is_dir() else {})
    text = str(caught.value)
    assert path.name in text
    assert text.isprintable()
    assert len(text) < 800
    assert text.endswith((".", "!"))
    return text


def continue_problem(problem: Problem) -> Problem:
    """Return the problem as if continued from another run's last frame."""
    start = replace(
        problem.start,
        parameters=2.0 * problem.start.origin,
        rho=1.5,
        step=30,
        log10_time=2.0,
        continues={"file": "before.msrun", "frame": 3},
    )
    return replace(problem, start=start)


def connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """Record the connections to files made from now on, those of recorders included."""
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def kept(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        made.append(connect(*arguments, **settings))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", kept)
    return made
