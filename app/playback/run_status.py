"""Status of a run in words, and advice about one that ended early."""

from __future__ import annotations

from app.state.session import OpenRun, RecordingState
from core.numbers import number_text, time_text
from core.training.control import FinishReason, RunState

ENDINGS = {
    FinishReason.COMPLETED: "completed",
    FinishReason.CANCELLED: "stopped",
    FinishReason.DIVERGED: "diverged",
    FinishReason.FAILED: "ended early",
    FinishReason.DISK_FULL: "stopped (disk full)",
}
GROWTHS = {
    RecordingState.ENDED: "unfinished when opened",
    RecordingState.GROWS: "being recorded by another program",
    RecordingState.RESTS: "unfinished \u2013 no new frames are arriving",
    RecordingState.LEFT: "interrupted",
    RecordingState.LOST: "its file was deleted; the frames read so far are still shown",
}


def status_text(run: OpenRun) -> str:
    """Return the status of a run in a few words."""
    if run.control is None:
        if run.data is None:
            return "closed"
        reason = run.data.run.reason
        if run.growth is RecordingState.LOST or not reason:
            return GROWTHS[run.growth]
        return ENDINGS[FinishReason(reason)]
    status = run.control.status
    frames = f"frame {max(status.committed, 0)} of {max(status.planned - 1, 0)}"
    if status.state is RunState.IDLE:
        return "preparing"
    if status.state is RunState.PAUSED:
        return f"paused at {frames}"
    if status.state is not RunState.FINISHED:
        return f"training, {frames}"
    ending = ENDINGS[status.reason or FinishReason.COMPLETED]
    return ending if status.reason is FinishReason.COMPLETED else f"{ending} at {frames}"


def titled_status(run: OpenRun) -> str:
    """Return the status of a run after its heading."""
    words = status_text(run)
    return f"{run.heading}: {words}" if run.heading else words.capitalize()


def sentence_about(run: OpenRun) -> str:
    """Return a sentence about a run that ended by itself before its horizon, or ""."""
    if run.control is None:
        return ""
    status = run.control.status
    details = dict(status.details or {})
    if status.reason is FinishReason.DIVERGED:
        words = f"{run.heading} diverged"
        if "step" in details:
            words += f" at step {details['step']} ({details.get('why', 'not finite')})"
        if "suggested_step" in details:
            words += f"; try a step size of {number_text(float(details['suggested_step']))}"
        return f"{words}. All frames up to there are recorded."
    if status.reason is FinishReason.FAILED and not run.failure and "note" not in details:
        return f"{run.heading} ended early: the steps of the flow became too small."
    return ""


def notes_about(run: OpenRun) -> tuple[str, ...]:
    """Return the notes of a run's dynamics, such as that it is at rest."""
    notes = () if run.control is None else run.control.status.notes
    return tuple(f"{run.heading}: {note}" for note in notes)


def lost_sentence(run: OpenRun, problem: str = "") -> str:
    """Return a sentence about a run of another program that will never finish."""
    frames = run.data.frames if run.data is not None else 0
    if problem:
        return (
            f"{problem} {_count(frames)} of {run.heading} read so far can be used until you "
            "close it."
        )
    words = f"{run.heading} was interrupted."
    if run.data is None or run.data.run.frames == 0:
        return words
    frames = run.data.run.frames  # frames in the file; some may not have been read for display yet
    end = time_text(float(run.data.run.log10_time[frames - 1]), run.data.run.counts_steps)
    stay = "is" if frames == 1 else "are"
    return f"{words} {_count(frames)} up to {end} {stay} safe."


def _count(frames: int) -> str:
    return "The only frame" if frames == 1 else f"The {frames} frames"
