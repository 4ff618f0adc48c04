"""A comparison of runs as a figure or a table in a file, or as a figure on the clipboard."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.state.exports import (
    COPY_DPI,
    COPY_FORMATS,
    Cancelled,
    ExportJob,
    Progress,
    done_words,
    draw_here,
    opened,
)
from core.comparison.question import CompareQuestion
from core.figures.palette import LIGHT, PALETTES
from core.reference.watch import CancelledError

if TYPE_CHECKING:
    from core.comparison.comparison import Comparison
    from core.figures.export import Draw

USUAL = 120.0  # core.figures.comparison.WIDTH, whose import loads the numerical libraries
TABLE = ".csv"


class ComparisonJob(ExportJob):
    """What is made of an answer about runs; nodes are compared at `log10_time`."""

    runs: tuple[Path, ...]
    question: CompareQuestion
    log10_time: float

    @abstractmethod
    def write(self, answer: Comparison, draw: Draw) -> str:
        """Make it, and say what was made."""

    @final
    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.comparison.recorded import compare_runs

        with opened(self.runs) as runs:
            done, total = 0, sum(run.frames for run in runs)

            def step(count: int) -> None:
                nonlocal done
                if cancelled():
                    raise CancelledError
                done += count
                progress(done, total)

            try:
                answer = compare_runs(self.question, runs, step, self.log10_time)
            except CancelledError:
                return ""
        return "" if cancelled() else self.write(answer, draw)


@final
@dataclass(frozen=True, slots=True)
class CompareJob(ComparisonJob):
    """A comparison as PDF, SVG or PNG, `width` millimetres wide, or as CSV."""

    runs: tuple[Path, ...]
    path: Path
    question: CompareQuestion
    log10_time: float = math.inf
    dpi: float = 300.0
    palette: str = LIGHT.name
    width: float = USUAL

    @property
    def title(self) -> str:
        return f"{'Writing' if self.path.suffix == TABLE else 'Drawing'} {self.path.name}"

    def write(self, answer: Comparison, draw: Draw) -> str:
        from core.comparison.comparison import table
        from core.figures.comparison import comparison_scene
        from core.figures.export import save_figure
        from core.files import write_whole

        if self.path.suffix.lower() == TABLE:
            write_whole(self.path, table([answer]).encode())
        else:
            title, palette = title_of(self.runs), PALETTES[self.palette]
            scene = comparison_scene([answer], title, palette, self.width)
            save_figure(scene, self.path, self.dpi, draw)
        return done_words([self.path])


@final
@dataclass(frozen=True, slots=True)
class CompareCopyJob(ComparisonJob):
    """A figure of a comparison for the clipboard: `contents` holds the picture by media type."""

    runs: tuple[Path, ...]
    question: CompareQuestion
    log10_time: float = math.inf
    contents: dict[str, bytes] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return "Copying the figure"

    def write(self, answer: Comparison, draw: Draw) -> str:
        from core.figures.comparison import comparison_scene

        scene = comparison_scene([answer], title_of(self.runs))
        for suffix, media in COPY_FORMATS.items():
            self.contents[media] = draw(scene, suffix, COPY_DPI)
        return "The figure is on the clipboard."


def title_of(runs: tuple[Path, ...]) -> str:
    """What stands above a comparison."""
    return f"{len(runs)} runs compared"
