"""Times, steps and sizes of a run at its frames, as the papers' statements need them."""

from __future__ import annotations

import math

import numpy as np

from core.runs import Run
from core.theorems.arithmetic import NAN, log
from core.theorems.statement import Array, Context


def least_before(values: Array) -> Array:
    """Return the least value of a trace at the frames before each frame, that frame excluded.

    Parameters
    ----------
    values : array (T,)
        Trace.

    Returns
    -------
    array (T,)
        min over s < t; NaN at the first frame, and at all frames after a NaN.
    """
    return np.concatenate([[np.nan], np.minimum.accumulate(values)[:-1]])


def times(run: Run) -> Array:
    """Return the time t of each frame.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (T,)
        0 at the start, infinite where t overflows; see `log_times`.
    """
    with np.errstate(over="ignore"):
        return np.asarray(10.0 ** run.log10_time[: run.frames])


def counted_steps(run: Run) -> Array:
    """Return the number of steps taken up to each frame, at least 1.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (T,) of float
        Never decreasing; 1 at the start too, so that it may be a divisor.
    """
    return np.maximum(run.steps[: run.frames].astype(np.float64), 1.0)


def log_times(run: Run) -> Array:
    """Return ln t of each frame.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (T,)
        Natural logarithms, also of times that overflow; -inf at t = 0.
    """
    return np.asarray(run.log10_time[: run.frames] * math.log(10.0))


def last_log10_time(run: Run) -> float:
    """Return log10 t of the last frame; -inf at t = 0."""
    return float(run.log10_time[run.frames - 1])


def log_norms(run: Run) -> Array:
    """Return ln |W_h| of each frame, at the physical scale.

    W_h are the trained parameters in which the network is homogeneous, |.| the Euclidean norm.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (T,)
        Natural logarithms, also of norms beyond float64; -inf where W_h = 0.
    """
    norms = [log(run.network.norm(run.parameters(k))) for k in range(run.frames)]
    return np.array(norms) + run.rho[: run.frames]


def step_size(run: Run) -> float:
    """Return the constant step eta of the run's dynamics; NaN for dynamics without a step."""
    step = getattr(run.experiment.dynamics, "step", None)
    return NAN if step is None else float(step)


def fitted_frames(context: Context) -> Array:
    """Return the mask of frames at which R(W) < l(0)/n, each frame judged by itself.

    R is the mean of the loss l over the n training examples, without a penalty.

    Parameters
    ----------
    context : Context
        Run and its reference margins.

    Returns
    -------
    array (T,) of bool
        A later frame may be False again (`frames_after_fit` has none of these). False at all frames
        for losses without an exponential tail.
    """
    loss, n = context.run.loss, context.run.dataset.n
    # Below l(0)/n every example is classified correctly and the smoothed margin is positive
    # (docs/theory.md, 3.4): from there on the papers let margins and norms grow.
    threshold = loss.at_zero if context.run.experiment.loss.exp_tailed else NAN
    return np.asarray(context.trace("log10_risk") < math.log10(threshold / n))
