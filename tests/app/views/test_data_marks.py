"""Marks of many examples: seen on every ground, and hiding nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.layers import show_examples
from app.views.predictor import PredictorView
from app.widgets.items import Markers, colour_of
from core.figures.palette import CROWD, DARK, LIGHT, Palette, css, rgb
from core.figures.predictor import sign_colours
from tests.app.views.test_every_network import shown
from tests.contrast import contrast

MANY = (
    "data.kind=gaussian_mixture",
    "data.n=400",
    "data.d=2",
    "recording.frames=9",
    "dynamics.until_log10_time=0",
)
SHARES = np.array([-1.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 1.0])
GRAPHICS = 3.0  # : 1, WCAG's for graphics


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DisplayData]:
    data = shown(tmp_path_factory.mktemp("marks"), MANY)
    yield data
    data.run.close()


def inks(data: DisplayData, palette: Palette, on_map: bool) -> list[np.ndarray]:
    """Return the marks' colours, as they are mixed with the ground."""
    markers = Markers()
    show_examples(markers, data, 1.0, (0, 1), palette, on_map)
    assert markers.points.shape[0] > 10 * CROWD
    colours = [colour_of(style.colour) for style in markers.styles]
    ground = rgb(palette.background)
    return [
        ground + one.alphaF() * (np.array([one.red(), one.green(), one.blue()]) - ground)
        for one in colours
    ]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_many_examples_are_seen_on_each_ground(many: DisplayData, palette: Palette) -> None:
    for ink in inks(many, palette, on_map=False):
        assert contrast(ink, palette.background) >= GRAPHICS
    for ground in css(np.rint(sign_colours(SHARES, palette)).astype(np.uint8)):
        for ink in inks(many, palette, on_map=True):
            assert contrast(ink, ground) >= GRAPHICS


def test_the_line_of_the_predictor_is_above_the_examples(qtbot: QtBot) -> None:
    view = PredictorView(LIGHT)
    qtbot.addWidget(view)
    assert view.line.zValue() > view.examples.zValue() > view.level_lines.zValue()
