"""The view of the tangent kernel: its pixels, its borders, the pointer and its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.state.views import VIEWS
from app.views.kernel import KernelView
from app.widgets.axis import whole
from core.figures.kernel_panel import cosine_colours
from core.figures.palette import DARK, LIGHT
from core.observables.kernel_matrix import example_order, kernel_cosines
from core.runs import Run, open_run
from tests.recording import recorded

SETTINGS = ("data.d=6", "data.n=20", "recording.frames=8", "dynamics.until_log10_time=1")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    recorded(tmp_path / "run.msrun", *SETTINGS)
    with open_run(tmp_path / "run.msrun") as opened:
        yield opened


@pytest.fixture
def view(qtbot: QtBot, run: Run) -> KernelView:
    data = DisplayData(run)
    while not data.complete:
        data.update()
    assert VIEWS["kernel"].fits(data)
    view = KernelView(LIGHT)
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.set_data(data)
    view.show()
    qtbot.waitExposed(view)
    view.redraw_at(data.frames - 1)
    return view


def test_pixels_are_the_cosines_at_the_frame(view: KernelView, run: Run) -> None:
    for palette in (LIGHT, DARK):
        view.set_colours(palette)
        for frame in (0, run.frames - 1):
            view.show_frame(frame)
            wanted = np.rint(cosine_colours(kernel_cosines(run, frame), palette))
            image = view.picture.image
            assert image is not None
            pixels = np.frombuffer(image.constBits(), np.uint8).reshape(20, 20, 4)
            assert (pixels[..., :3] == wanted).all()
    border = view.borders.curves[0][0].elementAt(0)
    assert border.x == float(example_order(run).borders[0])
    view.set_data(None)
    assert not view.shows_something


def test_the_pointer_reads_a_pair_of_examples(view: KernelView, run: Run) -> None:
    order, found = example_order(run).examples, kernel_cosines(run, run.frames - 1)
    (pixel,) = view.plot.pixels(np.array([[2.5, 11.5]]))
    read = view._readout_at(*pixel)
    assert read is not None
    assert (read.x, read.y) == (2.5, 11.5)
    first, labels, cosine = read.text.split("\n")
    assert first == f"examples {order[2]} and {order[11]}"
    y = run.dataset.y[order[[2, 11]]]
    assert labels.replace("\u2212", "-") == f"y = {y[0]:g} and {y[1]:g}"
    value = float(cosine.removeprefix("cosine ").replace("\u2212", "-"))
    assert value == pytest.approx(found[11, 2], abs=6e-4)
    assert view._readout_at(-5.0, -5.0) is None


def test_its_numbers_are_all_pairs(view: KernelView, run: Run) -> None:
    names, columns = zip(*view.numbers(), strict=True)
    assert names == ("example", "and example", "cosine")
    first, second, cosines = columns
    assert first.size == 400
    place = {int(example): k for k, example in enumerate(example_order(run).examples)}
    found = kernel_cosines(run, run.frames - 1)
    for k in (0, 37, 399):
        assert cosines[k] == found[place[int(first[k])], place[int(second[k])]]


def test_ticks_are_at_examples_alone(view: KernelView) -> None:
    """Squares leave a tall plot room beyond the 20 examples, and a zoom may show none."""
    for low, high in ((-26.0, 84.0), (0.0, 20.0), (3.0, 9.0), (-5.0, 12.0)):
        places = [place for place, _ in view._ticks(low, high, 6)]
        assert places and min(places) >= 0.0 and max(places) <= 20.0
        assert places == [place for place, _ in whole(max(low, 0.0), min(high, 20.0), 6)]
    assert view._ticks(25.0, 40.0, 6) == () and view._ticks(-9.0, -1.0, 6) == ()
