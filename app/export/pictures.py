"""Figures, films and pages of the runs that a window shows: their options and jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, final

from app.export.jobs import (
    COPY_DPI,
    COPY_FORMATS,
    Cancelled,
    ExportJob,
    Preview,
    PreviewedJob,
    Progress,
    SceneJob,
    draw_here,
    open_run_files,
    saved_text,
    scene_preview,
)
from core.figures.names import PAGE_COLOURS, PAGE_FRAMES, PANELS, PageSize
from core.figures.options import PLAIN, USUAL, BoundCurve, FigureOptions, Region, ViewOptions
from core.figures.palette import LIGHT, PALETTES, Palette
from core.library.run_notes import read_about
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES, NodePlane

if TYPE_CHECKING:
    from app.state.comparison import ComparedRuns
    from core.figures.export import Draw
    from core.figures.page import PageOptions
    from core.figures.primitives import FigureScene
    from core.library.entry import MomentNote
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise
    from core.stories.story import Story


Value = TypeVar("Value")
Ends = tuple[float, float, float, float]  # of a view: left, right, bottom, top


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudySubject:
    """Whole study to be exported: the stem of its file, and the maker of its figure's job.

    `make_job` takes the path, dots per inch, colours and paper.
    """

    stem: str
    make_job: Callable[[Path, float, Palette, PageSize], SceneJob]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Exportable:
    """Runs that a window shows, and their display options.

    In the order of `runs`: drawn reference margins, selected neurons, pinned neurons, bounds of
    statements, ranges of the views, and the promise that margins are shares of. A file may be open
    twice, with other pins each time. `moment`: log10 of the time shown, None at the end of the
    runs; `interval`: the same of the loop. `sources`: papers of the studies, statements and
    margins. `compared`: the comparison that covers the runs. `names` of the runs, as the window has
    them. `history`: True if a run is shown with frames of the runs that it continues. `study`: the
    whole study that is shown instead of runs.
    """

    runs: tuple[Path, ...] = ()
    plane: NodePlane = COORDINATES
    palette: Palette = LIGHT
    references: tuple[tuple[ReferenceMargin, ...], ...] = ()
    selected: tuple[NodeSet | None, ...] = ()
    panels: tuple[str, ...] = PANELS
    view: ViewOptions = PLAIN
    pinned: tuple[frozenset[int], ...] = ()
    bounds: tuple[tuple[BoundCurve, ...], ...] = ()
    ranges: tuple[tuple[tuple[str, Ends], ...], ...] = ()
    moment: float | None = None
    interval: tuple[float, float] | None = None
    delta: float = 0.05
    sources: tuple[str, ...] = ()
    promises: tuple[Promise | None, ...] = ()
    compared: ComparedRuns | None = None
    names: tuple[str, ...] = ()
    history: bool = False
    study: StudySubject | None = None

    def of_runs(self, values: Sequence[Value], runs: Sequence[Path], default: Value) -> list[Value]:
        """Return the values of some runs, from the `values` of all runs shown.

        A file named twice means its first and its second run. Runs that are not shown have the
        default.
        """
        values_by_path: dict[Path, list[Value]] = {}
        for path, value in zip(self.runs, values, strict=False):
            values_by_path.setdefault(path, []).append(value)
        return [values_by_path[run].pop(0) if values_by_path.get(run) else default for run in runs]

    def make_view_options(self, runs: Sequence[Path], lines: bool, ranges: bool) -> ViewOptions:
        """Return the style of some runs; `lines`: with bounds; `ranges`: as on the screen."""
        regions = [
            Region(row, name, *ends)
            for row, own in enumerate(self.of_runs(self.ranges, runs, ()) if ranges else ())
            for name, ends in own
        ]
        return replace(
            self.view,
            regions=tuple(regions),
            pinned=tuple(self.of_runs(self.pinned, runs, frozenset())),
            bounds=tuple(self.of_runs(self.bounds, runs, ())) if lines else (),
        )


@final
@dataclass(frozen=True, slots=True)
class FigureJob(SceneJob):
    """Panels of some runs as one figure in a file."""

    runs: tuple[Path, ...]
    path: Path
    panels: tuple[str, ...] = PANELS
    dpi: float = 300.0
    options: FigureOptions = USUAL
    until: float | None = None
    lines: bool = True
    ranges: bool = False
    rest: bool = False
    notes: bool = False

    def scene(self) -> FigureScene:
        return _scene(self)


@final
@dataclass(frozen=True, slots=True)
class CopyJob(ExportJob):
    """Panels of some runs for the clipboard; `contents`: picture by media type."""

    runs: tuple[Path, ...]
    panels: tuple[str, ...] = PANELS
    options: FigureOptions = USUAL
    until: float | None = None
    lines: bool = True
    ranges: bool = False
    rest: bool = False
    contents: dict[str, bytes] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return "Copying the figure"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        scene = _scene(self)
        for position, (suffix, media) in enumerate(COPY_FORMATS.items()):
            if cancelled():
                return ""
            self.contents[media] = draw(scene, suffix, COPY_DPI)
            progress(position + 1, len(COPY_FORMATS))
        return "Figure copied."


def _scene(job: FigureJob | CopyJob) -> FigureScene:
    from core.figures.scene import build_scene

    options = job.options
    if isinstance(job, FigureJob) and job.notes:
        options = replace(options, notes=_read_notes(job.runs))
    with open_run_files(job.runs) as runs:
        return build_scene(runs, job.panels, job.until, options)


def _read_notes(paths: Sequence[Path]) -> tuple[tuple[MomentNote, ...], ...]:
    return tuple(read_about(path).moments for path in paths)


@final
@dataclass(frozen=True, slots=True)
class FilmJob(PreviewedJob):
    """Film as GIF, WebP or MP4, rendered in a separate process.

    `panel`: one or more names with commas between them, or "all"; `follow`: the range of the
    neurons follows them.
    """

    runs: tuple[Path, ...]
    path: Path
    panel: str = "neurons"
    seconds: float = 8.0
    frames_per_second: float = 20.0
    options: FigureOptions = USUAL
    follow: bool = True
    interval: tuple[float, float] | None = None
    size: tuple[int, int] | None = None
    captions: bool = True
    lines: bool = True
    ranges: bool = False

    @property
    def title(self) -> str:
        return f"Drawing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.figures.export import render_film

        arguments = (self.runs, self.path, self.options, progress, cancelled)
        return saved_text([self.path]) if render_film(*arguments, **self.film_arguments()) else ""

    def preview(self, pixels: int, cancelled: Cancelled, draw: Draw = draw_here) -> Preview:
        from core.figures.film_scene import DPI
        from core.figures.film_still import film_still
        from core.figures.primitives import MM_PER_INCH

        film = self.film_arguments()
        del film["seconds"], film["frames_per_second"]
        with open_run_files(self.runs) as runs:
            scene = film_still(runs, self.options, **film)
        per_mm = DPI / MM_PER_INCH
        size = f"{scene.width_mm * per_mm:.0f} \u00d7 {scene.height_mm * per_mm:.0f} pixels"
        count = max(1, round(self.seconds * self.frames_per_second))
        png = scene_preview(scene, pixels, draw).png
        return Preview(png, f"Last of {count} frames, {size}")

    def film_arguments(self) -> dict[str, Any]:
        """Return the further arguments of `core.figures.film.save_film`."""
        names = ("panel", "seconds", "frames_per_second", "follow", "interval", "size", "captions")
        return {name: getattr(self, name) for name in names}


@final
@dataclass(frozen=True, slots=True)
class PageJob(PreviewedJob):
    """Page that plays some runs in a browser; `colours`: the initial palette.

    With a `story` the page steps through its moments.
    """

    runs: tuple[Path, ...]
    path: Path
    panels: tuple[str, ...] = PANELS
    frames: int = PAGE_FRAMES
    name: str = ""
    colours: str = PAGE_COLOURS[0]
    options: FigureOptions = USUAL
    lines: bool = True
    ranges: bool = False
    story: Story | None = None
    notes: bool = False

    @property
    def title(self) -> str:
        return f"Writing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.figures.page import save_page

        with open_run_files(self.runs) as runs:
            arguments = (self.options, make_page_options(self), progress, cancelled)
            is_complete = save_page(runs, self.path, self.panels, *arguments)
        return saved_text([self.path]) if is_complete else ""

    def preview(self, pixels: int, cancelled: Cancelled, draw: Draw = draw_here) -> Preview:
        """Return the last moment, and the size of the file."""
        from core.figures.page import page_html

        arguments = (self.panels, self.options, make_page_options(self))
        with open_run_files(self.runs) as runs:
            html = page_html(runs, *arguments, cancelled=cancelled)
        palette = PALETTES["dark" if self.colours == "dark" else LIGHT.name]
        options = replace(self.options, palette=palette)
        figure = FigureJob(self.runs, self.path, self.panels, options=options)
        size = size_text(len(html.encode()))
        return Preview(figure.preview(pixels, cancelled, draw).png, f"{size}. {PAGE_PLAYS}")


PAGE_PLAYS = "Opens at the last frame; plays from t = 0."


def size_text(size: int) -> str:
    """Return the size of a file in megabytes.

    >>> size_text(886_938), size_text(12_300), size_text(24_000_000)
    ('.89 MB', '.01 MB', '24 MB')
    """
    megabytes = size / 1e6
    text = f"{megabytes:.2f}" if megabytes < 0.995 else f"{megabytes:.3g}"
    return f"{text.removeprefix('0')} MB"


def make_page_options(job: PageJob) -> PageOptions:
    """Return the options of the page that a job makes."""
    from core.figures.page import PageOptions

    notes = _read_notes(job.runs) if job.notes else ()
    return PageOptions(job.frames, job.name, job.colours, job.story, notes)


PictureJob = FigureJob | CopyJob | FilmJob | PageJob


def complete_job(job: PictureJob, exportable: Exportable) -> PictureJob:
    """Return a job with the selections, pins, ranges and lines that the window shows now."""
    references = exportable.references if job.lines else ()
    view = exportable.make_view_options(job.runs, job.lines, job.ranges)
    options = replace(
        job.options,
        selected=tuple(exportable.of_runs(exportable.selected, job.runs, None)),
        references=tuple(exportable.of_runs(references, job.runs, ())),
        view=replace(view, rest=isinstance(job, FigureJob | CopyJob) and job.rest),
        promises=tuple(exportable.of_runs(exportable.promises, job.runs, None)),
    )
    return replace(job, options=options)
