"""Training from Python: the command line's frames, temporary files, and what ends a run early."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.dynamics.rows import is_cheaper
from core.problem.problem import resolve_problem
from core.terminal.bar import Bar
from marginscope._engine import training
from tests.python.small import FIGURE_1, SHORT, WIDTHS, command, trained, typed, written


def frames_of(path: Path) -> list[tuple[Any, ...]]:
    """Return every row of a run file's frames and arrays, to the last byte."""
    connection = sqlite3.connect(path)
    try:
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        assert {"frame", "array"} <= set(tables)
        rows = []
        for table in ("frame", "array"):
            rows += connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
        return rows
    finally:
        connection.close()


@pytest.mark.parametrize("kind", ["flow", "gd", "sgd"])
def test_frames_are_those_of_the_command_line(kind: str, tmp_path: Path) -> None:
    own = {**WIDTHS, "dynamics.kind": kind}
    out, there = tmp_path / "python", tmp_path / "command"
    runs = ms.train(FIGURE_1, out=out, **own)
    assert isinstance(runs, list)
    assert command("run", FIGURE_1, "--out", there, "--quiet", *typed(own)) == 0
    assert [run.path for run in runs] == [out / run.path.name for run in runs]
    assert [run.settings["network"]["m"] for run in runs] == [4, 8]
    for run in runs:
        rows = frames_of(run.path)
        assert len(rows) > 8
        assert rows == frames_of(there / run.path.name)


def test_one_cell_is_one_run_in_the_file_that_is_named(tmp_path: Path) -> None:
    run = ms.train(FIGURE_1, path=tmp_path / "a" / "mine.msrun", **SHORT)
    assert run.path == tmp_path / "a" / "mine.msrun"
    assert (run.status, run.V.shape) == ("completed", (len(run), 8, 4))
    assert float(run.log10_t[-1]) == 1.0


def test_a_temporary_run_lies_somewhere_as_long_as_it_is_used() -> None:
    runs = ms.train(FIGURE_1, **WIDTHS)
    assert isinstance(runs, list)
    folder = runs[0].path.parent
    last = runs.pop()
    del runs
    assert last.path.is_file() and np.isfinite(last["risk"]).all()  # the other run has it still
    del last
    assert not folder.exists()


def test_an_old_file_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    ms.train(FIGURE_1, path=path, **SHORT).close()
    before = path.read_bytes()
    with pytest.raises(
        ms.InputError, match=r"a\.msrun already exists; replace it with overwrite=True"
    ):
        ms.train(FIGURE_1, path=path, **SHORT)
    assert path.read_bytes() == before
    with ms.train(FIGURE_1, path=path, overwrite=True, **{**SHORT, "run.seed": 3}) as run:
        assert run.settings["run"]["seed"] == 3


def test_study_files_and_studies_are_trained(tmp_path: Path) -> None:
    file = written(tmp_path / "mine.toml")
    runs = ms.train(file)
    assert isinstance(runs, list) and [run.V.shape[1] for run in runs] == [3, 5]
    again = ms.train(ms.study(file, **{"network.m": np.int64(3)}))
    assert isinstance(again, ms.Run)
    assert np.array_equal(again.V, runs[0].V)


@contextmanager
def pressed(*_: object) -> Iterator[Bar]:
    """Yield a bar at whose fifth move somebody presses Ctrl-C."""

    class Pressed:
        moves = 0

        def set_done(self, done: int, text: str = "") -> None:
            self.moves += 1
            if self.moves == 5:
                signal.raise_signal(signal.SIGINT)

    yield Pressed()


def test_ctrl_c_leaves_what_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "progress", pressed)
    long = {**SHORT, "dynamics.until_log10_time": 15, "recording.frames": 1900}
    with pytest.raises(KeyboardInterrupt):
        ms.train(FIGURE_1, path=tmp_path / "a.msrun", **long)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ms.open(tmp_path / "a.msrun") as run:
        assert run.status == "cancelled"
        assert 0 < len(run) < 1900
        assert np.isfinite(run.V).all()


def test_a_run_that_diverges_is_told_and_recorded(tmp_path: Path) -> None:
    wild = {"dynamics.kind": "gd", "dynamics.step": 100.0, "loss.kind": "squared"}
    wild |= {"dynamics.until_log10_time": 5}
    with pytest.warns(ms.TrainingWarning, match="diverged at step .* try dynamics.step") as told:
        run = ms.train(FIGURE_1, path=tmp_path / "a.msrun", **{**SHORT, **wild})
    assert [Path(one.filename) for one in told] == [Path(__file__)]
    assert run.status == "diverged" and len(run) >= 1
    run.close()


def test_a_run_is_closed_with_its_last_user(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        run = trained()
        assert len(list(run)) == len(run)
        del run


# ---------------------------------------------------------------- more coordinates than examples


def descent(x: np.ndarray, y: np.ndarray, W: tuple[np.ndarray, np.ndarray], eta: float) -> Any:
    """Return one step on the exponential risk of f(x) = sum_j a_j relu(<v_j, x>), by NumPy."""
    a, V = W
    z = V @ x.T
    q = np.exp(-y * (a @ np.maximum(z, 0.0))) * y / y.size
    slope = ((z > 0.0) * a[:, None] * q) @ x
    return a + eta * np.maximum(z, 0.0) @ q, V + eta * slope


@pytest.mark.parametrize("d", [900, 25])
def test_weights_are_in_the_original_coordinates(d: int) -> None:
    """V (T, m, d) of a run in row-space form is that of descent in R^d."""
    own = {"data.d": d, "data.n": 12, "network.m": 100, "recording.frames": 12}
    steps = {"dynamics.kind": "gd", "dynamics.step": 0.05, "dynamics.until_log10_time": 0.3}
    run = ms.train(FIGURE_1, **{**SHORT, **own, **steps, "recording.log10_times": []})
    assert isinstance(run, ms.Run)
    assert run.V.shape == (len(run), 100, d)
    study = ms.study(FIGURE_1, **{**SHORT, **own, **steps, "recording.log10_times": []})
    (cell,) = study._study.cells()
    problem = resolve_problem(cell.experiment)
    assert is_cheaper(problem) == (d == 900)  # the one is in row-space form, the other is not
    start = problem.network.unpack(problem.start.parameters)
    a, V = start["a"], start["V"]
    np.testing.assert_allclose(run.V[0], V, rtol=0, atol=1e-13)
    taken = 0
    for frame in run:
        while taken < frame.step:
            a, V = descent(run.x, run.y, (a, V), 0.05)
            taken += 1
        np.testing.assert_allclose(frame.V, V, rtol=0, atol=1e-12)
        np.testing.assert_allclose(frame.a, a, rtol=0, atol=1e-12)
        assert run["norm_squared"][frame.index] == pytest.approx(np.sum(a**2) + np.sum(V**2))
    assert taken > 20


# ------------------------------------------------------------------------------- what is wrong


WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a study": ("telgarsky22-figre-1", {}, "did you mean 'telgarsky22-figure-1'"),
    "no study": (3, {}, "3 is not a study"),
    "a file": ("nothing.toml", {}, "The study file nothing.toml does not exist"),
    "a section": (FIGURE_1, {"netwrok.m": 3}, "did you mean 'network'"),
    "a key": (FIGURE_1, {"network.mm": 3}, "did you mean 'm'"),
    "a kind": (FIGURE_1, {"dynamics.kind": "gdd"}, "did you mean 'gd'"),
    "a value": (FIGURE_1, {"network.m": -1}, "network.m = -1: must be greater"),
    "a type": (FIGURE_1, {"network.m": "wide"}, "network.m = 'wide': a number is needed"),
    "a bool": (FIGURE_1, {"network.m": True}, "network.m = true"),
    "an axis": (FIGURE_1, {"network.m": []}, "a list of at least one value"),
    "twice": (FIGURE_1, {"network.m": (4, 4)}, "has the value 4 twice"),
    "a size": (FIGURE_1, {"size": "quik"}, "did you mean 'quick'"),
    "two places": (FIGURE_1, {"path": "a", "out": "b"}, "exclude each other"),
    "one file": (FIGURE_1, {"path": "a.msrun"}, "has 2 runs, but path names one file"),
    "too many": (FIGURE_1, {"run.seed": range(60)}, "train them with sweep"),
    "no key": (FIGURE_1, {"m": 3}, "a key reads section.name"),
    "recorded": (FIGURE_1, {"dynamics.kind": "recorded"}, "choose another dynamics"),
    "marks": (FIGURE_1, {"recording.frames": 3}, "raise frames or give fewer"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_sentence_of_python(case: str) -> None:
    study, settings, sentence = WRONG[case]
    with pytest.raises(ms.InputError, match=sentence) as caught:
        ms.train(study, **settings)
    text = str(caught.value)
    assert text.endswith((".", "?")) and "--" not in text
    # Where somebody called it, and the border: nothing of the program's inside.
    assert len(caught.traceback) <= 3
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ms.MarginscopeError) as caught:
        ms.train(FIGURE_1, path=tmp_path / "file" / "a.msrun", **SHORT)
    assert "--" not in str(caught.value) and "file" in str(caught.value)


def test_a_copy_of_the_process_removes_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained()
    folder, pid = run.path.parent, os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: pid + 1)
    del run
    assert folder.is_dir()
    monkeypatch.undo()
    shutil.rmtree(folder)
