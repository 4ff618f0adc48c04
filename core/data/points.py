"""Points of a study file itself: drawn, typed, pasted as text, or one of the well-known shapes."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import UNDERSTOOD, Array, Dataset, Distribution
from core.data.labels import label_value
from core.data.numbers import Origin
from core.data.section import MAX_D, MAX_N, TARGETS, DataSection, set_sizes
from core.data.text_lines import TableChoices
from core.data.text_table import Bounds, read_table
from core.errors import RuleError
from core.numbers import whole_text
from core.settings import MAX_SEED, SEED_MEANING, setting

MAX_POINTS = 2_000
MAX_NUMBERS = 10_000  # numbers in all points, labels included
LARGEST = 1e6  # limit of a coordinate

Points = tuple[tuple[float, ...], ...]

# Twelve points that no line separates, but four lines not through the origin do.
ISLAND: Points = (
    (0.5, 0.4, 1),
    (0.75, 0.55, 1),
    (0.55, 0.8, 1),
    (0.85, 0.85, 1),
    (0.1, 0.2, -1),
    (0.4, -0.2, -1),
    (0.9, -0.05, -1),
    (1.35, 0.35, -1),
    (1.4, 0.9, -1),
    (0.95, 1.35, -1),
    (0.35, 1.3, -1),
    (-0.05, 0.75, -1),
)


def fault_of(points: Sequence[Sequence[float]], real: bool = False) -> str:
    """Return the fault of points as a clause; "" for valid ones.

    Points are rows of coordinates and a label, or a real target.

    >>> fault_of([(0.5, 1), (0.25, -1)])
    ''
    >>> fault_of([(0.5, 1), (0.25, 1)])
    'all points have the label +1, but a study needs both classes; give one of them the label -1'
    """
    if not 2 <= len(points) <= MAX_POINTS:
        count_text = "1 point is given" if len(points) == 1 else f"{len(points)} points are given"
        return f"{count_text}; give 2 to {MAX_POINTS}"
    width = len(points[0])
    for number, row in enumerate(points, start=1):
        if width < 2:
            return f"point 1 has {_count_text(width)}; give it its coordinates and then its label"
        if len(row) != width:
            return (
                f"point {number} has {_count_text(len(row))} and point 1 has "
                f"{_count_text(width)}; give each point its coordinates, as many as the others "
                "have, and then its label"
            )
        if not real and row[-1] not in (-1.0, 1.0):
            return f"point {number} has the label {row[-1]:g}; labels are -1 and +1"
        far = next((value for value in row if not abs(value) <= LARGEST), None)
        if far is not None:
            return (
                f"point {number} has the coordinate {far:g}; coordinates must be between "
                f"-{LARGEST:g} and {LARGEST:g}"
            )
    if len(points) * width > MAX_NUMBERS:
        return (
            f"{len(points)} points of {width - 1} coordinates are more than {MAX_NUMBERS} numbers; "
            'give fewer, or name a file with data.kind = "file"'
        )
    labels = {row[-1] for row in points}
    if len(labels) == 1 and not real:
        label = labels.pop()
        return (
            f"all points have the label {label:+g}, but a study needs both classes; give one of "
            f"them the label {-label:+g}"
        )
    return ""


def _count_text(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"


@final
class PointsData(DataSection, Distribution):
    """Points of the study file, unchanged: nothing is drawn, and nothing is rescaled.

    >>> PointsData(points=((0.5, 1), (0.25, -1))).sample(np.random.default_rng(0)).x.tolist()
    [[0.5], [0.25]]
    """

    title: ClassVar[str] = "points of the study file itself, each with its label"
    source: ClassVar[str] = "the user's own"
    own: ClassVar[tuple[str, ...]] = ("d", "n")
    known_law: ClassVar[bool] = False

    words: ClassVar[str] = "drawn points"
    kind: Literal["points"] = "points"
    points: Points = setting(
        ISLAND,
        meaning="one row per point: its coordinates, then its label (-1 or +1) or target; networks "
        "without biases see points from the origin",
    )
    targets: Literal["labels", "real"] = setting(
        "labels", meaning=f"kind of a point's last number: {TARGETS}", added=True
    )
    d: int | None = setting(
        None, meaning="dimension of the inputs; set from the points", ge=1, le=MAX_D, advanced=True
    )
    n: int | None = setting(
        None, meaning="number of points; set from the points", ge=2, le=MAX_N, advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED, advanced=True)

    @model_validator(mode="before")
    @classmethod
    def _check_size(cls, value: Any) -> Any:
        # Before any value is checked or copied.
        rows = value.get("points") if isinstance(value, dict) else None
        if isinstance(rows, list | tuple) and len(rows) > MAX_POINTS:
            raise RuleError(fault_of(rows), keys=("points",))
        return value

    @model_validator(mode="after")
    def _sizes(self) -> PointsData:
        """Set n and d from the points; raise RuleError for others, and for invalid points."""
        if fault := fault_of(self.points, self.real):
            raise RuleError(fault, keys=("points",))
        sizes = {"n": len(self.points), "d": len(self.points[0]) - 1}
        set_sizes(self, sizes, "the points have {name} = {size}", "points")
        return self

    def sample(self, generator: Generator) -> Dataset:
        rows = np.array(self.points, dtype=np.float64)
        return Dataset(rows[:, :-1].copy(), rows[:, -1].copy(), real=self.real)

    @property
    def real(self) -> bool:
        return self.targets == "real"


# -------------------------------------------------------------------------------- points as text

MOST_CHARACTERS = 1_000_000
CLIPBOARD = Origin()
WANTED = TableChoices(last=True)
BOUNDS = Bounds(rows=MAX_POINTS, largest=LARGEST, classes=2, single=True)


@final
@dataclass(frozen=True, slots=True)
class PastedRow:
    """Rows of one or two coordinates and a label -1 or +1.

    `note` says how the text was read where it leaves a choice.
    """

    points: Points
    note: str = ""


def parse_points(text: str) -> PastedRow:
    r"""Return the points of a text of lines of one or two coordinates and a label.

    The text is read as a data file is (core.data.text_table). Without a header, and where no column
    looks like labels, the label is the last column. Raises InputError with the line that is wrong.

    >>> parse_points("x1,x2,y\n0.5,1,1\n0,2e-1,0").points
    ((0.5, 1.0, 1.0), (0.0, 0.2, -1.0))
    >>> parse_points("a\tb\ty\n0.5\t1\tcat\n0.25\t2\tdog").note
    "Understood: label column 'y' (last); cat is \u22121, dog is +1."
    """
    if len(text) > MOST_CHARACTERS:
        raise CLIPBOARD.error_in_text(f"has more than {whole_text(MOST_CHARACTERS)} characters.")
    file = io.StringIO(text.removeprefix("\ufeff"), newline="")
    table = read_table(file, CLIPBOARD, WANTED, BOUNDS)
    if table.x.shape[1] > 2:
        raise CLIPBOARD.error_in_text(
            f"has {table.x.shape[1]} coordinates in each line; one or two can be drawn."
        )
    points = tuple((*x, y) for x, y in zip(table.x.tolist(), table.y.tolist(), strict=True))
    return PastedRow(points, f"{UNDERSTOOD} {table.note}" if table.is_guess else "")


def points_csv(points: Sequence[Sequence[float]]) -> str:
    """Return points as the text of a CSV file, to the last digit.

    >>> print(points_csv([(0.5, 1.0, -1.0)]), end="")
    x1,x2,y
    0.5,1.0,-1
    """
    d = len(points[0]) - 1 if points else 2
    names = ["x"] if d == 1 else [f"x{number + 1}" for number in range(d)]
    lines = [",".join([*names, "y"])]
    for *x, y in points:
        lines.append(",".join([*(repr(float(value)) for value in x), f"{y:.0f}"]))
    return "\n".join([*lines, ""])


def label_of(text: str) -> float | None:
    """Return the label that a text alone is; None if it is none.

    >>> label_of("+"), label_of("-1"), label_of("0"), label_of("2")
    (1.0, -1.0, -1.0, None)
    """
    value = label_value(text)
    if value not in (-1.0, 0.0, 1.0):
        return None
    return 1.0 if value == 1.0 else -1.0


# ---------------------------------------------------------------------------------------- shapes

COUNT = 40
DIGITS = 3  # decimals of coordinates: keeps files short, below visible differences

Shape = Callable[[Generator], tuple[Array, Array]]


def _labels() -> Array:
    return np.repeat([1.0, -1.0], COUNT // 2)


def _moons(generator: Generator) -> tuple[Array, Array]:
    """Draw two half circles of radius 1, one inside the other's arc."""
    angle = generator.uniform(0.0, np.pi, COUNT)
    y = _labels()
    x = np.stack([np.cos(angle) - 0.5, y * np.sin(angle) - 0.25 * y], axis=1)
    x[y < 0, 0] += 1.0
    return x + 0.07 * generator.standard_normal(x.shape), y


def _gaussians(generator: Generator) -> tuple[Array, Array]:
    """Draw N((1, 0.5), 0.16 I) and N((-1, -0.5), 0.16 I)."""
    y = _labels()
    return y[:, None] * [1.0, 0.5] + 0.4 * generator.standard_normal((COUNT, 2)), y


def _xor(generator: Generator) -> tuple[Array, Array]:
    """Draw uniformly on four squares, labelled by sign(x_1 x_2)."""
    sides = generator.uniform(0.15, 1.0, (COUNT, 2))
    first = np.tile([1.0, -1.0], COUNT // 2)
    y = _labels()
    return sides * np.stack([first, first * y], axis=1), y


def _circle(generator: Generator) -> tuple[Array, Array]:
    """Draw +1 inside of radius 0.5, -1 on the ring from 0.8 to 1.1."""
    y = _labels()
    angle = generator.uniform(0.0, 2.0 * np.pi, COUNT)
    inner = 0.5 * np.sqrt(generator.random(COUNT))
    radius = np.where(y > 0, inner, generator.uniform(0.8, 1.1, COUNT))
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), y


def _pieces(generator: Generator) -> tuple[Array, Array]:
    """Draw five points on each of four pieces of [-1, 1], labelled -1 and +1 in turn."""
    low = np.repeat([-0.95, -0.45, 0.05, 0.55], 5)
    return (low + generator.uniform(0.0, 0.4, low.size))[:, None], np.tile(
        np.repeat([-1.0, 1.0], 5), 2
    )


# Dimension and law of each named shape.
ISLAND_NAME = "island"
SHAPES: Mapping[str, tuple[int, Shape]] = {
    "two moons": (2, _moons),
    "two Gaussians": (2, _gaussians),
    "XOR": (2, _xor),
    "circle": (2, _circle),
    "intervals": (1, _pieces),
}
NAMES = (ISLAND_NAME, *SHAPES)


def shape(name: str, seed: int = 0) -> Points:
    """Draw the points of a named shape, rounded; the island is the same for all seeds.

    >>> len(shape("XOR")), len(shape("intervals")[0])
    (40, 2)
    """
    if name == ISLAND_NAME:
        return tuple((float(a), float(b), float(label)) for a, b, label in ISLAND)
    _, law = SHAPES[name]
    x, y = law(np.random.default_rng(seed))
    rows = np.column_stack([np.round(x, DIGITS) + 0.0, y])
    return tuple(tuple(row) for row in rows.tolist())
