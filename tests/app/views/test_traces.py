"""The views of curves and of singular values, and what is computed for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.state.background_values import LEADING, SPECTRUM, BackgroundValues, Trace
from app.state.display import DisplayData
from app.views.curves import CurvesView, SpectrumView
from app.views.pixels import TOLERANCE
from app.views.run_panel import RunPanel
from app.widgets.axis import logarithmic
from app.widgets.header import HINT
from core.figures.ticks import CurveScale, scale_of, scaled
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
    """The heights of a curve at the frames but the first, between the corners that it has."""
    path = view.faint.curves[which][0]
    corners = [path.elementAt(k) for k in range(path.elementCount())]
    places = [corner.x for corner in corners]
    assert np.isin(places, data.log10_time).all()
    return np.interp(data.log10_time[1:], places, [corner.y for corner in corners])


def allowed(view: CurvesView | SpectrumView) -> float:
    """What a curve may be off by between its corners: a few hundredths of a pixel."""
    return TOLERANCE * view.plot.pixel_height()


def test_curves_are_the_tables_numbers(wide: RunPanel, data: DisplayData) -> None:
    view = wide.view("curves")
    for which, name in enumerate(NAMES):
        wanted = OBSERVABLES[name].trace(data.run)[1:]
        low, high = OBSERVABLES[name].trace(data.run).min(), OBSERVABLES[name].trace(data.run).max()
        assert view.scale is CurveScale.OWN
        share = (wanted - low) / (high - low)
        np.testing.assert_allclose(drawn(view, which, data), share, rtol=1e-9, atol=allowed(view))
    text = view.header.text
    assert OBSERVABLES["hard_margin"].title in text
    assert OBSERVABLES["distance"].title in text


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
        box = plot.inside()
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
    assert view.plot.overlay.note == "choose curves from the menu View, Curves"


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


def test_scales() -> None:
    a, b = np.array([1.0, 2.0, np.nan]), np.array([1.0, 1e6, np.inf])
    assert scale_of([]) is CurveScale.LINEAR
    assert scale_of([a]) is CurveScale.LINEAR
    assert scale_of([b]) is CurveScale.LOGARITHMIC
    assert scale_of([a, -b]) is CurveScale.OWN
    np.testing.assert_array_equal(scaled(b, CurveScale.LOGARITHMIC), [0.0, 6.0, np.nan])
    np.testing.assert_array_equal(scaled(-a, CurveScale.OWN), [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(scaled(np.full(2, 3.0), CurveScale.OWN), [0.0, 0.0])


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
    later.ask_traces("curves", ("risk",), run.frames)
    run.close()
    assert later.work(1.0)
    assert not later.pending
    assert not later.work(1.0)


def test_frames_that_come_later_are_computed_too(run_file: Path) -> None:
    with open_run(run_file) as run:
        later = BackgroundValues(run)
        later.ask_traces("curves", ("risk",), 10)
        assert later.work(10.0)
        assert not later.pending
        later.ask_traces("curves", ("risk",), run.planned + 7)
        assert later.pending
        assert later.trace("risk", run.planned + 7).shape == (run.planned + 7, 1)


def test_the_header_is_shortened_before_it_is_cut(wide: RunPanel) -> None:
    header = wide.view("curves").header
    before = header.grab().toImage()
    wide.resize(330, 800)
    assert header.grab().toImage() != before
    assert header.toolTip() == f"{header.text}\n{HINT}"


def test_as_many_singular_values_are_shown_as_a_file_keeps() -> None:
    assert LEADING == spectrum.LEADING
