"""The view of directions with extremal vectors: what it draws, its key, and what a tip says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.neurons import NeuronsView
from app.views.run_panel import RunPanel
from core.figures.palette import DARK, LIGHT
from core.figures.rays import TIP, rays_of, why_no_rays
from core.observables.planes import NodePlane
from core.observables.projection import Projection
from core.problem.problem import resolve_problem
from core.reference.extremal import extremal_vectors
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.app.mouse import move
from tests.app.options import set_options


def trained(path: Path, points: dict[str, Any]) -> Path:
    tables = {
        "data": points,
        "network": {"m": 6, "init": "balanced"},
        "loss": {"kind": "least_squares"},
        "dynamics": {"kind": "plain_flow", "until_log10_time": 0.5},
        "recording": {"frames": 6},
    }
    train(resolve_problem(build_experiment(tables, "rays")), partial(Recorder, path))
    return path


@pytest.fixture
def data(tmp_path: Path) -> Iterator[DisplayData]:
    with open_run(trained(tmp_path / "a.msrun", {"kind": "orthonormal"})) as run:
        shown = DisplayData(run)
        while not shown.complete:
            shown.update()
        yield shown


@pytest.fixture
def view(panel: RunPanel) -> NeuronsView:
    shown = panel.view("neurons")
    assert isinstance(shown, NeuronsView)
    return shown


def known(data: DisplayData) -> np.ndarray:
    x, y = data.run.dataset.x, data.run.dataset.y
    return TIP * np.array([one.u for one in extremal_vectors(x, y)])


def test_directions_have_rays_and_weights_have_none(
    panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    assert not view.rays.lines.curves and not len(view.rays.tips.points)
    assert "G >" not in view.header.text
    set_options(panel, neuron_range="moment", neuron_points="directions")
    assert np.abs(view.rays.tips.points - known(data)[:, :2]).max() < 1e-6
    dashed = [pen for _, pen in view.rays.lines.curves if pen.dashPattern()]
    assert len(view.rays.lines.curves) == 2 + 6 and len(dashed) == 4
    shown = view.plot.visible_range()
    assert shown.right() > TIP and shown.top() < -TIP
    assert view.header.key.endswith("G > 0, G < 0, saddle")
    set_options(panel, neuron_range="moment", neuron_points="weights")
    assert not view.rays.lines.curves and not len(view.rays.tips.points)
    assert "saddle" not in view.header.key


def test_another_plane_has_other_tips(
    panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    set_options(panel, neuron_range="moment", neuron_points="directions")
    data.set_plane(NodePlane("coordinates", (2, 3)))
    view.redraw()
    assert np.abs(view.rays.tips.points - known(data)[:, 2:]).max() < 1e-6


def test_a_tip_says_what_it_is(
    qtbot: QtBot, panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    set_options(panel, neuron_range="moment", neuron_points="directions")
    told: list[int] = []
    view.node_hovered.connect(told.append)
    move(qtbot, view.plot, *known(data)[5, :2])
    pointed = view.plot.overlay.pointed
    assert pointed.text.splitlines()[0] == "extremal: maximum of G"
    assert pointed.text.splitlines()[2] == "active on 2 of 4"
    assert pointed.text.splitlines()[1] == "G = 0.2795"
    assert told[-1] == -1  # no node is marked as well
    # A node beside it that is nearer to the pointer than the tip is what is meant.
    beside = np.array([[0.9, 0.45]])
    for at, is_tip in ((known(data)[5:, :2], True), (beside, False)):
        x, y = view.plot.pixels(at)[0].tolist()
        assert (view.rays.readout_at(x, y, beside) is not None) == is_tip
    move(qtbot, view.plot, -0.9, -0.9)
    assert view.plot.overlay.pointed is None


def test_colours_are_the_palettes(panel: RunPanel, view: NeuronsView) -> None:
    set_options(panel, neuron_range="moment", neuron_points="directions")
    for palette in (DARK, LIGHT):
        panel.set_colours(palette)
        drawn = {pen.color().name() for _, pen in view.rays.lines.curves[2:]}
        assert drawn == {palette.positive, palette.negative}
        grey = view.rays.lines.curves[0][1].color()
        assert grey.name() == palette.muted and grey.alpha() < 255


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ({"n": 8, "d": 3}, ""),
        ({"n": 201, "d": 2}, "no rays: n > 200"),
        ({"n": 40, "d": 3}, "no rays: over 8000 sign vectors"),
    ],
)
def test_too_many_examples_for_rays_are_told(
    view: NeuronsView, tmp_path: Path, points: dict[str, int], why: str
) -> None:
    """2 C(40, 2) 9 = 14,040 of them."""
    path = trained(tmp_path / "many.msrun", {"kind": "regression", **points})
    layer = view.rays
    with open_run(path) as run:
        projection = Projection(run, NodePlane("coordinates", (0, 1)))
        assert why_no_rays(run) == why
        assert (rays_of(projection) is None) == bool(why)
        layer.show(projection, LIGHT)
        told = [entry.text for entry in layer.entries(LIGHT)]
        assert (told == [why]) if why else all("rays" not in one for one in told)
        layer.show(None, LIGHT)
        assert not layer.entries(LIGHT)
