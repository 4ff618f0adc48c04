"""Pages of studies: what stands where, and what the pictures are made of."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.figures.export import figure_bytes
from core.figures.keys import key_columns
from core.figures.names import PRESETS, PageSize
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import FigureScene, Panel, TimeKey
from core.figures.study_axes import Scale
from core.figures.study_panels import line_text, study_panel
from core.figures.study_scene import Caption, study_scene
from core.network.activation import SMOOTH, Activation
from core.studies.layout import FigureLayout, parse_layout
from core.studies.panel_lines import Line, lines_of
from tests.contrast import contrast
from tests.figures.test_study_values import cell, panel

SWEEP = {"kind": "sweep", "x": "data.d", "y": "risk", "lines": "network.m", "legend": "$m$"}
TRACE = {"kind": "traces", "x": "step", "y": ["risk", "test_error"], "names": ["a", "b"]}


def cells(seeds: int = 2) -> list[Any]:
    """Return risk = (d + seed) / (1 + t) / m."""
    return [
        cell(
            lambda _n, t, d=d, m=m, seed=seed: (d + seed) / (1.0 + t) / m,
            data__d=d,
            network__m=m,
            run__seed=seed,
            data__kind="parity",
        )
        for d in (2, 4, 8)
        for m in (16, 64, 256)
        for seed in range(seeds)
    ]


def scene(*panels: dict[str, Any], columns: int = 2, **caption: Any) -> FigureScene:
    layout = parse_layout({"columns": columns, "panels": list(panels)}, "test")
    palette = caption.pop("palette", LIGHT)
    return study_scene(layout, cells(), Caption("A study", "wei19", **caption), palette)


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_panels_are_on_the_page_and_apart(columns: int) -> None:
    page = scene(*[SWEEP, TRACE] * 3, columns=columns)
    boxes = [drawn.box for drawn in page.panels]
    assert [drawn.letter for drawn in page.panels] == list("abcdef")
    for box in boxes:
        assert box.left >= 10.0
        assert box.left + box.width <= page.width_mm - 2.0
        assert box.top + box.height <= page.height_mm - 8.0
    for one, two in itertools.combinations(boxes, 2):
        beside = one.left + one.width + 8.0 <= two.left or two.left + two.width + 8.0 <= one.left
        below = one.top + one.height + 8.0 <= two.top
        assert beside or below
    assert max(text.top for text in page.texts) <= page.height_mm


def test_what_is_said_around_the_panels() -> None:
    verdicts = ("confirmed: a claim of d = 10^4. Measured 1 +- 2",)
    page = scene(SWEEP, note="words", verdicts=verdicts)
    told = " ".join(text.text for text in page.texts)
    assert page.texts[0].text == "A study"
    assert "Source: wei19" in told
    assert "parity" in told
    assert "Means over 2 runs; bars and bands: one standard deviation each way." in told
    assert "words" in told
    assert "of d = $10^{4}$. Measured 1 \u00b1 2" in told


def drawn(layout: dict[str, Any], seeds: int = 2) -> Panel:
    return study_panel(panel(**layout), lines_of(panel(**layout), cells(seeds)), 0, "a", BOX, LIGHT)


BOX = scene(SWEEP).panels[0].box


def test_ordered_lines_have_a_strip_of_colours() -> None:
    shown = drawn(SWEEP)
    assert isinstance(shown.key, TimeKey)
    assert shown.key.texts == ("16", "64", "256")
    means = [curves for curves in shown.ink.curves if curves.name == "mean"]
    assert [tuple(curves.colours[0]) for curves in means] == [tuple(c) for c in shown.key.colours]


def test_bars_end_where_the_spread_does() -> None:
    """Of d and d + 1, by m and 101: mean d + 1/2, one standard deviation 1/sqrt 2 each way."""
    shown = drawn(SWEEP | {"where": {"network.m": 16}})
    bars = next(curves for curves in shown.ink.curves if curves.name == "bars")
    half = math.sqrt(0.5) / 16.0 / 101.0
    middle = (np.array([2.0, 4.0, 8.0]) + 0.5) / 16.0 / 101.0
    assert np.nanmin(bars.y, axis=1) == pytest.approx(middle - half)
    assert np.nanmax(bars.y, axis=1) == pytest.approx(middle + half)
    assert np.nanmean(bars.x, axis=1) == pytest.approx(np.log10([2.0, 4.0, 8.0]))
    single = drawn(SWEEP, seeds=1)
    assert all(curves.name == "mean" for curves in single.ink.curves)


def test_everything_shown_is_within_the_axes() -> None:
    for layout in (SWEEP, SWEEP | {"y_scale": "log", "x_scale": "linear"}, TRACE):
        shown = drawn(layout)
        for curves in shown.ink.curves:
            y, x = curves.y[np.isfinite(curves.y)], curves.x[np.isfinite(curves.x)]
            assert shown.y.low <= y.min() <= y.max() <= shown.y.high
            assert shown.x.low <= x.min() <= x.max() <= shown.x.high
        for axis in (shown.x, shown.y):
            assert len(axis.ticks) >= 2
            assert all(axis.low <= place <= axis.high for place, _ in axis.ticks)


def test_ticks_stand_at_the_values_that_were_run() -> None:
    assert [text for _, text in drawn(SWEEP).x.ticks] == ["2", "4", "8"]


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.3), (0.0, 1.2), (-3.0, 4.0), (-90.0, 30.0)])
def test_logarithmic_ticks_say_what_they_stand_at(low: float, high: float) -> None:
    ticks = Scale(True).ticks(low, high)
    assert 2 <= len(ticks) <= 8
    for place, text in ticks:
        plain = text.strip("$").replace("{", "").replace("}", "")
        value = float(plain.replace("10^", "1e"))
        assert math.log10(value) == pytest.approx(place)


def test_bands_only_where_runs_differ() -> None:
    one = TRACE | {"where": {"data.d": 4, "network.m": 16}}
    assert drawn(one).ink.bands
    assert not drawn(one, seeds=1).ink.bands


def test_levels_slopes_and_activations() -> None:
    shown = drawn(
        SWEEP
        | {
            "y_scale": "log",
            "levels": [{"value": 0.01, "text": "best"}],
            "slopes": [{"value": 1, "at": [2, 0.001], "text": "rate"}],
        }
    )
    assert [level.value for level in shown.levels] == [-2.0]
    (line,) = [curves for curves in shown.ink.curves if curves.name == "slope"]
    run = line.x[0, 1] - line.x[0, 0]
    assert line.y[0, 1] - line.y[0, 0] == pytest.approx(run)
    at_two = line.y[0, 0] + math.log10(2.0) - line.x[0, 0]
    assert at_two == pytest.approx(math.log10(0.001))
    assert [words.text.strip() for words in shown.ink.words] == ["best", "rate"]


def test_activations() -> None:
    layout = panel(kind="activation", x="", y=[])
    one = cells(1)[0]
    record = replace(one.record, activation=Activation(SMOOTH, 0.1))
    one = replace(one, recorded=lambda: record)
    (line,) = lines_of(layout, [one])
    expected = 0.1 * line.x + 0.9 * np.log((1.0 + np.exp(line.x)) / 2.0)
    assert line.mean == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sheet", [*PRESETS.values(), PageSize(100.0, 90.0, 6.0, "serif")])
def test_a_page_fits_its_sheet(sheet: PageSize) -> None:
    """Fewer panels stand side by side on a narrow sheet; all of them share a given height."""
    drawn = study_scene(layout_of_three(), cells(), Caption("A study " * 12), sheet=sheet)
    assert (drawn.points, drawn.family) == (sheet.points, sheet.family)
    assert drawn.width_mm == (sheet.width or 180.0)
    assert sheet.height in (None, drawn.height_mm)
    assert bool(drawn.texts) == sheet.caption
    for one in drawn.panels:
        assert one.box.width >= 12.0 * sheet.scale and one.box.height >= 12.0 * sheet.scale
        assert one.box.left + one.box.width <= drawn.width_mm
        assert one.box.top + one.box.height < drawn.height_mm
    for text in drawn.texts:
        assert 0.0 < text.top < drawn.height_mm
    lines = {one.box.top for one in drawn.panels}
    assert len(lines) == (3 if drawn.width_mm == 85.0 else 2 if drawn.width_mm < 110.0 else 1)


@pytest.mark.parametrize("sheet", [PageSize(40.0, None, 24.0), PageSize(180.0, 30.0)])
def test_a_sheet_without_room_is_refused(sheet: PageSize) -> None:
    with pytest.raises(InputError, match=r"too narrow|has no room"):
        study_scene(layout_of_three(), cells(), Caption("A study"), sheet=sheet)


def layout_of_three() -> FigureLayout:
    return parse_layout({"columns": 3, "panels": [SWEEP] * 3}, "test")


def test_a_fitted_slope_stands_in_the_key() -> None:
    one = np.ones(1)
    line = Line("flow", one, one, one, one, np.ones(1, dtype=np.int64), (1.2, 1.05, 1.37))
    assert line_text(panel(legend="{}"), line) == "flow: 1.2 [1.1, 1.4]"


def test_keys_are_broken_into_columns() -> None:
    shown = drawn(TRACE | {"names": ["a rather long name", "another long name"]})
    assert isinstance(shown.key, tuple)
    assert key_columns(shown.key, 100.0) == 0
    assert key_columns(shown.key, 30.0) == 1


def test_a_panel_without_runs_says_so() -> None:
    shown = drawn(SWEEP | {"where": {"network.m": 17}})
    assert "no run" in shown.ink.note
    assert not shown.ink.curves


@pytest.mark.parametrize(
    ("palette", "form"),
    [(LIGHT, (".png", b"\x89PNG")), (DARK, (".svg", b"<?xml"))],
    ids=["light", "dark"],
)
def test_files_are_the_same_every_time(palette: Any, form: tuple[str, bytes]) -> None:
    pages = [scene(SWEEP, TRACE, palette=palette) for _ in range(2)]
    suffix, start = form
    one, two = (figure_bytes(page, suffix, dpi=40) for page in pages)
    assert one == two
    assert one.startswith(start)
    for shown in pages[0].panels:
        for curves in shown.ink.curves:
            assert contrast(curves.colours, palette.background).min() > 2.0


def test_words_that_cannot_be_set_are_refused() -> None:
    with pytest.raises(InputError, match="cannot be typeset"):
        scene(SWEEP | {"title": "$\\nonsense{$"})
    with pytest.raises(InputError, match="none of its runs has frames"):
        study_scene(parse_layout({"panels": [SWEEP]}, "test"), [], Caption("T"))
