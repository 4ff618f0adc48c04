"""The library killed: a program that lists, tags, throws away and restores, and says what it did.

`python -m tests.tools.faults.librarian FOLDER SEED` is what is killed.
"""

from __future__ import annotations

import os
import random
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree

from core.library.entry import Entry
from core.library.library import Library
from tests.support.run_files import crash, record
from tests.tools.faults.fault import Tally, kept_folder
from tests.tools.faults.processes import Program

RUNS = 8
SAID = "said"


def work(folder: Path, seed: int) -> None:
    """Change things for ever, and note what is going to be done, and that it was done."""
    chance = random.Random(seed)
    said = os.open(folder / SAID, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    library = Library(folder / "runs", folder / "library.sqlite")
    for count in range(1_000_000):
        entries = library.refresh(again=count % 5 == 0).entries
        entry = chance.choice(entries)
        name = entry.path.name
        if chance.random() < 0.5 and not entry.is_trashed:
            deed = f"tag {name} t{count}"
        else:
            deed = f"{'restore' if entry.is_trashed else 'throw'} {name} ."
        os.write(said, f"begin {deed}\n".encode())
        if deed.startswith("tag"):
            library.describe(entry.path, lambda about, tag=count: replace(about, tags=(f"t{tag}",)))
        elif entry.is_trashed:
            library.restore(entry)
        else:
            library.move_to_trash(entry)
        os.write(said, f"end {deed}\n".encode())


@cache
def runs() -> Path:
    """A folder of small runs, of which a crash has left one."""
    folder = kept_folder("library")
    for number in range(RUNS - 1):
        record(folder / f"run{number}.msrun")
    crash(folder / "left.msrun")
    for path in folder.iterdir():  # one that is still written is not thrown away
        os.utime(path, (1e9, 1e9))
    return folder


def library(folder: Path, number: int) -> Tally:
    """A program that keeps the library is killed: every run is there once, unchanged, where it was
    said to be, with the tag that it was said to have; the index opens."""
    chance = random.Random(f"library {number}")
    copytree(runs(), folder / "runs")
    contents = {path.name: path.read_bytes() for path in runs().iterdir()}
    program = ["-m", "tests.tools.faults.librarian", folder, number]
    with Program(program, folder) as killed:
        said = folder / SAID
        if chance.random() < 0.8:
            killed.wait_until(lambda: said.exists() and said.stat().st_size > 0)
        else:  # while the index is built
            killed.wait_until(lambda: (folder / "library.sqlite").exists())
        time.sleep(chance.uniform(0.0, 0.5))
        left = killed.kill()
    lines = said.read_text().splitlines() if said.exists() else []
    lines = [line for line in lines if len(line.split()) == 4]
    under_way = lines[-1].split()[1:3] if lines and lines[-1].startswith("begin") else ["", ""]
    again = Library(folder / "runs", folder / "library.sqlite")
    listing = again.refresh()
    again.close()
    assert not listing.messages, listing.messages
    lost = 0
    for name in sorted({path.name for path in runs().glob("*.msrun")}):
        found = [entry for entry in listing.entries if entry.path.name == name]
        if len(found) != 1 or found[0].path.read_bytes() != contents[name]:
            lost += 1
            continue
        lost += name != under_way[1] and not _as_said(found[0], name, lines)
        wal = found[0].path.with_name(f"{name}-wal")
        lost += wal.name in contents and wal.read_bytes() != contents[wal.name]
    left += sum(1 for path in (folder / "runs").rglob("*.part*") if path.name.endswith(".msrun"))
    return Tally(sum(line.startswith("end") for line in lines), lost, left=left)


def _as_said(entry: Entry, name: str, lines: list[str]) -> bool:
    """Whether a run is where, and tagged as, it was said last."""
    deeds = [line.split()[1:] for line in lines if line.startswith("end")]
    mine = [(deed, rest) for deed, one, rest in deeds if one == name]
    places = [deed for deed, _ in mine if deed != "tag"]
    tags = [rest for deed, rest in mine if deed == "tag"]
    trashed = bool(places) and places[-1] == "throw"
    return entry.is_trashed == trashed and entry.about.tags == tuple(tags[-1:])


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]))
