"""Estimate of the duration of a run, from its progress in the first seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import final

from core.data.section import unscaled_note
from core.problem.problem import Problem
from core.study_file.amounts import duration_text

# Seconds of training of the first look, and how many there are, each twice as late as the one
# before; three are needed. Kernels are loaded in half a second before.
FIRST_LOOK, MOST_LOOKS = 0.375, 12
LONG = 3600.0  # seconds: less is not worth a sentence
LONGEST = 1e12
EARLY = 3.0  # log10 t
ACCELERATES = 1.15
LOWER = "choose an earlier dynamics.until_log10_time, or a smaller network.m or data.n"
YEAR = 365.25 * 86400.0


@final
class PaceWatch:
    """Says once, within 2 s where nothing else takes the cores, that a run will take hours.

    Equal steps advance t at a constant rate. A flow in log time first advances t in proportion to
    the time spent, and log t once the data are fitted: what log t gains from one doubling of the
    time to the next tells which, and is continued (geometrically, never slower than t). Only the
    way to t = 10^3 is foreseen: of shipped studies wei19-figure-1 is slow at t = 10 and not later.

    Parameters
    ----------
    log10_end : float
        log10 t where the run ends.
    log_time : bool
        True for a flow in log time.
    remedy : str
        Clause that says what to do.
    clock : callable
        Seconds of any clock.
    """

    def __init__(
        self,
        log10_end: float,
        log_time: bool,
        remedy: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._end, self._log_time = min(log10_end, EARLY) if log_time else log10_end, log_time
        self._remedy, self._clock = remedy, clock
        self._begun: float | None = None
        self._start = -math.inf  # log10 t then
        self._seen: list[tuple[float, float]] = []  # seconds, log10 t
        self._said = False

    def restart(self) -> None:
        """Measure from the next chunk on: the run was paused, or its kernels were not there."""
        self._begun, self._seen = None, []

    def note(self, log10_time: float) -> str:
        """Return the sentence once, when it is due, else ""; the training is at this log10 t."""
        if self._said or len(self._seen) == MOST_LOOKS:
            return ""
        now = self._clock()
        if self._begun is None:
            if log10_time == -math.inf:  # kernels are being loaded, or the first step is long
                return ""
            self._begun, self._start = now, log10_time
        seconds = now - self._begun
        if seconds < FIRST_LOOK * 2.0 ** len(self._seen):
            return ""
        self._seen.append((seconds, log10_time))
        sentence = self._sentence(seconds) if len(self._seen) >= 3 else ""
        self._said = bool(sentence)
        return sentence

    def _sentence(self, seconds: float) -> str:
        left = self._log_time_left(seconds) if self._log_time else self._steps_left(seconds)
        if not left >= LONG:  # NaN where nothing is known
            return ""
        years = left > 2.0 * YEAR
        words = "years" if years else f"about {duration_text(left)}"
        words += " or more" if self._log_time and not years else ""
        return (
            f"At the pace of the first {seconds:.1f} s the run needs {words} to reach log10 t = "
            f"{self._end:g}; {self._remedy}."
        )

    def _steps_left(self, seconds: float) -> float:
        here = self._seen[-1][1]
        begun = 10.0 ** (self._start - here)  # in units of t, which may be beyond float64
        left = min(self._end - here, 300.0)
        return seconds * (10.0**left - 1.0) / (1.0 - begun) if begun < 1.0 else math.nan

    def _log_time_left(self, seconds: float) -> float:
        (first, before), (middle, then), (_, here) = self._seen[-3:]
        doublings = math.log2(seconds / middle)
        gain, left = (here - then) / doublings, self._end - here
        if not math.isfinite(gain) or gain <= 0.0:
            return math.nan
        earlier = (then - before) / math.log2(middle / first)
        ratio = gain / earlier if math.isfinite(earlier) and earlier > 0.0 else 1.0
        # A chunk more or less, of 17 ms, is no acceleration.
        ratio = ratio if ratio > ACCELERATES else 1.0
        total = seconds
        while left > 0.0 and total < LONGEST:
            gain *= ratio
            total *= 2.0 ** min(1.0, left / gain)
            left -= gain
        return total - seconds


def data_note(problem: Problem) -> str:
    """Return what is to be said of data of an unsuitable scale; "" for others, and for laws."""
    data = problem.experiment.data
    return "" if data.known_law else unscaled_note(problem.dataset, data.rescaling)


def watch_of(problem: Problem) -> PaceWatch:
    """Return the watch of a run."""
    experiment = problem.experiment
    dynamics = experiment.dynamics
    remedy = experiment.data.rescaling if data_note(problem) else LOWER
    return PaceWatch(float(dynamics.until_log10_time), dynamics.log_time, remedy)
