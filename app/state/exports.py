"""What is exported and how, without Qt: each job opens its own runs, in the thread it works in.

Importing this module loads nothing of the figures and runs; working does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, final

from core.figures.names import PAGE_COLOURS, PAGE_FRAMES, PANELS
from core.figures.options import PLAIN, USUAL, BoundCurve, FigureOptions, Look, Region
from core.figures.palette import LIGHT, PALETTES, Palette
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES, NodePlane

if TYPE_CHECKING:
    from app.state.compared import Compared
    from core.figures.export import Draw
    from core.figures.page import PageOptions
    from core.figures.primitives import FigureScene
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise
    from core.runs import Run

Value = TypeVar("Value")  # what is drawn of a run
Ends = tuple[float, float, float, float]  # of a view: left, right, bottom, top
Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]

# All three, since programs that paste differ in which of them they take.
COPY_FORMATS = {".png": "image/png", ".svg": "image/svg+xml", ".pdf": "application/pdf"}
COPY_DPI = 300.0


def draw_here(scene: FigureScene, suffix: str, dpi: float) -> bytes:
    """Figures drawn by this process, whose import waits until one is."""
    from core.figures.export import figure_bytes

    return figure_bytes(scene, suffix, dpi)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Exportable:
    """What a window shows: the files of its runs, and how they are drawn.

    Of each run, in the order of `runs`: the reference margins whose lines are drawn, the nodes that
    are selected and those that are pinned, the bounds of statements, the ranges of its views, and
    what its margins are shown as shares of. A file may be open twice, with other pins each time.
    `moment` is log10 of the time shown, None at the end of the runs, and `interval` that of the
    loop.
    `sources` are those of the studies, and of the statements and margins of theory. With `compared`
    a comparison is shown in the place of the runs.
    """

    runs: tuple[Path, ...] = ()
    plane: NodePlane = COORDINATES
    palette: Palette = LIGHT
    references: tuple[tuple[ReferenceMargin, ...], ...] = ()
    selected: tuple[NodeSet | None, ...] = ()
    panels: tuple[str, ...] = PANELS
    look: Look = PLAIN
    pinned: tuple[frozenset[int], ...] = ()
    bounds: tuple[tuple[BoundCurve, ...], ...] = ()
    ranges: tuple[tuple[tuple[str, Ends], ...], ...] = ()
    moment: float | None = None
    interval: tuple[float, float] | None = None
    delta: float = 0.05
    sources: tuple[str, ...] = ()
    promises: tuple[Promise | None, ...] = ()
    compared: Compared | None = None

    def of_runs(self, values: Sequence[Value], runs: Sequence[Path], default: Value) -> list[Value]:
        """Return the values of some runs, of which `values` has those of all runs shown.

        The second time that a file is named, its second run is meant. Runs that are not shown have
        the default.
        """
        known: dict[Path, list[Value]] = {}
        for path, value in zip(self.runs, values, strict=False):
            known.setdefault(path, []).append(value)
        return [known[run].pop(0) if known.get(run) else default for run in runs]

    def look_of(self, runs: Sequence[Path], lines: bool, ranges: bool) -> Look:
        """How some of the runs look, with the lines of theory or without, and in the ranges of
        the screen or in their own."""
        regions = [
            Region(row, name, *ends)
            for row, own in enumerate(self.of_runs(self.ranges, runs, ()) if ranges else ())
            for name, ends in own
        ]
        return replace(
            self.look,
            regions=tuple(regions),
            pinned=tuple(self.of_runs(self.pinned, runs, frozenset())),
            bounds=tuple(self.of_runs(self.bounds, runs, ())) if lines else (),
        )


class ExportJob(ABC):
    """One export."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is done, for the progress window."""

    @abstractmethod
    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        """Do it and say what was done; the empty text when it was cancelled. `draw` makes the
        content of figures."""


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

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.figures.export import check_figure_path, save_figure

        check_figure_path(self.path)
        scene = self.scene()
        if cancelled():
            return ""
        save_figure(scene, self.path, self.dpi, draw)
        return done_words([self.path])


@contextmanager
def opened(paths: Sequence[Path]) -> Iterator[list[Run]]:
    """The runs in some files, closed at the end."""
    from core.runs import open_run

    with ExitStack() as stack:
        yield [stack.enter_context(open_run(path)) for path in paths]


def done_words(paths: Sequence[Path]) -> str:
    """What was written."""
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
    options: FigureOptions = USUAL
    until: float | None = None
    lines: bool = True
    ranges: bool = False
    rest: bool = False

    def scene(self) -> FigureScene:
        return _scene(self)


@final
@dataclass(frozen=True, slots=True)
class CopyJob(ExportJob):
    """The panels of some runs for the clipboard: `contents` holds the picture by media type."""

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
        return "The figure is on the clipboard."


def _scene(job: FigureJob | CopyJob) -> FigureScene:
    """The panels of a job's runs, as they are drawn."""
    from core.figures.scene import build_scene

    with opened(job.runs) as runs:
        return build_scene(runs, job.panels, job.until, job.options)


def preview_of(job: FigureJob, pixels: int, draw: Draw) -> tuple[bytes, float, float]:
    """The picture of a figure as PNG, so many pixels wide or high at most, and its millimetres."""
    scene = job.scene()
    width, height = scene.width_mm, scene.height_mm
    return draw(scene, ".png", pixels / max(width, height) * 25.4), width, height


@final
@dataclass(frozen=True, slots=True)
class FilmJob(ExportJob):
    """A film as GIF, WebP or MP4 of a panel, of several with commas between them, or of "all";
    `follow` is the neurons' range. It is drawn in a process of its own, which leaves the
    interpreter to the window."""

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

        given = (self.runs, self.path, self.options, progress, cancelled)
        return done_words([self.path]) if render_film(*given, **self.film_arguments()) else ""

    def film_arguments(self) -> dict[str, Any]:
        """Return the further arguments of `core.figures.film.save_film`."""
        names = ("panel", "seconds", "frames_per_second", "follow", "interval", "size", "captions")
        return {name: getattr(self, name) for name in names}


@final
@dataclass(frozen=True, slots=True)
class PageJob(ExportJob):
    """A page that plays some runs; `colours` are those that it begins with."""

    runs: tuple[Path, ...]
    path: Path
    panels: tuple[str, ...] = PANELS
    frames: int = PAGE_FRAMES
    name: str = ""
    colours: str = PAGE_COLOURS[0]
    options: FigureOptions = USUAL
    lines: bool = True
    ranges: bool = False

    @property
    def title(self) -> str:
        return f"Writing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.figures.page import save_page

        with opened(self.runs) as runs:
            given = (self.options, make_page_options(self), progress, cancelled)
            done = save_page(runs, self.path, self.panels, *given)
        return done_words([self.path]) if done else ""


def make_page_options(job: PageJob) -> PageOptions:
    """Return the options of the page that a job makes."""
    from core.figures.page import PageOptions

    return PageOptions(job.frames, job.name, job.colours)


def page_preview_of(
    job: PageJob, pixels: int, cancelled: Cancelled, draw: Draw
) -> tuple[bytes, int]:
    """A picture of a page's last moment as PNG, so many pixels wide or high at most, and how many
    bytes the page has. Raises CancelledPageError."""
    from core.figures.page import page_html

    with opened(job.runs) as runs:
        html = page_html(runs, job.panels, job.options, make_page_options(job), cancelled=cancelled)
    palette = PALETTES["dark" if job.colours == "dark" else LIGHT.name]
    options = replace(job.options, palette=palette)
    drawn = FigureJob(job.runs, job.path, job.panels, options=options)
    return preview_of(drawn, pixels, draw)[0], len(html.encode())


PictureJob = FigureJob | CopyJob | FilmJob | PageJob


def completed(job: PictureJob, shown: Exportable) -> PictureJob:
    """A job with what is drawn of its runs now: the selections and pins, and of theory the lines
    that it asks for."""
    references = shown.references if job.lines else ()
    look = shown.look_of(job.runs, job.lines, job.ranges)
    options = replace(
        job.options,
        selected=tuple(shown.of_runs(shown.selected, job.runs, None)),
        references=tuple(shown.of_runs(references, job.runs, ())),
        look=replace(look, rest=isinstance(job, FigureJob | CopyJob) and job.rest),
        promises=tuple(shown.of_runs(shown.promises, job.runs, None)),
    )
    return replace(job, options=options)
