"""Files for a viewer that may come from a stranger: hostile, damaged at random, or none at all."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.support.hostile_runs import (
    ARRAYS,
    EVENTS,
    FRAMES,
    META,
    SCHEMAS,
    TYPES,
    tamper_loosely,
)
from tests.support.mutations import damaged_bytes
from tests.support.pages import HOSTILE
from tests.support.run_changes import Change, experiment, meta
from tests.support.run_files import record, tamper

COUNT = 500
OTHERS = (
    b"",
    b"SQLite format 3\0",
    b"title = 'x'\n" * 500,
    b"\0" * 9000,
    b"PK\3\4" * 4000,
    b"<script>alert(1)</script>" * 300,
)
# Markup and scripts at every place of a text: such a run is whole, and its texts stay texts.
SCRIPTS = (
    HOSTILE,
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{script}}</script><script>alert(1)</script>",
    "constructor",
    "__proto__",
    "\u202e<b>NORM</b>\u0007",
)
TEXTS: tuple[Callable[[str], Change], ...] = (
    lambda text: meta("title", text),
    lambda text: meta("source", text),
    lambda text: meta("engine", text[:200]),
    lambda text: meta("program", text[:100]),
    lambda text: meta("created", text[:40]),
    lambda text: ("UPDATE event SET kind = ?", (text,)),
    lambda text: ("UPDATE event SET payload = ?", (json.dumps({text: [text]}),)),
    lambda text: experiment(data={text: text}),
    lambda text: experiment(data={"kind": text}),
    lambda text: meta("network", text[:100]),
    lambda text: meta("status", text),
)


def hostile_files(folder: Path, count: int = COUNT) -> Iterator[Path]:
    """Yield the paths of files of which the viewer must act on none.

    Parameters
    ----------
    folder : Path
        Folder for the files; each is deleted when the next one is made.
    count : int
        Number of files: those below, and as many random damages as are left.
    """
    whole = record(folder / "whole.msrun", count=24)
    data = whole.read_bytes()
    six = record(folder / "six.msrun").read_bytes()
    whole.unlink()
    (folder / "six.msrun").unlink()
    made: list[Callable[[Path], object]] = [
        *(lambda path, one=one: tamper(path, one) for one in (*META, *ARRAYS, *FRAMES, *EVENTS)),
        *(lambda path, one=one: tamper_loosely(path, *one) for one in TYPES),
        *(lambda path, one=one: tamper(path, one) for one in SCHEMAS),
        *(lambda path, one=one: path.write_bytes(one) for one in OTHERS),
        *(partial(tamper_text, text=text, script=one) for text in TEXTS for one in SCRIPTS),
    ]
    chance = random.Random(0)
    for number in range(count):
        path = folder / f"hostile-{number}.msrun"
        if number < len(made):
            path.write_bytes(six)
            made[number](path)
        elif number % 4 == 0:
            path.write_bytes(data[: chance.randrange(len(data))])
        else:
            path.write_bytes(damaged_bytes(data, chance))
        yield path
        path.unlink()


def tamper_text(path: Path, text: Callable[[str], Change], script: str) -> Path:
    return tamper(path, text(script))


def few_files(folder: Path, every: int) -> Iterator[Path]:
    """Yield every so many of the files that are not random damages."""
    for number, path in enumerate(hostile_files(folder, COUNT // 2)):
        if number % every == 0:
            yield path
