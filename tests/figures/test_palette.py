"""The palette: order and contrast."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from core.figures.film_palette import film_colours
from core.figures.options import FigureOptions
from core.figures.palette import (
    CROWD,
    DARK,
    LIGHT,
    PALETTES,
    Palette,
    class_colours,
    css,
    mark_areas,
    mark_colour,
    node_colours,
    rgb,
    rgba,
    time_colours,
)
from core.figures.predictor import sign_colours
from core.figures.scene import build_scene
from core.figures.writers import nearest_colour
from tests.contrast import contrast, luminance
from tests.support.made_up_figures import problem_of, write_run
from tests.support.pages import page_of

BOTH = pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)


@BOTH
@pytest.mark.parametrize("sign", [-1.0, 0.0, 1.0])
def test_stronger_nodes_stand_out_more(palette, sign) -> None:
    norms = np.linspace(0.0, 1.0, 50)
    distance = contrast(node_colours(np.full(50, sign), norms, palette), palette.background)
    assert (np.diff(distance) > 0.0).all()
    assert distance[0] > 1.5
    assert distance[-1] > 9.0


def test_stronger_nodes_are_darker_on_paper_and_lighter_on_the_dark_screen() -> None:
    weak, strong = node_colours([1, 1], [0.01, 1.0], LIGHT)
    assert luminance(strong) < luminance(weak)
    weak, strong = node_colours([1, 1], [0.01, 1.0], DARK)
    assert luminance(strong) > luminance(weak)


@BOTH
def test_signs_have_the_class_colours(palette) -> None:
    colours = node_colours([-1, 1, 0, -0.0], np.full(4, 0.25), palette)
    assert colours.dtype == np.uint8
    negative, positive = ("#d55e00", "#0072b2") if palette is LIGHT else ("#f0843c", "#3d9fe0")
    assert colours[0].tolist() == rgba(negative).tolist()
    assert colours[1].tolist() == rgba(positive).tolist()
    # Data are marked in these colours.
    least = 3.8 if palette is LIGHT else 6.0
    assert contrast(colours[:2], palette.background).min() >= least
    assert colours[2].tolist() == colours[3].tolist() == rgba(palette.muted).tolist()


def test_norms_that_are_no_numbers_or_out_of_range_are_allowed() -> None:
    odd = node_colours(np.ones(4), [np.nan, -1.0, 2.0, np.inf], LIGHT)
    ends = node_colours(np.ones(2), [0.0, 1.0], LIGHT)
    assert odd[0].tolist() == odd[1].tolist() == ends[0].tolist()
    assert odd[2].tolist() == odd[3].tolist() == ends[1].tolist()
    assert node_colours([], [], LIGHT).shape == (0, 4)


@BOTH
def test_late_moments_stand_out_more_and_no_moment_vanishes(palette) -> None:
    distance = contrast(time_colours(np.linspace(0.0, 1.0, 40), palette), palette.background)
    assert (np.diff(distance) > 0.0).all()
    assert distance[0] > 3.0


@BOTH
def test_texts_and_curves_are_legible(palette) -> None:
    least = {palette.foreground: 12.0, palette.muted: 4.5, palette.grid: 1.15}
    least |= dict.fromkeys((palette.negative, palette.positive), 3.0)
    least |= dict.fromkeys((*palette.references, *palette.lines), 4.5)
    for colour, ratio in least.items():
        assert contrast(rgb(colour), palette.background) >= ratio, colour


def test_time_is_viridis() -> None:
    fractions = np.linspace(0.0, 1.0, 101)
    early, late = LIGHT.time
    expected = matplotlib.colormaps["viridis"](early + (late - early) * fractions)[:, :3] * 255.0
    assert np.abs(time_colours(fractions, LIGHT)[:, :3] - expected).max() < 3.0


@BOTH
def test_film_colours_hold_every_pure_colour(palette) -> None:
    colours = film_colours(palette)
    assert 200 < len(colours) <= 255
    nearest = nearest_colour(colours)
    for name in ("background", "foreground", "negative", "positive", "grid"):
        wanted = rgb(getattr(palette, name)).astype(np.int64)
        place = (wanted[0] >> 2 << 12) | (wanted[1] >> 2 << 6) | wanted[2] >> 2
        assert colours[nearest[place]].tolist() == wanted.tolist()


MANY = ("data.kind=gaussian_mixture", "data.n=400", "data.d=2")
GRAPHICS = 3.0  # : 1, WCAG's for graphics
SHARES = np.array([-1.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 1.0])


def mixed(colours, opacity: float, palette: Palette) -> np.ndarray:
    """Return the colours that are seen on the background."""
    ground = rgb(palette.background)
    return ground + opacity * (np.asarray(colours, dtype=np.float64) - ground)


def test_marks_of_many_examples_are_seen_in_figures_and_on_pages() -> None:
    run = write_run(problem_of(*MANY))
    for palette in (LIGHT, DARK):
        panels = build_scene([run], ["neurons", "predictor"], options=FigureOptions(palette)).panels
        neurons, predictor = (
            [one for one in panel.ink.dots if one.name.startswith("data")] for panel in panels
        )
        grounds = css(np.rint(sign_colours(SHARES, palette)).astype(np.uint8))
        assert len(neurons) == len(predictor) == 2
        for one in (*neurons, *predictor):
            assert one.x.size > CROWD
        for one in neurons:
            ink = mixed(one.colours[:, :3], float(one.colours[0, 3]) / 255.0, palette)
            assert contrast(ink, palette.background).min() >= GRAPHICS
        for one in predictor:
            assert (one.colours[:, 3] == 255).all()
            assert min(contrast(one.colours, ground).min() for ground in grounds) >= GRAPHICS
    (row,) = page_of([run], ["neurons"])["rows"]
    for entry in row["panels"]["neurons"]["data"]:
        for colour, palette in zip(entry["colours"], (LIGHT, DARK), strict=True):
            ink = mixed(rgb(colour), entry["alpha"], palette)
            assert contrast(ink, palette.background).item() >= GRAPHICS


@BOTH
def test_marks_of_every_class_are_seen(palette) -> None:
    for colour in class_colours(6, palette):
        row = mark_colour(colour, palette)
        ink = mixed(row[:3], float(row[3]) / 255.0, palette)
        assert contrast(ink, palette.background).item() >= GRAPHICS


def test_marks_of_a_crowd_are_small_and_those_of_many_examples_large() -> None:
    assert mark_areas(np.ones(CROWD))[0] > mark_areas(np.ones(CROWD + 1))[0]
    assert mark_areas([1, 4]).tolist() == [14.0, 28.0]
    assert mark_areas([1000]).tolist() == [60.0]
