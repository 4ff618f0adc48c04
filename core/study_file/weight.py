"""Resources that training takes, resources of this machine, and settings to lower.

All is known from the settings, before anything of that size is made. Sizes are those of the arrays
that are made. Seconds are `DynamicsSection.work`, by which sweeps are planned, at a measured rate:
right to a factor of three or so, enough to distinguish a minute from a day.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil, inf
from operator import add
from pathlib import Path
from typing import Any, final

from core.errors import InputError
from core.network.registry import NETWORKS
from core.numbers import duration_text, size_text
from core.run_files.schema import PAGE_SIZE, STATE_INTERVAL
from core.study_file.experiment import Experiment

# -------------------------------------------------------------------------------- the size of a run

# Memory of training in units of arrays: of m n numbers (2.9 and 3.8 were measured, by flow and
# descent), of all parameters (stages of a step, the state, frames being written), and of the data.
ACTIVATIONS, COPIES, DATA_COPIES = 4.0, 10.0, 3.0
SHOWN_BYTES = 17.0  # per neuron and frame in the window (app.state.display)
FRAME_RATE = 2e9  # multiply-adds per second of the observables of a frame
STEP_SECONDS = 1e-6  # seconds of a step with almost no work
FURTHEST = 20.0  # log10 t beyond which a flow in log time takes ever fewer steps
GAIN, SMALLEST = 2.0, 1e6  # where row-space form pays off (core.dynamics.rows)


@final
@dataclass(frozen=True, slots=True)
class RunSize:
    """Bytes of a run's file, and of memory while it is trained; seconds of its training.

    `least`: sizes in a data file are unknown, so that all numbers are lower bounds.
    `least_seconds`: the step is chosen when the data are read; a step for each frame is counted.
    """

    file: float
    memory: float
    seconds: float
    least: bool = False
    least_seconds: bool = False

    def __add__(self, other: RunSize) -> RunSize:
        """Add the sizes of runs that are trained side by side."""
        return RunSize(
            self.file + other.file,
            self.memory + other.memory,
            self.seconds + other.seconds,
            self.least or other.least,
            self.least_seconds or other.least_seconds,
        )


def size_of(experiment: Experiment) -> RunSize:
    """Estimate the bytes and seconds that a run takes, from its settings alone.

    >>> from core.study_file.validation import build_experiment
    >>> tables = {"data": {"d": 20, "n": 1000}, "network": {"m": 1000}}
    >>> size = size_of(build_experiment(tables, "a study"))
    >>> 60e6 < size.file < 80e6, size.least
    (True, False)
    """
    data, dynamics = experiment.data, experiment.dynamics
    n, m, d = float(data.n or 1), float(experiment.network.m or 1), float(data.d or 1)
    frames = experiment.recording.frames
    weights = float(experiment.network.weights(int(d), _outputs(experiment)))
    n_numbers, form, rank = weights, 0.0, d
    able = dynamics.in_row_space() and NETWORKS[experiment.network.kind].row_space
    if able and d >= GAIN * (n + 1) and m * n * d >= SMALLEST:
        n_numbers, form, rank = weights - m * (d - n - 1), 8.0 * (n + m) * d, n + 1
    states = 1 + frames // STATE_INTERVAL if dynamics.long_state else 0
    width = 4 if experiment.run.precision == "float32" else 8
    file = 8.0 * (n * (d + 1) + n_numbers) + form
    file += frames_bytes(int(n_numbers), int(n), (frames, states), width)
    values = ACTIVATIONS * m * n + DATA_COPIES * n * d + COPIES * weights + dynamics.count_stored(n)
    seconds, sure = _seconds(experiment, n, m, rank)
    return RunSize(
        file,
        8.0 * values + SHOWN_BYTES * frames * m,
        seconds,
        data.n is None or data.d is None,
        not sure,
    )


def _outputs(experiment: Experiment) -> int:
    """Return the number of outputs: 1 for two classes, and where the data do not say."""
    if NETWORKS[experiment.network.kind].classes == "two":
        return 1
    classes: Any = getattr(experiment.data, "classes", ())
    return max(1, len(classes) if isinstance(classes, tuple) else int(classes))


def _seconds(experiment: Experiment, n: float, m: float, d: float) -> tuple[float, bool]:
    """Return seconds for d coordinates, and True if the number of steps is known."""
    dynamics, frames = experiment.dynamics, float(experiment.recording.frames)
    sure = dynamics.log_time or getattr(dynamics, "step", 1.0) is not None
    if dynamics.log_time and dynamics.until_log10_time > FURTHEST:
        dynamics = dynamics.model_copy(update={"until_log10_time": FURTHEST})
    steps = dynamics.steps() if sure else frames
    seconds = dynamics.work(n, m, d) / dynamics.rate
    if not dynamics.log_time:
        frames = min(frames, steps)
    return seconds + steps * STEP_SECONDS + frames * n * m * d / FRAME_RATE, sure


# --------------------------------------------------------------------------------------- the file


def frames_bytes(size: int, examples: int, counts: tuple[int, int], width: int) -> int:
    """Return the bytes of the stored frames and states.

    Frames of a few kilobytes share pages of 8 KiB, of which a part then stays empty.

    Parameters
    ----------
    size : int
        Number of parameters.
    examples : int
        Number n of examples.
    counts : (int, int)
        Numbers of frames and of states.
    width : int
        Bytes of a parameter, 8 or 4.

    Returns
    -------
    int
    """
    frames, states = counts
    row = size * width + (8 * examples if width == 4 else 0) + 40
    pages = _pages(row, frames) + _pages(2 * size * 8 + 8 * examples, states)
    return (12 + pages) * PAGE_SIZE


def _pages(row: int, count: int) -> int:
    """Return the pages of a table of equal rows: several to a leaf, or a leaf part and overflow."""
    # SQLite's "Database File Format", section 1.6: the part of a row in the leaf of a table.
    usable, longest = PAGE_SIZE, PAGE_SIZE - 35
    if row <= longest:
        return ceil(count / max((usable - 8) // (row + 6), 1))
    shortest = (usable - 12) * 32 // 255 - 23
    local = shortest + (row - shortest) % (usable - 4)
    local = local if local <= longest else shortest
    overflow = ceil((row - local) / (usable - 4))
    return count * overflow + ceil(count / max((usable - 8) // (local + 10), 1))


# -------------------------------------------------------------------------- the limits of a machine

# Limits above which the user is asked first. A file of 2 GB opens slowly and does not fit into a
# mail; others miss a tenth of the free space. Beyond half of the free memory the system and the
# window start to swap. An hour is longer than users wait.
LARGE_FILE, FREE_SHARE = 2e9, 0.1
MEMORY_SHARE = 0.5
LONG = 3600.0
YEAR = 365.25 * 86400.0
LOWER = "choose a smaller {keys}"
# Settings that the time of a run grows with.
SLOW = ("dynamics.until_log10_time", "network.m", "data.n")


@final
@dataclass(frozen=True, slots=True)
class MachineLimits:
    """Bytes of the machine: memory in all, free memory, and free disk; inf if not known."""

    memory: float = inf
    free: float = inf
    disk: float = inf


def room_at(folder: Path) -> MachineLimits:
    """Return the resources of this machine, with the disk of a folder that may not exist yet.

    A resource that the system does not report is infinite.
    """
    import psutil  # slow to load

    memory = free = disk = inf
    with suppress(OSError):
        measured = psutil.virtual_memory()
        memory, free = float(measured.total), float(measured.available)
    existing = next((path for path in (folder, *folder.parents) if path.is_dir()), None)
    if existing is not None:
        with suppress(OSError):
            disk = float(shutil.disk_usage(existing).free)
    return MachineLimits(memory, free, disk)


@final
@dataclass(frozen=True, slots=True)
class ResourceEstimate:
    """Resources of runs that are trained side by side."""

    experiments: tuple[Experiment, ...]
    size: RunSize

    @property
    def words(self) -> str:
        """Number of runs, disk, memory and time in one line."""
        size, count = self.size, len(self.experiments)
        runs = f"{count} runs: " if count > 1 else ""
        about = "at least" if size.least else "about"
        parts = f"{size_text(size.file)} on disk, {size_text(size.memory)} of memory"
        words = f"{runs}{about} {parts}, {self.time_words}"
        return words[0].upper() + words[1:]

    @property
    def time_words(self) -> str:
        """Time of the training; rates are known to a factor of three or so."""
        seconds = self.size.seconds
        least = "at least " if self.size.least_seconds and not self.size.least else ""
        if seconds < 60.0:
            return "a minute or more" if least else "under a minute"
        if seconds > 2.0 * YEAR:
            years = seconds / YEAR
            return f"{least}{years:.0f} years" if years < 1e4 else "thousands of years"
        return f"{least}{duration_text(seconds)}"


def estimate_resources(experiments: Sequence[Experiment]) -> ResourceEstimate:
    """Return the resources of several runs, at least one, trained side by side."""
    return ResourceEstimate(tuple(experiments), reduce(add, map(size_of, experiments)))


def blocking_reason(weight: ResourceEstimate, room: MachineLimits) -> str:
    """Return why runs do not fit, with the keys to lower; "" if they fit.

    >>> from core.study_file.validation import build_experiment
    >>> tables = {"data": {"d": 20, "n": 1000000}, "network": {"m": 1000000}}
    >>> large = estimate_resources([build_experiment(tables, "a study")])
    >>> blocking_reason(large, MachineLimits(memory=32e9))[:75]
    'network.m = 1000000 and data.n = 1000000 take about 32.0 TB of memory, but '
    >>> blocking_reason(large, MachineLimits())
    ''
    """
    size = weight.size
    if size.memory > room.memory:
        take, limit = (
            f"{size_text(size.memory)} of memory",
            f"this machine has {size_text(room.memory)}",
        )
    elif size.file > room.disk:
        take, limit = f"{size_text(size.file)} on disk", f"{size_text(room.disk)} are free there"
    else:
        return ""
    keys = _keys(weight, memory=size.memory > room.memory)
    settings_text = " and ".join(f"{key} = {value}" for key, value in keys.items())
    lower = LOWER.format(keys=_join_names(list(keys)))
    remedy = lower if size.memory > room.memory else f"free some space there, or {lower}"
    return f"{settings_text} take about {take}, but {limit}; {remedy}."


def check_room(experiments: Iterable[Experiment], folder: Path, memory: bool = True) -> None:
    """Check that runs fit which are trained one after another.

    Parameters
    ----------
    experiments : iterable of Experiment
        Runs.
    folder : Path
        Folder of their files.
    memory : bool
        Check memory too: training is on this machine.

    Raises
    ------
    InputError
        One run takes more memory than exists, or all more than is free on the disk.
    """
    weights = [estimate_resources([one]) for one in experiments]
    if not weights:
        return
    room = room_at(folder)
    if memory:
        largest = max(weights, key=lambda one: one.size.memory)
        if problem := blocking_reason(largest, replace(room, disk=inf)):
            raise InputError(problem)
    together = ResourceEstimate(
        tuple(one.experiments[0] for one in weights), reduce(add, (one.size for one in weights))
    )
    if problem := blocking_reason(together, replace(room, memory=inf)):
        raise InputError(problem)


def resource_warnings(weight: ResourceEstimate, room: MachineLimits) -> list[str]:
    """Return the concerns about runs, to be confirmed before the start, with keys to lower."""
    size, warnings = weight.size, []
    if size.file > min(LARGE_FILE, FREE_SHARE * room.disk):
        free = "" if room.disk == inf else f", of {size_text(room.disk)} free"
        keys = _join_names(list(_keys(weight, memory=False)))
        warnings.append(
            f"The file takes about {size_text(size.file)}{free}; {LOWER.format(keys=keys)}."
        )
    if size.memory > MEMORY_SHARE * room.free:
        keys = _join_names(list(_keys(weight, memory=True)))
        warnings.append(
            f"Training takes about {size_text(size.memory)} of memory, of {size_text(room.free)} "
            f"free; {LOWER.format(keys=keys)}."
        )
    if size.seconds > LONG:
        settings = _settings(weight)
        keys = _join_names([key for key in SLOW if settings.get(key)])
        warnings.append(f"Training may take about {weight.time_words}; {LOWER.format(keys=keys)}.")
    return warnings


def _keys(weight: ResourceEstimate, memory: bool) -> dict[str, float]:
    """Return the two settings that dominate the memory, or the file, with their values.

    Sizes in a data file are no settings.
    """
    settings = _settings(weight)
    m, n, d = (settings[key] or 1.0 for key in ("network.m", "data.n", "data.d"))
    products = {("network.m", "recording.frames"): m * d * settings["recording.frames"]}
    products |= {("data.n", "data.d"): n * d}
    if memory:
        products = {("network.m", "data.d"): 10.0 * m * d, ("data.n", "data.d"): 3.0 * n * d}
        products |= {("network.m", "data.n"): 4.0 * m * n}
    largest = max(products, key=products.__getitem__)
    return {key: settings[key] for key in largest if settings[key]}


def _settings(weight: ResourceEstimate) -> dict[str, float]:
    """Return the settings that the size of the largest run depends on; 0 for unknown ones."""
    experiment = max(weight.experiments, key=lambda one: size_of(one).memory)
    dynamics = experiment.dynamics
    until = getattr(dynamics, "until_log10_time", 0.0)
    return {
        "network.m": experiment.network.m or 0,
        "data.n": experiment.data.n or 0,
        "data.d": experiment.data.d or 0,
        "recording.frames": experiment.recording.frames,
        "dynamics.until_log10_time": until
        if "until_log10_time" in type(dynamics).model_fields
        else 0,
    }


def _join_names(keys: Sequence[str]) -> str:
    """Return names in a row: a, b or c."""
    *names, last = keys or ["network.m"]
    return f"{', '.join(names)} or {last}" if names else last
