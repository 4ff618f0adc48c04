"""The registry and the cache of reference margins, and data that have no margin."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import final

import numpy as np
import pytest

from core.data.dataset import Dataset
from core.problem.problem import Problem
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.margin import (
    Bracket,
    Reference,
    ReferenceMargin,
    SavedMargin,
    absent_bracket,
    exact_bracket,
    find_contradiction,
    load_margin,
    save_margin,
)
from core.reference.registry import REFERENCES, compute, references_of
from tests.problems import problem


@final
class Counted(Reference):
    """Counts how often it is computed; ends early when late."""

    name, title, formula, source, label = "counted", "t", "f", "s", "l"

    def __init__(self) -> None:
        self.times = 0

    def applies(self, problem: Problem) -> bool:
        return True

    def key(self, problem: Problem) -> str:
        return problem.dataset.digest()

    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        self.times += 1
        watch.check()
        return (
            Bracket(0.25, 0.75, 0.5, False, "early")
            if watch.timed_out
            else exact_bracket(0.5, "whole")
        )


def test_names_and_texts() -> None:
    expected = (
        "gamma_linear gamma_ntk rkhs gamma_nc gamma_l1 l1_path leaky_optimum gamma_a gamma_c "
        "parity_population wei19_population dyadic_population gamma_star risk_star norm_star "
        "extremal_plus extremal_minus gamma_gl gamma_inf gamma_1 gamma_glinf gamma_spec "
        "gamma_op gamma_diagonal gamma_deep"
    )
    assert set(REFERENCES) == set(expected.split())
    for name, item in REFERENCES.items():
        assert item.name == name
        assert all((item.title, item.formula, item.source, item.label, item.where))


def test_a_bracket_of_a_draw_is_no_guess() -> None:
    """Both ends of gamma_ntk's hold but for a chance that is known, and it was called heuristic."""
    guess = Bracket(0.4, 0.5, 0.5, False, "")
    words = {
        name: ReferenceMargin(REFERENCES[name], guess, 0.0).certainty
        for name in ("gamma_gl", "gamma_ntk")
    }
    assert words == {
        "gamma_gl": "heuristic",
        "gamma_ntk": "holds except with probability 10^-6",
    }
    assert (
        ReferenceMargin(REFERENCES["gamma_ntk"], exact_bracket(0.5, ""), 0.0).certainty
        == "certified"
    )
    assert [one.name for one in REFERENCES.values() if one.failure] == ["gamma_ntk"]


def test_a_margin_is_computed_once(own_cache: Path) -> None:
    reference, of = Counted(), problem()
    first = compute(reference, of, CancelToken())
    second = compute(reference, of, CancelToken())
    assert reference.times == 1
    assert (first.bracket, first.seconds) == (second.bracket, second.seconds)
    compute(reference, of, CancelToken(), cache=False)
    assert reference.times == 2
    compute(reference, problem("run.seed=1"), CancelToken())
    assert reference.times == 3
    assert len(list(own_cache.iterdir())) == 2


def test_another_version_of_the_method_is_another_margin() -> None:
    reference = Counted()
    compute(reference, problem(), CancelToken())
    reference.version = 2
    compute(reference, problem(), CancelToken())
    assert reference.times == 2


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"lower": "x"}', "[" * 50_000])
def test_damaged_files_are_written_anew(own_cache: Path, damage: str) -> None:
    reference, of = Counted(), problem()
    compute(reference, of, CancelToken())
    (file,) = own_cache.iterdir()
    file.write_text(damage)
    assert compute(reference, of, CancelToken()).bracket.value == 0.5
    assert reference.times == 2
    assert json.loads(file.read_text())["value"] == 0.5


@pytest.mark.parametrize(
    "change", [{"lower": 2.0}, {"certified": 1}, {"method": None}, {"value": True}]
)
def test_impossible_entries_are_ignored(own_cache: Path, change: dict[str, object]) -> None:
    compute(Counted(), problem(), CancelToken())
    (file,) = own_cache.iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert load_margin(file) is None


def test_what_ended_early_is_computed_again_with_more_time() -> None:
    reference, of = Counted(), problem()
    assert compute(reference, of, CancelToken(0.0)).bracket.method == "early"
    assert compute(reference, of, CancelToken(-1.0)).bracket.method == "early"
    assert reference.times == 1
    assert compute(reference, of, CancelToken(60.0)).bracket.method == "whole"
    assert compute(reference, of, CancelToken(math.inf)).bracket.method == "whole"
    assert compute(reference, of, CancelToken(0.0)).bracket.method == "whole"
    assert reference.times == 2


def test_no_number_survives_the_cache(own_cache: Path) -> None:
    path = own_cache / "x.json"
    save_margin(path, SavedMargin(absent_bracket("Why."), 1.0))
    entry = load_margin(path)
    assert not entry.bracket.exists
    assert entry.bracket.method == "Why."


def test_a_folder_that_cannot_be_made_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MARGINSCOPE_CACHE", str(tmp_path / "file"))
    assert compute(Counted(), problem(), CancelToken()).bracket.value == 0.5


def test_a_cancelled_margin_leaves_nothing(own_cache: Path) -> None:
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        compute(Counted(), problem(), watch)
    assert not own_cache.exists()


def test_all_margins_lie_within_their_brackets() -> None:
    of = problem("data.n=10")
    found = [compute(one, of, CancelToken(20.0)).bracket for one in references_of(of)]
    assert all(b.lower <= b.value <= b.upper for b in found if b.exists)


def changed(of: Problem, x: np.ndarray, y: np.ndarray, classes: int = 2) -> Problem:
    return replace(of, dataset=Dataset(x, y, classes=classes))


NETWORKS = [(), ("network.kind=fixed_outer",), ("network.kind=batch_norm",)]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("kind", ["duplicate", "classes"])
def test_data_without_a_margin_get_a_sentence(kind: str, network: tuple[str, ...]) -> None:
    of = problem("data.n=12", *network)
    x, y = of.dataset.x.copy(), of.dataset.y.copy()
    classes = 2
    if kind == "duplicate":
        x[1], y[0], y[1] = x[0], 1.0, -1.0
    else:
        y, classes = np.arange(12.0) % 3, 3
    for reference in references_of(changed(of, x, y, classes)):
        if reference.name in ("parity_population", "gamma_gl"):
            continue
        found = reference.compute(changed(of, x, y, classes), CancelToken(5.0))
        assert not found.exists
        assert found.method.endswith(".")


def test_a_point_at_zero_has_no_margin() -> None:
    of = problem("data.n=12")
    x = of.dataset.x.copy()
    x[3] = 0.0
    for name in ("gamma_linear", "rkhs", "gamma_ntk"):
        assert not REFERENCES[name].compute(changed(of, x, of.dataset.y), CancelToken()).exists


def test_negative_zero_is_zero() -> None:
    assert find_contradiction(np.array([[0.0], [-0.0]]), np.array([1.0, -1.0])) == (0, 1)
    assert find_contradiction(np.array([[0.0], [0.0]]), np.array([1.0, 1.0])) is None
