"""Alarms of a run: frames at which an event occurs that exact gradient flow forbids."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, final, get_args

import numpy as np

from core.observables.margins import atoms, flat_scores, log10_risk, scale
from core.observables.nodes import balance_drift
from core.observables.observable import cached_per_run
from core.observables.sharpness import has_stability, stability
from core.run_files.schema import NOT_FINITE
from core.runs import Run
from core.study_file.descent import GradientDescent
from core.study_file.dynamics import GradientFlow

# ------------------------------------------------------------------------- the edge of stability
#
# A step from W along -grad R lowers R by at least eta |grad R|^2 (1 - eta S'/2), where S' is the
# largest sharpness along the step. Hence R rises only if eta S'/2 > 1. At the edge of stability R
# rises in a fifth to a half of the intervals between frames, and falls on the whole (Cohen et al.,
# ICLR 2021). Unlike in a divergence, R remains about as low as before.

# Of eta S/2. Before rises of R it was .90 or more at one of two frames, .98 at one of four.
NEAR = 0.8
BACK = 2  # frames before a rise that are searched
LASTS = 8  # frames for which a measurement counts
DIVERGED = 1.0  # decades of R above its start; a run that recovered reached 1.6 times its start
LEAST = -12.0  # log10 of R below which rounding changes it
ROUNDING = {"float64": 1e-6, "float32": 1e-3}  # of log10 R

CALM = (
    "The run is at the edge of stability: eta S/2 = {0:.3g}, where S is the sharpness. The risk "
    "rises and falls from step to step but decreases overall, as usual for a step this long; "
    "nothing is wrong (Cohen et al., ICLR 2021)."
)
ROSE = (
    "The risk rose from {0:.3g} to {1:.3g}, which the sharpness nearby does not explain: eta S/2 "
    "is at most {2:.3g}, and descent lowers the risk where it is below 1."
)
DIVERGES = (
    "The risk is {0:.3g}, more than ten times its initial value: descent with this step "
    "diverges. Choose a smaller step size."
)
ENDED = "The run diverged after this frame: its step size is too large. Choose a smaller one."


def has_risen(run: Run, before: float, now: float) -> bool:
    """Return True if the risk rose between two frames by more than rounding.

    Parameters
    ----------
    run : Run
        Open run; its precision sets the rounding.
    before, now : float
        log10 of the risk at the two frames.

    Returns
    -------
    bool
        Always False once the risk is below `LEAST`.
    """
    return now > LEAST and now - before > ROUNDING[run.precision]


def has_diverged(run: Run, now: float) -> bool:
    """Return True if the risk exceeds ten times that of the start; `now` is log10 of the risk."""
    return now - log10_risk(run, 0) > DIVERGED


def stability_near(run: Run, index: int) -> float:
    """Return eta S/2 at the latest of a frame and the two before where it is at least .8.

    The largest of the three if none is. NaN where `has_stability` is False.
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


# ---------------------------------------------------------------------------------------- alarms

Kind = Literal["margin", "balance", "resolution", "risk", "edge", "not_finite"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FLOW_DRIFT = 1e-3  # flow drifts by at most 2.8e-5 on Figure 1
DESCENT_DRIFT = 5e-2  # O(eta): on Figure 1 (m = 16) 2.5e-4 at eta = .25, 1.0e-2 at 1/lambda_0
# Runs of Figure 1 keep 20 or more (docs/theory.md, 9).
FEWEST_ATOMS = 2
FEW_EXAMPLES = 10
WEIGHTS = ("V", "a", "A", "b", "c")  # arrays of recorded networks
LOST = "States after this frame were not finite and are left out: {count}, first {first}."
MARGIN_TEXT = "The smoothed margin fell by {0:.2e}"
BIG_STEPS = (
    " Gradient descent may do this: with a step this large it departs from gradient flow, along "
    "which the smoothed margin never falls."
)


@final
@dataclass(frozen=True, slots=True)
class Alarm:
    """Alarm of one frame, described by a sentence.

    `step` counts steps. `h` is the integrator's step at the frame: in s for the flow
    (ds = (Q/n) dt), eta for descent, NaN if unknown.
    """

    frame: int
    kind: Kind
    text: str
    step: int
    log10_time: float
    h: float

    @property
    def calm(self) -> bool:
        """True if the alarm is information and no fault."""
        return self.kind == "edge"


@final
@dataclass(slots=True)
class _Scan:
    """Progress of the search for alarms; `raised` are the kinds that hold at the last frame."""

    alarms: list[Alarm] = field(default_factory=list)
    next: int = 0
    margin: float = float("nan")
    risk: float = float("nan")  # log10 of the risk
    at_edge: int = -LASTS  # last frame at which descent was at the edge of stability
    raised: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


def find_alarms(run: Run, poll: Callable[[], None] | None = None) -> tuple[Alarm, ...]:
    """Return all alarms up to the last committed frame; each call examines the new frames only.

    margin: l^-1(sum_i l(p_i))/|W_h|^L fell from one frame to the next by more than 1e-9 + .01/E, E
    the temperature of its dual weights (relative 1e-6 for float32 frames), once it is positive
    (R < l(0)/n: telgarsky22, Lemma A.4). balance: the drift of layer balance exceeds 1e-3 for flow
    and 5e-2 for descent. resolution: fewer than 2 weights q_i above 1e-3 on more than 10 examples.
    risk: that of descent is ten times that of the start, or rose while eta S/2 is below .8 at the
    frame and the two before, S the sharpness. edge: descent is at the edge of stability, where
    neither a rise of the risk nor a fall of the margin is an alarm: raised once, and calm. These
    need gradient flow or full-batch descent without penalty; a lasting condition raises one alarm.
    not_finite: states that the recorder of another program's loop left out.

    `poll` is called after each frame. It may wait, or cancel by raising an exception.
    """
    lost_states = _lost_states(run) if run.is_external else ()
    if not is_monitored(run):
        return lost_states
    scan = _scan_of(run)
    with scan.lock:
        while scan.next < run.frames:
            _scan_frame(run, scan, scan.next)
            scan.next += 1
            if poll is not None:
                poll()
        _scan_end(run, scan)
        return tuple(sorted((*scan.alarms, *lost_states), key=lambda alarm: alarm.frame))


def _lost_states(run: Run) -> tuple[Alarm, ...]:
    """Return one alarm for each frame after which states were not finite."""
    lost_by_frame: dict[int, list[str]] = {}
    for frame, kind, payload in run.events():
        t, name = payload.get("t"), payload.get("array")
        # The file may be untrusted: its texts are not displayed.
        if kind == NOT_FINITE and frame < run.frames and isinstance(t, float) and name in WEIGHTS:
            lost_by_frame.setdefault(frame, []).append(f"{name} at t = {t:g}")
    return tuple(
        Alarm(
            frame,
            NOT_FINITE,
            LOST.format(count=len(names), first=names[0]),
            int(run.steps[frame]),
            float(run.log10_time[frame]),
            float("nan"),
        )
        for frame, names in sorted(lost_by_frame.items())
    )


def is_monitored(run: Run) -> bool:
    """Return True for gradient flow and full-batch descent, both without a penalty."""
    plain = not run.experiment.loss.is_penalised
    return plain and isinstance(run.experiment.dynamics, GradientDescent | GradientFlow)


@cached_per_run
def _scan_of(run: Run) -> _Scan:
    return _Scan()


def _scan_frame(run: Run, scan: _Scan, index: int) -> None:
    texts = {
        "margin": _margin(run, scan, index),
        "balance": _balance(run, index),
        "resolution": _resolution(run, index),
    }
    if isinstance(run.experiment.dynamics, GradientDescent):
        texts |= _descent_alarms(run, scan, index, texts["margin"])
    for kind in KINDS:
        text = texts.get(kind, "")
        if text and kind not in scan.raised:
            _add_alarm(run, scan, index, kind, text)
    scan.raised = {kind for kind, text in texts.items() if text}


def _add_alarm(run: Run, scan: _Scan, index: int, kind: Kind, text: str) -> None:
    h = _step_size(run, index)
    sentence = f"{text} Step size there: {h:.3g}." if np.isfinite(h) else text
    time, step = float(run.log10_time[index]), int(run.steps[index])
    scan.alarms.append(Alarm(index, kind, sentence, step, time, h))


def _descent_alarms(run: Run, scan: _Scan, index: int, margin: str) -> dict[str, str]:
    """Return the alarms of descent by kind: its risk, its margin and the edge of stability."""
    before, now = scan.risk, log10_risk(run, index)
    scan.risk = now
    if has_diverged(run, now):
        return {"risk": DIVERGES.format(10.0 ** min(now, 300.0))}
    rises = has_risen(run, before, now)
    if not (rises or margin):
        return {}
    if index - scan.at_edge <= LASTS:  # S is expensive, and computed at few frames
        return {"margin": ""}
    q = stability_near(run, index)
    if q >= NEAR:
        scan.at_edge = index
        has_calm = any(alarm.calm for alarm in scan.alarms)
        return {"margin": "", "edge": "" if has_calm else CALM.format(q)}
    if rises and np.isfinite(q):
        return {"risk": ROSE.format(10.0**before, 10.0**now, q)}
    return {}


def _scan_end(run: Run, scan: _Scan) -> None:
    """Raise an alarm for a run that diverged between two frames."""
    has_risk = any(alarm.kind == "risk" for alarm in scan.alarms)
    if run.reason == "diverged" and run.frames and not has_risk:
        _add_alarm(run, scan, run.frames - 1, "risk", ENDED)


def _step_size(run: Run, index: int) -> float:
    dynamics = run.experiment.dynamics
    if isinstance(dynamics, GradientDescent):
        return float("nan") if dynamics.step is None else dynamics.step
    if run.is_external:  # computed by the loop itself
        return float("nan")
    return run.diagnostics(index).get("h", float("nan"))


def monotone_margin(run: Run, index: int) -> float:
    """Return l^-1(sum_i l(p_i))/|W_h|^L, which flow never lowers.

    The same holds for batch norm. NaN without a degree L, for losses that do not tend to 0, and
    where |W_h| = 0.
    """
    if not (run.loss.monotone and run.network.homogeneous):
        return float("nan")
    factor = scale(run, index)
    size = factor * run.network.norm(run.parameters(index)) ** run.network.degree
    with np.errstate(invalid="ignore"):
        smoothed = run.loss.smoothed_margin(factor * flat_scores(run, index))
    return smoothed / size if size > 0.0 and np.isfinite(size) else float("nan")


def tolerance(run: Run, index: int, margin: float) -> float:
    """Return the fall of `monotone_margin` that is no alarm: 1e-9 + .01/E, plus float32 rounding.

    E = |W_h|^L is the temperature of the dual weights, at most the run's `temperature_cap`.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    margin : float
        `monotone_margin`; 1e-6 of it is added for float32 frames.

    Returns
    -------
    float
    """
    size = scale(run, index) * run.network.norm(run.parameters(index)) ** run.network.degree
    E = size if run.temperature_cap is None else min(size, run.temperature_cap)
    rounding = 1e-6 * abs(margin) if run.precision == "float32" else 0.0
    # The loss that the flow tolerates in its own steps (decision 0003).
    return 1e-9 + 0.01 / E + rounding


def _margin(run: Run, scan: _Scan, index: int) -> str:
    """Return the warning of a fall of a positive margin since the last frame; "" without one."""
    before, now = scan.margin, monotone_margin(run, index)
    scan.margin = now
    fall = before - now
    # NaN if all weights are 0, for which no tolerance exists.
    if not (before > 0.0 and fall > 0.0 and fall > tolerance(run, index, before)):
        return ""
    descent = isinstance(run.experiment.dynamics, GradientDescent)
    text = MARGIN_TEXT.format(fall) + f", from {before:.6g} to {now:.6g}."
    return text + BIG_STEPS if descent else text + " Along gradient flow it never does."


def drift_tolerance(run: Run) -> float:
    """Return the allowed drift of layer balance, relative to |W_h|^2; exact flow has none."""
    return FLOW_DRIFT if run.experiment.dynamics.log_time else DESCENT_DRIFT


def _balance(run: Run, index: int) -> str:
    """Return the warning of a drift of layer balance above its tolerance; "" without one."""
    drift, tolerance = balance_drift(run, index), drift_tolerance(run)
    if not drift > tolerance:
        return ""
    return (
        f"The balance of the layers drifted by {drift:.2e} of |W|^2, more than {tolerance:g}; "
        "gradient "
        "flow conserves it."
    )


def _resolution(run: Run, index: int) -> str:
    """Return the warning of too few large dual weights; "" if the frame has enough."""
    if not run.loss.monotone or run.dataset.n <= FEW_EXAMPLES:
        return ""
    count = int(atoms(run, index))
    if count >= FEWEST_ATOMS:
        return ""
    return f"Only {count} dual weights are above 0.001: the integrator may have lost resolution."
