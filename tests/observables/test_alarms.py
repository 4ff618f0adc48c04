"""Alarms are silent on runs that follow the flow, and speak where one is made to leave it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core.observables import alarms as module
from core.observables.alarms import find_alarms, monotone_margin
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.recording import recorded

SMALL = ("data.d=6", "data.n=20", "network.m=9")


@pytest.mark.parametrize("kind", ["gd", "flow"])
def test_runs_along_the_flow_raise_none(kind: str, tmp_path: Path) -> None:
    recorded(tmp_path / "run.msrun", f"dynamics.kind={kind}", "dynamics.until_log10_time=4")
    with open_run(tmp_path / "run.msrun") as run:
        assert find_alarms(run) == ()


def test_large_steps_raise_what_the_traces_show(tmp_path: Path) -> None:
    large = ("dynamics.kind=gd", "dynamics.step=6", "dynamics.until_log10_time=3")
    recorded(tmp_path / "run.msrun", *SMALL, *large, "recording.frames=100")
    with open_run(tmp_path / "run.msrun") as run:
        found = find_alarms(run)
        margin = np.array([monotone_margin(run, k) for k in range(run.frames)])
        fell = (margin[:-1] > 0.0) & (margin[1:] < margin[:-1])
        falls = set((np.flatnonzero(fell) + 1).tolist())
        told = [alarm for alarm in found if alarm.kind == "margin"]
        assert {alarm.frame for alarm in told} <= falls
        assert [alarm.kind for alarm in found if alarm.kind == "balance"] == ["balance"]
        for alarm in found:
            assert alarm.h == 6.0
            assert alarm.step == run.steps[alarm.frame]
            assert "Step size there: 6." in alarm.text


def test_falling_margin_and_lost_resolution_are_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(tmp_path / "run.msrun", *SMALL, "dynamics.kind=flow", "recording.frames=30")
    margins = [-1.0, 0.5, 1.0, 0.9, 0.8, 0.85, 0.7]
    monkeypatch.setattr(module, "monotone_margin", lambda run, k: margins[min(k, 6)])
    monkeypatch.setattr(module, "tolerance", lambda run, k, margin: 0.01)
    monkeypatch.setattr(module, "atoms", lambda run, k: 1.0 if k in (2, 3, 9) else 20.0)
    with open_run(tmp_path / "run.msrun") as run:
        found = find_alarms(run)
        at = {
            kind: [alarm.frame for alarm in found if alarm.kind == kind]
            for kind in ("margin", "resolution")
        }
        assert at == {"margin": [3, 6], "resolution": [2, 9]}
        assert all(np.isfinite(alarm.h) for alarm in found)
        assert find_alarms(run) == found


def test_each_frame_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path / "run.msrun", *SMALL, "dynamics.kind=flow", "recording.frames=30")
    seen: list[int] = []

    def look(run: object, index: int) -> float:
        seen.append(index)
        return 0.0

    monkeypatch.setattr(module, "monotone_margin", look)
    with open_run(tmp_path / "run.msrun") as run:
        find_alarms(run)
        find_alarms(run)
        assert seen == list(range(run.frames))


def test_looking_for_alarms_is_left_and_gone_on_with(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    seen = []

    def third() -> None:
        seen.append(len(seen))
        if len(seen) == 3:
            raise EnoughError

    large = ("dynamics.kind=gd", "dynamics.step=6", "dynamics.until_log10_time=3")
    recorded(tmp_path / "run.msrun", *SMALL, *large, "recording.frames=100")
    with open_run(tmp_path / "run.msrun") as run, open_run(tmp_path / "run.msrun") as other:
        with pytest.raises(EnoughError):
            find_alarms(run, third)
        assert find_alarms(run, lambda: seen.append(-1)) == find_alarms(other) != ()
        assert len(seen) == run.frames  # none was looked at twice


def test_states_of_a_loop_that_were_not_finite_are_marked(tmp_path: Path) -> None:
    """Once for each frame after which some were left out, whatever the loop's dynamics."""
    V, a = np.ones((3, 2)), np.ones(3)
    x, y = np.eye(2), np.array([1.0, -1.0])
    with (
        pytest.warns(ms.RecordingWarning, match="a is not finite"),
        ms.record(tmp_path / "a.msrun", x, y, loss="logistic", V0=V, a0=a) as r,
    ):
        for t in range(1, 8):
            r.frame(t, V=V, a=np.nan * a if t in (2, 3, 5) else a)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps.tolist() == [0, 1, 4, 6, 7] and run.reason == "completed"
        found = find_alarms(run)
        assert [(alarm.frame, alarm.kind, alarm.step) for alarm in found] == [
            (1, "not_finite", 1),
            (2, "not_finite", 4),
        ]
        assert "left out: 2, first a at t = 2." in found[0].text


def test_weights_that_become_zero_are_no_alarm_of_the_margin(tmp_path: Path) -> None:
    """A network that is 0 has no margin that could have fallen, and no tolerance of one."""
    x, y = np.eye(2), np.array([1.0, 1.0])
    V, a = np.eye(2), np.ones(2)
    path = tmp_path / "a.msrun"
    with ms.record(path, x, y, loss="exponential", V0=V, a0=a, dynamics="gd", eta=0.1) as r:
        r.frame(1, V=0.0 * V, a=0.0 * a)
    with open_run(path) as run:
        assert monotone_margin(run, 0) > 0.0 and np.isnan(monotone_margin(run, 1))
        assert "margin" not in {alarm.kind for alarm in find_alarms(run)}


def test_errors_of_a_network_whose_activation_is_not_known_are_not_known(tmp_path: Path) -> None:
    """f has no value, and a share of wrong answers that is 1 would be one."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((6, 2)), np.array([1.0, -1.0] * 3)
    V, a, path = rng.standard_normal((4, 2)), rng.standard_normal(4), tmp_path / "a.msrun"
    test = {"x_test": x, "y_test": y}
    with ms.record(path, x, y, loss="logistic", V0=V, a0=a, activation=None, **test):
        pass
    with open_run(path) as run:
        for name in ("train_error", "test_error", "test_error_se", "hard_margin"):
            assert np.isnan(OBSERVABLES[name].value_at(run, 0)), name
