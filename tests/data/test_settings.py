"""Settings of data: refused with the reason, varied by studies, kept by runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.problem.problem import points_for_test, resolve_problem
from core.runs import open_run
from core.studies.study import load_study, parse_study
from core.study_file.experiment import KINDS
from tests.data.drawing import data_of, problem_of
from tests.support.run_files import record


@pytest.mark.parametrize("kind", [kind for kind, cls in KINDS["data"].items() if not cls.embedded])
def test_every_kind_works_with_its_defaults(kind: str) -> None:
    cls = KINDS["data"][kind]
    section = cls()
    data = section.distribution(None).sample(np.random.default_rng(0))
    assert (data.n, data.d) == (section.n, section.d)
    assert cls.title
    assert cls.source


@pytest.mark.parametrize(
    ("kind", "keys", "words"),
    [
        ("parity", {"k": 21}, "k = 21 is larger than d = 20"),
        ("parity", {"d": 2, "k": 2, "freeze": True}, "needs d >= 3"),
        ("parity", {"d": 3, "k": 2, "freeze": True, "law": "decoy"}, "needs d >= 4"),
        ("parity", {"law": "markow"}, "data.law"),
        ("parity", {"bias": 1.0}, "data.bias"),
        ("cones", {"r": 12}, "a simplex has at most d \\+ 1 corners"),
        ("cones", {"eps": 0.6}, "must be below gamma_nc"),
        ("cones", {"gamma_nc": 1.0}, "leaves the unit ball"),
        ("two_cones", {"spread": 5}, "Proposition 2.6 needs 135"),
        ("two_cones", {"separation": 170, "spread": 6}, "stay below 180"),
        ("two_cones", {"alpha": 0.8}, "data.alpha"),
        ("two_cones", {"n": 2}, "data.n"),
        ("near_orthogonal", {"n": 50}, "n = 50 linearly independent vectors do not fit"),
        ("three_point", {"n": 4}, "data.n"),
        ("intervals", {"breaks": []}, "breaks is empty"),
        ("intervals", {"breaks": [0.5, 0.0]}, "must increase"),
        ("intervals", {"breaks": [0.0, 0.05]}, "leave no room"),
        ("intervals", {"breaks": [-2.0]}, "leave no room"),
        ("intervals", {"d": 2}, "data.d"),
        ("dyadic", {"d": 4, "n": 9}, "has 2 d = 8 examples"),
        ("digits", {"classes": [3]}, "3 is one class"),
        ("digits", {"classes": [3, 3]}, "names a class twice"),
        ("digits", {"classes": [3, 12]}, "numbered 0 to 9"),
        ("digits", {"n": 357}, "choose at most 356"),
        ("mnist", {"classes": [1]}, "1 is one class"),
        ("cifar10", {"classes": [0, -1]}, "numbered 0 to 9"),
    ],
)
def test_settings_that_cannot_work_are_refused(
    kind: str, keys: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        problem_of(kind, **keys)


@pytest.mark.parametrize("kind", ["parity", "wei19", "teacher"])
def test_a_draw_of_one_class_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match="a study needs both classes; choose a larger"):
        data_of(kind, n=1)


def test_dyadic_follows_its_dimension() -> None:
    study = parse_study('network.m = 2\n[data]\nkind = "dyadic"\n[axes]\n"data.d" = [2, 3]\n', "t")
    assert [resolve_problem(cell.experiment).dataset.x.shape for cell in study.cells()] == [
        (4, 2),
        (6, 3),
    ]


def test_lists_are_values_and_lists_of_lists_axes() -> None:
    study = parse_study('network.m = 2\n[data]\nkind = "digits"\n', "test")
    one = study.with_settings(["data.classes=[0, 1]"])
    assert not one.axes
    assert one.cells()[0].experiment.data.classes == (0, 1)
    two = study.with_settings(["data.classes=[[0, 1], [4, 9]]"])
    assert [cell.name for cell in two.cells()] == ["data.classes=0+1", "data.classes=4+9"]
    assert two.cells()[1].experiment.data.classes == (4, 9)
    again = parse_study(two.to_toml(), "test")
    assert [cell.experiment for cell in again.cells()] == [c.experiment for c in two.cells()]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, 1, 3, 3], "none of 2; class numbers must be 0, 1, ..., k - 1 without a gap"),
        ([0, 1, 2, 0.5], "label 0.5; labels must be"),
        ([0, -1, 1, 2], "label 2; labels must be"),
        ([0, 1, 2, 20_000], "at most 10000 classes"),
    ],
)
def test_wrong_class_numbers_are_refused(tmp_path: Path, y: list[float], words: str) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(4), y=y)
    with pytest.raises(InputError) as caught:
        problem_of("file", tmp_path, path="data.npz", many=True)
    assert words in str(caught.value)


def test_class_numbers_from_a_file(tmp_path: Path) -> None:
    x, y = np.eye(4), [2, 0, 1, 2]
    np.savez(tmp_path / "data.npz", x=x, y=y, x_test=x[:2], y_test=[1, 1])
    at = problem_of("file", tmp_path, path="data.npz", many=True)
    assert at.dataset.classes == 3
    assert at.dataset.y.tolist() == y
    assert at.dataset.y_test.tolist() == [1, 1]
    (tmp_path / "data.csv").write_text("u,y\n1,0\n2,1\n3,2\n")
    assert problem_of("file", tmp_path, path="data.csv", many=True).dataset.classes == 3
    np.savez(tmp_path / "data.npz", x=x, y=y, x_test=x[:2], y_test=[1, 3])
    with pytest.raises(InputError, match="the classes of y are numbered 0 to 2"):
        problem_of("file", tmp_path, path="data.npz", many=True)


@pytest.mark.parametrize(
    "kind", ["digits", *(kind for kind, cls in KINDS["data"].items() if not cls.embedded)]
)
def test_runs_open_with_their_data(tmp_path: Path, kind: str) -> None:
    own = {"modular": {"p": 5, "fraction": 0.6, "many": True}}
    keys = {"gaussian_mixture": {"d": 30}, "xor": {"d": 30}, **own}.get(kind, {})
    at = problem_of(kind, **keys)
    path = tmp_path / "run.msrun"
    record(path, at)
    with open_run(path) as run:
        assert np.array_equal(run.problem.dataset.x, at.dataset.x)
        assert run.experiment.data == at.experiment.data
        one, other = points_for_test(at), points_for_test(run.problem)
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert np.array_equal(one.x, other.x)
            assert np.array_equal(one.y, other.y)


@pytest.mark.parametrize("kind", list(KINDS["data"]))
def test_another_kind_can_be_chosen_in_the_first_study(kind: str) -> None:
    """Sizes that a kind has to itself are not taken over: no kind begins with a refusal."""
    study = load_study("telgarsky22-figure-1").with_settings([f"data.kind={kind}"])
    section = study.cells()[0].experiment.data
    assert section.kind == kind
    if kind in ("wei19", "teacher", "xor"):
        assert (section.d, section.n) == (20, 64)


def test_axes_over_sizes_that_a_kind_has_to_itself_go() -> None:
    study = load_study("telgarsky22-figure-1").with_settings(["data.n=[8, 16]"])
    assert "data.n" in study.with_value("data.kind", "wei19").axes
    assert "data.n" not in study.with_value("data.kind", "dyadic").axes
    digits = study.with_value("data.kind", "digits").with_value("data.n", [20, 30])
    assert digits.with_value("data.kind", "digits").axes["data.n"] == (20, 30)
