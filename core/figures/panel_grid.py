"""Grids of the panels of a figure of runs: as many in a line as can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.errors import InputError
from core.figures.names import PageSize

# Width of the figure by the number of panels in a row: one or two columns of a journal.
WIDTHS = {1: 88.0, 2: 120.0, 3: 180.0, 4: 180.0}
LEFT, RIGHT, BETWEEN = 10.5, 2.5, 10.5
MOST_COLUMNS = 4
LEAST_SIDE, SMALLEST_SIDE = 28.0, 12.0  # sides of a panel
DENSE_SIDE = 24.9  # side of panels that share a line so that a figure fits a page


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """Grid of the panels of a run: columns, and the side of a panel, on a page of a width."""

    width: float
    columns: int
    side: float

    def lines(self, panels: int) -> int:
        """Return the number of lines of so many panels."""
        return -(-panels // self.columns)


def grid_of(panels: int, sheet: PageSize) -> Grid:
    """Return a grid with as many panels in a line as can be read, and lines of about as many each.

    >>> sizes = (4, PageSize()), (4, PageSize(85.0)), (7, PageSize())
    >>> tuple(grid_of(*one).columns for one in sizes)
    (4, 2, 4)
    """
    scale = sheet.scale
    left, right, between = (length * scale for length in (LEFT, RIGHT, BETWEEN))
    width = sheet.width or WIDTHS.get(panels, WIDTHS[4])
    columns = min(panels, MOST_COLUMNS)

    def side(count: int) -> float:
        return (width - left - right - (count - 1) * between) / count

    while columns > 1 and side(columns) < LEAST_SIDE * scale:
        columns -= 1
    columns = -(-panels // -(-panels // columns))
    return checked_grid(Grid(width, columns, side(columns)), sheet)


def dense_grid(panels: int, sheet: PageSize, grid: Grid) -> Grid | None:
    """Return the grid with one line of panels fewer than another grid, None if they get too small.

    >>> dense = dense_grid(5, PageSize(), grid_of(5, PageSize()))
    >>> dense and dense.columns, dense_grid(8, PageSize(), grid_of(8, PageSize()))
    (5, None)
    """
    lines = grid.lines(panels) - 1
    if lines < 1:
        return None
    columns, scale = -(-panels // lines), sheet.scale
    side = (grid.width - (LEFT + RIGHT + (columns - 1) * BETWEEN) * scale) / columns
    return Grid(grid.width, columns, side) if side >= DENSE_SIDE * scale else None


def checked_grid(grid: Grid, sheet: PageSize) -> Grid:
    """Return a grid. Raises InputError if its panels are too narrow for the letters."""
    if grid.side < SMALLEST_SIDE * sheet.scale:
        raise InputError(
            f"A figure {grid.width:g} mm wide is too narrow for its panels at {sheet.points:g} "
            "points; make it wider or the font smaller."
        )
    return grid
