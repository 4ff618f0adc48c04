"""Registry of all reference margins, and their cached computation; cheap ones first."""

from __future__ import annotations

import time
from operator import attrgetter

from core.data.section import range_fault
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.global_margin import GlobalMargin
from core.reference.global_margin_inf import GlobalMaximumMargin
from core.reference.growth_rates import NegativeGrowth, PositiveGrowth
from core.reference.intervals import BiasMargin
from core.reference.l1_path import PathMargin
from core.reference.leaky import LeakyOptimum
from core.reference.linear import KernelMargin, LinearMargin, OuterMargin, ScaleMargin
from core.reference.linear_norms import CoordinateMargin, MaximumMargin
from core.reference.margin import (
    Reference,
    ReferenceMargin,
    SavedMargin,
    absent_bracket,
    load_margin,
    save_margin,
    saved_margin_path,
)
from core.reference.modular import ModularMargin, PenalisedNorm, PenalisedRisk
from core.reference.multiclass import OperatorMargin
from core.reference.population import (
    CollapseMargin,
    DyadicPopulation,
    ParityPopulation,
    Wei19Population,
)
from core.reference.quasi_norm import DeepLinearMargin, DiagonalMargin
from core.reference.spectral import SpectralMargin
from core.reference.tangent import TangentMargin
from core.settings import Registry

REFERENCES: Registry[Reference] = Registry(
    attrgetter("name"),
    ParityPopulation(),
    Wei19Population(),
    DyadicPopulation(),
    ModularMargin(),
    PenalisedRisk(),
    PenalisedNorm(),
    CollapseMargin(),
    PositiveGrowth(),
    NegativeGrowth(),
    LinearMargin(),
    MaximumMargin(),
    CoordinateMargin(),
    DeepLinearMargin(),
    DiagonalMargin(),
    LeakyOptimum(),
    KernelMargin(),
    OuterMargin(),
    ScaleMargin(),
    TangentMargin(),
    BiasMargin(),
    PathMargin(),
    GlobalMargin(),
    OperatorMargin(),
    SpectralMargin(),
    GlobalMaximumMargin(),
)


def references_of(problem: Problem, unlisted: bool = False) -> tuple[Reference, ...]:
    """Return the references that are defined for a problem's data and network, cheap ones first.

    With `unlisted` also those of norms in which the problem's dynamics does not descend.
    """
    return tuple(
        reference
        for reference in REFERENCES.values()
        if reference.applies(problem) and (unlisted or reference.is_listed(problem))
    )


def compute(
    reference: Reference, problem: Problem, watch: CancelToken, cache: bool = True
) -> ReferenceMargin:
    """Return a margin, from the cache if possible.

    A bracket that was cut short by its time limit is reused only for requests with no more time.

    Parameters
    ----------
    reference : Reference
        Margin to compute.
    problem : Problem
        Problem for which it is defined.
    watch : CancelToken
        Cancellation, and the time limit in seconds.
    cache : bool
        False to neither read nor write the cache.

    Returns
    -------
    ReferenceMargin
        Margin; `seconds` is the time of the original computation.

    Raises
    ------
    CancelledError
        The watch was cancelled.
    """
    watch.check()
    allowed, is_comparable = watch.limit - watch.seconds, reference.is_comparable(problem)
    # Studies reject such data when they are read; those of recorded loops arrive here.
    if fault := range_fault(problem.dataset):
        return ReferenceMargin(
            reference, absent_bracket(f"Not computed: {fault}"), 0.0, is_comparable
        )
    path = saved_margin_path(reference, problem) if cache else None
    entry = load_margin(path) if path is not None else None
    if entry is not None and entry.serves(allowed):
        return ReferenceMargin(reference, entry.bracket, entry.seconds, is_comparable)
    start = time.perf_counter()
    bracket = reference.compute(problem, watch)
    seconds = time.perf_counter() - start
    if path is not None:
        closed = bracket.exists and bracket.lower == bracket.upper  # more time would not narrow it
        short = watch.timed_out and not closed
        save_margin(path, SavedMargin(bracket, seconds, allowed if short else None))
    return ReferenceMargin(reference, bracket, seconds, is_comparable)
