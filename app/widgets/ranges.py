"""Arithmetic of the ranges of plots; the top of a rectangle is its least value."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF


def squared(span: QRectF, size: QSizeF) -> QRectF:
    """A range enlarged so that a unit is as long on both axes of a plot of a size in pixels.

    >>> squared(QRectF(0.0, 0.0, 1.0, 1.0), QSizeF(200.0, 100.0)).getRect()
    (-0.5, 0.0, 2.0, 1.0)
    """
    width, height = max(size.width(), 1.0), max(size.height(), 1.0)
    unit = max(span.width() / width, span.height() / height)
    result = QRectF(0.0, 0.0, unit * width, unit * height)
    result.moveCenter(span.center())
    return result


def scaled_about(span: QRectF, point: QPointF, factor: float) -> QRectF:
    """A range times a factor; the point stays where it is.

    >>> scaled_about(QRectF(0.0, 0.0, 4.0, 4.0), QPointF(1.0, 2.0), 0.5).getRect()
    (0.5, 1.0, 2.0, 2.0)
    """
    return QRectF(
        point.x() - factor * (point.x() - span.left()),
        point.y() - factor * (point.y() - span.top()),
        factor * span.width(),
        factor * span.height(),
    )
