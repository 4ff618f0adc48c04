"""Odd surroundings: unusual names, no home, other languages, closed pipes, equal names."""

from __future__ import annotations

import os
import random
from pathlib import Path

from core.runs import open_run
from tests.tools.faults.fault import Tally
from tests.tools.faults.kills import CELLS, GD, SMALL, command, differing, study_in, whole
from tests.tools.faults.processes import Program, core, crashed, is_sentence

NAMES = (
    "plain",
    "two  words ",
    'it\'s "quoted" `here`',
    "$HOME; rm -r * & | > <",
    "-rf --out",
    "\u00fc\u00df\u00e9 \u0416\u0443\u043a \u4e2d\u6587 \u05e2\u05d1\u05e8\u05d9\u05ea \U0001f600",
    "%s {0} \\n #",
    "line\nbreak\ttab",
    "x" * 200,
    os.fsdecode(b"no text \xff\xfe"),
)
SURROUNDINGS: tuple[dict[str, str | None], ...] = (
    {},
    {"HOME": None, "XDG_CACHE_HOME": None},
    {"HOME": "/proc/nowhere"},
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "tr_TR.UTF-8", "LC_ALL": "", "PYTHONIOENCODING": "ascii"},
    {"TMPDIR": "/proc/nowhere", "HOME": "/dev/null"},
)
ROUNDING = 1e-12


def odd(folder: Path, number: int) -> Tally:
    """Check all commands in oddly named folders: their numbers equal those of any other.

    Where nothing can be kept a run begins in NumPy while its kernels are compiled: there they are
    those to rounding, and to the bit of every run by kernels alone.
    """
    name = NAMES[number % len(NAMES)]
    env = SURROUNDINGS[number // 2 % len(SURROUNDINGS)]
    place = folder / name
    place.mkdir()
    study, tally = study_in(place, SMALL, "small"), Tally()
    run, out = place / "o u't" / "small.msrun", place / "o u't"
    for arguments in (
        ["run", study, "--out", out],
        ["info", run],
        ["table", run, "--out", place / 'da"ta.csv'],
        ["figure", out, "--out", place / "fig ure.pdf"],
        ["continue", run, "--set", "dynamics.until_log10_time=2.1"],
    ):
        with Program(core(*arguments), folder, env=env) as program:
            code, _, err = program.ended()
        assert code == 0 or crashed(code, err), (name, env, arguments, code, err)
        tally += Tally(crashes=crashed(code, err))
    with open_run(run) as made:
        told = made.frames
        rounding = ROUNDING if "NumPy" in made.engine else 0.0
    lost = differing(run, whole(SMALL, "small") / "small.msrun", rounding)
    stray = sum(path.name.startswith("~") for path in folder.rglob("*"))
    return tally + Tally(told=told, lost=lost, left=stray)


def pipe(folder: Path, number: int) -> Tally:
    """Close the pipe that reads a run's output: the run continues to its end."""
    chance = random.Random(f"pipe {number}")
    study, out = study_in(folder, SMALL, "small"), folder / "out"
    with Program(core("run", study, "--out", out), folder) as program:
        if chance.random() < 0.5:
            program.wait_until(program.told)
        for stream in (program.process.stdout, program.process.stderr)[: 1 + number % 2]:
            stream.close()
        err = "" if number % 2 else program.process.stderr.read()
        code = program.process.wait(120)
        for stream in (program.process.stdout, program.process.stderr):
            stream.close()
        program.process.stdout = program.process.stderr = None
    assert code in (0, 2), (code, err)
    lost = differing(out / "small.msrun", whole(SMALL, "small") / "small.msrun")
    return Tally(told=1, lost=lost, crashes=crashed(code, err), unsaid=bool(err.strip()))


def one_name(folder: Path, number: int) -> Tally:
    """Record to one name twice: one succeeds, one is refused. Sweep one folder thrice: complete."""
    sweeps = number % 2 == 1
    text, name = (CELLS, "cells") if sweeps else (GD, "killed")
    study, out, reference = study_in(folder, text, name), folder / "out", whole(text, name)
    arguments = core("run", study, "--out", out, *(["--jobs", "1"] if sweeps else []))
    with Program(arguments, folder) as first, Program(arguments, folder) as second:
        ends = [first.ended(), second.ended()]
    tally = Tally(crashes=sum(crashed(code, err) for code, _, err in ends))
    codes = sorted(code for code, _, _ in ends)
    # Of two sweeps either may be refused a cell that the other one has in hand.
    assert set(codes) <= {0, 1} if sweeps else codes == [0, 2], ends
    unsaid = sum(code != 0 and not is_sentence(err) for code, _, err in ends)
    if sweeps:  # what one of them was refused is there all the same
        command("run", study, "--out", out, "--quiet", "--jobs", "1")
    lost = sum(differing(out / path.name, path) for path in reference.glob("*.msrun"))
    return tally + Tally(told=2, lost=lost, unsaid=unsaid)


LARGE = (
    ("network.m=1000000", "recording.frames=2000"),
    ("data.n=1000000", "network.m=1000000"),
    ("network.m=200000", "data.n=200000", "data.d=200"),
)


def too_large(folder: Path, number: int) -> Tally:
    """Check that a study too large for this machine is refused at once, with its size."""
    study, out = (
        study_in(folder, (SMALL, SMALL + '[axes]\n"run.seed" = [0, 1]\n')[number % 2]),
        (folder / "out"),
    )
    settings = [word for one in LARGE[number % len(LARGE)] for word in ("--set", one)]
    jobs = ["--jobs", "2"] if number % 2 else []
    with Program(core("run", study, "--out", out, *settings, *jobs), folder) as program:
        code, _, err = program.ended()
    assert code == 2 or crashed(code, err), (code, err)
    told = "TB of memory" in err or "GB of memory" in err or "GB on disk" in err or "TB on" in err
    unsaid = not (is_sentence(err) and told and "choose a smaller" in err)
    return Tally(told=1, crashes=crashed(code, err), unsaid=unsaid, left=int(out.exists()))
