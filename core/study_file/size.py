"""What a run takes of the disk, of memory and of time, from its settings alone: nothing is drawn.

Sizes are those of the arrays that are made. Seconds are `DynamicsSection.work`, by which sweeps are
planned, at a rate that was measured: right to a factor of three or so, which tells a minute from a
day.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, final

from core.network.registry import NETWORKS
from core.run_files.schema import KEEP_EVERY, PAGE_SIZE
from core.study_file.experiment import Experiment

# What training has at once: arrays as long as m n (2.9 and 3.8 were measured, by flow and descent),
# as long as the parameters (stages of a step, the state, what is written), and as the data.
ACTIVATIONS, COPIES, DATA_COPIES = 4.0, 10.0, 3.0
SHOWN_BYTES = 17.0  # of a node and a frame in the window (app.state.display)
FRAME_RATE = 2e9  # multiply-adds a second of what is computed for a frame
STEP_SECONDS = 1e-6  # of a step of next to no work
FURTHEST = 20.0  # log10 t beyond which a flow in log time takes ever fewer steps
GAIN, SMALLEST = 2.0, 1e6  # where row-space form is worth it (core.dynamics.rows)


@final
@dataclass(frozen=True, slots=True)
class RunSize:
    """Bytes of a run's file, and of memory while it is trained; seconds of its training.

    `least`: sizes that stand in a data file are not known, so that all is the least it can be.
    `least_seconds`: the step is chosen when the data are there; a step for each frame is counted.
    """

    file: float
    memory: float
    seconds: float
    least: bool = False
    least_seconds: bool = False

    def __add__(self, other: RunSize) -> RunSize:
        """Of runs that are trained side by side."""
        return RunSize(
            self.file + other.file,
            self.memory + other.memory,
            self.seconds + other.seconds,
            self.least or other.least,
            self.least_seconds or other.least_seconds,
        )


def size_of(experiment: Experiment) -> RunSize:
    """What a run of an experiment takes, about.

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
    kept, form, rank = weights, 0.0, d
    able = dynamics.in_row_space() and NETWORKS[experiment.network.kind].row_space
    if able and d >= GAIN * (n + 1) and m * n * d >= SMALLEST:
        kept, form, rank = weights - m * (d - n - 1), 8.0 * (n + m) * d, n + 1
    states = 1 + frames // KEEP_EVERY if dynamics.long_state else 0
    width = 4 if experiment.run.precision == "float32" else 8
    file = 8.0 * (n * (d + 1) + kept) + form
    file += frames_bytes(int(kept), int(n), (frames, states), width)
    values = ACTIVATIONS * m * n + DATA_COPIES * n * d + COPIES * weights + dynamics.held(n)
    seconds, sure = _seconds(experiment, n, m, rank)
    return RunSize(
        file,
        8.0 * values + SHOWN_BYTES * frames * m,
        seconds,
        data.n is None or data.d is None,
        not sure,
    )


def _outputs(experiment: Experiment) -> int:
    if NETWORKS[experiment.network.kind].classes == "two":
        return 1
    classes: Any = getattr(experiment.data, "classes", ())
    return max(1, len(classes) if isinstance(classes, tuple) else int(classes))


def _seconds(experiment: Experiment, n: float, m: float, d: float) -> tuple[float, bool]:
    """Seconds with so many coordinates, and whether the number of steps is known."""
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
    """Bytes of the frames and of the states that are kept: `counts` of both, with `size` parameters
    of `width` bytes.

    Frames of a few kilobytes share pages of 8 KiB, of which a part then stays empty.
    """
    frames, states = counts
    row = size * width + (8 * examples if width == 4 else 0) + 40
    pages = _pages(row, frames) + _pages(2 * size * 8 + 8 * examples, states)
    return (12 + pages) * PAGE_SIZE


def _pages(row: int, count: int) -> int:
    """Pages of a table of equal rows: several to a leaf, or one leaf part and overflow pages."""
    # SQLite's "Database File Format", section 1.6: which part of a row stays in the leaf of a
    # table.
    usable, longest = PAGE_SIZE, PAGE_SIZE - 35
    if row <= longest:
        return ceil(count / max((usable - 8) // (row + 6), 1))
    shortest = (usable - 12) * 32 // 255 - 23
    local = shortest + (row - shortest) % (usable - 4)
    local = local if local <= longest else shortest
    overflow = ceil((row - local) / (usable - 4))
    return count * overflow + ceil(count / max((usable - 8) // (local + 10), 1))
