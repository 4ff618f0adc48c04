"""The views of curves and of singular values, and what is computed for them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.state.background_values import LEADING, SPECTRUM, BackgroundValues, Trace
from app.state.display import DisplayData
from app.views.curves import LEAST_STRIP, CurvesView, SpectrumView
from app.views.pixels import TOLERANCE
from app.views.run_panel import RunPanel
from app.widgets.axis import logarithmic
from app.widgets.header import HINT
from core.figures.strips import Extent, extent_of, stack_strips
from core.observables import spectrum
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.app.mouse import pull
from tests.app.options import set_options

NAMES = ("hard_margin", "distance")


@pytest.fixture
def wide(qtbot: QtBot, panel: RunPanel, data: DisplayData) -> RunPanel:
    set_options(panel, curves=NAMES)
    panel.set_views(("margins", "curves", "spectrum"))
    while data.background.work(1.0):
        panel.on_values()
        panel.draw_pending()
    return panel


def drawn(view: CurvesView | SpectrumView, which: int, data: DisplayData) -> np.ndarray:
    """Return the heights of a curve at all frames but the first, interpolated between corners."""
    path = view.faint.curves[which][0]
    corners = [path.elementAt(k) for k in range(path.elementCount())]
    places = [corner.x for corner in corners]
    assert np.isin(places, data.log10_time).all()
    return np.interp(data.log10_time[1:], places, [corner.y for corner in corners])


def allowed(view: CurvesView | SpectrumView) -> float:
    """Return what a curve may be off by between its corners: a few hundredths of a pixel."""
    return TOLERANCE * view.plot.pixel_height()


def test_curves_are_the_tables_numbers(wide: RunPanel, data: DisplayData) -> None:
    view = wide.view("curves")
    assert isinstance(view, CurvesView)
    assert [strip.name for strip in view.strips] == list(NAMES)
    for which, strip in enumerate(view.strips):
        wanted = strip.heights(OBSERVABLES[strip.name].trace(data.run)[1:])
        np.testing.assert_allclose(drawn(view, which, data), wanted, rtol=1e-9, atol=allowed(view))
        known = wanted[np.isfinite(wanted)]
        assert strip.start < known.min() < known.max() < strip.top < strip.end
    text = view.header.text
    assert OBSERVABLES["hard_margin"].title in text
    assert OBSERVABLES["distance"].title in text


def test_strips_are_above_each_other_with_ticks_and_titles_of_their_own(
    wide: RunPanel, data: DisplayData
) -> None:
    view = wide.view("curves")
    assert isinstance(view, CurvesView)
    upper, lower = view.strips
    assert (lower.start, lower.end, upper.start, upper.end) == (0.0, 1.0, 1.0, 2.0)
    low, high = view.region()[2:]
    assert (low, high) == (0.0, 2.0)
    ticks = view.plot.side.ticks(low, high, view.plot.side.size().height())
    assert list(ticks) == sorted(ticks)
    for strip in view.strips:
        mine = [(place, text) for place, text in ticks if strip.start <= place <= strip.end]
        assert len(mine) >= 2
        for place, text in mine:
            shown = strip.low + (place - strip.start) / strip.unit
            value = 10.0**shown if strip.takes_log else shown
            if "10" not in text:
                assert float(text.replace("\u2212", "-")) == pytest.approx(value, abs=1e-9)
    titles = view.plot.overlay.titles
    assert [title.text for title in titles] == ["hard margin", "distance from the start"]
    value = float(OBSERVABLES["distance"].value_at(data.run, wide.frame))
    assert float(titles[1].number) == pytest.approx(value, rel=5e-3)


def test_a_single_strip_has_the_units_of_its_axis(wide: RunPanel, data: DisplayData) -> None:
    set_options(wide, curves=("hard_margin",))
    view = wide.view("curves")
    assert isinstance(view, CurvesView)
    values = OBSERVABLES["hard_margin"].trace(data.run)[1:]
    np.testing.assert_allclose(drawn(view, 0, data), values, rtol=1e-9, atol=allowed(view))


def test_more_strips_need_more_room(wide: RunPanel) -> None:
    view, room = wide.view("curves"), []
    wide.views_arranged.connect(partial(room.append, True))
    before = view.least_height
    set_options(wide, curves=("risk", "distance", "hard_margin", "l1_margin", "norm_squared"))
    assert view.least_height > before
    assert view.plot.minimumHeight() >= 5 * LEAST_STRIP
    assert room


def test_values_that_are_not_positive_stay_on_a_linear_axis(wide: RunPanel) -> None:
    set_options(wide, curves=("distance", "integration_error", "hard_margin"), log_curves=True)
    view = wide.view("curves")
    assert isinstance(view, CurvesView)
    for strip, values in zip(view.strips, view._values, strict=True):
        assert strip.takes_log == bool((values > 0.0).any())


def test_singular_values_are_those_of_the_matrix(wide: RunPanel, data: DisplayData) -> None:
    view = wide.view("spectrum")
    assert isinstance(view, SpectrumView)
    frame, run = 31, data.run
    V = run.network.directions(run.network.physical(run.parameters(frame), float(run.rho[frame])))
    wanted = np.log10(np.linalg.svd(V, compute_uv=False))[:LEADING]
    found = data.background.trace(SPECTRUM, data.frames)[frame, : wanted.size]
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    largest = drawn(view, wanted.size - 1, data)[frame - 1]
    np.testing.assert_allclose(largest, wanted[0], atol=1e-9 + allowed(view))


def test_a_pull_asks_for_the_moment_in_every_view_of_curves(
    wide: RunPanel, data: DisplayData
) -> None:
    for name in ("margins", "curves", "spectrum"):
        plot = wide.view(name).plot
        box = plot.plot_area()
        moments: list[float] = []
        wide.moment_clicked.connect(moments.append)
        middle = box.center().toPoint()
        pull(plot, middle, QPoint(round(box.right()) + 9, middle.y()))
        assert data.coordinate[0] < moments[0] < moments[1] < data.coordinate[-1]
        assert moments[-1] == data.coordinate[-1]
        wide.moment_clicked.disconnect(moments.append)


def test_another_axis_is_taken_by_all_of_them(wide: RunPanel) -> None:
    set_options(wide, margin_axis="norm_squared")
    labels = {wide.view(name).plot.bottom.labelText for name in ("margins", "curves", "spectrum")}
    assert labels == {"|W|\u00b2"}


def test_curves_that_the_run_does_not_have_are_left_out(wide: RunPanel) -> None:
    set_options(wide, curves=("inner_displacement", "no such thing"))
    view = wide.view("curves")
    assert view.names == () if isinstance(view, CurvesView) else False
    assert view.plot.overlay.note == "choose curves in View, Choose curves"


def test_values_that_are_not_there_yet_are_awaited(panel: RunPanel, data: DisplayData) -> None:
    set_options(panel, curves=("risk",))
    panel.set_views(("curves",))
    view = panel.view("curves")
    assert view.plot.overlay.note == "computing ..."
    data.background.work(0.0)
    panel.on_values()
    panel.draw_pending()
    assert view.plot.overlay.note == ""
    assert np.isfinite(data.background.trace("risk", data.frames)).sum() == 1
    while data.background.work(1.0):
        panel.on_values()
        panel.draw_pending()
    assert np.isfinite(data.background.trace("risk", data.frames)).all()


def test_a_hidden_view_asks_for_nothing_more(panel: RunPanel, data: DisplayData) -> None:
    panel.set_views(("curves", "spectrum"))
    assert data.background.pending
    panel.set_views(("margins",))
    assert not data.background.pending
    assert panel.names == ("margins",)


# ------------------------------------------------------------------------------------- scales


def test_positive_values_over_decades_are_shown_by_their_logarithms() -> None:
    a, b = np.array([1.0, 2.0, np.nan]), np.array([1.0, 1e6, np.inf])
    extents = {"a": extent_of(a), "b": extent_of(b), "c": extent_of(-b), "d": Extent()}
    strips = stack_strips(extents, head=0.2)
    assert [strip.takes_log for strip in strips] == [False, True, False, False]
    assert [strip.shows for strip in strips] == ["plain", "log", "plain", "plain"]
    assert [(strip.start, strip.end) for strip in strips] == [(3, 4), (2, 3), (1, 2), (0, 1)]
    heights = strips[1].heights(np.array([1.0, 1e3, 1e6, 0.0, np.nan]))
    np.testing.assert_allclose(heights[[0, 2]].mean(), heights[1])
    assert 2.0 < heights[0] < heights[2] < 2.8
    assert np.isnan(heights[3:]).all()
    log = stack_strips({"a": extent_of(a), "log10_a": extent_of(a)}, logarithmic=True)
    assert [strip.takes_log for strip in log] == [True, False]  # which is a logarithm already
    assert [strip.shows for strip in log] == ["log", "log"]


@pytest.mark.parametrize("value", [0.0, 3.0, -1e-300, 1e80])
def test_a_constant_is_in_the_middle_of_its_strip(value: float) -> None:
    noisy = value * (1.0 + np.array([0.0, 1e-15]))
    strip = stack_strips({"a": extent_of(noisy), "b": Extent()})[0]
    np.testing.assert_allclose(strip.heights(noisy), 1.5, atol=1e-9)


@pytest.mark.parametrize("span", [0.01, 0.1, 0.3, 0.7, 1.2, 3.0, 40.0])
def test_short_logarithmic_axes_have_ticks(span: float) -> None:
    ticks = logarithmic(0.43, 0.43 + span, 6)
    assert 2 <= len(ticks) <= 8
    for place, text in ticks:
        assert 0.43 <= place <= 0.43 + span
        if span < 1.5 and "10" not in text:
            assert float(text) == pytest.approx(10**place, rel=0.01)


# -------------------------------------------------------------------------------------- later


def test_a_trace_is_coarse_at_first_and_whole_at_the_end() -> None:
    trace, order = Trace(100, 1), []
    while (frame := trace.missing(90)) >= 0:
        order.append(frame)
        trace.known[frame] = True
    assert order[:4] == [89, 0, 64, 16]
    assert sorted(order) == list(range(90))


def test_a_run_that_was_closed_is_left_alone(run_file: Path) -> None:
    run = open_run(run_file)
    later = BackgroundValues(run)
    later.request_traces("curves", ("risk",), run.frames)
    run.close()
    assert later.work(1.0)
    assert not later.pending
    assert not later.work(1.0)


def test_frames_that_come_later_are_computed_too(run_file: Path) -> None:
    with open_run(run_file) as run:
        later = BackgroundValues(run)
        later.request_traces("curves", ("risk",), 10)
        assert later.work(10.0)
        assert not later.pending
        later.request_traces("curves", ("risk",), run.planned_frames + 7)
        assert later.pending
        assert later.trace("risk", run.planned_frames + 7).shape == (run.planned_frames + 7, 1)


def test_the_header_is_shortened_before_it_is_cut(wide: RunPanel) -> None:
    header = wide.view("margins").header
    before = header.grab().toImage()
    wide.resize(330, 800)
    assert header.grab().toImage() != before
    assert header.toolTip() == f"{header.text}\n{HINT}"


def test_as_many_singular_values_are_shown_as_a_file_keeps() -> None:
    assert LEADING == spectrum.LEADING
