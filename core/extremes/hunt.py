"""A hunt: the machinery of sweeps trains the runs of a search, and the best of them are kept.

Each generation of core.extremes.search is a plan of its own for core.sweep.loop; the pool lives as
long as the hunt. `<id>.hunt.json` beside the run files is the ledger: here its rows are what
counts, since of most runs no file is kept. The same hunt again proposes the same runs, takes the
values of those that are known, and continues after them.
"""

from __future__ import annotations

import hashlib
import io
import math
import time
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import numpy as np

from core.errors import InputError
from core.extremes.objective import VALUE, Objective, ObjectiveReader
from core.extremes.search import Candidate, Search, Space
from core.files import write_whole
from core.problem.problem import resolve_problem
from core.studies.cell_table import Row
from core.studies.code import trusted_codes
from core.studies.tables import MAX_CELLS, Cell
from core.study_file.weight import check_room
from core.sweep.control import SweepControl, SweepStatus
from core.sweep.loop import sweep
from core.sweep.plan import HUNT_SUFFIX, LONGEST_NAME, Ledger, Plan, digest_of, read_ledger, task_of
from core.sweep.pools import Pool

BEST = 10  # runs whose files are not deleted
DIVERGED = "diverged"


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """Limit of a hunt: total number of runs, or seconds in which new runs start."""

    runs: int = MAX_CELLS
    seconds: float = math.inf
    clock: Callable[[], float] = time.monotonic


@final
@dataclass(frozen=True, slots=True)
class FileRetention:
    """Folder of the runs, and the number of best files to keep, or `every` one."""

    folder: Path
    best: int = BEST
    every: bool = False
    force: bool = False


@final
@dataclass(frozen=True, slots=True)
class HuntStatus:
    """Progress of a hunt: runs that ended, those that failed, and the best value (NaN if none)."""

    tried: int = 0
    failed: int = 0
    best: float = math.nan
    seconds: float = 0.0
    running: int = 0
    compiling: tuple[str, ...] = ()
    lacks_workers: bool = False


@final
@dataclass(frozen=True, slots=True)
class TrialResult:
    """Run that ended: phase, seeds and row. Its arrays are not stored."""

    index: int
    phase: str
    parent: int
    place: int
    seeds: Mapping[str, int]
    moved: bool  # the data or start of the run are in a file
    row: Row

    @property
    def value(self) -> float:
        """Value of a run that completed; NaN if it has no number."""
        fine = self.row.state == "done" and self.row.reason != DIVERGED
        return self.row.moments.get(VALUE, math.nan) if fine else math.nan


@final
@dataclass
class Hunt:
    """Search for an extreme run, and its results. `question` identifies the hunt, by key."""

    space: Space
    objective: Objective
    retention: FileRetention
    question: Mapping[str, str]
    drawn: int
    size: str | None = None
    tried: dict[int, TrialResult] = field(default_factory=dict)
    exhausted: bool = False  # every point was tried

    def __post_init__(self) -> None:
        """Check data and folder; raise InputError without data, or for another hunt's folder."""
        study = self.space.ground.study
        check_room([cell.experiment for cell in self.space.cells], self.retention.folder)
        resolved = [resolve_problem(cell.experiment, study.folder) for cell in self.space.cells]
        # Including the content of files.
        self._cells = [digest_of(problem.experiment) for problem in resolved]
        self._search = Search(self.space, self.drawn)
        self._best: list[tuple[float, int]] = []  # scores and indices, best first
        self._points: dict[int, Candidate] = {}  # candidates of the kept runs
        self._digests: dict[int, str] = {}
        path = self.retention.folder / f"{study.id}{HUNT_SUFFIX}"
        self.ledger = Ledger(path, study, self.size, self.question)
        if path.is_file() and not self.retention.force:
            ledger = read_ledger(path, HUNT_SUFFIX)
            self._check_question(ledger)
            self.ledger.entries |= ledger.entries

    def _check_question(self, ledger: Ledger) -> None:
        """Raise InputError if the ledger belongs to a hunt for something else."""
        differing = [
            f"{key} {ledger.question.get(key, 'none')}, not {self.question.get(key, 'none')}"
            for key in sorted(self.question.keys() | ledger.question.keys())
            if ledger.question.get(key) != self.question.get(key)
        ]
        if differing:
            raise InputError(
                f"{ledger.path} belongs to another hunt ({'; '.join(differing)})",
                remedy="choose another folder",
                typed="choose another folder with --output, or replace the hunt with --force",
            )

    # ------------------------------------------------------------------------------------- the loop

    def run(self, pool: Pool, control: SweepControl, budget: Budget) -> Iterator[HuntStatus]:
        """Train runs until the budget is spent, one status after every poll; close the pool.

        Parameters
        ----------
        pool : Pool
            Workers.
        control : SweepControl
            Requests and status of the sweeps.
        budget : Budget
            Limit on runs or seconds.

        Yields
        ------
        HuntStatus

        Raises
        ------
        InputError
            None of the first runs has a number.
        DiskError
            The disk is full.
        """
        start = budget.clock()
        try:
            while (generation := self._next(budget)) and not control.stop_requested:
                for status in self._train_generation(generation, pool, control):
                    is_over = budget.clock() - start >= budget.seconds
                    if is_over:
                        control.stop_submitting()
                    yield replace(status, seconds=budget.clock() - start)
                if any(one.index not in self.tried for one in generation):
                    break
                scores = {one.index: self._score(one.index) for one in generation}
                self._search.add_scores(generation, scores)
                self._check_some_number()
                if budget.clock() - start >= budget.seconds:
                    break
            if not control.stop_requested:
                yield from self._recorded_again(pool)
        finally:
            pool.close(at_once=True)
            self.ledger.save()

    def _next(self, budget: Budget) -> tuple[Candidate, ...]:
        """Return the next candidates within the budget; () once it is spent, or all were tried."""
        if len(self._digests) >= budget.runs:
            return ()
        candidates = self._search.propose()
        self.exhausted = not candidates
        # A larger budget will try the others of a truncated generation.
        return tuple(one for one in candidates if one.index < budget.runs)

    def _train_generation(
        self, generation: Sequence[Candidate], pool: Pool, control: SweepControl
    ) -> Iterator[HuntStatus]:
        """Train the unknown runs of a generation, yielding statuses."""
        for one in generation:
            text = f"{self._cells[one.point.place]} {one.point.digest}"
            self._digests[one.index] = hashlib.sha256(text.encode()).hexdigest()[:32]
        new = [one for one in generation if not self._is_known(one.index)]
        self._add_results(generation, ())
        if new:
            sweep_plan = self._plan(new, pool.shared)
            for status in sweep(sweep_plan, pool, control, retain_pool=True):
                self._add_results(generation, new)
                yield self._status_of(status)
            self._add_results(generation, new)
        yield self.status()

    def _recorded_again(self, pool: Pool) -> Iterator[HuntStatus]:
        """Train those of the best runs again whose files were not kept."""
        missing = [
            self._points[index] for _, index in self._best if not self.run_file(index).is_file()
        ]
        if missing:
            sweep_plan = self._plan(missing, pool.shared)
            for status in sweep(sweep_plan, pool, SweepControl(), retain_pool=True):
                yield self._status_of(status)

    def _status_of(self, sweep: SweepStatus) -> HuntStatus:
        """Return the hunt's status with what a sweep reports about its workers."""
        return replace(
            self.status(),
            running=sweep.running,
            compiling=sweep.compiling,
            lacks_workers=sweep.lacks_workers,
        )

    def _check_some_number(self) -> None:
        """Raise InputError if every run so far has failed: the question does not fit the study."""
        rows = [one.row for one in self.tried.values()]
        if rows and all(row.state == "failed" for row in rows):
            raise InputError(f"none of {len(rows)} runs succeeded: {rows[0].reason}")

    # ---------------------------------------------------------------------------------------- plans

    def _plan(self, new: Sequence[Candidate], shared: bool) -> Plan:
        """Return a sweep of some runs, after writing their moved arrays to files."""
        study, tasks = self.space.ground.study, []
        trusted = trusted_codes(study) if shared else ()
        paths, digests = {}, {}
        for one in new:
            file, arrays = self.run_file(one.index), self.array_file(one.index)
            if one.point.arrays is not None:
                buffer = io.BytesIO()
                np.savez(buffer, **dict(one.point.arrays))  # type: ignore[arg-type]
                write_whole(arrays, buffer.getbuffer())
            values = self.space.cells[one.point.place].values
            name = name_of(one.index)
            experiment = self.space.experiment(one.point, arrays.resolve())
            task = task_of(study, Cell(name, experiment, values), file)
            compute_values = ObjectiveReader(self.objective, tuple(values.items()))
            tasks.append(
                replace(task, stage=shared, compute_values=compute_values, trusted=trusted)
            )
            paths[name], digests[name] = file, self._digests[one.index]
        folder = self.retention.folder
        return Plan(study, folder, self.ledger, paths, digests, tuple(tasks), ())

    def run_file(self, index: int) -> Path:
        """Return the path of a run's recording, whether or not it is kept."""
        name = f"{self.space.ground.study.id}-hunt-{name_of(index)}.msrun"
        if len(name.encode()) > LONGEST_NAME:
            raise InputError("The study's name is too long for names of run files.")
        return self.retention.folder / name

    def array_file(self, index: int) -> Path:
        """Return the path of a run's moved data or start."""
        return self.run_file(index).with_suffix(".npz")

    # -------------------------------------------------------------------------------------- results

    def _is_known(self, index: int) -> bool:
        """Return True if the ledger has the value of this very run."""
        entry = self.ledger.entries.get(name_of(index))
        return (
            entry is not None
            and entry.digest == self._digests[index]
            and entry.row.state == "done"
            and VALUE in entry.row.moments
        )

    def _add_results(self, generation: Sequence[Candidate], new: Sequence[Candidate]) -> None:
        """Store the rows that have arrived; failed rows only of `new` runs."""
        new_indices = {one.index for one in new}
        for one in generation:
            entry = self.ledger.entries.get(name_of(one.index))
            if one.index in self.tried or entry is None:
                continue
            # A failure recorded by an earlier call does not count.
            failed = one.index in new_indices and entry.row.state == "failed"
            if self._is_known(one.index) or (failed and entry.digest == self._digests[one.index]):
                point, has_arrays = one.point, one.point.arrays is not None
                result = TrialResult(
                    one.index,
                    one.phase,
                    one.parent,
                    point.place,
                    point.seeds,
                    has_arrays,
                    entry.row,
                )
                self.tried[one.index] = result
                self._save_if_best(one)

    def _save_if_best(self, one: Candidate) -> None:
        """Keep the files of a run while it is among the best; remove those of a run that is not."""
        score = self._score(one.index)
        surplus = [one.index]
        if math.isfinite(score):
            insort(self._best, (score, one.index))
            self._points[one.index] = one
            surplus = [index for _, index in self._best[self.retention.best :]]
            del self._best[self.retention.best :]
        for index in surplus:
            self._points.pop(index, None)
            if not self.retention.every:
                self._remove(index)

    def _remove(self, index: int) -> None:
        """Delete the files of a run."""
        run = self.run_file(index)
        for path in (run, run.with_name(f"{run.name}-wal"), run.with_name(f"{run.name}-shm")):
            path.unlink(missing_ok=True)
        self.array_file(index).unlink(missing_ok=True)

    def _score(self, index: int) -> float:
        return self.objective.score(self.tried[index].value)

    def ranked_runs(self) -> list[TrialResult]:
        """Return the runs with a number, the best first; equal ones in the order of trial."""
        fine = [one for one in self.tried.values() if math.isfinite(self._score(one.index))]
        return sorted(fine, key=self._rank)

    def _rank(self, one: TrialResult) -> tuple[float, int]:
        return self.objective.score(one.value), one.index

    def unranked_runs(self) -> list[TrialResult]:
        """Return the runs that failed, diverged, or have no number, in the order of trial."""
        unranked = [one for one in self.tried.values() if not math.isfinite(self._score(one.index))]
        return sorted(unranked, key=lambda one: one.index)

    def status(self) -> HuntStatus:
        best = self.tried[self._best[0][1]].value if self._best else math.nan
        failed = sum(one.row.state == "failed" for one in self.tried.values())
        return HuntStatus(len(self.tried), failed, best)


def name_of(index: int) -> str:
    """Return the name of a run among those of a hunt.

    >>> name_of(17)
    '000017'
    """
    return f"{index:06d}"
