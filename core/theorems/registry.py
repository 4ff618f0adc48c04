"""Registry of all statements, in the order of the papers, and their judgement on a run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.reference.cancel_token import CancelToken
from core.reference.margin import ReferenceMargin
from core.runs import Run
from core.settings import Registry
from core.theorems import (
    batchnorm,
    batchnorm_alignment,
    batchnorm_start,
    frei23,
    frei23_descent,
    frei23_points,
    homogeneity_margins,
    homogeneity_mirror,
    homogeneity_sampling,
    telgarsky22_data,
    telgarsky22_global,
    telgarsky22_kkt,
    telgarsky22_lemmas,
    telgarsky22_ntk,
    telgarsky22_sgd,
    wei19,
    wei19_flow,
)
from core.theorems.statement import DELTA, Assessment, Context, Statement, assess

MODULES = (
    telgarsky22_data,
    telgarsky22_sgd,
    telgarsky22_ntk,
    telgarsky22_global,
    telgarsky22_lemmas,
    telgarsky22_kkt,
    homogeneity_mirror,
    homogeneity_margins,
    homogeneity_sampling,
    frei23,
    frei23_points,
    frei23_descent,
    wei19,
    wei19_flow,
    batchnorm,
    batchnorm_start,
    batchnorm_alignment,
)
STATEMENTS: Registry[Statement] = Registry(
    Statement.full_name, *(one for module in MODULES for one in module.STATEMENTS)
)


def applicable_statements(run: Run) -> tuple[Statement, ...]:
    """Return the statements that apply to a run, in the order of the registry.

    None for a run without frames, or with real targets instead of labels.
    """
    if run.frames == 0 or run.dataset.real:
        return ()
    return tuple(statement for statement in STATEMENTS.values() if statement.applies(run))


def assess_all(
    run: Run,
    margins: Mapping[str, ReferenceMargin],
    delta: float = DELTA,
    watch: CancelToken | None = None,
) -> list[Assessment]:
    """Judge every applicable statement by the margins that are known.

    Parameters
    ----------
    run : Run
        Open run; a continued one is judged from t = 0 on.
    margins : mapping of str to ReferenceMargin
        Reference margins computed so far, by name.
    delta : float
        Probability with which a statement about random starts or data may fail, in (0, 1).
    watch : CancelToken, optional
        Cancellation token, checked between statements and between frames.

    Returns
    -------
    list of Assessment
        In the order of the registry; empty if no statement applies.

    Raises
    ------
    CancelledError
        `watch` was cancelled.
    """
    # Statements cover all times from t = 0.
    context = Context(run.whole_run, margins, delta, watch)
    assessments = []
    with np.errstate(all="ignore"):  # late frames overflow to infinity or NaN
        for statement in applicable_statements(run.whole_run):
            if watch is not None:
                watch.check()
            assessments.append(assess(statement, context))
    return assessments
