"""What is wrong is one sentence, at once; the loop goes on, and what was recorded is kept."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.run_files import writer
from core.run_files.active_recorders import LOCKS
from core.runs import open_run
from tests.support.foreign_loop import LoopProcess
from tests.support.loops import loop

ROOT = Path(__file__).resolve().parents[2]
ONE = loop()


def begun(path: Path, **settings: Any) -> ms.Recording:
    own = {"loss": "logistic", "V0": ONE.V, "a0": ONE.a} | settings
    return ms.record(path, ONE.x, ONE.y, **own)


WRONG_ARGUMENTS = {
    "loss": ({"loss": "hinge"}, "least_squares, mse, cross_entropy, and None for any"),
    "a near loss": ({"loss": "logistc"}, "did you mean 'logistic'"),
    "cross entropy of two": ({"loss": "cross_entropy"}, "does not go with y of two classes"),
    "targets": ({"targets": "reals"}, "did you mean 'real'"),
    "a loss of labels": ({"targets": "real"}, 'needs labels, but targets = "real"; give "least_sq'),
    "activation": ({"activation": "rleu"}, "did you mean 'relu'"),
    "time": ({"time": "epoch"}, "time = 'epoch' does not exist"),
    "dynamics": ({"dynamics": "sdg"}, "did you mean 'sgd'"),
    "no step": ({"dynamics": "gd"}, "needs its step size eta"),
    "step": ({"dynamics": "gd", "eta": -1.0}, "eta = -1.0; give a number above 0"),
    "until": ({"until": 0}, "until = 0.0; give a number above 0"),
    "frames": ({"frames": 5000}, "frames = 5000; give 2 to 2000"),
    "marks": ({"marks": [0.0]}, "marks must be times above 0"),
    "V's shape": ({"V0": ONE.V.T}, r"V has shape \(4, 6\); it must be \(m, 4\)"),
    "V transposed": ({"V0": np.ones((4, 6))}, "so give V.T"),
    "a's shape": ({"a0": np.ones(5)}, r"a has shape \(5,\); it must be \(6,\) or \(1, 6\)"),
    "two logits": ({"a0": np.ones((2, 6))}, "the difference of their rows"),
    "no a": ({"a0": None}, "a, the outer weights, are missing"),
    "no V": ({"V0": None}, "V0, the inner weights before the first step, is missing"),
    "b's shape": ({"b0": np.ones(5)}, "b has shape"),
    "c's shape": ({"c0": np.ones(2)}, "c has shape"),
    "NaN": ({"V0": np.full((6, 4), np.nan)}, r"V0 holds nan at \(0, 0\)"),
    "no numbers": ({"V0": [["a"]]}, "V is not an array of real numbers|V0 is not an array"),
    "complex": ({"V0": ONE.V + 1j}, "V0 is not an array of real numbers"),
    "half a test": ({"x_test": ONE.x}, "x_test and y_test belong together"),
    "test columns": ({"x_test": np.ones((3, 5)), "y_test": np.ones(3)}, "x_test has 5 columns"),
    "batch": ({"dynamics": "sgd", "eta": 0.1, "batch": 0}, "batch = 0"),
    "half a batch": ({"dynamics": "sgd", "eta": 0.1, "batch": 2.5}, "batch = 2.5 is not a whole"),
    "a scale in words": ({"scale": "1/m"}, "scale = '1/m' is not a number"),
    "no scale": ({"scale": 0.0}, "give a finite number, and a scale other than 0"),
    "a step in words": ({"dynamics": "gd", "eta": "small"}, "eta = 'small' is not a number"),
    "one mark": ({"marks": 3}, "marks = 3 are not times"),
    "marks in words": ({"marks": "all"}, "marks = 'a' is not a number"),
    "capitals": ({"activation": "Relu"}, "did you mean 'relu'"),
    "layers and V0": ({"layers": (ONE.V, ONE.a)}, "leave out V0, a0, b0 and c0"),
    "one layer": ({"layers": ONE.V, "V0": None, "a0": None}, "give two layers"),
    "swapped": (
        {"layers": (ONE.a[None], ONE.V), "V0": None, "a0": None},
        "in the wrong order; give the inner one first",
    ),
    "no layers": ({"layers": ("fc1", "fc2"), "V0": None, "a0": None}, "which has no weights"),
}


@pytest.mark.parametrize("case", WRONG_ARGUMENTS, ids=str)
def test_wrong_arguments_are_errors_before_the_loop_begins(case: str, tmp_path: Path) -> None:
    settings, sentence = WRONG_ARGUMENTS[case]
    with pytest.raises(ms.InputError, match=sentence) as caught:
        begun(tmp_path / "a.msrun", **settings)
    assert str(caught.value).endswith((".", "?"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (np.ones(3), np.ones(3), "x has shape"),
        (np.ones((0, 3)), np.ones(0), "x has shape"),
        (np.ones((3, 2)), np.ones(4), "one label for each of 3"),
        (np.array([[np.inf, 0.0]]), np.ones(1), r"x holds inf at \(0, 0\)"),
        (np.ones((3, 2)), np.array([1.0, 2.0, 0.5]), "y has the label 0.5"),
        (np.ones((3, 2)), np.array([1.0, -1.0, 3.0]), "y has the label 3"),
        (np.ones((3, 2)), np.array([1.0, -1.0, 0.0]), "y has the label 0"),
        (np.ones((3, 2)), np.array([1.0, 2.0, 2.0]), "y holds 1 and 2; .* give y - 1"),
        (np.ones((1, 2)), np.array([1e9]), "y has the label 1e"),
    ],
)
def test_wrong_examples(x: Any, y: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ms.InputError, match=sentence):
        ms.record(tmp_path / "a.msrun", x, y, loss="logistic")


WRONG_FRAMES = {
    "shape": (
        {"V": np.ones((5, 4)), "a": np.ones(5)},
        "shapes of the weights differ from those at the start",
    ),
    "a bias": (
        {"V": ONE.V, "a": ONE.a, "b": np.ones(6)},
        "shapes of the weights differ from those at the start",
    ),
    "no outer": ({"V": ONE.V}, "a, the outer weights, are missing"),
    "NaN": ({"V": np.full((6, 4), np.nan), "a": ONE.a}, "V is not finite, and is left out"),
    "infinite": ({"V": ONE.V, "a": np.full(6, np.inf)}, "a is not finite, and is left out"),
    "a list": ({"V": ONE.V, "a": ONE.a, "risk": [1, 2]}, "risk is not a single number"),
    "nothing": ({"V": None, "a": ONE.a}, "V is not an array of real numbers"),
}


@pytest.mark.parametrize("case", WRONG_FRAMES, ids=str)
def test_a_wrong_frame_is_left_out_and_said_once(case: str, tmp_path: Path) -> None:
    weights, sentence = WRONG_FRAMES[case]
    with begun(tmp_path / "a.msrun") as r:
        assert repr(r).endswith("a.msrun', open: frames = 1>")
        r.frame(1, V=ONE.V, a=ONE.a)
        with pytest.warns(ms.RecordingWarning, match=sentence) as told:
            r.frame(2, **weights)
        assert [Path(one.filename) for one in told] == [Path(__file__)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            r.frame(3, **weights)  # once is enough
        r.frame(4, V=2 * ONE.V, a=ONE.a)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps.tolist() == [0, 1, 4]
        assert run.reason == "completed"


@pytest.mark.parametrize("t", [0, 1, 0.5, -1, float("nan"), "soon", None, 1e300])
def test_a_wrong_time_is_left_out(t: Any, tmp_path: Path) -> None:
    with begun(tmp_path / "a.msrun") as r:
        r.frame(1, V=ONE.V, a=ONE.a)
        with pytest.warns(ms.RecordingWarning):
            r.frame(t, V=ONE.V, a=ONE.a)
        assert not r.due(float("nan"))
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps.tolist() == [0, 1]


def test_a_strict_recording_raises(tmp_path: Path) -> None:
    with begun(tmp_path / "a.msrun", strict=True) as r, pytest.raises(ms.InputError, match="shape"):
        r.frame(1, V=np.ones((2, 2)), a=ONE.a)


def test_a_run_that_diverges_ends_as_such(tmp_path: Path) -> None:
    nothing = np.full((6, 4), np.nan)
    with begun(tmp_path / "a.msrun") as r, pytest.warns(ms.RecordingWarning, match="not finite"):
        r.frame(1, V=ONE.V, a=ONE.a)
        r.frame(2, V=nothing, a=ONE.a)
    with open_run(tmp_path / "a.msrun") as run:
        assert (run.frames, run.reason) == (2, "diverged")


def test_a_closed_recording_takes_nothing(tmp_path: Path) -> None:
    r = begun(tmp_path / "a.msrun")
    r.close()
    r.close()
    assert not r.due(5)
    with pytest.warns(ms.RecordingWarning, match="is closed; no frame"):
        r.frame(5, V=ONE.V, a=ONE.a)


def test_an_error_of_the_loop_ends_the_recording_and_is_the_loops(tmp_path: Path) -> None:
    for kind, reason in ((ZeroDivisionError, "failed"), (KeyboardInterrupt, "cancelled")):
        path = tmp_path / f"{reason}.msrun"
        with pytest.raises(kind), begun(path):
            raise kind
        with open_run(path) as run:
            assert (run.status, run.reason, run.frames) == ("finished", reason, 1)


def test_an_old_file_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    begun(path).close()
    before = path.read_bytes()
    with pytest.raises(ms.InputError, match=r"a\.msrun already exists"):
        begun(path)
    assert path.read_bytes() == before
    begun(path, overwrite=True, title="new").close()
    with open_run(path) as run:
        assert run.title == "new"


def test_of_two_recorders_on_one_file_one_is_refused(tmp_path: Path) -> None:
    with begun(tmp_path / "a.msrun") as r:
        with pytest.raises(ms.InputError, match="exists"):
            begun(tmp_path / "a.msrun")
        r.frame(1, V=ONE.V, a=ONE.a)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.frames == 2


def test_what_is_being_recorded_is_not_replaced(tmp_path: Path) -> None:
    """Neither the file itself, nor the one beside an old file that is to take its place."""
    path = tmp_path / "a.msrun"
    for title in ("first", "second"):
        with begun(path, overwrite=True, title=title) as r:
            with pytest.raises(ms.InputError, match=r"msrun is being recorded; wait"):
                begun(path, overwrite=True, title="third")
            r.frame(1, V=ONE.V, a=ONE.a)
        with open_run(path) as run:
            assert (run.title, run.frames) == (title, 2)
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("there", [False, True], ids=["new", "old"])
def test_of_recorders_that_begin_at_once_one_gets_the_name(tmp_path: Path, there: bool) -> None:
    for turn in range(10):
        path = tmp_path / f"{turn}.msrun"
        if there:
            begun(path).close()
        together = threading.Barrier(4)

        def start(path: Path = path, together: threading.Barrier = together) -> object:
            together.wait()
            try:
                return begun(path, overwrite=True)
            except ms.InputError as error:
                return str(error)

        with ThreadPoolExecutor(4) as threads:
            made = [one.result() for one in [threads.submit(start) for _ in range(4)]]
        refused = [one for one in made if isinstance(one, str)]
        assert len(refused) == 3 and all("is being recorded" in one for one in refused)
        (recording,) = (one for one in made if isinstance(one, ms.Recording))
        recording.close()
        with open_run(path) as run:
            assert run.frames == 1
        assert list(tmp_path.glob(f"{turn}.*")) == [path]


@pytest.mark.skipif(not LOCKS.exists(), reason="only Linux tells who holds a lock")
def test_what_another_process_records_is_not_replaced(tmp_path: Path) -> None:
    with LoopProcess(tmp_path / "a.msrun") as loop:
        with pytest.raises(ms.InputError, match=r"a\.msrun is being recorded; wait"):
            begun(loop.path, overwrite=True)
        loop.frames(3)
        loop.stop()
        with open_run(loop.path) as run:
            assert run.frames == 4
        begun(loop.path, overwrite=True, title="new").close()
    with open_run(loop.path) as run:
        assert run.title == "new"


def test_sentences_name_no_options_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    begun(tmp_path / "a.msrun").close()
    for path in (tmp_path / "file" / "a.msrun", tmp_path, tmp_path / "a.msrun"):
        with pytest.raises(ms.InputError) as error:
            begun(path)
        assert "--" not in str(error.value) and str(error.value).endswith(".")


def test_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "a.msrun"):
        with pytest.raises(ms.InputError):
            begun(path)


def test_a_full_disk_ends_the_recording_and_not_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    r = begun(tmp_path / "a.msrun")
    until(lambda: r._started.saver.committed == 0)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer.RunWriter, "append", full)
    r.frame(1, V=ONE.V, a=ONE.a)
    until(lambda: r._started.saver.failed is not None)
    with pytest.warns(ms.RecordingWarning, match="No space left"):
        r.frame(2, V=ONE.V, a=ONE.a)
    r.frame(3, V=ONE.V, a=ONE.a)
    r.close()
    with open_run(tmp_path / "a.msrun") as run:
        assert run.frames == 1


def test_frames_beyond_the_most_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marginscope._record.recording.MAX_FRAMES", 3)
    told = pytest.warns(ms.RecordingWarning, match="at most 3 frames")
    with begun(tmp_path / "a.msrun") as r, told:
        for t in range(1, 6):
            r.frame(t, V=ONE.V, a=ONE.a)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.frames == 3


def until(reached: Any) -> None:
    for _ in range(60_000):
        if reached():
            return
        time.sleep(0.001)
    raise TimeoutError("it did not get there")


# ----------------------------------------------------------------------------------- processes

SCRIPT = """
    import sys, time
    import numpy as np
    for name in ("pydantic", "scipy", "numba", "matplotlib", "torch", "PySide6"):
        sys.modules[name] = None  # a recorder does without the rest of the program
    import marginscope as ms
    x, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    V, a = np.ones((2, 3)), np.ones(2)
    {body}
"""


def script(body: str, *arguments: object, **settings: Any) -> subprocess.Popen[str]:
    code = textwrap.dedent(SCRIPT).format(body=textwrap.dedent(body))
    command = [sys.executable, "-c", code, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, **pipes, **settings)


def test_nothing_but_numpy_is_loaded(tmp_path: Path) -> None:
    body = """
with ms.record(sys.argv[1], x, y, loss="logistic", V0=V, a0=a) as r:
    r.frame(1, V=2 * V, a=a)
print(r.frames, "app" in sys.modules)
"""
    done = script(body, tmp_path / "a.msrun")
    out, err = done.communicate(timeout=60)
    assert (out, err) == ("2 False\n", "")


def test_what_is_older_than_fifty_milliseconds_survives_a_kill(tmp_path: Path) -> None:
    """Frames come fast, then a pause in which nothing is asked of the recorder, then kill -9."""
    body = """
r = ms.record(sys.argv[1], x, y, loss="logistic", V0=V, a0=a)
for t in range(1, 301):
    r.frame(t, V=t * V, a=a)
print("there", flush=True)
time.sleep(60)
"""
    path = tmp_path / "a.msrun"
    loop_ = script(body, path)
    assert loop_.stdout.readline() == "there\n"
    with open_run(path) as run:  # the file is read while it grows
        until(lambda: run.refresh() == 301)
    os.kill(loop_.pid, signal.SIGKILL)
    loop_.communicate()
    with open_run(path) as run:
        assert (run.frames, run.status) == (301, "recording")
        assert run.network.unpack(run.parameters(300))["V"][0, 0] == 300.0


def test_a_script_that_ends_without_closing_leaves_a_finished_file(tmp_path: Path) -> None:
    body = """
r = ms.record(sys.argv[1], x, y, loss="logistic", V0=V, a0=a)
r.frame(1, V=2 * V, a=a)
"""
    done = script(body, tmp_path / "a.msrun")
    assert done.communicate(timeout=60) == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["a.msrun"]
    with open_run(tmp_path / "a.msrun") as run:
        assert (run.frames, run.reason) == (2, "cancelled")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied on this system")
def test_copies_in_other_processes_record_nothing(tmp_path: Path) -> None:
    """As the workers of a data loader are."""
    body = """
import os
r = ms.record(sys.argv[1], x, y, loss="logistic", V0=V, a0=a)
if os.fork() == 0:
    assert not r.due(1)
    r.frame(1, V=2 * V, a=a)
    r.close()
    sys.exit(0)
os.wait()
r.frame(2, V=2 * V, a=a)
r.close()
"""
    done = script(body, tmp_path / "a.msrun")
    assert done.communicate(timeout=60) == ("", "")
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps.tolist() == [0, 2]
        assert run.reason == "completed"
