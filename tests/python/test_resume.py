"""`record(..., resume=True)`: a recording that a job left goes on in its file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.run_files.reopening import read_facts
from core.runs import open_run
from tests.support.foreign_loop import LoopProcess
from tests.support.loops import loop
from tests.support.run_files import record

ROOT = Path(__file__).resolve().parents[2]
ONE = loop()
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied by fork")


def start(path: Path, **settings: Any) -> ms.Recording:
    own = {"loss": "logistic", "V0": ONE.V, "a0": ONE.a} | settings
    return ms.record(path, ONE.x, ONE.y, **own)


def go_on(recording: ms.Recording, times: Iterable[int]) -> None:
    """Take the frames that are due; weights at t are those of t, whoever trains."""
    for t in times:
        if recording.due(t):
            recording.frame(t, V=(1.0 + t) * ONE.V, a=ONE.a, eta=1.0 / t)


def wait_for(path: Path, frames: int) -> None:
    with open_run(path) as run:
        while run.refresh() < frames:
            time.sleep(0.001)


def rows(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as file:
        frames = file.execute("SELECT * FROM frame ORDER BY idx").fetchall()
        return [*frames, *file.execute("SELECT * FROM metric ORDER BY idx, name").fetchall()]


# A job that is killed once all its frames are safe, and a copy of it that is killed while it goes
# on again, at each SQL statement in turn, until one is not.
JOB = """
import os, shutil, sys, time
from pathlib import Path
import numpy as np
import marginscope as ms
from core.run_files import reopening
path, kills = Path(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
x = rng.standard_normal((12, 4))
y, V, a = np.sign(x[:, 0]), rng.standard_normal((6, 4)), rng.standard_normal(6)

def job(times, **settings):
    r = ms.record(path, x, y, loss="logistic", V0=V, a0=a, **settings)
    for t in times:
        if r.due(t):
            r.frame(t, V=(1.0 + t) * V, a=a, eta=1.0 / t)
    while r._started.saver.committed < r.frames - 1:
        time.sleep(0.001)
    return r

def dying(statements):
    connect = reopening.connect_to_write
    left = [statements]
    def connected(*given):
        made = connect(*given)
        def count(sql):
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)
        made.set_trace_callback(count)
        return made
    reopening.connect_to_write = connected

if os.fork() == 0:
    job(range(1, 101), title="mine")
    os._exit(9)
os.wait()
if kills > 1:  # also one that is finished
    job(range(60, 121), resume=True).close()
for statements in range(200 if kills else 0):
    if os.fork() == 0:
        dying(statements)
        job(range(60, 101), resume=True)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.wait()[1]) == 0:
        break
    copy = path.parent / str(statements)
    copy.mkdir()
    for one in path.parent.glob("*.msrun*"):
        if not one.name.endswith("-shm"):
            shutil.copy(one, copy)
print(statements if kills else 0)
"""


def job(path: Path, kills: int = 0) -> int:
    """Run a job that is killed; returns how many of those that went on were killed, too."""
    command = [sys.executable, "-c", JOB, str(path), str(kills)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@posix
def test_a_job_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """From its checkpoint of step 60 after reaching 100, without a word; then once more."""
    path = tmp_path / "a.msrun"
    job(path)
    before = rows(path)
    x = np.random.default_rng(0).standard_normal((12, 4))
    given = {"loss": "logistic", "resume": True, "strict": True}
    with ms.record(path, x, np.sign(x[:, 0]), **given) as r:
        assert r.path == path and r.frames == 63
        assert "frames = 63" in repr(r)
        for t in range(60, 201):
            if r.due(t):
                assert t > 100
                r.frame(t, V=np.full((6, 4), float(t)), a=np.ones(6))
        r.frame(201, V=np.ones((6, 4)), a=np.ones(6))
    after = rows(path)
    assert len(before) == 63 + 62
    assert [row for row in after if row in before] == before
    assert list(tmp_path.iterdir()) == [path]
    with open_run(path) as run:
        assert (run.status, run.reason, run.title) == ("finished", "completed", "mine")
        assert run.steps.tolist()[63:65] == [104, 108] and run.steps[-1] == 201
        assert run.experiment.dynamics.until_log10_time == pytest.approx(np.log10(201))
        assert run.diagnostics(62) == {"eta": 0.01}


@posix
@pytest.mark.parametrize("kills", [1, 2], ids=["unfinished", "finished"])
def test_a_job_that_is_killed_while_it_goes_on(tmp_path: Path, kills: int) -> None:
    """Whatever statement it is killed at: the file opens, and what it held is there."""
    path = tmp_path / "a.msrun"
    killed = job(path, kills)
    assert killed > 8
    frames, states = 63 if kills == 1 else 67, set()
    for place in (*(tmp_path / str(moment) / path.name for moment in range(killed)), path):
        with open_run(place) as run:
            assert run.frames == frames
            states.add(run.status)
        assert rows(place) == rows(path)
    assert states == {"recording"} if kills == 1 else {"recording", "finished"}
    assert read_facts(path).frames == frames


def test_frames_are_those_of_a_loop_in_one_go(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Times, steps and weights, bit by bit, with any schedule; three goes, one of them empty."""
    for case, settings in {
        "no end": {},
        "until": {"until": 400, "frames": 50, "marks": (7.0, 150.0)},
        "descent": {"dynamics": "gd", "eta": 0.25},
        "single": {"V0": ONE.V.astype(np.float32), "a0": ONE.a.astype(np.float32)},
    }.items():
        with subtests.test(case):
            whole, parts = tmp_path / f"{case}.msrun", tmp_path / f"{case} in parts.msrun"
            with start(whole, **settings) as r:
                go_on(r, range(1, 401))
            for first, last in ((1, 100), (60, 160), (160, 160), (90, 400)):
                with start(parts, resume=True, strict=True, **settings) as r:
                    go_on(r, range(first, last + 1))
            assert rows(parts) == rows(whole)


def test_frames_that_are_there_are_passed_over_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    with start(path) as r:
        r.frame(10, V=ONE.V, a=ONE.a)
    with start(path, resume=True, strict=True) as r:
        for t in (8, 9, 10, 11):  # without asking whether one is due
            r.frame(t, V=t * ONE.V, a=ONE.a)
    with start(path, resume=True) as r, pytest.warns(ms.RecordingWarning, match="t = 9 comes"):
        assert r.due(12)
        assert not r.due(9)
    with open_run(path) as run:
        assert run.steps.tolist() == [0, 10, 11]
        assert np.array_equal(run.network.unpack(run.parameters(1))["V"], ONE.V)


def test_the_start_is_no_second_frame(tmp_path: Path) -> None:
    """Return True if V0 is that of the checkpoint, or is not given."""
    path = tmp_path / "a.msrun"
    start(path).close()
    for settings in ({"V0": 3.0 * ONE.V}, {"V0": None, "a0": None}):
        with start(path, resume=True, **settings) as r:
            assert r.frames == 1 and not r.due(0)
    with open_run(path) as run:
        assert run.frames == 1 and np.array_equal(run.network.unpack(run.origin)["V"], ONE.V)


def test_where_there_is_none_a_new_one_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    with start(path, resume=True) as r:
        go_on(r, [1])
    path_of_none = tmp_path / "b.msrun"
    path_of_none.write_bytes(b"")  # as a kill leaves one just made
    with start(path_of_none, resume=True) as r:
        go_on(r, [1])
    assert rows(path) == rows(path_of_none)


def test_a_recording_that_replaces_an_old_one_goes_on_beside_it(tmp_path: Path) -> None:
    path, new = tmp_path / "a.msrun", tmp_path / "a.new.msrun"
    with start(path) as r:
        go_on(r, range(1, 11))
    old = path.read_bytes()
    with pytest.raises(ZeroDivisionError), start(path, overwrite=True, title="new") as r:
        go_on(r, range(1, 4))
        raise ZeroDivisionError
    assert path.read_bytes() == old and new.exists()
    with start(path, resume=True) as r:
        assert (r.path, r.frames) == (new, 4)
        go_on(r, range(1, 6))
    assert list(tmp_path.iterdir()) == [path] == [r.path]
    with open_run(path) as run:
        assert (run.title, run.steps.tolist()) == ("new", [0, 1, 2, 3, 4, 5])


def test_what_differs_is_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    path = tmp_path / "a.msrun"
    start(path, dynamics="sgd", eta=0.5, batch=4, activation="tanh").close()
    before = path.read_bytes()
    own = {"dynamics": "sgd", "eta": 0.5, "batch": 4, "activation": "tanh"}
    cases: dict[str, dict[str, Any]] = {
        "eta = 0.5 in the file, 0.25 now": {"eta": 0.25},
        "batch = 4 in the file, None now": {"batch": None},
        "dynamics = 'sgd' in the file, 'adam' now": {"dynamics": "adam"},
        "loss = 'logistic' in the file, 'exponential' now": {"loss": "exponential"},
        "activation = 'tanh' in the file, 'elu' now": {"activation": "elu"},
        "activation = 'relu' now, of a network of kind 'recorded' in the file": {
            "activation": "relu"
        },
        r"weights are a \(6,\), V \(6, 4\) in the file, a \(5,\), V \(5, 4\) now": {
            "V0": np.ones((5, 4)),
            "a0": np.ones(5),
        },
        r"weights are a \(6,\), V \(6, 4\) in the file, a \(6,\), V \(6, 4\), b \(6,\) now": {
            "b0": np.ones(6)
        },
        "precision of V0 = 'float64' in the file, 'float32' now": {
            "V0": ONE.V.astype(np.float32),
            "a0": ONE.a.astype(np.float32),
        },
        "the outer weights are fixed now; the weights are": {"a0": None, "a_fixed": ONE.a},
        "x_test is new": {"x_test": ONE.x, "y_test": ONE.y},
        "give one of them": {"overwrite": True},
    }
    for sentence, settings in cases.items():
        with subtests.test(sentence), pytest.raises(ms.InputError, match=sentence) as caught:
            start(path, resume=True, **(own | settings))
        assert str(caught.value).endswith(".")
    for x, y, sentence in (
        (2.0 * ONE.x, ONE.y, "x has other values"),
        (ONE.x[:9], ONE.y[:9], r"x \(12, 4\) in the file, \(9, 4\) now; y \(12,\) in the file"),
        (ONE.x, -ONE.y, "y has other values"),
    ):
        with pytest.raises(ms.InputError, match=sentence):
            ms.record(path, x, y, loss="logistic", resume=True, V0=ONE.V, a0=ONE.a, **own)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    # How far the loop is to come may change.
    with start(path, resume=True, until=1e6, frames=50, **own) as r:
        go_on(r, range(1, 5))
    with open_run(path) as run:
        assert (run.planned_frames, run.experiment.dynamics.until_log10_time) == (
            50,
            pytest.approx(6 + np.log10(0.5)),
        )


def test_outer_weights_that_are_not_trained_are_compared(tmp_path: Path) -> None:
    path, a = tmp_path / "a.msrun", np.sign(ONE.a) / np.sqrt(6.0)
    own = {"a0": None, "activation": "leaky_relu", "slope": 0.5}
    start(path, a_fixed=a, **own).close()
    with start(path, a_fixed=a, resume=True, **(own | {"V0": None})) as r:
        r.frame(1, V=ONE.V)
    with pytest.raises(ms.InputError, match="a_fixed has other values"):
        start(path, a_fixed=-a, resume=True, **own)
    with pytest.raises(ms.InputError, match=r"slope = 0\.5 in the file, 0\.25 now"):
        start(path, a_fixed=a, resume=True, **(own | {"slope": 0.25}))
    with open_run(path) as run:
        assert (run.network.kind, run.frames) == ("fixed_outer", 2)


def test_other_files_are_refused_and_left(tmp_path: Path, subtests: pytest.Subtests) -> None:
    text, trained, folder = tmp_path / "t.msrun", tmp_path / "u.msrun", tmp_path / "f.msrun"
    text.write_text("no run")
    folder.mkdir()
    with closing(sqlite3.connect(tmp_path / "o.msrun")) as other:
        other.execute("CREATE TABLE mine (a)")
    record(trained)
    for name, sentence in {
        "t.msrun": "cannot be continued as a recording",
        "o.msrun": "another program",
        "u.msrun": "was trained by Marginscope|its data or settings have changed",
        "f.msrun": "is a folder",
    }.items():
        path = tmp_path / name
        before = path.read_bytes() if path.is_file() else b""
        with subtests.test(name), pytest.raises(ms.InputError, match=sentence):
            start(path, resume=True)
        assert not path.is_file() or path.read_bytes() == before


def test_what_is_being_recorded_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    with start(path) as r, pytest.raises(ms.InputError, match="is being recorded"):
        start(path, resume=True)
    assert r.frames == 1
    with LoopProcess(path := tmp_path / "b.msrun") as other:
        other.frames(3)
        given = np.random.default_rng(3).choice([-1.0, 1.0], (12, 4))
        with pytest.raises(ms.InputError, match="is being recorded"):
            ms.record(path, given, given[:, 0] * given[:, 1], loss="logistic", resume=True)
        other.frames(2)
        wait_for(path, 6)
        other.kill()
        with ms.record(path, given, given[:, 0] * given[:, 1], loss="logistic", resume=True) as r:
            assert r.frames == 6
    with open_run(path) as run:
        assert (run.frames, run.reason) == (6, "completed")


def test_a_window_that_has_the_file_open_is_no_recorder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps a run that was left open as long as nothing is written."""
    with LoopProcess(path := tmp_path / "a.msrun") as other:
        other.frames(3)
        wait_for(path, 4)
        other.kill()
    os.utime(f"{path}-wal", (0, 0))
    monkeypatch.setattr("core.run_files.journal.CLOSING_PATIENCE_S", 0.05)
    x = np.random.default_rng(3).choice([-1.0, 1.0], (12, 4))
    with open_run(path) as run:
        assert run.refresh() == 4
        with ms.record(path, x, x[:, 0] * x[:, 1], loss="logistic", resume=True) as r:
            r.frame(9, V=np.ones((6, 4)), a=np.ones(6))
        run.refresh()
        assert (run.frames, run.status) == (5, "finished")


def test_a_wal_of_another_run_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "a.msrun", tmp_path / "b.msrun"
    start(path).close()
    with LoopProcess(other) as loop_:
        loop_.frames(2)
        loop_.kill()
    (tmp_path / "a.msrun-wal").write_bytes(Path(f"{other}-wal").read_bytes())
    with pytest.raises(ms.InputError, match=r"a\.msrun-wal next to it from another run"):
        start(path, resume=True)


def test_a_recording_without_a_start_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    own = {"V0": None, "a0": None}
    for times in ((10, 20), (20, 30)):
        with start(path, resume=True, time="t", **own) as r:
            for t in times:
                r.frame(t, V=t * ONE.V, a=ONE.a, steps=2 * t)
    with open_run(path) as run:
        assert run.steps.tolist() == [20, 40, 60] and not run.complete
    with pytest.raises(ms.InputError, match='time = "step" now, but the recorded frames are not'):
        start(path, resume=True)


def test_load_makes_whole_runs_only() -> None:
    with pytest.raises(ms.InputError, match="resume=True applies to recordings"):
        ms.load([], [], ONE.x, ONE.y, loss="logistic", V="V", resume=True)


def test_other_factors_and_optimizers_are_refused(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """They are in no array: the same weights are another network, or follow other steps."""
    one = loop()
    momentum = {"kind": "SGD", "lr": 0.1, "momentum": 0.9}
    start = {"loss": "logistic", "V0": one.V, "a0": one.a}
    for name, then, now, words in (
        ("scale", {"scale": 0.5}, {}, "scale: 0.5 in the file, 1 now"),
        (
            "reduction",
            {"reduction": "sum"},
            {},
            "reduction, the loss over R: 12 in the file, 1 now",
        ),
        ("optimizer", {"optimizer": momentum}, {}, "optimizer: kind = SGD in the file, None now"),
        (
            "momentum",
            {"optimizer": momentum},
            {"optimizer": momentum | {"momentum": 0.5}},
            "momentum = 0.9 in the file, 0.5 now",
        ),
    ):
        with subtests.test(name):
            path = tmp_path / f"{name}.msrun"
            with ms.record(path, one.x, one.y, **start, **then) as r:
                r.frame(1, V=one.V, a=one.a)
            with pytest.raises(ms.InputError, match=words):
                ms.record(path, one.x, one.y, resume=True, **start, **now)
            ms.record(path, one.x, one.y, resume=True, **start, **then).close()
