"""Tick texts of linear, logarithmic and far axes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from pytestqt.qtbot import QtBot

from app.playback.time_slider import TimeSlider
from app.state.resolve import TimeSpan
from app.widgets.axis import far_times, plain, powers
from app.widgets.plot_item import Home, Plot
from core.figures.palette import LIGHT
from core.numbers import raise_powers
from core.problem.schedule import coordinate


def test_whole_exponents_are_raised() -> None:
    assert raise_powers("10^-2") == "10\u207b\u00b2"
    assert raise_powers("6.6 10^5") == "6.6 \u00d7 10\u2075"
    assert raise_powers("t = 10^2.31") == "t = 10^2.31"


def test_ticks_of_powers_stand_at_whole_numbers() -> None:
    assert powers(-1.2, 4.1, 8) == (
        (-1.0, ".1"),
        (0.0, "1"),
        (1.0, "10"),
        (2.0, "10\u00b2"),
        (3.0, "10\u00b3"),
        (4.0, "10\u2074"),
    )
    assert [place for place, _ in powers(0.0, 20.0, 4)] == [0.0, 5.0, 10.0, 15.0, 20.0]


def test_far_ticks_stand_where_their_times_are() -> None:
    low, high = (float(x) for x in coordinate(np.array([-1.0, 1e4])))
    ticks = {text: place for place, text in far_times(low, high, 6)}
    assert ticks["10\u2074"] == pytest.approx(high)
    assert ticks["100"] == pytest.approx(float(coordinate(np.array(100.0))))
    assert ticks["0"] == pytest.approx(0.0)


@pytest.mark.parametrize("maker", [plain, powers, far_times])
@pytest.mark.parametrize(("low", "high"), [(-0.1, 0.1), (0.5, 0.52), (-3.0, 9.0), (2.0, 400.0)])
def test_every_axis_has_ticks(maker, low: float, high: float) -> None:
    ticks = maker(low, high, 6)
    assert 1 <= len(ticks) <= 12
    assert all(text for _, text in ticks)
    places = [place for place, _ in ticks]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [(4.0, 5.0, ("10\u2074", "10\u2075")), (-0.6, 3.3, (".25", "2000")), (0.2, 0.6, ("1.6", "4"))],
)
def test_both_ends_of_the_slider_have_labels(
    qtbot: QtBot, low: float, high: float, ends: tuple[str, str]
) -> None:
    slider = TimeSlider(LIGHT)
    qtbot.addWidget(slider)
    slider.resize(320, 40)
    first, last = float(coordinate(low)), float(coordinate(high))
    slider.set_span(TimeSpan(first, last, last, False))
    labels = sorted(slider.shown_labels())
    assert (labels[0][1], labels[-1][1]) == ends
    boxes = [box for *_, box in labels]
    assert all(one.right() < other.left() for one, other in pairwise(boxes))
    assert boxes[0].left() >= 0.0 and boxes[-1].right() <= slider.width()


def test_the_label_at_the_upper_end_of_a_plot_is_whole(qtbot: QtBot) -> None:
    """Its upper half was cut off where a plot begins right below its title."""
    plot = Plot(LIGHT)
    qtbot.addWidget(plot)
    plot.resize(300, 200)
    plot.set_home(Home(0.0, 1.0, 0.0, 1.0))
    plot.show()
    plot.grab()
    axis = plot.side
    _, texts = axis.picture
    top = min((rect for rect, _ in texts), key=QRectF.top)
    assert axis.ticks(0.0, 1.0, 200.0)[-1][0] == 1.0
    assert axis.mapRectToScene(top).top() >= 0.0


@pytest.mark.parametrize("reach", [5.5, 6.3, 7.6, 8.6, 9.9])
def test_an_axis_with_little_room_has_a_scale(qtbot: QtBot, reach: float) -> None:
    """The coordinates of the neurons had the one tick 0, from -8.6 to 8.6."""
    plot = Plot(LIGHT)
    qtbot.addWidget(plot)
    places = [place for place, _ in plot.bottom.ticks(-reach, reach, 190.0)]
    assert len(places) >= 2 and max(places) <= reach
