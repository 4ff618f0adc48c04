"""How far the neurons' view reaches, and what stands there for a node."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.neurons import NeuronsView
from app.views.run_panel import RunPanel
from app.widgets.axis import rooted
from core.figures.camera import signed_root
from core.figures.palette import DARK
from core.observables.node_coordinates import positions
from tests.app.mouse import LEFT, move, pixel, pull
from tests.app.options import mark_nodes, set_options, show_frame


@pytest.fixture
def view(panel: RunPanel) -> NeuronsView:
    shown = panel.view("neurons")
    assert isinstance(shown, NeuronsView)
    return shown


def test_at_every_moment_all_nodes_are_inside_and_fill_the_view(
    panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    """Figure 1's nodes grow from .2 to 30: in the range of the whole run the first are a dot."""
    reaches, extents = [], []
    for frame in range(data.frames):
        show_frame(panel, frame)
        shown = view.plot.visible_range()
        assert all(shown.contains(QPointF(*point)) for point in view.nodes.points.tolist())
        extent = float(np.abs(positions(data.run, frame)[:, :2]).max())
        reaches.append(shown.width())
        extents.append(extent)
        assert extent > 0.4 * min(shown.right(), shown.bottom())
    assert reaches[-1] > 50.0 * reaches[0]
    # A camera that glides is never faster than the nodes.
    steepest = np.abs(np.diff(np.log10(extents))).max()
    assert np.abs(np.diff(np.log10(reaches))).max() <= steepest + 1e-6


def test_the_same_moment_is_the_same_picture(panel: RunPanel, view: NeuronsView) -> None:
    show_frame(panel, 20)
    first = view.plot.visible_range()
    for frame in (59, 3, 20):
        show_frame(panel, frame)
    assert view.plot.visible_range() == first


def test_the_data_stay_at_their_place_while_the_camera_moves(
    panel: RunPanel, view: NeuronsView
) -> None:
    places = []
    for frame in (2, 30, 59):
        show_frame(panel, frame)
        places.append(view.plot.pixels(view.examples.points))
    assert np.ptp(places, axis=0).max() < 0.5
    assert float(view.header.text.split("\u00d7")[1]) > 1.0


def test_the_range_of_the_whole_run_stays(
    qtbot: QtBot, panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    set_options(panel, neuron_range="run", neuron_points="weights")
    assert view.header.text.startswith("neurons") and "whole run" in view.header.text
    before = view.plot.visible_range()
    for frame in (0, 20, data.frames - 1):
        show_frame(panel, frame)
        assert view.plot.visible_range() == before
    points = data.positions(np.arange(data.frames)).reshape(-1, 2)
    assert all(before.contains(QPointF(*point)) for point in points.tolist())


def test_signed_roots_say_the_numbers_themselves(
    qtbot: QtBot, panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    set_options(panel, neuron_range="root", neuron_points="weights")
    frame = panel.frame
    points = positions(data.run, frame)[:, :2]
    order = np.lexsort(view.nodes.points.T)
    expected = signed_root(points) / 10.0 ** (0.5 * view.power)
    np.testing.assert_allclose(
        view.nodes.points[order], expected[np.lexsort(expected.T)], rtol=1e-5, atol=1e-6
    )
    j = int(np.abs(points).max(axis=1).argmax())
    with qtbot.waitSignal(panel.node_hovered, check_params_cb=lambda node: node == j):
        move(qtbot, view.plot, *expected[j])
    mark_nodes(panel, j, frozenset())
    (mark,) = view.plot.overlay.marks
    numbers = [float(text.replace("\u2212", "-")) for text in mark.numbers[1:-1].split(", ")]
    assert numbers == pytest.approx(points[j].tolist(), rel=0.02)


def test_ticks_of_roots_are_squares() -> None:
    ticks = dict(rooted(-4.2, 4.2, 5))
    assert ticks[2.0] == "4" and ticks[-4.0] == "\u221216" and ticks[0.0] == "0"
    assert all(text == "0" or float(text.replace("\u2212", "-")) != 0 for text in ticks.values())


def test_directions_have_length_one_and_areas_as_the_norms(
    qtbot: QtBot, panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    set_options(panel, neuron_range="moment", neuron_points="directions")
    frame = panel.frame
    rows = positions(data.run, frame)
    norms = np.linalg.norm(rows, axis=1)
    expected = (rows / norms[:, None])[:, :2]
    order = np.argsort(data.values("relative_norm", frame), kind="stable")
    np.testing.assert_allclose(view.nodes.points, expected[order], rtol=1e-5, atol=1e-6)
    assert np.hypot(*view.nodes.points.T).max() <= 1.0 + 1e-6
    sizes = np.array([view.nodes.styles[style].size for style in view.nodes.which])
    large = norms[order] > 0.05 * norms.max()
    areas = (sizes[large] / sizes.max()) ** 2
    # Twelve sizes in all: half a step of 1/11 of the largest diameter.
    assert np.abs(np.sqrt(areas) - np.sqrt(norms[order][large] / norms.max())).max() <= 0.5 / 11.0
    assert view.header.text.startswith("directions") and "data / |x|" in view.header.text
    shown = view.plot.visible_range()
    assert shown.right() >= 1.0 and shown.bottom() >= 1.0
    show_frame(panel, 3)
    assert view.plot.visible_range() == shown
    x = data.run.dataset.x
    unit = (x / np.linalg.norm(x, axis=1)[:, None])[:, :2]
    assert np.abs(view.examples.points).max() == pytest.approx(np.abs(unit).max())


def test_a_node_of_length_0_has_no_direction(
    panel: RunPanel, view: NeuronsView, data: DisplayData, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_options(panel, neuron_range="moment", neuron_points="directions")
    whole = DisplayData.positions

    def with_gap(self: DisplayData, frames: np.ndarray, power: int = 0) -> np.ndarray:
        points = whole(self, frames, power).copy()
        points[:, 2] = np.nan
        points[1:2, 5] = np.nan
        return points

    monkeypatch.setattr(DisplayData, "positions", with_gap)
    show_frame(panel, 40)
    assert view.nodes.points.shape == (data.m - 1, 2)
    for path, _ in view.trails.curves:
        places = [path.elementAt(k) for k in range(path.elementCount())]
        assert all(np.isfinite((place.x, place.y)).all() for place in places)


def test_a_box_selects_what_it_shows(
    qtbot: QtBot, panel: RunPanel, view: NeuronsView, data: DisplayData
) -> None:
    set_options(panel, neuron_range="root", neuron_points="weights")
    shown, points = view.plot.visible_range(), positions(data.run, panel.frame)[:, :2]
    corner = pixel(view.plot, 0.98 * shown.right(), 0.98 * shown.bottom())
    with qtbot.waitSignal(panel.nodes_selected) as caught:
        pull(view.plot, corner, pixel(view.plot, 0.0, 0.0))
    clear = frozenset(np.flatnonzero((points > 0.05).all(axis=1)).tolist())
    assert clear and caught.args[0] >= clear
    assert all((points[j] > -0.05).all() for j in caught.args[0])


def test_another_picture_ends_a_zoom_and_keeps_the_pins(
    qtbot: QtBot, panel: RunPanel, view: NeuronsView
) -> None:
    mark_nodes(panel, -1, frozenset({2}))
    home = view.plot.visible_range()
    view.plot.setFocus()
    qtbot.mouseClick(view.plot.viewport(), LEFT, pos=pixel(view.plot, 0.0, 0.0))
    set_options(panel, neuron_range="run", neuron_points="weights")
    panel.set_colours(DARK)
    set_options(panel, neuron_range="moment", neuron_points="weights")
    assert view.plot.visible_range() == home
    assert [mark.label for mark in view.plot.overlay.marks] == ["neuron 2"]


def test_what_is_no_picture_is_refused(panel: RunPanel) -> None:
    with pytest.raises(ValueError, match="not a range"):
        set_options(panel, neuron_range="near", neuron_points="weights")
