"""`limit`: where a run's margin is going, as a bracket with its condition."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from core.cli.looks import time_of
from core.cli.margins import check_limit, computed, stopped
from core.cli.output import print_indented, print_json, print_line
from core.errors import InputError
from core.figures.numbers import time_text
from core.figures.scene import last_frame
from core.reference.watch import CancelledError, Watch
from core.runs import Run, open_run

MOST_SHOWN = 12  # examples, and groups of nodes; JSON has all


def limit(arguments: argparse.Namespace) -> int:
    """Print the bracket; 130 and no traceback when interrupted."""
    check_limit(arguments.limit)
    time = time_of(arguments.at, "--at")
    try:
        with open_run(Path(arguments.run)) as run:
            found, steps = _found(run, time, arguments), run.counts_steps
    except CancelledError:
        raise KeyboardInterrupt from None
    if arguments.json:
        print_json(found.as_json())
    else:
        _print(found, steps)
    return 0


def _found(run: Run, time: float | None, arguments: argparse.Namespace) -> Any:
    from core.observables.final_margin import PROVED, final_margin, refusal
    from core.reference.registry import references_of

    if sentence := refusal(run):
        raise InputError(sentence)
    if run.frames == 0:
        raise InputError(f"{run.path} has no frames yet; wait for the first or run it again.")
    index = last_frame(run, time)
    proved = [one for one in references_of(run.problem) if one.name in PROVED]
    margins = computed(run.problem, arguments.limit, arguments.quiet, proved)
    known = {one.reference.name: one for one in margins}
    with stopped(Watch(arguments.limit)) as watch:
        return final_margin(run, index, known, watch)


def _print(found: Any, steps: bool) -> None:
    ends = f"[{_number(found.below)}, {_number(found.above)}]"
    closed = " (closed)" if found.closed else ""
    print_line(
        f"final margin in {ends}{closed}" + (f" while {found.condition}" if found.condition else "")
    )
    print_line(
        f"  at {time_text(found.log10_time, steps)}, frame {found.frame}: "
        f"hard margin {found.hard:.6g}"
    )
    _line("below: " + (found.why if found.why else f"{found.below:.6g}, the smoothed margin"))
    if not math.isnan(found.above_always):
        _line(f"above, always: {found.above_always:.6g}, {found.always}")
    for one in found.above_while:
        _line(f"above, while {one.condition}: {one.above:.6g}")
        began = "since the start" if one.frame == 0 else f"since {time_text(one.since, steps)}"
        _line(f"  which has held {began} (frame {one.frame})")
        _line("  carried by examples " + _examples(one.examples))
        _line("  and by nodes " + _nodes(one.nodes))


def _number(value: float) -> str:
    return "not known" if math.isnan(value) else f"{value:.6g}"


def _examples(pairs: Any) -> str:
    words = [f"{i} ({q:.3f})" for i, q in pairs[:MOST_SHOWN]]
    return _listed(words, len(pairs))


def _nodes(carriers: Any) -> str:
    words = []
    for one in carriers[:MOST_SHOWN]:
        numbers = ", ".join(map(str, one.nodes[:4])) + (", ..." if len(one.nodes) > 4 else "")
        words.append(f"{numbers} ({'+' if one.sign > 0 else '-'}, {one.weight:.3f})")
    return _listed(words, len(carriers))


def _listed(words: list[str], count: int) -> str:
    more = f"; {count - len(words)} more" if count > len(words) else ""
    return ("; ".join(words) or "none") + more


def _line(text: str) -> None:
    indent = "  " + " " * (len(text) - len(text.lstrip()))
    print_indented(text.strip(), indent, indent + "  ")
