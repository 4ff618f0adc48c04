"""The four views through real mouse events: what they show, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication

from app.state.display import DisplayData
from app.state.views import VIEWS
from app.views.run_panel import RunPanel
from app.views.sorted_nodes import MOST_MOMENTS
from core.figures.palette import DARK, LIGHT, node_colours, rgba
from core.observables.planes import NodePlane
from core.runs import open_run
from tests.app.mouse import LEFT, move, pixel, pull, wheel
from tests.app.options import mark_nodes, set_options, show_frame
from tests.recording import recorded


def lonely(data: DisplayData, frame: int) -> int:
    points = data.positions(np.array([frame]))[0]
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return int(distances.min(axis=1).argmax())


# ------------------------------------------------------------------------------------- neurons


def test_a_node_is_found_under_the_pointer(qtbot, panel: RunPanel, data: DisplayData) -> None:
    frame = data.frames - 10
    j = lonely(data, frame)
    x, y = data.positions(np.array([frame]))[0, j]
    with qtbot.waitSignal(panel.node_hovered, check_params_cb=lambda found: found == j):
        move(qtbot, panel.view("neurons").plot, x, y)
    with qtbot.waitSignal(panel.node_clicked, check_params_cb=lambda found: found == j):
        qtbot.mouseClick(
            panel.view("neurons").plot.viewport(), LEFT, pos=pixel(panel.view("neurons").plot, x, y)
        )
    half = panel.view("neurons").plot.visible_range().right()
    with qtbot.waitSignal(panel.node_clicked, check_params_cb=lambda found: found == -1):
        corner = pixel(panel.view("neurons").plot, 0.97 * half, 0.0)
        qtbot.mouseClick(panel.view("neurons").plot.viewport(), LEFT, pos=corner)


def test_leaving_the_view_ends_hovering(qtbot, panel: RunPanel) -> None:
    with qtbot.waitSignal(panel.node_hovered, check_params_cb=lambda found: found == -1):
        QApplication.sendEvent(panel.view("neurons").plot, QEvent(QEvent.Type.Leave))


def test_a_box_selects_the_nodes_inside(qtbot, panel: RunPanel, data: DisplayData) -> None:
    plot = panel.view("neurons").plot
    shown, points = plot.visible_range(), data.positions(np.array([data.frames - 10]))[0]
    start = pixel(plot, 0.98 * shown.right(), 0.98 * shown.bottom())
    with qtbot.waitSignal(panel.nodes_selected) as caught:
        pull(plot, start, pixel(plot, 0.0, 0.0))
    wanted = frozenset(np.flatnonzero((points > 0.05).all(axis=1)).tolist())
    assert wanted
    assert caught.args[0] >= wanted
    assert all((points[j] > -0.5).all() for j in caught.args[0])
    assert plot.overlay.box is None


def test_trails_and_nodes_have_the_colours_of_the_present(panel: RunPanel, data) -> None:
    frame = data.frames - 10
    view = panel.view("neurons")
    assert view.nodes.points.shape == (data.m, 2)
    strength = data.values("relative_norm", frame)
    strongest = int(np.argmax(strength))
    last = view.nodes.styles[view.nodes.which[-1]].colour  # drawn last, on top
    wanted = node_colours(data.signs(frame)[[strongest]], [1.0], LIGHT)[0]
    np.testing.assert_array_equal(last, wanted)
    used = {pen.color().name() for _, pen in view.trails.curves}
    assert len(view.trails.curves) <= 12
    kinds = {tuple(row) for row in node_colours(data.signs(frame), strength, LIGHT)}
    assert 1 < len(used) <= len(kinds) + 4
    corners = sum(path.elementCount() for path, _ in view.trails.curves)
    assert corners <= 128 * data.m


def test_the_data_are_scaled_and_it_is_said(panel: RunPanel, data: DisplayData) -> None:
    set_options(panel, neuron_range="run", neuron_points="weights")
    text = panel.view("neurons").header.text
    assert "data \u00d7" in text
    factor = float(text.split("\u00d7")[1])
    reach = float(np.abs(data.run.dataset.x[:, :2]).max())
    assert np.abs(panel.view("neurons").examples.points).max() == pytest.approx(
        factor * reach, rel=1e-6
    )


def test_a_unit_is_as_long_on_both_axes_and_the_range_stays(qtbot, panel: RunPanel, data) -> None:
    set_options(panel, neuron_range="run", neuron_points="weights")
    plot = panel.view("neurons").plot
    before = plot.visible_range()
    box = plot.plot_area()
    units = before.width() / box.width(), before.height() / box.height()
    assert units[0] == pytest.approx(units[1], rel=1e-6)
    for frame in (0, 20, data.frames - 1):
        show_frame(panel, frame)
        assert plot.visible_range() == before
    points = data.positions(np.arange(data.frames)).reshape(-1, 2)
    assert all(before.contains(QPointF(*point)) for point in points.tolist())
    panel.resize(700, 820)
    qtbot.wait(10)
    box, shown = plot.plot_area(), plot.visible_range()
    assert shown.width() / box.width() == pytest.approx(shown.height() / box.height(), rel=1e-6)


def test_other_coordinates(panel: RunPanel, data: DisplayData) -> None:
    before = panel.view("neurons").nodes.points.copy()
    panel.set_plane(NodePlane("coordinates", (5, 6)))
    assert not np.array_equal(before, panel.view("neurons").nodes.points)
    assert panel.view("neurons").plot.bottom.labelText == "coordinate 6"


# ------------------------------------------------------------------------------ zoom and reset


@pytest.mark.parametrize("name", ["neurons", "rotations", "norms", "margins"])
def test_the_wheel_zooms_and_a_double_click_resets(qtbot, panel: RunPanel, name: str) -> None:
    plot = panel.view(name).plot
    before, here = plot.visible_range(), plot.plot_area().center().toPoint()
    place = plot.place(here.x(), here.y())
    wheel(plot, here, 3)
    assert plot.visible_range().width() < 0.8 * before.width()
    assert plot.place(here.x(), here.y()) == pytest.approx(place, abs=1e-6)
    panel.data_grew()
    panel.draw_pending()
    assert plot.visible_range().width() < 0.8 * before.width()
    pull(plot, here, here + QPoint(30, 10), Qt.MouseButton.RightButton)
    assert plot.place(here.x() + 30, here.y() + 10) == pytest.approx(place, abs=1e-3)
    qtbot.mouseDClick(plot.viewport(), LEFT, pos=here)
    assert plot.visible_range() == before


# -------------------------------------------------------------------------------- sorted views


@pytest.mark.parametrize(("name", "kind"), [("rotations", "rotation"), ("norms", "relative_norm")])
def test_sorted_curves(qtbot, panel: RunPanel, data: DisplayData, name: str, kind: str) -> None:
    view, frame = panel.view(name), data.frames - 10
    nodes = data.sorted_nodes(kind, frame)
    assert 1 < view.past.shown <= MOST_MOMENTS
    path, pen = view.current.curves[0]
    drawn = [path.elementAt(k).y for k in range(path.elementCount())]
    np.testing.assert_allclose(drawn, nodes.values, rtol=1e-5)
    assert pen.width() > 1
    place = 0 if name == "rotations" else data.m - 1
    x, y = (place + 1) / data.m, float(nodes.values[place])
    j = int(nodes.order[place])
    with qtbot.waitSignal(panel.node_hovered, check_params_cb=lambda found: found == j):
        move(qtbot, view.plot, x, y)
    show_frame(panel, 0)
    assert view.past.shown == 0


def test_marked_nodes_are_marked_in_every_view(panel: RunPanel, data: DisplayData) -> None:
    mark_nodes(panel, 5, frozenset({2, 9}))
    assert panel.view("neurons").marked_trails.curves
    for view in (panel.view("neurons"), panel.view("rotations"), panel.view("norms")):
        marks = view.plot.overlay.marks
        assert {mark.label for mark in marks} == {"neuron 2", "neuron 5", "neuron 9"}
        assert [mark.label for mark in marks if mark.hovered] == ["neuron 5"]
        assert all(mark.numbers for mark in marks)
    assert panel.view("margins").plot.overlay.corner[0].startswith("neuron 5: a ")
    x, y = data.positions(np.array([data.frames - 10]))[0, 5]
    mark = panel.view("neurons").plot.overlay.marks[-1]
    assert (mark.x, mark.y) == pytest.approx((x, y))
    mark_nodes(panel, -1, frozenset(range(10)))
    assert panel.view("neurons").plot.overlay.marks == ()
    mark_nodes(panel, -1, frozenset())
    assert panel.view("neurons").marked_trails.curves == []


# ------------------------------------------------------------------------------------- margins


@pytest.mark.parametrize("axis", ["log10_time", "step", "norm_squared"])
def test_a_click_asks_for_a_moment(qtbot, panel: RunPanel, data: DisplayData, axis: str) -> None:
    set_options(panel, margin_axis=axis)
    plot, asked = panel.view("margins").plot, []
    panel.moment_clicked.connect(asked.append)
    for frame in (3, 40):
        place = float(panel.view("margins").places[frame])
        qtbot.mouseClick(plot.viewport(), LEFT, pos=pixel(plot, place, 0.0))
        shown, most = plot.visible_range().width(), np.diff(panel.view("margins").places).max()
        found = panel.view("margins").places[data.frame_at(asked[-1])]
        assert abs(found - place) <= 1.5 * shown / plot.plot_area().width() + most
    pull(plot, pixel(plot, place, 0.0), plot.plot_area().topLeft().toPoint())
    # |W|^2 falls at first, so that its least value is not the first frame's.
    assert data.frame_at(asked[-1]) == int(np.argmin(panel.view("margins").places))


def test_the_cursor_stands_at_the_frame(panel: RunPanel, data: DisplayData) -> None:
    show_frame(panel, 30)
    assert panel.view("margins").plot.overlay.cursor == pytest.approx(data.log10_time[30])
    path = panel.view("margins").strong.curves[0][0]
    assert path.elementAt(0).x == data.log10_time[1]  # t = 0 has no place on the axis
    assert path.elementAt(path.elementCount() - 1).x == data.log10_time[30]
    assert path.elementAt(path.elementCount() - 1).y == pytest.approx(data.margins[30, 0])
    shown = panel.view("margins").plot.visible_range()
    assert shown.top() > data.margins[:, 1].min()  # where the smoothed margin starts
    assert shown.bottom() > data.margins[:, 0].max()


# --------------------------------------------------------------------------------------- panel


def test_colours_change_everywhere(qtbot, panel: RunPanel) -> None:
    panel.set_colours(DARK)
    image = panel.grab().toImage()
    ground = tuple(rgba(DARK.background)[:3].tolist())
    colours = [image.pixelColor(x, y) for x in (2, 450) for y in (2, 60, 795)]
    assert all((c.red(), c.green(), c.blue()) == ground for c in colours)
    panel.set_colours(LIGHT)
    assert panel.grab().toImage().pixelColor(2, 2).name() == LIGHT.background


def test_without_a_run_there_is_a_message(qtbot, panel: RunPanel, data: DisplayData) -> None:
    panel.set_data(None, "")
    panel.message.setText("Choose a study.")
    assert panel.message.isVisible()
    assert not panel.view("neurons").isVisible()
    show_frame(panel, 3)
    mark_nodes(panel, 1, frozenset({1}))
    panel.data_grew()
    panel.draw_pending()
    panel.set_data(data, "m = 16")
    show_frame(panel, 10_000)
    assert not panel.message.isVisible()
    assert panel.heading.text() == "m = 16"
    assert panel.view("neurons").nodes.points.shape == (data.m, 2)
    assert panel.view("norms").plot.overlay.marks[0].label == "neuron 1"


def test_a_growing_run_enlarges_ranges_only(qtbot, run_file) -> None:
    with open_run(run_file) as run:
        data = DisplayData(run)
        panel = RunPanel(LIGHT)
        qtbot.addWidget(panel)
        panel.resize(800, 700)
        set_options(panel, neuron_range="run", neuron_points="weights")
        panel.set_data(data, "")
        panel.show()
        assert panel.view("neurons").nodes.points.size == 0
        reach = 0.0
        while not data.complete:
            data.update(0.0)
            panel.data_grew()
            panel.draw_pending()
            show_frame(panel, data.frames - 1)
            shown = panel.view("neurons").plot.visible_range().right()
            assert shown >= reach or data.frames <= 2 or data.complete
            reach = shown
        panel.grab()


def test_a_frame_keeps_its_scale_while_the_run_grows(qtbot, tmp_path) -> None:
    path = tmp_path / "far.msrun"
    recorded(path, "recording.frames=30", "dynamics.until_log10_time=10000")
    with open_run(path) as run:
        data = DisplayData(run)
        panel = RunPanel(LIGHT)
        qtbot.addWidget(panel)
        set_options(panel, neuron_range="run", neuron_points="weights")
        panel.set_data(data, "")
        while data.update(0.0) < 5:
            pass
        panel.data_grew()
        panel.draw_pending()
        show_frame(panel, 4)
        early = panel.view("neurons").nodes.points.copy()
        while not data.complete:
            data.update()
        panel.data_grew()
        panel.draw_pending()
        assert panel.view("neurons").power >= 4
        late = panel.view("neurons").nodes.points * 10.0 ** panel.view("neurons").power
        np.testing.assert_allclose(late, early, rtol=1e-5)
        assert panel.view("margins").plot.bottom.labelText.endswith(" t")
        show_frame(panel, 29)
        assert panel.grab().width() > 0


# ------------------------------------------------------------------------------- many views


def test_views_that_are_behind_are_drawn_in_turn(
    panel: RunPanel, data: DisplayData, monkeypatch: pytest.MonkeyPatch
) -> None:
    useful = [name for name in VIEWS if VIEWS[name].fits(data)]
    panel.set_views(tuple(useful))
    drawn: list[str] = []

    def noting(name: str, refit: Callable[[DisplayData], None]) -> Callable[[DisplayData], None]:
        def noted(data: DisplayData) -> None:
            drawn.append(name)
            refit(data)

        return noted

    for name in useful:
        view = panel.view(name)
        monkeypatch.setattr(view, "refit", noting(name, view.refit))
    panel.data_grew()
    show_frame(panel, 3)
    assert not drawn
    for count in range(1, len(useful) + 1):
        assert panel.pending
        panel.draw_pending(0.0)
        assert len(set(drawn)) == count
        panel.data_grew()  # those that wait keep their places
    assert drawn and set(drawn) == set(useful)
    panel.draw_pending()
    assert not panel.pending
    assert {panel.view(name).frame for name in useful} == {3}


def test_views_have_the_whole_width_whatever_was_shown_before(qtbot, panel: RunPanel) -> None:
    panel.resize(400, 700)
    for before in (("neurons", "rotations", "norms"), tuple(VIEWS)):
        panel.set_views(before)
        panel.arrange(2, None, None)
        qtbot.waitUntil(lambda: panel.view("rotations").x() > 0)
        panel.set_views(("neurons", "margins"))
        panel.arrange(1, None, None)
        qtbot.waitUntil(lambda: {view.width() for view in panel.views} == {panel.width()})
