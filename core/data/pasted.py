"""Points as text: pasted from a spreadsheet, a CSV file or a mail, and copied back as CSV."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from core.data.dataset import UNDERSTOOD
from core.data.labels import SIGNS
from core.data.numbers import MINUS, number_of
from core.data.origin import NOTHING, Origin
from core.data.points import LARGEST, MAX_POINTS, Points
from core.data.table_header import Wanted
from core.data.text_table import Bounds, read_table
from core.numbers import whole_text

__all__ = ["NOTHING", "Pasted", "label_of", "number_of", "parse_points", "points_csv"]

MOST_CHARACTERS = 1_000_000
CLIPBOARD = Origin()
WANTED = Wanted(last=True)
BOUNDS = Bounds(rows=MAX_POINTS, largest=LARGEST, classes=2, single=True)


@final
@dataclass(frozen=True, slots=True)
class Pasted:
    """Rows of one or two coordinates and a label -1 or +1; `note` says what was understood where
    the text leaves a choice."""

    points: Points
    note: str = ""


def parse_points(text: str) -> Pasted:
    """Return the points of a text of lines of one or two coordinates and a label.

    The text is read as a data file is (core.data.text_table). Without a header, and where no column
    looks like labels, the label is the last column.

    >>> parse_points("x1,x2,y\\n0.5,1,1\\n0,2e-1,0").points
    ((0.5, 1.0, 1.0), (0.0, 0.2, -1.0))
    >>> parse_points("a\\tb\\ty\\n0.5\\t1\\tcat\\n0.25\\t2\\tdog").note
    "Understood: label column 'y' (last); cat is \u22121, dog is +1."

    Raises InputError with the line that is wrong.
    """
    if len(text) > MOST_CHARACTERS:
        raise CLIPBOARD.whole(f"has more than {whole_text(MOST_CHARACTERS)} characters.")
    file = io.StringIO(text.removeprefix("\ufeff"), newline="")
    table = read_table(file, CLIPBOARD, WANTED, BOUNDS)
    if table.x.shape[1] > 2:
        raise CLIPBOARD.whole(
            f"has {table.x.shape[1]} coordinates in each line; one or two can be drawn."
        )
    points = tuple((*x, y) for x, y in zip(table.x.tolist(), table.y.tolist(), strict=True))
    return Pasted(points, f"{UNDERSTOOD} {table.note}" if table.is_guess else "")


def points_csv(points: Sequence[Sequence[float]]) -> str:
    """Points as the text of a CSV file, to the last digit.

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
    """The label that a text alone is; None where it is none.

    >>> label_of("+"), label_of("-1"), label_of("0"), label_of("2")
    (1.0, -1.0, -1.0, None)
    """
    text = text.replace(MINUS, "-")
    value = SIGNS.get(text, number_of(text))
    if value not in (-1.0, 0.0, 1.0):
        return None
    return 1.0 if value == 1.0 else -1.0
