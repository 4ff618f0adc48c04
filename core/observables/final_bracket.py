"""What is said of where a run's margin is going (core.observables.final_margin finds it)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.reference.kept import Kept

Array = NDArray[np.float64]
CLOSED = 0.01  # of the upper end: what is narrower is said to be closed
NAN = float("nan")
# The references that no network of the kind exceeds, after multiplication by their factor.
PROVED = ("gamma_gl", "gamma_l1")
KEY = "final margin"  # of its lines among the bounds that can be shown
CONDITIONS = {
    Kept.OWN: "no node changes its sign, or gains or loses an example of its own label",
    Kept.CELLS: "no node changes its sign, or gains or loses an example",
    Kept.GATES: "no node gains or loses an example",
}


@final
@dataclass(frozen=True, slots=True)
class Carrier:
    """Nodes of one sign and one pattern, and the share of them in the best network, of sum 1."""

    nodes: tuple[int, ...]
    sign: int
    weight: float


@final
@dataclass(frozen=True, slots=True)
class While:
    """What the final margin is at most while a condition holds.

    No frame from `since` (log10 t) to the last one breaks it, and the frame before `frame` does;
    frame 0 where none does. `reached` is the margin of a network that keeps to the condition, so
    that the program's optimum is between `reached` and `above`. `examples` are those with more than
    .001 of the certificate's weight q, (number, q), and `nodes` the best network's, the largest
    first.
    """

    kept: Kept
    above: float
    reached: float
    frame: int
    since: float
    examples: tuple[tuple[int, float], ...]
    nodes: tuple[Carrier, ...]

    @property
    def condition(self) -> str:
        """In words, to be read after "while"."""
        return CONDITIONS[self.kept]


@final
@dataclass(frozen=True, slots=True)
class FinalMargin:
    """below <= the final margin <= above, for as long as the condition of `above_while` holds.

    `hard` is the margin at the frame. `below` is NaN where nothing is guaranteed, and `why` says
    why; `above_always` is NaN where no such bound is proved, and `always` its name.
    """

    frame: int
    log10_time: float
    hard: float
    below: float
    why: str
    above_always: float
    always: str
    above_while: tuple[While, ...]

    @property
    def held(self) -> While:
        """The weakest condition."""
        return self.above_while[0]

    @property
    def above(self) -> float:
        """The upper end under the weakest condition."""
        return float(np.fmin(self.above_always, self.held.above))

    @property
    def condition(self) -> str:
        """What `above` needs; "" where it holds always."""
        return self.held.condition if self.held.above <= self.above else ""

    @property
    def gap(self) -> float:
        """(above - below)/above; NaN without a lower end."""
        return (self.above - self.below) / self.above if self.above > 0.0 else NAN

    @property
    def closed(self) -> bool:
        """Whether the ends are within a hundredth of each other."""
        return bool(self.gap <= CLOSED)

    def as_json(self) -> dict[str, Any]:
        """The fields of `python -m core limit --json`; NaN where there is no number."""
        return {
            "frame": self.frame,
            "log10_time": self.log10_time,
            "hard_margin": self.hard,
            "below": self.below,
            "above": self.above,
            "condition": self.condition,
            "closed": self.closed,
            "why_no_below": self.why,
            "above_always": self.above_always,
            "always": self.always,
            "above_while": [
                {
                    "condition": one.condition,
                    "above": one.above,
                    "reached": one.reached,
                    "since_frame": one.frame,
                    "since_log10_time": one.since,
                    "examples": [{"example": i, "q": q} for i, q in one.examples],
                    "nodes": [
                        {"nodes": list(part.nodes), "sign": part.sign, "weight": part.weight}
                        for part in one.nodes
                    ],
                }
                for one in self.above_while
            ],
        }


def traces(found: FinalMargin) -> tuple[tuple[str, Array], ...]:
    """The ends as lines among the margins: names, and values (T,) that are known from `since` on,
    and at the last tenth of the frames, up to the bracket's own. Only the upper one is named: late
    in a run they lie close together, and plots are narrow.
    """
    first = min(found.held.frame, (9 * found.frame) // 10)
    words = f"final <= {found.above:.3g}".replace(" 0.", " .")
    lines = []
    for name, value in ((words, found.above), ("", found.below)):
        if math.isfinite(value):
            trace = np.full(found.frame + 1, value)
            trace[:first] = NAN
            lines.append((name, trace))
    return tuple(lines)
