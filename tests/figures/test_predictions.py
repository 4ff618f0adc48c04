"""Predictions lie dashed on the curves of figures and pages, with their band and their source."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from core.figures.export import figure_bytes
from core.figures.options import FigureOptions, ViewOptions
from core.figures.primitives import Panel
from core.figures.scene import build_scene
from core.observables.prediction import Prediction
from core.observables.registry import OBSERVABLES, PREDICTIONS
from core.runs import Run, open_run
from tests.recording import recorded
from tests.support.pages import page_of

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
CURVES = ("mode_strength", "log10_risk", "distance")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    folder = tmp_path_factory.mktemp("predictions")
    for init in ("aligned", "random"):
        recorded(folder / f"{init}.msrun", *SETTINGS, f"network.init={init}")
    with (
        open_run(folder / "aligned.msrun") as one,
        open_run(folder / "random.msrun") as other,
    ):
        yield {"aligned": one, "random": other}


def curves_of(run: Run, *names: str) -> Panel:
    look = ViewOptions(names or CURVES)
    return build_scene([run], ["curves"], options=FigureOptions(view=look)).panels[0]


def test_they_are_dashed_beside_their_curves(runs: dict[str, Run]) -> None:
    run = runs["aligned"]
    panel = curves_of(run)
    drawn = [one for one in panel.ink.curves if one.dash == "dashed"]
    assert [one.name for one in drawn] == ["predicted:mode_saxe", "predicted:log10_risk_matrix"]
    assert [one.text for one in panel.ink.words] == ["Saxe", "matrix solution"]
    for line, (k, name) in zip(drawn, enumerate(("mode_saxe", "log10_risk_matrix")), strict=True):
        wanted = panel.y.strips[k].heights(OBSERVABLES[name].trace(run))
        assert np.allclose(line.y[0], wanted, equal_nan=True)
    look = FigureOptions(view=ViewOptions(CURVES))
    svg = figure_bytes(build_scene([run], ["curves"], options=look), ".svg").decode()
    assert "Dashed: predictions" in svg


def test_a_run_without_a_known_solution_has_none(runs: dict[str, Run]) -> None:
    panel = curves_of(runs["random"])
    assert [one.dash for one in panel.ink.curves] == ["solid"] * 3
    assert panel.ink.words == ()
    look = FigureOptions(view=ViewOptions(CURVES))
    svg = figure_bytes(build_scene([runs["random"]], ["curves"], options=look), ".svg").decode()
    assert "predictions" not in svg


def test_pages_have_their_numbers_and_names(runs: dict[str, Run]) -> None:
    run = runs["aligned"]
    look = FigureOptions(view=ViewOptions(CURVES))
    (row,) = page_of([run], ["curves"], look)["rows"]
    drawn = [one for one in row["panels"]["curves"]["curves"] if one["dash"] == "dashed"]
    assert len(drawn) == 2
    for one, name in zip(drawn, ("mode_saxe", "log10_risk_matrix"), strict=True):
        assert np.allclose(one["values"], OBSERVABLES[name].trace(run), rtol=1e-6)
        assert one["ends"] == one["name"]


def test_a_band_is_two_thin_lines(runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs["aligned"]
    made = Prediction(
        name="line",
        of="distance",
        label="a line",
        title="a line",
        formula="t",
        source="tests",
        function=lambda run, t: t,
        suits=lambda run: True,
        condition=lambda run: "",
        where="any run",
        band=lambda run, t: np.array([t - 1.0, t + 1.0]),
    )
    monkeypatch.setitem(PREDICTIONS, "line", made)
    for item in made.make_observables(OBSERVABLES["distance"]):
        monkeypatch.setitem(OBSERVABLES, item.name, item)
    panel = curves_of(run, "distance")
    drawn = [one for one in panel.ink.curves if one.dash == "dashed"]
    middle, low, high = (one.y[0] for one in drawn)
    strip = panel.y.strips[0]
    for line, shift in ((middle, 0.0), (low, -1.0), (high, 1.0)):
        assert np.allclose(line, strip.heights(run.t + shift), equal_nan=True)
    assert [float(one.widths[0]) for one in drawn] == [1.2, 0.7, 0.7]
    assert [one.text for one in panel.ink.words] == ["a line"]
    assert panel.y.low <= np.nanmin(low[1:]) <= np.nanmax(high) <= panel.y.high
