"""Many seeds or settings at once, for sweeps that want the last frame of each.

On processors the compiled engine in threads, which do not hold the interpreter; measured, it beats
a batch of tensors there (`make bench`). On a CUDA device problems of one shape go in one batch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from core.dynamics.descent import Descent
from core.dynamics.general_descent import GeneralDescent
from core.dynamics.integrator import Outcome
from core.dynamics.registry import integrator, prepared
from core.errors import InputError
from core.problem.frame import Frame
from core.problem.problem import Problem

Engine = Literal["auto", "threads", "batch"]


def run_many(
    problems: Sequence[Problem], engine: Engine = "auto", workers: int | None = None
) -> list[Frame]:
    """The last frame of each problem, in their order; nothing is recorded.

    "threads": one run each, in `workers` threads (one for each processor by default). "batch":
    full-batch descent of all problems as one batch of tensors, on a CUDA device where there is one;
    raises InputError where their shapes, networks, losses or numbers of steps differ. "auto": a
    batch where a CUDA device is there and it is possible, else threads.
    """
    ready = [prepared(problem) for problem in problems]
    reason = _why_no_batch(ready)
    if engine == "batch" and reason:
        raise InputError(f"These runs cannot go in one batch: {reason}; use threads.")
    if ready and not reason and (engine == "batch" or (engine == "auto" and _cuda_is_present())):
        return _in_a_batch(ready)
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        return list(pool.map(_last_frame, ready))


def _last_frame(problem: Problem) -> Frame:
    dynamics = integrator(problem)
    last: Frame | None = None
    outcome = Outcome.GOING
    while outcome is Outcome.GOING:
        chunk = dynamics.advance()
        outcome, last = chunk.outcome, chunk.frames[-1] if chunk.frames else last
    assert last is not None  # frame 0 comes with the first chunk
    return last


def _why_no_batch(problems: Sequence[Problem]) -> str:
    """Why problems cannot be one batch; empty where they can."""
    kinds = {at.experiment.dynamics.kind for at in problems}
    if kinds - {"gd"}:
        return "they are not all full-batch gradient descent"
    if not all(at.network.alone for at in problems):
        return "a network depends on more than its trained parameters"
    shapes = {
        (at.network.kind, at.network.layout, at.inputs.shape, at.loss.kind, _precision(at))
        for at in problems
    }
    if len(shapes) > 1:
        return "their networks, data or losses have several shapes"
    if len({_steps(at) for at in problems}) > 1:
        return "they make different numbers of steps"
    return ""


def _precision(problem: Problem) -> str:
    return problem.experiment.run.precision


def _steps(problem: Problem) -> int:
    dynamics = problem.experiment.dynamics
    step = getattr(dynamics, "step", None)
    return 0 if step is None else int(np.ceil(10.0**dynamics.until_log10_time / step - 1e-9))


def _in_a_batch(problems: Sequence[Problem]) -> list[Frame]:
    from core.tensors.batched import BatchedStepper

    runs = [Descent(at) if at.network.compiled else GeneralDescent(at) for at in problems]
    cuda = _cuda_is_present()
    starts = np.stack([run.start_parameters for run in runs])
    sizes = [run.step_size for run in runs]
    stepper = BatchedStepper(problems, starts, sizes, "cuda" if cuda else "cpu", graph=cuda)
    stepper.take(runs[0].last_step - problems[0].start.step)
    worst, parameters = stepper.worst.cpu().numpy(), stepper.parameters()
    return [
        run.last_frame(parameters[index])
        if worst[index] <= run.limit and np.isfinite(parameters[index]).all()
        else _last_frame(problems[index])  # it diverged: what it left on the way is needed
        for index, run in enumerate(runs)
    ]


def _cuda_is_present() -> bool:
    from core.tensors.device import cuda_is_present

    return cuda_is_present()
