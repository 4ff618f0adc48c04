"""Choice of the engine of a gradient descent run, by size and device.

All engines give the same numbers. On one core torch is about as fast as the compiled kernel where
sizes are large (decision 0044). Where n <= d, training the coefficients on the examples halves the
work.
"""

from __future__ import annotations

import numpy as np

from core.dynamics.descent import Descent, GeneralDescent, GramDescent
from core.dynamics.integrator import Integrator
from core.dynamics.stochastic import Stochastic
from core.dynamics.tensor_descent import TensorDescent
from core.errors import InputError
from core.network import custom
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem
from core.study_file.descent import GradientDescent

# On a GPU the kernel launches of a step take half a millisecond at any size. One core takes m n (D
# + 36) 65 ps for a step in float64, half of that in float32 (decision 0053).
OPERATIONS_PER_ACTIVATION = 36
CUDA_OPERATIONS = 14_000_000


def check_device(problem: Problem) -> None:
    """Raise InputError if run.device = "cuda" and no such device is present, or none is of use."""
    if problem.experiment.run.device != "cuda":
        return
    kind, network = problem.experiment.dynamics.kind, problem.network.kind
    if kind != "gd" or not isinstance(problem.network, TwoLayer):
        raise InputError(
            f'run.device = "cuda" trains two-layer networks by dynamics.kind = "gd", not '
            f'network.kind = "{network}" by "{kind}"; use run.device = "auto".'
        )
    if has_schedule_or_penalty(problem):
        raise InputError(
            'run.device = "cuda" takes constant steps on the risk and loss.l2 only; with '
            'loss.l23 or a dynamics.schedule use run.device = "auto".'
        )
    custom.require_pytorch('run.device = "cuda"')
    if not _is_cuda_present():
        raise InputError(
            'run.device = "cuda", but torch finds no CUDA device here; use run.device = "auto", '
            "or install a CUDA build of torch on a machine with an NVIDIA GPU."
        )


def check_precision(problem: Problem) -> None:
    """Raise InputError if run.precision = "float32" cannot represent the start of a run."""
    experiment = problem.experiment
    if experiment.run.precision != "float32":
        return
    limit = float(np.finfo(np.float32).max)
    with np.errstate(over="ignore"):
        squared = float((problem.inputs**2).sum(axis=1).max())
    sizes = {
        "the largest input": float(np.abs(problem.inputs).max()),
        "the largest squared length of an input": squared,
        "the largest initial parameter": float(np.abs(problem.physical_start()).max()),
        "the step size": getattr(experiment.dynamics, "step", None) or 0.0,
    }
    for quantity, size in sizes.items():
        if size > limit:
            raise InputError(
                f'run.precision = "float32" holds numbers up to {limit:.2g}, '
                f"but {quantity} reaches "
                f'{size:.2g}; use run.precision = "float64", or scale the data.'
            )
    _check_lengths(problem)


def _check_lengths(problem: Problem) -> None:
    """Raise InputError if the square of a divisor |v_j| underflows in float32."""
    network = problem.network
    if not isinstance(network, TwoLayer):
        return
    with np.errstate(all="ignore"):
        weights = network.effective(problem.physical_start().astype(np.float32))
        finite = all(np.isfinite(part).all() for part in weights)
    if not finite:
        raise InputError(
            'run.precision = "float32" holds numbers from '
            f"{float(np.finfo(np.float32).tiny):.2g} on, but the squared length of some initial "
            'v_j is smaller; use run.precision = "float64", or a larger start.'
        )


def has_schedule_or_penalty(problem: Problem) -> bool:
    """Return True for descent with a schedule or penalty of neurons, which few engines support."""
    experiment = problem.experiment
    dynamics = experiment.dynamics
    shorter = isinstance(dynamics, GradientDescent) and dynamics.schedule != "constant"
    return experiment.loss.l23 > 0.0 or shorter


def make_descent(problem: Problem) -> Integrator:
    """Return the engine of dynamics.kind = "gd" that suits network, device and sizes."""
    if has_schedule_or_penalty(problem):
        return Stochastic(problem)
    if not isinstance(problem.network, TwoLayer):
        return GeneralDescent(problem)
    device = problem.experiment.run.device
    n, D = problem.inputs.shape
    if device == "cuda" or (device == "auto" and _suits_cuda(problem) and _is_cuda_present()):
        return TensorDescent(problem, "cuda")
    if not problem.network.compiled:
        return GeneralDescent(problem)
    # One product of m n n operations instead of two of m n d (core.compiled.gram).
    if n <= D and problem.network.direct:
        return GramDescent(problem)
    return Descent(problem)


def _suits_cuda(problem: Problem) -> bool:
    """Return True if a step takes a core longer than its launches on a GPU."""
    assert isinstance(problem.network, TwoLayer)
    n, D = problem.inputs.shape
    operations = problem.network.m * n * (D + OPERATIONS_PER_ACTIVATION)
    single = problem.experiment.run.precision == "float32"
    return bool(operations >= CUDA_OPERATIONS * (2 if single else 1))


def _is_cuda_present() -> bool:
    if not custom.has_pytorch():
        return False
    from core.tensors.stepper import cuda_is_present

    return cuda_is_present()
