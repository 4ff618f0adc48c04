"""Branches: runs that start at any frame of another run, to the bit, with a change.

Time and steps continue. If loss and dynamics change, data and network are the parent's, and so is
the start at t = 0. With other labels or another network it is another problem: its start is the
frame of the branch, and nothing before it is its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from core.data.dataset import Array
from core.data.registry import draw
from core.data.section import FileSection
from core.dynamics.rows import restore_rows
from core.errors import InputError
from core.network.parametrisation import Network, Shape
from core.network.registry import NETWORKS, build_network, initial_arrays
from core.network.section import NetworkSection
from core.numbers import time_text
from core.problem.problem import Problem, Start
from core.problem.schedule import parse_time
from core.runs import RecordedRun
from core.runs.meta import Changes, changes_text
from core.studies.tables import value_text
from core.study_file.experiment import Experiment
from core.training.continuation import (
    UNTIL,
    facts_about,
    refuse_fitted,
    resume_problem,
    start_frame,
    with_later_end,
)

CODE = ("network.code", "network.path")
# Settings of how a start is drawn; a branch takes the start from its parent.
DRAWN = ("network.m", "network.init", "network.init_path", "network.content", "network.seed")
NEAR = 1e-9  # in log10 t: a time typed with all digits of a frame's time means that frame
AGREE = 1e-9  # relative to the largest |f|: the two networks sum products in different orders
PROBES = 64  # random points, besides the training examples, at which two networks are compared
LONGEST_NAME, MOST_NAMED = 100, 4  # letters, and settings, in a file name
FRAME = re.compile(r"[0-9]{1,18}")


# -------------------------------------------------------------------------------- frame and changes


def frame_of(run: RecordedRun, text: str) -> int:
    """Return the frame that `--at` means.

    A whole number is a frame's own, a time that of the last frame not after it. Raises InputError
    for a moment outside the run.
    """
    text = text.strip()
    if FRAME.fullmatch(text):
        if int(text) >= run.frames:
            raise InputError(
                f"--at {text}: {run.path} has the frames 0 to {run.frames - 1}; a time is written "
                f"as 10^2.5 or t={text}."
            )
        return int(text)
    time = parse_time(text)
    if time is None:
        raise InputError(
            f"--at {text[:60]!r} is neither a frame, such as 120, nor a time, such as 10^2.5 or "
            "t=300."
        )
    times = run.log10_time
    if not times.size or time > times[-1] + NEAR:
        end = f"ends at {time_text(float(times[-1]))}" if times.size else "holds no frame"
        raise InputError(f"--at {text}: {run.path} {end}; choose an earlier time, or `continue`.")
    if time < times[0] - NEAR:
        raise InputError(
            f"--at {text}: {run.path} starts at {time_text(float(times[0]))}; branch from its "
            "parent run."
        )
    return int(np.searchsorted(times, time + NEAR, side="right")) - 1


def changes_between(parent: Experiment, child: Experiment) -> Changes:
    """Return the differing settings by dotted key: (before, now), None for a missing value.

    If a section changes its kind, the parent's missing settings count as the defaults of the new
    kind: settings of the child that have their default value are then left out.
    """
    changes: dict[str, tuple[Any, Any]] = {}
    before, after = (one.model_dump(mode="json") for one in (parent, child))
    for name, now in after.items():
        previous, section = before[name], getattr(child, name)
        if previous.get("kind") != now.get("kind"):
            changes[f"{name}.kind"] = (previous["kind"], now["kind"])
            previous = {key: previous.get(key, _default(section, key)) for key in now}
        for key, value in now.items():
            if key != "kind" and value != previous.get(key):
                changes[f"{name}.{key}"] = (previous.get(key), value)
    return changes


def _default(section: Any, key: str) -> Any:
    field = type(section).model_fields[key]
    return None if field.is_required() else field.get_default(call_default_factory=True)


def made_changes(problem: Problem) -> Changes:
    """Return the changes that a branch's problem records; empty for other problems."""
    changes: Any = (problem.start.continues or {}).get("changes", {})
    return {key: (before, now) for key, (before, now) in changes.items()}


def file_stem(stem: str, index: int, changes: Changes) -> str:
    """Return the name of a branch's file: its parent, the frame, and the changes.

    Parameters
    ----------
    stem : str
        Name of the parent's file, without suffix.
    index : int
        Index of the parent's frame.
    changes : dict of str to (before, now)
        Result of `changes_between`.

    Returns
    -------
    str

    Examples
    --------
    >>> file_stem("a", 120, {"dynamics.step": (0.5, 0.25)})
    'a__from=120__dynamics.step=0.25'
    """
    parts = [f"{key}={value_text(now)}" for key, (_, now) in changes.items()][:MOST_NAMED]
    return f"{stem}__from={index}__{'__'.join(parts)[:LONGEST_NAME]}"


# ------------------------------------------------------------------------------------ the problem


def plan_branch(run: RecordedRun, index: int, experiment: Experiment) -> tuple[Experiment, Changes]:
    """Return the experiment of a branch, with an end after the frame, and its changes.

    Parameters
    ----------
    run : RecordedRun
        Parent.
    index : int
        Index of the parent's frame.
    experiment : Experiment
        Settings of the branch. Data in files are not read.

    Returns
    -------
    Experiment, dict of str to (before, now)

    Raises
    ------
    InputError
        Nothing is changed, a change needs other points or weights, or no run can start there.
    """
    index, parent = start_frame(run, index), run.experiment
    requested = check_branch(run, experiment)
    experiment = with_later_end(experiment, float(run.log10_time[index]), UNTIL in requested)
    refuse_fitted(experiment)
    changes = changes_between(parent, experiment)
    if experiment.data != parent.data and not experiment.data.embedded:
        _with_labels(replace(run.problem, experiment=experiment), changes)
    if experiment.network != parent.network:
        rho, flat = float(run.rho[index]), np.array(run.parameters(index))
        start = Start(flat, flat, rho)
        _with_network(replace(run.problem, start=start), experiment)
    return experiment, changes


def branch(run: RecordedRun, index: int, experiment: Experiment) -> Problem:
    """Return the problem that starts at a frame of a run, with the settings of an experiment.

    Parameters
    ----------
    run : RecordedRun
        Parent.
    index : int
        Index of the parent's frame.
    experiment : Experiment
        Settings of the branch.

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        No such branch is possible.
    """
    experiment, changes = plan_branch(run, index, experiment)
    parent = run.experiment
    facts: dict[str, object] = {"branch": True, "changes": {k: list(v) for k, v in changes.items()}}
    if (experiment.data, experiment.network) == (parent.data, parent.network):
        return _note_restart(resume_problem(run, index, experiment, facts), index)
    problem = replace(run.problem, experiment=experiment)
    if experiment.data != parent.data:
        problem = _with_labels(problem, changes)
    return _restart_problem(run, index, problem, facts)


def check_branch(run: RecordedRun, experiment: Experiment) -> Changes:
    """Return the changes of a branch. Raises InputError for impossible ones, and for none."""
    changes = changes_between(run.experiment, experiment)
    if not changes:
        raise InputError(
            "nothing is changed: the branch would repeat the run",
            where=run.path,
            remedy="change a setting, or choose a later end",
            typed=f"change a setting with --set, such as --set {UNTIL}=5",
        )
    for key in changes:
        if key in DRAWN:
            raise InputError(
                f"{key} sets the initialisation, but a branch has its parent's weights; leave it "
                "unchanged, or start a new run."
            )
        if key in CODE:
            raise InputError(
                f"{key}: a branch has its parent's code; start a new run to use another."
            )
        if key == "run.seed":
            raise InputError(
                "run.seed draws data and start, which a branch takes from its parent; leave it "
                "unchanged, or start a new run."
            )
    return changes


def _note_restart(problem: Problem, index: int) -> Problem:
    """Return the problem with a note in its start about the state that a new dynamics restarts."""
    start, dynamics = problem.start, problem.experiment.dynamics
    words = dynamics.describe_restart(problem.network.fixed_features)
    # A flow's state is its step length, which does not affect the trajectory.
    if start.same_dynamics or not words or dynamics.log_time or start.log10_time == -np.inf:
        return problem
    note = f"Frame {index} was reached with other settings: {words}."
    continues = {**(start.continues or {}), "note": note}
    return replace(problem, start=replace(start, continues=continues))


def _restart_problem(
    run: RecordedRun, index: int, problem: Problem, facts: Mapping[str, object]
) -> Problem:
    """Return the prepared problem of other labels or another network, whose origin is the frame."""
    from core.dynamics.registry import prepare  # loads numba

    flat, time = np.array(run.parameters(index)), float(run.log10_time[index])
    rho, step, first = float(run.rho[index]), int(run.steps[index]), time == -np.inf
    continuation = {**facts_about(run, index), **facts, "anew": not first, "changed": not first}
    physical = run.network.physical(flat, rho)
    if not np.isfinite(physical).all():
        raise InputError(
            f"at frame {index} the weights exceed the range of float64 (ln of their size is "
            f"{rho:.4g}), so no other problem can start there",
            where=run.path,
            remedy="branch from an earlier frame",
        )
    start = Start(flat, physical, rho, step, time, continuation, same_dynamics=first)
    problem = replace(problem, start=start)
    experiment = problem.experiment
    if experiment.network != run.experiment.network:
        problem = _with_network(replace(problem, experiment=run.experiment), experiment)
    # The init kind becomes "file" whatever the parent's was: the start is stored in the run file.
    section = experiment.network.model_copy(update={"init": "file", "init_path": None})
    experiment = experiment.model_copy(update={"network": section})
    return _note_restart(prepare(replace(problem, experiment=experiment)), index)


def _with_labels(problem: Problem, changes: Changes) -> Problem:
    """Return the problem with its experiment's data, which must have the same points.

    Raises InputError for other points, and for other classes.
    """
    experiment, dataset = problem.experiment, problem.dataset
    section = experiment.data
    seed = experiment.run.seed if section.seed is None else section.seed
    new = draw(section, np.random.default_rng(seed), None)
    is_same = new.x.shape == dataset.x.shape and np.array_equal(new.x, dataset.x)
    if not is_same or new.classes != dataset.classes:
        data_changes = changes_text({k: v for k, v in changes.items() if k.startswith("data.")})
        difference = "other points" if not is_same else f"{new.classes} classes"
        raise InputError(
            f"{data_changes} gives {difference}, but a branch keeps its parent's points; "
            "only their "
            "labels can change, as by data.flips of a gaussian_mixture, or data.path of a file "
            "with the same x."
        )
    if isinstance(section, FileSection):
        experiment = experiment.model_copy(update={"data": section.with_read(new)})
    return replace(problem, dataset=new, experiment=experiment)


# ----------------------------------------------------------------------------- another network


def _with_network(problem: Problem, experiment: Experiment) -> Problem:
    """Return the problem with another network of the same physical weights, at its start.

    Raises InputError if the weights do not fit that network.
    """
    problem = restore_rows(problem)
    earlier, section = problem.network, experiment.network
    arrays = {**earlier.fixed, **earlier.unpack(problem.physical_start())}
    network = same_function(problem, section, arrays)
    if network is None:
        raise InputError(
            f'network.kind = "{section.kind}": the parent\'s weights, {", ".join(arrays)} of a '
            f"{earlier.kind} network, do not fit this kind, or give another function; "
            f"{_allowed_text(problem, arrays)}"
        )
    new_network, flat = network
    start = replace(problem.start, parameters=flat, origin=flat, rho=0.0)
    return replace(problem, network=new_network, start=start)


def same_function(
    problem: Problem, section: NetworkSection, arrays: Mapping[str, Array]
) -> tuple[Network, Array] | None:
    """Return the network of a section with these weights, if it computes the same function.

    Weights that only the new network has are 0 or 1, if f is the same then.

    Parameters
    ----------
    problem : Problem
        Problem with the present network.
    section : NetworkSection
        Settings of the new network.
    arrays : mapping of str to array
        Physical weights by name.

    Returns
    -------
    (Network, array (size,)) or None
        Network and flat parameters; None for other weights or another function.
    """
    shape = Shape(problem.network.m, problem.dataset.x, problem.network.k)
    try:
        arrays_of_start = initial_arrays(section, shape, np.random.default_rng(0))
    except (InputError, ValueError):
        return None
    lacking = [name for name in arrays_of_start if name not in arrays]
    if any(
        arrays_of_start[name].shape != arrays[name].shape
        for name in arrays_of_start.keys() - set(lacking)
    ):
        return None
    points = _probes(problem)
    f = problem.network.outputs(problem.physical_start(), problem.network.inputs(points))
    for values in product((0.0, 1.0), repeat=len(lacking)) if len(lacking) < 4 else ():
        own = dict(zip(lacking, values, strict=True))
        filled = {
            n: np.full_like(a, own[n]) if n in own else arrays[n]
            for n, a in arrays_of_start.items()
        }
        network = build_network(section, shape, filled)
        flat = network.pack(filled)
        g = network.outputs(flat, network.inputs(points))
        if g.shape == f.shape and np.abs(g - f).max() <= AGREE * np.abs(f).max():
            return network, flat
    return None


def _probes(problem: Problem) -> Array:
    """Return the n training examples and PROBES random points of their mean size, (N, d)."""
    x = problem.dataset.x
    size = math.sqrt(float((x**2).mean())) or 1.0
    random_points = size * np.random.default_rng(0).standard_normal((PROBES, x.shape[1]))
    return np.concatenate([x, random_points])


def _allowed_text(problem: Problem, arrays: Mapping[str, Array]) -> str:
    names = ", ".join(_kinds_of(problem, arrays))
    return f"they fit {names}." if names else "they fit no other network."


def _kinds_of(problem: Problem, arrays: Mapping[str, Array]) -> Iterator[str]:
    """Yield the other kinds of networks that compute the same function with these weights."""
    for kind, network in NETWORKS.items():
        if kind == problem.network.kind:
            continue
        try:
            section = network.section.model_validate({"kind": kind, "m": problem.network.m})
        except ValueError:  # a kind that needs a user's file
            continue
        if same_function(problem, section, arrays) is not None:
            yield kind
