"""The claims of the shipped studies: where each comes from, and what it can be judged on."""

from __future__ import annotations

import re

import pytest

from core.program import result_file
from core.studies.claims import SIZES
from core.studies.formulas import VARIANT
from core.studies.measures.registry import MEASURES
from core.studies.study import Study, load_study, shipped_ids
from core.theorems.registry import STATEMENTS
from tests.tools.results import reworded

PLACE = re.compile(
    r"(Theorem|Lemma|Proposition|Section|Figure|Table|Equation|Corollary|Example|Assumption) "
    r"[A-Z(]?\d?|Lyu and Li"
)
# Runs that a value measured here comes from: never those of the quick size themselves.
APART = re.compile(
    r"\bother (seeds?|trials|data sets|draws)|(seeds|trials) that (the quick|are not)|20 seeds|"
    r"independent|Descent with|known to 3e-5|the same in every draw|[Dd]erived here"
)
OURS = re.compile(r"\b(measured|derived) here\b", re.IGNORECASE)
STUDIES = {name: load_study(name) for name in shipped_ids()}
CLAIMS = [(name, claim) for name, study in STUDIES.items() for claim in study.claims]


def test_every_study_makes_claims() -> None:
    assert {name for name, _ in CLAIMS} == set(shipped_ids())
    assert len(CLAIMS) >= 233


def test_claims_say_where_they_come_from(subtests: pytest.Subtests) -> None:
    """Each claim names its place in the paper, or says that its value was found here."""
    for name, study in STUDIES.items():
        with subtests.test(study=name):
            for claim in study.claims:
                assert PLACE.search(claim.basis) or OURS.search(claim.basis), claim.text
                assert len(claim.basis) > 20, claim.text


@pytest.mark.parametrize("name", STUDIES)
def test_claims_are_about_cells_that_the_study_has(name: str) -> None:
    """At every size that a claim is judged at, what it names is on the study's grid."""
    for size in SIZES:
        study = STUDIES[name].at_size(size)
        for claim in study.claims:
            for quantity in filter(None, (claim, claim.against)):
                wanted = dict(quantity.where)
                if quantity.measure == "paired":
                    wanted[quantity.options["along"]] = tuple(quantity.options["ends"])
                for key, value in wanted.items() if size in claim.sizes else ():
                    allowed = value if isinstance(value, tuple) else (value,)
                    assert _there(study, key) & set(allowed), (claim.text, key)


def _there(study: Study, key: str) -> set[object]:
    """Return the values of an axis, the variants, or what a derived setting comes to."""
    if key == VARIANT:
        return set(study.variants)
    if key in study.axes:
        return set(study.axes[key])
    section, _, field = key.partition(".")
    return {getattr(getattr(cell.experiment, section), field) for cell in study.cells()}


def test_statements_that_claims_name_exist() -> None:
    known = {(one.source, one.name) for one in STATEMENTS.values()}
    for name, claim in CLAIMS:
        if claim.measure == "statement":
            source = STUDIES[name].source
            assert (source, claim.options["name"]) in known, (name, claim.text)


def test_claims_use_options_that_their_measures_have() -> None:
    for name, claim in CLAIMS:
        for quantity in filter(None, (claim, claim.against)):
            if quantity.measure in MEASURES:
                known = MEASURES[quantity.measure].options
                assert set(quantity.options) <= set(known), (name, claim.text)


def test_what_cannot_be_judged_says_why() -> None:
    for name, claim in CLAIMS:
        assert claim.sizes == ("quick", "paper") or claim.reason, (name, claim.text)


def test_displacements_of_batch_norm_are_treated_alike() -> None:
    """Theorem 2.2 bounds U and V under the same hypotheses, which no width meets at d = 64."""
    claims = STUDIES["batchnorm-theorem-2-2"].claims
    (outer,), (inner,) = ([one for one in claims if f"|{x} - {x}_0|" in one.text] for x in "UV")
    assert outer.sizes == inner.sizes == ()
    assert all("hypotheses are not met" in claim.reason for claim in (outer, inner))


def test_values_measured_here_are_not_of_the_runs_that_they_judge() -> None:
    """A value and its tolerance from the very runs that are judged by them cannot fail."""
    for name, claim in CLAIMS:
        if OURS.search(claim.basis) and claim.compare == "~" and claim.sizes:
            assert APART.search(claim.basis), (name, claim.text)


LONGEST = 160  # characters of a claim
# Words by which a sentence leans on the one before it, or says no more than that something is.
LEANING = re.compile(
    r"(And|Then|So|Likewise|Nor|But|Also|It|This|That|These|They|There|Here)\b"
    r"|.*\b(our|ours|there (is|are)|stands|anew|figure is|so (it|they) (is|are|does|do))\b"
)


def test_claims_are_sentences_that_stand_alone(subtests: pytest.Subtests) -> None:
    """Each is one short sentence without reference to another, which no other claim repeats."""
    for name, study in STUDIES.items():
        with subtests.test(study=name):
            texts = [claim.text for claim in study.claims]
            assert len(set(texts)) == len(texts)
            for text in texts:
                assert text.endswith(".") and len(text) <= LONGEST, text
                assert not LEANING.match(text), text
                assert not re.search(r"\d[eE]-?\d", text), f"{text}: write powers of ten"


def test_words_of_shipped_results_are_those_of_their_studies(subtests: pytest.Subtests) -> None:
    for name in STUDIES:
        with subtests.test(study=name):
            shipped = result_file(name).read_text("utf-8")
            assert shipped == reworded(name), "python -m tests.tools.results --words"


def test_what_may_be_missing_was_seen() -> None:
    """Runs without a number are allowed for a stated cause, with the number of them."""
    for name, claim in CLAIMS:
        if claim.missing:
            told = re.search(r"curves? of \d+|of \d+ of|as above|see above", claim.basis)
            assert told and claim.missing < 0.1, (name, claim.text)
