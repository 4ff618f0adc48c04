"""Grid of plots in the paper's shape, as large as possible and legible."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QWidget

from app.style import LEAST_PLOT

GAP = 8  # pixels between columns
SHAPE = 1.2  # width over height of a view in the paper's figure
HOLES = 0.95  # score of an arrangement with empty cells, relative to a full one


def columns_for_width(count: int, width: int) -> int:
    """Return the columns for the views of a run in as few rows as plots are legible in.

    >>> [columns_for_width(count, 700) for count in (1, 4, 5, 9)], columns_for_width(4, 100)
    ([1, 4, 3, 3], 1)
    """
    max_columns = max((width + GAP) // (LEAST_PLOT[0] + GAP), 1)
    rows = -(-count // max_columns)
    return -(-count // rows)


def columns_for_area(count: int, width: int, height: int, shape: float = SHAPE) -> int:
    """Return the columns that make cells in a shape, width over height, as large as possible.

    >>> [columns_for_area(count, 720, 550) for count in (1, 2, 4, 7)]
    [1, 2, 2, 3]
    >>> columns_for_area(4, 1800, 400)
    4
    """

    def size(columns: int) -> float:
        rows = -(-count // columns)
        worth = 1.0 if columns * rows == count else HOLES
        return worth * min(width / columns / shape, height / rows)

    return max(range(1, columns_for_width(count, width) + 1), key=size)


def place_in_grid(grid: QGridLayout, plots: Sequence[QWidget], columns: int, fills: bool) -> None:
    """Place plots in columns of equal width; the last one `fills` the rest of its row."""
    rows = -(-len(plots) // columns)
    for place, plot in enumerate(plots):
        spare = columns * rows - len(plots) if fills and place == len(plots) - 1 else 0
        grid.addWidget(plot, place // columns, place % columns, 1, 1 + spare)
    for line in range(max(grid.rowCount(), rows)):
        grid.setRowStretch(line, 1 if line < rows else 0)
    for line in range(max(grid.columnCount(), columns)):
        grid.setColumnStretch(line, 1 if line < columns else 0)
