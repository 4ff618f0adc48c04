"""Every hypothesis of every statement has a place in its paper, and none of a paper's is left out.

The counter-examples are runs on which a conclusion fails because a hypothesis does: none of them
may be called violated with its hypotheses met.
"""

from __future__ import annotations

import pytest

from core.reference.registry import REFERENCES
from core.theorems.registry import STATEMENTS
from core.theorems.statement import Assessment
from tests.support.judged_runs import (
    exactly,
    judge,
    problem_of,
    recorded_run,
    without_numbers,
)
from tests.theorems.gallery import FLOW, GALLERY
from tests.theorems.where_stated import EXEMPT, STANDING, STATED

Key = tuple[str, str]
# No measure on these nodes has the margin that Lemma B.1 promises.
NARROW = {"network": {"kind": "normalised", "m": 6}, "dynamics": FLOW}


@pytest.fixture(scope="module")
def assessed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[Key, Assessment]]:
    """Judge the runs of all problems of the gallery, without margins and with made-up ones."""
    folder, found = tmp_path_factory.mktemp("gallery"), []
    for number, problem in enumerate([*GALLERY.values(), NARROW]):
        at = problem_of(**problem, frames=4)
        with recorded_run(folder / str(number), at) as run:
            found += [
                judge(run, {}),
                judge(run, exactly(**dict.fromkeys(REFERENCES, 0.25))),
            ]
    return found


@pytest.fixture(scope="module")
def found(assessed: list[dict[Key, Assessment]]) -> dict[Key, set[tuple[str, ...]]]:
    """Return the words of each statement's hypotheses, on every problem that it is about."""
    words: dict[Key, set[tuple[str, ...]]] = {}
    for some in assessed:
        for key, one in some.items():
            words.setdefault(key, set()).add(tuple(each.text for each in one.hypotheses))
    return words


def test_every_verdict_has_its_two_numbers(assessed: list[dict[Key, Assessment]]) -> None:
    """Lemma B.1 called an infinite divergence violated, which `theorems --json` has as null."""
    decided = {
        key for some in assessed for key, one in some.items() if one.comparison.holds is not None
    }
    assert len(decided) > 80
    assert [line for some in assessed for line in without_numbers(some)] == []


def test_the_gallery_has_every_statement(found: dict[Key, set[tuple[str, ...]]]) -> None:
    assert set(found) == {(one.source, one.name) for one in STATEMENTS.values()}
    assert len(STATEMENTS) == 105


def test_every_hypothesis_is_stated_somewhere(found: dict[Key, set[tuple[str, ...]]]) -> None:
    """The list has all that the code has, and the code all that the list has; nothing twice."""
    for (paper, name), ways in found.items():
        for texts in ways:
            assert len(set(texts)) == len(texts), (paper, name)
            assert set(texts) == set(STATED[paper][name]), (paper, name)
    for paper, statements in STATED.items():
        names = {one.name for one in STATEMENTS.values() if one.source == paper}
        assert set(statements) == names
        assert all(place.strip() for places in statements.values() for place in places.values())


@pytest.mark.parametrize("paper", sorted(STANDING))
def test_what_a_paper_assumes_throughout_is_asked_everywhere(paper: str) -> None:
    for assumption in STANDING[paper]:
        exempt = EXEMPT[paper].get(assumption, {})
        without = {name for name, places in STATED[paper].items() if assumption not in places}
        assert without == set(exempt), assumption
