"""Command lines that write the same files as the export dialogs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import singledispatch
from pathlib import Path

from app.export.jobs import TABLE, USUAL_WIDTH, CompareJob, DataJob, ExportJob
from app.export.pictures import Exportable, FigureJob, FilmJob, PageJob
from core.figures.names import PAGE_COLOURS, PAGE_FRAMES, POINTS, PageSize, size_text
from core.figures.options import FIRST_CURVES, ViewOptions
from core.observables.node_sets import nodes_text
from core.observables.planes import COORDINATES, NodePlane
from core.program import headless_program
from core.terminal.text import join_words, path_argument


def command_of(job: ExportJob, exportable: Exportable) -> str:
    """Return the command, quoted for the shell; one line for each file that it writes.

    Raises InputError for a name or a text that cannot be quoted.
    """
    return "\n".join(
        f"{headless_program()} {join_words(words)}" for words in command_words(job, exportable)
    )


@singledispatch
def command_words(job: ExportJob, exportable: Exportable) -> Iterator[list[str]]:
    """Return the words of each command line after the program's name."""
    raise TypeError(f"there is no command for {type(job).__name__}")


def _opening(command: str, job: FigureJob | FilmJob | PageJob, exportable: Exportable) -> list[str]:
    """Return a command with its runs and the file that it writes."""
    words = [command, *map(path_argument, job.runs), "--out", path_argument(job.path)]
    return [*words, *_history(exportable)]


def _history(exportable: Exportable) -> list[str]:
    return ["--history"] if exportable.history else []


@command_words.register
def _figure(job: FigureJob, exportable: Exportable) -> Iterator[list[str]]:
    words = [
        *_opening("figure", job, exportable),
        "--panels",
        ",".join(job.panels),
    ]
    if job.until is not None:
        words += ["--until", time_word(job.until)]
        words += ["--rest"] if job.rest else []
    words += ["--notes"] if job.notes else []
    yield [
        *words,
        *paper_words(job.options.sheet, job.path, job.dpi),
        *_drawing_options(job, exportable),
    ]


def paper_words(sheet: PageSize, path: Path, dpi: float) -> list[str]:
    """Return the options of `figure` for a sheet, and for the resolution of a PNG."""
    words = [] if sheet.width is None else ["--size", size_text(sheet)]
    words += [] if sheet.points == POINTS else ["--font", f"{sheet.points:.15g}"]
    words += [] if sheet.family == "sans" else ["--letters", sheet.family]
    words += [] if sheet.caption else ["--no-caption"]
    return [*words, "--dpi", f"{dpi:g}"] if path.suffix.lower() == ".png" else words


@command_words.register
def _film(job: FilmJob, exportable: Exportable) -> Iterator[list[str]]:
    words = [
        *_opening("movie", job, exportable),
        "--panel",
        job.panel,
    ]
    words += ["--seconds", f"{job.seconds:.15g}", "--fps", f"{job.frames_per_second:g}"]
    words += [] if job.follow else ["--range", "run"]
    if job.interval is not None:
        since, until = job.interval
        words += ["--since", time_word(since)]
        words += ["--until", time_word(until)] if math.isfinite(until) else []
    if job.size is not None:
        words += ["--pixels", f"{job.size[0]}x{job.size[1]}"]
    words += [] if job.captions else ["--no-caption"]
    yield [*words, *_drawing_options(job, exportable)]


@command_words.register
def _page(job: PageJob, exportable: Exportable) -> Iterator[list[str]]:
    words = [
        *_opening("page", job, exportable),
        "--views",
        ",".join(job.panels),
    ]
    words += [] if job.frames == PAGE_FRAMES else ["--frames", f"{job.frames}"]
    words += [f"--title={job.name}"] if job.name else []  # with "=": a name may begin with a dash
    words += [] if job.colours == PAGE_COLOURS[0] else [f"--{job.colours}"]
    words += ["--notes"] if job.notes else []
    options = _drawing_options(job, exportable)
    # Without `--margins` the command computes them all.
    yield [*words, *options, *([] if "--margins" in options else ["--margins", "none"])]


@command_words.register
def _data(job: DataJob, exportable: Exportable) -> Iterator[list[str]]:
    for run, path in zip(job.runs, job.paths, strict=True):
        words = ["table", path_argument(run), "--out", path_argument(path)]
        if job.columns is not None:
            words += ["--columns", ",".join(job.columns)]
        words += _history(exportable)
        yield [*words, *(["--parameters"] if job.parameters else [])]


@command_words.register
def _compare(job: CompareJob, exportable: Exportable) -> Iterator[list[str]]:
    question = job.questions[0]
    over_time = [one.against for one in job.questions if not one.is_by_rank]
    runs = [job.runs[k] for k in job.shown] or job.runs
    words = ["compare", *map(path_argument, runs), "--out", path_argument(job.path)]
    words += [part for one in job.questions for part in ("--observable", one.observable)]
    words += ["--against", over_time[0] if over_time else question.against]
    words += ["--kind", question.kind, "--band", question.band, *_history(exportable)]
    if any(one.is_by_rank for one in job.questions) and job.log10_time != math.inf:
        words += ["--at", time_word(job.log10_time)]
    if job.path.suffix.lower() != TABLE:
        words += [] if job.width == USUAL_WIDTH else ["--size", f"{job.width:.15g}mm"]
        words += ["--dark"] if job.palette == "dark" else []
        words += [] if job.path.suffix.lower() != ".png" else ["--dpi", f"{job.dpi:g}"]
    yield words


def _drawing_options(job: FigureJob | FilmJob | PageJob, exportable: Exportable) -> list[str]:
    """Return the options that figures, films and pages share."""
    options = job.options
    words = ["--dark"] if options.palette.name == "dark" else []
    if options.plane != COORDINATES:
        words += ["--plane", plane_word(options.plane)]
    for row, nodes in enumerate(options.selected, 1):
        if nodes is not None:
            words += ["--select", f"{row}:{nodes.name or nodes_text(nodes.nodes)}"]
    names = {one.reference.name: None for margins in options.references for one in margins}
    if names:
        words += ["--margins", ",".join(names)]
    if any(one is not None and one.margin is not None for one in options.promises):
        words += ["--share"]
    keys = {bound.key: None for bounds in options.view.bounds for bound in bounds}
    for key in keys:
        words += ["--bound", key]
    if keys:
        words += ["--delta", f"{exportable.delta:.15g}"]
    return [*words, *_view_options(options.view)]


def _view_options(view: ViewOptions) -> list[str]:
    words = []
    if view.curves != FIRST_CURVES:
        words += ["--curves", ",".join(view.curves)]
    words += ["--log"] if view.logarithmic else []
    words += [] if view.against == "log10_time" else ["--against", view.against]
    words += [] if view.nodes == "weights" else ["--nodes", view.nodes]
    words += ["--roots"] if view.roots else []
    for row, nodes in enumerate(view.pinned, 1):
        words += ["--pin", f"{row}:{nodes_text(nodes)}"] if nodes else []
    for one in view.regions:
        ends = ",".join(repr(float(x)) for x in (one.left, one.right, one.bottom, one.top))
        words += ["--zoom", f"{one.row + 1}:{one.panel}={ends}"]
    return words


def time_word(log10_time: float) -> str:
    """Return a time to the last digit, as options read it.

    >>> time_word(2.5), time_word(-math.inf)
    ('10^2.5', '0')
    """
    return "0" if log10_time == -math.inf else f"10^{float(log10_time)!r}"


def plane_word(plane: NodePlane) -> str:
    """Return a plane as --plane reads it: coordinates and neurons are counted as on the axes.

    >>> plane_word(NodePlane("coordinates", (2, 6))), plane_word(NodePlane("motion", ()))
    ('3,7', 'motion')
    """
    if plane.kind == COORDINATES.kind:
        return ",".join(str(number + 1) for number in plane.numbers)
    numbers = ",".join(str(number) for number in plane.numbers)
    return f"{plane.kind}:{numbers}" if numbers else plane.kind
