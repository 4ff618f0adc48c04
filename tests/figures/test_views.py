"""All seven views as panels: what they show, on which paper, in which range."""

from __future__ import annotations

import io
import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.errors import InputError
from core.figures.export import figure_bytes
from core.figures.film import film_frames
from core.figures.names import EVERY_PANEL, PageSize, parse_size
from core.figures.options import BoundCurve, FigureOptions, Region, ViewOptions
from core.figures.palette import DARK, LIGHT, rgb
from core.figures.primitives import Axis, FigureScene, Marker, Panel, TimeKey
from core.figures.scene import build_scene
from core.observables.node_coordinates import positions
from core.observables.planes import NodePlane
from core.observables.predictor_values import flat_values
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.recording import recorded
from tests.support.made_up_figures import DEGENERATE, far_run, two_runs

SVG, PNG = ".svg", ".png"


def panel_of(scene: FigureScene, kind: str, row: int = 0) -> Panel:
    return next(one for one in scene.panels if (one.kind, one.row) == (kind, row))


def key_of(panel: Panel) -> object:
    """Return what the key of a panel says; of moments in order their texts."""
    key = panel.key.texts if isinstance(panel.key, TimeKey) else panel.key
    return key, panel.key_columns


def test_every_view_of_every_run_is_drawn(subtests: pytest.Subtests) -> None:
    """Every panel of every run; each text of axes, titles, keys or around the panels once."""
    drawn: list[object] = []

    def is_new(part: object) -> bool:
        new = part not in drawn
        drawn.append(part)
        return new

    def with_new_texts(axis: Axis) -> Axis:
        assert all(math.isfinite(place) for place, _ in axis.ticks)
        ticks = tuple(tick for tick in axis.ticks if is_new(tick[1]))
        return replace(axis, ticks=ticks, label=axis.label if is_new(axis.label) else "")

    for name, make in (("far", far_run), *DEGENERATE.items()):
        with subtests.test(run=name):
            run = make()
            scene = build_scene(
                [run], EVERY_PANEL, options=FigureOptions(palette=DARK, sheet=PageSize(180.0))
            )
            assert [panel.kind for panel in scene.panels] == list(EVERY_PANEL)
            panels = tuple(
                replace(
                    panel,
                    x=with_new_texts(panel.x),
                    y=with_new_texts(panel.y),
                    title=panel.title if is_new(panel.title) else "",
                    letter=panel.letter if is_new(panel.letter) else "",
                    key=panel.key if is_new(key_of(panel)) else (),
                )
                for panel in scene.panels
            )
            texts = tuple(text for text in scene.texts if is_new(text.text))
            content = figure_bytes(replace(scene, panels=panels, texts=texts), PNG, 60)
            assert content.startswith(b"\x89PNG")
            with Image.open(io.BytesIO(content)) as image:
                assert len(image.convert("RGB").getcolors(100_000) or ()) > 20
            assert build_scene(
                [run], options=FigureOptions(palette=DARK)
            ).panels  # the panels of a figure by default


def test_curves_are_the_observables_and_logarithms_stand_as_they_are() -> None:
    run = two_runs()[0]
    look = ViewOptions(("smoothed_margin",))
    panel = panel_of(build_scene([run], ["curves"], options=FigureOptions(view=look)), "curves")
    for curves in panel.ink.curves:
        np.testing.assert_array_equal(curves.y[0], OBSERVABLES[curves.name].trace(run))
    logs = ViewOptions(("risk", "log10_risk"), logarithmic=True)
    both = panel_of(
        build_scene([run], ["curves"], options=FigureOptions(view=logs)), "curves"
    ).ink.curves
    # In strips above each other: the first on top is drawn last.
    np.testing.assert_allclose(both[0].y + 1.0, both[1].y, rtol=1e-12)


def test_singular_values_are_those_of_numpy() -> None:
    run = two_runs()[0]
    panel = panel_of(build_scene([run], ["spectrum"]), "spectrum")
    last = run.frames - 1
    weights = run.network.unpack(run.network.physical(run.parameters(last), float(run.rho[last])))[
        "V"
    ]
    expected = np.log10(np.linalg.svd(weights, compute_uv=False))
    drawn = {curves.name: curves.y[0, -1] for curves in panel.ink.curves}
    for k, value in enumerate(expected):
        assert drawn[f"sigma {k + 1}"] == pytest.approx(value, abs=1e-9)


def test_the_predictor_is_f_and_its_line_is_where_f_is_0() -> None:
    run = two_runs()[0]
    panel = panel_of(build_scene([run], ["predictor"]), "predictor")
    last, d = run.frames - 1, run.dataset.d
    (zero,) = [curves for curves in panel.ink.curves if curves.name == "f = 0"]
    on_line = np.isfinite(zero.x)
    x = np.zeros((on_line.sum(), d))
    x[:, 0], x[:, 1] = zero.x[on_line], zero.y[on_line]
    grid = np.zeros((400, d))
    generator = np.random.default_rng(3)
    grid[:, 0] = generator.uniform(panel.x.low, panel.x.high, 400)
    grid[:, 1] = generator.uniform(panel.y.low, panel.y.high, 400)
    largest = np.abs(flat_values(run, last, grid)).max()
    assert np.abs(flat_values(run, last, x)).max() < 1e-4 * largest
    raster = panel.ink.rasters[0]
    rows, columns = raster.colours.shape[:2]
    corner = np.zeros((1, d))
    corner[0, :2] = raster.right, raster.top
    side = LIGHT.positive if flat_values(run, last, corner)[0] > 0 else LIGHT.negative
    other = LIGHT.negative if side == LIGHT.positive else LIGHT.positive
    here = raster.colours[rows - 1, columns - 1].astype(float)
    assert np.abs(here - rgb(side)).sum() < np.abs(here - rgb(other)).sum()


@pytest.mark.parametrize("against", ["step", "norm_squared"])
def test_curves_stand_against_another_quantity(against: str) -> None:
    run = two_runs()[0]
    scene = build_scene(
        [run], ["margins", "curves"], options=FigureOptions(view=ViewOptions(against=against))
    )
    for panel in scene.panels:
        x = panel.ink.curves[0].x[0]
        if against == "step":
            np.testing.assert_allclose(10.0 ** x[1:], run.steps[1:])
        else:
            squared = OBSERVABLES["norm_squared"].trace(run)
            wide = np.log10(squared.max() / squared.min()) > 2.0
            np.testing.assert_allclose(10.0**x if wide else x, squared)


def test_directions_and_roots() -> None:
    run = two_runs()[0]
    roots = panel_of(
        build_scene([run], ["neurons"], options=FigureOptions(view=ViewOptions(roots=True))),
        "neurons",
    )
    plain = panel_of(build_scene([run], ["neurons"]), "neurons")
    x, y = roots.ink.curves[0].x, plain.ink.curves[0].x
    np.testing.assert_allclose(np.sign(x) * x**2, y, atol=1e-12)
    one = panel_of(
        build_scene(
            [run], ["neurons"], options=FigureOptions(view=ViewOptions(nodes="directions"))
        ),
        "neurons",
    )
    ends = one.ink.dots[-1]
    assert (np.hypot(ends.x, ends.y) <= 1.0 + 1e-12).all()


def test_pinned_nodes_have_rings_where_they_are() -> None:
    run, last = two_runs()[0], two_runs()[0].frames - 1
    look = ViewOptions(pinned=(frozenset({2, 4}), frozenset()))
    scene = build_scene(
        two_runs(), ["neurons", "rotations", "norms"], options=FigureOptions(view=look)
    )
    rings = {
        (panel.kind, panel.row): [d for d in panel.ink.dots if d.marker is Marker.RING]
        for panel in scene.panels
    }
    assert not any(rings[kind, 1] for kind in ("neurons", "rotations", "norms"))
    (ring,) = rings["neurons", 0]
    np.testing.assert_allclose(ring.x, positions(run, last)[[2, 4], 0])
    (ring,) = rings["norms", 0]
    np.testing.assert_array_equal(ring.y, OBSERVABLES["relative_norm"].value_at(run, last)[[2, 4]])
    assert "pinned" in "\n".join(text.text for text in scene.texts)


def test_a_range_is_that_of_the_axes() -> None:
    regions = (
        Region(0, "margins", 1.0, 3.0, -0.02, 0.05),
        Region(0, "norms", 0.2, 0.6, 0.1, 0.9),
        Region(0, "neurons", -0.5, 1.5, -1.0, 0.0),
        Region(0, "predictor", -0.1, 0.1, -0.1, 0.1),
    )
    look = ViewOptions(regions=regions)
    scene = build_scene(
        [two_runs()[0]], EVERY_PANEL, options=FigureOptions(view=look, sheet=PageSize(180.0))
    )
    for one in regions[:2]:
        panel = panel_of(scene, one.panel)
        assert (panel.x.low, panel.x.high, panel.y.low, panel.y.high) == (
            one.left, one.right, one.bottom, one.top,
        )  # fmt: skip
        assert all(
            axis.low <= at <= axis.high for axis in (panel.x, panel.y) for at, _ in axis.ticks
        )
    nodes = panel_of(scene, "neurons")
    across = (nodes.x.high - nodes.x.low) / nodes.box.width
    assert across == pytest.approx((nodes.y.high - nodes.y.low) / nodes.box.height)
    assert (nodes.x.low, nodes.x.high) == pytest.approx((-0.5, 1.5))  # the longer side
    predictor = panel_of(scene, "predictor")
    assert min(predictor.x.high, predictor.y.high) == pytest.approx(0.1)  # the shorter side


def test_bounds_are_curves_with_their_names() -> None:
    run = two_runs()[0]
    values = np.linspace(0.0, 0.01, run.frames)
    bounds = ((BoundCurve("p Lemma 1", "Lemma 1", "margins", values),),)
    panel = panel_of(
        build_scene([run], ["margins"], options=FigureOptions(view=ViewOptions(bounds=bounds))),
        "margins",
    )
    np.testing.assert_array_equal(panel.ink.curves[-1].y[0], values)
    assert [words.text for words in panel.ink.words] == ["Lemma 1"]
    values = 0.8 * OBSERVABLES["distance"].trace(run)
    distance = ((BoundCurve("p Lemma 2", "Lemma 2", "distance", values),),)
    look = ViewOptions(("distance",), bounds=distance)
    curves = panel_of(
        build_scene([run], ["curves"], options=FigureOptions(view=look)), "curves"
    ).ink.curves
    np.testing.assert_allclose(curves[-1].y[0], values)
    assert curves[-1].dash == "dotted"


@pytest.mark.parametrize("width", [85.0, 180.0])
@pytest.mark.parametrize("points", [6.0, 7.0, 9.0])
def test_panels_stand_on_the_paper_apart(width: float, points: float) -> None:
    sheet = PageSize(width, None, points)
    scene = build_scene(two_runs(), EVERY_PANEL, options=FigureOptions(sheet=sheet))
    assert scene.width_mm == width
    boxes = [panel.box for panel in scene.panels]
    for box in boxes:
        assert box.left > 0.0
        assert box.left + box.width <= scene.width_mm
        assert box.top + box.height <= scene.height_mm
    for one, two in itertools.combinations(boxes, 2):
        assert (
            one.left + one.width <= two.left
            or two.left + two.width <= one.left
            or one.top + one.height <= two.top
            or two.top + two.height <= one.top
        )
    assert max(text.top for text in scene.texts) < scene.height_mm


def test_an_own_size_is_kept_and_caption_and_title_can_be_left_out() -> None:
    scene = build_scene(
        [two_runs()[0]],
        ["margins"],
        options=FigureOptions(sheet=PageSize(100.0, 62.0, 8.0, "serif", False)),
    )
    assert (scene.width_mm, scene.height_mm, scene.texts) == (100.0, 62.0, ())
    assert (scene.points, scene.family) == (8.0, "serif")
    rows = build_scene(
        two_runs(), ["margins"], options=FigureOptions(sheet=PageSize(caption=False))
    )
    assert [text.text for text in rows.texts] == ["$m$ = 6", "$m$ = 9"]


def test_letters_with_serifs_are_embedded() -> None:
    """Of those without, tests.figures.test_export says so."""
    scene = build_scene(
        [two_runs()[0]], ["margins"], options=FigureOptions(sheet=PageSize(family="serif"))
    )
    content = figure_bytes(scene, ".pdf")
    assert b"STIXGeneral" in content and b"/Type3" not in content
    assert figure_bytes(scene, SVG) == figure_bytes(scene, SVG)


@pytest.mark.parametrize(
    ("sheet", "said"),
    [
        (PageSize(0.0), "cannot be 0 mm wide; choose 20 to 1000 mm"),
        (PageSize(85.0, 5000.0), "5000 mm high"),
        (PageSize(85.0, 20.0), "make it at least"),
        (PageSize(20.0), "is too narrow for its panels"),
        (PageSize(points=2.0), "The font cannot have 2 points"),
        (PageSize(family="comic"), "allowed are sans, serif"),
    ],
)
def test_papers_that_cannot_be_are_sentences(sheet: PageSize, said: str) -> None:
    with pytest.raises(InputError) as caught:
        build_scene([two_runs()[0]], options=FigureOptions(sheet=sheet))
    assert said in caught.value.sentence and caught.value.sentence.endswith(".")


@pytest.mark.parametrize(
    ("look", "said"),
    [
        (ViewOptions(("nothing",)), "'nothing' is not one of the scalar observables"),
        (ViewOptions(()), "choose 1 to 6"),
        (ViewOptions(against="luck"), "not 'luck'"),
        (ViewOptions(nodes="all"), "weights or directions"),
        (
            ViewOptions(regions=(Region(0, "norms", 1.0, 0.0, 0.0, 1.0),)),
            "range of the norms: left must be less than right",
        ),
        (ViewOptions(regions=(Region(0, "norms", 0.0, math.nan, 0.0, 1.0),)), "finite numbers"),
    ],
)
def test_looks_that_cannot_be_are_sentences(look: ViewOptions, said: str) -> None:
    with pytest.raises(InputError) as caught:
        build_scene([two_runs()[0]], options=FigureOptions(view=look))
    assert said in caught.value.sentence


@pytest.mark.parametrize("text", ["", "wide", "85cm", "85x", "1.2.3", "-85mm"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(InputError, match="is not a size; give a width such as 85mm"):
        parse_size(text)


@pytest.mark.parametrize("kind", ["curves", "spectrum", "predictor"])
def test_films_of_the_other_views_end_as_their_figures(kind: str) -> None:
    run = two_runs()[0]
    shown = FigureOptions(LIGHT, NodePlane("coordinates", (0, 1)))
    pictures = list(film_frames([run], kind, 3, (320, 240), shown))
    assert len(pictures) == 3
    assert (pictures[0] != pictures[-1]).any()
    again = list(film_frames([run], kind, 3, (320, 240), shown))
    assert all((one == two).all() for one, two in zip(pictures, again, strict=True))


def test_real_targets_are_the_colours_of_the_data(tmp_path: Path) -> None:
    regression = ("data.kind=spurious", "loss.kind=least_squares", "dynamics.kind=gd")
    recorded(tmp_path / "run.msrun", *regression, "network.m=8", "dynamics.until_log10_time=1")
    with open_run(tmp_path / "run.msrun") as run:
        scene = build_scene([run], ["predictor"])
        (panel,) = scene.panels
        (data,) = panel.ink.dots
        np.testing.assert_array_equal(np.stack([data.x, data.y], axis=1), run.dataset.x)
        depth = np.abs(data.colours[:, :3].astype(float) - rgb(LIGHT.background)).sum(axis=1)
        assert np.argsort(depth).tolist() == np.argsort(np.abs(run.dataset.y)).tolist()
        assert isinstance(panel.key, tuple)
        assert panel.key[0].text == "data in the colour of $y$"
        assert figure_bytes(scene, ".svg")
