"""The one loop of window, command line and tests: a generator of chunks, written before it tells.

`record(problem, sink, control)` hands every frame to a sink, and only then publishes its index; a
window interleaves several recordings in one thread by asking each in turn.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.dynamics.registry import integrator, prepared
from core.errors import DiskError
from core.problem.problem import Problem, State
from core.run_files.frame import Frame
from core.training.control import Control, FinishReason, RunState, Status
from core.training.pace import data_note, watch_of

REASONS = {
    Outcome.COMPLETED: FinishReason.COMPLETED,
    Outcome.DIVERGED: FinishReason.DIVERGED,
    Outcome.STALLED: FinishReason.FAILED,
}


class Sink(Protocol):
    """Where frames go; `append` returns the last index that is safe."""

    def append(self, frames: Sequence[Frame]) -> int: ...

    def event(self, kind: str, payload: Mapping[str, Any]) -> None: ...

    def flush(self) -> int: ...

    def finish(self, reason: str) -> None: ...


@runtime_checkable
class StateSink(Protocol):
    """A sink that also keeps what the dynamics carried at some frames (Integrator.state)."""

    def state_due(self) -> bool: ...

    def keep(self, state: State | None) -> None: ...


class SinkFactory(Protocol):
    """Makes the sink of a run once its engine and the number of its frames are known."""

    def __call__(
        self, problem: Problem, *, engine: str, planned: int, temperature_cap: float | None
    ) -> Sink: ...


def chunks(dynamics: Integrator) -> Iterator[Chunk]:
    """All chunks of an integrator, to the final one."""
    while True:
        chunk = dynamics.advance()
        yield chunk
        if chunk.outcome is not Outcome.GOING:
            return


def record(
    problem: Problem, open_sink: SinkFactory, control: Control, dynamics: Integrator | None = None
) -> Generator[Status]:
    """Train and record, one chunk between two values; the last value has state FINISHED.

    An integrator that is given is that of this very problem, which is prepared then.

    Closing the generator before its end finishes the recording as cancelled. DiskError from the
    sink ends the run with reason DISK_FULL and is raised; what was committed stays readable.
    """
    if control.stop_requested:  # before anything: there is nothing to keep, and no file
        yield control.publish(state=RunState.FINISHED, reason=FinishReason.CANCELLED)
        return
    if dynamics is None:
        problem = prepared(problem)
        dynamics = integrator(problem)
    sink = open_sink(
        problem,
        engine=dynamics.engine,
        planned=dynamics.planned,
        temperature_cap=dynamics.temperature_cap,
    )
    control.publish(state=RunState.RUNNING, engine=dynamics.engine, planned=dynamics.planned)
    reason, pace = FinishReason.CANCELLED, watch_of(problem)
    try:
        for chunk in _attended(dynamics, sink, control):
            if chunk is None:
                pace.restart()
                yield control.publish(state=RunState.PAUSED, committed=sink.flush())
                continue
            first = control.status.committed < 0
            reason = _take(chunk, sink, control) or reason
            if first:
                control.add_note(data_note(problem))
                _add_notes(problem.notes, sink, control)
            if chunk.outcome is Outcome.GOING:
                control.add_note(pace.note(dynamics.log10_progress(chunk.log10_time)))
            if isinstance(sink, StateSink) and sink.state_due():
                sink.keep(dynamics.state())
            yield control.status
    except DiskError:
        control.publish(state=RunState.FINISHED, reason=FinishReason.DISK_FULL)
        raise
    except GeneratorExit:
        _end(sink, dynamics, control, FinishReason.CANCELLED)
        raise
    # Ctrl-C too: whatever ends a run, its file says that it ended and how.
    except BaseException:
        _end(sink, dynamics, control, FinishReason.FAILED)
        raise
    _end(sink, dynamics, control, reason)
    yield control.status


def _attended(dynamics: Integrator, sink: Sink, control: Control) -> Iterator[Chunk | None]:
    """Chunks while nobody stops the run; None while it is paused.

    The first is done whatever is asked, so that every file that was made holds frame 0.
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


def _take(chunk: Chunk, sink: Sink, control: Control) -> FinishReason | None:
    """Write first, then tell; the reason when this was the last chunk."""
    # What others are told of is on disk: a crash loses what nobody has seen.
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


def _add_notes(notes: Sequence[str], sink: Sink, control: Control) -> None:
    """Record sentences about defaults beside the first frame, and publish them."""
    for note in notes:
        sink.event("note", {"note": note})
        control.add_note(note)


def _end(sink: Sink, dynamics: Integrator, control: Control, reason: FinishReason) -> None:
    control.publish(state=RunState.FINISHING)
    try:
        if isinstance(sink, StateSink):
            sink.keep(dynamics.state())
        committed = sink.flush()
        sink.finish(reason.value)
    except DiskError:
        control.publish(state=RunState.FINISHED, reason=FinishReason.DISK_FULL)
        raise
    control.publish(state=RunState.FINISHED, reason=reason, committed=committed)


def run(problem: Problem, open_sink: SinkFactory, control: Control | None = None) -> Status:
    """Record a problem to its end and return the final status."""
    control = control or Control()
    status = control.status
    for status in record(problem, open_sink, control):
        if status.state is RunState.PAUSED:
            control.wait_while_paused(0.2)
    return status
