"""The data of runs as files: their columns, what each takes, and the job that writes them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.state.exports import (
    Cancelled,
    ExportJob,
    Progress,
    done_words,
    draw_here,
    opened,
)
from core.reference.watch import CancelledError

if TYPE_CHECKING:
    from core.figures.export import Draw
    from core.observables.observable import Observable
    from core.runs import Run

SHORT = 0.2  # seconds that nobody waits for


@final
@dataclass(frozen=True, slots=True)
class DataJob(ExportJob):
    """The observables of each run as NPZ, with its data and parameters on request, or as CSV:
    those of some columns that the run has, or all."""

    runs: tuple[Path, ...]
    paths: tuple[Path, ...]
    parameters: bool = False
    columns: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        return "Writing data"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.observables.table import offered, write_table

        with opened(self.runs) as runs:
            done, total = 0, sum(run.frames for run in runs)
            progress(done, total)

            # The only place between two frames of a table where it can be given up.
            def add(frames: int) -> None:
                nonlocal done
                if cancelled():
                    raise CancelledError
                done += frames
                progress(done, total)

            try:
                for run, path in zip(runs, self.paths, strict=True):
                    has = [item.name for item in offered(run, path.suffix.lower() == ".npz")]
                    chosen = self.columns
                    names = None if chosen is None else [name for name in has if name in chosen]
                    write_table(run, path, self.parameters, add, names)
            except CancelledError:
                return ""
        return done_words(self.paths)


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A column that data may have. `seconds` is what all frames of all runs will take, measured at
    one frame of the first run that has it."""

    name: str
    title: str
    costly: bool
    scalar: bool
    seconds: float


def columns_of(paths: Sequence[Path], cancelled: Cancelled) -> tuple[Column, ...]:
    """The columns that the tables of some runs have."""
    from core.observables.observable import Shape
    from core.observables.table import offered

    found: dict[str, Column] = {}
    with opened(paths) as runs:
        total = sum(run.frames for run in runs)
        for run in runs:
            for item in offered(run):
                if cancelled():
                    return ()
                if item.name in found or run.frames == 0:
                    continue
                seconds = _seconds(run, item, run.frames // 2, total)
                # What is made once for a run is no part of what each frame takes.
                if seconds > SHORT and run.frames > 1:
                    seconds = min(seconds, _seconds(run, item, 0, total))
                scalar = item.shape is Shape.SCALAR
                found[item.name] = Column(item.name, item.title, item.costly, scalar, seconds)
    return tuple(found.values())


def _seconds(run: Run, item: Observable, frame: int, frames: int) -> float:
    """What so many frames take, by one of them."""
    begun = time.perf_counter()
    item.at(run, frame)
    return (time.perf_counter() - begun) * frames


def data_paths(runs: Sequence[Path], folder: Path, suffix: str) -> tuple[Path, ...]:
    """A file for each run, named like it; runs of one name get numbers."""
    names: list[str] = []
    for run in runs:
        # Runs of different folders may have one name, and would be written over each other.
        name, number = run.stem, 2
        while name in names:
            name, number = f"{run.stem}-{number}", number + 1
        names.append(name)
    return tuple(folder / f"{name}{suffix}" for name in names)
