"""Theory results of one run: margins, verdicts, its final margin and the time to 90 %."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from app.state.session import OpenRun
from app.theory.judge import Judgement
from app.widgets.screen_text import greek, rich, shown_number
from core.numbers import raise_powers, time_text

if TYPE_CHECKING:
    from core.observables.final_margin import FinalMargin
    from core.reference.margin import Reference, ReferenceMargin
    from core.reference.share import Promise

# As core.observables.final_margin.KEY, whose import loads the numerical libraries.
FINAL = "final margin"
SHOWN = 6  # examples, groups of neurons, and neurons of a group named at most


@final
@dataclass(slots=True)
class TheoryResults:
    """Results of one run, in which None or empty means not known yet.

    `references` are the margins that will be computed, listed once `planned` is true, and `margins`
    the computed ones by name, those without a number too. `final`: bracket of the final margin.
    `mark`: numbers of frames and of margins, and delta, of the last judgement requested.
    """

    references: tuple[Reference, ...] = ()
    planned: bool = False
    margins: dict[str, ReferenceMargin] = field(default_factory=dict)
    judgement: Judgement | None = None
    mark: tuple[int, int, float] = (0, 0, 0.0)
    final: FinalMargin | None = None

    @property
    def margins_in_order(self) -> tuple[ReferenceMargin, ...]:
        """Computed margins in the order of the references."""
        return tuple(self.margins[one.name] for one in self.references if one.name in self.margins)

    @property
    def proved_margins(self) -> dict[str, ReferenceMargin]:
        """Computed margins among gamma_gl and gamma_l1, by name: upper bounds for every network.

        Margins without a number and margins without a certificate are included.
        """
        from core.observables.final_margin import PROVED

        return {name: one for name, one in self.margins.items() if name in PROVED}

    def view_of_bound(self, key: str) -> str:
        """Return the view of a statement's bound: "margins", or the name of an observable.

        Return "" for a statement without a view, an unknown statement and the final margin.
        """
        assessments = self.judgement.assessments if self.judgement else ()
        views = (one.comparison.view for one in assessments if one.statement.key == key)
        return next(filter(None, views), "")

    def final_margin_traces(self) -> tuple[tuple[str, Any], ...]:
        """Return the upper and the lower end of the final margin's bracket as traces.

        Each trace is a name, "" for the lower end, and a constant (T,) at the frames up to the
        bracket's frame. Values are NaN before the last tenth of these frames, or before the
        condition's first frame if that is earlier. Infinite and unknown ends are left out. Without
        a bracket no trace is returned.
        """
        from core.observables.final_margin import traces

        return () if self.final is None else traces(self.final)

    def shown_bound_traces(self, names: Container[str]) -> Iterator[tuple[str, str, str, Any, str]]:
        """Yield key, name, view, values at the frames (T,) and tool tip (HTML) of shown bounds.

        Only keys in `names` are shown, FINAL for the final margin. Statements come first, in the
        order judged and without those that have no trace or view. Then come the ends of the final
        margin: the upper one, and the lower one, whose name is "". Values are NaN where a bound
        says nothing.
        """
        for one in self.judgement.assessments if self.judgement else ():
            trace, view = one.comparison.bound_trace, one.comparison.view
            key, statement = one.statement.key, one.statement
            if trace is not None and key in names and view:
                tip = f"<p>{rich(statement.text)}</p><p>{rich(statement.source)}</p>"
                yield key, statement.name, view, trace, tip
        for name, trace in self.final_margin_traces() if FINAL in names else ():
            yield FINAL, name, "margins", trace, self.final_margin_words()[2]

    def final_margin_words(self, run: OpenRun | None = None) -> tuple[str, str, str]:
        """Return the final margin's bracket, its condition, and a tool tip (HTML).

        The bracket has only its upper end if nothing is guaranteed below. The condition says since
        when it has held, in steps if `run` counts steps; "unconditionally" if the bracket needs
        none. All are "" if the margin is unknown.
        """
        margin = self.final
        if margin is None:
            return "", "", ""
        low, high = (shown_number(value) for value in (margin.below, margin.upper_end))
        ends = f"\u2264 {high}" if margin.why else f"{low} to {high}"
        bound = margin.weakest_bound
        since = raise_powers(time_text(bound.since, run is not None and run.counts_steps))
        began = "true from the start" if bound.frame == 0 else f"true since {since}"
        if bound.frame == margin.frame > 0:
            began = "true at the last frame only"
        lasting = f"as long as {margin.condition} ({began})"
        condition = lasting if margin.condition else "unconditionally"
        return ends, condition, _final_margin_tip(margin)

    @property
    def promise(self) -> Promise:
        """Promised margin, to which the run's shares refer.

        The Promise has no `margin` while the margin is not computed, with its name in `waits`. It
        has neither if no comparable reference margin applies.
        """
        from core.reference.share import Promise, make_promise  # loads the numerical libraries

        if not self.planned:
            return Promise(None, (greek("gamma_gl"),))
        return make_promise(self.references, self.margins)

    def describe_reach(self, run: OpenRun) -> tuple[str, str]:
        """Return a label, and the time at which the hard margin first reached 90 % of the promise.

        In place of an unknown time the text is "waiting for ..." (the promised margin), "not
        reached", or "not reached yet" until all frames of a finished run are read. Both are ""
        without a promise, and for a run that is not loaded or replaced by a recording.
        """
        data = run.data
        if data is None or run.stands_in:
            return "", ""
        from core.reference.share import find_promise_reach

        promise = self.promise
        if promise.margin is None:
            waits = greek(", ".join(promise.waits))
            return ("time to 90 %", f"waiting for {waits}") if waits else ("", "")
        reach = find_promise_reach(data.margins[:, 0], data.log10_time, promise)
        label = f"90 % of {greek(promise.label)}"
        if reach is not None:
            return label, raise_powers(f"at {time_text(reach.log10_time, data.run.counts_steps)}")
        return label, "not reached" if data.complete else "not reached yet"


def _final_margin_tip(margin: FinalMargin) -> str:
    """Explain both ends of the bracket as HTML paragraphs.

    The examples and neurons that determine the upper end are named, at most SHOWN of each, with
    their weights and shares.
    """
    below = (
        f"none, because {margin.why}"
        if margin.why
        else "the smoothed margin, which never decreases"
    )
    lines = [f"Lower bound: {below}."]
    if margin.above_always == margin.above_always:
        lines.append(
            f"Upper bound at all times: {shown_number(margin.above_always)}, {margin.always}."
        )
    bound = margin.weakest_bound
    lines.append(f"Upper bound while {bound.condition}: {shown_number(bound.above)}.")
    examples = ", ".join(f"{i} ({shown_number(q, 2)})" for i, q in bound.examples[:SHOWN])
    nodes = "; ".join(
        f"{', '.join(map(str, one.nodes[:SHOWN]))} ({shown_number(one.weight, 2)})"
        for one in bound.nodes[:SHOWN]
    )
    lines.append(f"Examples that determine this bound, with weights q: {examples or 'none'}.")
    lines.append(f"Neurons that determine this bound, with shares: {nodes or 'none'}.")
    return "".join(f"<p>{rich(line)}</p>" for line in lines)
