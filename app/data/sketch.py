"""Sketch: points being drawn, changes of them, and their undo stack."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoCommand, QUndoStack

from core.data.points import Points

MOST_STEPS = 200
Row = tuple[float, ...]


@final
@dataclass(frozen=True, slots=True)
class Sketch:
    """Points of `d` coordinates, 1 or 2, as rows with labels +-1 last, and the selected ones.

    `selected` are numbers of points.
    """

    points: Points = ()
    d: int = 2
    selected: frozenset[int] = frozenset()

    @property
    def chosen(self) -> tuple[int, ...]:
        """Numbers of the selected points, increasing."""
        return tuple(sorted(self.selected))

    def count(self, label: float) -> int:
        """Return the number of points with a label."""
        return sum(row[-1] == label for row in self.points)


def sketch_of(points: Iterable[Iterable[float]], d: int = 2) -> Sketch:
    """Return rows as a sketch; `d` is used only without rows.

    >>> sketch_of([(0.5, 1)])
    Sketch(points=((0.5, 1.0),), d=1, selected=frozenset())
    """
    rows = tuple(tuple(float(value) for value in row) for row in points)
    return Sketch(rows, len(rows[0]) - 1 if rows else d)


def with_points(sketch: Sketch, *rows: Row) -> Sketch:
    """Add points, and select them."""
    first = len(sketch.points)
    new = frozenset(range(first, first + len(rows)))
    return replace(sketch, points=(*sketch.points, *rows), selected=new)


def move_points(sketch: Sketch, places: dict[int, Row]) -> Sketch:
    """Replace the rows of some points."""
    rows = enumerate(sketch.points)
    return replace(sketch, points=tuple(places.get(number, row) for number, row in rows))


def with_flipped_labels(sketch: Sketch, indices: Collection[int]) -> Sketch:
    """Flip the labels of some points.

    >>> with_flipped_labels(sketch_of([(0.5, 1), (0.2, 1)]), [1]).points
    ((0.5, 1.0), (0.2, -1.0))
    """
    places = {number: sketch.points[number] for number in indices}
    return move_points(sketch, {number: (*row[:-1], -row[-1]) for number, row in places.items()})


def without_points(sketch: Sketch, indices: Collection[int]) -> Sketch:
    rows = tuple(row for number, row in enumerate(sketch.points) if number not in indices)
    return replace(sketch, points=rows, selected=frozenset())


def with_dimension(sketch: Sketch, d: int) -> Sketch:
    """Drop the second coordinate, or add one of 0.

    >>> with_dimension(with_dimension(sketch_of([(0.5, 2, 1)]), 1), 2).points
    ((0.5, 0.0, 1.0),)
    """
    if d == sketch.d:
        return sketch
    between: Row = () if d == 1 else (0.0,)
    rows = tuple((row[0], *between, row[-1]) for row in sketch.points)
    return replace(sketch, points=rows, d=d)


def count_text(count: int) -> str:
    """Return "1 point", "3 points"."""
    return "1 point" if count == 1 else f"{count} points"


@final
class SketchChange(QUndoCommand):
    """Named step. Undo and redo exchange the present sketch with the one of the step."""

    def __init__(self, history: SketchHistory, sketch: Sketch, words: str, goes_on: bool) -> None:
        super().__init__(words)
        self._history, self._sketch, self._goes_on = history, sketch, goes_on

    def redo(self) -> None:
        self._sketch, self._history.sketch = self._history.sketch, self._sketch

    undo = redo

    def id(self) -> int:
        return 1  # Qt tries to merge commands with equal ids

    def mergeWith(self, latest: QUndoCommand) -> bool:
        goes_on = isinstance(latest, SketchChange) and latest._goes_on
        if goes_on:
            self.setText(latest.text())
        return goes_on


@final
class SketchHistory(QUndoStack):
    """Undo stack of the present sketch. A selection is not a step."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.setUndoLimit(MOST_STEPS)
        self.sketch, self._subject = Sketch(), ""

    def change(self, sketch: Sketch, words: str, subject: str = "") -> None:
        """Add a step, or extend the latest one if it has the same subject."""
        self.push(SketchChange(self, sketch, words, subject != "" and subject == self._subject))
        self._subject = subject

    def undo(self) -> None:
        super().undo()
        self._subject = ""

    def redo(self) -> None:
        super().redo()
        self._subject = ""
