"""Tangent kernel as a matrix of cosines: dense Jacobians, one neuron by hand, orders, figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.dynamics.rows import reduce_rows
from core.figures.export import save_figure
from core.figures.kernel_panel import KernelPanel, axis_label, border_segments, cosine_colours
from core.figures.palette import DARK, LIGHT, rgb
from core.figures.scene import build_scene
from core.observables import kernel_matrix
from core.observables.kernel_matrix import (
    cosines_at,
    count_shown,
    example_order,
    kernel_cosines,
    why_no_kernel,
)
from core.problem.problem import Problem, Start
from core.runs import Recorder, Run, open_run
from core.training.trajectory import run as train
from tests.networks import HEADS, LINEAR_PREDICTORS, TWO_LAYER, UNCOMPILED, Case, small_problem

DESCENT = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}
CASES = (*TWO_LAYER, *UNCOMPILED, HEADS[0], LINEAR_PREDICTORS[0])


def recorded(problem: Problem, path: Path) -> Run:
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    return open_run(path)


def case_run(case: Case, path: Path, **settings: int) -> Run:
    return recorded(small_problem(case, DESCENT, recording={"frames": 3}, **settings), path)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_entries_are_cosines_of_dense_gradients(case: Case, tmp_path: Path) -> None:
    """Of the physical weights; with k outputs the k gradients of an example are one vector."""
    with case_run(case, tmp_path / "a.msrun") as run:
        last, n, k = run.frames - 1, run.dataset.n, run.network.k
        flat = run.physical_parameters(last)
        J = np.array(list(run.network.output_slopes(flat, run.inputs))).reshape(n, -1)
        J = J.reshape(n, k, -1).reshape(n, -1)
        lengths = np.linalg.norm(J, axis=1)
        expected = np.divide(
            J @ J.T, np.outer(lengths, lengths), out=np.zeros((n, n)), where=lengths.min() > 0.0
        )
        order = example_order(run).examples
        found = kernel_cosines(run, last)
        assert np.array_equal(np.sort(order), np.arange(n))
        assert found == pytest.approx(expected[np.ix_(order, order)], abs=1e-10)
        assert found == pytest.approx(found.T, abs=1e-15)


def test_one_neuron_by_hand(tmp_path: Path) -> None:
    """K_ir = h_i h_r + a^2 1_i 1_r <x_i, x_r>; an example on the other side has no gradient."""
    problem = small_problem(Case("standard"), DESCENT, d=2, n=4, m=1)
    x = np.array([[1.0, 0.0], [0.6, 0.8], [2.0, 0.0], [-1.0, 0.0]])
    problem.dataset.x[:] = x
    flat = np.array([0.5, 1.0, 0.0])
    problem = replace(problem, start=Start(flat, flat))
    with recorded(problem, tmp_path / "a.msrun") as run:
        found = cosines_at(run, flat, np.arange(4))
    h, a = x[:, 0].clip(0.0), 0.5
    K = np.outer(h, h) + a * a * np.outer(h > 0, h > 0) * (x @ x.T)
    expected = np.zeros((4, 4))
    expected[:3, :3] = K[:3, :3] / np.sqrt(np.outer(np.diag(K)[:3], np.diag(K)[:3]))
    assert found == pytest.approx(expected, abs=1e-15)
    assert found[0, 2] == pytest.approx(1.0)  # on one ray
    assert not found[3].any()


def test_neither_the_scale_nor_coordinates_of_the_weights_matter(tmp_path: Path) -> None:
    problem = small_problem(Case("standard"), DESCENT, d=30, n=6, recording={"frames": 3})
    flat = problem.start.parameters
    larger = replace(problem, start=Start(9.0 * flat, 9.0 * flat))
    names = ("plain", "rows", "larger")
    runs = [
        recorded(one, tmp_path / name)
        for name, one in zip(names, (problem, reduce_rows(problem), larger), strict=True)
    ]
    assert runs[1].reduction is not None
    plain, reduced, other = (kernel_cosines(run, 0) for run in runs)
    assert reduced == pytest.approx(plain, abs=1e-10)
    assert other == pytest.approx(plain, abs=1e-12)
    assert np.abs(kernel_cosines(runs[2], 2) - plain).max() > 1e-6  # it moves
    for run in runs:
        run.close()


def test_examples_are_sorted_by_class_and_then_by_their_gradients(tmp_path: Path) -> None:
    with case_run(Case("multiclass", "cross_entropy", 3), tmp_path / "a.msrun", n=30) as run:
        order = example_order(run)
        labels = run.dataset.y[order.examples]
        assert (np.diff(labels) >= 0.0).all()
        assert order.borders == (10, 20)
        assert border_segments(order).shape == (4, 2, 2)
        # The first principal component of a class's unit gradients, from its Jacobian.
        first = order.examples[:10]
        J = np.array(list(run.network.output_slopes(run.origin, run.inputs[first])))
        J = J.reshape(10, -1)
        J /= np.linalg.norm(J, axis=1)[:, None]
        U = np.linalg.svd(J - J.mean(axis=0))[0][:, 0]
        assert (np.diff(U) >= 0.0).all() or (np.diff(U) <= 0.0).all()
        assert np.abs(np.diff(U)).max() > 1e-3
        assert axis_label(run) == "examples, by class"


def test_real_targets_sort_by_their_size(tmp_path: Path) -> None:
    case = Case("standard", "least_squares")
    data = {"kind": "regression", "d": 3, "n": 9}
    problem = small_problem(case, DESCENT, data=data, recording={"frames": 3})
    with recorded(problem, tmp_path / "a.msrun") as run:
        assert run.dataset.real
        order = example_order(run)
        assert (np.diff(run.dataset.y[order.examples]) >= 0.0).all()
        assert order.borders == ()
        assert axis_label(run) == "examples, by target"


def test_many_examples_are_thinned_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with case_run(Case("standard"), tmp_path / "a.msrun", n=400) as run:
        assert count_shown(run) == 200
        assert axis_label(run) == "200 of 400 examples, by class"
        shares = [np.mean(run.dataset.y[chosen] > 0.0) for chosen in (example_order(run).examples,)]
        assert shares[0] == pytest.approx(np.mean(run.dataset.y > 0.0), abs=0.01)
        assert np.unique(example_order(run).examples).size == 200
    with case_run(HEADS[0], tmp_path / "b.msrun", n=90) as run:
        assert count_shown(run) == 48  # one gradient at a time
    monkeypatch.setattr(kernel_matrix, "WORK", 1.0)
    with case_run(Case("standard"), tmp_path / "c.msrun", n=40) as run:
        assert count_shown(run) == 24
    with case_run(Case("standard"), tmp_path / "d.msrun", n=6) as run:
        assert count_shown(run) == 6


def test_a_figure_has_the_matrix_and_its_borders(tmp_path: Path) -> None:
    with case_run(Case("standard"), tmp_path / "a.msrun") as run:
        scene = build_scene([run], ["kernel", "margins"])
        panel, found = scene.panels[0], kernel_cosines(run, run.frames - 1)
        (raster,) = panel.ink.rasters
        assert raster.colours.shape == (12, 12, 3)
        assert (raster.left, raster.right, raster.bottom, raster.top) == (0.5, 11.5, 0.5, 11.5)
        assert (panel.x.low, panel.x.high, panel.y.low, panel.y.high) == (0.0, 12.0, 0.0, 12.0)
        assert (raster.colours == np.rint(cosine_colours(found, LIGHT)).astype(np.uint8)).all()
        assert tuple(text for text in panel.key.texts if text) == ("\u22121", "0", "1")
        (borders,) = panel.ink.curves
        assert borders.x.shape == (2, 2)
        assert "tangent kernel" in " ".join(text.text for text in scene.texts)
        save_figure(scene, tmp_path / "x.svg")
        assert (tmp_path / "x.svg").stat().st_size > 1000


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)
def test_colours_are_deeper_for_larger_cosines(palette: object) -> None:
    colours = cosine_colours(np.array([[-1.0, 0.0, 0.5, 1.0]]), palette)[0]
    ground, positive = rgb(palette.background), rgb(palette.positive)
    assert colours[0] == pytest.approx(rgb(palette.negative))
    assert colours[1] == pytest.approx(ground)
    assert colours[2] == pytest.approx(0.5 * (ground + positive))
    assert colours[3] == pytest.approx(positive)


def test_a_kernel_predictor_says_why_it_has_none(tmp_path: Path) -> None:
    problem = small_problem(Case("standard"), {"kind": "kernel"}, recording={"frames": 2})
    with recorded(problem, tmp_path / "a.msrun") as run:
        assert why_no_kernel(run) == "a kernel predictor has one kernel at all times"
        panel = KernelPanel(run, LIGHT, 0)
        assert panel.ink(0).note == why_no_kernel(run)
        assert not panel.ink(0).rasters
