"""Margins as shares of what is promised: by hand, in figures, from the command line."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.comparison.setting_differences import most_of
from core.figures.options import BoundCurve, FigureOptions, ViewOptions
from core.figures.primitives import Marker
from core.figures.scene import build_scene
from core.observables.registry import OBSERVABLES
from core.reference.margin import Bracket, ReferenceMargin
from core.reference.registry import REFERENCES
from core.reference.share import Promise, first_reach, make_promise, margin_share, scale_margins
from core.runs import open_run
from tests.recording import recorded

pytestmark = pytest.mark.usefixtures("few_directions")

LINES = ("recording.frames=40", "dynamics.until_log10_time=3", "data.n=16", "data.d=6")


def margin(name: str, low: float, high: float, drawn: bool = True) -> ReferenceMargin:
    bracket = Bracket(low, high, 0.5 * (low + high), True, "made up")
    return ReferenceMargin(REFERENCES[name], bracket, 0.0, drawn)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "run.msrun"
    recorded(place, *LINES)
    return place


def test_the_time_at_which_a_share_is_reached() -> None:
    """In closed form: 1 - 2^-u at u = log10 t has come to 90 % where u = log2(10)."""
    for count in (9, 41, 401):
        u = np.linspace(0.0, 8.0, count)
        found = first_reach(1.0 - 2.0**-u, u)
        # Linear between the frames: off by at most the sagitta of the curve over one of them.
        width = 8.0 / (count - 1)
        assert abs(found.log10_time - math.log2(10.0)) <= math.log(2.0) * width**2 / 8.0 + 1e-12
        assert u[found.frame - 1] <= found.log10_time <= u[found.frame]
    assert first_reach(np.array([0.1, 0.89]), np.array([0.0, 1.0])) is None
    # It falls again: the first time counts. A line from .8 to 1 is at .9 half way.
    values = np.array([np.nan, 0.8, 1.0, 0.2, 0.95])
    found = first_reach(values, np.array([-np.inf, 1.0, 2.0, 3.0, 4.0]))
    assert (found.frame, found.log10_time) == (2, 1.5)


@pytest.mark.parametrize(
    ("values", "times"),
    [([0.95, 1.0], [2.0, 3.0]), ([0.0, 0.95], [-math.inf, 2.0]), ([math.nan, 0.95], [1.0, 2.0])],
)
def test_without_a_frame_before_it_is_the_frame_itself(
    values: list[float], times: list[float]
) -> None:
    found = first_reach(np.array(values), np.array(times))
    assert found.log10_time == 2.0
    assert found.part == 1.0


def test_gamma_gl_comes_first_and_is_waited_for() -> None:
    known = {one.reference.name: one for one in (margin("gamma_linear", 0.1, 0.1),)}
    references = [REFERENCES["gamma_linear"], REFERENCES["gamma_ntk"], REFERENCES["gamma_gl"]]
    waits = make_promise(references, known)
    assert (waits.margin, waits.waits, waits.scale) == (None, ("gamma_gl",), 1.0)
    known["gamma_gl"] = margin("gamma_gl", 0.08, 0.12)
    found = make_promise(references, known)
    assert found.largest_margin == pytest.approx(0.05)
    assert found.label == "gamma_gl / 2"
    # Of a network with whose margins it cannot be compared the next one that can stands for it.
    known["gamma_gl"] = margin("gamma_gl", 0.08, 0.12, drawn=False)
    assert make_promise(references, known).margin is known["gamma_linear"]
    assert make_promise([REFERENCES["gamma_ntk"]], {}).waits == ()
    (line,) = scale_margins([margin("gamma_gl", 0.08, 0.12)], 1.0 / found.largest_margin)
    ends = [
        line.factor * end for end in (line.bracket.lower, line.bracket.value, line.bracket.upper)
    ]
    # Around 1, as wide as (upper - lower)/value.
    assert ends == pytest.approx([0.8, 1.0, 1.2])


def test_a_figure_of_shares_has_the_same_curves_divided(path: Path) -> None:
    promised = Promise(margin("gamma_gl", 0.15, 0.17))
    with open_run(path) as run:
        plain = build_scene([run], ("margins",)).panels[0]
        shares = build_scene(
            [run], ("margins",), options=FigureOptions(promises=[promised])
        ).panels[0]
        hard = OBSERVABLES["hard_margin"].trace(run)
        reach = first_reach(hard / 0.08, run.log10_time[: run.frames])
    for one, other in zip(plain.ink.curves, shares.ink.curves, strict=True):
        np.testing.assert_allclose(other.y, np.asarray(one.y) / 0.08)
    assert "share of" in shares.y.label
    assert "gamma" in shares.y.label
    whole = next(level for level in shares.levels if level.value == pytest.approx(1.0))
    assert (whole.low, whole.high) == pytest.approx((0.9375, 1.0625))
    assert shares.y.low < whole.low < whole.high < shares.y.high
    words = next(level.label for level in shares.levels if level.value == 0.9)
    assert words.startswith("90 % not reached" if reach is None else "90 % at ")


@pytest.mark.parametrize("against", ["log10_time", "step", "norm_squared"])
def test_the_rest_of_curves_is_faint_and_the_whole_runs(path: Path, against: str) -> None:
    """The picture of the whole run, faint, and over it the part up to the moment."""
    panels, look = ("margins", "curves", "spectrum"), ViewOptions(against=against)
    with open_run(path) as run:
        whole = build_scene([run], panels, options=FigureOptions(view=look)).panels
        until = float(run.log10_time[25])
        cut = build_scene([run], panels, until, options=FigureOptions(view=look)).panels
        seen = build_scene(
            [run], panels, until, options=FigureOptions(view=replace(look, rest=True))
        ).panels
        end = build_scene(
            [run], panels, options=FigureOptions(view=replace(look, rest=True))
        ).panels
    for all_of_it, part, one, last in zip(whole, cut, seen, end, strict=True):
        count = len(all_of_it.ink.curves)
        assert len(one.ink.curves) == 2 * count
        assert (one.x, one.y) == (all_of_it.x, all_of_it.y)
        for plain, later in zip(all_of_it.ink.curves, one.ink.curves[:count], strict=True):
            np.testing.assert_array_equal(later.x, plain.x)
            np.testing.assert_array_equal(later.y, plain.y)
            assert (later.colours[:, 3] == round(0.3 * 255)).all()
        for plain, now in zip(all_of_it.ink.curves, one.ink.curves[count:], strict=True):
            np.testing.assert_array_equal(now.y, plain.y[:, :26])
            np.testing.assert_array_equal(now.colours, plain.colours)
        assert all(len(np.asarray(curve.y)[0]) == 26 for curve in part.ink.curves)
        assert len(last.ink.curves) == count  # nothing comes after the end


@pytest.mark.parametrize("against", ["log10_time", "step", "norm_squared"])
def test_the_ring_stands_on_the_curve_at_that_moment(path: Path, against: str) -> None:
    """On every axis, where the curve that is drawn crosses .9; and so do the bounds' shares."""
    with open_run(path) as run:
        hard = OBSERVABLES["hard_margin"].trace(run)
        promised = Promise(margin("gamma_gl", 1.6 * hard[-1], 1.6 * hard[-1]))
        bound = BoundCurve("x", "x", "margins", 0.5 * hard)
        look = ViewOptions(against=against, bounds=((bound,),))
        scene = build_scene(
            [run], ("margins",), options=FigureOptions(view=look, promises=[promised])
        )
    ink = scene.panels[0].ink
    (ring,) = [dots for dots in ink.dots if dots.marker is Marker.RING]
    curve = next(one for one in ink.curves if one.name == "hard_margin")
    x, y = np.asarray(curve.x)[0], np.asarray(curve.y)[0]
    after = int(np.flatnonzero(y >= 0.9)[0])
    assert x[after - 1] < ring.x[0] <= x[after]
    part = (0.9 - y[after - 1]) / (y[after] - y[after - 1])
    assert ring.x[0] == pytest.approx(x[after - 1] + part * (x[after] - x[after - 1]), abs=1e-9)
    assert ring.y[0] == 0.9
    drawn = next(one for one in ink.curves if one.name == "x")
    np.testing.assert_allclose(np.asarray(drawn.y)[0], 0.5 * y)


def test_before_90_percent_there_is_no_ring(path: Path) -> None:
    """A figure that ends before, as a film at its beginning."""
    with open_run(path) as run:
        hard = OBSERVABLES["hard_margin"].trace(run)
        promised = Promise(margin("gamma_gl", 1.6 * hard[-1], 1.6 * hard[-1]))
        reached = int(np.flatnonzero(hard >= 0.72 * hard[-1])[0])
        for last, rings in ((reached - 1, 0), (reached, 1)):
            scene = build_scene(
                [run], ("margins",), last, options=FigureOptions(promises=[promised])
            )
            found = [one for one in scene.panels[0].ink.dots if one.marker is Marker.RING]
            assert len(found) == rings


def test_a_caption_says_what_margins_are_divided_by(path: Path) -> None:
    promised = Promise(margin("gamma_gl", 0.15, 0.17))
    with open_run(path) as run:
        shares = build_scene([run], ("margins",), options=FigureOptions(promises=[promised]))
        norms = build_scene([run], ("norms",), options=FigureOptions(promises=[promised]))
    assert "Margins are divided by" in " ".join(text.text for text in shares.texts)
    assert "divided by" not in " ".join(text.text for text in norms.texts)


def test_every_place_has_the_same_share(path: Path) -> None:
    """The library's column, what runs are compared by, and the view: one function of one value."""
    with open_run(path) as run:
        assert main(["margins", str(path), "--quiet", "--limit", "20"]) == 0
        most = most_of(run)
        last = float(OBSERVABLES["hard_margin"].value_at(run, run.frames - 1))
        one = promise_of_run(run)
        assert one.largest_margin == most
        assert one.scale * last == pytest.approx(last / most)
        assert margin_share(last, 0.5, 2.0 * most) == pytest.approx(last / most)


def promise_of_run(run: object) -> Promise:
    from core.cli.view_arguments import promises_of

    return promises_of([run], quiet=True)[0]


def test_figure_share(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "share.svg"
    assert main(["figure", str(path), "--out", str(out), "--share", "--quiet"]) == 0
    assert out.stat().st_size > 1000
    plain = tmp_path / "plain.svg"
    assert main(["figure", str(path), "--out", str(plain), "--quiet"]) == 0
    assert out.read_bytes() != plain.read_bytes()


def test_a_run_without_a_promise_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.msrun"
    recorded(
        path,
        *("network.kind=batch_norm", "dynamics.kind=gd", "dynamics.step=.1"),
        *("dynamics.until_log10_time=0", "data.d=4", "data.n=8", "network.m=8"),
    )
    assert main(["figure", str(path), "--out", str(tmp_path / "x.svg"), "--share", "--quiet"]) == 2
    err = capsys.readouterr().err
    assert "omit --share" in err
    assert err.count("\n") == 1
