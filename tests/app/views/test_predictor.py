"""The view of the predictor: values, level lines, and what it asks for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.background_values import PredictorQuestion, answer
from app.state.display import DisplayData
from app.views.predictor import PredictorView
from app.views.run_panel import RunPanel
from core.figures.level_lines import contour
from core.figures.palette import LIGHT, rgb
from core.figures.predictor import sign_colours
from core.observables.planes import NodePlane
from core.observables.predictor_values import flat_values
from tests.app.options import show_frame
from tests.app.views.test_every_network import compute, shown

LINE = (
    "data.kind=intervals",
    "network.kind=bias",
    "loss.kind=squared",
    "dynamics.kind=gd",
    "recording.frames=10",
    "dynamics.until_log10_time=1",
)


def predictor(panel: RunPanel, data: DisplayData) -> PredictorView:
    panel.set_views(("predictor",))
    compute(panel, data)
    view = panel.view("predictor")
    assert isinstance(view, PredictorView)
    return view


def test_a_slice_is_the_network_at_its_points(data: DisplayData) -> None:
    run, frame = data.run, data.frames - 1
    found = answer(run, PredictorQuestion(frame, (3, 1), (-1.0, 1.0, 5), (0.0, 2.0, 3)))
    arrays = run.network.unpack(run.network.physical(run.parameters(frame), float(run.rho[frame])))
    for row, second in enumerate((0.0, 1.0, 2.0)):
        for column, first in enumerate((-1.0, -0.5, 0.0, 0.5, 1.0)):
            x = np.zeros(run.dataset.d)
            x[3], x[1] = first, second
            wanted = arrays["a"] @ np.maximum(arrays["V"] @ x, 0.0)
            value = found.values[row, column] * 10.0**found.log10_scale
            assert value == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_the_picture_has_the_colours_of_the_signs(panel: RunPanel, data: DisplayData) -> None:
    view = predictor(panel, data)
    question = data.background.answer.question
    assert question.frame == data.frames - 10
    assert question.axes == (0, 1)
    home = view.plot.visible_range()
    assert question.first[:2] == (home.left(), home.right())
    values = data.background.answer.values
    image = view.picture.image
    for row, column in ((0, 0), (5, 90), (100, 20), (127, 127)):
        pixel = image.pixelColor(column, row)
        nearer = {
            sign: np.linalg.norm(np.array([pixel.red(), pixel.green(), pixel.blue()]) - rgb(colour))
            for sign, colour in ((-1, LIGHT.negative), (1, LIGHT.positive))
        }
        assert min(nearer, key=nearer.get) == np.sign(values[row, column])
    assert "f = 0" in view.header.text
    assert "slice: other coordinates 0" in view.header.text


def test_it_follows_frames_zooms_and_coordinates(panel: RunPanel, data: DisplayData) -> None:
    view = predictor(panel, data)
    show_frame(panel, 3)
    assert data.background.pending
    compute(panel, data)
    assert data.background.answer.question.frame == 3
    view.plot.view.setRange(xRange=(0.0, 0.1), padding=0.0)
    compute(panel, data)
    assert data.background.answer.question.first[:2] == pytest.approx((0.0, 0.1))
    panel.set_plane(NodePlane("coordinates", (4, 7)))
    compute(panel, data)
    assert data.background.answer.question.axes == (4, 7)
    assert view.plot.bottom.labelText == "coordinate 5"
    panel.set_plane(NodePlane("coordinates", (4, 99)))
    assert view.plot.overlay.note == "the inputs have no coordinate 100"
    panel.set_plane(NodePlane())
    assert view.plot.overlay.note == ""


def test_inputs_of_one_coordinate_have_a_curve(qtbot: QtBot, tmp_path: Path) -> None:
    data = shown(tmp_path, LINE)
    with data.run as run:
        panel = RunPanel(LIGHT)
        qtbot.addWidget(panel)
        panel.set_data(data, "")
        show_frame(panel, data.frames - 1)
        view = predictor(panel, data)
        path = view.line.curves[0][0]
        points = np.array([(e.x, e.y) for e in map(path.elementAt, range(path.elementCount()))])
        frame = data.frames - 1
        flat = run.network.physical(run.parameters(frame), float(run.rho[frame]))
        arrays = run.network.unpack(flat)
        hidden = np.maximum(points[:, :1] * arrays["V"].T + arrays["b"], 0.0)
        np.testing.assert_allclose(points[:, 1], hidden @ arrays["a"], atol=1e-9)
        x = run.dataset.x[:, 0]
        assert points[0, 0] < x.min() < x.max() < points[-1, 0]
        heights = {round(float(y), 6) for y in view.examples.points[:, 1]}
        assert heights == {-1.0, 1.0}
        panel.set_data(None, "")


SPURIOUS = (
    "data.kind=spurious",
    "network.m=8",
    "loss.kind=least_squares",
    "dynamics.kind=gd",
    "recording.frames=10",
    "dynamics.until_log10_time=1",
)


def test_real_targets_have_the_colours_that_f_has(qtbot: QtBot, tmp_path: Path) -> None:
    data = shown(tmp_path, SPURIOUS)
    with data.run as run:
        panel = RunPanel(LIGHT)
        qtbot.addWidget(panel)
        panel.resize(600, 500)
        panel.set_data(data, "")
        panel.show()
        qtbot.waitExposed(panel)
        show_frame(panel, data.frames - 1)
        view = predictor(panel, data)
        assert view.header.text.split("  ")[1] == "data coloured by y"
        np.testing.assert_array_equal(view.examples.points, run.dataset.x[:, :2])
        found = data.background.answer
        f = found.fitted * 10.0**found.log10_scale
        for place, (target, value) in enumerate(zip(run.dataset.y, f, strict=True)):
            x, y = view.plot.pixels(run.dataset.x[place : place + 1, :2])[0]
            text = view._readout_at(x + 1.0, y).text
            numbers = [part.partition(" = ")[2] for part in text.replace("\n", ", ").split(", ")]
            wanted = (target, value, target - value)
            for number, one in zip(numbers, wanted, strict=True):
                assert float(number.replace("\u2212", "-")) == pytest.approx(one, rel=5e-3)
        # One scale for both: a target beyond all of f has the deepest colour.
        reach = max(
            np.abs(found.values).max() * 10.0**found.log10_scale, np.abs(run.dataset.y).max()
        )
        colours = [view.examples.styles[k].colour for k in view.examples.which]
        for colour, target in zip(colours, run.dataset.y, strict=True):
            wanted = sign_colours(np.array([np.rint(8 * target / reach) / 8]), LIGHT)[0]
            np.testing.assert_allclose(colour[:3], wanted)
        panel.set_data(None, "")


def test_stems_lead_from_real_targets_to_f(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in ((-1, 0.5), (0, 2.5), (1, -1.25))))
    settings = (
        "data.kind=file",
        f"data.path={path}",
        "data.targets=real",
        *LINE[1:2],
        *SPURIOUS[1:],
    )
    data = shown(tmp_path, settings)
    with data.run as run:
        panel = RunPanel(LIGHT)
        qtbot.addWidget(panel)
        panel.set_data(data, "")
        show_frame(panel, data.frames - 1)
        view = predictor(panel, data)
        stems = view.stems.curves[0][0]
        ends = np.array([(e.x, e.y) for e in map(stems.elementAt, range(stems.elementCount()))])
        np.testing.assert_allclose(ends[::2, 1], run.dataset.y)
        frame = data.frames - 1
        flat = run.network.physical(run.parameters(frame), float(run.rho[frame]))
        f = run.network.outputs(flat, run.network.inputs(run.dataset.x))
        np.testing.assert_allclose(ends[1::2, 1], f, atol=1e-9)
        assert view.plot.home.top > 2.5  # all targets are seen
        panel.set_data(None, "")


# ---------------------------------------------------------------------------------- level lines


def test_the_zero_line_is_exact_on_the_screen(panel: RunPanel, data: DisplayData) -> None:
    view = predictor(panel, data)
    path = view.line.curves[0][0]
    points = np.array([(e.x, e.y) for e in map(path.elementAt, range(path.elementCount()))])
    run, frame = data.run, data.background.answer.question.frame
    x = np.zeros((len(points), run.dataset.d))
    x[:, :2] = points
    largest = np.abs(data.background.answer.values).max()
    assert len(points)
    assert np.abs(flat_values(run, frame, x)).max() < 1e-4 * largest


def test_level_lines_of_a_plane_are_straight() -> None:
    row, column = np.indices((9, 12))
    segments = contour(2.0 * column + 3.0 * row, 20.5).reshape(-1, 2)
    np.testing.assert_allclose(2.0 * segments[:, 0] + 3.0 * segments[:, 1], 20.5)


def test_level_lines_of_a_circle_are_closed_and_as_long_as_it() -> None:
    place = np.linspace(-1.5, 1.5, 101)
    segments = contour(place[:, None] ** 2 + place[None, :] ** 2, 1.0)
    step = place[1] - place[0]
    length = step * np.linalg.norm(segments[:, 0] - segments[:, 1], axis=1).sum()
    assert length == pytest.approx(2.0 * np.pi, rel=1e-3)
    ends = np.round(segments.reshape(-1, 2), 9)
    _, counts = np.unique(ends, axis=0, return_counts=True)
    assert (counts == 2).all()


def test_there_is_no_line_where_the_level_is_not_met() -> None:
    assert contour(np.ones((4, 5))).shape == (0, 2, 2)
    saddle = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert contour(saddle).shape == (2, 2, 2)
