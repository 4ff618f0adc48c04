"""Problems: the order of draws, seeds of their own, and the user's files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.data.parity import ParityData
from core.errors import InputError
from core.problem.problem import Problem, points_for_test, resolve_problem
from core.studies.study import parse_study
from tests.problems import problem


def test_the_order_of_draws() -> None:
    """docs/theory.md, 2.3: parity, then a, then V, from one default_rng(seed)."""
    rng = np.random.default_rng(3)
    x = rng.choice([-1, 1], (64, 20)) / np.sqrt(20)
    a = rng.standard_normal(16) / np.sqrt(16)
    V = rng.standard_normal((16, 20)) / np.sqrt(20)
    at = problem("run.seed=3", m=16)
    assert np.array_equal(at.dataset.x, x)
    assert np.array_equal(at.dataset.y, np.sign(x[:, 0] * x[:, 1]))
    assert np.array_equal(at.start.parameters, np.concatenate([a, V.reshape(-1)]))


def test_widths_share_their_data() -> None:
    assert np.array_equal(problem(m=2).dataset.x, problem(m=300).dataset.x)


def test_seeds_of_their_own() -> None:
    base = problem(m=4)
    weights = problem("network.seed=7", m=4)
    assert np.array_equal(base.dataset.x, weights.dataset.x)
    assert not np.array_equal(base.start.parameters, weights.start.parameters)
    data = problem("data.seed=7", "network.seed=7", m=4)
    assert not np.array_equal(base.dataset.x, data.dataset.x)
    assert np.array_equal(data.start.parameters, weights.start.parameters)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_parity_labels_and_exact_test_set(k: int) -> None:
    parity = ParityData(d=6, n=10, k=k)
    points = parity.test_set(np.random.default_rng(0), parity.sample(np.random.default_rng(0)))
    assert points.exact
    assert np.unique(points.x, axis=0).shape == (64, 6)
    wanted = 6 ** (k / 2) * np.prod(points.x[:, :k], axis=1)
    assert np.allclose(points.y, wanted)
    assert points.y.sum() == 0


def test_sampled_test_points_are_fixed() -> None:
    one, other = points_for_test(problem(m=2)), points_for_test(problem(m=5))
    assert one.x.shape == (2**14, 20)
    assert not one.exact
    assert np.array_equal(one.x, other.x)
    x = np.random.default_rng([0, 1]).choice([-1, 1], (2**14, 20)) / np.sqrt(20)
    assert np.array_equal(one.x, x)


def mine(folder: Path, data: str, network: str = "m = 2") -> Problem:
    study = parse_study(f"[data]\nkind = 'file'\n{data}\n[network]\n{network}\n", "mine", folder)
    return resolve_problem(study.cells()[0].experiment, study.folder)


def test_npz_data(tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((6, 3))
    y = np.array([0, 1, 1, 0, 1, 0])
    np.savez(tmp_path / "data.npz", x=x, y=y, x_test=x[:2], y_test=[1, 0])
    at = mine(tmp_path, "path = 'data.npz'")
    assert np.array_equal(at.dataset.x, x)
    assert at.dataset.y.tolist() == [-1, 1, 1, -1, 1, -1]
    assert (at.experiment.data.d, at.experiment.data.n) == (3, 6)
    assert at.experiment.data.path is None  # a run embeds the content, never the path
    points = points_for_test(at)
    assert points.y.tolist() == [1, -1]


def test_csv_data(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("u,y,w\n1,1,2\n3,-1,4\n\n5,1,6\n")
    at = mine(tmp_path, "path = 'data.csv'")
    assert at.dataset.x.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert at.dataset.y.tolist() == [1, -1, 1]
    assert points_for_test(at) is None


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.ones((2, 2)), "y": [-1, 2]}, "label 2"),
        ({"x": np.ones((2, 2)), "y": [1, 1]}, "only the label 1"),
        ({"x": np.array([[1, np.nan], [1, 1]]), "y": [1, -1]}, "value nan at index (0, 1)"),
        ({"x": np.array([[1, np.inf], [1, 1]]), "y": [1, -1]}, "value inf"),
        ({"x": np.ones((2, 2)), "y": [1, np.nan]}, "y in"),
        ({"x": np.array([[1, None]], dtype=object), "y": [1]}, "object array"),
        ({"x": np.array([["a", "b"]]), "y": [1]}, "save it as numbers"),
        ({"x": np.ones((2, 2), complex), "y": [1, -1]}, "save it as numbers"),
        ({"x": np.ones((3, 2)), "y": [1, -1]}, "one label for each of the 3 rows"),
        ({"x": np.ones(3), "y": [1, -1, 1]}, "a table (n, d)"),
        ({"x": np.ones((0, 2)), "y": np.ones(0)}, "a table (n, d)"),
        ({"xs": np.ones((2, 2)), "y": [1, -1]}, "has no array x; did you mean 'xs'"),
        ({"x": np.eye(2), "y": [1, -1], "x_test": np.eye(2)}, "both x_test and y_test"),
        ({"x": np.eye(2), "y": [1, -1], "x_test": np.eye(3), "y_test": [1, 1, -1]}, "3 columns"),
    ],
)
def test_wrong_data_is_refused(tmp_path: Path, arrays: dict[str, object], words: str) -> None:
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(InputError) as caught:
        mine(tmp_path, "path = 'data.npz'")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data.npz", b"not a zip", "not a readable NPZ"),
        ("data.npz", b"", "not a readable NPZ"),
        ("data.csv", b"a,b\n1,2\n", "one column named y"),
        ("data.csv", b"a,y\n1\n", "line 2"),
        ("data.csv", b"a,y\none,1\n", "'one' where a number is needed"),
        ("data.csv", b"a,y\n", "no rows"),
        ("data.csv", b"\xff\xfe\x00", "not a readable CSV"),
        ("data.xlsx", b"", "save the data as .npz, .csv"),
        ("other", b"", "does not exist"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    path = "data.npz" if name == "other" else name
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        mine(tmp_path, f"path = '{path}'")


def test_conflicting_sizes_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(2), y=[1, -1])
    assert mine(tmp_path, "path = 'data.npz'\nd = 2\nn = 2").dataset.n == 2
    with pytest.raises(InputError, match="conflicts"):
        mine(tmp_path, "path = 'data.npz'\nd = 3")


def test_initial_parameters_from_a_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(2), y=[1, -1])
    np.savez(tmp_path / "init.npz", a=[1.0, 2.0, 3.0], V=np.ones((3, 2)))
    at = mine(tmp_path, "path = 'data.npz'", "init = 'file'\ninit_path = 'init.npz'")
    assert at.experiment.network.m == 3
    assert at.experiment.network.init_path is None
    assert at.start.parameters.tolist() == [1, 2, 3, 1, 1, 1, 1, 1, 1]


def test_the_width_from_a_file_is_that_of_the_outer_weights(tmp_path: Path) -> None:
    """Layers inside a head may be narrower than it is."""
    np.savez(tmp_path / "data.npz", x=np.eye(2), y=[1, -1])
    head = "kind = 'head'\nhidden = 3\n"
    drawn = mine(tmp_path, "path = 'data.npz'", f"{head}m = 5")
    np.savez(tmp_path / "init.npz", **drawn.network.unpack(drawn.start.parameters))
    read = mine(tmp_path, "path = 'data.npz'", f"{head}init = 'file'\ninit_path = 'init.npz'")
    assert read.experiment.network.m == 5
    assert np.array_equal(read.start.parameters, drawn.start.parameters)


@pytest.mark.parametrize(
    ("arrays", "network", "words"),
    [
        ({"a": np.ones(3)}, "", "has no array V"),
        ({"a": np.ones(3), "V": np.ones((3, 5))}, "", r"shape \(3, 5\)"),
        ({"a": np.ones(3), "V": np.ones((2, 2))}, "", "must be"),
        ({"a": np.ones(3), "V": np.ones((3, 2))}, "m = 4", "m = 4"),
        ({"a": np.full(3, np.nan), "V": np.ones((3, 2))}, "", "not finite"),
        ({"a": np.array([None]), "V": np.ones((1, 2))}, "", "object array"),
    ],
)
def test_mismatched_parameters_are_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], network: str, words: str
) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(2), y=[1, -1])
    np.savez(tmp_path / "init.npz", **arrays)
    with pytest.raises(InputError, match=words):
        mine(tmp_path, "path = 'data.npz'", f"init = 'file'\ninit_path = 'init.npz'\n{network}")


def test_init_file_without_a_path_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(2), y=[1, -1])
    with pytest.raises(InputError, match="init_path is missing"):
        mine(tmp_path, "path = 'data.npz'", "init = 'file'")
