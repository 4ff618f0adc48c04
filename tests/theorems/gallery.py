"""Small problems to which, between them, every statement of the papers applies."""

from __future__ import annotations

from typing import Any

FLOW = {"kind": "flow", "until_log10_time": 2.0}
GD = {"kind": "gd", "step": 0.1, "until_log10_time": 0.5}
SGD = {"kind": "sgd", "step": 0.05, "fresh": True, "until_log10_time": 0.5}
WEI19 = {"kind": "wei19", "d": 4, "n": 10}
ORTHOGONAL = {"kind": "near_orthogonal", "d": 8, "n": 4}
WEAK = {"kind": "logistic", "l2": 1e-3}

# The arguments of `problem_of`, by name.
GALLERY: dict[str, dict[str, Any]] = {
    "flow": {"network": {"m": 8}, "dynamics": FLOW, "loss": "exponential"},
    "sgd": {"network": {"m": 8}, "dynamics": SGD},
    "two cones": {
        "network": {"m": 8},
        "dynamics": FLOW,
        "loss": "exponential",
        "data": {"kind": "two_cones", "n": 7},
    },
    "cones": {
        "network": {"m": 16},
        "dynamics": FLOW,
        "loss": "exponential",
        "data": {"kind": "cones", "d": 4, "n": 8},
    },
    "scalar": {
        "network": {"kind": "scalar", "m": 16},
        "dynamics": FLOW,
        "loss": "exponential",
    },
    # As wide as Lemma B.1 needs: without a good measure its search takes a second.
    "normalised": {"network": {"kind": "normalised", "m": 100}, "dynamics": FLOW},
    "leaky": {
        "network": {"kind": "fixed_outer", "m": 6},
        "dynamics": FLOW,
        "data": ORTHOGONAL,
    },
    "three points": {
        "network": {"kind": "fixed_outer", "m": 6, "slope": 0.5},
        "dynamics": FLOW,
        "data": {"kind": "three_point"},
    },
    "smooth": {
        "network": {"kind": "fixed_outer", "m": 6, "smooth": True},
        "dynamics": GD,
        "data": ORTHOGONAL,
    },
    "kernel": {"network": {"m": 8}, "dynamics": {"kind": "kernel"}, "data": WEI19},
    "weak penalty": {"network": {"m": 8}, "dynamics": GD, "loss": WEAK, "data": WEI19},
    "perturbed": {
        "network": {"m": 8},
        "dynamics": {"kind": "perturbed", "until_log10_time": 1.0},
        "loss": WEAK,
        "data": WEI19,
    },
    "classes": {
        "network": {"kind": "multiclass", "m": 6},
        "dynamics": GD,
        "loss": {"kind": "cross_entropy", "l2": 1e-3},
        "data": {"kind": "digits", "classes": (1, 2, 3), "n": 12},
    },
    "regression": {
        "network": {"m": 12},
        "dynamics": GD,
        "loss": {"kind": "squared", "l2": 1e-3},
        "data": {"d": 4, "n": 6},
    },
    "batch norm": {
        "network": {"kind": "batch_norm", "m": 8},
        "dynamics": GD,
        "data": {"kind": "dyadic", "d": 2},
    },
    "batch norm, sgd": {"network": {"kind": "batch_norm", "m": 8}, "dynamics": SGD},
}
