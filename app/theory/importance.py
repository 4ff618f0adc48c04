"""Order of a run's statements by importance, and their counts in a sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loads the numerical libraries
    from core.theorems.statement import Assessment

# Values of core.theorems.statement.Verdict, the most informative first -> words for several
# statements with this verdict, and for a single statement.
WORDS = {
    "violated": ("are violated", "is violated"),
    "the text's constant does not hold": ("fail as printed", "fails as printed"),
    "holds": ("hold", "holds"),
    "holds although the hypotheses are not met": (
        "hold beyond their hypotheses",
        "holds beyond its hypotheses",
    ),
    "violated with hypotheses not met": (
        "fail outside their hypotheses",
        "fails outside its hypotheses",
    ),
    "no constant stated": ("state no constant", "states no constant"),
    "not decided": ("undecided", "undecided"),
}
OPEN = ("no constant stated", "not decided")  # verdicts of undecided statements
RANKS = {verdict: rank for rank, verdict in enumerate(WORDS)}


def sort_by_importance(
    assessments: Sequence[Assessment],
) -> tuple[tuple[Assessment, ...], tuple[Assessment, ...]]:
    """Return the decided and the undecided statements (verdict in OPEN), both in WORDS' order.

    Within a verdict the statement of the smallest ratio of its sides is first. Statements of
    unknown ratio (NaN) are last, and equal ones remain in the given order.
    """
    ranked = sorted(assessments, key=_rank)
    decided = tuple(one for one in ranked if one.verdict.value not in OPEN)
    return decided, tuple(ranked[len(decided) :])


def _rank(assessment: Assessment) -> tuple[int, float]:
    """Return the sort key of a statement: its verdict's rank, and its ratio, inf if unknown."""
    ratio = assessment.comparison.ratio
    return RANKS[assessment.verdict.value], math.inf if math.isnan(ratio) else ratio


def make_summary(verdicts: Sequence[str]) -> str:
    """Return the head line above a run's statements, with the verdicts in WORDS' order.

    Verdicts of no statement are left out; an empty sequence gives '0 apply: '.

    >>> make_summary(["not decided", "holds", "violated with hypotheses not met", "holds"])
    '4 apply: 2 hold, 1 fails outside its hypotheses, 1 undecided'
    """
    counts = Counter(verdicts)
    applies = "applies" if len(verdicts) == 1 else "apply"
    parts = ", ".join(
        f"{counts[verdict]} {one if counts[verdict] == 1 else several}"
        for verdict, (several, one) in WORDS.items()
        if counts[verdict]
    )
    return f"{len(verdicts)} {applies}: {parts}"


# Words of a short summary, for several statements and for one -> verdicts that they count.
IN_SHORT = {
    ("violated", "violated"): ("violated",),
    ("fail as printed", "fails as printed"): ("the text's constant does not hold",),
    ("hold", "holds"): ("holds", "holds although the hypotheses are not met"),
    ("fail outside", "fails outside"): ("violated with hypotheses not met",),
    ("undecided", "undecided"): OPEN,
}


def make_short_summary(verdicts: Sequence[str]) -> str:
    """Return the counts of verdicts in a few words; "" for none.

    Statements that hold beyond their hypotheses count as holding, those without a constant as
    undecided.

    >>> make_short_summary(["not decided", "holds", "violated with hypotheses not met", "holds"])
    '2 hold \u00b7 1 fails outside \u00b7 1 undecided'
    """
    counts = {words: sum(map(verdicts.count, kinds)) for words, kinds in IN_SHORT.items()}
    parts = ((count, one if count == 1 else several) for (several, one), count in counts.items())
    return " \u00b7 ".join(f"{count} {words}" for count, words in parts if count)
