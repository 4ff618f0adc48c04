"""Continuation from a frame of a run: same data, same network, same state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from core.data.dataset import Array
from core.dynamics.solver_state import STATE_VERSION
from core.errors import InputError
from core.problem.problem import History, Problem, Start, resolve_problem
from core.problem.schedule import extend_horizon
from core.runs import RecordedRun, Run
from core.runs.states import most_earlier
from core.studies.study import Study
from core.studies.tables import split_key
from core.study_file.dynamics import KernelPredictor
from core.study_file.experiment import Experiment

LARGEST_LOG_NORM = 900.0  # run files store frames up to 1000, and |W| still grows
CHANGEABLE = ("loss", "dynamics", "recording")
UNTIL = "dynamics.until_log10_time"
NO_FACTS: Mapping[str, object] = MappingProxyType({})


def continue_problem(
    run: RecordedRun, frame: int | None, settings: Sequence[str]
) -> tuple[Problem, int]:
    """Return the problem that continues a run, and the frame's index.

    Parameters
    ----------
    run : RecordedRun
        Parent.
    frame : int or None
        Index of the frame, by default the last.
    settings : sequence of str
        Changes `key=value` of the dynamics.

    Returns
    -------
    Problem, int

    Raises
    ------
    InputError
        The frame does not exist, a setting would change data or network, or the end is in the past.
    """
    index = start_frame(run, frame)
    return resume_problem(
        run, index, _experiment(run, settings, float(run.log10_time[index]))
    ), index


def start_frame(run: RecordedRun, frame: int | None) -> int:
    """Return the index of a frame that another run can start at, the last by default.

    Raises InputError if the run has no such frame, or none can start there.
    """
    if run.frames == 0:
        raise InputError(f"{run.path} has no frame to continue from.")
    if isinstance(run.experiment.dynamics, KernelPredictor):
        raise InputError(
            f"{run.path} contains a kernel predictor, which is fitted at once and cannot be "
            "continued."
        )
    index = run.frames - 1 if frame is None else frame
    if not 0 <= index < run.frames:
        raise InputError(f"--frame {index} does not exist; {run.path} has 0 to {run.frames - 1}.")
    size = float(np.linalg.norm(run.parameters(index)))
    log_norm = float(run.rho[index]) + math.log(max(size, 1e-300))
    if not abs(log_norm) < LARGEST_LOG_NORM:
        raise InputError(
            f"at frame {index} ln |W| = {log_norm:.4g}, beyond the range in which a run can "
            "continue",
            where=run.path,
            remedy="continue a shorter run",
            typed="choose another --frame",
        )
    return index


def resume_problem(
    run: RecordedRun, index: int, experiment: Experiment, facts: Mapping[str, object] = NO_FACTS
) -> Problem:
    """Return the problem that starts at a frame of a run, with its data and network.

    Parameters
    ----------
    run : RecordedRun
        Parent.
    index : int
        Index of the frame.
    experiment : Experiment
        Settings of the new run.
    facts : mapping of str to object
        Entries of `meta.start.continues` besides those of every such file.

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        The dynamics does not start from given parameters.
    """
    from core.dynamics.registry import prepare  # loads numba

    refuse_fitted(experiment)
    facts = {**facts_about(run, index), **facts}
    if run.log10_time[index] == -np.inf:  # the run's own start, to the last digit
        start = Start(np.array(run.origin), np.array(run.origin), continues=facts)
    else:
        start = _start(run, index, experiment, facts)
    return prepare(replace(run.problem, experiment=experiment, start=start))


def refuse_fitted(experiment: Experiment) -> None:
    """Raise InputError for a dynamics that does not start from given parameters."""
    if isinstance(experiment.dynamics, KernelPredictor):
        raise InputError(
            f'dynamics.kind = "{experiment.dynamics.kind}" is fitted, not trained, so it cannot '
            "start from weights; start a new run."
        )


def facts_about(run: RecordedRun, index: int) -> dict[str, object]:
    """Return a file's entries about its parent run and the frame; time None at t = 0."""
    time = float(run.log10_time[index])
    facts = {"file": run.path.name, "run": run.name, "frame": index}
    return facts | {"log10_time": time if math.isfinite(time) else None}


def _start(
    run: RecordedRun, index: int, experiment: Experiment, facts: Mapping[str, object]
) -> Start:
    """Return the start of a run that continues from a frame after t = 0."""
    goes_on = _is_same_dynamics(run.experiment, experiment)
    # With another step the dynamics continues, but the result is not the original run.
    changed = run.has_changed_rule or not goes_on or _step(run.experiment) != _step(experiment)
    start = Start(
        parameters=np.array(run.parameters(index)),
        origin=np.array(run.origin),
        rho=float(run.rho[index]),
        step=int(run.steps[index]),
        log10_time=float(run.log10_time[index]),
        continues={**facts, "anew": not goes_on, "changed": changed},
        same_dynamics=goes_on,
        history=earlier_frames(run, index),
    )
    return with_state(run, start, index, experiment) if goes_on else start


def note_of(problem: Problem) -> str:
    """Return the remark on a continuation; empty if it is exact, or a new start."""
    return str((problem.start.continues or {}).get("note", ""))


def _is_same_dynamics(before: Experiment, now: Experiment) -> bool:
    """Return True if loss, precision and dynamics agree, except for the end and the step.

    The step must agree too where the draws depend on it (`fixed_by`).
    """
    if (before.loss, before.run.precision) != (now.loss, now.run.precision):
        return False
    # A new step leaves the dynamics the same, except for the perturbed flow, which draws by its
    # step (docs/decisions/0011). Any other change restarts the dynamics, with its own order of
    # examples.
    free = {"until_log10_time", "step"} - now.dynamics.fixed_by
    return before.dynamics.model_dump(exclude=free) == now.dynamics.model_dump(exclude=free)


def _step(experiment: Experiment) -> float | None:
    return getattr(experiment.dynamics, "step", None)


def with_state(run: RecordedRun, start: Start, index: int, experiment: Experiment) -> Start:
    """Return a start with the dynamics' state: stored there, replayed from earlier, or a note.

    Parameters
    ----------
    run : RecordedRun
        Parent.
    start : Start
        Start at the frame.
    index : int
        Index of the frame.
    experiment : Experiment
        Settings of the new run.

    Returns
    -------
    Start
    """
    is_known = run.state_version == STATE_VERSION
    saved = [frame for frame in run.saved_states() if frame <= index] if is_known else []
    if index in saved:
        return replace(start, state=run.state(index))
    dynamics = run.experiment.dynamics
    note = dynamics.describe_restart(run.network.fixed_features)
    # Orders and replacements of examples follow from the step count if the run started at t = 0.
    counted = dynamics.count_is_all and run.start.log10_time == -np.inf and not saved
    if not note and (counted or dynamics.frame_is_all):
        return start
    earlier = _find_earlier_state(run, saved) if is_known else None
    # The run itself started at this frame, without state.
    if earlier is not None and earlier[0] == index:
        before = {"note": run.note} if run.note else {}
        same_dynamics = earlier[1].same_dynamics
        lineage = {**before, **(start.continues or {}), "anew": not same_dynamics}
        return replace(start, same_dynamics=same_dynamics, continues=lineage)
    if earlier is not None:
        marks = tuple(run.log10_time[earlier[0] + 1 : index + 1].tolist())
        # Replay with the step of the original training, whatever the step from here on is.
        return replace(start, earlier=earlier[1], replay_times=marks, replay_dynamics=dynamics)
    if not note:
        return start
    words = f"{run.path.name} does not contain the state of its dynamics at frame {index}: {note}."
    return replace(start, continues={**(start.continues or {}), "note": words})


def _find_earlier_state(run: RecordedRun, saved: list[int]) -> tuple[int, Start] | None:
    """Return the last of the `saved` frames, else frame 0 if complete, and a start there.

    None if no frame of the file has a complete state.
    """
    original = run.problem.start
    if saved:
        frame = saved[-1]
        saved_start = replace(
            original,
            parameters=np.array(run.parameters(frame)),
            rho=float(run.rho[frame]),
            step=int(run.steps[frame]),
            log10_time=float(run.log10_time[frame]),
            state=run.state(frame),
        )
        return frame, saved_start
    # A run that started from a saved state has that state at frame 0, unless it was interrupted
    # before.
    stateless = not original.same_dynamics or "note" in (run.continues or {})
    return (0, original) if stateless or original.log10_time == -np.inf else None


def earlier_frames(run: RecordedRun, index: int) -> History:
    """Return the frames after t = 0 and before a frame of a run, with those of its ancestors.

    They are thinned evenly where their parameters would exceed 64 MiB.
    """
    full_run = run.whole_run
    # Frames at t = 0 equal the origin, which every file stores.
    chosen = list(range(1, full_run.frames_before + index))
    # Thin out evenly, since statements cover all s <= t.
    max_frames = most_earlier(run.network.size) - 1
    if len(chosen) > max_frames:
        chosen = np.unique(np.linspace(1, chosen[-1], max_frames).astype(int)).tolist()
    rows = np.array([full_run.parameters(frame) for frame in chosen])
    ends = [*chosen, full_run.frames_before + index]
    return History(
        full_run.steps[chosen],
        full_run.log10_time[chosen],
        full_run.rho[chosen],
        rows.reshape(len(chosen), run.network.size),
        full_run.complete,
        _errors(full_run, ends),
    )


def _errors(full_run: Run, frames: list[int]) -> Array | None:
    """Return the `margin_error` of increasing frames, each the largest since the one before it.

    inf where a frame has none, and None where no frame of the run has one.
    """
    errors = np.full(frames[-1] + 1, np.nan)
    for frame in range(1, errors.size):
        errors[frame] = full_run.diagnostics(frame).get("margin_error", np.nan)
    if not np.isfinite(errors).any():
        return None
    firsts = np.array([0, *frames[:-1]]) + 1
    largest = np.fmax.reduceat(errors, firsts)
    return np.where(np.isnan(largest), np.inf, largest)


def _experiment(run: RecordedRun, settings: Sequence[str], time: float) -> Experiment:
    """Return the run's experiment with settings, ending after log10 t = `time`.

    Raises InputError for settings of data, network or seed.
    """
    for setting in settings:
        section = split_key(setting.partition("=")[0].strip())[0]
        if section not in CHANGEABLE and not setting.startswith("run.precision"):
            raise InputError(
                f"--set {setting}: a continued run keeps its data, network and seed; start a new "
                "run with `run` to change them."
            )
    experiment = with_settings(run.experiment, settings, "continue")
    extends = any(s.partition("=")[0].strip() == UNTIL for s in settings)
    return with_later_end(experiment, time, extends)


def with_settings(experiment: Experiment, settings: Sequence[str], command: str) -> Experiment:
    """Apply `key=value` settings to an experiment, for a command that makes one run.

    Parameters
    ----------
    experiment : Experiment
        Settings before.
    settings : sequence of str
        Changes `key=value`.
    command : str
        Name of the command, for errors.

    Returns
    -------
    Experiment

    Raises
    ------
    InputError
        A setting is not allowed, or has several values.
    """
    tables: dict[str, Any] = experiment.model_dump(mode="python", exclude_none=True)
    # Through a study of one cell, which parses and rejects settings as everywhere else.
    study = Study(command, "", "", tables, axes={}, sizes={}).with_settings(settings)
    if study.axes:
        raise InputError(f"{command} makes one run; give one value for each --set.")
    return next(study.iter_cells()).experiment


def with_later_end(
    experiment: Experiment, time: float, until_requested: bool = False
) -> Experiment:
    """Return the experiment with an end after log10 t = `time`.

    Parameters
    ----------
    experiment : Experiment
        Settings.
    time : float
        log10 t of the frame.
    until_requested : bool
        True if the user set the end, which is then not extended.

    Returns
    -------
    Experiment
        With a later end if the run has reached its own.

    Raises
    ------
    InputError
        The end is not after the frame, or no later one is possible.
    """
    until = experiment.dynamics.until_log10_time
    if until_requested and until <= time:
        raise InputError(
            f"{UNTIL} = {until:g} is before the frame's log10 t = {time:.6g}; choose a later time."
        )
    later = until if until_requested else extend_horizon(until, time)
    if later == until:
        return experiment
    if later > experiment.dynamics.furthest:
        raise InputError(f"The run has reached log10 t = {until:g}, the latest possible time.")
    dynamics = experiment.dynamics.model_copy(update={"until_log10_time": later})
    return experiment.model_copy(update={"dynamics": dynamics})


def restart(problem: Problem, experiment: Experiment) -> Problem:
    """Return the problem at t = 0 with the same data under other settings.

    The initial parameters are the same, but with another network or seed new ones are drawn. They
    differ from those of a study from which data and network are drawn with one generator: the
    data, which only the run file has, are not drawn again.
    """
    mine = problem.experiment
    if (mine.network, mine.run.seed) != (experiment.network, experiment.run.seed):
        dataset = problem.dataset
        return resolve_problem(experiment, None, problem.title, problem.source, dataset=dataset)
    start = Start(problem.start.origin, problem.start.origin)
    return replace(problem, experiment=experiment, start=start)
