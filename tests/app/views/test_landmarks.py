"""2/eta stands dashed beside the sharpness on the screen, with its name and what it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.curves import CurvesView
from app.views.run_panel import RunPanel
from app.widgets.levels import LevelLine
from core.figures.palette import LIGHT
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.app.options import set_options, show_frame
from tests.recording import recorded

ETA = 0.25


@pytest.fixture
def data(tmp_path: Path) -> Iterator[DisplayData]:
    path = tmp_path / "run.msrun"
    sets = ["data.d=5", "data.n=12", "network.m=6", "recording.frames=12", "dynamics.kind=gd"]
    recorded(path, *sets, f"dynamics.step={ETA}", "dynamics.until_log10_time=1")
    with open_run(path) as run:
        shown = DisplayData(run)
        while not shown.complete:
            shown.update()
        yield shown


@pytest.fixture
def panel(qtbot: QtBot, data: DisplayData) -> RunPanel:
    panel = RunPanel(LIGHT)
    qtbot.addWidget(panel)
    panel.resize(600, 500)
    panel.set_data(data, "m = 6")
    set_options(panel, curves=("sharpness",))
    panel.set_views(("curves",))
    panel.show()
    qtbot.waitExposed(panel)
    show_frame(panel, data.frames - 1)
    return panel


@pytest.fixture
def view(panel: RunPanel) -> CurvesView:
    found = panel.view("curves")
    assert isinstance(found, CurvesView)
    return found


def finish(view: CurvesView, data: DisplayData) -> None:
    while data.background.work(1.0):
        view.on_values()
    view.on_values()


def line_of(view: CurvesView) -> LevelLine:
    (line,) = view.plot.overlay.levels
    return line


def test_the_line_is_there_with_the_curve(view: CurvesView, data: DisplayData) -> None:
    assert view.plot.overlay.levels == ()  # while nothing of the curve is known
    finish(view, data)
    line = line_of(view)
    assert line.label == "2 / eta"
    assert "Cohen" in line.tip
    assert line.colour == view.strong.curves[0][1].color().name()
    assert line.line
    assert line.value == pytest.approx(2.0 / ETA)
    _, _, bottom, top = view.region()
    largest = float(OBSERVABLES["sharpness"].trace(data.run).max())
    assert (bottom <= line.value <= top) == (line.value <= 2.5 * largest)


def test_it_stands_on_every_axis(view: CurvesView, data: DisplayData) -> None:
    view.set_names(("sharpness",), logarithmic=True)
    finish(view, data)
    assert line_of(view).value == pytest.approx(np.log10(2.0 / ETA))
    view.set_names(("smoothed_margin", "sharpness", "hard_margin"))
    finish(view, data)
    strip = view.strips[1]
    place = float(strip.heights(np.array([2.0 / ETA]))[0])
    assert line_of(view).value == pytest.approx(min(max(place, strip.start), strip.top))
    assert line_of(view).line == (strip.start <= place <= strip.top)
    view.set_names(("stability",))
    finish(view, data)
    assert (line_of(view).value, line_of(view).label) == (1.0, "edge")
    view.set_names(("distance",))
    finish(view, data)
    assert view.plot.overlay.levels == ()
