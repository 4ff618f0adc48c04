"""Every reference margin, and how they are computed: cheap ones first, each kept on disk."""

from __future__ import annotations

import time
from operator import attrgetter

from core.data.section import range_fault
from core.problem.problem import Problem
from core.reference.extremal import NegativeGrowth, PositiveGrowth
from core.reference.global_margin import GlobalMargin
from core.reference.intervals import BiasMargin, PathMargin
from core.reference.leaky import LeakyOptimum
from core.reference.linear import KernelMargin, LinearMargin, OuterMargin, ScaleMargin
from core.reference.margin import (
    Reference,
    ReferenceMargin,
    SavedMargin,
    absent,
    load_margin,
    save_margin,
    saved_margin_path,
)
from core.reference.modular import ModularMargin, PenalisedNorm, PenalisedRisk
from core.reference.population import (
    CollapseMargin,
    DyadicPopulation,
    ParityPopulation,
    Wei19Population,
)
from core.reference.tangent import TangentMargin
from core.reference.watch import Watch
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
    LeakyOptimum(),
    KernelMargin(),
    OuterMargin(),
    ScaleMargin(),
    TangentMargin(),
    BiasMargin(),
    PathMargin(),
    GlobalMargin(),
)


def references_of(problem: Problem) -> tuple[Reference, ...]:
    """Those that are defined for a problem's data and network, the cheap ones first."""
    return tuple(reference for reference in REFERENCES.values() if reference.applies(problem))


def compute(
    reference: Reference, problem: Problem, watch: Watch, cache: bool = True
) -> ReferenceMargin:
    """The margin, from the disk where it is there; `seconds` is what it took when it was computed.

    A bracket that ended because the watch was late is used again only by those who give it no more
    time. Raises CancelledError when the watch is cancelled.
    """
    watch.look()
    allowed, drawn = watch.limit - watch.seconds, reference.drawn_in(problem)
    # Studies refuse such data as they are read; those of another program's loop come here.
    if fault := range_fault(problem.dataset):
        return ReferenceMargin(reference, absent(f"Not computed: {fault}"), 0.0, drawn)
    path = saved_margin_path(reference, problem) if cache else None
    entry = load_margin(path) if path is not None else None
    if entry is not None and entry.serves(allowed):
        return ReferenceMargin(reference, entry.bracket, entry.seconds, drawn)
    begin = time.perf_counter()
    bracket = reference.compute(problem, watch)
    seconds = time.perf_counter() - begin
    if path is not None:
        closed = bracket.exists and bracket.lower == bracket.upper  # more time could not narrow it
        short = watch.late and not closed
        save_margin(path, SavedMargin(bracket, seconds, allowed if short else None))
    return ReferenceMargin(reference, bracket, seconds, drawn)
