"""Numbers beside the views: status line and inspector, at most four times a second."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QTimer

from app.errors import LOG
from app.playback.display import DisplayController
from app.playback.inspector import Inspector
from app.playback.run_status import status_text, titled_status
from app.playback.status import StatusLine
from app.state.background_values import GroupQuestion
from app.state.session import OpenRun
from core.errors import MarginscopeError
from core.numbers import number_text, time_text
from core.problem.schedule import coordinate, inverse_coordinate
from core.settings import NOT_RECORDED
from core.study_file.dynamics import KernelPredictor
from core.training.control import FinishReason, RunState, Status

if TYPE_CHECKING:
    from core.observables.node_groups import GroupFacts
    from core.runs import Run

# Faster digits cannot be read, and each text costs a layout.
TEXT_MS = 250


@final
class Rate:
    """Speed in steps per second and remaining seconds of a run; NaN if unknown."""

    def __init__(self) -> None:
        self._before: tuple[int, float, int, float] | None = None
        self.steps = self.seconds = math.nan

    def update(self, key: int, status: Status, until: float, log_time: bool = True) -> None:
        """Note where a run is now; `until` is the coordinate of its end.

        A flow takes about equal times for equal parts of the slider (`log_time`), descent with its
        equal steps for equal t.
        """
        now = time.monotonic()
        place = float(coordinate(status.log10_time))
        if not log_time:
            place, until = 10.0**status.log10_time, 10.0 ** float(inverse_coordinate(until))
        before, self._before = self._before, (key, now, status.step, place)
        self.steps = self.seconds = math.nan
        # Less than a few chunks of training give no reliable speed.
        if before is None or before[0] != key or now - before[1] < 0.05:
            return
        elapsed = now - before[1]
        self.steps = max(status.step - before[2], 0) / elapsed
        if math.isfinite(before[3]) and place > before[3]:
            self.seconds = max(until - place, 0.0) / (place - before[3]) * elapsed


@final
class Readout(QObject):
    """Numbers and texts of the display: at once for a hovered neuron, otherwise with a delay."""

    def __init__(
        self,
        display: DisplayController,
        inspector: Inspector,
        status: StatusLine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._display = display
        self._inspector = inspector
        self._status = status
        self._rate = Rate()
        self._message = ""
        self._node: tuple[int, int, int] | None = None
        self._names: Callable[[OpenRun], str] | None = None
        self._reach: Callable[[OpenRun], tuple[str, str]] | None = None
        self._group: tuple[str, tuple[GroupQuestion, GroupFacts] | None] | None = None
        self._stale = self._ended = False
        self._timer = QTimer(self, interval=TEXT_MS)
        self._timer.setObjectName("texts")
        self._timer.timeout.connect(self._tick)
        display.changed.connect(self.schedule_update)
        display.runs_changed.connect(self.schedule_update)
        display.current_changed.connect(self.schedule_update)
        display.calculator.values_computed.connect(self._show_group)

    def show_message(self, message: str) -> None:
        """Show a short message in the status line."""
        self._message = message
        self.schedule_update()

    def schedule_update(self) -> None:
        """Update the texts now, or at the next regular time."""
        if self._ended:
            return
        if self._display.view.inspected != (self._node[:2] if self._node else None):
            self._show_node()
        self._show_group()
        if self._timer.isActive():
            self._stale = True
        else:
            self._show_all()
            self._timer.start()

    def stop(self) -> None:
        """Stop updating."""
        self._ended = True
        self._timer.stop()

    def _tick(self) -> None:
        """Update stale texts, and stop once nothing is trained."""
        if not self._stale and not self._display.session.live:
            self._timer.stop()
            return
        self._show_all()

    def _show_all(self) -> None:
        self._stale = False
        marked, current = self._marked_run(), self._display.current
        self._show_node()
        self._show_scalars(marked or current)
        self._show_run(marked or current)
        live = self._display.session.live
        at_work = current if current in live or not live else live[-1]
        self._show_status(marked or at_work)

    def _marked_run(self) -> OpenRun | None:
        """Return the run of the inspected neuron or of the selected ones."""
        session = self._display.session
        inspected = self._display.view.inspected
        if inspected is not None and (run := session.get(inspected[0])) is not None:
            return run
        selected = [one.key for one in self._display.view.runs if one.selected_nodes]
        return session.get(selected[0]) if selected else None

    def _frame_of(self, run: OpenRun) -> int:
        """Return the shown frame of a run; -1 for none."""
        runs = self._display.view.runs
        return next((one.frame for one in runs if one.key == run.key), -1)

    def _show_node(self) -> None:
        """Show the hovered or pinned neuron's numbers at its run's frame, if they may differ."""
        mark = self._display.view.inspected
        run = self._display.session.get(mark[0]) if mark else None
        frame = self._frame_of(run) if run is not None else -1
        if mark is None or run is None or run.data is None or frame < 0:
            if self._node is not None:
                self._inspector.show_node("", None)
            self._node = None
            return
        # The numbers need the frame's parameters; moving the pointer within one neuron changes
        # nothing.
        if self._node == (*mark, frame):
            return
        self._node = (*mark, frame)
        try:
            facts = run.data.node(frame, mark[1])
        except (MarginscopeError, OSError):
            LOG.exception("The numbers of a neuron cannot be read.")
            return
        self._inspector.show_node(f"Neuron {mark[1]} of {run.heading}", facts)

    def _show_group(self) -> None:
        """Show the selected neurons, as far as another thread has computed their values."""
        runs = self._display.view.runs
        chosen = next((one for one in runs if one.selected_nodes and one.frame >= 0), None)
        run = self._display.session.get(chosen.key) if chosen is not None else None
        if chosen is None or run is None or run.data is None:
            if self._group is not None:
                self._inspector.show_group("", None)
            self._group = None
            return
        question = GroupQuestion(chosen.frame, chosen.selected_nodes)
        later = run.data.background
        later.group.request(question)
        self._display.calculator.wake()
        # Until the new frame's facts are computed, keep the last ones of the same neurons.
        is_known = later.group.known
        is_known = is_known if is_known and is_known[0].nodes == question.nodes else None
        heading = self._group_heading(run)
        if self._group != (heading, is_known):
            self._group = (heading, is_known)
            self._inspector.show_group(heading, is_known[1] if is_known else None)

    def set_names(self, names: Callable[[OpenRun], str]) -> None:
        """Set the function that names the selected neurons of a run."""
        self._names = names

    def set_reach(self, reach: Callable[[OpenRun], tuple[str, str]]) -> None:
        """Set the function that tells when a run's margin reached the promised one."""
        self._reach = reach

    def _group_heading(self, run: OpenRun) -> str:
        """Return the name of the selection, or "Selection", with the heading of its run."""
        name = self._names(run) if self._names is not None else ""
        return f"{name or 'Selection'} in {run.heading}"

    def _show_scalars(self, run: OpenRun | None) -> None:
        frame = self._frame_of(run) if run is not None else -1
        if run is None or run.data is None or frame < 0:
            self._inspector.show_scalars({})
            return
        try:
            self._inspector.show_scalars(run.data.scalars(frame))
        except (MarginscopeError, OSError):
            LOG.exception("The numbers of a frame cannot be read.")

    def _show_run(self, run: OpenRun | None) -> None:
        if run is None or run.data is None:
            self._inspector.show_run({})
            return
        from core.runs.settings import optimizer_text

        recorded, experiment = run.data.run, run.data.run.experiment
        frame, data = self._frame_of(run), recorded.dataset
        network = f"{experiment.network.kind}, m = {run.data.m}"
        if not run.data.has_nodes:
            network = "none (infinite width)"
        label, when = self._reach(run) if self._reach is not None else ("", "")
        self._inspector.show_run(
            {
                "shown": run.heading,
                "frame": f"{frame} of {max(run.data.frames - 1, 0)}",
                "time": _moment(recorded, frame) if frame >= 0 else "",
                "status": status_text(run),
                **({label: when} if label else {}),
                "data": f"{experiment.data.kind}, n = {data.n}, d = {data.d}",
                "network": network,
                "loss": experiment.loss.kind,
                "dynamics": _dynamics_text(run),
                **({"optimizer": text} if (text := optimizer_text(recorded)) else {}),
                "seed": NOT_RECORDED if recorded.is_external else str(experiment.run.seed),
                "precision": recorded.precision,
                "file": run.path.name if run.has_started else "",
            }
        )

    def _show_status(self, run: OpenRun | None) -> None:
        if run is None:
            self._status.show_texts(message=self._message or "No run is open.")
            return
        if run.control is None:
            self._show_other(run)
            return
        status = run.control.status
        log_time = run.data is None or run.data.run.experiment.dynamics.log_time
        self._rate.update(run.key, status, run.until, log_time)
        moving = status.state is RunState.RUNNING
        completed = status.reason is FinishReason.COMPLETED
        state = "" if moving or completed else titled_status(run)
        self._status.show_texts(
            step=status.step if run.has_started else None,
            log10_time=status.log10_time if run.has_started else None,
            rate=self._rate.steps if moving else math.nan,
            eta=self._rate.seconds if moving else math.nan,
            engine=status.engine,
            saved=run.path if run.has_started else None,
            message=self._message or state,
            live=moving,
        )

    def _show_other(self, run: OpenRun) -> None:
        """Show a run that was not trained here, and the progress of an unfinished one."""
        engine = run.data.run.engine if run.data is not None else ""
        if run.data is None or not run.is_unfinished or not run.data.frames:
            self._status.show_texts(engine=engine, saved=run.path, message=self._message)
            return
        words = self._message or titled_status(run)
        last = float(run.data.log10_time[-1])
        values: dict[str, Any] = {"engine": engine, "saved": run.path, "message": words}
        steps = int(run.data.steps[-1])
        moment = {"step": steps} if run.data.run.counts_steps else {"log10_time": last}
        self._status.show_texts(**moment, **values)


def _moment(run: Run, frame: int) -> str:
    """Return the time of a frame in words."""
    return time_text(float(run.log10_time[frame]), run.counts_steps)


def _dynamics_text(run: OpenRun) -> str:
    assert run.data is not None
    dynamics = run.data.run.experiment.dynamics
    if isinstance(dynamics, KernelPredictor):
        return dynamics.words
    until, step = run.data.run.planned_end, getattr(dynamics, "step", None)
    words = dynamics.words if step is None else f"{dynamics.words}, step {number_text(step)}"
    if not math.isfinite(until):  # the other program has not announced the end
        return words
    counts = run.data.run.counts_steps
    return f"{words}{'' if step is None else ','} to {time_text(until, counts)}"
