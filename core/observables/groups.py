"""Groups of scalar observables, in the order in which a list offers them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.observables.observable import LOOP
from core.observables.registry import is_loop_number

OTHERS, FROM_LOOP = "Others", "From the loop"
# Observables in no group, such as those of an extension, are in the group of the others.
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Risk and error": (
            *("risk", "log10_risk", "train_error", "test_risk", "test_loss", "test_error"),
            *("test_error_se", "loss_ratio", "log10_loss_ratio", "proxy_pl"),
        ),
        "Margins": (
            *("hard_margin", "smoothed_margin", "l1_margin", "balanced_margin", "l2_margin"),
            *("margin_linf", "margin_spectral", "margin_l1", "dual_margin", "atoms", "pbar_margin"),
        ),
        "Norms and distances": (
            *("norm_squared", "distance", "outer_displacement", "inner_displacement"),
            *("balance_drift", "smallest_normaliser", "median_normaliser", "mirror_gap"),
            "cubed_norm",
        ),
        "Geometry": (
            *("least_rotation", "median_rotation", "patterns_changed", "least_cosine"),
            *("aligned_share", "dead_nodes", "early_time", "covering_radius", "empty_cones"),
            *("c_1", "c_2", "frequency_share", "frequency_spread", "frequency_count"),
            *("phase_gap", "phase_gap_largest"),
        ),
        "Spectrum": ("stable_rank", "sigma_1", "sigma_2", "sigma_3", "trajectory_rank"),
        "Kernel and features": (
            *("kernel_alignment", "centred_alignment", "kernel_rank", "kernel_distance"),
            *("kernel_deviation", "nc1", "nc2_angles", "nc2_lengths", "nc3", "nc4"),
        ),
        "Sharpness": (
            "sharpness",
            "stability",
            "preconditioned_sharpness",
            "hessian_2",
            "hessian_3",
            "gauss_newton",
            "gauss_newton_trace",
            "least_trace",
            "noise_time",
        ),
    }
)


def group_of(name: str) -> str:
    """Return the group of a checked observable.

    >>> group_of("risk"), group_of("kkt_residual"), group_of("loop.accuracy")
    ('Risk and error', 'Others', 'From the loop')
    """
    if name.startswith(LOOP) or is_loop_number(name):
        return FROM_LOOP
    return next((group for group, names in GROUPS.items() if name in names), OTHERS)


def group_names(names: list[str]) -> dict[str, list[str]]:
    """Return names by group, both in the order of lists; empty groups are left out.

    >>> group_names(["kkt_residual", "hard_margin", "risk"])
    {'Risk and error': ['risk'], 'Margins': ['hard_margin'], 'Others': ['kkt_residual']}
    """
    places = {name: place for titles in GROUPS.values() for place, name in enumerate(titles)}
    by_group = {group: [one for one in names if group_of(one) == group] for group in ORDER}
    return {
        group: sorted(some, key=lambda name: places.get(name, len(places)))
        for group, some in by_group.items()
        if some
    }


ORDER = (*GROUPS, OTHERS, FROM_LOOP)
