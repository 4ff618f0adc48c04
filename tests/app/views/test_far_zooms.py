"""Zooms by the wheel and by pulling stay where numbers can be told apart."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF
from pytestqt.qtbot import QtBot

from app.widgets.plot_item import Home, Plot
from app.widgets.ranges import is_drawable
from core.figures.palette import LIGHT
from tests.app.mouse import wheel

NOTCHES = 100  # at once, as far as a plot takes them


@pytest.fixture
def plot(qtbot: QtBot) -> Plot:
    made = Plot(LIGHT)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.set_home(Home(-1.0, 3.0, 0.0, 0.1))
    return made


def ends(plot: Plot) -> tuple[float, ...]:
    shown = plot.shown()
    return shown.left(), shown.right(), shown.top(), shown.bottom()


@pytest.mark.parametrize("notches", [NOTCHES, -NOTCHES, 10**6, -(10**6)])
@pytest.mark.parametrize("equal", [False, True])
def test_the_wheel_ends_at_the_last_range_that_can_be_drawn(
    plot: Plot, notches: int, equal: bool
) -> None:
    plot.set_equal(equal)
    for turn in range(30):
        wheel(plot, QPoint(150, 100 + turn), notches)
    assert all(map(math.isfinite, ends(plot)))
    last = plot.zoom
    assert last is not None and is_drawable(last)
    plot.grab()
    wheel(plot, plot.inside().center().toPoint(), -3 if notches > 0 else 3)  # and back
    assert plot.zoom != last


def test_pulling_ends_where_numbers_lie_too_close(plot: Plot) -> None:
    plot.set_zoom(QRectF(0.0, 0.0, 1e-9, 1e-9))
    plot._grip = plot.shown()
    plot._pan(QPointF(-1e15, 0.0))
    assert ends(plot)[:2] == (0.0, 1e-9)
    plot._pan(QPointF(-100.0, 0.0))
    assert 0.0 < ends(plot)[0] < 1e-9


def test_a_zoom_that_cannot_be_drawn_is_not_taken(plot: Plot) -> None:
    before = ends(plot)
    for span in (QRectF(0.0, 0.0, 1e300, 1.0), QRectF(0.0, 0.0, 0.0, 1.0), QRectF(1e20, 0, 1, 1)):
        plot.set_zoom(span)
        assert plot.zoom is None and ends(plot) == before
