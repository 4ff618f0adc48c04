"""The tour: what there is to see and to do, step by step on Figure 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

STUDY = "telgarsky22-figure-1"


@final
@dataclass(frozen=True, slots=True)
class Step:
    """`place` is what is pointed at: the name of a view of the run at the left, or a part of the
    window; `log10_time` the moment that is gone to, None for none; `plays` from there. In `text`
    {key} is the shortcut of an action of the table, as it is at present.
    """

    title: str
    text: str
    place: str
    log10_time: float | None = None
    plays: bool = False
    pins: int = 0  # so many of the largest nodes of the run at the left are pinned


STEPS = (
    Step(
        "Two networks learn",
        "Figure 1 of Telgarsky 2022: two-layer networks with 16 and with 256 nodes learn the "
        "parity of two bits among 20. Each dot is a node, drawn at |a| v: blue ones vote for +1, "
        "orange ones for -1. The crosses are the data.",
        "neurons",
        -2.0,
        plays=True,
    ),
    Step(
        "Time is a line to move on",
        "All of the training is recorded. Drag the handle, play and hold{play}, or step frame by "
        "frame. Time is logarithmic, since that is how margins grow. The range of a plot follows "
        "its nodes, so that the early phase is seen as well.",
        "slider",
        0.0,
    ),
    Step(
        "Features are selected by turning",
        "Each node's rotation is the cosine between its direction now and at the start, sorted "
        "from the one that turned most. With 256 nodes hardly any of them turns: the good "
        "directions were there from the start, and their norms grow.",
        "rotations",
        2.0,
    ),
    Step(
        "Margins against what theory promises",
        "The normalised margin grows towards the best that any network has. The dashed line is "
        "computed from the data, not from the run. Click into the plot to go to a moment.",
        "margins",
        4.0,
    ),
    Step(
        "Nothing is taken on trust",
        "Reference margins come with a bracket that is proved, and each statement of the paper is"
        " judged on this very run: are its hypotheses met, and does its conclusion hold? A "
        "statement opens to show what was compared.",
        "theory",
    ),
    Step(
        "Ask a node",
        "The two largest nodes are pinned now: they are marked in every view, and Numbers has "
        "their values. Click a node to pin it, draw a box around several, and let go of "
        "them{unpin}.",
        "neurons",
        pins=2,
    ),
    Step(
        "Change anything, and train",
        "The form has every setting of the study; what you change is checked as you type. "
        "Run{run} trains it, and the title says what was changed.",
        "form",
    ),
    Step(
        "What if, from here",
        "A branch{branch} begins at exactly the moment that is shown, with another step, loss or "
        "end, and plays beside its parent. Nothing is lost: changes can be undone{undo}, and "
        "every run stays in the library{library}.",
        "transport",
    ),
    Step(
        "A whole study, and its claims",
        "Whole study{whole} trains every cell of the paper's figure, on all processors or a "
        "cluster, draws it, and says which of the paper's claims hold.",
        "tools",
    ),
    Step(
        "Take it away",
        "Figures{figure}, films{film} and data{data} are drawn from the same numbers. A "
        "link{copy_link} brings this very picture back. Whatever you look for, the command "
        "palette{palette} finds it, and every plot explains itself{what}.",
        "tools",
    ),
)
