"""The run loop: written before told, paused, stopped, ended, and continued."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.compiled import jit
from core.dynamics.registry import make_integrator, prepare
from core.errors import DiskError, InputError
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem
from core.run_files.frame import Frame
from core.runs import Recorder, open_run
from core.training.continuation import continue_problem
from core.training.control import MOST_NOTES, Control, FinishReason, RunState
from core.training.trajectory import record, run
from tests.frames_in_chunks import trajectory
from tests.problems import problem
from tests.recording import recorded

GD = ("dynamics.kind=gd", "dynamics.step=0.25")


class Memory:
    path = Path("memory.msrun")

    def __init__(self, at: Problem, *, fail_after: int | None = None, **facts: Any) -> None:
        self.frames: list[Frame] = []
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self.reason = ""
        self.facts = facts
        self.fail_after = fail_after

    def append(self, frames: Sequence[Frame]) -> int:
        self.frames.extend(frames)
        if self.fail_after is not None and len(self.frames) > self.fail_after:
            raise DiskError("The disk is full.")
        return len(self.frames) - 1

    def event(self, kind: str, payload: Mapping[str, Any]) -> None:
        self.events.append((kind, payload))

    def state_due(self) -> bool:
        return False

    def save_state(self, state: object) -> None:
        pass

    def flush(self) -> int:
        return len(self.frames) - 1

    def finish(self, reason: str) -> None:
        self.reason = reason


class Keeper:
    def __init__(self, fail_after: int | None = None) -> None:
        self.fail_after = fail_after

    def __call__(self, at: Problem, **facts: Any) -> Memory:
        self.sink = Memory(at, fail_after=self.fail_after, **facts)
        return self.sink


def test_a_run_to_its_end() -> None:
    keeper, control = Keeper(), Control()
    status = run(problem(), keeper, control)
    assert status.state is RunState.FINISHED
    assert status.reason is FinishReason.COMPLETED
    assert keeper.sink.reason == "completed"
    assert status.committed == len(keeper.sink.frames) - 1 == status.planned - 1
    assert status.log10_time >= 4.0
    assert keeper.sink.facts["temperature_cap"] == 1e7
    times = [frame.log10_time for frame in keeper.sink.frames]
    assert times[0] == -np.inf
    assert times == sorted(set(times))


def test_frames_are_written_before_they_are_told() -> None:
    keeper, control = Keeper(), Control()
    for status in record(problem(), keeper, control):
        assert status.committed < len(keeper.sink.frames)


def test_stop_from_another_thread() -> None:
    keeper, control = Keeper(), Control()
    at = problem("dynamics.until_log10_time=1e200", "dynamics.scheme=euler")
    timer = threading.Timer(0.2, control.stop)
    timer.start()
    status = run(at, keeper, control)  # which takes hours to its end
    timer.join()
    assert status.reason is FinishReason.CANCELLED
    assert keeper.sink.reason == "cancelled"


def test_pause_holds_and_resume_goes_on() -> None:
    keeper, control = Keeper(), Control()
    recording = record(problem(), keeper, control)
    next(recording)
    control.pause()
    assert next(recording).state is RunState.PAUSED
    count = len(keeper.sink.frames)
    assert next(recording).state is RunState.PAUSED
    assert len(keeper.sink.frames) == count
    control.resume()
    assert next(recording).state is RunState.RUNNING
    *_, last = recording
    assert last.reason is FinishReason.COMPLETED


def test_a_paused_run_can_be_stopped() -> None:
    keeper, control = Keeper(), Control()
    control.pause()
    timer = threading.Timer(0.1, control.stop)
    timer.start()
    assert run(problem(), keeper, control).reason is FinishReason.CANCELLED
    timer.join()


def test_a_run_stopped_before_it_began_makes_no_sink() -> None:
    keeper, control = Keeper(), Control()
    control.stop()
    assert run(problem(), keeper, control).reason is FinishReason.CANCELLED
    assert not hasattr(keeper, "sink")


def test_a_run_stopped_while_its_file_is_made_holds_frame_0() -> None:
    class Stopping(Keeper):
        def __call__(self, at: Problem, **facts: Any) -> Memory:
            control.stop()
            return super().__call__(at, **facts)

    keeper, control = Stopping(), Control()
    assert run(problem(), keeper, control).reason is FinishReason.CANCELLED
    assert len(keeper.sink.frames) == 1


def test_closing_the_loop_keeps_what_is_there() -> None:
    keeper, control = Keeper(), Control()
    recording = record(problem(), keeper, control)
    next(recording)
    recording.close()
    assert keeper.sink.reason == "cancelled"
    assert control.status.state is RunState.FINISHED


def test_a_full_disk_ends_the_run() -> None:
    control = Control()
    with pytest.raises(DiskError):
        run(problem(), Keeper(fail_after=10), control)
    assert control.status.reason is FinishReason.DISK_FULL


def test_two_recordings_interleave_in_one_thread() -> None:
    problems = [problem("dynamics.until_log10_time=2.5", "data.n=16", m=m) for m in (4, 8)]
    alone = [Keeper(), Keeper()]
    for keeper, at in zip(alone, problems, strict=True):
        run(at, keeper)
    turns = [Keeper(), Keeper()]
    live = []
    for keeper, at in zip(turns, problems, strict=True):
        made = make_integrator(prepare(at))
        made.pace.seconds = 1e-9  # so small a problem would be one chunk
        live.append(record(at, keeper, Control(), made))
    taken = 0
    while live:
        live = [recording for recording in live if next(recording, None) is not None]
        taken += len(live) == 2
    assert taken > 3  # or they did not interleave
    for one, other in zip(alone, turns, strict=True):
        assert len(one.sink.frames) == len(other.sink.frames)
        for left, right in zip(one.sink.frames, other.sink.frames, strict=True):
            assert np.array_equal(left.parameters, right.parameters)


def test_divergence_is_recorded_with_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "wild.msrun"
    status = recorded(path, "dynamics.kind=gd", "dynamics.step=2", "network.m=256")
    assert status.reason is FinishReason.DIVERGED
    assert status.details is not None
    assert status.details["suggested_step"] > 0
    with open_run(path) as wild:
        assert wild.reason == "diverged"
        assert wild.events()[-1][1] == "diverged"
        assert all(np.isfinite(wild.parameters(i)).all() for i in range(wild.frames))


def test_descent_continued_equals_descent_in_one_go(tmp_path: Path) -> None:
    first = tmp_path / "first.msrun"
    recorded(first, *GD, "dynamics.until_log10_time=1")
    with open_run(first) as begun:
        onward, index = continue_problem(begun, None, ["dynamics.until_log10_time=2"])
    assert index == len(list(trajectory(problem(*GD, "dynamics.until_log10_time=1")))) - 1
    last = list(trajectory(onward))[-1]
    whole = list(trajectory(problem(*GD, "dynamics.until_log10_time=2")))[-1]
    assert last.step == whole.step == 400
    assert last.log10_time == whole.log10_time
    assert np.array_equal(last.parameters, whole.parameters)


def test_flow_continued_agrees_with_flow_in_one_go(tmp_path: Path) -> None:
    first = tmp_path / "first.msrun"
    small = ("data.n=16", "data.d=6")
    recorded(first, *small, "dynamics.until_log10_time=2", "recording.log10_times=[]")
    with open_run(first) as begun:
        onward, _ = continue_problem(begun, None, ["dynamics.until_log10_time=3"])
        assert np.array_equal(onward.start.origin, begun.origin)
        assert not begun.dataset.y.flags.writeable
    with jit.trace_kernels() as called_onward:
        frames = list(trajectory(onward))
    with jit.trace_kernels() as called:
        whole = list(trajectory(problem(*small, "dynamics.until_log10_time=3")))[-1]
    # No other types of arguments: compiling holds the interpreter for ten seconds.
    assert called_onward == called
    assert frames[0].log10_time == 2.0
    assert frames[-1].log10_time == 3.0
    assert frames[-1].rho == pytest.approx(whole.rho, abs=1e-4)
    assert np.allclose(frames[-1].parameters, whole.parameters, atol=2e-3)


def test_continuing_keeps_time_and_rotation_from_the_origin(tmp_path: Path) -> None:
    first, second = tmp_path / "first.msrun", tmp_path / "second.msrun"
    recorded(first, *GD, "dynamics.until_log10_time=2")
    with open_run(first) as begun:
        onward, index = continue_problem(begun, 5, ["dynamics.step=0.125"])
        step, origin, at = int(begun.steps[5]), begun.origin, float(begun.log10_time[5])
    run(onward, partial(Recorder, second))
    assert index == 5
    with open_run(second) as later:
        assert int(later.steps[0]) == step
        assert later.log10_time[0] == at
        assert later.log10_time[-1] == pytest.approx(2.0, abs=1e-3)
        assert np.array_equal(later.origin, origin)
        assert OBSERVABLES["rotation"].value_at(later, later.frames - 1).min() < 0.999
        assert later.continues is not None
        assert later.continues["frame"] == 5


@pytest.mark.parametrize(
    ("frame", "settings", "words"),
    [
        (10**6, [], "does not exist"),
        (-1, [], "does not exist"),
        (None, ["network.m=4"], "keeps its data, network and seed"),
        (None, ["data.n=4"], "keeps its data"),
        (None, ["dynamics.until_log10_time=1"], "is before the frame's"),
        (None, ["dynamics.step=[0.1, 0.2]"], "one value"),
    ],
)
def test_wrong_continuations(
    tmp_path: Path, frame: int | None, settings: list[str], words: str
) -> None:
    path = tmp_path / "run.msrun"
    recorded(path, *GD, "dynamics.until_log10_time=2", "recording.frames=10")
    with open_run(path) as begun, pytest.raises(InputError, match=words):
        continue_problem(begun, frame, settings)


@pytest.mark.parametrize(
    ("until", "step", "further"),
    [(1.0, 0.25, 2.0), (0.0, 0.25, 1.0), (-1.0, 0.025, 0.0), (-1.0, 40.0, 2.0)],
)
def test_continuing_a_completed_run_goes_a_decade_further(
    tmp_path: Path, until: float, step: float, further: float
) -> None:
    path = tmp_path / "run.msrun"
    settings = (f"dynamics.until_log10_time={until}", f"dynamics.step={step}")
    recorded(path, *GD, *settings, "recording.frames=10")
    with open_run(path) as begun:
        onward, index = continue_problem(begun, None, [])
        reached = float(begun.log10_time[index])
    assert onward.experiment.dynamics.until_log10_time == further > reached >= until
    assert make_integrator(onward).planned > 1


def test_a_late_look_misses_nothing_that_was_said() -> None:
    control = Control()
    for said in ("It rests.", "It rests.", "It ends here."):
        control.publish(details={"note": said})
    control.publish(step=7, details={})
    assert control.status.notes == ("It rests.", "It ends here.")
    for number in range(2 * MOST_NOTES):
        control.publish(details={"note": f"{number} examples"})
    assert len(control.status.notes) == MOST_NOTES
    assert control.status.notes[-1] == f"{2 * MOST_NOTES - 1} examples"
