"""Training loop of window, command line and tests.

The generator `record` passes each chunk of frames to a sink, and only then publishes the index of
the last frame. A window interleaves several recordings in one thread by advancing each in turn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import final

from core.compiled import kernel_groups
from core.compiled.headless_process import compiling
from core.data.section import unscaled_note
from core.dynamics.engines import check_device
from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.required_groups import groups_of
from core.errors import DiskError
from core.numbers import duration_text
from core.problem.problem import Problem
from core.runs import Recorder
from core.training.control import Control, FinishReason, RunState, Status

# -------------------------------------------------------- duration of a run, from its first seconds

# Seconds until the first measurement, and the number of measurements, each twice as late as the one
# before; an estimate needs three. Loading kernels takes half a second before.
FIRST_CHECK_S, MAX_CHECKS = 0.375, 12
LONG = 3600.0  # seconds: shorter runs get no message
LONGEST = 1e12
EARLY = 3.0  # log10 t
ACCELERATES = 1.15
LOWER = "choose an earlier dynamics.until_log10_time, or a smaller network.m or data.n"
YEAR = 365.25 * 86400.0


@final
class PaceWatch:
    """Detector of runs that will take hours; reports once, within 2 s if the cores are free.

    Equal steps advance t at a constant rate. A flow in log time first advances t in proportion to
    the time spent, and log t once the data are fitted: the gain of log t from one doubling of the
    time to the next decides between them, and is continued (geometrically, never slower than t).
    Only the time to t = 10^3 is foreseen: of shipped studies wei19-figure-1 is slow at t = 10 and
    not later.

    Parameters
    ----------
    log10_end : float
        log10 t of the run's end.
    log_time : bool
        True for a flow in log time.
    remedy : str
        Clause with the advice.
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
        self._started_at: float | None = None
        self._start = -math.inf  # log10 t at the first chunk
        self._samples: list[tuple[float, float]] = []  # seconds, log10 t
        self._has_warned = False

    def restart(self) -> None:
        """Measure from the next chunk on: the run was paused, or its kernels were missing."""
        self._started_at, self._samples = None, []

    def note(self, log10_time: float) -> str:
        """Return the sentence once it is due, else ""; the training is at this log10 t."""
        if self._has_warned or len(self._samples) == MAX_CHECKS:
            return ""
        now = self._clock()
        if self._started_at is None:
            if log10_time == -math.inf:  # kernels are loading, or the first step is long
                return ""
            self._started_at, self._start = now, log10_time
        seconds = now - self._started_at
        if seconds < FIRST_CHECK_S * 2.0 ** len(self._samples):
            return ""
        self._samples.append((seconds, log10_time))
        sentence = self._sentence(seconds) if len(self._samples) >= 3 else ""
        self._has_warned = bool(sentence)
        return sentence

    def _sentence(self, seconds: float) -> str:
        """Return the sentence of a run that needs an hour or more; "" for others."""
        time_left = self._log_time_left(seconds) if self._log_time else self._steps_left(seconds)
        if not time_left >= LONG:  # false for NaN: the pace is unknown
            return ""
        years = time_left > 2.0 * YEAR
        words = "years" if years else f"about {duration_text(time_left)}"
        words += " or more" if self._log_time and not years else ""
        return (
            f"At the pace of the first {seconds:.1f} s the run needs {words} to reach log10 t = "
            f"{self._end:g}; {self._remedy}."
        )

    def _steps_left(self, seconds: float) -> float:
        """Return the seconds to the end by equal steps, after so many seconds; NaN if unknown."""
        now = self._samples[-1][1]
        ratio = 10.0 ** (self._start - now)  # relative to the present t, which may exceed float64
        decades = min(self._end - now, 300.0)
        return seconds * (10.0**decades - 1.0) / (1.0 - ratio) if ratio < 1.0 else math.nan

    def _log_time_left(self, seconds: float) -> float:
        """Return the seconds to the end in log time, after so many seconds; NaN if unknown."""
        (first, before), (middle, previous), (_, now) = self._samples[-3:]
        doublings = math.log2(seconds / middle)
        gain, left = (now - previous) / doublings, self._end - now
        if not math.isfinite(gain) or gain <= 0.0:
            return math.nan
        earlier = (previous - before) / math.log2(middle / first)
        ratio = gain / earlier if math.isfinite(earlier) and earlier > 0.0 else 1.0
        # One chunk of 17 ms more or less is no acceleration.
        ratio = ratio if ratio > ACCELERATES else 1.0
        total = seconds
        while left > 0.0 and total < LONGEST:
            gain *= ratio
            total *= 2.0 ** min(1.0, left / gain)
            left -= gain
        return total - seconds


def data_note(problem: Problem) -> str:
    """Return a sentence on columns far beyond 1; "" for others, and for data of a known law."""
    data = problem.experiment.data
    return "" if data.known_law else unscaled_note(problem.dataset, data.rescaling)


def watch_of(problem: Problem) -> PaceWatch:
    """Return the detector of a problem; its advice is to rescale the data, if they need it."""
    experiment = problem.experiment
    dynamics = experiment.dynamics
    remedy = experiment.data.rescaling if data_note(problem) else LOWER
    return PaceWatch(float(dynamics.until_log10_time), dynamics.log_time, remedy)


# ----------------------------------------------------------------------------------------- the loop


def wait_for_kernels(problem: Problem, control: Control, report: Callable[[str], object]) -> None:
    """Compile the kernels that a problem lacks in another process, and wait for them.

    Returns early if the run is stopped. Frames never depend on which kernels were compiled before.

    Parameters
    ----------
    problem : Problem
        Problem to train.
    control : Control
        Stops the wait.
    report : callable
        Called with a sentence, if kernels are missing.
    """
    lacking = kernel_groups.missing_groups(groups_of(problem.experiment))
    if not lacking:
        return
    check_device(problem)  # first: an absent device is an immediate error
    report(f"{kernel_groups.compiling_words(lacking)} Training starts automatically.")
    with compiling(lacking) as process:
        process.wait(lambda: control.stop_requested)


REASONS = {
    Outcome.COMPLETED: FinishReason.COMPLETED,
    Outcome.DIVERGED: FinishReason.DIVERGED,
    Outcome.STALLED: FinishReason.FAILED,
}


# Creates the recorder of a problem from `engine`, `planned` and `temperature_cap`.
OpenSink = Callable[..., Recorder]


def chunks(dynamics: Integrator) -> Iterator[Chunk]:
    """Yield all chunks of an integrator, to the final one."""
    while True:
        chunk = dynamics.advance()
        yield chunk
        if chunk.outcome is not Outcome.GOING:
            return


def record(
    problem: Problem, open_sink: OpenSink, control: Control, dynamics: Integrator | None = None
) -> Generator[Status]:
    """Train and record, one chunk between two values.

    Closing the generator before its end finishes the recording as cancelled.

    Parameters
    ----------
    problem : Problem
        Problem to train.
    open_sink : callable
        Makes the recorder of the prepared problem: see `OpenSink`.
    control : Control
        Requests to pause and stop, which are read before each chunk; publishes the status.
    dynamics : Integrator, optional
        Integrator of this very problem, which must be prepared already; made if None.

    Yields
    ------
    Status
        Status after each chunk, whose published frames are on disk. While the run is paused, each
        value has state PAUSED. The last value has state FINISHED and the reason.

    Raises
    ------
    DiskError
        The disk is full: the run ends with reason DISK_FULL, and committed frames stay readable.
        Other exceptions end it as FAILED, and are raised too.
    """
    if control.stop_requested:  # before any work: there is nothing to save, and no file
        yield control.publish(state=RunState.FINISHED, reason=FinishReason.CANCELLED)
        return
    if dynamics is None:
        problem = prepare(problem)
        dynamics = make_integrator(problem)
    sink = open_sink(
        problem,
        engine=dynamics.engine,
        planned=dynamics.planned,
        temperature_cap=dynamics.temperature_cap,
    )
    control.publish(state=RunState.RUNNING, engine=dynamics.engine, planned=dynamics.planned)
    reason, pace = FinishReason.CANCELLED, watch_of(problem)
    try:
        for chunk in _attend(dynamics, sink, control):
            if chunk is None:
                pace.restart()
                yield control.publish(state=RunState.PAUSED, committed=sink.flush())
                continue
            first = control.status.committed < 0
            reason = _record_chunk(chunk, sink, control) or reason
            if first:
                control.add_note(data_note(problem))
                _add_notes(problem.notes, sink, control)
            if chunk.outcome is Outcome.GOING:
                control.add_note(pace.note(dynamics.log10_progress(chunk.log10_time)))
            if sink.state_due():
                sink.save_state(dynamics.state())
            yield control.status
    except DiskError:
        control.publish(state=RunState.FINISHED, reason=FinishReason.DISK_FULL)
        raise
    except GeneratorExit:
        _finish_recording(sink, dynamics, control, FinishReason.CANCELLED)
        raise
    # Including Ctrl-C: every file states that its run ended, and how.
    except BaseException:
        _finish_recording(sink, dynamics, control, FinishReason.FAILED)
        raise
    _finish_recording(sink, dynamics, control, reason)
    yield control.status


def _attend(dynamics: Integrator, sink: Recorder, control: Control) -> Iterator[Chunk | None]:
    """Yield chunks until the run is stopped; None while it is paused.

    The first chunk is always computed, so that every file contains frame 0.
    """
    work = chunks(dynamics)
    yield next(work)
    while not control.stop_requested:
        if control.pause_requested:
            yield None
            continue
        chunk = next(work, None)
        if chunk is None:
            return
        yield chunk


def _record_chunk(chunk: Chunk, sink: Recorder, control: Control) -> FinishReason | None:
    """Write a chunk, then publish it; return the finish reason if this was the last chunk."""
    # Only frames on disk are published: a crash loses nothing that was shown.
    committed = sink.append(chunk.frames) if chunk.frames else control.status.committed
    if chunk.event is not None:
        sink.event(*chunk.event)
    control.publish(
        state=RunState.RUNNING,
        committed=committed,
        step=chunk.step,
        log10_time=chunk.log10_time,
        details=chunk.event[1] if chunk.event else control.status.details,
    )
    return REASONS.get(chunk.outcome)


def _add_notes(notes: Sequence[str], sink: Recorder, control: Control) -> None:
    """Record sentences about defaults with the first frame, and publish them."""
    for note in notes:
        sink.event("note", {"note": note})
        control.add_note(note)


def _finish_recording(
    sink: Recorder, dynamics: Integrator, control: Control, reason: FinishReason
) -> None:
    """Publish FINISHING, save the last state, finish the file, and publish the final status.

    Raises DiskError, after publishing DISK_FULL.
    """
    control.publish(state=RunState.FINISHING)
    try:
        sink.save_state(dynamics.state())
        committed = sink.flush()
        sink.finish(reason.value)
    except DiskError:
        control.publish(state=RunState.FINISHED, reason=FinishReason.DISK_FULL)
        raise
    control.publish(state=RunState.FINISHED, reason=reason, committed=committed, path=sink.path)


def run(problem: Problem, open_sink: OpenSink, control: Control | None = None) -> Status:
    """Record a problem to its end and return the final status.

    Parameters
    ----------
    problem : Problem
        Problem to train.
    open_sink : callable
        Makes the recorder of the prepared problem.
    control : Control, optional
        Requests and status.

    Returns
    -------
    Status
    """
    control = control or Control()
    status = control.status
    for status in record(problem, open_sink, control):
        if status.state is RunState.PAUSED:
            control.wait_while_paused(0.2)
    return status
