"""Planes of the input space: against dense linear algebra, closed forms, and plain coordinates."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.cli.main import main
from core.data.dataset import Dataset
from core.dynamics import rows
from core.errors import InputError
from core.observables import projection as module
from core.observables.node_coordinates import plane as columns_of
from core.observables.planes import PLANES, NodePlane, parse_plane
from core.observables.projection import Projection, checked_projection
from core.runs import Recorder, Run, open_run
from core.training.trajectory import run as train
from tests.networks import Case, small_problem

GD = {"kind": "gd", "step": 0.05, "until_log10_time": 0.7}
NUMBERS = {"coordinates": (3, 1), "nodes": (0, 2, 1)}


def plane_of(kind: str) -> NodePlane:
    return NodePlane(kind, NUMBERS.get(kind, ()))


def recorded(path: Path, case: Case, **sizes: int) -> Run:
    at = small_problem(case, GD, **sizes, recording={"frames": 4})
    train(at, partial(Recorder, path))
    return open_run(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return 20 examples of 9 coordinates, 7 nodes."""
    return recorded(tmp_path_factory.mktemp("planes") / "a.msrun", Case("standard"), d=9, n=20, m=7)


def vectors(run: Run, index: int) -> np.ndarray:
    return columns_of(run, index, range(run.dataset.d))


@pytest.mark.parametrize("kind", PLANES)
def test_two_orthonormal_directions_and_what_lies_on_them(run: Run, kind: str) -> None:
    shown, last = Projection(run, plane_of(kind)), run.frames - 1
    np.testing.assert_allclose(shown.rows @ shown.rows.T, np.eye(2), atol=1e-12)
    whole = vectors(run, last)
    np.testing.assert_allclose(shown.weights(last), whole @ shown.rows.T, atol=1e-13)
    np.testing.assert_allclose(shown.inputs(run.dataset.x), run.dataset.x @ shown.rows.T)
    unit = whole / np.linalg.norm(whole, axis=1)[:, None]
    np.testing.assert_allclose(shown.directions(last), unit @ shown.rows.T, atol=1e-12)
    assert all(shown.labels) and shown.labels[0] != shown.labels[1]


def test_the_motion_against_a_dense_decomposition(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Singular vectors of all displacements, each frame of norm 1; also by products alone."""
    start = vectors(run, 0)
    moved = [vectors(run, index) - start for index in range(1, run.frames)]
    stack = np.concatenate([one / np.linalg.norm(one) for one in moved])
    expected = np.linalg.svd(stack)[2][:2]
    for dense in (300, 3):
        monkeypatch.setattr(module, "DENSE", dense)
        found = Projection(run, NodePlane("motion", ())).rows
        np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1.0, atol=1e-9)
        assert (found[[0, 1], np.abs(found).argmax(axis=1)] > 0.0).all()


def test_class_means_are_told_apart_along_the_first_axis(run: Run) -> None:
    shown, x, y = Projection(run, NodePlane("means", ())), run.dataset.x, run.dataset.y
    plus, minus = (shown.inputs(x[y == sign]).mean(axis=0) for sign in (1.0, -1.0))
    gap = x[y == 1.0].mean(axis=0) - x[y == -1.0].mean(axis=0)
    np.testing.assert_allclose(plus - minus, [np.linalg.norm(gap), 0.0], atol=1e-12)
    # Nothing of the means lies across the plane.
    for sign in (1.0, -1.0):
        mean = x[y == sign].mean(axis=0)
        assert np.linalg.norm(shown.inputs(mean[None])) == pytest.approx(np.linalg.norm(mean))


def test_two_nodes_span_their_plane(run: Run) -> None:
    first, second = Projection(run, NodePlane("nodes", (0, 2, 1))).directions(1)[[0, 2]]
    np.testing.assert_allclose(first, [1.0, 0.0], atol=1e-12)
    assert second[1] > 0.0
    assert np.linalg.norm(second) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", PLANES)
@pytest.mark.parametrize(
    "case", [Case("standard"), Case("normalised"), Case("bias"), Case("batch_norm")], ids=str
)
def test_row_space_runs_lie_where_plain_ones_do(
    case: Case, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"d": 60, "n": 12, "m": 5}
    with recorded(tmp_path / "plain.msrun", case, **sizes) as plain:
        monkeypatch.setattr(rows, "SMALLEST", 0)
        with recorded(tmp_path / "low.msrun", case, **sizes) as low:
            assert low.reduction is not None and plain.reduction is None
            one, other = (Projection(at, plane_of(kind)) for at in (low, plain))
            for index in (0, low.frames - 1):
                for values in (Projection.weights, Projection.directions):
                    expected = values(other, index)
                    np.testing.assert_allclose(values(one, index), expected, atol=1e-8)


def test_several_classes() -> None:
    generator = np.random.default_rng(3)
    x, y = generator.normal(size=(30, 6)), np.arange(30) % 3
    data = Dataset(x, y.astype(np.float64), classes=3)
    axes = module.class_means(SimpleNamespace(dataset=data), ())
    means = np.array([x[y == c].mean(axis=0) for c in range(3)])
    expected = np.linalg.svd(means - means.mean(axis=0))[2][:2]
    np.testing.assert_allclose(np.abs(np.sum(axes.rows * expected, axis=1)), 1.0, atol=1e-9)


@pytest.mark.parametrize(
    ("plane", "match"),
    [
        (NodePlane("motions", ()), "motions is not a plane; choose one of coordinates, motion"),
        (NodePlane("nodes", ()), "needs two pinned neurons"),
        (NodePlane("nodes", (0, 99, 0)), "choose two of 0 to 6"),
        (NodePlane("nodes", (1, 1, 0)), "choose two of 0 to 6"),
        (NodePlane("nodes", (0, 1, 99)), "Frame 99 does not exist"),
        (
            NodePlane("coordinates", (0, 9)),
            "Coordinate 10 does not exist; with d = 9 choose 1 to 9",
        ),
        (NodePlane("coordinates", (1,)), "Give two coordinates"),
    ],
)
def test_what_is_no_plane_is_said_in_a_sentence(run: Run, plane: NodePlane, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        checked_projection(run, plane)
    assert str(caught.value).endswith(".")


def test_nodes_that_have_not_moved_and_means_that_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded(tmp_path / "a.msrun", Case("standard"), d=9, n=20, m=7) as run:
        still = vectors(run, 0)
        monkeypatch.setattr(module, "_vectors", lambda run, index: still)
        with pytest.raises(InputError, match="No neuron has moved yet"):
            Projection(run, NodePlane("motion", ()))
    equal = Dataset(np.full((4, 3), 0.5), np.array([1.0, -1.0, 1.0, -1.0]))
    with pytest.raises(InputError, match="means of the classes are equal"):
        module.class_means(SimpleNamespace(dataset=equal), ())


@pytest.mark.parametrize(
    "text", ["", "coordinates", "nodes", "0,1", "1", "1,2,3", "-1,2", "\u0661,2", "9" * 5000 + ",x"]
)
def test_what_is_typed_for_a_plane(text: str) -> None:
    with pytest.raises(InputError, match="is not a plane; give motion, means, components"):
        parse_plane(text)


def test_a_figure_and_a_film_on_a_plane(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure, film = str(tmp_path / "f.svg"), str(tmp_path / "f.gif")
    options = ["--plane", "motion", "--quiet"]
    assert main(["figure", str(run.path), "--out", figure, "--panels", "neurons", *options]) == 0
    assert {"motion 1", "motion 2"} <= set(re.findall(r"motion \d", Path(figure).read_text()))
    assert main(["movie", str(run.path), "--out", film, "--seconds", ".2", *options]) == 0
    assert Path(film).stat().st_size > 1000
    assert main(["figure", str(run.path), "--out", figure, "--plane", "sideways"]) == 2
    words = capsys.readouterr().err
    assert "--plane" in words and "is not a plane; give motion" in words


def test_one_class_has_no_plane_of_means_and_real_targets_have_their_signs() -> None:
    x = np.random.default_rng(0).standard_normal((6, 3))
    with pytest.raises(InputError, match="All examples are of one class"):
        module.class_means(SimpleNamespace(dataset=Dataset(x, np.ones(6))), ())
    y = np.array([0.5, -1.0, 2.0, -0.25, 3.0, -2.0])
    axes = module.class_means(SimpleNamespace(dataset=Dataset(x, y, real=True)), ())
    apart = x[::2].mean(axis=0) - x[1::2].mean(axis=0)
    np.testing.assert_allclose(axes.rows[0], apart / np.linalg.norm(apart))
    assert axes.labels[0] == "mean of y > 0 minus mean of y <= 0"
    labelled = module.class_means(SimpleNamespace(dataset=Dataset(x, np.sign(y))), ())
    assert labelled.labels[0] == "mean of +1 minus mean of \u22121"
