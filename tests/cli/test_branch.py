"""`branch`: the file that it makes, wrong and random requests, damaged parents, and kill -9."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.errors import RunFileError
from core.runs import open_run
from tests.problems import problem
from tests.support.commands import wait_for_frames
from tests.support.continued_runs import recorded_at
from tests.support.mutations import damaged_bytes

SETTINGS = ("dynamics.until_log10_time=1", "recording.log10_times=[]", "recording.frames=20")
DESCENT = (*SETTINGS, "dynamics.kind=gd", "dynamics.step=0.125")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trained") / "p.msrun"
    recorded_at(path, problem(*DESCENT))
    return path


@pytest.fixture
def parent(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path))


def branch(*arguments: object) -> int:
    try:
        return main(["branch", *map(str, arguments), "--quiet"])
    except SystemExit as stopped:
        return int(stopped.code or 0)


def others(parent: Path) -> list[str]:
    return sorted(one.name for one in parent.parent.iterdir() if one != parent)


def test_a_branch_lies_beside_its_parent(parent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert branch(parent, "--at", "10^0.5", "--set", "dynamics.step=0.25") == 0
    out, err = capsys.readouterr()
    child = Path(out.strip())
    with open_run(parent) as before, open_run(child) as after:
        frame = int(np.searchsorted(before.log10_time, 0.5, side="right")) - 1
        assert child == parent.with_name(f"p__from={frame}__dynamics.step=0.25.msrun")
        assert err == (
            f"{child.name} branches from frame {frame} of p.msrun, t = "
            f"{10 ** before.log10_time[frame]:.3g}: dynamics.step = 0.25.\n"
        )
        assert np.array_equal(after.parameters(0), before.parameters(frame))
    assert main(["info", str(child)]) == 0
    words = f"branched from p.msrun at t = {10 ** before.log10_time[frame]:.3g}: dynamics.step"
    assert f"  {words} = 0.25\n" in capsys.readouterr().out
    assert main(["info", str(child), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lineage"] == f"{words} = 0.25"
    assert branch(parent, "--at", frame, "--set", "dynamics.step=0.25") == 2
    assert "already exists; overwrite it with --force" in capsys.readouterr().err
    assert branch(parent, "--frame", frame, "--set", "dynamics.step=0.25", "--force") == 0


def test_a_branch_where_it_is_asked_for(parent: Path, tmp_path: Path) -> None:
    out = tmp_path / "made" / "mine.msrun"
    assert branch(parent, "--at", 4, "--set", "loss.kind=logistic", "--out", out) == 0
    assert branch(parent, "--at", 4, "--set", "loss.l2=0.5", "--out", out.parent) == 0
    names = sorted(one.name for one in out.parent.iterdir())
    assert names == ["mine.msrun", "p__from=4__loss.l2=0.5.msrun"]
    # Of the last frame, with an end that lies further: as `continue`, and changed.
    assert branch(parent, "--set", "dynamics.step=0.25", "--out", tmp_path / "end.msrun") == 0
    with open_run(tmp_path / "end.msrun") as end, open_run(parent) as before:
        assert end.steps[0] == before.steps[-1]
        assert end.experiment.dynamics.until_log10_time == 2.0
        assert (end.continues or {})["changes"].keys() == {
            "dynamics.step",
            "dynamics.until_log10_time",
        }


@pytest.mark.parametrize(
    "arguments",
    [
        ("{run}",),
        ("{run}", "--at", "4"),
        ("{run}", "--at", "99", "--set", "dynamics.step=1"),
        ("{run}", "--at", "10^7", "--set", "dynamics.step=1"),
        ("{run}", "--at=-4", "--set", "dynamics.step=1"),
        ("{run}", "--at", "4", "--frame", "4", "--set", "dynamics.step=1"),
        ("{run}", "--frame", "-1", "--set", "dynamics.step=1"),
        ("{run}", "--at", "4", "--set", "dynamics.steps=1"),
        ("{run}", "--at", "4", "--set", "network.m=99999999999999999999"),
        ("{run}", "--at", "4", "--set", "dynamics.step=1", "--out", "{run}"),
        ("{run}", "--at", "4", "--set", "dynamics.step=1", "--out", "{run}", "--force"),
        ("{run}", "--at", "4", "--set", "dynamics.step=1", "--out", "{run}/below"),
        ("{folder}/gone.msrun", "--at", "4", "--set", "dynamics.step=1"),
        ("{folder}", "--at", "4", "--set", "dynamics.step=1"),
        (),
    ],
    ids=" ".join,
)
def test_wrong_requests_are_a_sentence_and_make_nothing(
    arguments: tuple[str, ...], parent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = parent.read_bytes()
    places = {"run": parent, "folder": parent.parent}
    assert branch(*(text.format(**places) for text in arguments)) == 2
    err = capsys.readouterr().err
    assert err.startswith("marginscope")
    assert err.count("\n") == 1
    assert parent.read_bytes() == before
    assert others(parent) == []


PIECES = (
    *("10^", "t=", "log10 t = ", "0", "1", "99", ".", "-", "1e", "e999", "^", "(", ")", "nan"),
    *("inf", "_", " ", "\u0663", "=", "[", "]", "{", '"', "\\", "\0", ",", "true", "dynamics"),
    *("step", "kind", "until_log10_time", "loss", "l2", "data", "flips", "network", "run.", "gd"),
)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_random_requests(
    seed: int, parent: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is typed is a moment and a setting, or a sentence; nothing else comes out of it."""
    from core.cli import training

    def recorded(*_: object) -> int:
        return 0

    monkeypatch.setattr(training, "_record_one", recorded)  # what would be trained is another test
    chance, before, refused = random.Random(seed), parent.read_bytes(), 0
    for _ in range(50):
        at = "".join(chance.choices(PIECES, k=chance.randint(1, 4)))
        key = "".join(chance.choices(PIECES, k=chance.randint(0, 2)))
        value = "".join(chance.choices(PIECES, k=chance.randint(0, 3)))
        section = chance.choice(("dynamics.", "loss.", "data.", "network.", "recording.", ""))
        moment = chance.choice((at, "3"))
        code = branch(parent, f"--at={moment}", f"--set={section}{key}={value}")
        err = capsys.readouterr().err
        assert code in (0, 2), (moment, section, key, value, err)
        if code:
            refused += 1
            assert err.startswith("marginscope"), err
            assert "Traceback" not in err
            assert "internal" not in err, (moment, section, key, value, err)
    assert refused > 25
    assert parent.read_bytes() == before
    assert others(parent) == []


def test_damaged_parents(parent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A parent that was damaged gives a sentence, or exactly the frame that it had."""
    with open_run(parent) as run:
        theirs = np.array(run.parameters(5))
    data, out, refused = parent.read_bytes(), parent.with_name("child.msrun"), 0
    for seed in range(25):
        parent.write_bytes(damaged_bytes(data, random.Random(seed)))
        code = branch(parent, "--at", 5, "--set", "dynamics.step=0.25", "--out", out, "--force")
        err = capsys.readouterr().err
        assert code in (0, 2, 3), err
        assert "Traceback" not in err
        if code == 2:
            refused += 1
            assert err.count("\n") == 1
            continue
        with open_run(out) as child:
            assert np.array_equal(child.parameters(0), theirs)
        out.unlink()
    assert refused > 5


def test_a_branch_that_is_killed_leaves_both_readable(tmp_path: Path) -> None:
    parent, child = tmp_path / "p.msrun", tmp_path / "c.msrun"
    recorded_at(parent, problem(*SETTINGS))
    before = parent.read_bytes()
    long = ("--set", "dynamics.until_log10_time=1e12", "--set", "recording.frames=2000")
    words = ["branch", str(parent), "--at", "9", *long, "--out", str(child)]
    process = subprocess.Popen([sys.executable, "-m", "core", *words])
    wait_for_frames(child, 4, process)
    with open_run(child) as run:
        seen, last = run.frames, np.array(run.parameters(run.frames - 1))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert parent.read_bytes() == before
    with open_run(parent) as begun, open_run(child) as run:
        assert run.status == "recording"
        assert run.frames >= seen
        assert np.array_equal(run.parameters(seen - 1), last)
        assert np.array_equal(run.parameters(0), begun.parameters(9))
        assert (run.continues or {})["run"] == begun.name
    # It goes on from where it was cut off, whether its parent is still there or not.
    parent.unlink()
    goes_on = tmp_path / "on.msrun"
    end = "dynamics.until_log10_time=1.5"
    assert branch(child, "--frame", 2, "--set", end, "--out", goes_on) == 0
    with open_run(goes_on) as run:
        assert run.is_complete
    with pytest.raises(RunFileError):
        open_run(parent)
