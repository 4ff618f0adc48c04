"""`story`: a story of runs, or of a shipped study, as a page that steps through its moments."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.drawing import parse_plane_option
from core.cli.output import print_line, progress
from core.cli.training import record_cells
from core.cli.view_arguments import ALL, make_figure_options
from core.errors import InputError
from core.figures.names import PAGE_PANELS
from core.files import temporary_folder
from core.runs import Run, open_run
from core.stories.shipped_stories import cells_shown, shipped_stories, story_of_study
from core.stories.story_file import check_run_names, find_runs, is_story_file, load_story
from core.studies.cell_selection import restrict_study
from core.studies.study import Study, load_study
from core.sweep.plan import run_paths

if TYPE_CHECKING:
    from core.stories.story import Story


def story(arguments: argparse.Namespace) -> int:
    """Write a story as a page, or list the shipped stories."""
    if arguments.file is None:
        for name, one in shipped_stories().items():
            print_line(f"{name}: {one.title} ({len(one.moments)} moments)")
        return 0
    if arguments.out is None:
        raise InputError("Name the page to write with --out, such as --out talk.html.")
    return _write_page(arguments, Path(arguments.out))


def _write_page(arguments: argparse.Namespace, out: Path) -> int:
    from core.figures.page import PageOptions, check_page, check_page_path, save_page, views_of
    from core.figures.palette import LIGHT
    from core.figures.story_page import story_panels

    check_page_path(out)
    story, folder = read_story(arguments.file)
    plane = parse_plane_option(arguments.plane)
    if arguments.margins is None:
        arguments.margins = ALL
    options = PageOptions(arguments.frames, arguments.title, arguments.colours, story)
    with ExitStack() as stack:
        study = load_study(story.study) if story.study else None
        paths = find_runs(story, folder) if study is None else _train(study, stack, arguments.quiet)
        runs: list[Run] = [stack.enter_context(open_run(path)) for path in paths]
        if study is None:
            check_run_names(story, runs)
        usual = tuple(
            name for name in (study.opens_with.views if study else ()) if name in PAGE_PANELS
        )
        usual = usual or views_of(runs)
        # Check before computing theory, which takes long.
        check_page(runs, story_panels(story, runs, usual), options)
        _propose_options(arguments, story, study)
        figure_options = make_figure_options(arguments, runs, LIGHT, plane)
        with progress("page", 1, arguments.quiet) as bar:
            save_page(runs, out, usual, figure_options, options, bar.set_progress)
    print_line(out)
    return 0


def read_story(name: str) -> tuple[Story, Path]:
    """Return the story of a file, or of a shipped study, and the folder of its runs."""
    if not is_story_file(name):
        return story_of_study(name), Path()
    path = Path(name)
    return load_story(path), path.absolute().parent


def _train(study: Study, stack: ExitStack, quiet: bool) -> list[Path]:
    """Train the cells that a story is about into a temporary folder; return the run files."""
    study = restrict_study(study, cells_shown(study))
    folder = stack.enter_context(temporary_folder("story"))
    code = record_cells(study, folder, force=False, quiet=quiet, lists_files=False)
    if code:
        raise InputError(f"{study.id} did not complete (status {code}), so its story has no runs.")
    return [*run_paths(study, folder).values()]


def _propose_options(arguments: argparse.Namespace, story: Story, study: Study | None) -> None:
    """Use the curves of the story, and curves and points of its study, unless options name some."""
    proposed = study.opens_with if study is not None else None
    curves = story.curves or (proposed.curves if proposed is not None else ())
    if arguments.curves is None and curves:
        arguments.curves = ",".join(curves)
    if proposed is not None and proposed.points:
        arguments.nodes = proposed.points
