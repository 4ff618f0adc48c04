"""`make drawing`: docs/images/architecture.svg, the packages and who imports whom, from the code.

Rows are the layers of the import contracts, most dependent first. A line on the right says that
the upper package imports the lower one, the wider the more modules do; what no other way implies
is dark. On the left are two ways through the program, station by station.
"""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).resolve().parents[2]
DRAWING = ROOT / "docs" / "images" / "architecture.svg"

# The way of a frame from kernel to pixel, and that of a run file to a figure.
FRAME = ("core.compiled", "core.dynamics", "core.training", "core.runs", "app.state", "app.views")
FIGURE = ("core.runs", "core.observables", "core.studies", "core.figures", "core.cli")
WAYS = (
    ("#c2410c", "a frame, from kernel to pixel", FRAME),
    ("#0f766e", "a run file, to a figure", FIGURE),
)

WIDTH, TOP, ROW, GAP, BOX = 1134, 104, 31, 9, 25
LETTERS = 91  # of a sentence in a box
LEFT, RIGHT = 190, 864  # of the boxes
INK, QUIET, PAPER = "#1f2937", "#6b7280", "#ffffff"
FILLS = {"app": ("#e8effa", "#3b6fb5"), "core": ("#f1f3f5", "#5b6673")}
Edges = Counter[tuple[str, str]]


def layers() -> list[list[str]]:
    """Return the layers of app and core by the import contracts, most dependent first.

    Of app its folders.
    """
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    found: dict[str, list[list[str]]] = {"app": [], "core": []}
    for contract in contracts:
        inside = contract.get("containers", [""])[0]
        for layer in contract.get("layers", ()):
            names = [f"{inside}.{name.strip()}".lstrip(".") for name in layer.split("|")]
            kept = [name for name in names if is_shown(name)]
            if kept:
                found[kept[0].split(".")[0]].append(kept)
    return found["app"] + found["core"]


def is_shown(name: str) -> bool:
    """Return True if a package or module has a row."""
    path = ROOT / Path(*name.split("."))
    return name.startswith("core.") or ("." in name and path.is_dir())


# Modules that are one with the application: its parts and their wires.
def package_of(module: str) -> str:
    """Return the package, or the top-level module, to which a module belongs."""
    return ".".join(module.split(".")[:2])


def imports(names: set[str]) -> Edges:
    """Return how many modules of one package import something of another."""
    graph = grimp.build_graph("core", "app", cache_dir=None)
    found: Edges = Counter()
    for module in graph.modules:
        one = package_of(module)
        others = {package_of(other) for other in graph.find_modules_directly_imported_by(module)}
        found.update((one, other) for other in others if {one, other} <= names and one != other)
    return found


def implied(edges: Edges, one: str, other: str) -> bool:
    """Return True if `one` also imports `other` by way of a third package."""
    seen, open_ = {one}, [b for a, b in edges if a == one and b != other]
    while open_:
        name = open_.pop()
        if name == other:
            return True
        if name not in seen:
            seen.add(name)
            open_ += [b for a, b in edges if a == name]
    return False


def sentence(name: str) -> str:
    """Return the first sentence of a package or module, or as many clauses as fit."""
    path = ROOT / Path(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    words = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").replace("\n", " ")
    first = words.replace("`", "").split(". ")[0].rstrip(".")
    while len(first) > LETTERS:
        first = re.split(r"[,:;] (?!.*[,:;] )", first)[0]
    return first


def places(rows: list[list[str]]) -> dict[str, float]:
    """Return the middle of each package's row."""
    found, y = {}, float(TOP)
    for layer in rows:
        for name in layer:
            found[name] = y + BOX / 2
            y += ROW if name != layer[-1] else ROW + GAP
    return found


def text(x: float, y: float, words: str, size: float, fill: str, more: str = "") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}"{more}>{escape(words)}</text>'
    )


def boxes(y: dict[str, float]) -> Iterator[str]:
    """Return a box for each package, with its first sentence."""
    for name, middle in y.items():
        fill, edge = FILLS[name.split(".")[0]]
        yield (
            f'<rect x="{LEFT}" y="{middle - BOX / 2:g}" width="{RIGHT - LEFT}" height="{BOX}" '
            f'rx="6" fill="{fill}" stroke="{edge}" stroke-opacity=".45"/>'
        )
        yield text(LEFT + 12, middle + 4.5, name, 13, edge, ' font-weight="600"')
        yield text(LEFT + 146, middle + 4, sentence(name), 11, INK)


def arc(x: float, y: tuple[float, float], far: float, style: str) -> str:
    """Return a line from one height to another at x, with a bulge to `far`."""
    one, other = y
    path = f"M{x:g} {one:g}C{far:.1f} {one:g} {far:.1f} {other:g} {x:g} {other:g}"
    return f'<path d="{path}" {style}/>'


def arcs(y: dict[str, float], edges: Edges) -> Iterator[str]:
    """Return a line for each pair of packages of which the upper one imports the lower one."""
    strong = {pair for pair in edges if not implied(edges, *pair)}
    for pair in sorted(edges, key=lambda pair: (pair in strong, pair)):
        ends = y[pair[0]] + 4, y[pair[1]] - 4
        colour = FILLS[pair[0].split(".")[0]][1]
        opacity = 0.85 if pair in strong else 0.2
        width = 0.7 + 0.45 * math.log2(edges[pair])
        style = f'stroke="{colour}" stroke-opacity="{opacity}" stroke-width="{width:.2f}"'
        yield arc(RIGHT, ends, RIGHT + 16 + 0.33 * abs(ends[1] - ends[0]), style)


def ways(y: dict[str, float]) -> Iterator[str]:
    """Return the two ways on the left, with numbered stations."""
    for number, (colour, words, stations) in enumerate(WAYS):
        x = LEFT - 18 - 92 * number
        for one, other in pairwise(stations):
            ends = y[one], y[other]
            far = x - 16 - 0.2 * abs(ends[1] - ends[0])
            yield arc(x, ends, far, f'stroke="{colour}" stroke-width="2"')
        for count, name in enumerate(stations, start=1):
            yield f'<circle cx="{x}" cy="{y[name]:g}" r="8.5" fill="{colour}"/>'
            middle = ' text-anchor="middle" font-weight="600"'
            yield text(x, y[name] + 3.8, str(count), 11, PAPER, middle)
        left = 40 + 230 * number
        yield f'<circle cx="{left}" cy="78" r="6" fill="{colour}"/>'
        yield text(left + 12, 82, words, 12, INK)


def drawing() -> str:
    rows = layers()
    names = {name for layer in rows for name in layer}
    y = places(rows)
    height = max(y.values()) + BOX / 2 + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" fill="none">',
        f'<rect width="{WIDTH}" height="{height:g}" rx="12" fill="{PAPER}"/>',
        text(40, 46, "The parts of Marginscope", 21, INK, ' font-weight="600"'),
        text(
            RIGHT,
            82,
            "the upper imports the lower; dark: by no other way",
            12,
            QUIET,
            ' text-anchor="end"',
        ),
        *arcs(y, imports(names)),
        *boxes(y),
        *ways(y),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    DRAWING.write_text(drawing(), "utf-8")
