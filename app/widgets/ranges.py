"""Arithmetic of the ranges of plots; the top of a rectangle is its least value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF

from core.figures.ticks import range_problem

ZOOM_STEP = 1.0015
MOST_TURNED = 12_000  # wheel units handled at once
# Greatest width of a range set by mouse, relative to the contents. Far beyond, positions under the
# pointer lose the digits by which the wheel could return.
MOST_ENLARGED = 1e3


@final
class Drag(Enum):
    """Effect of a drag with the left button."""

    PAN = "move the range"
    BOX = "draw a box"
    SCRUB = "ask for every point on the way"


@final
@dataclass(frozen=True, slots=True)
class Home:
    """Range to which a plot returns."""

    left: float
    right: float
    bottom: float
    top: float


def rect_of(home: Home) -> QRectF:
    return QRectF(home.left, home.bottom, home.right - home.left, home.top - home.bottom)


def equalise_units(span: QRectF, size: QSizeF) -> QRectF:
    """Enlarge a range so that units are equally long on both axes of a plot of a size in pixels.

    >>> equalise_units(QRectF(0.0, 0.0, 1.0, 1.0), QSizeF(200.0, 100.0)).getRect()
    (-0.5, 0.0, 2.0, 1.0)
    """
    width, height = max(size.width(), 1.0), max(size.height(), 1.0)
    unit = max(span.width() / width, span.height() / height)
    result = QRectF(0.0, 0.0, unit * width, unit * height)
    result.moveCenter(span.center())
    return result


def used_share(span: QRectF, size: QSizeF) -> float:
    """Return the fraction of a plot that a range uses with equal units.

    >>> used_share(QRectF(0.0, 0.0, 1.0, 1.0), QSizeF(200.0, 100.0))
    0.5
    """
    full_span = equalise_units(span, size)
    area = full_span.width() * full_span.height()
    return span.width() * span.height() / area if area > 0.0 else 1.0


def wheel_factor(degrees: int) -> float:
    """Return the factor of a range by which the wheel zooms; a notch is 120 of `degrees`.

    >>> round(wheel_factor(-120), 3), wheel_factor(10**6) == wheel_factor(10**9)
    (1.197, True)
    """
    return float(ZOOM_STEP ** -min(max(degrees, -MOST_TURNED), MOST_TURNED))


def is_drawable(span: QRectF) -> bool:
    """Return True if a plot can show a range, which may come from a file.

    >>> is_drawable(QRectF(0.0, 0.0, 1.0, 1e6)), is_drawable(QRectF(0.0, 0.0, 1.0, 1e300))
    (True, False)
    """
    x_problem = range_problem(span.left(), span.right())
    return not (x_problem or range_problem(span.top(), span.bottom()))


def scaled_about(span: QRectF, point: QPointF, factor: float) -> QRectF:
    """Scale a range by a factor about a fixed point.

    >>> scaled_about(QRectF(0.0, 0.0, 4.0, 4.0), QPointF(1.0, 2.0), 0.5).getRect()
    (0.5, 1.0, 2.0, 2.0)
    """
    return QRectF(
        point.x() - factor * (point.x() - span.left()),
        point.y() - factor * (point.y() - span.top()),
        factor * span.width(),
        factor * span.height(),
    )


def turn_wheel(span: QRectF, point: QPointF, turned: int, home: QRectF) -> QRectF:
    """Return the range after a turn of the wheel at a point; `home` is the contents' range.

    >>> home = QRectF(0.0, 0.0, 1.0, 1.0)
    >>> turn_wheel(home, QPointF(0.0, 0.0), -(10**6), home).getRect()
    (0.0, 0.0, 1000.0, 1000.0)
    """
    sizes = (home.width(), span.width()), (home.height(), span.height())
    max_factor = min(MOST_ENLARGED * full_size / max(size, 1e-300) for full_size, size in sizes)
    return scaled_about(span, point, min(wheel_factor(turned), max(max_factor, 1.0)))


def pull_range(span: QRectF, x: float, y: float, home: QRectF) -> QRectF:
    """Return a range moved by fractions of itself, unmoved if out of reach of `home`.

    >>> home = QRectF(0.0, 0.0, 1.0, 1.0)
    >>> pull_range(home, 0.5, 0.0, home).x(), pull_range(home, 1e9, 0.0, home).x()
    (0.5, 0.0)
    """
    shifted = span.translated(x * span.width(), y * span.height())
    way, before = shifted.center() - home.center(), span.center() - home.center()
    size = home.size().expandedTo(span.size())
    near = abs(way.x()) <= max(MOST_ENLARGED * size.width(), abs(before.x()))
    near &= abs(way.y()) <= max(MOST_ENLARGED * size.height(), abs(before.y()))
    return shifted if near else span


def nearest_within(places: NDArray[np.float64], x: float, y: float, reach: float) -> int:
    """Return the nearest of some places (k, 2), at most so far away; -1 for none.

    >>> nearest_within(np.array([[0.0, np.nan], [3.0, 4.0]]), 0.0, 0.0, 5.0)
    1
    """
    distance = np.square(places - (x, y)).sum(axis=1)
    distance[np.isnan(distance)] = np.inf  # argmin would return a NaN
    best = int(np.argmin(distance))
    return best if distance[best] <= reach * reach else -1
