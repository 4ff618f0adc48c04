"""Points that stand in the study file itself: drawn with the mouse, pasted, or typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import Dataset, Distribution
from core.data.section import MAX_D, MAX_N, TARGETS, DataSection
from core.errors import RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting

MAX_POINTS = 2_000
MAX_NUMBERS = 10_000  # of all points, labels included
LARGEST = 1e6  # of a coordinate

Points = tuple[tuple[float, ...], ...]

# Twelve points that a line does not separate, and four lines that miss the origin do.
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
    """What is wrong with points as rows of coordinates and a label, or a real target, as a clause;
    "" for nothing.

    >>> fault_of([(0.5, 1), (0.25, -1)])
    ''
    >>> fault_of([(0.5, 1), (0.25, 1)])
    'all points have the label +1, and both classes are needed; give one of them the label -1'
    """
    if not 2 <= len(points) <= MAX_POINTS:
        there = "is 1 point" if len(points) == 1 else f"are {len(points)} points"
        return f"there {there}; give 2 to {MAX_POINTS}"
    width = len(points[0])
    for number, row in enumerate(points, start=1):
        if width < 2:
            return f"point 1 has {_counted(width)}; give it its coordinates and then its label"
        if len(row) != width:
            return (
                f"point {number} has {_counted(len(row))} and point 1 has {_counted(width)}; give "
                "each point its coordinates, as many as the others have, and then its label"
            )
        if not real and row[-1] not in (-1.0, 1.0):
            return f"point {number} has the label {row[-1]:g}; labels are -1 and +1"
        far = next((value for value in row if not abs(value) <= LARGEST), None)
        if far is not None:
            return (
                f"point {number} has the coordinate {far:g}; coordinates lie between "
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
            f"all points have the label {label:+g}, and both classes are needed; give one of them "
            f"the label {-label:+g}"
        )
    return ""


def _counted(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"


@final
class PointsData(DataSection, Distribution):
    """The points as they are: nothing is drawn, and nothing is rescaled.

    >>> PointsData(points=((0.5, 1), (0.25, -1))).sample(np.random.default_rng(0)).x.tolist()
    [[0.5], [0.25]]
    """

    title: ClassVar[str] = "points of the study file itself, each with its label"
    source: ClassVar[str] = "the user's own"
    own: ClassVar[tuple[str, ...]] = ("d", "n")
    known_law: ClassVar[bool] = False

    kind: Literal["points"] = "points"
    points: Points = setting(
        ISLAND,
        meaning="a row for each point: its coordinates as they are, and then its label, -1 or +1, "
        "or its target; networks without biases see them from the origin",
    )
    targets: Literal["labels", "real"] = setting(
        "labels", meaning=f"what the last number of a point is: {TARGETS}", added=True
    )
    d: int | None = setting(
        None, meaning="dimension of the inputs; follows the points", ge=1, le=MAX_D, advanced=True
    )
    n: int | None = setting(
        None, meaning="number of points; follows them", ge=2, le=MAX_N, advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED, advanced=True)

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, given: Any) -> Any:
        # Before any value is looked at and copied.
        rows = given.get("points") if isinstance(given, dict) else None
        if isinstance(rows, list | tuple) and len(rows) > MAX_POINTS:
            raise RuleError(fault_of(rows), keys=("points",))
        return given

    @model_validator(mode="after")
    def _sizes(self) -> PointsData:
        if fault := fault_of(self.points, self.real):
            raise RuleError(fault, keys=("points",))
        for name, there in (("n", len(self.points)), ("d", len(self.points[0]) - 1)):
            stated = getattr(self, name)
            if stated is None:
                # Frozen for all others: who makes it says how many there are.
                object.__setattr__(self, name, there)
            elif stated != there:
                raise RuleError(
                    f"{name} = {stated}, and the points have {name} = {there}; leave {name} out",
                    keys=(name, "points"),
                )
        return self

    def sample(self, generator: Generator) -> Dataset:
        rows = np.array(self.points, dtype=np.float64)
        return Dataset(rows[:, :-1].copy(), rows[:, -1].copy(), real=self.real)

    @property
    def real(self) -> bool:
        return self.targets == "real"
