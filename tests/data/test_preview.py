"""What is shown of data before training, against the data themselves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from core.data.geometry import principal_axes
from core.data.preview import COMPONENTS, DIRECTIONS, Preview, preview
from core.errors import InputError
from core.study_file.experiment import KINDS
from tests.data.drawing import data_of, problem_of


def shown(kind: str, run_seed: int = 0, **keys: object) -> Preview:
    return preview(KINDS["data"][kind](**keys), run_seed, None)


@pytest.mark.parametrize("seed", [0, 3])
def test_the_preview_is_of_the_data_that_are_trained_on(seed: int) -> None:
    found = shown("teacher", seed, d=5, n=40)
    data = data_of("teacher", seed, d=5, n=40)
    assert found.dataset.digest() == data.digest()
    assert dict(found.counts) == {"-1": int((data.y < 0).sum()), "+1": int((data.y > 0).sum())}
    norms = [float(np.sqrt(sum(value**2 for value in row))) for row in data.x]
    assert (found.shortest, found.longest) == pytest.approx((min(norms), max(norms)))
    own = shown("teacher", 11, d=5, n=40, seed=seed)
    assert own.dataset.digest() == data.digest()


@pytest.mark.parametrize(("n", "d"), [(40, 6), (30, 200)])
def test_principal_components_are_scikit_learns(n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d)) * np.linspace(1, 3, d)
    axes = principal_axes(x)
    wanted = PCA(2, svd_solver="full").fit(x).components_
    assert np.allclose(np.abs((axes * wanted).sum(axis=1)), 1, atol=1e-9)
    assert np.allclose(axes @ axes.T, np.eye(2), atol=1e-12)


def test_known_directions_come_first() -> None:
    mixture = shown("gaussian_mixture", d=50)
    plane = mixture.planes[0]
    assert plane.title == DIRECTIONS
    mean = mixture.dataset.directions["mean"][0]
    assert np.allclose(plane.points[:, 0], mixture.dataset.x @ mean / np.linalg.norm(mean))
    assert "across" in plane.vertical
    xor = shown("xor", d=50).planes[0]
    assert np.allclose(np.abs(xor.points), np.abs(shown("xor", d=50).dataset.x[:, :2]))
    assert (xor.horizontal, xor.vertical) == ("along means 1", "along means 2")
    assert [plane.title for plane in shown("parity").planes] == [COMPONENTS]


def test_coordinates() -> None:
    found = shown("wei19")
    plane = found.coordinates(0, 4)
    assert np.array_equal(plane.points, found.dataset.x[:, [0, 4]])
    assert (plane.horizontal, plane.vertical) == ("coordinate 1", "coordinate 5")
    line = shown("intervals").coordinates(0, 1)
    assert np.array_equal(line.points[:, 1], problem_of("intervals").dataset.y)


def test_pictures_show_the_classes_in_turn() -> None:
    found = shown("digits", scale="pixels")
    assert found.pictures is not None
    assert found.pictures.shape == (12, 8, 8)
    data = found.dataset
    first = data.x[np.flatnonzero(data.y < 0)[0]].reshape(8, 8)
    assert np.allclose(found.pictures[0] / 255, first, atol=0.5 / 255)
    assert found.pictures.max() == 255
    assert shown("parity").pictures is None


@pytest.mark.parametrize("kind", [kind for kind, cls in KINDS["data"].items() if not cls.embedded])
def test_every_kind_can_be_previewed(kind: str) -> None:
    found = shown(kind)
    for plane in [*found.planes, found.coordinates(0, min(1, found.dataset.d - 1))]:
        assert plane.points.shape == (found.which.size, 2)
        assert np.isfinite(plane.points).all()
    assert sum(count for _, count in found.counts) == found.dataset.n


def test_what_a_run_refuses_is_refused() -> None:
    with pytest.raises(InputError, match=r"data\.path is missing"):
        shown("mnist")
    with pytest.raises(InputError, match="a study needs both classes"):
        shown("parity", n=1)
