"""Curves are drawn through fewer points than there are, and nobody can see it."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from app.state.display import DisplayData
from app.views import trace_view
from app.views.pixels import TOLERANCE, points_to_draw
from app.views.run_panel import RunPanel
from app.widgets.axis import PlotAxis
from app.widgets.items import pen_of
from core.figures.ticks import Ticks
from tests.app.options import show_frame

LEVELS = 255.0


def off_by(x: np.ndarray, Y: np.ndarray, keep: np.ndarray) -> float:
    """Return how far the polygons through the points kept are from all points, at most."""
    found = [np.interp(x, x[kept], row[kept]) for row, kept in zip(Y, keep, strict=True)]
    return float(np.abs(np.array(found) - Y).max())


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 64, 65, 400, 513])
def test_no_point_is_further_from_the_curve_than_is_said(count: int) -> None:
    rng = np.random.default_rng(count)
    x = np.sort(rng.random(count)) + 1e-9 * np.arange(count)
    smooth = np.sin(6.0 * x + rng.random((5, 1)))
    rough = smooth + 0.01 * rng.standard_normal(smooth.shape)
    for Y in (smooth, rough, np.zeros_like(smooth), np.tile(x, (5, 1))):
        for tolerance in (1e-5, 1e-3, 0.1):
            keep = points_to_draw(x, Y, tolerance)
            assert keep[:, 0].all()
            assert keep[:, -1].all()
            assert off_by(x, Y, keep) <= tolerance * (1.0 + 1e-9)


def test_straight_and_smooth_curves_have_few_points_left() -> None:
    x = np.linspace(0.0, 1.0, 513)
    Y = np.stack([x, np.sin(3.0 * x), np.where(x < 0.5, 0.0, 1.0)])
    counts = points_to_draw(x, Y, 1e-3).sum(axis=1).tolist()
    assert counts[0] == 2
    assert counts[1] < 50
    assert counts[2] < 16
    assert points_to_draw(x, Y, 0.0)[1].all()


def test_what_is_not_a_number_and_equal_places_keep_their_neighbours() -> None:
    x = np.linspace(0.0, 1.0, 65)
    Y = np.tile(x, (2, 1))
    Y[0, 20], Y[1, 40] = np.nan, np.inf
    keep = points_to_draw(x, Y, 1e-6)
    assert keep[0, 19:22].all()
    assert keep[1, 39:42].all()
    x[30:34] = x[30]  # |W|^2 need not grow
    keep = points_to_draw(x, np.tile(np.arange(65.0), (2, 1)), 1e-6)
    assert keep[:, 30:34].all()


def picture(panel: RunPanel, name: str) -> np.ndarray:
    image = panel.view(name).plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), dtype=np.uint8)
    return pixels.reshape(image.height(), image.width(), 4).astype(np.float64)


@pytest.mark.parametrize("zoomed", [False, True])
def test_pictures_are_the_same(
    panel: RunPanel, data: DisplayData, monkeypatch: pytest.MonkeyPatch, zoomed: bool
) -> None:
    view = panel.view("margins")
    plot = view.plot
    if zoomed:
        home = plot.visible_range()
        centre = QRectF(home.center().x(), home.center().y(), 0.05 * home.width(), 0.0)
        centre.setHeight(0.05 * home.height())
        plot.view.setRange(centre, padding=0.0)
    thin = picture(panel, "margins")
    corners = sum(path.elementCount() for path, _ in view.strong.curves)
    monkeypatch.setattr(
        trace_view, "points_to_draw", lambda x, Y, tolerance: np.ones(Y.shape, bool)
    )
    view.redraw()
    assert sum(path.elementCount() for path, _ in view.strong.curves) >= corners + (not zoomed)
    whole = picture(panel, "margins")
    # A line that is moved by TOLERANCE of a pixel covers so much more or less of one at its edge.
    assert np.abs(thin - whole).max() <= TOLERANCE * LEVELS + 4.0


def test_a_zoom_shows_the_points_that_were_left_out(panel: RunPanel) -> None:
    view = panel.view("margins")
    before = [path.elementCount() for path, _ in view.strong.curves]
    home = view.plot.visible_range()
    view.plot.view.setRange(yRange=(home.y(), home.y() + 1e-4 * home.height()), padding=0.0)
    zoomed = [path.elementCount() for path, _ in view.strong.curves]
    assert sum(zoomed) > sum(before)
    view.plot.reset_range()
    assert [path.elementCount() for path, _ in view.strong.curves] == before


def test_ticks_are_made_once_and_pens_are_shared(
    panel: RunPanel, data: DisplayData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all that a new frame changes, the axes of a run under way are no part."""
    made: list[PlotAxis] = []
    plainly = PlotAxis._find_ticks

    def counted(axis: PlotAxis, low: float, high: float, size: float) -> Ticks:
        made.append(axis)
        return plainly(axis, low, high, size)

    view = panel.view("margins")
    view.plot.grab()
    monkeypatch.setattr(PlotAxis, "_find_ticks", counted)
    for frame in (10, 20, 30):
        view.redraw()
        show_frame(panel, frame)
        view.plot.grab()
    assert view.plot.side not in made
    assert view.plot.bottom not in made
    assert pen_of("#102030", 1.5, (1.0, 2.0)) is pen_of("#102030", 1.5, [1.0, 2.0])
    assert pen_of(np.array([1, 2, 3, 255], np.uint8)) is pen_of((1, 2, 3, 255))
