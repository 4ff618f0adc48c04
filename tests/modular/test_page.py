"""Waves and phases on a page: its data are those of figures, and a browser draws and reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.figures.page import page_html
from core.figures.page_data import frames_of, numbers_in
from core.figures.palette import DARK, LIGHT, rgb
from core.figures.wave_panel import WavePanel, node_waves
from core.numbers import number_text
from core.runs import Run, open_run
from tests.figures.test_page_in_browser import READY, SWEEP, inked
from tests.recording import recorded
from tests.support.browser import browser, browser_path
from tests.support.pages import flat, page_of

KINDS = ("waves", "phases")
PROGRAM = browser_path()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of p = 7 that has become waves."""
    file = tmp_path_factory.mktemp("waves") / "run.msrun"
    settings = ("data.p=7", "run.seed=0", "network.m=48", "recording.frames=8")
    recorded(file, *settings, study="morwani24-margin")
    return file


@pytest.fixture
def run(path: Path) -> Iterator[Run]:
    with open_run(path) as opened:
        yield opened


def test_amplitudes_and_phases_are_those_of_figures(run: Run) -> None:
    """Colours to a step of 255, and a half of one by the rounding of colours themselves."""
    data = page_of([run], KINDS)
    (row,) = data["rows"]
    waves, panels = row["waves"], row["panels"]
    assert flat(panels["phases"]["x"]["label"]) == "\u03d1w\u2009/\u2009\u03c0"
    for palette, inks in zip((LIGHT, DARK), panels["waves"]["colours"], strict=True):
        table = np.array([rgb(ink) for ink in inks])
        ground = rgb(palette.background)
        for stop, frame in enumerate(row["stops"].astype(int).tolist()):
            depth = waves["strength"][stop][:, waves["order"][stop], None] / 255.0
            drawn = ground + depth * (table[:, None, :] - ground)
            (raster,) = WavePanel(run, "waves", palette, run.frames - 1).ink(frame).rasters
            assert np.abs(drawn - raster.colours).max() <= 1.0
            found = node_waves(run, frame)
            assert np.array_equal(waves["frequency"][stop], found.frequency)
            assert waves["points"][stop] == pytest.approx(found.points, rel=2e-5)
            assert waves["size"][stop] == pytest.approx(found.size, rel=2e-5)
    # Amplitudes of k = 0, ..., 3, and four numbers more; no places, rotations or norms.
    assert numbers_in([run], KINDS, frames_of([run], 400)) == 8 * 48 * run.frames


def test_another_run_beside_says_why_it_has_none(run: Run, tmp_path: Path) -> None:
    recorded(tmp_path / "other.msrun", "dynamics.until_log10_time=0", "recording.frames=8")
    with open_run(tmp_path / "other.msrun") as other:
        rows = page_of([run, other], KINDS)["rows"]
    assert "waves" in rows[0] and "waves" not in rows[1]
    assert "addition modulo p" in rows[1]["panels"]["waves"]["note"]


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here, in which pages are tested")
def test_a_browser_draws_and_reads_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "figure.html").write_text(page_html([run], KINDS), encoding="utf-8")
    found = node_waves(run, run.frames - 1)
    known = {
        f"neuron {node}": [
            f"frequency: {found.frequency[node]}",
            *(number_text(value) for value in found.points[node].tolist()),
        ]
        for node in range(48)
    }
    assert PROGRAM is not None
    with browser(PROGRAM) as page:
        page.resize(900, 500)
        for scheme in ("light", "dark"):
            page.prefer(scheme)
            page.open(tmp_path / "figure.html", READY, "")
            assert min(inked(page)) > 200
        for number in range(2):
            read = [text.splitlines() for text in set(page.value(SWEEP % number))]
            assert len(read) > 10
            for lines in read:
                frequency, w, total = known[lines[1]]
                assert lines[2] == frequency
                assert lines[3] == f"\u03d1w / \u03c0: {w}"
                assert lines[4] == f"(\u03d1u + \u03d1v) / \u03c0: {total}"
        assert page.log == []
