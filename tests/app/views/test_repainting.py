"""Of a plot only what has changed is found and painted anew, once, and it looks the same."""

from __future__ import annotations

from itertools import pairwise
from typing import final

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFontMetricsF, QImage, QPixmap
from PySide6.QtWidgets import QApplication, QGraphicsView
from pytestqt.qtbot import QtBot

from app.views.run_panel import RunPanel
from app.widgets.axis import PlotAxis
from app.widgets.levels import Traces
from core.figures.palette import DARK
from core.reference.margin import Bracket, ReferenceMargin
from tests.app.options import mark_nodes, set_options, show_frame
from tests.support.theory_stand_ins import MadeUp

# Dashes begin where the painted part does, so that lines are whole in what is compared here.
SOLID = ("neurons", "rotations", "norms", "curves")


@final
class Paints(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.of: dict[QObject, int] = {}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.of[watched] = self.of.get(watched, 0) + 1
        return False


def lines(top: float) -> list[ReferenceMargin]:
    brackets = [Bracket(at, at, at, True, "") for at in (0.5 * top, 0.9 * top, 9.0 * top)]
    return [
        ReferenceMargin(MadeUp(f"line {k}", 1.0, bracket), bracket, 0.0)
        for k, bracket in enumerate(brackets)
    ]


@pytest.fixture
def watched(panel: RunPanel) -> RunPanel:
    panel.set_theory(lines(float(np.nanmax(panel.view("margins").data.margins[:, 0]))), [])
    for _ in range(3):
        QApplication.processEvents()
    return panel


def test_each_plot_is_painted_once_a_frame(watched: RunPanel) -> None:
    paints = Paints()
    for view in watched.views:
        view.plot.viewport().installEventFilter(paints)
    for turn, frame in enumerate((3, 40, 41, 12), start=1):
        show_frame(watched, frame)
        for _ in range(3):
            QApplication.processEvents()
        assert list(paints.of.values()) == [turn] * len(watched.views)


def pixels(picture: QPixmap) -> np.ndarray:
    image = picture.toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.array(image.constBits()).reshape(image.height(), image.width(), 4)[:, :, :3]


def test_what_was_painted_in_part_is_what_is_painted_whole(qtbot: QtBot, panel: RunPanel) -> None:
    panel.set_views(SOLID)
    set_options(panel, curves=("hard_margin",))
    qtbot.waitUntil(lambda: not panel.pending)
    seen: list[np.ndarray] = []
    for frame, palette in ((20, None), (50, None), (7, DARK), (33, None)):
        if palette is not None:
            panel.set_colours(palette)
        show_frame(panel, frame)
        mark_nodes(panel, frame % 5, frozenset({6, 7}))
        for _ in range(3):
            QApplication.processEvents()
        seen.append(pixels(panel.screen().grabWindow(panel.winId())))
        np.testing.assert_array_equal(seen[-1], pixels(panel.grab()))
    assert all((one != other).any() for one, other in pairwise(seen))


def test_what_stands_still_is_found_once(
    watched: RunPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Traces] = []
    plainly = Traces.find_obstacles

    def counted(traces: Traces, *where: object) -> object:
        found.append(traces)
        return plainly(traces, *where)

    monkeypatch.setattr(Traces, "find_obstacles", counted)
    plot = watched.view("margins").plot
    before = plot.drawn_levels
    assert len(before) == 3
    for frame in (5, 25, 45):
        show_frame(watched, frame)
        plot.grab()
    assert found == []
    assert plot.drawn_levels is before
    shown = plot.visible_range()
    plot.set_zoom(shown.adjusted(0.0, 0.1 * shown.height(), 0.0, 0.0))
    plot.grab()
    assert len(found) == 1
    assert plot.drawn_levels != before
    # What is kept is what would be found.
    plot.reset_range()
    plot.grab()
    assert plot.drawn_levels == before


@pytest.mark.parametrize("orientation", ["left", "bottom"])
def test_ticks_are_kept_for_one_range_only(panel: RunPanel, orientation: str) -> None:
    plot = panel.view("neurons").plot
    axis: PlotAxis = plot.side if orientation == "left" else plot.bottom
    first, other = axis.ticks(0.0, 1.0, 300.0), axis.ticks(0.0, 50.0, 300.0)
    assert first != other
    assert axis.ticks(0.0, 1.0, 300.0) == first
    assert axis.ticks(0.0, 50.0, 300.0) is axis.ticks(0.0, 50.0, 300.0)
    # Room for larger letters leaves room for fewer ticks.
    font = plot.font()
    font.setPointSizeF(4.0 * font.pointSizeF())
    axis.set_style(plot.palette_of_plot, QFontMetricsF(font), font)
    assert len(axis.ticks(0.0, 50.0, 300.0)) < len(other)


def test_a_plot_keeps_no_picture_of_its_background(panel: RunPanel) -> None:
    """It is of one colour, and as many bytes as the plot has on the screen."""
    modes = {view.plot.cacheMode() for view in panel.views}
    assert modes == {QGraphicsView.CacheModeFlag.CacheNone}
