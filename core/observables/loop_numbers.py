"""Numbers that a recorded loop passed beside its frames, as observables of that run.

`loop.NAME` is always such a number. NAME alone is one too where it is the name of nothing else, so
that a loop that passes `risk` replaces no computed risk.
"""

from __future__ import annotations

from functools import lru_cache, partial

from core.observables.observable import LOOP, Observable, memoised
from core.run_files.schema import NUMBER_NAME
from core.runs import Run

WHERE = "recordings whose loop passed this number to `frame`"
# Columns of tables and arrays of data sets beside the observables.
TAKEN = {
    *("frame", "step", "time", "t", "log10_time", "log10_t", "rho"),
    *("x", "y", "x_test", "y_test", "W", "V", "a", "A", "b", "c"),
    *("node", "coordinate", "example", "class"),
}


def is_free(name: str) -> bool:
    """Return True if NAME alone, which no observable has, may stand for a number of the loop."""
    return name not in TAKEN and not name.startswith((LOOP, "gamma_", "theta_"))


@lru_cache(1024)
def loop_number(name: str, known_as: str) -> Observable:
    """Return the observable of the number that a loop called `name`, under the name `known_as`."""
    words = name.replace("_", " ")
    return Observable(
        known_as,
        words if known_as == name else f"{words}, passed by the loop",
        f"{name} as the recorded loop passed it beside the frame",
        "the recorded loop",
        partial(_value, name),
        applies=partial(_has, name),
        where=WHERE,
        normalisation="as the loop passed it",
    )


def name_in(name: str) -> str | None:
    """Return what a loop called the number `loop.NAME`; None for no such name."""
    inner = name.removeprefix(LOOP)
    return inner if inner != name and NUMBER_NAME.fullmatch(inner) else None


@memoised
def _numbers(run: Run, index: int) -> dict[str, float]:
    return run.diagnostics(index)


def _value(name: str, run: Run, index: int) -> float:
    return _numbers(run, index).get(name, float("nan")) if run.recorded else float("nan")


def _has(name: str, run: Run) -> bool:
    return name in run.loop_names
