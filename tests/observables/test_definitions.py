"""Every quantity has a formula that renders, a source and a normalisation."""

from __future__ import annotations

import re

import pytest
from matplotlib.mathtext import MathTextParser

from core.errors import InputError
from core.observables.registry import OBSERVABLES, explain
from core.observables.view_help import VIEWS
from core.reference.registry import REFERENCES

PAPER = re.compile(
    r"(telgarsky22|homogeneity|frei23|wei19|batchnorm|morwani24),? "
    r"(section|Theorem|Lemma|Proposition|Assumption|Appendix|Figure|Definition|equation)"
    r"|(saxe14|saad95|Fukumizu 1998 and Braun et al\. 2022); docs/theory.md, 4\.1[4678]$"
)


def test_every_quantity_is_defined(subtests: pytest.Subtests) -> None:
    assert OBSERVABLES and VIEWS
    for name in (*OBSERVABLES, *VIEWS):
        with subtests.test(name=name):
            found = explain(name)
            drawn = MathTextParser("path").parse(f"${found.tex}$")
            assert drawn.width > 0
            assert "$" not in found.tex
            assert found.title
            assert found.formula
            assert found.normalisation
            assert PAPER.match(found.source) or found.source.startswith("definition"), found.source


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_margins_are_explained(name: str) -> None:
    found = explain(name)
    assert found.title == REFERENCES[name].title
    assert found.formula
    assert found.normalisation


def test_an_unknown_quantity_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match="hard_margin"):
        explain("hard_margn")
