"""The value under the pointer, in every view, against the recorded numbers themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.curves import CurvesView
from app.views.pixels import nearest_point, resolved_text
from app.views.run_panel import RunPanel
from app.widgets.overlay import HoverReadout
from app.widgets.plot_item import Home, Plot
from app.widgets.screen_text import shown_number
from core.observables.registry import OBSERVABLES
from tests.app.mouse import move, pixel
from tests.app.options import mark_nodes, set_options, show_frame


def said(plot: Plot) -> HoverReadout:
    pointed = plot.overlay.pointed
    assert pointed is not None
    return pointed


def number_in(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def test_a_margin_is_read_where_the_pointer_is(
    qtbot: QtBot, panel: RunPanel, data: DisplayData
) -> None:
    view = panel.view("margins")
    plot, frame = view.plot, 45
    value = float(data.margins[frame, 0])
    move(qtbot, plot, float(view.places[frame]), value)
    pointed = said(plot)
    first, when = pointed.text.split("\n")
    name, told = first.split(" ")
    assert (name, pointed.y) == ("hard", value)
    assert pointed.x == float(view.places[frame])
    # To half a pixel and better, and not to digits that no pixel shows.
    grain = plot.pixel_height()
    assert number_in(told) == pytest.approx(value, abs=0.5 * grain)
    assert len(told.lstrip("\u2212.0")) <= math.ceil(math.log10(abs(value) / grain)) + 2
    assert when.startswith("t = 10")
    # It stays while the cursor moves on, and goes with the pointer.
    show_frame(panel, 20)
    assert said(plot) == pointed
    plot.pointer_left.emit()
    assert plot.overlay.pointed is None
    x = float(view.places[frame])
    top = plot.visible_range().bottom()
    move(qtbot, plot, x, top - 0.01 * plot.visible_range().height())
    assert plot.overlay.pointed is None


@pytest.mark.parametrize(
    ("axis", "word"), [("step", "step "), ("norm_squared", "|W|\u00b2 = ")], ids=["step", "norm"]
)
def test_the_place_is_said_as_the_axis_has_it(
    qtbot: QtBot, panel: RunPanel, data: DisplayData, axis: str, word: str
) -> None:
    set_options(panel, margin_axis=axis)
    view = panel.view("margins")
    frame = 50
    move(qtbot, view.plot, float(view.places[frame]), float(data.margins[frame, 0]))
    text = said(view.plot).text.split("\n")[1]
    assert text.startswith(word), text
    if axis == "step":
        shown = int(np.flatnonzero(view.places == said(view.plot).x)[0])
        assert int(text.removeprefix(word)) == int(data.steps[shown])


def test_a_curve_on_a_logarithmic_axis_says_its_value(
    qtbot: QtBot, panel: RunPanel, data: DisplayData
) -> None:
    panel.set_views(("curves",))
    set_options(panel, curves=("risk",))
    view = panel.view("curves")
    assert isinstance(view, CurvesView)
    while data.background.work(1.0):
        pass
    view.on_values()
    frame = 40
    value = float(OBSERVABLES["risk"].value_at(data.run, frame))
    height = float(view.strips[0].heights(np.array([value]))[0])
    move(qtbot, view.plot, float(view.places[frame]), height)
    text = said(view.plot).text
    assert text.startswith("risk ")
    shown = number_in(text.removeprefix("risk ").split("\n")[0])
    assert shown == pytest.approx(value, rel=0.02)


def test_nodes_say_their_place_with_the_digits_of_the_screen(
    qtbot: QtBot, panel: RunPanel, data: DisplayData
) -> None:
    frame = data.frames - 1
    show_frame(panel, frame)
    mark_nodes(panel, 5, frozenset())
    (mark,) = panel.view("neurons").plot.overlay.marks
    x, y = (number_in(part) for part in mark.numbers.strip("()").split(", "))
    wanted = data.positions(np.array([frame]))[0, 5]
    neurons = panel.view("neurons")
    grain = neurons.plot.pixel_height() * 10.0**neurons.power
    assert (x, y) == pytest.approx(tuple(wanted.tolist()), abs=grain)
    (mark,) = panel.view("norms").plot.overlay.marks
    told, rank = mark.numbers.removesuffix(")").split(" (rank ")
    assert mark.words == f"neuron 5: {mark.numbers}"
    values = data.values("relative_norm", frame)
    assert mark.label == "neuron 5"
    assert number_in(told) == pytest.approx(float(values[5]), abs=0.01)
    assert int(rank) == int(np.count_nonzero(values < values[5])) + 1


def test_the_predictor_is_read_at_its_grid(
    qtbot: QtBot, panel: RunPanel, data: DisplayData
) -> None:
    from core.observables.predictor_values import flat_values

    panel.set_views(("predictor",))
    show_frame(panel, data.frames - 1)
    while data.background.work(1.0):
        pass
    view = panel.view("predictor")
    view.on_values()
    shown = view.plot.visible_range()
    move(qtbot, view.plot, shown.center().x() + 0.2 * shown.width(), shown.center().y())
    pointed = said(view.plot)
    x = np.zeros((1, data.run.dataset.d))
    x[0, list(data.coordinates)] = pointed.x, pointed.y
    frame = data.frames - 1
    scale = math.exp(data.run.network.degree * float(data.run.rho[frame]))
    value = scale * float(flat_values(data.run, frame, x)[0])
    told = pointed.text.split(" = ")[1]
    assert told == shown_number(value)


def test_the_nearest_line_is_found_as_by_looking_at_all_points(qtbot: QtBot) -> None:
    from core.figures.palette import LIGHT

    plot = Plot(LIGHT)
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    plot.show()
    generator = np.random.default_rng(1)
    places = np.linspace(0.0, 1.0, 2001)
    lines = [(places, np.sin(4.0 * places + k) * 0.4 + 0.5) for k in range(3)]
    plot.set_home(Home(0.0, 1.0, 0.0, 1.0))
    found = 0
    for x, y in generator.uniform(0.0, 1.0, (100, 2)):
        here = pixel(plot, x, y)
        away = [
            np.hypot(*(plot.pixels(np.stack(line, axis=1)) - (here.x(), here.y())).T)
            for line in lines
        ]
        nearest = int(np.argmin([one.min() for one in away]))
        number, point = nearest_point(plot, lines, here.x(), here.y())
        if not plot.plot_area().contains(here) or away[nearest].min() > 12.5:
            assert number == -1
        elif away[nearest].min() < 11.5:
            found += 1
            assert number == nearest
            assert away[number][point] == pytest.approx(away[number].min(), abs=0.3)
    assert found > 20


@pytest.mark.parametrize("value", [0.0123456, -1234.5678, 3.0, 9.9996])
@pytest.mark.parametrize("grain", [1e-6, 0.003, 0.7])
def test_digits_end_where_the_screen_does(value: float, grain: float) -> None:
    shown = resolved_text(value, grain)
    told = number_in(shown) if "\u00d7" not in shown else value
    assert told == pytest.approx(value, abs=grain)
