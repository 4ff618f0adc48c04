"""2/eta stands dashed beside the sharpness, in figures and on pages, whatever the axis is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.figures.export import figure_bytes
from core.figures.options import FigureOptions, Region, ViewOptions
from core.figures.primitives import Level, Panel
from core.figures.scene import build_scene
from core.observables.registry import OBSERVABLES
from core.runs import Run, open_run
from tests.recording import recorded

ETA = 0.25


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    path = tmp_path_factory.mktemp("landmarks") / "run.msrun"
    sets = ["data.d=5", "data.n=12", "network.m=6", "recording.frames=12", "dynamics.kind=gd"]
    recorded(path, *sets, f"dynamics.step={ETA}", "dynamics.until_log10_time=1")
    with open_run(path) as opened:
        yield opened


def curves_of(run: Run, *names: str, **look: object) -> Panel:
    chosen = ViewOptions(names, **look)
    return build_scene([run], ["curves"], options=FigureOptions(view=chosen)).panels[0]


def lines_of(panel: Panel) -> list[Level]:
    return [one for one in panel.levels if one.dash == "dashed"]


def test_two_by_eta_is_beside_the_sharpness_alone(run: Run) -> None:
    panel = curves_of(run, "sharpness")
    (line,) = lines_of(panel)
    assert line.value == pytest.approx(2.0 / ETA)
    assert "eta" in line.label
    assert bytes(panel.ink.curves[0].colours[0, :3]).hex() == line.colour[1:]
    assert lines_of(curves_of(run, "hessian_2", "distance")) == []
    assert figure_bytes(
        build_scene([run], ["curves"], options=FigureOptions(view=ViewOptions(("sharpness",)))),
        ".svg",
    )


def test_a_line_far_above_is_named_with_an_arrow_and_one_near_is_on_the_axis(run: Run) -> None:
    largest = float(OBSERVABLES["sharpness"].trace(run).max())
    panel = curves_of(run, "sharpness")
    (line,) = lines_of(panel)
    near = 2.5 * largest >= 2.0 / ETA
    assert near == (panel.y.low <= line.value <= panel.y.high)  # else NaN
    assert near == ("uparrow" not in line.label)
    assert panel.y.low <= line.label_at <= panel.y.high
    region = Region(0, "curves", -1.0, 1.0, 0.0, 100.0)
    (line,) = lines_of(curves_of(run, "sharpness", regions=(region,)))
    assert "uparrow" not in line.label
    assert line.label_at >= line.value
    region = Region(0, "curves", -1.0, 1.0, 0.0, 1.0)
    (line,) = lines_of(curves_of(run, "sharpness", regions=(region,)))
    assert "uparrow" in line.label
    assert line.label_at <= 1.0


def test_it_stands_on_a_logarithmic_axis_and_in_its_strip(run: Run) -> None:
    (line,) = lines_of(curves_of(run, "sharpness", logarithmic=True))
    assert line.value == pytest.approx(np.log10(2.0 / ETA))
    panel = curves_of(run, "distance", "sharpness", "hard_margin")
    assert panel.y.label == ""
    (line,) = lines_of(panel)
    strip = panel.y.strips[1]
    place = float(strip.heights(np.array([2.0 / ETA]))[0])
    assert line.meaning == 2.0 / ETA
    if strip.start <= place <= strip.top:
        assert line.value == pytest.approx(place)
    else:  # it is named at the end of its strip, and crosses no other
        assert np.isnan(line.value) or not panel.y.low <= line.value <= panel.y.high
    assert strip.start <= line.label_at <= strip.end


def test_stability_has_its_line_at_one(run: Run) -> None:
    (line,) = lines_of(curves_of(run, "stability"))
    assert line.value == pytest.approx(1.0)
    assert line.label.endswith("edge")


def test_a_flow_has_no_such_line(tmp_path: Path) -> None:
    sets = ["data.d=5", "data.n=12", "network.m=6", "recording.frames=6"]
    recorded(tmp_path / "run.msrun", *sets, "dynamics.until_log10_time=1")
    with open_run(tmp_path / "run.msrun") as flow:
        assert lines_of(curves_of(flow, "sharpness")) == []
