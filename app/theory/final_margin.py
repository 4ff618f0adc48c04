"""Brackets the final margin of runs beside the window, from a run of its own for each answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.worker import Request

if TYPE_CHECKING:
    from core.observables.final_bracket import FinalMargin
    from core.reference.margin import ReferenceMargin

# Of work, of a run that grows and of one that has ended; the bound at hand then holds all the same.
GROWING_S, SECONDS = 2.0, 30.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """What a run's first `frames` frames say of its final margin; None where nothing is known."""

    key: int
    frames: int
    found: FinalMargin | None = None


def look_ahead(
    request: Request,
    key: int,
    path: Path,
    margins: Mapping[str, ReferenceMargin],
    before: FinalMargin | None = None,
) -> Ahead:
    """The bracket of a run at its last frame, under the weakest condition; `before` is the one that
    is known already, of which nothing but the reference margin may be another."""
    from core.observables.final_margin import DRAWN, final_margin, refusal, upper_end
    from core.reference.kept import Kept
    from core.runs import open_run

    with open_run(path) as run:
        if run.frames == 0 or refusal(run):
            return Ahead(key, run.frames)
        grows = run.status != "finished"
        if before is not None and before.frame == run.frames - 1 and not grows:
            always, name = upper_end(run, margins)
            return Ahead(key, run.frames, replace(before, above_always=always, always=name))
        watch = request.watch.within(GROWING_S if grows else SECONDS)
        found = final_margin(run, -1, margins, watch, (Kept.OWN,), DRAWN)
        return Ahead(key, run.frames, found)
