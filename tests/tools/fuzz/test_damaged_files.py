"""A fixed part of the damaged files of every format: each is opened, or refused in a sentence."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mutations import damaged_bytes, damaged_text
from tests.tools.fuzz.formats import FORMATS, Format
from tests.tools.fuzz.opening import ROOT, limited, results
from tests.tools.fuzz.opening import TooLongError as TooLong

STEP = 30
FEW = 4  # of each format, in `make test`


def test_there_are_ten_thousand() -> None:
    assert sum(kind.count for kind in FORMATS) >= 10_000
    assert len({kind.name for kind in FORMATS}) == len(FORMATS)


# To begin takes longer than to open a few: small formats share a process.
ALONE = 3
GROUPS = [
    *([place] for place in range(ALONE)),
    *(list(range(ALONE + k, len(FORMATS), 3)) for k in range(3)),
]


@pytest.mark.slow
@pytest.mark.parametrize("places", GROUPS, ids=lambda places: FORMATS[places[0]].name)
def test_damaged_files_are_opened_or_refused(places: list[int]) -> None:
    """In a process of its own, which notes time, memory, and what is touched elsewhere."""
    names = ",".join(map(str, places))
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.fuzz.opening", names, "7", "100000", str(STEP)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = {}
    for line in done.stdout.splitlines():
        place, number, result = line.split(" ", 2)
        told[int(place), int(number)] = result
    wanted = {(k, number) for k in places for number in range(7, FORMATS[k].count, STEP)}
    assert told.keys() == wanted
    assert {
        one: result for one, result in told.items() if result not in ("opened", "refused")
    } == {}


# NumPy's `load` (2.x) leaves an NPZ open whose list of contents is damaged.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*FileIO")
def test_a_few_damaged_files_of_every_format(subtests: pytest.Subtests) -> None:
    """In this process; time and memory are limited, and what is touched elsewhere is not noted."""
    assert FORMATS
    for kind in FORMATS:
        numbers = range(3, kind.count, kind.count // FEW)
        with subtests.test(format=kind.name):
            told = dict(results(kind, numbers, watched=False))
            assert len(told) >= FEW
            assert set(told.values()) <= {"opened", "refused"}, told


def test_every_format_has_its_part() -> None:
    assert sorted(place for places in GROUPS for place in places) == [*range(len(FORMATS))]


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_the_damage_is_the_same_everywhere(kind: Format, tmp_path: Path) -> None:
    files = {name: bytes(range(256)) * 200 for name in ("a.msrun", "a.msrun-wal")}
    if kind.name == "run file with -wal":
        kind.foreign = bytes(64)  # what another run would have left
    first = [kind.damaged(files, random.Random(seed)) for seed in range(20)]
    assert first == [kind.damaged(files, random.Random(seed)) for seed in range(20)]
    assert sum(any(data != files["a.msrun"] for data in made.values()) for made in first) > 10


def test_mutations_change_and_end() -> None:
    text = b'a = 1\n[b]\nc = [1.5, "x"]\n'
    for seed in range(200):
        damaged_bytes(b"", random.Random(seed))
        damaged_text(b"", random.Random(seed))
    changed = {damaged_text(text, random.Random(seed)) for seed in range(200)}
    assert len(changed) > 150


def test_the_watch_stops_what_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.tools.fuzz.opening.MOST_CPU_S", 0.05)
    with pytest.raises(TooLong), limited():
        while True:
            pass
