"""Writing a run file during its run, so that a crash loses next to nothing."""

from __future__ import annotations

from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.rows import will_be_reduced
from core.errors import InputError
from core.problem.problem import History, Problem, State
from core.run_files.schema import (
    COLUMNS,
    FIXED,
    HISTORY,
    SCALING,
    STATE_INTERVAL,
)
from core.run_files.writer import RunWriter
from core.runs.meta import meta_of
from core.runs.states import DELETE_ARRAYS, INSERT_ARRAY, StateRetention, range_of, state_rows
from core.settings import MAX_ELEMENTS
from core.study_file.weight import frames_bytes

# --------------------------------------------------------------------- the arrays before the frames


def arrays_of(problem: Problem) -> dict[str, NDArray[np.float64]]:
    """Return the arrays of a problem's run file, as they are stored.

    Parameters
    ----------
    problem : Problem
        Data, start and network; its earlier frames, basis and scaling are stored where it has them.

    Returns
    -------
    dict of str to array
        Contiguous little-endian float64, by name.

    Raises
    ------
    InputError
        A reader would refuse an array as too large.
    """
    data, start = problem.dataset, problem.start
    arrays = {"x": data.x, "y": data.y, "origin": start.origin}
    if data.x_test is not None and data.y_test is not None:
        arrays |= {"x_test": data.x_test, "y_test": data.y_test}
    if data.scaling is not None:
        arrays |= zip(SCALING, (data.scaling.shift, data.scaling.divisor), strict=True)
    if start.parameters is not start.origin:
        arrays["start"] = start.parameters
    if problem.reduction is not None:
        arrays["basis"] = problem.reduction.basis
        arrays["perpendicular"] = problem.reduction.perpendicular
    arrays |= {f"{FIXED}{name}": array for name, array in problem.network.fixed.items()}
    if start.history is not None:
        arrays |= columns_of(start.history)
    for name, array in arrays.items():
        if array.size > 2 * MAX_ELEMENTS:
            raise InputError(
                f"The array {name} has {array.size:.3g} values; a run file holds at most "
                f"{2 * MAX_ELEMENTS:.0e}; use fewer examples or a smaller network."
            )
    return {name: np.ascontiguousarray(array, dtype="<f8") for name, array in arrays.items()}


def columns_of(history: History) -> dict[str, NDArray[np.float64]]:
    """Return the arrays of the frames before the start.

    Parameters
    ----------
    history : History
        H earlier frames, with their margin errors if known.

    Returns
    -------
    dict of str to array
        Named `history_NAME`: columns (H,), parameters (H, size) and errors (H + 1,), float64 but
        for the parameters. Without earlier frames, only that nothing is missing.
    """
    steps, complete = history.steps.astype(np.float64), np.array([float(history.complete)])
    errors = np.zeros(0) if history.errors is None else history.errors
    columns = (steps, history.log10_time, history.rho, history.parameters, complete, errors)
    pairs = zip(COLUMNS, columns, strict=True)
    return {f"{HISTORY}{name}": column for name, column in pairs if column.size}


def estimated_bytes(problem: Problem, planned: int) -> int:
    """Estimate the size of the finished file for `planned` frames: at most half too much.

    Frames of a few kilobytes share pages of 8 KiB, of which a part then stays empty. A problem that
    will be run in row-space form has n + 1 coordinates at most for each v_j, and the form's arrays.
    """
    data, m = problem.dataset, problem.network.m
    examples, width = data.n, 4 if problem.experiment.run.precision == "float32" else 8
    size, arrays = problem.network.size, sum(a.nbytes for a in arrays_of(problem).values())
    if will_be_reduced(problem):
        spared = m * (data.d - examples - 1)
        size -= 0 if "V" in problem.network.fixed else spared
        arrays += 8 * ((examples + m) * data.d - spared)
    states = 1 + planned // STATE_INTERVAL if problem.experiment.dynamics.long_state else 0
    return arrays + frames_bytes(size, examples, (planned, states), width)


# ---------------------------------------------------------------------------------------- recorders


@final
class Recorder:
    """File of one run of this program, in the thread that trains: a `RunWriter` with states.

    `append`, `event`, `flush`, `finish` and `abandon` are those of the writer, with its errors.
    """

    def __init__(
        self,
        path: Path | str,
        problem: Problem,
        *,
        engine: str,
        planned: int,
        temperature_cap: float | None,
        force: bool = False,
    ) -> None:
        continued = problem.start.state is not None or problem.start.earlier is not None
        self._retention = StateRetention(from_state=continued)
        description = meta_of(problem, engine, planned, temperature_cap)
        self._writer = writer = RunWriter(path, description, arrays_of(problem), force=force)
        self.append, self.event, self.flush = writer.append, writer.event, writer.flush
        self.finish, self.abandon = writer.finish, writer.abandon

    @property
    def path(self) -> Path:
        """Path of the file, also after the run has ended."""
        return self._writer.path

    @property
    def last_committed(self) -> int:
        """Index of the last frame that is safe, -1 before the first."""
        return self._writer.committed

    def state_due(self) -> bool:
        """Return True if the state at the latest frame is to be stored."""
        return self._retention.is_due(self._writer.next - 1)

    def save_state(self, state: State | None) -> None:
        """Store the dynamics' state at the latest frame; committed with the frames around."""
        frame = self._writer.next - 1
        if state is None or frame < 0 or not self._writer.is_open:
            return
        replaced = self._retention.add_state(frame)
        rows = state_rows(frame, state)
        size = sum(len(row[-1]) * row[-1].itemsize for row in rows)
        self._writer.add_statement((INSERT_ARRAY, rows), size)
        if replaced is not None:
            self._writer.add_statement((DELETE_ARRAYS, [range_of(replaced)]))
