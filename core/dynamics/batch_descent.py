"""Full-batch descent of several runs as one batch of tensors, each run with frames of its own.

The batch takes the steps of all its runs together, from one mark of any of their schedules to the
next; each run is an integrator like any other and takes its frames from there. A run that diverges
or dies leaves the batch: only its own engine tells when, and how.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.compiled import descent as kernel
from core.dynamics.engines import is_shaped
from core.dynamics.full_batch import FullBatch
from core.problem.problem import Problem


@final
class LeftBatchError(Exception):
    """A run is to be trained by itself: it diverged, or nothing of it moves any more."""


def batch_key(problem: Problem) -> Hashable | None:
    """What prepared problems must have in common to go in one batch; None where they cannot.

    Only constant-step full-batch descent of networks whose effective weights depend on nothing but
    the trained parameters can, begun at t = 0.
    """
    experiment = problem.experiment
    if experiment.dynamics.kind != "gd" or not problem.network.alone or is_shaped(problem):
        return None
    # A run that goes on has a count of its own, and a batch one for all.
    if problem.start.step:
        return None
    return (
        problem.network.kind,
        repr(problem.network.layout),
        problem.inputs.shape,
        problem.loss.kind,
        experiment.run.precision,
        experiment.run.device,
        problem.reduction is None,
    )


@final
class Batch:
    """The runs of prepared problems that have one `batch_key`, on device "cpu" or "cuda".

    `runs` are to be advanced in turn, so that few frames wait for those that are behind.
    """

    def __init__(self, problems: Sequence[Problem], device: str = "cpu") -> None:
        from core.tensors.batched import BatchedStepper

        words = f"{device}, batch of {len(problems)}"
        self.runs = tuple(
            BatchedDescent(problem, self, place, words) for place, problem in enumerate(problems)
        )
        self._stepper = BatchedStepper(
            problems,
            np.stack([run.start_parameters for run in self.runs]),
            [run.step_size for run in self.runs],
            device,
            graph=device == "cuda",
        )
        self._schedules = [frozenset(run.schedule.tolist()) for run in self.runs]
        self._marks = deque(sorted(frozenset[int]().union(*self._schedules)))
        self._waiting: list[deque[NDArray[np.floating]]] = [deque() for _ in self.runs]
        self._left = [False] * len(self.runs)
        self._step = 0

    def next_row(self, place: int) -> NDArray[np.floating]:
        """The parameters of a run at the next mark of its schedule."""
        while not self._waiting[place]:
            self._advance()
        return self._waiting[place].popleft()

    def worst(self, place: int) -> float:
        """The largest loss measure of a run up to the latest mark of all."""
        return float(self._stepper.worst[place])

    def leave(self, place: int) -> None:
        """Nobody asks for a run any more."""
        self._left[place] = True
        self._waiting[place].clear()

    def _advance(self) -> None:
        mark = self._marks.popleft()
        self._stepper.take(mark - self._step)
        self._step = mark
        rows = self._stepper.parameters()
        for place, schedule in enumerate(self._schedules):
            if mark in schedule and not self._left[place]:
                self._waiting[place].append(rows[place])


@final
class BatchedDescent(FullBatch):
    """One run of a batch."""

    def __init__(self, problem: Problem, batch: Batch, place: int, words: str) -> None:
        self._batch, self._place, self._words = batch, place, words
        super().__init__(problem)
        if problem.reduction is not None:
            self.engine = f"{self.engine}, row space"

    def _allocate(self) -> None:
        """The batch holds what the steps need."""
        self.engine = f"torch {self.dtype.name} {self._words}"

    def _take_steps(self, budget: int) -> int:
        """Up to the next mark, whatever the budget: the others wait for it too."""
        progress = self._progress
        row = self._batch.next_row(self._place)
        worst = self._batch.worst(self._place)
        # Nothing moved since the frame before: by itself its engine tells whether it has died, and
        # when.
        still = np.array_equal(row, self._flat)
        if still or not worst <= self._limit or not np.isfinite(row).all():
            self._batch.leave(self._place)
            raise LeftBatchError
        self._flat = row
        self._progress.worst = max(self._progress.worst, worst)
        self._buffer[progress.buffered] = row
        progress.step = self.schedule[progress.mark]
        progress.buffered += 1
        progress.mark += 1
        return kernel.DONE if progress.mark == self.schedule.size else kernel.GOING
