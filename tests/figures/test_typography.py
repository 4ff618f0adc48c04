"""Labels, letters and keys: what a line strikes through, what is named, and what is said once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from core.figures.draw import draw_scene, matplotlib_style
from core.figures.draw_keys import font_text
from core.figures.levels import label_heights, line_height
from core.figures.options import FigureOptions, ViewOptions
from core.figures.primitives import Axis, TimeKey
from core.figures.scene import build_scene, with_one_key
from core.reference.margin import Bracket, ReferenceMargin
from tests.figures.test_reference_lines import GLOBAL
from tests.figures.test_study_scene import SWEEP, scene
from tests.support.made_up_figures import two_runs


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.5, 2.4])
def test_no_label_is_struck_through_by_its_line(factor) -> None:
    run = two_runs()[0]
    plain = build_scene([run], ["margins"]).panels[0]
    highest = max(np.nanmax(curve.y) for curve in plain.ink.curves)
    half = Bracket(*[2.0 * factor * highest] * 3, True, "")
    options = FigureOptions(references=([ReferenceMargin(GLOBAL, half, 0.0)],))
    panel = build_scene([run], ["margins"], options=options).panels[0]
    line = line_height(panel.y, panel.box.height, 7.0)
    for level in panel.levels:
        if level.label and panel.y.low < level.value < panel.y.high:
            struck = level.label_at < level.value < level.label_at + line
            assert not struck
            assert level.label_at + line <= panel.y.high + 1e-9


def test_labels_are_below_their_lines_where_there_is_no_room_above() -> None:
    y, line = Axis(0.0, 1.0, (), ""), 0.1
    values = [0.97, 0.9, 0.5]
    feet = label_heights(values, y, line)
    assert all(not foot < value < foot + line for foot, value in zip(feet, values, strict=True))
    assert (np.diff(feet) <= -line + 1e-12).all()


def test_titles_beside_each_other_are_on_one_line() -> None:
    look = ViewOptions(curves=("log10_risk", "distance", "hard_margin"))
    drawn = build_scene(two_runs()[:1], ["margins", "curves"], options=FigureOptions(view=look))
    assert [panel.key_lines for panel in drawn.panels] == [1, 1]
    assert drawn.panels[0].box.top == drawn.panels[1].box.top
    titles = [level.label for level in drawn.panels[1].levels if level.align == "left"]
    assert titles == ["$\\log_{10}$ risk", "distance from the start", "hard margin"]


def test_labels_lie_on_paper() -> None:
    """Lines behind a label are dimmed, whether it names a level or a slope."""
    marks = {"levels": [{"value": 0.3, "text": "a level"}]}
    with matplotlib_style():
        figure = draw_scene(scene({**SWEEP, **marks}))
    (label,) = (one for one in figure.findobj(Text) if one.get_text() == " a level")
    patch = label.get_bbox_patch()
    assert patch is not None and patch.get_alpha() == 0.8


def test_a_single_panel_has_no_letter() -> None:
    alone = build_scene(two_runs()[:1], ["norms"])
    assert alone.panels[0].letter == ""
    assert not any(text.text.startswith("a:") for text in alone.texts)
    assert scene(SWEEP, columns=1).panels[0].letter == ""
    assert [panel.letter for panel in scene(SWEEP, SWEEP).panels] == ["a", "b"]


def test_a_key_that_repeats_is_drawn_once() -> None:
    page = scene(SWEEP, SWEEP, SWEEP, SWEEP)
    assert [bool(panel.key) for panel in page.panels] == [True, False, False, False]
    assert page.panels[2].key_lines == 0
    key = page.panels[0].key
    assert isinstance(key, TimeKey)
    other = replace(page.panels[1], key=replace(key, name="another"))
    assert all(panel.key for panel in with_one_key([page.panels[0], other]))


def test_runs_below_each_other_share_their_keys() -> None:
    kinds = ["rotations", "norms", "margins"]
    page = build_scene(two_runs(), kinds)
    first, second = page.panels[:3], page.panels[3:]
    assert all(panel.key for panel in first) and not any(panel.key for panel in second)
    assert {panel.key_lines for panel in first} == {1}
    assert {panel.key_lines for panel in second} == {0}
    gap = second[0].box.top - first[0].box.top - first[0].box.height
    above = build_scene(two_runs()[:1], kinds).panels[0].box.top
    assert gap < above  # no room is kept for a key


def test_the_index_of_a_sum_does_not_reach_below_the_line() -> None:
    parser = MathTextParser("path")
    with matplotlib_style():
        _, _, depth, _, _ = parser.parse(font_text("$N=\\sum_j|\\theta_j|^3$"), 72, None)[:5]
        flat = parser.parse("$N=|\\theta_j|^3$", 72, None)[2]
    assert depth == pytest.approx(flat, abs=0.5)
