"""The studies of wei19, and what they needed: the l1 problem of section F.4 and its measures."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.figures.palette import LIGHT
from core.figures.study_panels import colours_of_lines
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.intervals import append_ones, bracket_l1_margin
from core.reference.l1_path import (
    PathMargin,
    directions_of_circle,
    lifted_inputs,
    maximise_l1_margin,
    solve_path_point,
    solve_problem,
)
from core.runs import Recorder, open_run
from core.studies import panel_lines
from core.studies.cells import open_cell
from core.studies.claims import Second
from core.studies.measures.registry import MEASURES
from core.studies.measures.run_measures import PATH, SAMPLE
from core.studies.study import load_study, shipped_ids
from core.study_file.validation import build_experiment
from core.training.trajectory import run

STUDIES = tuple(name for name in shipped_ids() if name.startswith("wei19-"))
LINE = {
    "data": {"kind": "intervals", "n": 12},
    "network": {"kind": "bias", "m": 60},
    "loss": {"kind": "logistic", "l2": 2.0**-10},
    "dynamics": {"kind": "gd", "until_log10_time": 4.0},
    "recording": {"frames": 3},
}


def problem(tables: dict[str, Any], **changes: dict[str, Any]) -> Problem:
    merged = {name: {**tables.get(name, {}), **changes.get(name, {})} for name in tables}
    return resolve_problem(build_experiment(merged, "test"))


def record(at: Problem, path: Path) -> None:
    run(at, lambda given, **facts: Recorder(path, given, **facts))


def cell(study: str, *settings: str) -> Problem:
    (found,) = load_study(study).with_settings(settings).cells()
    return resolve_problem(found.experiment)


def last(at: Problem, path: Path, *names: str) -> list[float]:
    record(at, path)
    with open_run(path) as found:
        return [float(OBSERVABLES[name].value_at(found, found.frames - 1)) for name in names]


# ---------------------------------------------------------------------------------------- studies


def test_every_figure_of_the_paper_has_a_study() -> None:
    figures = {f"wei19-figure-{name}" for name in ("1", "2", "3-left", "3-right", "4", "5")}
    assert set(STUDIES) == figures | {"wei19-theorem-2-1", "wei19-perturbed-flow"}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_what_it_needs(name: str) -> None:
    study = load_study(name)
    assert study.title and study.source == "wei19" and len(study.note) > 200
    quick = study.at_size("quick")
    assert 0 < len(quick.cells()) < len(study.cells())
    assert study.layout() is not None and len(study.claims) >= 3
    assert all(claim.measure for claim in study.claims)


def test_mnist_takes_the_place_of_the_digits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60, dtype=np.uint8) % 10
    pixels = rng.integers(0, 256, (60, 28, 28), dtype=np.uint8)
    for name, magic, array in (
        ("train-images-idx3-ubyte.gz", 2051, pixels),
        ("train-labels-idx1-ubyte.gz", 2049, labels),
    ):
        head = struct.pack(f">I{array.ndim}I", magic, *array.shape)
        (tmp_path / name).write_bytes(gzip.compress(head + array.tobytes()))
    at = cell(
        "wei19-figure-3-right",
        "network.m=16",
        "run.seed=0",
        "data.kind=mnist",
        f'data.path="{tmp_path.as_posix()}"',
        "data.n=40",
        "dynamics.until_log10_time=0.0",
    )
    assert (at.dataset.n, at.dataset.d, at.dataset.classes) == (40, 784, 10)
    error, test_error = last(at, tmp_path / "a.msrun", "train_error", "test_error")
    assert 0.0 <= error <= 1.0 and 0.0 <= test_error <= 1.0


# ------------------------------------------------------------------------- D and the kernel's gap


def test_the_kernel_has_constant_error_at_a_quarter_of_d_squared(tmp_path: Path) -> None:
    """docs/theory.md, 7.8: .40-.44 at n = d^2/4, .10 at n = d^2."""
    for d, c, low, high in ((20, 1.0, 0.40, 0.45), (30, 1.0, 0.40, 0.45), (20, 4.0, 0.07, 0.13)):
        settings = (f"data.d={d}", f"factor.c={c}", "run.seed=0", "variant=NTK kernel")
        at = cell("wei19-theorem-2-1", *settings)
        assert at.dataset.n == round(c * d * d / 4)
        (error,) = last(at, tmp_path / f"{c}-{d}.msrun", "test_error")
        assert low < error < high


def test_the_network_needs_seven_d(tmp_path: Path) -> None:
    """docs/theory.md, 7.8: the error is about 0 there."""
    settings = ("data.d=20", "run.seed=0", "variant=network")
    few = cell("wei19-theorem-2-1", "factor.c=0.5", *settings)
    enough = cell("wei19-theorem-2-1", "factor.c=2.0", *settings)
    assert (few.dataset.n, enough.dataset.n) == (70, 280)
    assert last(few, tmp_path / "few.msrun", "test_error")[0] > 0.3
    assert last(enough, tmp_path / "enough.msrun", "test_error")[0] == 0.0


def test_samples_of_the_distribution(tmp_path: Path) -> None:
    tables = {
        "data": {"kind": "wei19", "d": 6, "n": 400},
        "network": {"kind": "standard", "m": 2},
        "loss": {"kind": "logistic"},
        "dynamics": {"kind": "gd", "until_log10_time": -2.0},
        "recording": {"frames": 2},
    }
    record(problem(tables), tmp_path / "a.msrun")
    with open_run(tmp_path / "a.msrun") as found:
        x, y = found.dataset.x, found.dataset.y
        shares = [
            float(np.mean((x[:, k] == sign) & (y == label)))
            for k, label in ((0, 1.0), (1, -1.0))
            for sign in (1.0, -1.0)
        ]
        assert sum(shares) == pytest.approx(1.0)
        expected = max(abs(share - 0.25) for share in shares)
        assert SAMPLE["cases"](found) == pytest.approx(expected)
        assert 0.0 < expected < 4.0 * np.sqrt(0.25 * 0.75 / 400)
        assert SAMPLE["lengths"](found) == 0.0
        assert SAMPLE["correlations"](found) < 4.0 / np.sqrt(400)


# --------------------------------------------------------------------------------- the l1 problem


def points_on_the_line(seed: int, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
    data = problem({**LINE, "run": {"seed": seed}}, data={"n": n}).dataset
    return data.x, data.y


@pytest.mark.parametrize("penalty", [2.0**-6, 2.0**-10, 2.0**-14])
def test_the_solution_meets_its_conditions(penalty: float) -> None:
    """|F'q| <= 2 lambda everywhere, with equality and the right sign where alpha is not 0."""
    x, y = points_on_the_line(0)
    found = solve_path_point(append_ones(x), y, penalty, directions_of_circle(300))
    F = y[:, None] * np.maximum(append_ones(x) @ found.directions.T, 0.0)
    p = F @ found.alpha
    slopes = F.T @ (1.0 / (1.0 + np.exp(p))) / y.size
    assert np.abs(slopes).max() <= 2.0 * penalty * (1.0 + 1e-3)
    heavy = np.abs(found.alpha) > 1e-3 * np.abs(found.alpha).max()
    assert heavy.any()
    assert np.allclose(slopes[heavy], 2.0 * penalty * np.sign(found.alpha[heavy]), rtol=1e-3)
    value = np.log1p(np.exp(-p)).mean() + 2.0 * penalty * np.abs(found.alpha).sum()
    assert found.objective == pytest.approx(value)
    assert 0.0 <= found.gap + 1e-15 < 1e-4 * found.objective


def test_the_solution_against_proximal_descent() -> None:
    """Another method on the same few directions."""
    x, y = points_on_the_line(1)
    penalty, directions = 2.0**-7, directions_of_circle(24)
    F = y[:, None] * np.maximum(append_ones(x) @ directions.T, 0.0)
    step = 4.0 * y.size / np.linalg.norm(F, 2) ** 2
    alpha = before = np.zeros(24)
    for k in range(20_000):
        ahead = alpha + k / (k + 3.0) * (alpha - before)
        down = ahead + step * F.T @ (1.0 / (1.0 + np.exp(F @ ahead))) / y.size
        before, alpha = alpha, np.sign(down) * np.maximum(np.abs(down) - 2 * penalty * step, 0.0)
    value = np.log1p(np.exp(-F @ alpha)).mean() + 2.0 * penalty * np.abs(alpha).sum()
    found = solve_path_point(append_ones(x), y, penalty, directions)
    assert found.objective == pytest.approx(value, rel=1e-6)


def test_the_hard_margin_is_the_certified_one() -> None:
    """1000 directions against exact pricing between breakpoints; the path comes near from below."""
    x, y = points_on_the_line(0)
    lower, upper, _ = bracket_l1_margin(x, y, CancelToken())
    svm = maximise_l1_margin(append_ones(x), y, directions_of_circle())
    assert 0.998 * lower <= svm.margin <= upper * (1.0 + 1e-9)
    margins = [
        solve_path_point(append_ones(x), y, 2.0**-e, directions_of_circle(400)).margin
        for e in (8, 11, 14)
    ]
    assert margins[0] < margins[1] < margins[2] < upper
    assert margins[2] > 0.7 * lower


def test_a_trained_network_solves_it(tmp_path: Path) -> None:
    """Section F.4: descent with the penalty reaches the least objective and its margin."""
    at = problem(LINE)
    found = solve_problem(at)
    (margin,) = last(at, tmp_path / "a.msrun", "hard_margin")
    assert 2.0 * margin == pytest.approx(found.margin, rel=0.01)
    bracket = PathMargin().compute(at, CancelToken())
    assert bracket.value == pytest.approx(found.margin)
    with open_run(tmp_path / "a.msrun") as run_:
        assert abs(PATH["excess"](run_)) < 2e-3
        assert PATH["least excess"](run_) <= PATH["excess"](run_)
        assert 0.0 < PATH["distance"](run_) < 1.0


def test_where_it_is_defined() -> None:
    assert PathMargin().applies(problem(LINE))
    assert not PathMargin().applies(problem(LINE, loss={"l2": 0.0}))
    flat = problem(LINE, data={"kind": "parity", "d": 2, "n": 32}, network={"kind": "standard"})
    seen = lifted_inputs(flat)
    assert seen is not None and np.array_equal(seen, flat.dataset.x)
    assert not PathMargin().applies(flat)
    assert lifted_inputs(problem(LINE, data={"kind": "parity", "d": 3, "n": 32})) is None


# ----------------------------------------------------------------------------- figures, measures


def test_the_function_panel_shows_network_and_svm(tmp_path: Path) -> None:
    at = problem(LINE)
    path = tmp_path / "wei19-figure-5__run.seed=0.msrun"
    record(at, path)
    found = open_cell(path, load_study("wei19-figure-5"), lambda kept: kept)
    assert found is not None and found.record.run is not None
    lines = panel_lines.functions([found])
    assert [line.value for line in lines] == ["network", "l1-SVM", "y = +1", "y = -1"]
    assert [line.joined for line in lines] == [True, True, False, False]
    y, x = at.dataset.y, at.dataset.x[:, 0]
    values = panel_lines.normalised_function(found.record.run, x)
    assert (y * values).min() == pytest.approx(found.record.at("hard_margin", 2))
    svm = np.interp(x, lines[1].x, lines[1].mean)
    assert 2.0 * (y * svm).min() == pytest.approx(
        bracket_l1_margin(at.dataset.x, y, CancelToken())[0], rel=0.05
    )
    colours = colours_of_lines(lines, LIGHT)
    assert colours[2:] == [LIGHT.positive, LIGHT.negative]
    found.record.run.close()


def test_the_points_panel_shows_the_examples(tmp_path: Path) -> None:
    at = cell("wei19-figure-1", "run.seed=0", "dynamics.until_log10_time=0.0")
    path = tmp_path / "wei19-figure-1__run.seed=0.msrun"
    record(at, path)
    found = open_cell(path, load_study("wei19-figure-1"), lambda kept: kept)
    assert found is not None and found.record.run is not None
    plus, minus = panel_lines.points([found])
    assert set(plus.x) == {-1.0, 1.0} and set(plus.mean) == {0.0}
    assert set(minus.x) == {0.0} and set(minus.mean) == {-1.0, 1.0}
    assert plus.x.size + minus.x.size == 200
    found.record.run.close()


class Made:
    def __init__(self, m: int, seed: int, fit: bool, margin: float) -> None:
        self.m, self.seeds, self.fit, self.margin = m, (seed,), fit, margin

    def setting(self, key: str) -> int:
        assert key == "network.m"
        return self.m

    def value(self, formula: str, at: float | None) -> float:
        return self.margin


def test_widths_are_compared_on_the_seeds_that_fit_at_both() -> None:
    trials: Any = [
        Made(16, 0, True, 2.0),
        Made(16, 1, False, 50.0),
        Made(16, 2, True, 4.0),
        Made(64, 0, True, 3.0),
        Made(64, 1, True, 99.0),
        Made(64, 2, True, 6.0),
    ]
    options = {"y": "hard_margin", "along": "network.m", "ends": [16, 64]}
    found = MEASURES["paired"].of(trials, Second(measure="paired", options=options))
    assert (found.value, found.count) == (pytest.approx(1.5), 2)
    nothing: Any = [SimpleNamespace(setting=lambda key: 8, seeds=(0,), fit=True)]
    quantity = Second(measure="paired", options=options)
    assert np.isnan(MEASURES["paired"].of(nothing, quantity).value)
