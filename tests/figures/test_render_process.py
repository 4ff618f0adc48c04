"""Figures and films that another process renders: the same bytes, and every way to end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import InputError, MarginscopeError
from core.figures import export
from core.figures.export import FigureProcess, figure_bytes, render_film, save_figure
from core.figures.film import save_film
from core.figures.names import EVERY_PANEL
from core.figures.options import USUAL, BoundCurve, FigureOptions, Region, ViewOptions
from core.figures.palette import DARK
from core.figures.primitives import FigureScene
from core.figures.scene import build_scene
from core.observables.node_sets import NodeSet
from core.observables.planes import NodePlane
from core.reference.cancel_token import CancelledError
from core.reference.margin import Bracket, ReferenceMargin
from core.reference.registry import REFERENCES
from core.reference.share import Promise
from core.runs import open_run
from tests.figures.test_export import small_scene
from tests.processes import die, draw_for_long, never, posix, workers
from tests.support.made_up_runs import run_file


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, ...]:
    folder = tmp_path_factory.mktemp("runs")
    return tuple(run_file(folder / f"study__m={m}.msrun", f"network.m={m}") for m in (6, 9))


@pytest.fixture(scope="module")
def scene(runs) -> FigureScene:
    """Build every panel of one row that a run has, in other colours than usual."""
    with open_run(runs[0]) as run:
        panels = [name for name in EVERY_PANEL if name not in ("waves", "phases")]
        return build_scene(
            [run],
            panels,
            options=FigureOptions(palette=DARK, view=ViewOptions(pinned=(frozenset({1}),))),
        )


@pytest.fixture
def process() -> Iterator[FigureProcess]:
    process = FigureProcess()
    yield process
    process.stop()
    assert not workers()


def test_another_process_draws_the_same_bytes(process, scene, tmp_path: Path) -> None:
    """In each format, with every kind of part, and with the process started ahead."""
    process.prestart()
    save_figure(small_scene(), tmp_path / "a.PDF", draw=partial(process.draw, cancelled=never))
    assert (tmp_path / "a.PDF").read_bytes() == figure_bytes(small_scene(), ".pdf")
    kinds = ("rotations", "predictor")  # a key of moments, and a raster
    some = replace(scene, panels=tuple(one for one in scene.panels if one.kind in kinds), texts=())
    assert [panel.kind for panel in some.panels] == list(kinds)
    assert process.draw(some, ".png", 70.0) == figure_bytes(some, ".png", 70.0)
    assert process.draw(small_scene(), ".svg") == figure_bytes(small_scene(), ".svg")
    wrong = replace(small_scene(), width_mm=-1.0)
    with pytest.raises(ValueError, match="figure size must be"):
        process.draw(wrong, ".svg")
    with pytest.raises(CancelledError):
        process.draw(replace(scene, panels=scene.panels * 20), ".png", 600.0, lambda: True)


# ------------------------------------------------------------------------------------- films


FILM: dict[str, Any] = {
    "panel": "margins,curves", "seconds": 0.3, "frames_per_second": 10.0, "follow": False,
    "interval": (-0.5, math.inf), "size": (320, 240), "captions": False,
}  # fmt: skip


def whole_options() -> FigureOptions:
    """Make options with a value in each field, of which the command line could say half."""
    margin = ReferenceMargin(
        REFERENCES["gamma_gl"], Bracket(0.08, 0.1 + 0.2, 1.0 / 3.0, True, "branch and bound"), 0.25
    )
    unknown = replace(
        margin, reference=REFERENCES["gamma_ntk"],
        bracket=Bracket(math.nan, math.inf, math.nan, False, "not computed"), is_comparable=False,
    )  # fmt: skip
    values = np.array([math.nan, -math.inf, *np.linspace(1e-3, 0.2, 10) / 3.0])
    look = ViewOptions(
        ("hard_margin",), True, "step", "directions", True,
        (Region(0, "margins", 0.1, 7.0 / 3.0, -0.01, 0.9),), (frozenset({0, 3}), frozenset()),
        ((BoundCurve("lemma", "Lemma 2.3", "margins", values),), ()),
    )  # fmt: skip
    selected = (None, NodeSet("mine", frozenset({1, 5})))
    plane = NodePlane("coordinates", (1, 2))
    margins = ((margin, unknown), ())
    promises = (Promise(margin), None)
    return FigureOptions(DARK, plane, margins, selected, look, promises=promises)


def report(done: int, total: int) -> None:
    """Take the progress of a film."""


def test_another_process_makes_the_same_film(runs, tmp_path: Path) -> None:
    options = whole_options()
    assert render_film(runs, tmp_path / "a.webp", options, report, never, **FILM)
    with open_run(runs[0]) as one, open_run(runs[1]) as two:
        assert save_film([one, two], tmp_path / "b.webp", options, **FILM)
    assert (tmp_path / "a.webp").read_bytes() == (tmp_path / "b.webp").read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.webp", "b.webp"]
    assert not workers()
    missing = tmp_path / "none.msrun"
    with pytest.raises(InputError, match=r"none\.msrun"):
        render_film([missing], tmp_path / "a.webp", USUAL, report, never)


def long_film(runs: tuple[Path, ...], path: Path, *told: Any) -> bool:
    size = {"size": (200, 160), "panel": "norms", "seconds": 300.0, "frames_per_second": 20.0}
    return render_film(runs, path, USUAL, *told, **size)


@pytest.mark.parametrize("suffix", [".webp", pytest.param(".gif", marks=pytest.mark.slow)])
def test_a_cancelled_film_leaves_nothing(runs, tmp_path: Path, suffix: str) -> None:
    seen: list[tuple[int, int]] = []
    path = tmp_path / f"a{suffix}"
    assert not long_film(runs, path, lambda *numbers: seen.append(numbers), lambda: bool(seen))
    assert seen[0][1] == 6000 and not workers() and list(tmp_path.iterdir()) == []


@posix
def test_a_film_whose_process_is_killed_leaves_nothing(runs, tmp_path, monkeypatch) -> None:
    def kill(done: int, total: int) -> None:
        assert list(tmp_path.iterdir())
        for worker in workers():
            worker.kill()

    monkeypatch.setattr(export, "_save_film", draw_for_long)
    with pytest.raises(MarginscopeError, match=r"^The film was not written: .* was killed; clo"):
        long_film(runs, tmp_path / "a.webp", kill, never)
    monkeypatch.setattr(export, "_save_film", die)
    with pytest.raises(MarginscopeError, match="was killed"):
        long_film(runs, tmp_path / "a.webp", report, never)
    assert list(tmp_path.iterdir()) == [] and not workers()
