"""Compile every kernel for every argument type that engines use, into the per-user cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.compiled.jit import cache_folder
from core.dynamics.registry import integrator, prepared
from core.problem import resolve
from core.reference.global_margin import global_margin
from core.reference.watch import Watch
from core.validation import build_experiment

CASES: tuple[dict[str, dict[str, object]], ...] = (
    {"dynamics": {"kind": "flow", "until_log10_time": 0.0}},
    {"dynamics": {"kind": "gd", "until_log10_time": 0.0}},
    {"dynamics": {"kind": "gd", "until_log10_time": 0.0}, "run": {"precision": "float32"}},
    {"data": {"d": 30, "n": 12}, "dynamics": {"kind": "gd", "until_log10_time": 0.0}},
    {
        "data": {"d": 30, "n": 12},
        "dynamics": {"kind": "gd", "until_log10_time": 0.0},
        "run": {"precision": "float32"},
    },
    {"dynamics": {"kind": "sgd", "until_log10_time": 0.0}},
    {"dynamics": {"kind": "sgd", "until_log10_time": 0.0}, "run": {"precision": "float32"}},
    {"dynamics": {"kind": "two_phase", "until_log10_time": 0.0}},
    {"network": {"kind": "scalar", "m": 5}, "dynamics": {"kind": "mirror"}},
    {"dynamics": {"kind": "adam"}},
    {"dynamics": {"kind": "adam"}, "run": {"precision": "float32"}},
)


def warm_up() -> Path:
    """Compile what is not yet in the cache; returns the cache's folder."""
    for case in CASES:
        tables = {"data": {"d": 3, "n": 12}, "network": {"m": 5}, **case}
        dynamics = integrator(prepared(resolve(build_experiment(tables, "warm"))))
        for _ in range(2):  # the first chunk only hands on frame 0
            dynamics.advance()
    # Four dimensions at least: in fewer the certificate needs no compiled search.
    x, y = np.vstack([np.eye(4), -np.eye(4)]), np.repeat([1.0, -1.0], 4)
    global_margin(x, y, Watch())
    return cache_folder()
