"""Scenes show the observables, and say what they show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import InputError
from core.figures.labels import headings, settings_line
from core.figures.names import PANELS
from core.figures.options import FigureOptions
from core.figures.palette import DARK, LIGHT, node_colours
from core.figures.primitives import KeyEntry, Marker, TimeKey
from core.figures.scene import build_scene
from core.figures.time_axis import MOST_MOMENTS, Moments, TimeAxis, moments, time_axis
from core.figures.tracks import trail_frames
from core.observables.node_coordinates import positions
from core.observables.nodes import outer_signs
from core.observables.planes import NodePlane
from core.observables.registry import OBSERVABLES
from tests.support.made_up_figures import DEGENERATE, far_run, problem_of, two_runs, write_run


def panel_of(scene, kind, row=0):
    return next(panel for panel in scene.panels if panel.kind == kind and panel.row == row)


def test_trajectories_are_the_nodes_positions() -> None:
    run = two_runs()[0]
    panel = panel_of(
        build_scene(
            [run], ["neurons"], options=FigureOptions(plane=NodePlane("coordinates", (2, 0)))
        ),
        "neurons",
    )
    curves, last = panel.ink.curves[0], run.frames - 1
    strength = OBSERVABLES["relative_norm"].value_at(run, last)
    order = np.argsort(strength)
    for position, index in enumerate(trail_frames(last, 6)):
        expected = positions(run, int(index))[order]
        np.testing.assert_allclose(curves.x[:, position], expected[:, 2], rtol=1e-12)
        np.testing.assert_allclose(curves.y[:, position], expected[:, 0], rtol=1e-12)
    colours = node_colours(outer_signs(run, last)[order], strength[order], LIGHT)
    assert curves.colours.tolist() == colours.tolist()
    ends = panel.ink.dots[-1]
    np.testing.assert_array_equal(ends.x, curves.x[:, -1])
    assert (np.diff(curves.widths) >= 0.0).all()
    assert panel.x.label == "coordinate 3"


def test_data_are_scaled_by_the_factor_that_is_said() -> None:
    run = two_runs()[0]
    panel = panel_of(build_scene([run]), "neurons")
    factor = float(panel.key[0].text.removeprefix("data $\\times$ "))
    count = 0
    for dots in panel.ink.dots[:-1]:
        label = 1.0 if dots.marker is Marker.PLUS else -1.0
        shown = {(round(x, 6), round(y, 6)) for x, y in zip(dots.x, dots.y, strict=True)}
        points = factor * run.dataset.x[run.dataset.y == label][:, :2]
        assert shown == {(round(x, 6), round(y, 6)) for x, y in points}
        count += len(shown)
    assert count == 4  # the four clusters of the paper's caption
    furthest = max(np.abs(dots.x).max() for dots in panel.ink.dots[:-1])
    assert furthest / np.abs(panel.ink.curves[0].x).max() > 0.7 or furthest < panel.x.high


def test_trajectories_have_equal_scales() -> None:
    for scene in (build_scene(two_runs()), build_scene(two_runs(), ["neurons"])):
        panel = panel_of(scene, "neurons")
        across = (panel.x.high - panel.x.low) / panel.box.width
        assert across == pytest.approx((panel.y.high - panel.y.low) / panel.box.height)


@pytest.mark.parametrize(("kind", "name"), [("rotations", "rotation"), ("norms", "relative_norm")])
def test_sorted_panels_are_the_sorted_observables(kind, name) -> None:
    run = two_runs()[1]
    scene = build_scene(two_runs())
    panel, key = panel_of(scene, kind, row=1), panel_of(scene, kind, row=0).key
    curves = panel.ink.curves[0]
    frames = [int(np.argmin(np.abs(run.log10_time - time))) for time in (1.0, 2.0, 3.0, 4.0)]
    for values, index in zip(curves.y, frames, strict=True):
        np.testing.assert_array_equal(values, np.sort(OBSERVABLES[name].value_at(run, index)))
    np.testing.assert_allclose(curves.x[0], np.arange(1, 10) / 9)
    assert curves.widths[-1] == curves.widths.max() > curves.widths[0]
    assert isinstance(key, TimeKey) and not panel.key  # said once
    assert key.texts == ("10", "$10^{2}$", "$10^{3}$", "$10^{4}$")
    assert key.colours.tolist() == curves.colours.tolist()
    assert panel.y.low < curves.y.min()


def test_margins_are_the_observables() -> None:
    run = two_runs()[0]
    panel = panel_of(build_scene([run]), "margins")
    factors = {"hard_margin": 1.0, "smoothed_margin": 1.0, "l1_margin": 0.5}
    assert {curves.name for curves in panel.ink.curves} == set(factors)
    for curves in panel.ink.curves:
        expected = factors[curves.name] * OBSERVABLES[curves.name].trace(run)
        np.testing.assert_array_equal(curves.y[0], expected)
        np.testing.assert_array_equal(curves.x[0][1:], run.log10_time[1:])
    assert [level.value for level in panel.levels] == [0.0]
    assert all(isinstance(entry, KeyEntry) for entry in panel.key)


def test_a_curve_from_below_the_frame_is_marked() -> None:
    run = two_runs()[0]
    panel = panel_of(build_scene([run]), "margins")
    for curves in panel.ink.curves:
        below = bool((curves.y[0][1:] < panel.y.low).any())
        assert below == any(dots.name == f"{curves.name} below" for dots in panel.ink.dots)
    assert any(dots.marker is Marker.DOWN for dots in panel.ink.dots)
    late = [curves.y[0][-3:] for curves in panel.ink.curves]
    assert panel.y.low <= np.min(late) <= np.max(late) <= panel.y.high


def test_rows_share_their_scales() -> None:
    scene = build_scene(two_runs())
    for kind in ("rotations", "norms", "margins"):
        one, two = (panel_of(scene, kind, row) for row in (0, 1))
        assert (one.x, one.y) == (two.x, two.y)


def test_until_is_a_frame_or_a_time() -> None:
    run = two_runs()[0]
    by_frame = panel_of(build_scene([run], ["margins"], until=7), "margins")
    by_time = panel_of(build_scene([run], ["margins"], until=2.0), "margins")
    assert run.log10_time[7] == 2.0
    assert by_frame.ink.curves[0].y.tolist() == by_time.ink.curves[0].y.tolist()
    assert by_frame.ink.curves[0].y.size == 8
    build_scene([run], until=-5.0)
    with pytest.raises(InputError, match="frames are 0 to 11"):
        build_scene([run], until=12)
    with pytest.raises(InputError, match="must be a number"):
        build_scene([run], until=math.nan)


def test_size_letters_and_texts() -> None:
    scene = build_scene(two_runs(), options=FigureOptions(palette=DARK))
    assert (scene.width_mm, scene.palette.name) == (180.0, "dark")
    assert "".join(panel.letter for panel in scene.panels) == "abcdefgh"
    words = "\n".join(text.text for text in scene.texts)
    for said in ("A title", "$m$ = 6", "$m$ = 9", "Source: telgarsky22", "exponential loss"):
        assert said in words
    assert "lighter" in words
    for panel in scene.panels:
        assert panel.box.left + panel.box.width <= scene.width_mm
        assert panel.box.top + panel.box.height <= scene.height_mm
        assert panel.title
        assert panel.x.label
        assert panel.y.label
        assert all(axis.low <= x <= axis.high for axis in (panel.x, panel.y) for x, _ in axis.ticks)
    widths = [build_scene(two_runs(), PANELS[:k]).width_mm for k in (1, 2, 3, 4)]
    assert widths == [88.0, 120.0, 180.0, 180.0]


def test_headings_name_what_differs() -> None:
    runs = [write_run(problem_of(f"run.seed={seed}"), (1.0,)) for seed in (0, 3)]
    assert headings(runs) == ("seed 0", "seed 3")
    line = settings_line(runs, [0, 0])
    assert "seed" not in line
    assert "parity" in line
    other = write_run(problem_of("loss.kind=logistic"), (1.0,))
    assert headings([runs[0], other]) == ("exponential loss", "logistic loss")
    descent = write_run(problem_of("dynamics.kind=gd", "dynamics.step=0.5"), (1.0,))
    assert headings([runs[0], descent]) == ("gradient flow", "gradient descent")
    assert headings([runs[0]] * 2) == ("A title", "A title (2)")
    longer = write_run(problem_of("dynamics.until_log10_time=3"), (1.0,))
    assert headings([runs[0], longer]) == ("to $t$ = $10^{4}$", "to $t$ = 1000")


def test_a_run_that_did_not_complete_says_so() -> None:
    run = DEGENERATE["stopped"]()
    assert headings([run]) == ("$m$ = 6, diverged",)


@pytest.mark.parametrize(
    ("runs", "arguments", "match"),
    [
        (0, {}, "No run is given"),
        (11, {}, "at most 10 runs"),
        (1, {"panels": ()}, "choose one or more of neurons"),
        (1, {"panels": ("norms", "norms")}, "each once"),
        (1, {"panels": ("nurons",)}, "nurons: choose one or more"),
        (
            1,
            {"options": FigureOptions(plane=NodePlane("coordinates", (0, 4)))},
            "Coordinate 5 does not exist; with d = 4 choose 1 to 4",
        ),
        (1, {"options": FigureOptions(plane=NodePlane("coordinates", (1, 1)))}, "given twice"),
        (
            1,
            {"options": FigureOptions(plane=NodePlane("coordinates", (1,)))},
            "Give two coordinates",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(runs, arguments, match) -> None:
    with pytest.raises(InputError, match=match) as caught:
        build_scene([two_runs()[0]] * runs, **arguments)
    assert str(caught.value).endswith(".")


def test_ten_runs_fit() -> None:
    scene = build_scene([two_runs()[0]] * 10)
    assert len(scene.panels) == 40


def test_many_panels_are_lowered_to_the_height_of_a_page() -> None:
    """Three runs by five views were 471 mm high; A4 has 297 mm."""
    run = two_runs()[0]
    few, many = build_scene([run] * 2), build_scene([run] * 3, (*PANELS, "curves"))
    assert few.panels[0].box.height == few.panels[0].box.width
    assert few.height_mm < 240.0 and many.height_mm < 240.0
    assert all(panel.box.height >= 24.9 for panel in many.panels)


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_runs_have_scenes(name) -> None:
    run = DEGENERATE[name]()
    scene = build_scene([run])
    for panel in scene.panels:
        for axis in (panel.x, panel.y):
            assert math.isfinite(axis.low)
            assert axis.low < axis.high < math.inf
            assert len(axis.ticks) >= 2
        for curves in panel.ink.curves:
            assert not np.isinf(curves.y).any()
    notes = {panel.kind: panel.ink.note for panel in scene.panels}
    if name == "dead":
        assert all(notes.values())
    elif name == "one frame":
        assert "only $t$ = 0" in notes["margins"]
    else:
        assert not any(notes.values())
    if name == "d = 1":
        assert "no coordinate 2" in panel_of(scene, "neurons").y.label
    if name == "half dead":
        curve = panel_of(scene, "rotations").ink.curves[0].y[-1]
        assert np.isnan(curve).tolist() == [False] * 5 + [True]


# --------------------------------------------------------------------------------------- time


def test_far_runs_show_the_logarithm_of_the_logarithm() -> None:
    axis = time_axis([far_run()], [far_run().frames - 1])
    assert axis.far
    ticks = {text: place for place, text in axis.axis().ticks}
    assert ticks["10"] == pytest.approx(1.0 + math.log(10.0))
    assert ticks["$10^{4}$"] == pytest.approx(1.0 + math.log(1e4))
    assert axis.axis().label == "time $\\log_{10}\\,t$"
    key = panel_of(build_scene([far_run()]), "rotations").key
    assert key.texts == ("1", "2", "3", "10", "100", "$10^{3}$", "$10^{4}$")


def test_near_runs_show_t() -> None:
    ticks = {text: place for place, text in TimeAxis(-2.0, 4.0).axis().ticks}
    assert ticks == {"$10^{-2}$": -2.0, "1": 0.0, "$10^{2}$": 2.0, "$10^{4}$": 4.0}
    narrow = TimeAxis(2.1, 2.7).axis()
    assert [text for _, text in narrow.ticks] == ["200", "500"]


def test_moments_are_few_and_end_with_the_last_frame() -> None:
    dense = write_run(problem_of("recording.log10_times=[]"), np.linspace(-2, 9, 45).tolist())
    axis = time_axis([dense], [44])
    chosen = moments([dense], [44], axis)
    assert len(chosen.times) <= MOST_MOMENTS
    assert chosen.frames(dense, 44)[-1] == 44
    assert all(float(time).is_integer() for time in chosen.times)


def test_the_key_tells_the_time_that_a_frame_really_has() -> None:
    late = write_run(problem_of("dynamics.kind=gd"), (-np.inf, 0.5, 1.13, 2.0, 3.0))
    panel = panel_of(build_scene([late, two_runs()[0]]), "rotations")
    assert panel.key.texts[0] == "13.5"
    chosen = Moments(TimeAxis(0.0, 3.0), (1.0, 2.0, 3.0))
    assert chosen.tolerance == 0.5
