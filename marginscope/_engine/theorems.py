"""`marginscope.theorems`: what the papers' statements say of a run."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

from core.reference.watch import CancelledError, Watch
from core.runs import Run
from core.theorems.registry import assess_all
from core.theorems.statement import Assessment
from core.theorems.words import timing_words
from marginscope._engine.boundary import interruptible, public
from marginscope._engine.margins import LIMIT_S, Margins
from marginscope._errors import InputError
from marginscope._numbers import finite

MET = {True: "met", False: "NOT MET", None: "not decided"}
WIDTH = 96


@final
@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One condition of a statement; `met` is None where it cannot be decided."""

    text: str
    needed: str
    present: str
    met: bool | None


@final
@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """A statement of a paper judged on a run; `print` shows it whole.

    `verdict` is "holds", "violated", "not decided" or one of their variants; measured `sense`
    bound is what is compared, NaN where there is no number, with the `slack` that is left and the
    `ratio` of both. `times` are moments as log10 t, -inf for t = 0 and None where there is none:
    `told`, of the numbers; `holds_from` and `first_violated`. `when` says them in words. `slip` is
    what the printed text has wrong.
    """

    name: str
    source: str
    text: str
    verdict: str
    hypotheses: tuple[Hypothesis, ...]
    sense: str
    bound: float
    measured: float
    slack: float
    ratio: float
    times: Mapping[str, float | None]
    when: str
    why: str
    slip: str

    @property
    def holds(self) -> bool | None:
        """Whether the conclusion holds, whatever the hypotheses; None where not decided."""
        if self.verdict.startswith("holds"):
            return True
        return False if self.verdict.startswith("violated") else None

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values that JSON has; numbers that are not finite are None."""
        whole: dict[str, Any] = finite(asdict(self))
        return whole

    def __repr__(self) -> str:
        return f"<{self.source}, {self.name}: {self.verdict}>"

    def __str__(self) -> str:
        lines = [f"{self.source}, {self.name}: {self.verdict}", _line(self.text)]
        if self.when:
            lines.append(_line(self.when))
        if not math.isnan(self.bound):
            lines.append(_line(f"measured {self.measured:.6g} {self.sense} {self.bound:.6g}"))
        if self.why:
            lines.append(_line(self.why))
        lines += [
            _line(f"- {one.text}: {one.needed}; {one.present}: {MET[one.met]}")
            for one in self.hypotheses
        ]
        if self.slip:
            lines.append(_line(f"Note: {self.slip}"))
        return "\n".join(lines)


def _line(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 6)


@public
def theorems(
    run: Run,
    margins: Margins | Iterable[str] | None = None,
    *,
    delta: float = 0.05,
    limit: float = LIMIT_S,
) -> list[Verdict]:
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
    return [_verdict(one) for one in assessed]


def _verdict(one: Assessment) -> Verdict:
    known = one.as_json()
    known["hypotheses"] = tuple(Hypothesis(**each) for each in known["hypotheses"])
    known["times"] = asdict(one.timing)
    return Verdict(
        **known,
        sense=one.comparison.sense,
        when=timing_words(one),
        why=one.comparison.why,
        slip=one.statement.slip,
    )
