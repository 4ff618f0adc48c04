"""Predictions lie dashed on the curves of the window, computed beside the painting thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.style import small
from app.views.curves import CurvesView
from app.views.run_panel import RunPanel
from app.widgets.strips import title_rooms
from core.figures.palette import LIGHT
from core.observables.registry import PREDICTIONS
from core.runs import open_run
from tests.app.options import set_options, show_frame
from tests.recording import recorded

SETTINGS = (
    "data.kind=orthonormal",
    "network.kind=linear",
    "network.m=5",
    "loss.kind=least_squares",
    "dynamics.kind=gd",
    "dynamics.step=0.02",
    "dynamics.until_log10_time=1.2",
    "recording.frames=24",
)


@pytest.fixture
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DisplayData]:
    path = tmp_path / "run.msrun"
    recorded(path, *SETTINGS, f"network.init={request.param}")
    with open_run(path) as run:
        shown = DisplayData(run)
        while not shown.complete:
            shown.update()
        yield shown


@pytest.fixture
def view(qtbot: QtBot, data: DisplayData) -> CurvesView:
    panel = RunPanel(LIGHT)
    qtbot.addWidget(panel)
    panel.resize(600, 500)
    panel.set_data(data, "linear")
    set_options(panel, curves=("mode_strength", "log10_risk", "distance"))
    panel.set_views(("curves",))
    panel.show()
    qtbot.waitExposed(panel)
    show_frame(panel, data.frames - 1)
    found = panel.view("curves")
    assert isinstance(found, CurvesView)
    return found


def finish(view: CurvesView, data: DisplayData) -> None:
    while data.background.work(1.0):
        view.on_values()
    view.on_values()


@pytest.mark.parametrize("data", ["aligned"], indirect=True)
def test_the_first_that_applies_lies_on_its_curve(
    view: CurvesView, data: DisplayData, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not [one for one in view._lines if one.sign == "dashed"]  # nothing is known yet
    finish(view, data)
    drawn = [one for one in view._lines if one.sign == "dashed"]
    assert [one.name for one in drawn] == ["Saxe", "matrix solution"]
    for line, name in zip(drawn, ("mode_saxe", "log10_risk_matrix"), strict=True):
        column = PREDICTIONS[name].function(data.run, data.run.t)
        assert np.allclose(line.plain, column, rtol=1e-12)
        assert line.colour == LIGHT.theory
    labels = {one.label: one for one in view.plot.overlay.levels}
    tip = labels["Saxe"].tip
    apart = np.abs(view._values[0] - drawn[0].plain).max()
    assert "saxe14" in tip
    assert f"at most {apart:.3f}"[:11] in tip.replace("at most .", "at most 0.")
    # Once known, no redraw computes it: neither a step in time nor another size.
    for one in PREDICTIONS.values():
        monkeypatch.setitem(data.run.memo, (type(one), one.name), "must not be read")
    view.refit(data)
    assert [one.name for one in view._lines if one.sign == "dashed"] == ["Saxe", "matrix solution"]


@pytest.mark.parametrize("data", ["random"], indirect=True)
def test_nothing_lies_on_a_curve_of_which_nothing_is_known(
    view: CurvesView, data: DisplayData
) -> None:
    assert view.plot.overlay.levels == ()  # while the reason is not known
    finish(view, data)
    assert [one.sign for one in view._lines] == ["line"] * 3
    labels = view.plot.overlay.levels
    assert [one.label for one in labels] == ["no prediction"] * 2
    assert all("the start is not balanced" in one.tip for one in labels)
    assert all(one.tip.count("not balanced") == 1 for one in labels)


@pytest.mark.parametrize("data", ["balanced"], indirect=True)
def test_labels_keep_off_the_titles_of_strips(view: CurvesView, data: DisplayData) -> None:
    finish(view, data)
    for width in (170, 240, 400):
        view.window().resize(width, 300)
        view.plot.grab()
        boxes = [one.box for one in view.plot.drawn_levels]
        assert len(boxes) == 2
        plot, titles = view.plot, view.plot.overlay.titles
        rooms = title_rooms(titles, plot.plot_area(), small(plot.font()), plot)
        assert len(rooms) == 3
        assert not [1 for box in boxes for room in rooms if box.intersects(room)]
