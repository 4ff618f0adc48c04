"""Titles of figures, films and pages: wrapped and never cut, at every width."""

from __future__ import annotations

import re
from functools import cache

import pytest
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from core.figures.film_scene import film_scene
from core.figures.labels import headings, titles
from core.figures.layout import (
    LETTER_MM,
    LOWEST,
    MARGIN,
    PAGE_HEIGHT,
    SAMPLE_MM,
    page,
    title_texts,
)
from core.figures.material import compute_panel_data
from core.figures.names import COLUMN, FAMILIES, PAGE, POINTS, PageSize
from core.figures.options import USUAL
from core.figures.page_data import title_of
from core.figures.panel_grid import DENSE_SIDE, WIDTHS
from core.figures.primitives import MM_PER_INCH, Text, plain
from core.figures.scene import build_scene
from core.figures.study_scene import WIDTHS as STUDY_WIDTHS
from core.observables.registry import OBSERVABLES, title_with_unit
from core.studies.study import load_study, shipped_ids
from core.studies.summaries import shipped_summaries
from core.terminal.text import shorten
from tests.support.made_up_figures import problem_of, write_run

FONTS = {"sans": "DejaVu Sans", "serif": "STIXGeneral"}
WIDTH = sorted({COLUMN, PAGE, *WIDTHS.values(), *STUDY_WIDTHS.values()})
LONG = (
    "Modified from Boursier and Flammarion 2025, early alignment: small starts stop at spurious "
    "stationary points: 14 drawn points, bias network, logistic loss, m = 8, 16, 32 and 64"
)


@cache
def long_run():
    """Return a run with a title of three lines."""
    return write_run(problem_of(title=LONG))


@cache
def font_of(family: str, bold: bool) -> FT2Font:
    """Return the font of a family."""
    weight = "bold" if bold else "normal"
    return FT2Font(findfont(FontProperties(family=FONTS[family], weight=weight)))


def width_of(text: Text, family: str) -> float:
    """Return the millimetres of a text as it is set."""
    font = font_of(family, text.bold)
    font.set_size(text.points, 72.0)
    font.set_text(text.text)
    return font.get_width_height()[0] / 64.0 / 72.0 * MM_PER_INCH


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("width", WIDTH)
def test_every_title_is_whole_and_on_the_page(width, family) -> None:
    named = [one.title for one in shipped_summaries()]
    assert len(named) == 58
    for title in (*named, LONG):
        texts, _ = title_texts(plain(title), width, POINTS)
        assert " ".join(text.text for text in texts) == plain(title)
        for text in texts:
            assert text.left + width_of(text, family) <= width - MARGIN, text.text


def test_a_figure_has_its_runs_title_whole_also_in_its_metadata() -> None:
    scene = build_scene([long_run()], ["norms"])
    assert scene.title == titles([long_run()])[0] == LONG
    assert " ".join(text.text for text in scene.texts if text.bold) == LONG


def test_a_page_has_its_runs_title_whole() -> None:
    assert "".join(text for text, _ in title_of([long_run()], "")) == LONG


@pytest.mark.parametrize("size", [(320, 240), (800, 600), (1920, 1080)])
def test_a_film_wraps_its_title_beside_the_clock(size) -> None:
    runs = [long_run(), long_run()]
    material = compute_panel_data(runs, ["norms"], [run.frames - 1 for run in runs], USUAL)
    scene, _, _, clock = film_scene(material, ["norms"], size)
    assert " ".join(text.text for text in scene.texts) == LONG
    for text in scene.texts:
        assert text.left + width_of(text, "sans") < clock.left
        assert text.top < min(panel.box.top for panel in scene.panels)


def test_names_in_keys_end_at_a_word() -> None:
    assert shorten("a name") == "a name"
    assert shorten(LONG) == "Modified from Boursier and Flammarion 2025, early\u2026"
    assert shorten("x" * 61) == "x" * 59 + "\u2026"
    runs = [write_run(problem_of("network.m=6", title=f"{LONG} {k}")) for k in range(2)]
    assert all(len(name) < 100 for name in headings(runs))


def test_titles_of_axes_say_no_word_twice() -> None:
    """The share of aligned nodes was an "aligned share of the norm (share)"."""
    for name in OBSERVABLES:
        title = title_with_unit(name)
        words = re.findall(r"\w+", title.lower())
        twice = {word for word in words if words.count(word) > 1}
        assert twice <= {"of", "the", "error"}, title  # of a standard error of an error


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("views", range(1, 9))
def test_views_of_two_runs_fit_a_page(runs: int, views: int) -> None:
    """Five views of two runs were 309 mm high."""
    headings, keys = ["m = 16", "m = 256"][:runs], [[2] * views] * runs
    figure = page(headings, keys, LONG, ["a caption " * 60], PageSize())
    assert figure.height <= PAGE_HEIGHT
    for box in (box for row in figure.boxes for box in row):
        assert box.left + box.width < figure.width
        assert box.height >= 0.5 * box.width


@pytest.mark.parametrize("runs", [3, 4])
def test_five_views_of_several_runs_share_a_line_on_a_page(runs: int) -> None:
    """Three runs were 320 mm high, in lines of three and two panels."""
    keys = [[3] * 5] + [[1] * 5] * (runs - 1)
    figure = page(["a run"] * runs, keys, LONG, ["a caption " * 60], PageSize())
    assert figure.height <= PAGE_HEIGHT
    for row in figure.boxes:
        assert len({box.top for box in row}) == 1
        assert all(box.width >= DENSE_SIDE and box.height >= LOWEST for box in row)
        assert row[-1].left + row[-1].width < figure.width


def test_keys_of_panels_that_share_a_line_stay_above_their_panels() -> None:
    """The key of margins began above the panel beside it."""
    run = long_run()
    figure = build_scene([run] * 3, ["neurons", "rotations", "norms", "margins", "curves"])
    (keyed,) = [one for one in figure.panels if one.kind == "margins" and one.key]
    texts = max(len(entry.text) for entry in keyed.key)
    columns = keyed.key_columns or len(keyed.key)
    assert columns * (SAMPLE_MM + LETTER_MM * texts) <= keyed.box.width or columns == 1


def test_titles_of_studies_panels_end_before_the_next_panel() -> None:
    """One of 59 letters was written over the title beside it."""
    longest = 42  # letters, of a panel in two columns and the space beside it
    for name in shipped_ids():
        layout = load_study(name).layout()
        for panel in layout.panels if layout is not None and layout.columns > 1 else ():
            shown = re.sub(r"\$[^$]*\$", "formula", panel.title)
            assert len(shown) <= longest, f"{name}: {panel.title}"
