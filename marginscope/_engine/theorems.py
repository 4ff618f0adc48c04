"""`marginscope.theorems`: what the papers' statements say of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable

from core.errors import InputError
from core.reference.watch import CancelledError, Watch
from core.runs import Run
from core.theorems.registry import assess_all
from core.theorems.report import Hypothesis as Hypothesis
from core.theorems.report import Report, report
from marginscope._engine.boundary import interruptible, public
from marginscope._engine.margins import LIMIT_S, Margins


@public
def theorems(
    run: Run,
    margins: Margins | Iterable[str] | None = None,
    *,
    delta: float = 0.05,
    limit: float = LIMIT_S,
) -> list[Report]:
    """What the papers' statements say of a run: a Verdict for each that is about it.

    Many rest on reference margins. `margins` are those that may be used: the Margins of an earlier
    call, or names of some, such as ["gamma_gl"] (() for none, at once); without it all that are
    defined are computed, each in at most `limit` seconds. `delta` is the failure probability
    allowed to statements about random starts, between 0 and 1.

    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> verdicts = {one.name: one for one in ms.theorems(run, margins=())}
    >>> verdicts["Lemma A.2 (norms)"]
    <telgarsky22, Lemma A.2 (norms): holds>

    Raises InputError for a margin that is not defined.
    """
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta = {delta:g}; a failure probability lies between 0 and 1.")
    used = margins if isinstance(margins, Margins) else Margins(run.problem, margins, limit)
    known = {name: used.computed(name) for name in used}
    watch = Watch(math.inf)
    with interruptible(watch.cancel):
        try:
            assessed = assess_all(run, known, delta, watch)
        except CancelledError:
            raise KeyboardInterrupt from None
    return [report(one) for one in assessed]
