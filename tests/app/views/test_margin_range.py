"""What the margin view shows at the cursor: every margin, or its value at the edge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.margins import MarginsView
from app.widgets.overlay import Labels
from core.figures.palette import DARK, LIGHT, Palette, rgb
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.recording import recorded

FALLING = "homogeneity-mirror-flow"  # all of its margins fall below 0, the hard one to the end


@pytest.fixture(scope="module")
def falling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("falling") / "run.msrun"
    recorded(path, study=FALLING)
    return path


@pytest.fixture
def shown(falling: Path) -> Iterator[DisplayData]:
    with open_run(falling) as run:
        data = DisplayData(run)
        while not data.complete:
            data.update()
        yield data


def view_of(qtbot: QtBot, data: DisplayData, palette: Palette = LIGHT) -> MarginsView:
    view = MarginsView(palette)
    qtbot.addWidget(view)
    view.resize(420, 260)
    view.set_data(data)
    view.show()
    qtbot.waitExposed(view)
    return view


def coloured(image: QImage, colour: str) -> np.ndarray:
    """Return the rows and columns of the pixels of about a colour, (k, 2)."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    stride = image.bytesPerLine() // 4
    shape = (image.height(), stride, 4)
    pixels = np.frombuffer(image.constBits(), dtype=np.uint8).reshape(shape)[:, :, 2::-1]
    near = np.abs(pixels[:, : image.width()].astype(float) - rgb(colour)).max(axis=2) < 40.0
    return np.argwhere(near)


def test_the_hard_margin_is_within_the_range_at_every_frame(
    qtbot: QtBot, shown: DisplayData
) -> None:
    view = view_of(qtbot, shown)
    hard = OBSERVABLES["hard_margin"].trace(shown.run)
    l1 = OBSERVABLES["l1_margin"].trace(shown.run)
    assert hard[-1] < 1.5 * hard[0] < 0.0  # it falls
    ranges = set()
    for frame in range(shown.frames):
        view.show_frame(frame)
        rect = view.plot.visible_range()
        ranges.add((rect.top(), rect.bottom()))
        for value in (hard[frame], l1[frame] / 2):
            assert rect.top() < value < rect.bottom()
    assert len(ranges) == 1  # scrubbing does not move it


def test_a_hovered_neuron_without_a_direction_has_no_angle(
    qtbot: QtBot, shown: DisplayData
) -> None:
    view, frame = view_of(qtbot, shown), shown.frames - 1
    view.show_frame(frame)
    view.set_marked(3, frozenset())
    (longest, *_) = view.words(shown, frame).corner
    assert "turned" in longest
    shown._node["rotation"][frame, 3] = np.nan  # as of |v| = 0, where the cosine is undefined
    texts = view.words(shown, frame).corner
    assert texts == tuple(text.partition(", turned")[0] for text in (longest, texts[-1]))
    assert "none" not in "".join(texts)


def test_the_range_is_that_of_the_frames_read_so_far(qtbot: QtBot, falling: Path) -> None:
    with open_run(falling) as run:
        data = DisplayData(run)
        data.update(0.0)
        view = view_of(qtbot, data)
        hard = OBSERVABLES["hard_margin"].trace(run)
        while not data.complete:
            data.update(0.0)
            view.redraw_at(data.frames - 1)
            assert (
                view.plot.visible_range().top()
                < hard[data.frames - 1]
                < view.plot.visible_range().bottom()
            )


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_a_margin_beyond_the_range_is_named_at_the_edge(
    qtbot: QtBot, shown: DisplayData, palette: Palette
) -> None:
    view = view_of(qtbot, shown, palette)
    for frame in (1, shown.frames // 2, shown.frames - 1):
        view.show_frame(frame)
        smoothed = OBSERVABLES["smoothed_margin"].value_at(shown.run, frame)
        assert smoothed < view.plot.visible_range().top()  # the least value of the range
        hard, named, half = view.plot.overlay.readings
        assert hard.value == pytest.approx(OBSERVABLES["hard_margin"].value_at(shown.run, frame))
        assert half.value == pytest.approx(OBSERVABLES["l1_margin"].value_at(shown.run, frame) / 2)
        assert named.value == pytest.approx(smoothed)
        assert named.text == f"smoothed \u2212{-smoothed:.3g}"
        here = coloured(view.plot.grab().toImage(), named.colour)
        inside = view.plot.plot_area()
        x = view.plot.pixels(np.array([[view.places[frame], 0.0]]))[0, 0]
        foot = here[here[:, 0] > inside.bottom() - 24.0]
        assert len(foot) > 20  # letters, at the lower edge
        assert np.abs(foot[:, 1] - x).min() < 20.0  # beside the cursor


@pytest.mark.parametrize(("width", "named"), [(420, True), (145, False)])
def test_no_number_at_the_edge_is_cut(
    qtbot: QtBot, shown: DisplayData, monkeypatch: pytest.MonkeyPatch, width: int, named: bool
) -> None:
    """Where its name has no room it stands alone: without its end it would be another."""
    view = view_of(qtbot, shown)
    view.resize(width, 260)
    view.show_frame(shown.frames // 2)
    written = []
    write = Labels._write

    def watched(labels: Labels, box: QRectF, text: str, colour: str = "") -> None:
        written.append(text)
        write(labels, box, text, colour)

    monkeypatch.setattr(Labels, "_write", watched)
    view.plot.grab()
    smoothed = view.plot.overlay.readings[1]
    words = smoothed.text if named else smoothed.number
    assert f"\u2193 {words}" in written


def test_a_margin_within_the_range_has_a_dot(qtbot: QtBot, shown: DisplayData) -> None:
    view = view_of(qtbot, shown)
    frame = shown.frames // 2
    view.show_frame(frame)
    value = OBSERVABLES["hard_margin"].value_at(shown.run, frame)
    x, y = view.plot.pixels(np.array([[view.places[frame], value]]))[0]
    # The dot of l1/2, which has the same value in this run, is on top of it.
    half = coloured(view.plot.grab().toImage(), LIGHT.references[1])
    assert np.hypot(half[:, 1] - x, half[:, 0] - y).min() < 2.0
