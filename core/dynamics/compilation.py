"""Compilation of the kernels, group by group, for every argument type that engines use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from core.compiled import jit, kernel_groups
from core.dynamics.general_flow import GeneralFlow
from core.dynamics.integrator import Integrator
from core.dynamics.registry import make_integrator, prepare
from core.problem.problem import resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.global_margin import global_margin
from core.study_file.validation import build_experiment

SINGLE = {"run": {"precision": "float32"}}
# More coordinates than examples: descent runs in the coordinates of the examples.
WIDE = {"data": {"d": 30, "n": 12}}


def _dynamics(kind: str) -> dict[str, dict[str, object]]:
    return {"dynamics": {"kind": kind, "until_log10_time": 0.0}}


# Runs of each group, as experiments; two groups have none.
CASES: dict[str, tuple[dict[str, Any], ...]] = {
    kernel_groups.FLOW: (_dynamics("flow"),),
    kernel_groups.DESCENT: (_dynamics("gd"),),
    kernel_groups.GRAM: ({**_dynamics("gd"), **WIDE},),
    kernel_groups.STOCHASTIC: (
        _dynamics("sgd"),
        {"dynamics": {"kind": "adam"}},
        {"dynamics": {"kind": "steepest"}},
    ),
    kernel_groups.TWO_PHASE: (_dynamics("two_phase"),),
    kernel_groups.MIRROR: (
        {"network": {"kind": "scalar", "m": 5}, "dynamics": {"kind": "mirror"}},
    ),
    kernel_groups.BALANCED: (_dynamics("plain_flow"),),
    kernel_groups.DESCENT_32: ({**_dynamics("gd"), **SINGLE},),
    kernel_groups.GRAM_32: ({**_dynamics("gd"), **WIDE, **SINGLE},),
    kernel_groups.STOCHASTIC_32: (
        {**_dynamics("sgd"), **SINGLE},
        {"dynamics": {"kind": "adam"}, **SINGLE},
        {"dynamics": {"kind": "steepest"}, **SINGLE},
    ),
}


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """Report that a group is compiled: its number, the total, its name and the seconds."""

    done: int
    of: int
    group: str
    seconds: float


def _problem(case: dict[str, Any]) -> Any:
    tables = {"data": {"d": 3, "n": 12}, "network": {"m": 5}, **case}
    return prepare(resolve_problem(build_experiment(tables, "warm")))


def _compile(group: str) -> None:
    """Compile the kernels of a group by short runs."""
    if group == kernel_groups.MARGINS:
        # At least four dimensions: with fewer the certificate needs no compiled search.
        x, y = np.vstack([np.eye(4), -np.eye(4)]), np.repeat([1.0, -1.0], 4)
        global_margin(x, y, CancelToken())
        return
    if group == kernel_groups.HEADS:
        # Including steps of several stages, which a network with parts of degree 0 takes from the
        # start.
        sliding = {"network": {"kind": "normalised", "m": 5}, **_dynamics("flow")}
        dynamics: list[Integrator] = [
            GeneralFlow(_problem(case)) for case in (_dynamics("flow"), sliding)
        ]
    else:
        dynamics = [make_integrator(_problem(case)) for case in CASES[group]]
    for one in dynamics:
        for _ in range(2):  # the first chunk only emits frame 0
            one.advance()


def warm_up(
    groups: Iterable[str] = kernel_groups.GROUPS,
    report: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Compile kernels missing from the cache; report each group when it is ready."""
    requested = tuple(dict.fromkeys(groups))
    ready = kernel_groups.ready_groups()
    order = [group for group in requested if group in ready]
    order += [group for group in requested if group not in ready]
    for i, group in enumerate(order, 1):
        start = time.perf_counter()
        if group not in ready:
            with jit.trace_kernels() as files:
                _compile(group)
            kernel_groups.save_group(group, files)
        seconds = 0.0 if group in ready else round(time.perf_counter() - start, 3)
        report(Progress(i, len(order), group, seconds))
