"""Groups of kernels (core.compiled.kernel_groups) that a run needs. Does not import numba."""

from __future__ import annotations

from core.compiled import kernel_groups
from core.network.registry import NETWORKS
from core.study_file.experiment import Experiment


def groups_of(experiment: Experiment) -> tuple[str, ...]:
    """Return the groups of kernels that training may need, in the order of need."""
    dynamics = experiment.dynamics
    twin = NETWORKS[experiment.network.kind].compiled
    groups = dynamics.kernels if twin else dynamics.kernels_without_twin
    if experiment.run.precision == "float32":
        groups = tuple(kernel_groups.SINGLE.get(group, group) for group in groups)
    return groups
