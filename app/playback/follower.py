"""Looks at run files that other programs record, beside the window."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from core.errors import MarginscopeError

# Windows tells the times of a file that is open when it is closed.
TIMES_LATE = os.name == "nt"

if TYPE_CHECKING:  # loads core.runs, and with it scipy, which the start must not wait for
    from app.worker import Request
    from core.runs import Run


@final
@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """To look at the file of an open run; `signs` are those of the look before, () at the first."""

    key: int
    run: Run
    signs: tuple[Any, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What a look has shown: whether anything was written since the one before, `idle` seconds
    since the file was written to, and whether another program has it open (None: not known).

    `problem` is a sentence where it cannot be read any more.
    """

    look: Look
    signs: tuple[Any, ...] = ()
    written: bool = False
    idle: float = 0.0
    held: bool | None = None
    problem: str = ""


def seen(_request: Request, look: Look) -> Seen | None:
    """Look at a file. None where the run was closed meanwhile."""
    from core.run_files.in_use import held_elsewhere
    from core.runs.looking import situation

    run = look.run
    try:
        # Before the file is read: what is written meanwhile is seen by the next look.
        signs = situation(run.path.resolve())
        if signs == look.signs and not TIMES_LATE:
            return Seen(look, signs, False, _idle(signs), held_elsewhere(run.path))
        before = run.frames
        frames = run.refresh()
    except ValueError:
        return None
    except MarginscopeError as error:
        return Seen(look, problem=error.sentence)
    except OSError as error:
        return Seen(look, problem=f"{run.path} cannot be read: {error.strerror or error}.")
    return Seen(look, signs, frames > before, _idle(signs), held_elsewhere(run.path))


def _idle(signs: tuple[Any, ...]) -> float:
    """Seconds since one of the two files was written to."""
    times = [sign[-1] for sign in signs if isinstance(sign, tuple)]
    return max(0.0, time.time() - max(times, default=0) / 1e9)
