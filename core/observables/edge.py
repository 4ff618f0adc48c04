"""The edge of stability: where descent's steps are as long as the sharpness allows, 2/eta = S.

A step from W along -grad R lowers R by at least eta |grad R|^2 (1 - eta S'/2), S' being the largest
sharpness on its way. So R rises only where eta S'/2 > 1; where descent is at the edge it does so in
a fifth to a half of the intervals between frames, and falls on the whole (Cohen et al., ICLR 2021).
What tells this from a divergence is that R stays about as low as it was.
"""

from __future__ import annotations

from core.observables.margins import log10_risk
from core.observables.sharpness import has_stability, stability
from core.runs import Run

# Of eta S/2. Around rises of R it was .90 and more at one of two frames, .98 at one of four.
NEAR = 0.8
BACK = 2  # frames before a rise at which it is looked for
LASTS = 8  # frames for which it holds once it was measured
DIVERGED = 1.0  # decades of R above its start: 1.6 times was met in a run that came back
LEAST = -12.0  # log10 of R below which rounding moves it
ROUNDING = {"float64": 1e-6, "float32": 1e-3}  # of log10 R

CALM = (
    "The run is at the edge of stability: eta S/2 = {0:.3g}, S being the sharpness. The risk rises "
    "and falls from step to step and comes down all the same, as descent does with a step this "
    "long; nothing is wrong (Cohen et al., ICLR 2021)."
)
ROSE = (
    "The risk rose from {0:.3g} to {1:.3g}, and no sharpness near it explains that: eta S/2 is "
    "{2:.3g} at most, and descent lowers the risk where it is below 1."
)
DIVERGES = (
    "The risk is {0:.3g}, more than ten times that of the start: descent with this step diverges. "
    "Choose a smaller one."
)
ENDED = "The run diverged after this frame: its step is too long. Choose a smaller one."


def rose(run: Run, before: float, now: float) -> bool:
    """Whether the risk rose between two frames, given log10 of it, by more than rounding."""
    return now > LEAST and now - before > ROUNDING[run.precision]


def diverged(run: Run, now: float) -> bool:
    """Whether the risk is more than ten times that of the start, given log10 of it."""
    return now - log10_risk(run, 0) > DIVERGED


def stability_near(run: Run, index: int) -> float:
    """eta S/2 at a frame or one of the two before, the first that is at least .8; else the largest.

    NaN for dynamics without eta, and networks without a sharpness.
    """
    largest = float("nan")
    if not has_stability(run):
        return largest
    for frame in range(index, max(index - BACK, 0) - 1, -1):
        value = stability(run, frame)
        if value >= NEAR:
            return value
        largest = value if not largest >= value else largest
    return largest
