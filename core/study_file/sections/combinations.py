"""Which dynamics go with which networks, losses, data and precision, in sentences."""

from __future__ import annotations

from typing import Any

from core.study_file.sections.dynamics import (
    Adam,
    DynamicsSection,
    KernelPredictor,
    MirrorFlow,
    PerturbedFlow,
    StochasticGradientDescent,
    TwoPhase,
)

BALANCED = ("scalar", "normalised", "head")


def check_dynamics(dynamics: DynamicsSection, data: Any, network: Any, loss: Any, run: Any) -> None:
    """Raise ValueError where the sections of an experiment do not fit together."""
    if isinstance(dynamics, StochasticGradientDescent | Adam):
        _check_batch(dynamics, data)
    elif isinstance(dynamics, MirrorFlow):
        _check_mirror(dynamics, network, loss, run)
    elif isinstance(dynamics, PerturbedFlow | TwoPhase | KernelPredictor):
        _check_standard(dynamics, data, network, loss, run)


def _check_batch(dynamics: StochasticGradientDescent | Adam, data: Any) -> None:
    fresh = isinstance(dynamics, StochasticGradientDescent) and dynamics.fresh
    if fresh and data.embedded:
        raise ValueError(
            "dynamics.fresh = true needs a distribution to draw from, and data.kind = "
            f'"{data.kind}" has none; use fresh = false'
        )
    if not fresh and data.n is not None and dynamics.batch > data.n:
        raise ValueError(batch_too_large(dynamics.batch, data.n))


def batch_too_large(batch: int, n: int) -> str:
    """The sentence for more examples a step than there are."""
    return f"dynamics.batch = {batch} is larger than n = {n}; choose at most {n}"


def _check_mirror(dynamics: MirrorFlow, network: Any, loss: Any, run: Any) -> None:
    if network.kind not in BALANCED:
        raise ValueError(
            f'dynamics.kind = "mirror" needs outer weights a_j b_j, and network.kind = '
            f'"{network.kind}" has none; use network.kind = "scalar", "normalised" or "head"'
        )
    if loss.kind not in ("exponential", "logistic"):
        raise ValueError(
            f'dynamics.kind = "mirror" needs the exponential or logistic loss, not "{loss.kind}"'
        )
    if loss.l2 > 0.0:
        raise ValueError('dynamics.kind = "mirror" knows no penalty; set loss.l2 = 0')
    if run.precision == "float32":
        raise ValueError('dynamics.kind = "mirror" needs run.precision = "float64"')
    if network.kind == "scalar" and dynamics.step is not None:
        raise ValueError(
            'dynamics.step is not used by the mirror flow of network.kind = "scalar", which '
            "chooses its own steps; leave it out"
        )
    if network.kind != "scalar" and dynamics.until_log10_time > 15.0:
        raise ValueError(
            f"dynamics.until_log10_time = {dynamics.until_log10_time:g} cannot be reached by "
            'steps; choose at most 15, or network.kind = "scalar", which is followed in log time'
        )


def _check_standard(
    dynamics: PerturbedFlow | TwoPhase | KernelPredictor,
    data: Any,
    network: Any,
    loss: Any,
    run: Any,
) -> None:
    kind = dynamics.kind
    if network.kind != "standard":
        reasons = {
            "perturbed": "moves particles (a_j, v_j)",
            "two_phase": "trains V in its first phase and a in its second",
            "kernel": "is the infinite width of the standard network",
        }
        raise ValueError(
            f'dynamics.kind = "{kind}" {reasons[kind]}, so it does not go with network.kind = '
            f'"{network.kind}"; use network.kind = "standard"'
        )
    if run.precision == "float32" and kind != "perturbed":
        raise ValueError(f'dynamics.kind = "{kind}" needs run.precision = "float64"')
    if isinstance(dynamics, TwoPhase) and dynamics.first_batch > 0 and data.embedded:
        raise ValueError(
            f"dynamics.first_batch = {dynamics.first_batch} needs a distribution to draw from, and "
            f'data.kind = "{data.kind}" has none; use first_batch = 0'
        )
    if isinstance(dynamics, KernelPredictor) and loss.l2 > 0.0:
        raise ValueError('dynamics.kind = "kernel" has a ridge of its own; set loss.l2 = 0')
