"""Reference margins as lines of an exported figure."""

from __future__ import annotations

import numpy as np
import pytest

from core.figures.draw import draw_scene, matplotlib_style
from core.figures.export import figure_bytes
from core.figures.levels import math_label, reference_levels
from core.figures.options import FigureOptions
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import Axis
from core.figures.scene import build_scene
from core.reference.margin import Bracket, ReferenceMargin
from tests.figures.test_scene import panel_of
from tests.support.made_up_figures import two_runs
from tests.support.theory_stand_ins import FAR, GLOBAL, LINEAR, NARROW, TANGENT, MadeUp

AXIS = Axis(-0.02, 0.05, (), "")
ALL = tuple(
    ReferenceMargin(one, one.bracket, 0.1) for one in (LINEAR, GLOBAL, TANGENT, NARROW, FAR)
)


def test_a_line_lies_at_factor_times_value_with_its_bracket() -> None:
    (level,) = reference_levels(ALL[1:2], AXIS, 40.0, 7.0, LIGHT)
    assert level.value == pytest.approx(0.0812 / 2, abs=1e-15)
    assert (level.low, level.high) == pytest.approx((0.04, 0.0813 / 2))
    assert level.label == "$\\gamma_{\\mathrm{gl}}$ / 2"


def test_margins_without_a_value_or_a_factor_are_no_lines() -> None:
    levels = reference_levels(ALL, AXIS, 40.0, 7.0, LIGHT)
    assert [level.value for level in levels] == pytest.approx([3.0, 0.04125, 0.0406])
    assert levels[0].label.startswith("$\\uparrow$ ")
    assert levels[1].label.endswith("(heuristic)")


def test_a_line_of_a_draw_names_its_chance_to_fail() -> None:
    drawn = MadeUp("gamma_ntk", 0.5, Bracket(0.04, 0.05, 0.045, False, "drawn"))
    drawn.failure = 1e-6
    (level,) = reference_levels(
        [ReferenceMargin(drawn, drawn.bracket, 0.1)], AXIS, 40.0, 7.0, LIGHT
    )
    assert level.label.endswith("(holds except with probability $10^{-6}$)")


def test_labels_are_apart_and_inside() -> None:
    levels = reference_levels(ALL, AXIS, 40.0, 7.0, LIGHT)
    line = 1.45 * 7.0 * 25.4 / 72.0 * (AXIS.high - AXIS.low) / 40.0
    places = np.array([level.label_at for level in levels])
    assert (np.diff(places) <= -line * (1.0 - 1e-9)).all()
    assert (places + line <= AXIS.high + 1e-12).all()
    assert (places >= AXIS.low).all()


def test_the_axis_reaches_the_lines_that_are_near_and_no_others() -> None:
    run = two_runs()[0]
    bare = panel_of(build_scene([run], ["margins"]), "margins").y
    top = bare.high - 0.06 / 1.12 * (bare.high - bare.low)
    near, far = (
        ReferenceMargin(GLOBAL, Bracket(value, value, value, True, ""), 0.0)
        for value in (4.0 * top, 8.0 * top)
    )
    reached = panel_of(
        build_scene([run], ["margins"], options=FigureOptions(references=[[near]])), "margins"
    )
    assert reached.y.high > 2.0 * top
    assert (
        panel_of(
            build_scene([run], ["margins"], options=FigureOptions(references=[[far]])), "margins"
        ).y
        == bare
    )
    assert reached.levels[-1].value == pytest.approx(2.0 * top)


@pytest.mark.parametrize(
    ("palette", "suffix", "start"), [(LIGHT, ".pdf", b"%PDF"), (DARK, ".png", b"\x89PNG")]
)
def test_lines_and_labels_are_drawn(palette, suffix: str, start: bytes) -> None:
    references = [ALL, ALL]
    scene = build_scene(
        two_runs(), ["margins"], options=FigureOptions(palette=palette, references=references)
    )
    with matplotlib_style():
        figure = draw_scene(scene, 100.0)
        written = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert written.count("$\\gamma_{\\mathrm{gl}}$ / 2") == 2
    assert figure_bytes(scene, suffix, 60.0).startswith(start)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("gamma", "$\\gamma$"),
        ("gamma_nc / (2 r)", "$\\gamma_{\\mathrm{nc}}$ / (2 r)"),
        ("optimum", "optimum"),
    ],
)
def test_labels_become_mathtext(label: str, expected: str) -> None:
    assert math_label(label) == expected
