"""Writing a run file while its run goes on, so that a crash loses next to nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

from core.problem.problem import Problem, State
from core.run_files.frame import Frame
from core.run_files.writer import RunWriter
from core.runs.meta import meta_of
from core.runs.new_file import arrays_of
from core.runs.states import DELETE_ARRAYS, INSERT_ARRAY, Keeping, range_of, state_rows


@final
class Recorder:
    """The file of one run of this program, in the thread that trains: a `RunWriter` with states.

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
        self._keeping = Keeping(from_state=continued)
        description = meta_of(problem, engine, planned, temperature_cap)
        self._writer = RunWriter(path, description, arrays_of(problem), force=force)

    @property
    def path(self) -> Path:
        """Where the file lies, also once the run has ended."""
        return self._writer.path

    @property
    def committed(self) -> int:
        """Index of the last frame that is safe, -1 before the first."""
        return self._writer.committed

    def append(self, frames: Sequence[Frame]) -> int:
        """Write frames in the order of the schedule; returns `committed`."""
        return self._writer.append(frames)

    def event(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Note something that happened at the latest frame; numbers not finite become null."""
        self._writer.event(kind, payload)

    def state_due(self) -> bool:
        """Whether the state at the latest frame is to be kept."""
        return self._keeping.due(self._writer.next - 1)

    def keep(self, state: State | None) -> None:
        """Keep what the dynamics carried at the latest frame; committed with the frames around."""
        frame = self._writer.next - 1
        if state is None or frame < 0 or not self._writer.is_open:
            return
        gone = self._keeping.keep(frame)
        rows = state_rows(frame, state)
        size = sum(len(row[-1]) * row[-1].itemsize for row in rows)
        self._writer.also((INSERT_ARRAY, rows), size)
        if gone is not None:
            self._writer.also((DELETE_ARRAYS, [range_of(gone)]))

    def flush(self) -> int:
        """Commit what is pending; returns `committed`."""
        return self._writer.flush()

    def finish(self, reason: str) -> None:
        """Commit, note why the run ended, and leave one file; harmless when repeated."""
        self._writer.finish(reason)

    def abandon(self) -> None:
        """Close the connection as it is; what is committed stays, what is pending is lost."""
        self._writer.abandon()


@final
class RecorderAt:
    """Makes the recorder of one run (a sink factory of `core.training.trajectory`), over an old
    file.

    `path` is where the run lies, also once it has ended; None while there is none.
    """

    def __init__(self, path: Path, force: bool = True) -> None:
        self._path, self._force = path, force
        self._recorder: Recorder | None = None

    def __call__(self, problem: Problem, **settings: Any) -> Recorder:
        self._recorder = Recorder(self._path, problem, force=self._force, **settings)
        return self._recorder

    @property
    def path(self) -> Path | None:
        return None if self._recorder is None else self._recorder.path
