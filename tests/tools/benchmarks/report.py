"""The page of all measured figures, docs/benchmarks.md, and its picture.

Each part's lines are kept beside the page with the day and the machine on which they were measured,
and go with it, so that measuring one part anew does not take the others off the page anywhere.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core import __version__
from tests.tools.benchmarks import cost
from tests.tools.benchmarks.measure import CURVES, KEPT, Line

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "benchmarks.md"
KEPT_IN = ROOT / "docs" / "benchmarks"
PICTURE = ROOT / "docs" / "images" / "cost.svg"
LIBRARIES = ("numpy", "scipy", "numba", "torch", "jax", "PySide6-Essentials")
INTRODUCTION = """# Benchmarks

Every figure that is promised, as `make bench` measured it, in interleaved rounds: medians, with the
least and the largest; what it is measured against stands beside it. Machines differ, and are noisy:
ratios say more than times. `make bench` measures all of it again where you are, `make bench
ARGS="flow table"` some parts; this page is then written anew, from the figures in docs/benchmarks.

"""
ABOUT_THE_PICTURE = """![Cost of a step against n, d and m; of a run against its frames][cost]

The band is from the least to the largest of the rounds. Where ours bends down, another engine has
taken over: examples' coordinates where n <= d, the row space where d is far above n.

[cost]: images/cost.svg
"""


def environment(part: str) -> dict[str, str]:
    """Return the variables that make a part's process store its lines; delete its older ones."""
    KEPT_IN.mkdir(parents=True, exist_ok=True)
    lines = KEPT_IN / f"{part}.part"
    lines.write_text(json.dumps(machine()) + "\n", encoding="utf-8")
    return {KEPT: str(lines), CURVES: str(KEPT_IN / f"{part}.curves.json")}


def done(part: str) -> None:
    """Replace a part's older lines after it was measured completely."""
    (KEPT_IN / f"{part}.part").replace(KEPT_IN / f"{part}.jsonl")


def machine() -> dict[str, str]:
    """Return the machine, the day, and the versions that matter."""
    libraries = [f"{name} {found}" for name in LIBRARIES if (found := _version(name))]
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{_processor()}, {len(os.sched_getaffinity(0))} cores"
        if hasattr(os, "sched_getaffinity")
        else _processor(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": f"Marginscope {__version__}, {', '.join(libraries)}",
    }


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in told if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def write(parts: Iterable[str]) -> None:
    """Write the page of the measured parts, and the picture."""
    curves = KEPT_IN / "cost.curves.json"
    if curves.exists():
        cost.draw(cost.curves_of(curves.read_text(encoding="utf-8")), PICTURE)
    PAGE.write_text(as_kept(parts), "utf-8")


def as_kept(parts: Iterable[str]) -> str:
    """Return the page made from the stored lines."""
    kept = [KEPT_IN / f"{part}.jsonl" for part in parts]
    pages = [path.read_text(encoding="utf-8").splitlines() for path in kept if path.exists()]
    return page([(json.loads(one[0]), lines_of(one[1:])) for one in pages], PICTURE.exists())


def lines_of(texts: Iterable[str]) -> list[Line]:
    return [Line(**json.loads(text)) for text in texts]


def page(parts: Sequence[tuple[dict[str, str], Sequence[Line]]], drawn: bool) -> str:
    """Return the page in Markdown: the machines, the picture, and a table for each heading."""
    about = sorted({tuple(known.items()) for known, _ in parts})  # by their days
    text = INTRODUCTION + "".join(_machines([dict(known) for known in about]))
    text += ABOUT_THE_PICTURE if drawn else ""
    # Which of several machines or days a part is of is said where there are several.
    said = "".join
    several = len(about) > 1
    tables = [
        said(_tables(lines, _where(known, about) if several else "")) for known, lines in parts
    ]
    return (text + "".join(tables)).rstrip() + "\n"


def _machines(about: Sequence[dict[str, str]]) -> Iterator[str]:
    if about:
        yield f"{_cells(about[0])}{'|---' * len(about[0])}|\n"
        yield from (_cells(known.values()) for known in about)
        yield "\n"


def _where(known: dict[str, str], about: Iterable[tuple[tuple[str, str], ...]]) -> str:
    """Return the day, and the machine if several were used that day."""
    alike = [dict(one) for one in about if dict(one)["date"] == known["date"]]
    return f"{known['date']}, {known['machine']}" if len(alike) > 1 else known["date"]


def _tables(lines: Sequence[Line], where: str) -> Iterator[str]:
    for line in lines:
        if line.ours:
            yield _row(line.name.strip(), line)
            continue
        title = line.name[:1].upper() + line.name[1:] + (f" ({where})" if where else "")
        beside, ratio = line.beside or "beside it", line.ratio or "ratio"
        heads = Line("", "measured", "least to most", beside, ratio, "asked", "")
        yield f"\n## {title}\n\n{_row('', heads)}{'|---' * 7}|\n"


def _row(name: str, line: Line) -> str:
    return _cells((name, line.ours, line.spread, line.beside, line.ratio, line.asked, line.words))


def _cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
