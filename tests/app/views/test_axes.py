"""The axes of views: named, with ticks that have room, and labels that keep off curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.state.intent import MARGIN_AXES
from app.state.views import VIEWS
from app.style import LEAST_PLOT
from app.views.margins import MarginsView
from app.views.run_panel import GAP, RunPanel
from app.widgets import levels
from app.widgets.axis import far_times, logarithmic, plain, powers
from app.widgets.levels import (
    NO_CURVES,
    Obstacles,
    end_of_curve,
    fit_text,
    label_width,
    places_of,
)
from app.widgets.overlay import NOTHING, LabelLayoutCache
from app.widgets.plot_item import Home, Plot
from core.figures.palette import LIGHT
from core.figures.ticks import TickMaker
from core.reference.margin import Bracket, ReferenceMargin
from core.runs import open_run
from tests.app.options import set_options, show_frame
from tests.recording import recorded
from tests.support.theory_stand_ins import MadeUp

HEAD = ("data.d=4", "data.n=8", "recording.frames=5", "dynamics.until_log10_time=0")
BOX = QRectF(50.0, 10.0, 300.0, 200.0)


PlotOf = Callable[..., Plot]


@pytest.fixture
def plot_of(qtbot: QtBot) -> PlotOf:
    """Return a factory of plots of a size, each in a widget of its own."""
    hosts: list[QWidget] = []

    def made(width: int, height: int, **options: Any) -> Plot:
        host = QWidget()
        hosts.append(host)
        qtbot.addWidget(host)
        plot = Plot(LIGHT, parent=host, **options)
        plot.resize(width, height)
        host.show()
        qtbot.waitExposed(host)
        return plot

    return made


@pytest.mark.parametrize("axis", list(MARGIN_AXES))
def test_both_axes_of_every_view_have_names(
    qtbot: QtBot, panel: RunPanel, data: DisplayData, axis: str
) -> None:
    set_options(panel, margin_axis=axis)
    set_options(panel, curves=("risk", "distance"))
    panel.set_views(tuple(VIEWS))
    while data.background.work(1.0):
        panel.on_values()
        panel.draw_pending()
    for name, kind in VIEWS.items():
        plot = panel.view(name).plot
        for one in (plot.side, plot.bottom):
            assert one.isVisible() == kind.fits(data), name
            if not kind.fits(data):  # a sentence alone
                continue
            if name == "curves" and one is plot.side:  # each strip has a title
                assert [title.text for title in plot.overlay.titles] == [
                    "risk",
                    "distance from the start",
                ]
                continue
            assert one.labelText.strip(), name
            assert one.label.isVisible(), name


def test_names_are_short_and_whole_in_the_smallest_plots(panel: RunPanel) -> None:
    set_options(panel, neuron_range="run", neuron_points="weights")
    names = {
        "neurons": "coordinate 2",
        "rotations": "rotation",
        "norms": "relative norm",
        "margins": "margin",
    }
    panel.resize(2 * LEAST_PLOT[0] + GAP, panel.least_height)
    QApplication.processEvents()
    for view, name in names.items():
        assert panel.view(view).plot.side.fitting().partition(" (")[0] == name
    panel.resize(900, 800)
    QApplication.processEvents()
    assert panel.view("margins").plot.side.fitting() == "normalised margin"


@pytest.mark.parametrize("height", [96, 120, 160, 400])
def test_a_name_fits_its_axis_and_keeps_its_unit(plot_of: PlotOf, height: int) -> None:
    plot = plot_of(200, height, vertical="a quantity with a long name (10\u207b\u00b3)")
    metrics = QFontMetricsF(plot.lettering()[1])
    text = plot.side.label.toPlainText()
    assert text.endswith("(10\u207b\u00b3)")
    assert metrics.horizontalAdvance(text) <= plot.side.size().height()
    ends = plot.side.label.mapRectToScene(plot.side.label.boundingRect())
    assert plot.rect().top() <= ends.top() + 4.0
    assert ends.bottom() - 4.0 <= plot.rect().bottom()
    assert ("\u2026" in text) == (height < 400)


def test_a_short_name_is_taken_before_a_name_is_cut(plot_of: PlotOf) -> None:
    plot = plot_of(200, 120)
    plot.set_labels("time t", "the name of a quantity that is long", "quantity")
    assert plot.side.label.toPlainText() == "quantity"
    plot.resize(200, 500)
    assert plot.side.label.toPlainText() == "the name of a quantity that is long"


def test_another_name_stands_in_the_middle_of_its_axis(plot_of: PlotOf) -> None:
    plot = plot_of(300, 200)
    plot.set_labels("t", "f")
    for names in (("the time of the run", "share of its range"), ("a", "b")):
        plot.set_labels(*names)
        QApplication.processEvents()
        for axis, across in ((plot.bottom, True), (plot.side, False)):
            ends = axis.label.mapRectToScene(axis.label.boundingRect()).center()
            middle = axis.sceneBoundingRect().center()
            off = ends.x() - middle.x() if across else ends.y() - middle.y()
            assert abs(off) < 2.0


EVERYWHERE = [(-0.1, 0.1), (0.0, 1.02), (-3.0, 9.0), (2.0, 40.0)]
OF_NUMBERS = [(-12345.0, 54321.0), (1e-7, 3e-7), (-3e-4, 1.0)]


@pytest.mark.parametrize(
    ("maker", "low", "high"),
    [(one, *ends) for one in (plain, powers, far_times, logarithmic) for ends in EVERYWHERE]
    + [(plain, *ends) for ends in OF_NUMBERS],
)
def test_the_texts_of_ticks_stand_apart_and_have_room(
    plot_of: PlotOf, maker: TickMaker, low: float, high: float
) -> None:
    for width in (120, 160, 240, 500):
        plot = plot_of(width, 120, horizontal_ticks=maker, vertical_ticks=maker)
        plot.set_home(Home(low, high, low, high))
        metrics = QFontMetricsF(plot.lettering()[1])
        box = plot.view.rect()
        ticks = plot.bottom.ticks(low, high, box.width())
        texts = [text for _, text in ticks]
        middles = [(place - low) / (high - low) * box.width() for place, _ in ticks]
        halves = [0.5 * metrics.horizontalAdvance(text) for text in texts]
        for k in range(1, len(texts)):
            assert middles[k - 1] + halves[k - 1] < middles[k] - halves[k], texts
        for _, text in plot.side.ticks(low, high, box.height()):
            assert metrics.horizontalAdvance(text) + 4.0 <= plot.side.size().width(), text


def test_room_that_was_made_for_a_tick_is_given_back_for_another_run(plot_of: PlotOf) -> None:
    plot = plot_of(300, 200)
    usual = plot.side.width()
    plot.set_home(Home(0.0, 1.0, 1e-7, 3e-7))
    wide = plot.side.width()
    assert wide > usual
    plot.set_home(Home(0.0, 1.0, 0.0, 1.0))
    assert plot.side.width() == wide  # it does not go to and fro with every range
    plot.reset_range()
    plot.set_colours(LIGHT)
    assert plot.side.width() == usual


def test_a_view_with_nothing_to_show_has_a_sentence_and_no_axes(
    qtbot: QtBot, tmp_path: Path, panel: RunPanel, data: DisplayData
) -> None:
    path = tmp_path / "run.msrun"
    recorded(path, *HEAD, "network.kind=head", "dynamics.until_log10_time=-3")
    panel.set_views(("neurons", "rotations", "spectrum", "margins", "curves"))
    with open_run(path) as run:
        head = DisplayData(run)
        while not head.complete:
            head.update()
        panel.set_data(head, "a head")
        show_frame(panel, 0)
        for name in ("neurons", "rotations", "spectrum"):
            plot = panel.view(name).plot
            assert plot.overlay.note
            assert not plot.side.isVisible()
            assert not plot.bottom.isVisible()
        assert panel.view("margins").plot.side.isVisible()
        set_options(panel, curves=())
        assert not panel.view("curves").plot.side.isVisible()
        panel.set_data(data, "another run")
        assert panel.view("neurons").plot.side.isVisible()
        set_options(panel, curves=("risk",))
        assert panel.view("curves").plot.side.isVisible()


# ------------------------------------------------------------------------------------- labels


def rising(columns: int) -> Obstacles:
    """Return a curve from the lower left to the upper right of the box."""
    return Obstacles(BOX.left(), np.linspace(BOX.bottom(), BOX.top(), columns)[None, :])


def test_labels_keep_off_curves() -> None:
    curve = rising(300)
    heights = [12.0, 15.0, 40.0, 120.0]
    boxes = places_of(heights, [(70.0, 14.0)] * 4, [BOX] * 4, curve)
    for box in boxes:
        assert BOX.contains(box)
        columns = np.arange(300) + BOX.left()
        under = (columns >= box.left()) & (columns <= box.right())
        at = curve.heights[0, under]
        assert not ((at >= box.top()) & (at <= box.bottom())).any()
    assert not any(one.intersects(other) for k, one in enumerate(boxes) for other in boxes[k + 1 :])


def place_all(
    heights: Sequence[float], sizes: Sequence[tuple[float, float]], curves: Obstacles
) -> list[QRectF]:
    """Place labels as `places_of` does, with every candidate tested against everything."""
    placed: dict[int, QRectF] = {}
    for number in sorted(range(len(heights)), key=heights.__getitem__):
        width, height = sizes[number]
        y = min(max(heights[number], BOX.top()), BOX.bottom())
        home = QRectF(BOX.right() - 3.0 - width, y - height, width, height)
        free = [
            box
            for box in levels._candidates(home, BOX, bool(curves.heights.size))
            if BOX.top() <= box.top()
            and box.bottom() <= BOX.bottom()
            and not any(box.intersects(other) for other in placed.values())
        ]
        clear = [box for box in free if not curves.is_crossed(box)]
        last = QRectF(home.left(), BOX.top(), width, height)
        placed[number] = (clear or free or [last])[0]
    return [placed[number] for number in range(len(heights))]


def test_labels_stand_where_the_best_of_all_candidates_is() -> None:
    random = np.random.default_rng(4)
    columns = round(BOX.width())
    crowded = 0
    for case in range(10):
        count = int(random.integers(1, 9))
        heights = random.uniform(BOX.top() - 20.0, BOX.bottom() + 20.0, count).tolist()
        heights[0] = heights[-1]  # two of one height
        sizes = [(float(random.uniform(20.0, 90.0)), 14.0) for _ in range(count)]
        walk = BOX.center().y() + np.cumsum(random.normal(0.0, 6.0, (case % 4, columns)), axis=1)
        curves = Obstacles(BOX.left(), walk) if case % 4 else NO_CURVES
        if case % 10 == 9:  # curves everywhere: no place is clear
            zigzag = np.tile([BOX.top(), BOX.bottom()], columns // 2)
            curves = Obstacles(BOX.left(), zigzag[None, :])
        wanted = place_all(heights, sizes, curves)
        assert places_of(heights, sizes, [BOX] * len(heights), curves) == wanted, case
        crowded += any(curves.is_crossed(box) for box in wanted)
    assert 0 < crowded < 10


def test_no_candidate_is_tested_after_the_first_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tested: list[QRectF] = []

    def crossed(curves: Obstacles, box: QRectF) -> bool:
        tested.append(box)
        return False

    monkeypatch.setattr(Obstacles, "is_crossed", crossed)
    places_of([40.0, 120.0], [(70.0, 14.0)] * 2, [BOX] * 2, rising(300))
    assert len(tested) == 2


def test_a_steep_curve_is_an_obstacle_between_its_columns() -> None:
    steep = Obstacles(0.0, np.array([[0.0, 100.0, 0.0]]))
    assert steep.is_crossed(QRectF(0.2, 45.0, 0.6, 10.0))
    assert not steep.is_crossed(QRectF(0.0, 110.0, 3.0, 10.0))


def test_a_label_that_is_too_wide_is_cut_at_its_end(qtbot: QtBot) -> None:
    font = QFont()
    label = "all corners / 2 (heuristic)"
    assert fit_text(label, font, 1000.0) == label
    for room in (40.0, 60.0, 90.0):
        text = fit_text(label, font, room)
        assert text.endswith("\u2026")
        assert label.startswith(text[:-1])
        assert label_width(text, font) <= room


@pytest.mark.parametrize(("width", "height"), [(150, 200), (260, 200), (420, 280)])
def test_labels_of_reference_lines_are_whole_and_off_the_curves(
    qtbot: QtBot, data: DisplayData, width: int, height: int
) -> None:
    view = MarginsView(LIGHT)
    qtbot.addWidget(view)
    view.resize(width, height)
    view.set_data(data)
    top = float(np.nanmax(data.margins[:, 0]))
    view.set_references(
        [
            ReferenceMargin(
                MadeUp(name, 1.0, Bracket(at, at, at, True, "")), Bracket(at, at, at, True, ""), 0.0
            )
            for name, at in (("all corners / 2", 0.9 * top), ("gamma_gl / 2", 1.05 * top))
        ]
    )
    view.show()
    qtbot.waitExposed(view)
    view.show_frame(data.frames - 1)
    view.plot.grab()
    inside = view.plot.plot_area()
    assert len(view.plot.drawn_levels) == 2
    for drawn in view.plot.drawn_levels:
        assert inside.contains(drawn.box)
        for line in view.lines(data):
            points = np.stack([view.places, line.values], axis=1)[1:]
            points = points[np.isfinite(points).all(axis=1)]
            x, y = view.plot.pixels(points).T
            columns = np.arange(drawn.box.left(), drawn.box.right(), 0.5)
            at = np.interp(columns, x, y, left=np.nan, right=np.nan)
            crossed = (at > drawn.box.top()) & (at < drawn.box.bottom())
            assert width < 260 or not crossed.any()


# --------------------------------------------------------------------------------------- aspect

SQUARE = Home(-1.0, 1.0, -1.0, 1.0)


def unit(plot: Plot) -> tuple[float, float]:
    (x0, y0), (x1, y1) = plot.pixels(np.array([[0.0, 0.0], [1.0, 1.0]]))
    return float(x1 - x0), float(y0 - y1)


def test_units_are_equal_where_that_loses_less_than_half_of_the_plot(plot_of: PlotOf) -> None:
    plot = plot_of(400, 400, equal=True)
    plot.set_home(SQUARE)
    for width in range(150, 401, 10):
        plot.resize(width, 400)
        box = plot.plot_area()
        lost = 1.0 - min(box.width(), box.height()) / max(box.width(), box.height())
        x, y = unit(plot)
        assert (abs(x - y) < 1e-6 * x) == (lost < 0.5) or abs(lost - 0.5) < 0.01
        if lost > 0.51:
            assert (2 * x, 2 * y) == pytest.approx((box.width(), box.height()))


def test_the_toggle_keeps_units_equal(plot_of: PlotOf) -> None:
    plot = plot_of(150, 400, equal=True)
    plot.set_home(SQUARE)
    assert not plot.is_equal
    plot.set_always_equal(True)
    x, y = unit(plot)
    assert x == pytest.approx(y)
    plot.set_equal(False)  # a graph, which has no aspect
    assert not plot.is_equal


def test_a_zoom_does_not_change_the_aspect(plot_of: PlotOf) -> None:
    plot = plot_of(150, 400, equal=True)
    plot.set_home(SQUARE)
    plot.set_zoom(QRectF(0.0, 0.0, 1.0, 3.0))
    assert not plot.is_equal
    shown = plot.visible_range()
    assert (shown.width(), shown.height()) == pytest.approx((1.0, 3.0))


class OnePixelPerUnit:
    """Plot whose axes count its pixels, heights from the bottom up."""

    def visible_range(self) -> QRectF:
        return QRectF(BOX)

    def pixels(self, points: np.ndarray) -> np.ndarray:
        return np.stack([points[:, 0], BOX.bottom() - points[:, 1]], axis=1)


def test_the_name_of_a_curve_stays_in_its_strip_and_at_its_end() -> None:
    """Also where the curve ends at the foot of the strip, early, and below the title."""
    height = BOX.height()
    room = (0.4 * height, 0.7 * height)
    for share, end in ((0.41, 0.5), (0.69, 0.5), (0.41, 1.0), (0.1, 0.02)):
        places = np.array([BOX.left(), BOX.left() + end * BOX.width(), BOX.right()])
        values = np.array([room[1], share * height, np.nan if end < 1.0 else share * height])
        label = end_of_curve(places, values, "name", "#000000", "", room)
        assert label.value == share * height and not label.line
        cache = LabelLayoutCache()
        cache.find(replace(NOTHING, levels=(label,)), BOX, QFont(), OnePixelPerUnit())
        (placed,) = cache.levels
        assert BOX.contains(placed.box)
        assert placed.box.bottom() <= BOX.bottom() - room[0] + 0.5
        assert placed.box.top() >= BOX.bottom() - room[1] - 0.5
        assert placed.box.right() <= max(places[1], BOX.left() + placed.box.width() + 6.0)
