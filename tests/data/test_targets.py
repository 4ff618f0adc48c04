"""Real targets in place of labels: read, refused, recorded, shown, and what is not said of them."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.data.dataset import points_at
from core.data.files import FileData
from core.data.preview import preview
from core.data.regression import OrthonormalData, TeacherData
from core.errors import InputError
from core.figures.scene import build_scene
from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES, last_values, shown_of
from core.problem.problem import Problem, resolve_problem
from core.reference.registry import references_of
from core.runs import Recorder, Run, open_run
from core.studies.study import parse_study
from core.theorems.registry import applicable_statements
from core.training.trajectory import run as train
from tests.data.drawing import data_of, fresh_of, problem_of

# Boursier and Flammarion 2025: the points of their univariate example.
STUDY = """
title = "Regression"
[data]
kind = "points"
targets = "{targets}"
points = [[-0.75, 1, 1.1], [-0.5, 1, 0.1], [0.125, 1, -0.8]]
[network]
m = 8
[loss]
kind = "{loss}"
[dynamics]
kind = "gd"
step = 0.1
until_log10_time = 1.0
[recording]
frames = 12
"""
Y = (1.1, 0.1, -0.8)


def text(targets: str = "real", loss: str = "least_squares") -> str:
    return STUDY.format(targets=targets, loss=loss)


def problem() -> Problem:
    return resolve_problem(next(parse_study(text(), "regression").iter_cells()).experiment)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("targets") / "regression.msrun"
    train(problem(), partial(Recorder, path))
    return open_run(path)


def test_a_run_keeps_its_targets(recorded: Run) -> None:
    assert recorded.dataset.real
    assert recorded.dataset.y.tolist() == list(Y)
    assert recorded.dataset.labels.tolist() == [1, 1, 0]
    assert [recorded.dataset.words(label) for label in (0, 1)] == ["y <= 0", "y > 0"]


def test_the_risk_is_half_the_mean_square(recorded: Run) -> None:
    for index in (0, recorded.frames - 1):
        f = recorded.network.outputs(recorded.parameters(index), recorded.inputs)
        expected = float(((f - np.array(Y)) ** 2).mean()) / 2.0
        assert OBSERVABLES["risk"].value_at(recorded, index) == pytest.approx(expected, rel=1e-12)


def test_nothing_is_said_of_labels(recorded: Run) -> None:
    """No margins, no errors, no statement, no reference; what needs no label is there."""
    scalars = {item.name for item in shown_of(recorded, Shape.SCALAR)}
    assert not scalars & {"hard_margin", "smoothed_margin", "l1_margin", "train_error"}
    assert not scalars & {"test_error", "test_error_se", "dual_margin", "kkt_residual"}
    assert {"risk", "norm_squared", "patterns_changed", "stable_rank"} <= scalars
    assert applicable_statements(recorded) == ()
    names = {one.name for one in references_of(recorded.problem)}
    assert names == {"extremal_plus", "extremal_minus"}  # of early alignment, and no margins
    assert "hard_margin" not in last_values(recorded)


def test_figures_have_curves_in_place_of_margins(recorded: Run) -> None:
    scene = build_scene([recorded])
    assert [panel.kind for panel in scene.panels] == ["neurons", "rotations", "norms", "curves"]
    assert "$y>0$ and $y\\leq 0$" in " ".join(one.text for one in scene.texts)


def test_a_preview_counts_signs() -> None:
    section = problem().experiment.data
    assert preview(section, 0, None).counts == (("y <= 0", 1), ("y > 0", 2))


def test_labels_that_are_none_are_refused_unless_they_are_targets() -> None:
    with pytest.raises(InputError, match=r"point 1 has the label 1\.1; labels are -1 and \+1"):
        parse_study(text(targets="labels"), "regression")


@pytest.mark.parametrize("kind", ["flow", "mirror", "perturbed", "two_phase", "kernel"])
def test_dynamics_of_labels_do_not_take_targets(kind: str) -> None:
    with pytest.raises(InputError, match=f"real targets do not go with dynamics.kind = .{kind}.*"):
        parse_study(text(), "regression").with_settings([f"dynamics.kind={kind}"]).cells()


@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared"])
def test_losses_of_labels_do_not_take_targets(loss: str) -> None:
    with pytest.raises(InputError, match=f"real targets do not go with loss.kind = .{loss}.*"):
        _ = [*parse_study(text(loss=loss), "regression").iter_cells()]


def file_with(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path, **arrays)
    return path


def test_files_bring_targets_and_test_points(tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 6, 3)), np.linspace(-2.0, 3.0, 6)
    path = file_with(tmp_path / "a.npz", x=x[0], y=y, x_test=x[1], y_test=y[::-1])
    data = FileData(path=str(path), targets="real").distribution(None)
    read = data.sample(np.random.default_rng(0))
    assert read.real
    assert read.y.tolist() == y.tolist()
    assert read.y_test.tolist() == y[::-1].tolist()


def test_tables_of_text_bring_targets(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("u,y,v\n1,0.5,2\n3,-7.25,4\n")
    read = FileData(path=str(path), targets="real").distribution(None)
    sampled = read.sample(np.random.default_rng(0))
    assert sampled.y.tolist() == [0.5, -7.25]
    assert sampled.x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_targets_are_finite(tmp_path: Path, value: float) -> None:
    path = file_with(tmp_path / "a.npz", x=np.eye(2), y=np.array([1.0, value]))
    data = FileData(path=str(path), targets="real").distribution(None)
    with pytest.raises(InputError, match=r"y in .* at index \(1\), .*every value must be finite"):
        data.sample(np.random.default_rng(0))


def test_a_teacher_with_noise_is_that_of_labels(tmp_path: Path) -> None:
    """y less the noise is the teacher's output, and the noise has the variance that was asked."""
    drawn = data_of("regression", d=4, n=4000, units=5, noise=0.5)
    rest = drawn.y - TeacherData.outputs(drawn.x, drawn.directions)
    assert rest.std() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(2 * 4000))
    assert np.corrcoef(rest, drawn.y - rest)[0, 1] == pytest.approx(0.0, abs=5 / np.sqrt(4000))


@pytest.mark.parametrize(
    ("points", "line", "risks"),
    [
        ("paper", (-0.0615385, 0.6435897), (0.31, 0.0875214)),
        ("symmetric", (0.0, 0.7), (0.335, 0.09)),
    ],
)
def test_spurious_points_have_the_known_line(
    points: str, line: tuple[float, float], risks: tuple[float, float]
) -> None:
    """beta*, L(0) and L of the line, by least squares: Boursier and Flammarion 2025, with 1/2n."""
    drawn = data_of("spurious", points=points)
    beta, *_ = np.linalg.lstsq(drawn.x, drawn.y, rcond=None)
    assert beta == pytest.approx(np.array(line), abs=1e-7)
    for f, risk in zip((0.0 * drawn.y, drawn.x @ beta), risks, strict=True):
        assert float(((f - drawn.y) ** 2).mean() / 2.0) == pytest.approx(risk, abs=1e-7)


def test_orthonormal_data_follow_their_targets() -> None:
    assert OrthonormalData(y=(0.5, -1.0, 2.0)).n == 3
    with pytest.raises(InputError, match=r"n = 2, but there are 4 targets; leave n out"):
        data_of("orthonormal", n=2)


def test_the_test_risk_is_that_of_fresh_points(tmp_path: Path) -> None:
    at = problem_of("regression", d=4, n=50, units=5)
    train(at, partial(Recorder, tmp_path / "a.msrun"))
    with closing(open_run(tmp_path / "a.msrun")) as kept:
        x, y = fresh_of(at, 200_000)
        f = kept.network.outputs(kept.parameters(kept.frames - 1), kept.network.inputs(x))
        squares = (f - y) ** 2 / 2.0
        error = 6.0 * squares.std() * np.sqrt(1 / squares.size + 1 / points_at(4))
        assert last_values(kept)["test_risk"] == pytest.approx(squares.mean(), abs=error)
