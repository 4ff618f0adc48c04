"""Integration error of a flow: from steps repeated as halves, and early from a second solution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.observables.margins import dual_margin, flat_norm_power, hard_margin, scale
from core.observables.observable import Observable, memoised
from core.runs import Run
from core.study_file.dynamics import GradientFlow, MirrorFlow

Array = NDArray[np.float64]


def has_error(run: Run) -> bool:
    """A flow in log time, whose steps are checked."""
    exact = run.network.fixed_features and isinstance(run.experiment.dynamics, MirrorFlow)
    return exact or isinstance(run.experiment.dynamics, GradientFlow)


def integration_error(run: Run, index: int) -> float:
    """Return the largest estimated error within the last decade, plus the bias of the cap.

    A decade of t early in the run and of log10 t from t = 10^(10/9) on: late, everything happens in
    log t. Up to t = 10^3 errors add up, and a second solution measures them
    (core.dynamics.companion). Later the flow forgets the errors of earlier steps, and the largest
    of a decade bounds what is left of them. Where the temperature e^(L rho) is above the cap, the
    run follows the flow of the capped one, whose margin is too low by at most
    sum_i q_i p_i - min_i p_i.
    """
    run, index = run.whole, run.whole.before - run.before + index
    times = run.log10_time[: index + 1]
    now = float(times[-1])
    if not np.isfinite(now):
        return float("nan")
    first = int(np.searchsorted(times, now - max(1.0, 0.9 * now)))
    errors = np.array([step_error(run, frame) for frame in range(first, index + 1)])
    if not np.isfinite(errors).any():
        return float("nan")
    return float(np.nanmax(errors)) + _bias(run, index)


@memoised
def step_error(run: Run, index: int) -> float:
    """Return the error stored with a frame, over |W|^L; NaN if no step was checked."""
    # A number of that name beside a recorded frame is what the loop calls so.
    found = {} if run.recorded else run.diagnostics(index)
    error = found.get("margin_error", float("nan"))
    power = flat_norm_power(run, index)
    return error / power if power > 0.0 else float("nan")


def _bias(run: Run, index: int) -> float:
    """sum_i q_i p_i - min_i p_i where q has the cap's temperature and not the true one."""
    cap = run.temperature_cap
    if cap is None or scale(run, index) <= cap:
        return 0.0
    return max(0.0, dual_margin(run, index) - hard_margin(run, index))


OBSERVABLES = (
    Observable(
        "integration_error",
        "integration error of the margin",
        "largest |min p - min p'| / |W|^L over the last decade, p' after two half steps instead of "
        "one; up to t = 10^3 twice the difference of a second solution at three times the step; "
        "above the temperature cap plus sum_i q_i p_i - min_i p_i",
        "definition (step doubling)",
        integration_error,
        applies=has_error,
        where="flows in log time",
        tex=r"\max\frac{|\min_i p_i-\min_i p_i'|}{|W|^L}",
    ),
)
