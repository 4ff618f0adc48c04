"""Which groups of kernels (core.compiled.warming) a run needs. Does not import numba."""

from __future__ import annotations

from core.compiled import warming
from core.study_file.experiment import Experiment

# What the engines of each kind of dynamics are made of.
GROUPS: dict[str, tuple[str, ...]] = {
    "flow": (warming.FLOW,),
    "gd": (warming.DESCENT, warming.GRAM),
    "sgd": (warming.STOCHASTIC,),
    "adam": (warming.STOCHASTIC,),
    "perturbed": (warming.STOCHASTIC,),
    "two_phase": (warming.TWO_PHASE,),
    "mirror": (warming.MIRROR,),
    "kernel": (),
}
SINGLE = {
    warming.DESCENT: warming.DESCENT_32,
    warming.GRAM: warming.GRAM_32,
    warming.STOCHASTIC: warming.STOCHASTIC_32,
}
WITHOUT_TWIN = ("head", "custom")  # networks whose flow goes step by step


def groups_of(experiment: Experiment) -> tuple[str, ...]:
    """The groups of kernels that training an experiment may need, in the order of need."""
    groups = GROUPS[experiment.dynamics.kind]
    if experiment.network.kind in WITHOUT_TWIN:
        groups = (warming.HEADS,) if groups == (warming.FLOW,) else ()
    if experiment.run.precision == "float32":
        groups = tuple(SINGLE.get(group, group) for group in groups)
    return groups
