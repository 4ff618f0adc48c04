"""Schedule of recorded frames, fixed before a run starts: marks and log-spaced times.

Frames are equally spaced in x = log10 t, except for runs beyond log10 t = 10: those are spaced in
u(x) = x for x <= 1 and 1 + ln x above, so that both t = 10 and log10 t = 10^4 stay visible.
"""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from core.numbers import RAISED
from core.run_files.frame import PLAIN_HORIZON as PLAIN_HORIZON
from core.run_files.frame import coordinate as coordinate
from core.run_files.frame import inverse_coordinate as inverse_coordinate
from core.run_files.frame import log10_schedule as log10_schedule

Array = NDArray[np.float64]
# ASCII digits only: float() accepts those of any script, and underscores.
NUMBER = r"[+\-\u2212]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
LOWERED = {high: low for low, high in RAISED.items()}
RAISED_POWER = re.compile(r"(?<=10)[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b]+")
SCIENTIFIC = re.compile(
    rf"^(?:t\s*=\s*)?({NUMBER})\s*[\u00d7x*]?\s*10\s*\^\s*([+-]?\d+)$", re.IGNORECASE
)
POWER = re.compile(rf"^(?:t\s*=\s*)?10\s*\^\s*\(?({NUMBER})\)?$", re.IGNORECASE)
LOGARITHM = re.compile(rf"^(?:log10\s*t\s*=\s*)({NUMBER})$", re.IGNORECASE)
PLAIN = re.compile(rf"^(?:t\s*=\s*)?({NUMBER})$", re.IGNORECASE)


def further_horizon(until: float) -> float:
    """Return a continuation's horizon (log10 t): a decade later, or twice as far on far runs."""
    return until + 1.0 if until <= PLAIN_HORIZON else 2.0 * until


def extend_horizon(until: float, log10_time: float) -> float:
    """Return the end (log10 t) of a run that continues from a time: `until`, or a later horizon.

    A run that has reached `until`, up to rounding, gets the first further horizon after its time.

    >>> extend_horizon(3.0, 2.5), extend_horizon(-1.0, -1.0), extend_horizon(-1.0, 1.6)
    (3.0, 0.0, 2.0)
    """
    # 1e-12: the last step's time is step times count, and may be short by a rounding.
    while until <= log10_time or math.isclose(until, log10_time, rel_tol=1e-12, abs_tol=1e-12):
        until = further_horizon(until)
    return until


def first_log10_time(lambda_0: float) -> float:
    """Return log10 t of the first frame after t = 0: the decade below a tenth of 1/lambda_0.

    Between -8 and 3; -1 for a rate `lambda_0` that is no finite number above 0.
    """
    if not np.isfinite(lambda_0) or lambda_0 <= 0.0:
        return -1.0
    # 1e-9: rounding may put log10 of a power of ten just below its integer.
    return float(np.clip(np.floor(np.log10(0.1 / lambda_0) + 1e-9), -8.0, 3.0))


def even_schedule(last: float, frames: int, marks: tuple[float, ...], before: float = 0.0) -> Array:
    """Return the times of frames that are evenly spaced in t, and of the marks.

    Parameters
    ----------
    last : float
        log10 t of the last frame.
    frames : int
        Largest number of frames, with that at t = 0.
    marks : tuple of float
        log10 t of further frames; those after `last` are left out.
    before : float
        If above 0, each frame but the marks is preceded by one at the time this much earlier,
        where that time is positive and `frames` leaves room.

    Returns
    -------
    array (T,)
        log10 t, increasing, T <= frames - 1 unless the marks are more.

    Examples
    --------
    >>> (10.0 ** even_schedule(1.0, 5, ())).round(9).tolist()
    [2.5, 5.0, 7.5, 10.0]
    >>> (10.0 ** even_schedule(1.0, 5, (), before=0.5)).round(9).tolist()
    [4.5, 5.0, 9.5, 10.0]
    """
    required = {float(mark) for mark in marks if mark <= last} | {float(last)}
    # `required` includes the last time, which is also one of the evenly spaced ones.
    room = frames - len(required)
    before = before if room > 1 else 0.0
    count = room // 2 if before else room
    times = 10.0**last * np.arange(1, count + 1) / count
    spaced = times[:-1]
    if before:
        earlier = times - before
        spaced = np.concatenate([spaced, earlier[earlier > 0.0]])
    return np.array(sorted(required | {float(x) for x in np.log10(spaced)}), dtype=np.float64)


def descent_schedule(log10_times: Array, step_size: float) -> NDArray[np.int64]:
    """Return the first step that reaches each time, without repeats.

    Parameters
    ----------
    log10_times : array (T,)
        log10 t.
    step_size : float
        Time of one step, above 0.

    Returns
    -------
    array of int
        Steps with step_size * step >= 10^x (1 - 1e-9), increasing, at least 1.

    Examples
    --------
    >>> descent_schedule(np.array([0.0, 0.1, 1.0]), 0.25).tolist()
    [4, 6, 40]
    """
    # 1e-9 is a rounding margin: a product of 1 - 1e-16 has reached t = 1.
    steps = np.ceil(10.0**log10_times * (1.0 - 1e-9) / step_size)
    return np.unique(np.maximum(steps, 1.0).astype(np.int64))


def parse_time(text: str) -> float | None:
    r"""Return log10 t of a typed time, or None if the text is no time.

    >>> parse_time("10^2.5"), parse_time("t = 100"), parse_time("log10 t = 3"), parse_time("0")
    (2.5, 2.0, 3.0, -inf)
    >>> parse_time("soon"), parse_time("10^1e999")
    (None, None)
    >>> parse_time("t = 2 \u00d7 10\u207b\u00b9") == math.log10(0.2)
    True
    """
    text = text.strip().replace("\u2212", "-")  # the field writes U+2212 as its minus sign
    text = RAISED_POWER.sub(lambda power: "^" + power[0].translate(LOWERED), text)
    if (match := SCIENTIFIC.match(text)) and float(match[1]) > 0.0 and len(match[2]) < 10:
        return math.log10(float(match[1])) + int(match[2])
    for pattern in (POWER, LOGARITHM):
        if match := pattern.match(text):
            log10_time = float(match[1])
            return log10_time if math.isfinite(log10_time) else None
    if (match := PLAIN.match(text)) and (time := float(match[1])) >= 0.0:
        return math.log10(time) if 0.0 < time < math.inf else -math.inf if time == 0.0 else None
    return None
