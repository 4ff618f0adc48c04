"""`figure` and `movie`: pictures of runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.margins import computed
from core.cli.output import progress
from core.cli.training import run_for_figure
from core.errors import InputError
from core.figures.names import PANELS
from core.files import scratch
from core.observables.node_sets import NodeSet, parse_nodes
from core.observables.planes import COORDINATES, NodePlane, parse_plane
from core.runs import Run, open_run
from core.studies.study import load_study, shipped_ids

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.figures.primitives import FigureScene
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise
    from core.studies.row import Known
    from core.sweep.ledger import Ledger

SHARE_LIMIT_S = 120.0  # for each reference margin, as in `margins`
NO_SHARE = (
    "no reference margin of this run can be compared with its margins, so that they are shares of "
    "nothing; draw them as they are, without --share"
)


def natural(path: Path) -> list[object]:
    """A sort key in which m=16 comes before m=256."""
    # Texts and numbers alternate in what split returns, so that like is compared with like.
    parts = re.split(r"(\d+)", path.name)
    return [int(part) if part.isdecimal() else part for part in parts]


def run_files(target: str, stack: ExitStack, quiet: bool) -> list[Path]:
    """The run files that a target of `figure` stands for: a file, a folder's, or a study's."""
    path = Path(target)
    if path.is_dir():
        paths = sorted(path.glob("*.msrun"), key=natural)
        if not paths:
            raise InputError(f"The folder {path} holds no run files (.msrun).")
        return paths
    if target in shipped_ids() or path.suffix == ".toml":
        folder = stack.enter_context(scratch("figure"))
        return run_for_figure(target, folder, quiet)
    return [path]


def open_all(targets: Sequence[str], stack: ExitStack, quiet: bool) -> list[Run]:
    """All runs of all targets, closed by the stack."""
    paths = [path for target in targets for path in run_files(target, stack, quiet)]
    return [stack.enter_context(open_run(path)) for path in paths]


def figure(arguments: argparse.Namespace) -> int:
    """Draw runs into one vector or pixel figure."""
    from core.figures.export import check_figure_path, save_figure
    from core.figures.palette import DARK, LIGHT
    from core.figures.scene import build_scene

    listed = ",".join(PANELS) if arguments.panels is None else arguments.panels
    panels = [name.strip() for name in listed.split(",") if name.strip()]
    wrong = [name for name in panels if name not in PANELS]
    if wrong or not panels:
        raise InputError(f"--panels {arguments.panels}: allowed are {', '.join(PANELS)}.")
    out = Path(arguments.out)
    check_figure_path(out)
    palette, plane = DARK if arguments.dark else LIGHT, _plane(arguments.plane)
    with ExitStack() as stack:
        # Panels that are named are those of single runs; a study's own layout is only the default.
        given = (arguments.panels, arguments.plane, arguments.select)
        named = arguments.share or any(option is not None for option in given)
        scene = None if named else study_figure(arguments, stack, palette)
        if scene is None:
            runs = open_all(arguments.targets, stack, arguments.quiet)
            selected = selected_in(runs, arguments.select)
            scene = build_scene(
                runs,
                tuple(panels),
                palette=palette,
                plane=plane,
                selected=selected,
                promises=promises_of(runs, arguments.quiet) if arguments.share else (),
            )
        save_figure(scene, out, dpi=arguments.dpi)
    print(out)
    return 0


def promises_of(runs: Sequence[Run], quiet: bool) -> tuple[Promise, ...]:
    """What the margins of each run are shares of. Raises InputError where there is nothing."""
    from core.reference.registry import references_of
    from core.reference.share import in_order, promise

    promises = []
    for run in runs:
        references = in_order(references_of(run.problem))
        known: dict[str, ReferenceMargin] = {}
        # Only as far as is needed: some take long.
        for margin in computed(run.problem, SHARE_LIMIT_S, quiet, references):
            known[margin.reference.name] = margin
            if promise(references, known).margin is not None:
                break
        found = promise(references, known)
        if found.margin is None:
            raise InputError(NO_SHARE, where=run.path)
        promises.append(found)
    return tuple(promises)


def study_figure(
    arguments: argparse.Namespace, stack: ExitStack, palette: Palette
) -> FigureScene | None:
    """The figure of a study with a layout, or of a folder of its runs; None for all else."""
    from core.figures.study_figure import figure_of_runs, layout_of
    from core.studies.cells import runs_of
    from core.sweep.folder import sweeps_in

    if len(arguments.targets) != 1:
        return None
    target = arguments.targets[0]
    folder, given = Path(target), []
    if not folder.is_dir():
        if target not in shipped_ids() and folder.suffix != ".toml":
            return None
        given = [load_study(target)]
        if not given[0].figure:
            return None
        folder = stack.enter_context(scratch("figure"))
        run_for_figure(target, folder, arguments.quiet)
    # Runs that were made a moment ago have no ledger.
    ledgers = [] if given else sweeps_in(folder, values=False)
    study = layout_of(folder, given or [ledger.study for ledger in ledgers])
    if study is None:
        return None
    own = next((ledger for ledger in ledgers if ledger.study.id == study.id), None)
    verdicts, known = results_in(folder, own)
    paths = runs_of(study.id, folder)
    return figure_of_runs(study, paths, stack.enter_context, palette, verdicts, known)


def results_in(folder: Path, ledger: Ledger | None) -> tuple[list[str], Known | None]:
    """A line for each claim of a swept study, and what its table has; nothing without a sweep."""
    from core.cli.checking import judged_in
    from core.studies.row import known_values
    from core.sweep.plan import run_file

    if ledger is None:
        return [], None
    claims = ledger.study.claims
    verdicts = [one.line() for one in judged_in(folder, ledger, None)] if claims else []
    rows = {name: entry.row for name, entry in ledger.entries.items()}
    paths = {cell.name: run_file(ledger.study, cell, folder) for cell in ledger.study.cells()}
    return verdicts, known_values(rows, paths)


def movie(arguments: argparse.Namespace) -> int:
    """Draw runs as a film."""
    from core.figures.film import save_film
    from core.figures.palette import DARK, LIGHT
    from core.figures.writers import check_film_path

    out = Path(arguments.out)
    check_film_path(out)
    plane = _plane(arguments.plane)
    with ExitStack() as stack:
        runs = open_all(arguments.targets, stack, arguments.quiet)
        length = arguments.seconds * arguments.fps  # save_film says what is wrong with it
        count = max(1, round(length)) if isfinite(length) else 1
        with progress("movie", count, arguments.quiet) as bar:
            save_film(
                runs,
                out,
                panel=arguments.panel,
                seconds=arguments.seconds,
                frames_per_second=arguments.fps,
                palette=DARK if arguments.dark else LIGHT,
                progress=bar.part,
                plane=plane,
                follow=arguments.range == "moment",
                selected=selected_in(runs, arguments.select),
            )
    print(out)
    return 0


def selected_in(runs: Sequence[Run], text: str | None) -> list[NodeSet | None]:
    """The nodes of --select in each run: of a set that is kept with it, or the same in all."""
    from core.library.about import read_about

    if text is None:
        return []
    kept = [{one.name: one for one in read_about(run.path).sets} for run in runs]
    named = [sets.get(text) for sets in kept]
    if any(named):
        return named
    try:
        nodes = parse_nodes(text)
    except ValueError as error:
        known = ", ".join(dict.fromkeys(name for sets in kept for name in sets))
        there = (
            f"the sets kept with these runs are {known}" if known else "no set is kept with them"
        )
        raise InputError(f"{text[:60]!r}: {there}; {error}.", option="--select") from None
    most = max((int(run.network.m) for run in runs), default=0)
    if min(nodes) >= most:
        raise InputError(f"{text[:60]!r}: the runs have nodes 0 to {most - 1}.", option="--select")
    return [NodeSet("", nodes)] * len(runs)


def _plane(text: str | None) -> NodePlane:
    """The plane of --plane."""
    if text is None:
        return COORDINATES
    try:
        return parse_plane(text)
    except InputError as error:
        raise InputError(error.text, option="--plane") from error
