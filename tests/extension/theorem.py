"""A statement: along gradient flow the risk never rises."""

from __future__ import annotations

import numpy as np

from core.runs import Run
from core.theorems import common
from core.theorems.registry import STATEMENTS
from core.theorems.statement import Comparison, Context, Hypothesis, Statement


def hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    return (common.flow(context.run),)


def never_rises(context: Context) -> Comparison:
    """log10 R of each frame is at most that of the frame before."""
    risk = context.trace("log10_risk")
    before = np.append(risk[0], risk[:-1])
    return common.compare_all_frames("<=", before + 1e-9, risk, "log10_risk")


def applies(run: Run) -> bool:
    return common.follows_gradient(run)


STATEMENTS.add(
    Statement(
        "docs/extend.md",
        "Lemma 1",
        "The risk never rises along gradient flow.",
        r"R(W(t)) \leq R(W(s)), \quad s \leq t",
        applies,
        "flow and descent",
        hypotheses,
        never_rises,
    )
)
