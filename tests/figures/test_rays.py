"""Extremal vectors and the borders of cells in figures and pages: geometry by hand, and where."""

from __future__ import annotations

import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.figures.options import FigureOptions, ViewOptions
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import Panel
from core.figures.rays import TIP, rays_of
from core.figures.scene import build_scene
from core.observables.planes import COORDINATES, NodePlane
from core.observables.projection import Projection
from core.problem.problem import resolve_problem
from core.reference.extremal import extremal_vectors
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.support.made_up_figures import two_runs
from tests.support.pages import flat, page_of

DIRECTIONS = ViewOptions(nodes="directions")


@cache
def run_of(kind: str, **more: Any) -> Run:
    tables = {
        "data": {"kind": kind, **more},
        "network": {"m": 6, "init": "balanced"},
        "loss": {"kind": "least_squares"},
        "dynamics": {"kind": "plain_flow", "until_log10_time": 0.5},
        "recording": {"frames": 6},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.msrun"
        train(resolve_problem(build_experiment(tables, "rays")), partial(Recorder, path))
        run = open_run(path)
        for index in range(run.frames):
            run.parameters(index)
        run.close()
    return run


def neurons(run: Run, look: ViewOptions = DIRECTIONS, **options: Any) -> Panel:
    return build_scene([run], ["neurons"], options=FigureOptions(view=look, **options)).panels[0]


def curves(panel: Panel) -> dict[str, Any]:
    return {one.name: one for one in panel.ink.curves}


def test_the_plane_has_a_ray_for_each_vector_and_a_line_for_each_point() -> None:
    run = run_of("regression", d=2, n=7, seed=4)
    found = extremal_vectors(run.dataset.x, run.dataset.y)
    panel = neurons(run)
    drawn = curves(panel)
    ends = np.concatenate(
        [np.stack([drawn[k].x, drawn[k].y], 2) for k in ("extrema", "saddles") if k in drawn]
    )
    assert (ends[:, 0] == 0.0).all() and len(ends) == len(found)
    wanted = TIP * np.array([one.u for one in found])
    assert np.abs(ends[:, None, 1] - wanted).max(axis=2).min(axis=1).max() < 1e-9
    colours = {tuple(row[:3]) for row in drawn["extrema"].colours.tolist()}
    known = {one.value > 0.0 for one in found}
    names = {True: LIGHT.positive, False: LIGHT.negative}
    assert {f"#{r:02x}{g:02x}{b:02x}" for r, g, b in colours} == {names[one] for one in known}
    borders = np.stack([drawn["borders"].x, drawn["borders"].y], 2)
    assert borders.shape == (7, 2, 2)
    assert np.abs(np.linalg.norm(borders, axis=2) - 1.0).max() < 1e-8
    products = np.abs(borders[:, 0] @ run.dataset.x.T)
    assert sorted(np.argmin(products, axis=1).tolist()) == list(range(7))
    assert products.min(axis=1).max() < 1e-8 * np.abs(run.dataset.x).max()
    assert 1 < len(panel.ink.words) <= len(found)
    for one in panel.ink.words:
        (value,) = (at.value for at in found if np.hypot(*(TIP * at.u - (one.x, one.y))) < 1e-9)
        told = float(one.text.strip(" $").replace("\u2212", "-"))
        assert told == pytest.approx(value, rel=5e-3)
    assert panel.x.low < -TIP and panel.x.high > TIP


def test_more_inputs_are_projected() -> None:
    """Of orthonormal ones u lies in the span of its own coordinates: what is across is left out."""
    run = run_of("orthonormal")
    for numbers in ((0, 1), (1, 2)):
        plane = NodePlane("coordinates", numbers)
        rays = rays_of(Projection(run, plane))
        found = extremal_vectors(run.dataset.x, run.dataset.y)
        wanted = TIP * np.array([one.u for one in found])[:, list(numbers)]
        assert rays.tips == pytest.approx(wanted)
        # <w, e_k> = 0 is an axis of the plane for its two coordinates, and all of it for others.
        assert sorted(np.abs(rays.borders).tolist()) == [[0.0, 1.0], [1.0, 0.0]]
    assert rays.saddles().tolist() == [False, True, True, True, True, False]
    dashed = curves(neurons(run))["saddles"]
    assert dashed.dash == "dashed" and len(dashed.x) == 4
    assert "maximum of G" in rays.words(5) and "active on 2 of 4" in rays.words(5)
    assert "G = \u22120.2236" in rays.words(0)


def test_there_are_none_of_weights_of_labels_and_of_crowds() -> None:
    run = run_of("spurious")
    key = [entry.text for entry in neurons(run).key]
    assert key[1:] == ["$G$ > 0"]
    for other, look in (
        (run, ViewOptions()),
        (two_runs()[0], DIRECTIONS),
        (run_of("regression", d=2, n=201), DIRECTIONS),
        (run_of("regression", d=8, n=40), DIRECTIONS),
    ):
        panel = neurons(other, look)
        assert not {"extrema", "saddles", "borders"} & set(curves(panel))
        assert len(panel.key) == 1 and not panel.ink.words


def test_the_figure_says_what_they_are() -> None:
    for look, there in ((DIRECTIONS, True), (ViewOptions(), False)):
        scene = build_scene([run_of("spurious")], ["neurons"], options=FigureOptions(view=look))
        text = " ".join(one.text for one in scene.texts)
        assert ("extremal vectors" in text) == there
        assert ("trajectories of $v_j/|v_j|$" in text) == there


def test_a_page_draws_the_same_lines() -> None:
    run = run_of("spurious")
    page = page_of([run], ["neurons"], FigureOptions(LIGHT, COORDINATES, view=DIRECTIONS))
    (panel,) = (one for row in page["rows"] for one in row["panels"].values())
    rays = panel["rays"]
    drawn = curves(neurons(run))
    x = np.concatenate([drawn["borders"].x, drawn["extrema"].x])
    assert np.array([line["x"] for line in rays["lines"]]) == pytest.approx(x, abs=1e-6)
    assert [line["tip"] for line in rays["lines"]] == [False] * 3 + [True]
    assert [flat(one["text"]) for one in rays["words"]] == [".715"]
    dark = curves(neurons(run, palette=DARK))["borders"].colours[0, :3]
    assert rays["lines"][0]["colours"][1] == f"#{bytes(dark).hex()}"
    plain = page_of([run], ["neurons"], FigureOptions(LIGHT))
    assert all("rays" not in one for row in plain["rows"] for one in row["panels"].values())
