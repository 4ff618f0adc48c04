"""What is known of the theory of one run, and when its margin came to what is promised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from app.state.session import OpenRun
from app.widgets.screen_text import raised
from app.widgets.symbols import greek
from app.workers.judge import Judgement
from core.figures.numbers import time_text

if TYPE_CHECKING:
    from core.reference.margin import Reference, ReferenceMargin
    from core.reference.share import Promise


@final
@dataclass(slots=True)
class Knowledge:
    """What is known of one run; `judged` says by how many frames and margins it was judged."""

    references: tuple[Reference, ...] = ()
    planned: bool = False
    margins: dict[str, ReferenceMargin] = field(default_factory=dict)
    judgement: Judgement | None = None
    judged: tuple[int, int, float] = (0, 0, 0.0)

    @property
    def in_order(self) -> tuple[ReferenceMargin, ...]:
        """The margins that are there, in the order of the references."""
        return tuple(self.margins[one.name] for one in self.references if one.name in self.margins)

    @property
    def promise(self) -> Promise:
        """What the run's margins are shares of."""
        from core.reference.share import Promise, promise  # loads the numerical libraries

        if not self.planned:
            return Promise(None, (greek("gamma_gl"),))
        return promise(self.references, self.margins)

    def reach_of(self, run: OpenRun) -> tuple[str, str]:
        """Of what 90 % are reached and when, as the view of margins marks it; why that is not
        known; nothing where no margin is promised."""
        data = run.data
        if data is None or run.stands_in:
            return "", ""
        from core.reference.share import reach_of

        promise = self.promise
        if promise.margin is None:
            waits = greek(", ".join(promise.waits))
            return ("time to 90 %", f"waits for {waits}") if waits else ("", "")
        reach = reach_of(data.margins[:, 0], data.log10_time, promise)
        label = f"90 % of {greek(promise.label)}"
        if reach is not None:
            return label, raised(f"at {time_text(reach.log10_time)}")
        return label, "not reached" if data.complete else "not reached yet"
