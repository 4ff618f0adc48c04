"""Waves and phases of nodes: in the window, in figures, and where a run has none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.state.views import VIEWS
from app.views.waves import PhasesView, WavesView
from core.errors import InputError
from core.figures.export import save_figure
from core.figures.palette import DARK, LIGHT, rgb
from core.figures.scene import build_scene
from core.figures.wave_panel import frequency_colours, node_waves, wave_colours
from core.observables.registry import OBSERVABLES
from core.runs import Run, open_run
from tests.recording import recorded

STUDY = "morwani24-margin"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of p = 7 that has become waves."""
    file = tmp_path_factory.mktemp("waves") / "run.msrun"
    recorded(file, "data.p=7", "run.seed=0", "network.m=48", "recording.frames=8", study=STUDY)
    return file


@pytest.fixture
def run(path: Path) -> Iterator[Run]:
    with open_run(path) as opened:
        yield opened


def test_the_colours_are_the_amplitudes(run: Run) -> None:
    last = run.frames - 1
    found = node_waves(run, last)
    assert np.array_equal(np.sort(found.order), np.arange(48))
    sorted_frequencies = found.frequency[found.order]
    assert (np.diff(sorted_frequencies) >= 0).all()
    assert np.array_equal(found.frequency, OBSERVABLES["frequency"].value_at(run, last))
    colours = wave_colours(found, LIGHT)
    assert colours.shape == (4, 48, 3)
    ground = rgb(LIGHT.background)
    ink = frequency_colours(3, LIGHT)[:, :3].astype(float)
    place = int(np.argmax(found.size[found.order]))
    own = sorted_frequencies[place]
    depth = found.strength[own, found.order[place]]
    assert depth == pytest.approx(1.0, abs=1e-3)
    assert np.allclose(colours[own, place], ground + depth * (ink[own - 1] - ground))
    others = [k for k in range(1, 4) if k != own]
    assert np.abs(colours[others, place] - ground).max() < 1.0


def test_best_phases_lie_on_the_line(run: Run) -> None:
    first, last = (node_waves(run, index) for index in (0, run.frames - 1))
    for found, straight in ((first, False), (last, True)):
        heavy = found.size > 0.1
        gap = (found.points[heavy, 1] - found.points[heavy, 0] + 1.0) % 2.0 - 1.0
        assert (np.abs(gap).max() < 1e-3) == straight
        assert np.abs(found.points).max() <= 1.0


def test_figures_have_both_panels(run: Run, tmp_path: Path) -> None:
    scene = build_scene([run], ["waves", "phases"])
    waves, phases = scene.panels
    assert [panel.kind for panel in scene.panels] == ["waves", "phases"]
    (raster,) = waves.ink.rasters
    assert raster.colours.shape == (4, 48, 3)
    assert (waves.x.low, waves.x.high) == (0.0, 48.0)
    assert (raster.left, raster.right) == (0.5, 47.5)
    assert [text for _, text in waves.y.ticks] == ["0", "1", "2", "3"]
    (nodes,) = phases.ink.dots
    assert nodes.x.size == 48
    save_figure(scene, tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").stat().st_size > 1000


def test_another_run_says_why_it_has_none(tmp_path: Path) -> None:
    recorded(tmp_path / "other.msrun", "dynamics.until_log10_time=0", "recording.frames=8")
    with open_run(tmp_path / "other.msrun") as other:
        for panel in build_scene([other], ["waves", "phases"]).panels:
            assert "addition modulo p" in panel.ink.note
            assert not panel.ink.rasters
        data = DisplayData(other)
        assert not VIEWS["waves"].fits(data)
    with pytest.raises(InputError, match="waves"):
        build_scene([other], ["wave"])


def data_of(run: Run) -> DisplayData:
    data = DisplayData(run)
    while not data.complete:
        data.update()
    return data


def test_the_views_show_a_frame_and_point_at_nodes(qtbot: QtBot, run: Run) -> None:
    data = data_of(run)
    assert VIEWS["waves"].fits(data)
    for kind in (WavesView, PhasesView):
        view = kind(LIGHT)
        qtbot.addWidget(view)
        view.resize(500, 400)
        view.set_data(data)
        view.show()
        qtbot.waitExposed(view)
        for frame in (0, data.frames - 1):
            view.redraw_at(frame)
        assert view.shows_something
        found = node_waves(run, data.frames - 1)
        view.set_marked(3, frozenset({5}))
        (first, second) = view.plot.overlay.marks
        assert (first.label, second.label) == ("neuron 5", "neuron 3")
        if kind is WavesView:
            assert f"frequency {found.frequency[3]}, 100 %" in second.numbers
            assert second.y == found.frequency[3]
        else:
            assert (second.x, second.y) == pytest.approx(tuple(found.points[3]))
        many = frozenset(range(40))
        view.set_marked(-1, many)  # a selection: all others are dim
        assert not view.plot.overlay.marks
        view.set_colours(DARK)
        view.set_data(None)
        assert not view.shows_something
