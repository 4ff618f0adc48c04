"""One colour for each reference margin, on the screen and on paper."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.margins import MarginsView
from core.figures.levels import reference_levels
from core.figures.palette import DARK, LIGHT, Palette, rgb
from core.figures.primitives import Axis
from core.figures.reference_colours import REFERENCE_PLACES, reference_colour
from core.problem.problem import resolve_problem
from core.reference.margin import Bracket, Reference, ReferenceMargin
from core.reference.registry import REFERENCES, references_of
from core.studies.study import load_study, shipped_ids
from tests.contrast import contrast
from tests.support.theory_stand_ins import MadeUp

BOTH = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)
ADDED = tuple(f"added_{k}" for k in range(40))


def computed(*references: Reference) -> tuple[ReferenceMargin, ...]:
    """Return margins with one value each, no two of them alike times 1/2."""
    return tuple(
        ReferenceMargin(one, Bracket(value, value, value, True, ""), 0.0)
        for value, one in zip(np.exp(np.arange(len(references)) / 17.0), references, strict=True)
    )


def drawable() -> list[Reference]:
    """Return the registered margins that are lines, and one that is registered later."""
    bracket = Bracket(1.0, 1.0, 1.0, True, "")
    return [one for one in REFERENCES.values() if one.factor] + [MadeUp("later", 1.0, bracket)]


@BOTH
def test_screen_and_paper_have_one_colour_for_each_margin(
    qtbot: QtBot, data: DisplayData, palette: Palette
) -> None:
    view = MarginsView(palette)
    qtbot.addWidget(view)
    view.set_data(data)
    for order in (drawable(), drawable()[::-1]):  # whatever comes first, or is the highest
        margins = computed(*order)
        view.set_references(margins)
        screen = [level.colour for level in view.levels()]
        levels = reference_levels(margins, Axis(0.0, 20.0, (), ""), 40.0, 7.0, palette)
        paper = {level.value: level.colour for level in levels}
        heights = [(one.factor or 0.0) * one.bracket.value for one in margins]
        assert screen == [paper[height] for height in heights]
        assert screen == [reference_colour(one.name, palette) for one in order]


def test_every_margin_that_is_a_line_has_a_place_of_its_own() -> None:
    assert {one.name for one in REFERENCES.values() if one.factor} == set(REFERENCE_PLACES)


def test_margins_of_one_problem_have_different_colours() -> None:
    for name in shipped_ids():
        study = load_study(name)
        problem = resolve_problem(next(study.iter_cells()).experiment, study.folder)
        names = [one.name for one in references_of(problem) if one.is_comparable(problem)]
        for one, other in combinations(names, 2):
            assert REFERENCE_PLACES[one] != REFERENCE_PLACES[other], (name, one, other)


@BOTH
def test_names_that_are_not_in_the_table_keep_their_colour(palette: Palette) -> None:
    colours = {name: reference_colour(name, palette) for name in ADDED}
    assert len(set(colours.values())) == 3
    script = (
        "from core.figures.palette import PALETTES\n"
        "from core.figures.reference_colours import reference_colour\n"
        f"print([reference_colour(n, PALETTES['{palette.name}']) for n in {ADDED}])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == str(list(colours.values()))


@BOTH
def test_lines_are_legible_and_apart_from_one_another_and_from_the_curves(
    palette: Palette,
) -> None:
    curves = (palette.foreground, *palette.references[:2])
    for colour in palette.lines:
        assert contrast(rgb(colour), palette.background) >= 4.5
    for one, other in combinations((*palette.lines, *curves), 2):
        assert np.linalg.norm(rgb(one) - rgb(other)) > 50.0, (one, other)
