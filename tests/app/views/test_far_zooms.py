"""Zooms by the wheel and by pulling stay where numbers can be told apart."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF
from pytestqt.qtbot import QtBot

from app.views.run_panel import RunPanel
from app.widgets.plot_item import Home, Plot
from app.widgets.ranges import MOST_ENLARGED, is_drawable
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
    return ends_of(plot.visible_range())


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
    wheel(plot, plot.plot_area().center().toPoint(), -3 if notches > 0 else 3)  # and back
    assert plot.zoom != last


def test_pulling_ends_where_numbers_lie_too_close(plot: Plot) -> None:
    plot.set_zoom(QRectF(0.0, 0.0, 1e-9, 1e-9))
    plot._grip = plot.visible_range()
    plot._pan(QPointF(-1e15, 0.0))
    assert ends(plot)[:2] == (0.0, 1e-9)
    plot._pan(QPointF(-100.0, 0.0))
    assert 0.0 < ends(plot)[0] < 1e-9


def test_a_zoom_that_cannot_be_drawn_is_not_taken(plot: Plot) -> None:
    before = ends(plot)
    for span in (QRectF(0.0, 0.0, 1e300, 1.0), QRectF(0.0, 0.0, 0.0, 1.0), QRectF(1e20, 0, 1, 1)):
        plot.set_zoom(span)
        assert plot.zoom is None and ends(plot) == before


TURNS = 400
VIEWS_OF_RUNS = ("neurons", "rotations", "norms", "margins", "curves", "spectrum", "predictor")


@pytest.mark.parametrize("name", VIEWS_OF_RUNS)
def test_a_view_comes_back_from_400_turns_of_the_wheel(
    qtbot: QtBot, panel: RunPanel, name: str
) -> None:
    """It came back to 10^84: so far out a place under the pointer has no digits of a home's."""
    panel.set_views((name,))
    plot = panel.view(name).plot
    qtbot.waitUntil(lambda: plot.width() > 800)
    home, here = plot.visible_range(), plot.plot_area().center().toPoint() + QPoint(37, -21)
    for _ in range(TURNS):
        wheel(plot, here, -3)
    assert 100.0 < plot.visible_range().width() / home.width() < 2.0 * MOST_ENLARGED
    check_that_axes_are_drawn(plot)
    while plot.visible_range().width() > 1.2 * home.width():
        wheel(plot, here, 1)
    # All of it, but for the width of longer ticks.
    room = 0.05 * home.width(), 0.05 * home.height()
    assert plot.visible_range().adjusted(-room[0], -room[1], *room).contains(home)
    for _ in range(TURNS):
        wheel(plot, here, 3)
    assert plot.visible_range().width() < 1e-6 * home.width()
    # What a link or a view file may hold: 10^1000 on axes of powers, and what no axis has.
    plot.set_zoom(QRectF(-1000.0, -1000.0, 2000.0, 2000.0))
    check_that_axes_are_drawn(plot)
    drawn = plot.visible_range()
    plot.set_zoom(QRectF(-1e300, -1e300, 2e300, 2e300))
    assert plot.visible_range() == drawn
    plot.reset_range()
    assert plot.visible_range() == home


def check_that_axes_are_drawn(plot: Plot) -> None:
    """Few ticks: as many as were computed."""
    plot.grab()
    shown = plot.visible_range()
    for axis, low, high in (
        (plot.bottom, shown.left(), shown.right()),
        (plot.side, shown.top(), shown.bottom()),
    ):
        assert 1 <= len(axis.ticks(low, high, 400.0)) <= 12


def ends_of(span: QRectF) -> tuple[float, ...]:
    return span.left(), span.right(), span.top(), span.bottom()
