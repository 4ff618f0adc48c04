"""Every hypothesis of every statement has a place in its paper, and none of a paper's is left out.

The counter-examples are runs on which a conclusion fails because a hypothesis does: none of them
may be called violated with its hypotheses met.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.theorems.registry import STATEMENTS
from tests.theorems.gallery import GALLERY
from tests.theorems.judging import judged, problem_of, recorded_run
from tests.theorems.where_stated import EXEMPT, STANDING, STATED

Key = tuple[str, str]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Key, set[tuple[str, ...]]]]:
    """The words of each statement's hypotheses, on every problem that it is about."""
    folder, words = tmp_path_factory.mktemp("gallery"), {}
    for number, problem in enumerate(GALLERY.values()):
        at = problem_of(**problem, frames=4)
        with recorded_run(folder / str(number), at) as run:
            for key, one in judged(run, {}).items():
                texts = tuple(hypothesis.text for hypothesis in one.hypotheses)
                words.setdefault(key, set()).add(texts)
    yield words


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
