"""`margins`, `theorems`, `limit`, `directions`: theory of a run or of a study's data."""

from __future__ import annotations

import argparse
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.cli.output import (
    MARGIN_SECONDS,
    print_indented,
    print_json,
    print_line,
    print_notice,
    print_text,
    progress,
)
from core.errors import InputError
from core.numbers import time_text
from core.problem.problem import Problem
from core.problem.schedule import parse_time
from core.program.stopping import first_signal
from core.reference.cancel_token import CancelToken
from core.reference.margin import Reference, ReferenceMargin
from core.runs import Run, open_run
from core.studies.code import check_code
from core.studies.papers import PAPERS
from core.studies.study import load_study, shipped_ids
from core.sweep.plan import problems

if TYPE_CHECKING:
    from core.theorems.report import Report

# ------------------------------------------------------------------------------------------ margins


def margins(arguments: argparse.Namespace) -> int:
    """Print the reference margins of a run, or of the cells of a study."""
    check_limit(arguments.limit)
    problems = named_problems(arguments.target, arguments.settings)
    rows: list[tuple[str, ReferenceMargin]] = []
    for cell, problem in problems:
        margins = list(compute_margins(problem, arguments.limit, arguments.quiet))
        if not margins:
            print_notice(f"{cell}: no reference margin is defined for this network and these data.")
        rows += [(cell, margin) for margin in margins]
    if arguments.json:
        several = len(problems) > 1
        print_json(
            [margin.as_json() | ({"cell": cell} if several else {}) for cell, margin in rows]
        )
    else:
        _print_table(rows)
    return 0


def named_problems(target: str, settings: list[str]) -> list[tuple[str, Problem]]:
    """Return (name, problem) of a run file, or of the cells of a study.

    Of cells with the same reference margins only the first is returned. A run has the name of its
    file without suffix. Raises InputError for an unknown target, and for settings with a run file.
    """
    if target in shipped_ids() or Path(target).suffix == ".toml":
        study = load_study(target)
        check_code(study, target)
        study = study.with_settings(settings)
        names = [cell.name or study.id for cell in study.cells()]
        return _drop_equal(list(zip(names, problems(study, print_notice), strict=True)))
    path = Path(target)
    if path.suffix != ".msrun" and not path.is_file():
        load_study(target)  # raises an error with the closest names
    if settings:
        raise InputError("--set changes studies, not run files; name a study, or omit --set.")
    with open_run(path) as run:
        return [(path.stem, run.problem)]


def _drop_equal(problems: list[tuple[str, Problem]]) -> list[tuple[str, Problem]]:
    """Return the problems without those whose reference margins an earlier one has."""
    from core.reference.registry import references_of

    by_key: dict[tuple[tuple[str, str], ...], tuple[str, Problem]] = {}
    for name, problem in problems:
        # Margins depend on data, network and start: cells that differ only in their dynamics share
        # them.
        key = tuple((item.name, item.key(problem)) for item in references_of(problem))
        by_key.setdefault(key, (name, problem))
    return list(by_key.values())


def check_limit(limit: float) -> None:
    """Raise InputError for a time limit that no margin may have."""
    if math.isnan(limit) or limit <= 0.0:
        raise InputError(
            f"--limit {limit:g}: give a positive number of seconds, such as {MARGIN_SECONDS:g}."
        )


def compute_margins(
    problem: Problem,
    limit: float,
    quiet: bool,
    references: Sequence[Reference] | None = None,
) -> Iterator[ReferenceMargin]:
    """Compute the reference margins of a problem, one after another.

    Parameters
    ----------
    problem : Problem
        Problem.
    limit : float
        Seconds for each margin.
    quiet : bool
        Show no progress.
    references : sequence of Reference, optional
        Margins to compute; by default all of the problem.

    Yields
    ------
    ReferenceMargin
    """
    from core.reference.registry import compute, references_of

    references = references_of(problem) if references is None else references
    with progress("margins", len(references), quiet) as bar:
        for n_computed, reference in enumerate(references):
            bar.set_done(n_computed, reference.name)
            with cancelled_by_signals(CancelToken(limit)) as watch:
                margin = compute(reference, problem, watch)
            yield margin
        bar.set_done(len(references))


@contextmanager
def cancelled_by_signals(watch: CancelToken) -> Iterator[CancelToken]:
    """Cancel the watch at the first Ctrl-C or SIGTERM; a second one interrupts at once."""
    # Python sets signal handlers in the main thread only.
    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    with first_signal(watch.cancel):
        yield watch
        # Check once more: the computation may have ended without checking after the signal.
        watch.check()


def _print_table(rows: list[tuple[str, ReferenceMargin]]) -> None:
    last_name = ""
    for cell, margin in rows:
        if cell != last_name:
            print_line(cell)
            last_name = cell
        name, bracket = margin.reference.name, margin.bracket
        if not bracket.exists:
            print_line(
                f"  {name:<18} {'open' if bracket.is_unresolved else 'none'}: {bracket.method}"
            )
            continue
        ends = f"[{bracket.lower:.8g}, {bracket.upper:.8g}]"
        print_line(
            f"  {name:<18} {bracket.value:<12.6g} {ends:<28} {margin.certainty}; {bracket.method} "
            f"({margin.seconds:.2g} s)"
        )


# ------------------------------------------------------------------------- statements of the papers


def theorems(arguments: argparse.Namespace) -> int:
    """Print every statement that is about the run."""
    from core.theorems.registry import assess_all
    from core.theorems.report import report

    delta = arguments.delta
    if not 0.0 < delta < 1.0:
        raise InputError(f"--delta {delta:g}: give a probability between 0 and 1.")
    check_limit(arguments.limit)
    with open_run(Path(arguments.run)) as run:
        references = compute_margins(run.problem, arguments.limit, arguments.quiet)
        margins = {margin.reference.name: margin for margin in references}
        with cancelled_by_signals(CancelToken()) as watch:
            assessed = assess_all(run, margins, delta, watch)
    if arguments.json:
        reports = [(report(one).as_dict(), one.timing.as_json()) for one in assessed]
        print_json([{**values, "times": times} for values, times in reports])
    else:
        for one in assessed:
            _print_report(report(one))
        if not assessed:
            print_line("No statement of the papers applies to this run.")
    return 0


def _print_report(one: Report) -> None:
    print_text(str(one))
    if paper := PAPERS.get(one.source.partition(",")[0]):
        print_indented(f"From: {paper.citation(one.name)}", " " * 4, " " * 6)


# ---------------------------------------------------- extremal vectors, to which small neurons turn

MOST_SHOWN = 4  # coordinates of a direction; JSON has all


def directions(arguments: argparse.Namespace) -> int:
    """Print every extremal vector of each distinct problem, by increasing G; return 0."""
    from core.network.parametrisation import TwoLayer
    from core.reference.extremal import extremal_vectors

    problems = named_problems(arguments.target, arguments.settings)
    reports = []
    for cell, problem in problems:
        check_has_vectors(problem, cell)
        assert isinstance(problem.network, TwoLayer)
        slope = problem.network.activation.slope
        reports.append(
            (cell, slope, extremal_vectors(problem.inputs, problem.dataset.y, slope), problem)
        )
    if arguments.json:
        several = len(problems) > 1
        print_json(
            [
                vector_as_json(one, problem) | ({"cell": cell} if several else {})
                for cell, _, vectors, problem in reports
                for one in vectors
            ]
        )
        return 0
    for cell, slope, vectors, problem in reports:
        _print_vectors(cell, slope, vectors, problem)
    return 0


def check_has_vectors(problem: Problem, name: str) -> None:
    """Raise InputError if a problem has no extremal vectors."""
    from core.reference.extremal import has_extremal

    if not problem.dataset.real:
        raise InputError(
            f"{name} has labels, and extremal vectors are defined for real targets; choose a study "
            'with data.kind = "regression", "spurious" or "orthonormal", or data of your own with '
            'targets = "real".'
        )
    if not has_extremal(problem):
        raise InputError(
            f'{name} has network.kind = "{problem.network.kind}", but extremal vectors are '
            'defined for "standard" and "bias", which train both layers.'
        )


def vector_as_json(one: Any, problem: Problem) -> dict[str, Any]:
    """Return an extremal vector's fields in `directions --json`; `signs` are those of <u, x_k>."""
    u, D = (_in_full(problem, vector).tolist() for vector in (one.u, one.D))
    counts = {"active": int((one.signs > 0).sum()), "border": int((one.signs == 0).sum())}
    result = {"kind": one.kind, "G": one.value, "length": abs(one.value)}
    return result | counts | {"u": u, "D": D, "signs": one.signs.tolist()}


def _in_full(problem: Problem, vector: Any) -> Any:
    """Return a vector in the coordinates of the inputs, also of a run in row-space form."""
    form = problem.reduction
    return vector if form is None else vector[:-1] @ form.basis


def _print_vectors(cell: str, slope: float, vectors: Any, problem: Problem) -> None:
    n, d = problem.inputs.shape if problem.reduction is None else problem.dataset.x.shape
    count = f"{len(vectors)} extremal vector{'' if len(vectors) == 1 else 's'}"
    print_line(f"{cell}: {count} of {n} points in {d} dimensions, slope {slope:g}")
    if not vectors:
        return
    print_line(f"  {'kind':<8} {'G':>12} {'|D|':>12} {'active':>7} {'border':>7}  u")
    for one in vectors:
        vector = vector_as_json(one, problem)
        numbers = f"{one.value:>12.6g} {abs(one.value):>12.6g}"
        counts = f"{vector['active']:>7} {vector['border']:>7}"
        print_line(f"  {one.kind:<8} {numbers} {counts}  {_coordinates(np.array(vector['u']))}")


def _coordinates(u: Any) -> str:
    coordinates = ", ".join(f"{value:.4f}" for value in u[:MOST_SHOWN])
    return f"({coordinates}{', ...' if len(u) > MOST_SHOWN else ''})"


# ------------------------------------------- the limit of a margin, as a bracket with its condition

MOST_EXAMPLES = 12  # examples, and groups of neurons; JSON has all


def limit(arguments: argparse.Namespace) -> int:
    """Print the bracket of a run's final margin."""
    check_limit(arguments.limit)
    time = time_of(arguments.at, "--at")
    with open_run(Path(arguments.run)) as run:
        bounds, steps = _limit_of(run, time, arguments), run.counts_steps
    if arguments.json:
        print_json(bounds.as_json())
    else:
        _print_limit(bounds, steps)
    return 0


def _limit_of(run: Run, time: float | None, arguments: argparse.Namespace) -> Any:
    """Compute the bracket of the final margin at the last frame not after log10 t = `time`."""
    from core.figures.scene import last_frame
    from core.observables.final_margin import PROVED, final_margin, refusal
    from core.reference.registry import references_of

    if sentence := refusal(run):
        raise InputError(sentence)
    if run.frames == 0:
        raise InputError(
            f"{run.path} has no frames yet; wait for the first frame, or run it again."
        )
    index = last_frame(run, time)
    proved = [one for one in references_of(run.problem) if one.name in PROVED]
    margins = compute_margins(run.problem, arguments.limit, arguments.quiet, proved)
    by_name = {one.reference.name: one for one in margins}
    with cancelled_by_signals(CancelToken(arguments.limit)) as watch:
        return final_margin(run, index, by_name, watch)


def _print_limit(bounds: Any, steps: bool) -> None:
    ends = f"[{_number(bounds.below)}, {_number(bounds.upper_end)}]"
    closed = " (closed)" if bounds.is_closed else ""
    print_line(
        f"final margin in {ends}{closed}"
        + (f" provided that {bounds.condition}" if bounds.condition else "")
    )
    print_line(
        f"  at {time_text(bounds.log10_time, steps)}, frame {bounds.frame}: "
        f"hard margin {bounds.hard:.6g}"
    )
    _line(
        "lower bound: " + (bounds.why if bounds.why else f"{bounds.below:.6g}, the smoothed margin")
    )
    if not math.isnan(bounds.above_always):
        _line(f"upper bound, always: {bounds.above_always:.6g}, {bounds.always}")
    for one in bounds.above_while:
        _line(f"upper bound, provided that {one.condition}: {one.above:.6g}")
        began = "since the start" if one.frame == 0 else f"since {time_text(one.since, steps)}"
        _line(f"  a condition met {began} (frame {one.frame})")
        _line("  dual weight on examples " + _examples(one.examples))
        _line("  and on neurons " + _nodes(one.nodes))


def _number(value: float) -> str:
    """Return a number with six digits, "not known" for NaN."""
    return "not known" if math.isnan(value) else f"{value:.6g}"


def _examples(pairs: Any) -> str:
    words = [f"{i} ({q:.3f})" for i, q in pairs[:MOST_EXAMPLES]]
    return _join_words(words, len(pairs))


def _nodes(carriers: Any) -> str:
    words = []
    for one in carriers[:MOST_EXAMPLES]:
        numbers = ", ".join(map(str, one.nodes[:4])) + (", ..." if len(one.nodes) > 4 else "")
        words.append(f"{numbers} ({'+' if one.sign > 0 else '-'}, {one.weight:.3f})")
    return _join_words(words, len(carriers))


def _join_words(words: list[str], count: int) -> str:
    """Return words with semicolons, "none" without any; `count` includes those left out."""
    remainder = f"; {count - len(words)} more" if count > len(words) else ""
    return ("; ".join(words) or "none") + remainder


def _line(text: str) -> None:
    indent = "  " + " " * (len(text) - len(text.lstrip()))
    print_indented(text.strip(), indent, indent + "  ")


def time_of(text: str | None, option: str) -> float | None:
    """Return log10 t of an option's text; None without a text. InputError if it is no time."""
    if text is None:
        return None
    if (time := parse_time(text)) is None:
        raise InputError(
            f"{text[:60]!r} is not a time; give one such as 10^2.5 or 0.", option=option
        )
    return time
