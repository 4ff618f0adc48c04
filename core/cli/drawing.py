"""`figure`, `movie` and `page`: pictures of runs."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.margins import time_of
from core.cli.output import print_line, progress
from core.cli.training import run_for_figure
from core.cli.view_arguments import ALL, make_figure_options, read_notes, sheet_of
from core.errors import InputError
from core.figures.names import EVERY_PANEL, PANELS, parse_pixels
from core.files import temporary_folder
from core.observables.planes import COORDINATES, NodePlane, parse_plane
from core.runs import Run, open_run, open_with_history, runs_in
from core.studies.study import load_study, shipped_ids
from core.terminal.bar import print_notice

if TYPE_CHECKING:
    from core.studies.study import Study

# Options of `figure` that apply to panels of runs only.
OF_RUNS = (
    "history",
    "panels",
    "plane",
    "select",
    "until",
    "zoom",
    "pin",
    "curves",
    "log",
    "roots",
    "margins",
    "bound",
    "share",
    "notes",
)


def run_files(target: str, stack: ExitStack, quiet: bool) -> list[Path]:
    """Return the run files of a target of `figure`: a file, a folder's, or a study's.

    Parameters
    ----------
    target : str
        Path, or the id of a shipped study, which is trained into a temporary folder.
    stack : ExitStack
        Removes that folder.
    quiet : bool
        Show no progress.

    Returns
    -------
    list of Path
    """
    path = Path(target)
    if path.is_dir():
        return runs_in(path)
    if target in shipped_ids() or path.suffix == ".toml":
        folder = stack.enter_context(temporary_folder("figure"))
        return run_for_figure(target, folder, quiet)
    return [path]


def open_all(arguments: argparse.Namespace, stack: ExitStack) -> list[Run]:
    """Open all runs of all targets; the target of a study trains it first.

    Parameters
    ----------
    arguments : argparse.Namespace
        Command with `targets` as of `run_files`, `history` and `quiet`.
    stack : ExitStack
        Closes the runs.

    Returns
    -------
    list of Run
    """
    quiet, opener = arguments.quiet, open_with_history if arguments.history else open_run
    paths = [path for target in arguments.targets for path in run_files(target, stack, quiet)]
    return [stack.enter_context(opener(path)) for path in paths]


def figure(arguments: argparse.Namespace) -> int:
    """Draw runs, or the figure of a study or of its folder, as PDF, SVG or PNG; return 0.

    An option about panels means single runs (`OF_RUNS`). A figure with claims is saved twice, first
    without their verdicts.
    """
    from core.figures.export import check_figure_path, save_figure
    from core.figures.palette import DARK, LIGHT
    from core.figures.scene import build_scene
    from core.sweep.folder import folder_figure, one_per_path, sweeps_in

    listed = ",".join(PANELS) if arguments.panels is None else arguments.panels
    panels = [name.strip() for name in listed.split(",") if name.strip()]
    wrong = [name for name in panels if name not in EVERY_PANEL]
    if wrong or not panels:
        raise InputError(f"--panels {arguments.panels}: allowed are {', '.join(EVERY_PANEL)}.")
    out = Path(arguments.out)
    check_figure_path(out)
    palette, plane = DARK if arguments.dark else LIGHT, parse_plane_option(arguments.plane)
    sheet, until = sheet_of(arguments), time_of(arguments.until, "--until")
    with ExitStack() as stack:
        # Options on panels mean single runs; the study's own layout is only the default.
        is_of_runs = any(getattr(arguments, name) not in (None, [], False) for name in OF_RUNS)
        sweep_folder = None if is_of_runs else study_folder(arguments, stack)
        scene = None
        if sweep_folder is not None:
            folder, fresh = sweep_folder
            open_once = one_per_path(stack.enter_context)
            ledgers = [] if fresh else sweeps_in(folder, values=False)
            draw = partial(
                folder_figure, folder, open_once, palette, fresh, sheet=sheet, ledgers=ledgers
            )
            scene = draw(claims=False)
            claims = any(ledger.study.claims for ledger in ledgers)
            if scene is not None and claims and not arguments.no_claims:
                # Save without verdicts first, which may take minutes.
                save_figure(scene, out, dpi=arguments.dpi)
                if not arguments.quiet:
                    print_notice(f"{out} is drawn; judging the claims, to be added below.")
                scene = draw(claims=True)
        if scene is None:
            runs = open_all(arguments, stack)
            options = make_figure_options(arguments, runs, palette, plane, sheet)
            if arguments.notes:
                options = replace(options, notes=read_notes(runs))
            scene = build_scene(runs, panels, until, options)
        save_figure(scene, out, dpi=arguments.dpi)
    print_line(out)
    return 0


def study_folder(
    arguments: argparse.Namespace, stack: ExitStack
) -> tuple[Path, list[Study]] | None:
    """Return the folder of a study's runs, and the study if it is trained now.

    A study named by the only target is trained into a temporary folder, which `stack` removes. For
    a folder of runs the list is empty. None for several targets, for run files, and for a study
    without a figure of its own.
    """
    if len(arguments.targets) != 1:
        return None
    target = arguments.targets[0]
    folder = Path(target)
    studies: list[Study] = []
    if not folder.is_dir():
        if target not in shipped_ids() and folder.suffix != ".toml":
            return None
        studies = [load_study(target)]
        if not studies[0].figure:
            return None
        folder = stack.enter_context(temporary_folder("figure"))
        run_for_figure(target, folder, arguments.quiet)
    return folder, studies


def movie(arguments: argparse.Namespace) -> int:
    """Draw runs as a film."""
    from core.figures.film import save_film
    from core.figures.palette import DARK, LIGHT
    from core.figures.writers import check_film_path

    out = Path(arguments.out)
    check_film_path(out)
    plane = parse_plane_option(arguments.plane)
    since, until = (time_of(getattr(arguments, name), f"--{name}") for name in ("since", "until"))
    interval = (
        None
        if since is None and until is None
        else (-inf if since is None else since, inf if until is None else until)
    )
    size = None if arguments.pixels is None else parse_pixels(arguments.pixels)
    with ExitStack() as stack:
        runs = open_all(arguments, stack)
        length = arguments.seconds * arguments.fps  # save_film reports invalid values
        count = max(1, round(length)) if isfinite(length) else 1
        palette = DARK if arguments.dark else LIGHT
        options = make_figure_options(arguments, runs, palette, plane)
        with progress("movie", count, arguments.quiet) as bar:
            save_film(
                runs,
                out,
                options,
                panel=arguments.panel,
                seconds=arguments.seconds,
                frames_per_second=arguments.fps,
                follow=arguments.range == "moment",
                interval=interval,
                captions=not arguments.no_caption,
                size=size,
                progress=bar.set_progress,
            )
    print_line(out)
    return 0


def page(arguments: argparse.Namespace) -> int:
    """Write runs as a page that plays them."""
    from core.figures.page import PageOptions, check_page, check_page_path, save_page, views_of
    from core.figures.palette import LIGHT

    out = Path(arguments.out)
    check_page_path(out)
    page_options = PageOptions(arguments.frames, arguments.title, arguments.colours)
    plane = parse_plane_option(arguments.plane)
    if arguments.margins is None:
        arguments.margins = ALL
    with ExitStack() as stack:
        runs = open_all(arguments, stack)
        views = views_of(runs)
        if arguments.views is not None:
            views = tuple(name.strip() for name in arguments.views.split(",") if name.strip())
        if arguments.notes:
            page_options = replace(page_options, notes=read_notes(runs))
        check_page(runs, views, page_options)  # check before computing theory, which takes long
        options = make_figure_options(arguments, runs, LIGHT, plane)
        with progress("page", 1, arguments.quiet) as bar:
            save_page(runs, out, views, options, page_options, bar.set_progress)
    print_line(out)
    return 0


def parse_plane_option(text: str | None) -> NodePlane:
    """Return the plane of --plane; by default that of the first two coordinates."""
    if text is None:
        return COORDINATES
    try:
        return parse_plane(text)
    except InputError as error:
        raise InputError(error.text, option="--plane") from error
