"""Times of a run's frames, and of equal steps: t = offset + step size * steps from t = 0.

The offset is 0 unless a run was continued with another step size than it started with.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics import solver_state
from core.dynamics.step_size import growth_rate, lambda_0
from core.errors import InputError
from core.losses import EXPONENTIAL, softplus
from core.problem.problem import Problem
from core.problem.schedule import (
    descent_schedule,
    even_schedule,
    first_log10_time,
    log10_schedule,
)

Array = NDArray[np.float64]
FIRST_STEP = 1e-3  # largest first step of a flow in log time
FIRST_PART = 1 / 16  # largest first step, as a fraction of the first frame's time
ROUNDING = 1e-9  # relative tolerance of t at the start
MOST_STEPS = 2.0**53  # largest consecutive integers in float64


def first_time(problem: Problem) -> float:
    """Return log10 t of the first frame after t = 0.

    It follows from the curvature there, or from the rate at which small neurons turn.
    """
    rate = lambda_0(problem, problem.start.origin)
    if problem.experiment.network.small_start:
        rate = max(rate, growth_rate(problem))
    return first_log10_time(rate)


def frame_times(problem: Problem, first: float, step_size: float = 0.0) -> Array:
    """Return log10 t of all frames after the first, increasing.

    They are on the schedule that the run would have from t = 0: a run that is interrupted and
    continued has the same frames as one that is not. Times that the run repeats to reach its start
    come before them.

    Parameters
    ----------
    problem : Problem
        Prepared problem.
    first : float
        log10 t of the first frame after t = 0.
    step_size : float
        Length of equal steps; 0 without them.

    Returns
    -------
    array (T,)
        log10 t.
    """
    start, experiment = problem.start, problem.experiment
    recording, last = experiment.recording, experiment.dynamics.until_log10_time
    frames, marks = recording.frames, recording.log10_times
    if recording.spacing == "log":
        times = log10_schedule(first, last, frames, marks)
    else:
        before = step_size if recording.spacing == "pairs" else 0.0
        times = even_schedule(last, frames, marks, before)
    start_time = start.replay_times[-1] if start.replay_times else start.log10_time
    return np.concatenate([np.array(start.replay_times), times[times > start_time]])


def first_step(problem: Problem, theta: Array, rho: float, marks: Array, tau: float) -> float:
    """Return the length in s of a flow's first step.

    The step moves theta by `tau` at most, and the first frame needs several steps. A frame within
    the first step would lie on a straight line from the start. A companion with longer steps would
    follow the same line, and would not see the frame's error.

    Parameters
    ----------
    problem : Problem
        Problem with a homogeneous network.
    theta : array (size,)
        Parameters at the start, of norm 1.
    rho : float
        ln |W| at the start.
    marks : array (T,)
        log10 t of the frames after the start.
    tau : float
        Distance on the unit sphere.

    Returns
    -------
    float
        Length, at most FIRST_STEP.
    """
    if not marks.size:
        return FIRST_STEP
    loss, network, n = problem.loss, problem.network, problem.dataset.n
    with np.errstate(all="ignore"):
        flat = network.physical(theta, rho)
        f = problem.outputs(flat)
        slope = network.gradient(flat, problem.inputs, loss.output_gradient(f, problem.dataset.y))
        # Upper bound of ln |d theta/dt|.
        speed = np.log(np.linalg.norm(slope[: network.scaled]) / n) - rho
        smoothed = loss.smoothed_margin(problem.scores(flat))
        if loss.code != EXPONENTIAL:
            smoothed = float(softplus(np.array(smoothed)))
        rate = np.log(n) + smoothed + (2 - network.degree) * rho  # ln dt/ds
        gap = marks[0] * np.log(10.0) + np.log1p(-(10.0 ** (problem.start.log10_time - marks[0])))
        bounds = FIRST_STEP, FIRST_PART * float(np.exp(gap - rate)), tau * np.exp(-speed - rate)
    return min(float(bound) for bound in bounds if bound > 0.0)


@final
class Clock:
    """Times of steps; the frame of a mark is the first step with t >= 10^mark."""

    def __init__(self, problem: Problem, step_size: float) -> None:
        self._start, self._step_size = problem.start, step_size
        start_time = 10.0**problem.start.log10_time
        self._offset = start_time - step_size * problem.start.step
        if abs(self._offset) <= ROUNDING * start_time:
            self._offset = 0.0  # continued with the same step: times remain exact multiples of it
        saved = (problem.start.state or {}).get("clock", np.zeros(0))
        if saved.size == 2 and saved[1] == step_size:
            if not abs(saved[0] - self._offset) <= ROUNDING * start_time:
                raise solver_state.invalid_state("its time differs from that of the frame")
            self._offset = float(saved[0])

    def numbers(self) -> Array:
        """Return what a continued run needs of the clock.

        Returns
        -------
        array (2,)
            Offset and step size.
        """
        return np.array([self._offset, self._step_size])

    def schedule(self, times: Array) -> NDArray[np.int64]:
        """Return the steps of the frames at given times, after the start.

        Parameters
        ----------
        times : array (T,)
            log10 t, increasing.

        Returns
        -------
        array of int
            Steps, increasing, without repeats.

        Raises
        ------
        InputError
            A frame needs more than 2^53 steps.
        """
        shifted = 10.0**times - self._offset
        end = float(shifted.max(initial=0.0))
        if end > MOST_STEPS * self._step_size:
            raise InputError(
                f"dynamics.step = {self._step_size:.3g} takes {end / self._step_size:.2g} steps "
                f"to log10 t = {times.max():g}, more than the limit of {MOST_STEPS:.0e}; choose "
                "a larger step, or an earlier dynamics.until_log10_time."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = descent_schedule(np.log10(shifted[shifted > 0.0]), self._step_size)
        return np.asarray(steps[steps > self._start.step])

    def log10_time(self, step: int) -> float:
        """Return log10 t of a step; exactly the start's for its own step, -inf at t = 0."""
        if step == self._start.step:
            return self._start.log10_time
        return float(np.log10(self._offset + self._step_size * step))
