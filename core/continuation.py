"""Going on from a frame of a run: same data, same network, from where it stood."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.dynamics.registry import prepared
from core.errors import InputError
from core.experiment import Experiment
from core.problem import Problem, Start, resolve
from core.runs import Run
from core.sections.dynamics import KernelPredictor
from core.study import Study
from core.study_tables import split_key

LARGEST_LOG_NORM = 900.0  # a run file holds frames up to 1000, and runs grow
CHANGEABLE = ("loss", "dynamics", "recording")


def continued(run: Run, frame: int | None, settings: Sequence[str]) -> tuple[Problem, int]:
    """The problem that goes on from a frame (the last by default), and the frame's index.

    Raises InputError for a frame that does not exist, a setting that would change data or network,
    or a horizon that lies in the past.
    """
    if run.frames == 0:
        raise InputError(f"{run.path} holds no frame to go on from.")
    if isinstance(run.experiment.dynamics, KernelPredictor):
        raise InputError(f"{run.path} holds a kernel predictor, which is fitted and never goes on.")
    index = run.frames - 1 if frame is None else frame
    if not 0 <= index < run.frames:
        raise InputError(f"--frame {index} does not exist; {run.path} has 0 to {run.frames - 1}.")
    time = float(run.log10_time[index])
    size = float(np.linalg.norm(run.parameters(index)))
    log_norm = float(run.rho[index]) + math.log(max(size, 1e-300))
    if not abs(log_norm) < LARGEST_LOG_NORM:
        raise InputError(
            f"{run.path}: at frame {index} ln |W| = {log_norm:.4g}, from where no run can go on; "
            "choose another --frame."
        )
    experiment = _experiment(run, settings, time)
    start = Start(
        parameters=np.array(run.parameters(index)),
        origin=np.array(run.origin),
        rho=float(run.rho[index]),
        step=int(run.steps[index]),
        log10_time=time,
        continues={"file": run.path.name, "frame": index},
    )
    problem = replace(run.problem, experiment=experiment, start=start)
    return prepared(problem), index


def _experiment(run: Run, settings: Sequence[str], time: float) -> Experiment:
    for setting in settings:
        section = split_key(setting.partition("=")[0].strip())[0]
        if section not in CHANGEABLE and not setting.startswith("run.precision"):
            raise InputError(
                f"--set {setting}: a continued run keeps its data, network and seed; start a new "
                "run with `run` to change them."
            )
    tables: dict[str, Any] = run.experiment.model_dump(mode="python", exclude_none=True)
    study = Study("continue", run.title, run.source, tables, axes={}, sizes={})
    study = study.with_settings(settings)
    if study.axes:
        raise InputError("continue makes one run; give one value for each --set.")
    experiment = next(study.each()).experiment
    asked = any(s.partition("=")[0].strip() == "dynamics.until_log10_time" for s in settings)
    until = experiment.dynamics.until_log10_time
    if until <= time * (1 + 1e-12) and not asked:
        return _extended(experiment, until)
    if until <= time:
        raise InputError(
            f"dynamics.until_log10_time = {until:g} lies before log10 t = {time:.6g}, where the "
            "frame stands; choose a later time."
        )
    return experiment


def _extended(experiment: Experiment, until: float) -> Experiment:
    """The experiment with a horizon a decade later, or twice as far once log10 t > 10."""
    further = until + 1.0 if until <= 10.0 else 2.0 * until
    if further > experiment.dynamics.furthest:
        raise InputError(f"The run has reached log10 t = {until:g}, the furthest it can go.")
    dynamics = experiment.dynamics.model_copy(update={"until_log10_time": further})
    return experiment.model_copy(update={"dynamics": dynamics})


def restarted(problem: Problem, experiment: Experiment) -> Problem:
    """The same data under other settings, from the same initial parameters where these are drawn
    alike: with another network or seed new ones are drawn.
    """
    mine = problem.experiment
    if (mine.network, mine.run.seed) != (experiment.network, experiment.run.seed):
        known = problem.dataset
        return resolve(experiment, None, problem.title, problem.source, dataset=known)
    start = Start(problem.start.origin, problem.start.origin)
    return replace(problem, experiment=experiment, start=start)
