"""Disks that are full, and have room again; folders in which nobody may write."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from shutil import copytree

from core.errors import MarginscopeError
from core.library.library import Library
from core.runs import open_run
from tests.tools.faults.fault import Tally
from tests.tools.faults.kills import (
    CELLS,
    EXPORTS,
    GD,
    OLD,
    SMALL,
    command,
    differing,
    exported,
    lost_frames,
    study_in,
    wait_for,
    whole,
)
from tests.tools.faults.librarian import runs as library_runs
from tests.tools.faults.mounting import disk
from tests.tools.faults.processes import Program, core, crashed, is_sentence

FULL = 1
# So slow that the disk is full before it ends.
SLOW = GD.replace("4e-3", "2e-4")


def refused(arguments: list[object], folder: Path, status: int) -> Tally:
    """A command that must end with a status and a sentence."""
    with Program(core(*arguments), folder) as program:
        return _said(program, status)


def _said(program: Program, status: int = FULL) -> Tally:
    """How a program ended that must end with a status and a sentence."""
    code, _, err = program.ended()
    said = code == status and is_sentence(err)
    assert said or crashed(code, err), (code, err)
    return Tally(crashes=crashed(code, err), unsaid=not said)


def recording(folder: Path, number: int) -> Tally:
    """A run meets a full disk: a sentence, what was told stays; with room it is gone on with."""
    chance = random.Random(f"full recording {number}")
    study, reference = study_in(folder, SLOW), whole(SLOW, "killed") / "killed.msrun"
    with disk(folder, 20_000) as place:
        out = place.place / "out"
        with Program(core("run", study, "--out", out, "--quiet"), folder) as program:
            wait_for(program, chance, 1000)
            place.fill()
            tally = _said(program)
        path = out / "killed.msrun"
        told = program.told().get(path, -1)
        lost = lost_frames(path, told, reference)
        with open_run(path) as run:
            last, reason = run.frames - 1, run.reason
        assert reason in ("disk_full", None), reason  # where there is no byte left to say it
        place.empty()
        command("continue", path, "--quiet")
        lost += differing(out / f"killed__from={last}.msrun", reference)
    return tally + Tally(told=told + 1, lost=lost)


def loop(folder: Path, number: int) -> Tally:
    """A loop whose recorder meets a full disk goes on to its end, and is told once."""
    code = (
        "import sys, numpy as np, marginscope as ms\n"
        "x = np.random.default_rng(0).standard_normal((20, 4)); y = np.sign(x[:, 0])\n"
        "V = np.ones((40, 4)); a = np.ones(40)\n"
        "with ms.record(sys.argv[1], x, y, loss='logistic', V0=V, a0=a) as r:\n"
        "    for t in range(1, 1500): r.frame(t, V=t * V, a=a)\n"
        "print('the loop has ended', r.frames)\n"
    )
    chance = random.Random(f"full loop {number}")
    with disk(folder, chance.randrange(250, 1000)) as place:
        path = place.place / "mine.msrun"
        with Program(["-c", code, path], folder) as program:
            status, out, err = program.ended()
            told = program.told().get(path, -1)
        assert (status, out[:18]) == (0, "the loop has ended"), (status, out, err)
        lost = 0
        with open_run(path) as run:
            lost += max(0, told + 1 - run.frames)
            for index in range(run.frames):
                V = run.network.unpack(run.parameters(index))["V"]
                lost += not (max(index, 1) == V).all()
    unsaid = err.count("RecordingWarning") != 1 or "the loop continues" not in err
    return Tally(told + 1, lost, crashes="Traceback" in err, unsaid=unsaid)


def sweep(folder: Path, number: int) -> Tally:
    """A sweep meets a full disk: a sentence, cells that had ended stay; with room it goes on."""
    chance = random.Random(f"full sweep {number}")
    study, reference = study_in(folder, CELLS, "cells"), whole(CELLS, "cells")
    with disk(folder, 20_000) as place:
        out = place.place / "out"
        arguments = core("run", study, "--out", out, "--quiet", "--jobs", 1 + number % 2)
        with Program(arguments, folder) as program:
            wait_for(program, chance, 4 * 300)
            place.fill()
            tally = _said(program)
        told = program.told()
        lost = sum(lost_frames(path, last, reference / path.name) for path, last in told.items())
        place.empty()
        command("run", study, "--out", out, "--quiet", "--jobs", "1")
        lost += sum(differing(out / path.name, path) for path in reference.glob("*.msrun"))
        left = sum(".part" in path.name or ".new" in path.name for path in out.iterdir())
    return tally + Tally(told=sum(last + 1 for last in told.values()), lost=lost, left=left)


def export(folder: Path, number: int) -> Tally:
    """An export meets a full disk: a sentence, what lay there stays; with room it is written."""
    name = [*EXPORTS][number % len(EXPORTS)]
    wanted, _ = exported(name)
    runs = whole(SMALL, "small")
    with disk(folder, 64) as place:
        target = place.place / name
        target.write_bytes(OLD)
        place.fill()
        tally = refused([*EXPORTS[name](runs, target), "--quiet"], folder, FULL)
        lost = int(target.read_bytes() != OLD)
        left = sum(path.name not in (name, ".ballast") for path in place.place.iterdir())
        place.empty()
        place.resize(20_000)
        command(*EXPORTS[name](runs, target), "--quiet")
        lost += target.read_bytes() != wanted
    return tally + Tally(told=1, lost=lost, left=left)


def _entry(library: Library, name: str) -> tuple[object, ...]:
    entry = next(one for one in library.refresh().entries if one.path.name == name)
    return (entry, entry.about.tags, entry.is_trashed)


def library(folder: Path, number: int) -> Tally:
    """A library on a full disk is listed; what cannot be kept is refused in a sentence, and what
    was said of runs before is there; with room all can be done again."""
    unsaid = lost = 0
    with disk(folder, 2000) as place:
        root, index = place.place / "runs", place.place / "library.sqlite"
        copytree(library_runs(), root)
        kept = Library(root, index)
        if number % 2:  # also where there is an index already
            kept.refresh()
        entry, _, _ = _entry(kept, "run1.msrun")
        kept.describe(entry.path, lambda about: replace(about, tags=("before",)))
        place.fill()
        entry, tags, _ = _entry(kept, "run1.msrun")
        lost += tags != ("before",)
        for deed in (
            lambda: kept.describe(entry.path, lambda about: replace(about, tags=("x" * 60,) * 2)),
            lambda: kept.move_to_trash(entry),
        ):
            try:
                deed()
            except MarginscopeError as error:
                unsaid += not is_sentence(f"{error.sentence}\n")
        again = Library(root, index)
        lost += len(again.refresh().entries) != len(list(library_runs().glob("*.msrun")))
        unsaid += sum(not is_sentence(f"{said}\n") for said in again.refresh().messages)
        again.close()
        place.empty()
        entry, tags, trashed = _entry(kept, "run1.msrun")
        lost += tags not in (("before",), ("x" * 60,))
        if trashed:
            kept.restore(entry)
            entry, _, _ = _entry(kept, "run1.msrun")
        kept.describe(entry.path, lambda about: replace(about, tags=("after",)))
        lost += _entry(kept, "run1.msrun")[1:] != (("after",), False)
        kept.close()
    return Tally(told=3, lost=lost, unsaid=unsaid)


def locked(folder: Path, number: int) -> Tally:
    """What would be written where nobody may write is refused in a sentence; the rest is read."""
    tally = Tally()
    runs = whole(SMALL, "small")
    with disk(folder, 4000) as place:
        copytree(runs, place.place / "runs")
        study = study_in(place.place, SMALL, "small")
        there = place.place / "runs" / "small.msrun"
        before = {path: path.read_bytes() for path in place.place.rglob("*") if path.is_file()}
        place.lock()
        writing: list[list[object]] = [
            ["run", study, "--out", place.place / "new", "--quiet"],
            ["continue", there, "--set", "dynamics.until_log10_time=3.3", "--quiet"],
            ["run", study, "--out", place.place / "new", "--jobs", "1", "--quiet"],
            *(
                [*make(place.place / "runs", place.place / name), "--quiet"]
                for name, make in EXPORTS.items()
            ),
        ]
        one = refused(writing[number % len(writing)], folder, 2)
        command("info", there)
        listing = Library(place.place / "runs", place.place / "library.sqlite").refresh()
        unsaid = [said for said in listing.messages if not is_sentence(f"{said}\n")]
        after = {path: path.read_bytes() for path in place.place.rglob("*") if path.is_file()}
        lost = (before != after) + (len(listing.entries) != 1)
        tally += one + Tally(told=len(before), lost=lost, unsaid=len(unsaid))
    return tally
