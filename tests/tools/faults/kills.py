"""kill -9 at random moments: of recordings, sweeps, exports and the library."""

from __future__ import annotations

import contextlib
import io
import random
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.cli.main import main
from core.errors import RunFileError
from core.runs import open_run
from tests.tools.faults.fault import Tally, kept_folder
from tests.tools.faults.processes import Program, core

Array = NDArray[np.float64]
GD = """
title = "Killed"
[data]
d = 6
n = 12
[network]
m = 8
[dynamics]
kind = "gd"
step = 4e-3
until_log10_time = 3.2
[recording]
frames = 1500
"""
SEEDS = '[axes]\n"run.seed" = [0, 1, 2, 3, 4, 5]\n'
CELLS = GD.replace("3.2", "2.6").replace("1500", "300") + SEEDS
OLD = b"what was there before"


def command(*arguments: object) -> None:
    """The headless program in this process; it must do what it is told."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main([str(one) for one in arguments])
    assert status == 0, said.getvalue()


@cache
def whole(text: str, name: str) -> Path:
    """The folder of an uninterrupted run, or sweep, of a study."""
    folder = kept_folder("whole")
    study = folder / f"{name}.toml"
    study.write_text(text)
    command("run", study, "--out", folder / "runs", "--quiet", "--jobs", "1")
    return folder / "runs"


def study_in(folder: Path, text: str, name: str = "killed") -> Path:
    """The study as a file."""
    study = folder / f"{name}.toml"
    study.write_text(text)
    return study


def lost_frames(path: Path, told: int, reference: Path) -> int:
    """How many of the frames up to `told` are not there, or of all that are there not as they are
    in an uninterrupted run."""
    try:
        with open_run(path) as run, open_run(reference) as other:
            wrong = sum(
                run.parameters(index).tobytes() != other.parameters(index).tobytes()
                or run.log10_time[index] != other.log10_time[index]
                for index in range(run.frames)
            )
            return int(wrong) + max(0, told + 1 - run.frames)
    except RunFileError:
        return told + 1


def _same(one: Array, other: Array, rounding: float) -> bool:
    near = rounding > 0.0 and np.allclose(one, other, rounding, rounding)
    return near or one.tobytes() == other.tobytes()


def differing(path: Path, reference: Path, rounding: float = 0.0) -> int:
    """How many frames of the same moments differ in two runs that must both have ended, and end
    alike; by more than `rounding` where it is given, else in any bit."""
    with open_run(path) as run, open_run(reference) as other:
        assert run.reason == other.reason == "completed", run.reason
        assert run.log10_time[-1] == other.log10_time[-1]
        places = {float(time_): index for index, time_ in enumerate(other.log10_time)}
        return sum(
            not _same(run.parameters(index), other.parameters(places[float(time_)]), rounding)
            for index, time_ in enumerate(run.log10_time)
            if float(time_) in places
        )


# ---------------------------------------------------------------------------------- recording


def wait_for(program: Program, chance: random.Random, most: int) -> None:
    """Until somewhere behind one of so many frames, wherever that is on this machine."""
    frames = chance.randrange(most)
    program.wait_until(lambda: (told := program.told()) and sum(told.values()) >= frames)
    time.sleep(chance.uniform(0.0, 0.03))


def recording(folder: Path, number: int) -> Tally:
    """`run` is killed; its file opens with every frame it told of, and `continue` ends like a run
    that nobody has killed."""
    chance = random.Random(f"recording {number}")
    study, out = study_in(folder, GD), folder / "out"
    reference = whole(GD, "killed") / "killed.msrun"
    with Program(core("run", study, "--out", out, "--quiet"), folder) as program:
        if chance.random() < 0.85:
            wait_for(program, chance, 1500)
        else:  # also while it starts, and makes its file
            program.wait_until(out.exists)
            time.sleep(chance.uniform(0.0, 0.05))
        left = program.kill()
        told = program.told()
    path = out / "killed.msrun"
    frames = max(told.values(), default=-1)
    lost = lost_frames(path, frames, reference) if path.exists() else frames + 1
    if frames < 0:
        command("run", study, "--out", out, "--quiet", "--force")
        return Tally(0, lost + differing(path, reference), left=left)
    with open_run(path) as run:
        ended, last = run.is_complete, run.frames - 1
    if not ended:
        command("continue", path, "--quiet")
        path = out / f"killed__from={last}.msrun"
    return Tally(frames + 1, lost + differing(path, reference), left=left)


LOOP = """
import sys, time
import marginscope as ms
from tests.tools.faults.kills import loop_data, loop_weights
x, y = loop_data()
V, a = loop_weights(0)
with ms.record(sys.argv[1], x, y, loss="logistic", V0=V, a0=a, strict=True) as r:
    for t in range(1, 2000):
        V, a = loop_weights(t)
        r.frame(t, V=V, a=a)
        if t % 20 == 0:
            time.sleep(0.01)
    time.sleep(60)
"""


def loop_data() -> tuple[np.ndarray, np.ndarray]:
    """Twelve points of 2-parity."""
    x = np.random.default_rng(3).choice([-1.0, 1.0], (12, 4))
    return x, x[:, 0] * x[:, 1]


def loop_weights(t: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights that follow from the step alone."""
    generator = np.random.default_rng([11, t])
    return generator.standard_normal((6, 4)), generator.standard_normal(6)


def loop(folder: Path, number: int) -> Tally:
    """A loop that `marginscope.record` records is killed: every frame it told of is there."""
    chance = random.Random(f"loop {number}")
    path = folder / "mine.msrun"
    with Program(["-c", LOOP, path], folder) as program:
        wait_for(program, chance, 1990)
        left = program.kill()
        told = program.told().get(path, -1)
    lost = 0
    with open_run(path) as run:
        lost += max(0, told + 1 - run.frames)
        for index in range(run.frames):
            V, a = loop_weights(index)
            parts = run.network.unpack(run.parameters(index))
            lost += not (np.array_equal(parts["V"], V) and np.array_equal(parts["a"], a))
    return Tally(told + 1, lost, left=left)


# -------------------------------------------------------------------------------------- sweeps


def sweep(folder: Path, number: int) -> Tally:
    """`run` of a sweep is killed, and gone on with: no cell that had ended is run again, and all
    frames are those of a sweep in one go."""
    chance = random.Random(f"sweep {number}")
    study, out = study_in(folder, CELLS, "cells"), folder / "out"
    reference = whole(CELLS, "cells")
    jobs = "2" if number else "1"  # the attempt in `make test` waits for no workers
    with Program(core("run", study, "--out", out, "--quiet", "--jobs", jobs), folder) as program:
        wait_for(program, chance, 6 * 300)
        left = program.kill()
        told = program.told()
    lost, before = 0, {}
    for path, last in told.items():
        lost += lost_frames(path, last, reference / path.name)
        with open_run(path) as run:
            if run.is_complete:
                before[path] = path.stat().st_mtime_ns
    command("run", study, "--out", out, "--quiet", "--jobs", "1")
    for path in reference.glob("*.msrun"):
        lost += differing(out / path.name, path)
    again = sum(path.stat().st_mtime_ns != when for path, when in before.items())
    assert not again, f"{again} cells that had ended were run again"
    assert _table(out, folder / "a.csv") == _table(reference, folder / "b.csv")
    return Tally(sum(last + 1 for last in told.values()), lost, left=left)


def _table(runs: Path, place: Path) -> str:
    """The cells of a sweep as a table, without the seconds that they took."""
    command("table", runs, "--out", place, "--quiet")
    head, *rows = [line.split(",") for line in place.read_text().splitlines()]
    kept = [k for k, name in enumerate(head) if name not in ("seconds", "worker", "bytes")]
    return "\n".join(",".join(row[k] for k in kept) for row in [head, *rows])


# ------------------------------------------------------------------------------------- exports

EXPORTS: dict[str, Callable[[Path, Path], list[object]]] = {
    "figure.pdf": lambda runs, out: ["figure", runs, "--out", out],
    "figure.png": lambda runs, out: ["figure", runs, "--out", out],
    "film.gif": lambda runs, out: ["movie", runs / "small.msrun", "--out", out, "--seconds", "1"],
    "page.html": lambda runs, out: ["page", runs, "--out", out],
    "data.npz": lambda runs, out: ["table", runs / "small.msrun", "--out", out, "--parameters"],
    "data.csv": lambda runs, out: ["table", runs / "small.msrun", "--out", out],
}
SMALL = GD.replace("1500", "60").replace("3.2", "2")


@cache
def exported(name: str) -> tuple[bytes, float]:
    """What an export writes that nobody kills, and about how many seconds it takes."""
    runs = whole(SMALL, "small")
    place = runs.parent / name
    begun = time.monotonic()
    with Program(core(*EXPORTS[name](runs, place), "--quiet"), runs.parent) as program:
        status, _, err = program.ended()
    assert status == 0, err
    return place.read_bytes(), time.monotonic() - begun


def export(folder: Path, number: int) -> Tally:
    """An export is killed: under its name lies what was there before, or all of it; it can be made
    anew, and what was half written is gone then."""
    chance = random.Random(f"export {number}")
    name = [*EXPORTS][number % len(EXPORTS)]
    wanted, seconds = exported(name)
    runs, place = whole(SMALL, "small"), folder / "away" / name
    place.parent.mkdir()
    if chance.random() < 0.5:
        place.write_bytes(OLD)
    arguments = core(*EXPORTS[name](runs, place), "--quiet")
    with Program(arguments, folder) as program:
        # Half of the time of a short program goes by before it has anything to write.
        if chance.random() < 0.5:
            program.wait_until(lambda: any(place.parent.glob(".*.part*")))
        else:
            time.sleep(chance.uniform(0.3 * seconds, 1.05 * seconds))
        left = program.kill()
    found = place.read_bytes() if place.exists() else None
    half = found not in (None, OLD, wanted)
    command(*EXPORTS[name](runs, place), "--quiet")
    lost = place.read_bytes() != wanted
    left += sum(path != place for path in place.parent.iterdir())
    return Tally(1, int(lost), left=left + half)
