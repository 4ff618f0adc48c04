"""Work that writes or copies an export: its protocol, and the jobs of tables and comparisons.

Each job opens its own runs, in the thread that it works in. Importing this module loads nothing of
the figures and runs.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from core.comparison.question import CompareQuestion
from core.figures.palette import LIGHT, PALETTES
from core.reference.cancel_token import CancelledError

if TYPE_CHECKING:
    from core.comparison.comparison import Comparison
    from core.figures.export import Draw
    from core.figures.primitives import FigureScene
    from core.observables.observable import Observable
    from core.runs import Run


Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]

# All three, since programs differ in which format they paste.
COPY_FORMATS = {".png": "image/png", ".svg": "image/svg+xml", ".pdf": "application/pdf"}
COPY_DPI = 300.0
LONGEST = 4.0  # greatest height of a preview, in multiples of the room
A4_WIDTH, PAGE_HEIGHT = 210.0, 240.0  # millimetres: a sheet, and the text on it
TOO_HIGH = (
    f": higher than a page of text ({PAGE_HEIGHT:g} mm). Choose fewer runs or views, or a wider "
    "sheet."
)


def draw_here(scene: FigureScene, suffix: str, dpi: float) -> bytes:
    """Draw a figure in this process; imports matplotlib when first called."""
    from core.figures.export import figure_bytes

    return figure_bytes(scene, suffix, dpi)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """Picture of what a job would export, as PNG, and words about its size."""

    png: bytes
    words: str


def scene_preview(scene: FigureScene, pixels: int, draw: Draw) -> Preview:
    """Draw a figure so many pixels wide, or `LONGEST` times as high: high ones are scrolled."""
    width, height = scene.width_mm, scene.height_mm
    png = draw(scene, ".png", min(pixels / width, LONGEST * pixels / height) * 25.4)
    words = f"{width:.4g} \u00d7 {height:.4g} mm"
    is_too_high = width < A4_WIDTH and height > PAGE_HEIGHT + 1.0
    return Preview(png, words + (TOO_HIGH if is_too_high else ""))


class ExportJob(ABC):
    """Export that a worker carries out."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Heading of the progress window."""

    @abstractmethod
    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        """Export, and return a sentence about the result, "" if cancelled; `draw` draws figures."""


class PreviewedJob(ExportJob):
    """Export of pictures."""

    @abstractmethod
    def preview(self, pixels: int, cancelled: Cancelled, draw: Draw = draw_here) -> Preview:
        """Return a still picture of the export, `pixels` wide."""


class SceneJob(PreviewedJob):
    """Figure written to a PDF, SVG or PNG file."""

    path: Path
    dpi: float

    @abstractmethod
    def scene(self) -> FigureScene:
        """Build the figure."""

    @property
    def title(self) -> str:
        return f"Drawing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.figures.export import check_figure_path, save_figure

        check_figure_path(self.path)
        scene = self.scene()
        if cancelled():
            return ""
        save_figure(scene, self.path, self.dpi, draw)
        return saved_text([self.path])

    @final
    def preview(self, pixels: int, cancelled: Cancelled, draw: Draw = draw_here) -> Preview:
        return scene_preview(self.scene(), pixels, draw)


@contextmanager
def open_run_files(paths: Sequence[Path]) -> Iterator[list[Run]]:
    """Open run files, and close them at the end."""
    from core.runs import open_with_history

    with ExitStack() as stack:
        yield [stack.enter_context(open_with_history(path)) for path in paths]


def saved_text(paths: Sequence[Path]) -> str:
    if len(paths) == 1:
        return f"Saved {paths[0]}."
    return f"Saved {len(paths)} files in {paths[0].parent}."


SHORT = 0.2  # seconds; a longer first measurement is repeated


def _frame_counter(
    runs: Sequence[Run], progress: Progress, cancelled: Cancelled
) -> Callable[[int], None]:
    """Return a function that counts frames done, and raises CancelledError once cancelled."""
    n_done, total = 0, sum(run.frames for run in runs)

    def count(frames: int) -> None:
        nonlocal n_done
        if cancelled():
            raise CancelledError
        n_done += frames
        progress(n_done, total)

    return count


@final
@dataclass(frozen=True, slots=True)
class DataJob(ExportJob):
    """Observables of each run as NPZ or CSV; None for all `columns`.

    NPZ can hold data and parameters too.
    """

    runs: tuple[Path, ...]
    paths: tuple[Path, ...]
    parameters: bool = False
    columns: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        return "Writing data"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.observables.table import available_observables, write_table

        with open_run_files(self.runs) as runs:
            count = _frame_counter(runs, progress, cancelled)
            try:
                count(0)
                for run, path in zip(runs, self.paths, strict=True):
                    has = [
                        item.name
                        for item in available_observables(run, path.suffix.lower() == ".npz")
                    ]
                    chosen = self.columns
                    names = None if chosen is None else [name for name in has if name in chosen]
                    write_table(run, path, self.parameters, count, names)
            except CancelledError:
                return ""
        return saved_text(self.paths)


@final
@dataclass(frozen=True, slots=True)
class DataColumn:
    """Column of a data file.

    `seconds`: estimated time for all frames of all runs, from one frame of the first run that has
    the column.
    """

    name: str
    title: str
    costly: bool
    scalar: bool
    seconds: float


def columns_of(paths: Sequence[Path], cancelled: Cancelled) -> tuple[DataColumn, ...]:
    """Return the columns that any of the runs has, () if cancelled."""
    from core.observables.observable import Shape
    from core.observables.table import available_observables

    columns: dict[str, DataColumn] = {}
    with open_run_files(paths) as runs:
        total = sum(run.frames for run in runs)
        for run in runs:
            for item in available_observables(run):
                if cancelled():
                    return ()
                if item.name in columns or run.frames == 0:
                    continue
                seconds = _seconds(run, item, run.frames // 2, total)
                # The first call also fills the run's caches.
                if seconds > SHORT and run.frames > 1:
                    seconds = min(seconds, _seconds(run, item, 0, total))
                scalar = item.shape is Shape.SCALAR
                columns[item.name] = DataColumn(item.name, item.title, item.costly, scalar, seconds)
    return tuple(columns.values())


def _seconds(run: Run, item: Observable, frame: int, frames: int) -> float:
    """Return the time of an observable at one frame, times a number of frames."""
    start = time.perf_counter()
    item.value_at(run, frame)
    return (time.perf_counter() - start) * frames


def data_paths(runs: Sequence[Path], folder: Path, suffix: str) -> tuple[Path, ...]:
    """Return a file for each run, with its name; runs of equal names get numbers."""
    names: list[str] = []
    for run in runs:
        # Runs of different folders may share a name, and would overwrite each other.
        name, number = run.stem, 2
        while name in names:
            name, number = f"{run.stem}-{number}", number + 1
        names.append(name)
    return tuple(folder / f"{name}{suffix}" for name in names)


USUAL_WIDTH = 120.0  # as core.figures.comparison.WIDTH, whose import loads the numerical libraries
TABLE = ".csv"


class ComparisonJob(ExportJob):
    """Comparison of runs by each question, to be exported; neurons are those at `log10_time`.

    `shown` are the places of the runs that are drawn, all of them if empty; `slots` are the colours
    of all runs where these have no order.
    """

    runs: tuple[Path, ...]
    questions: tuple[CompareQuestion, ...]
    log10_time: float
    shown: tuple[int, ...]
    slots: tuple[int, ...]

    @abstractmethod
    def write(self, answers: Sequence[Comparison], draw: Draw) -> str:
        """Export the answers, and return a sentence about the result."""

    def answer(self, progress: Progress, cancelled: Cancelled) -> list[Comparison]:
        """Compare the runs. Raises CancelledError."""
        from core.comparison.setting_differences import compare_runs, differing_of

        with open_run_files(self.runs) as every:
            places = self.shown or range(len(every))
            differences = differing_of(every, self.slots).select_runs(places)
            runs = [every[k] for k in places]
            count = _frame_counter(runs * len(self.questions), progress, cancelled)
            arguments = (runs, count, self.log10_time, differences)
            return [compare_runs(question, *arguments) for question in self.questions]

    @final
    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        try:
            answers = self.answer(progress, cancelled)
        except CancelledError:
            return ""
        return "" if cancelled() else self.write(answers, draw)


@final
@dataclass(frozen=True, slots=True)
class CompareJob(ComparisonJob, PreviewedJob):
    """Comparison as PDF, SVG or PNG, `width` millimetres wide, or as CSV."""

    runs: tuple[Path, ...]
    path: Path
    questions: tuple[CompareQuestion, ...]
    log10_time: float = math.inf
    dpi: float = 300.0
    palette: str = LIGHT.name
    width: float = USUAL_WIDTH
    shown: tuple[int, ...] = ()
    slots: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        return f"{'Writing' if self.path.suffix == TABLE else 'Drawing'} {self.path.name}"

    def write(self, answers: Sequence[Comparison], draw: Draw) -> str:
        from core.comparison.comparison import table
        from core.figures.export import save_figure
        from core.files import write_whole

        if self.path.suffix.lower() == TABLE:
            write_whole(self.path, table(answers).encode())
        else:
            save_figure(self._scene(answers), self.path, self.dpi, draw)
        return saved_text([self.path])

    def preview(self, pixels: int, cancelled: Cancelled, draw: Draw = draw_here) -> Preview:
        answers = self.answer(lambda n_done, total: None, cancelled)
        result = scene_preview(self._scene(answers), pixels, draw)
        if self.path.suffix.lower() != TABLE:
            return result
        count = sum(len(answer.lines) for answer in answers)
        return Preview(result.png, f"Table of the values of {count} lines.")

    def _scene(self, answers: Sequence[Comparison]) -> FigureScene:
        from core.figures.comparison import comparison_scene

        title, palette = comparison_title(answers), PALETTES[self.palette]
        return comparison_scene(answers, title, palette, self.width)


@final
@dataclass(frozen=True, slots=True)
class CompareCopyJob(ComparisonJob):
    """Figure of a comparison for the clipboard; `contents`: picture by media type."""

    runs: tuple[Path, ...]
    questions: tuple[CompareQuestion, ...]
    log10_time: float = math.inf
    shown: tuple[int, ...] = ()
    slots: tuple[int, ...] = ()
    contents: dict[str, bytes] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return "Copying the figure"

    def write(self, answers: Sequence[Comparison], draw: Draw) -> str:
        from core.figures.comparison import comparison_scene

        scene = comparison_scene(answers, comparison_title(answers))
        for suffix, media in COPY_FORMATS.items():
            self.contents[media] = draw(scene, suffix, COPY_DPI)
        return "Figure copied."


def comparison_title(answers: Sequence[Comparison]) -> str:
    return f"{len(answers[0].shades)} runs compared"
