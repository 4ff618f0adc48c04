"""State of a run's dynamics at any frame: stored with it, or repeated from an earlier frame.

Files hold the state of every 25th frame. Between them the dynamics repeats the steps from the
frame before, and the result counts only where these steps end at the recorded parameters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.dynamics.integrator import Outcome
from core.problem.problem import Start, State, with_dynamics
from core.runs import Run

# Relative to the largest parameter: other machines round differently.
AGREEMENT = 1e-6


def state_at(run: Run, index: int) -> State | None:
    """Return the state of the dynamics at a frame; None if it cannot be known.

    Parameters
    ----------
    run : Run
        Open run of this program, whose steps do not depend on its end.
    index : int
        Index of the frame.

    Returns
    -------
    dict of str to array, or None
        Parts by name. Frames in the order of time cost least: each is repeated from the last.
    """
    last: int
    state: State | None
    last, state = run.memo.get(state_at, (-1, None))
    if last == index:
        return state
    if last > index:
        last, state = -1, None
    stored = run.last_state(index)
    if stored is not None and stored[0] > last:
        last, state = stored
    if last < 0 and _is_fresh(run):
        last = 0
        state = {} if index else None
    while state is not None and last < index:
        state = _repeat_steps(run, last, state)
        last += 1
    if state is not None:
        run.memo[state_at] = (index, state)
    return state


def _is_fresh(run: Run) -> bool:
    """Return True if the dynamics started at frame 0, without a state."""
    start, is_complete = run.start, run.complete and not run.has_changed_rule
    restarted = not start.same_dynamics or "note" in (run.continues or {})
    return is_complete if start.log10_time == -np.inf else restarted


def _repeat_steps(run: Run, index: int, state: State) -> State | None:
    """Return the state at the next frame; None unless the steps there end at its parameters."""
    from core.dynamics.registry import make_integrator  # loads numba

    problem, end = run.problem, float(run.log10_time[index + 1])
    start: Start = replace(
        problem.start,
        parameters=np.array(run.parameters(index)),
        rho=float(run.rho[index]),
        step=int(run.steps[index]),
        log10_time=float(run.log10_time[index]),
        state=state or None,
        replay_times=(end,),
    )
    dynamics = problem.experiment.dynamics.model_copy(update={"until_log10_time": end})
    integrator = make_integrator(replace(with_dynamics(problem, dynamics), start=start))
    outcome, frame = Outcome.GOING, None
    while outcome is Outcome.GOING:
        chunk = integrator.advance()
        outcome, frame = chunk.outcome, chunk.frames[-1] if chunk.frames else frame
    if outcome is not Outcome.COMPLETED or frame is None:
        return None
    recorded = run.parameters(index + 1)
    error = np.abs(frame.parameters - recorded).max()
    is_same = frame.step == run.steps[index + 1] and error <= AGREEMENT * np.abs(recorded).max()
    return integrator.state() if is_same else None
