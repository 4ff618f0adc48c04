"""What is exported and how, without Qt: each job opens its own runs, in the thread it works in.

Importing this module loads nothing of the figures and runs; working does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from core.figures.names import PANELS
from core.figures.palette import LIGHT, PALETTES
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES, NodePlane
from core.reference.watch import CancelledError

if TYPE_CHECKING:
    from core.figures.primitives import FigureScene
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise
    from core.runs import Run
    from core.studies.row import Row
    from core.studies.study import Study

    References = tuple[tuple[ReferenceMargin, ...], ...]  # those of each run
    Promises = tuple[Promise | None, ...]

# The nodes that are selected in each run.
Selected = tuple[NodeSet | None, ...]
Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]

# All three, since programs that paste differ in which of them they take.
COPY_FORMATS = {".png": "image/png", ".svg": "image/svg+xml", ".pdf": "application/pdf"}
COPY_DPI = 300.0


class ExportJob(ABC):
    """One export."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is done, for the progress window."""

    @abstractmethod
    def work(self, progress: Progress, cancelled: Cancelled) -> str:
        """Do it and say what was done; the empty text when it was cancelled."""


class SceneJob(ExportJob):
    """A picture in a file, as PDF, SVG or PNG."""

    path: Path
    dpi: float

    @abstractmethod
    def scene(self) -> FigureScene:
        """What is drawn."""

    @property
    def title(self) -> str:
        return f"Drawing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled) -> str:
        from core.figures.export import check_figure_path, save_figure

        check_figure_path(self.path)
        scene = self.scene()
        if cancelled():
            return ""
        save_figure(scene, self.path, self.dpi)
        return _done([self.path])


@contextmanager
def opened(paths: Sequence[Path]) -> Iterator[list[Run]]:
    """The runs in some files, closed at the end."""
    from core.runs import open_run

    with ExitStack() as stack:
        yield [stack.enter_context(open_run(path)) for path in paths]


def _done(paths: Sequence[Path]) -> str:
    if len(paths) == 1:
        return f"Saved {paths[0]}."
    return f"Saved {len(paths)} files in {paths[0].parent}."


@final
@dataclass(frozen=True, slots=True)
class FigureJob(SceneJob):
    """The panels of some runs as one picture."""

    runs: tuple[Path, ...]
    path: Path
    panels: tuple[str, ...] = PANELS
    dpi: float = 300.0
    palette: str = LIGHT.name
    plane: NodePlane = COORDINATES
    references: References = ()
    selected: Selected = ()
    promises: Promises = ()

    def scene(self) -> FigureScene:
        return _scene(self)


@final
@dataclass(frozen=True, slots=True)
class CopyJob(ExportJob):
    """The panels of some runs for the clipboard: `contents` holds the picture by media type."""

    runs: tuple[Path, ...]
    panels: tuple[str, ...] = PANELS
    palette: str = LIGHT.name
    plane: NodePlane = COORDINATES
    references: References = ()
    selected: Selected = ()
    promises: Promises = ()
    contents: dict[str, bytes] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return "Copying the figure"

    def work(self, progress: Progress, cancelled: Cancelled) -> str:
        from core.figures.export import figure_bytes

        scene = _scene(self)
        for position, (suffix, media) in enumerate(COPY_FORMATS.items()):
            if cancelled():
                return ""
            self.contents[media] = figure_bytes(scene, suffix, COPY_DPI)
            progress(position + 1, len(COPY_FORMATS))
        return "The figure is on the clipboard."


def _scene(job: FigureJob | CopyJob) -> FigureScene:
    """The panels of a job's runs, as they are drawn."""
    from core.figures.scene import build_scene

    with opened(job.runs) as runs:
        return build_scene(
            runs,
            job.panels,
            palette=PALETTES[job.palette],
            plane=job.plane,
            references=job.references,
            selected=job.selected,
            promises=job.promises,
        )


@final
@dataclass(frozen=True, slots=True)
class FilmJob(ExportJob):
    """A film of one panel, or of "all", as GIF or WebP; `follow` is the neurons' range."""

    runs: tuple[Path, ...]
    path: Path
    panel: str = "neurons"
    seconds: float = 8.0
    frames_per_second: float = 20.0
    palette: str = LIGHT.name
    plane: NodePlane = COORDINATES
    follow: bool = True
    selected: Selected = ()

    @property
    def title(self) -> str:
        return f"Drawing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled) -> str:
        from core.figures.film import save_film

        with opened(self.runs) as runs:
            finished = save_film(
                runs,
                self.path,
                self.panel,
                self.seconds,
                self.frames_per_second,
                palette=PALETTES[self.palette],
                progress=progress,
                cancelled=cancelled,
                plane=self.plane,
                follow=self.follow,
                selected=self.selected,
            )
        return _done([self.path]) if finished else ""


@final
@dataclass(frozen=True, slots=True)
class DataJob(ExportJob):
    """The observables of each run as NPZ, with its data and parameters on request, or as CSV."""

    runs: tuple[Path, ...]
    paths: tuple[Path, ...]
    parameters: bool = False

    @property
    def title(self) -> str:
        return "Writing data"

    def work(self, progress: Progress, cancelled: Cancelled) -> str:
        from core.observables.table import write_table

        with opened(self.runs) as runs:
            done, total = 0, sum(run.frames for run in runs)

            # The only place between two frames of a table where it can be given up.
            def add(frames: int) -> None:
                nonlocal done
                if cancelled():
                    raise CancelledError
                done += frames
                progress(done, total)

            try:
                for run, path in zip(runs, self.paths, strict=True):
                    write_table(run, path, self.parameters, add)
            except CancelledError:
                return ""
        return _done(self.paths)


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


@final
@dataclass(frozen=True, slots=True)
class StudyFigureJob(SceneJob):
    """The figure of a whole study, with the verdicts below it."""

    study: Study
    runs: tuple[Path, ...]
    path: Path
    dpi: float = 300.0
    palette: str = LIGHT.name
    verdicts: tuple[str, ...] = ()
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def scene(self) -> FigureScene:
        from core.figures.study_figure import figure_of_runs

        with ExitStack() as stack:
            keep, palette = stack.enter_context, PALETTES[self.palette]
            return figure_of_runs(self.study, self.runs, keep, palette, self.verdicts, self.figures)


@final
@dataclass(frozen=True, slots=True)
class TableJob(ExportJob):
    """The table of a whole study as CSV, NPZ or Parquet: its cells, or their means over seeds."""

    study: Study
    rows: Mapping[str, Row]
    path: Path
    means: bool = False

    @property
    def title(self) -> str:
        return f"Writing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled) -> str:
        from core.studies.cell_table import rows_of, write_means, write_table

        table = rows_of(self.study, self.rows)
        if self.means:
            write_means(self.study, table, self.path)
        else:
            write_table(table, self.path)
        return _done([self.path])
