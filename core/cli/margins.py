"""`margins`: the reference margins of a run, or of every distinct problem of a study."""

from __future__ import annotations

import argparse
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.cli.output import MARGIN_SECONDS, print_json, print_line, progress, say
from core.cli.waiting import first_signal
from core.errors import InputError
from core.problem.problem import Problem
from core.reference.margin import Reference, ReferenceMargin
from core.reference.watch import CancelledError, Watch
from core.runs import open_run
from core.studies.code import check_code
from core.studies.study import load_study, shipped_ids
from core.sweep.plan import problems


def margins(arguments: argparse.Namespace) -> int:
    """Print the margins; 130 and no traceback when interrupted."""
    check_limit(arguments.limit)
    named = named_problems(arguments.target, arguments.settings)
    rows: list[tuple[str, ReferenceMargin]] = []
    try:
        for cell, problem in named:
            margins = list(computed(problem, arguments.limit, arguments.quiet))
            if not margins:
                say(f"{cell}: no reference margin is defined for this network and these data.")
            rows += [(cell, margin) for margin in margins]
    except CancelledError:
        # `main` answers it as it answers Ctrl-C anywhere.
        raise KeyboardInterrupt from None
    if arguments.json:
        several = len(named) > 1
        print_json(
            [margin.as_json() | ({"cell": cell} if several else {}) for cell, margin in rows]
        )
    else:
        _print_table(rows)
    return 0


def named_problems(target: str, settings: list[str]) -> list[tuple[str, Problem]]:
    """(cell, problem) of a run, or of the cells of a study that have margins of their own."""
    if target in shipped_ids() or Path(target).suffix == ".toml":
        study = load_study(target)
        check_code(study, target)
        study = study.with_settings(settings)
        names = [cell.name or study.id for cell in study.cells()]
        return _distinct(list(zip(names, problems(study, say), strict=True)))
    path = Path(target)
    if path.suffix != ".msrun" and not path.is_file():
        load_study(target)  # says what there is, and what was meant
    if settings:
        raise InputError("--set changes a study; a run file is as it was recorded.")
    with open_run(path) as run:
        return [(path.stem, run.problem)]


def _distinct(named: list[tuple[str, Problem]]) -> list[tuple[str, Problem]]:
    """The first problem of each set of equal margins."""
    from core.reference.registry import references_of

    seen: dict[tuple[tuple[str, str], ...], tuple[str, Problem]] = {}
    for name, problem in named:
        # Margins are of data, network and start: cells that differ in their dynamics share them.
        key = tuple((item.name, item.key(problem)) for item in references_of(problem))
        seen.setdefault(key, (name, problem))
    return list(seen.values())


def check_limit(limit: float) -> None:
    """Raise InputError for what is no time that a margin may take."""
    if math.isnan(limit) or limit <= 0.0:
        raise InputError(
            f"--limit {limit:g}: give a positive number of seconds, such as {MARGIN_SECONDS:g}."
        )


def computed(
    problem: Problem,
    limit: float,
    quiet: bool,
    references: Sequence[Reference] | None = None,
) -> Iterator[ReferenceMargin]:
    """The reference margins of a problem, or some of them, each after at most `limit` seconds."""
    from core.reference.registry import compute, references_of

    references = references_of(problem) if references is None else references
    with progress("margins", len(references), quiet) as bar:
        for done, reference in enumerate(references):
            bar.to(done, reference.name)
            with stopped(Watch(limit)) as watch:
                margin = compute(reference, problem, watch)
            yield margin
        bar.to(len(references))


@contextmanager
def stopped(watch: Watch) -> Iterator[Watch]:
    """The first Ctrl-C or SIGTERM cancels the watch; a second one interrupts at once."""
    # Python lets no other thread set the handlers of signals.
    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    with first_signal(watch.cancel):
        yield watch
        # A computation may end without another look; the signal that came meanwhile is not lost.
        watch.look()


def _print_table(rows: list[tuple[str, ReferenceMargin]]) -> None:
    shown = ""
    for cell, margin in rows:
        if cell != shown:
            print_line(cell)
            shown = cell
        name, bracket = margin.reference.name, margin.bracket
        if not bracket.exists:
            print_line(f"  {name:<18} {'open' if bracket.open else 'none'}: {bracket.method}")
            continue
        ends = f"[{bracket.lower:.8g}, {bracket.upper:.8g}]"
        print_line(
            f"  {name:<18} {bracket.value:<12.6g} {ends:<28} {margin.certainty}; {bracket.method} "
            f"({margin.seconds:.2g} s)"
        )
