"""`python -m tests.tools.hunt [--count N] [--seed S] [--jobs J]`: train and judge random studies.

Prints a table of what came of them, a line for each defect with the command that makes it again,
and ends with 1 where there is any. Studies with a defect are kept with the files that they read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.tools.hunt.chase import DEFECTS, WITHIN

CRASHED = "crashed"
PARTS = ("network", "dynamics", "loss", "data")
KEPT = Path("out") / "hunt"
Line = dict[str, Any]


@dataclass
class Counts:
    """Outcomes of all studies so far; `lines` are the defects by study."""

    studies: int = 0
    kinds: dict[str, Counter[str]] = field(default_factory=lambda: {p: Counter() for p in PARTS})
    verdicts: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    redrawn: int = 0
    seconds: float = 0.0
    lines: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.studies += 1
        self.redrawn += line["redrawn"]
        self.seconds = max(self.seconds, line["seconds"])
        self.verdicts.update(line["verdicts"])
        for part, kind in line["kinds"].items():
            self.kinds[part][kind] += 1
        wrong = [kind for kind, _ in line["defects"] if kind in DEFECTS]
        self.outcomes.update({*line["outcomes"], *wrong} or {"nothing wrong"})
        for kind, text in line["defects"]:
            if kind in DEFECTS:
                self.lines.append((line["number"], f"{kind}: {text}"))


def results(seed: int, numbers: range, keep: Path) -> Iterator[Line]:
    """Run studies in a separate process; a process that dies loses one study."""
    first = numbers.start
    while first < numbers.stop:
        told = [str(number) for number in (seed, first, numbers.stop, numbers.step)]
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.tools.hunt.chase", *told, str(keep)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        with child:
            for text in child.stdout:
                line = json.loads(text)
                first = line["number"] + numbers.step
                yield line
        if child.returncode == 0:
            return
        yield {
            "number": first,
            "kinds": {},
            "verdicts": {},
            "outcomes": [CRASHED],
            "redrawn": 0,
            "seconds": 0.0,
            "defects": [(DEFECTS[2], f"the process died ({child.returncode})")],
        }
        first += numbers.step


def hunted(seed: int, first: int, count: int, jobs: int, keep: Path) -> Counts:
    """Run all studies, in several processes at a time."""
    counts = Counts()

    def stripe(job: int) -> None:
        for line in results(seed, range(first + job, first + count, jobs), keep):
            counts.add(line)
            if counts.studies % 50 == 0:
                print(f"{counts.studies} of {count}, {len(counts.lines)} defects", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(stripe, range(jobs)))
    return counts


def print_table(counts: Counts) -> None:
    """Print kinds, outcomes and verdicts, the most frequent first."""
    for part in PARTS:
        _row(part, counts.kinds[part])
    _row("outcomes", counts.outcomes)
    _row("verdicts", counts.verdicts)
    verdicts, within = counts.verdicts.total(), counts.verdicts[WITHIN]
    print(f"{counts.studies} studies, {verdicts} verdicts, {within} of them {WITHIN};")
    print(f"{counts.redrawn} draws were refused; the slowest study took {counts.seconds:.0f} s")


def _row(name: str, counter: Counter[str]) -> None:
    print(f"{name:<9}", ", ".join(f"{count} {what}" for what, count in counter.most_common()))


def main() -> int:
    """Return 0 if no defect was found, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.hunt")
    parser.add_argument("--count", type=int, default=500, help="how many studies")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--first", type=int, default=0, help="number of the first study")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--keep", type=Path, default=KEPT, help="folder for studies with defects")
    given = parser.parse_args()
    begun = time.perf_counter()
    counts = hunted(given.seed, given.first, given.count, given.jobs, given.keep)
    print_table(counts)
    for number, text in sorted(counts.lines):
        print(f"{given.seed}-{number} {text}")
    for number in sorted({number for number, _ in counts.lines}):
        print(
            f"again: python -m tests.tools.hunt --seed {given.seed} --first {number} --count 1 "
            f"(study in {given.keep / f'{given.seed}-{number}'})"
        )
    print(f"{time.perf_counter() - begun:.0f} s")
    return int(bool(counts.lines))


if __name__ == "__main__":
    sys.exit(main())
