"""Alarms know the edge of stability: a risk that rises there is none, and one that runs away is."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.observables import alarms as module
from core.observables.alarms import Alarm, find_alarms
from core.observables.registry import OBSERVABLES
from core.problem.problem import resolve_problem
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train

STEPS = 600


def trained(path: Path, eta: float, frames: int = 61, **data: str) -> Run:
    """Return descent on digits 3 and 8, 64 nodes; squared loss, or logistic on random labels."""
    tables = {
        "data": {"kind": "digits", "scale": "centred", **data},
        "network": {"kind": "standard", "m": 64},
        "loss": {"kind": "logistic" if data else "squared"},
        "dynamics": {"kind": "gd", "step": eta, "until_log10_time": np.log10(eta * STEPS).item()},
        "recording": {"frames": frames, "spacing": "pairs"},
    }
    train(resolve_problem(build_experiment(tables, "edge"), None), partial(Recorder, path))
    return open_run(path)


def told(run: Run) -> dict[str, list[Alarm]]:
    found: dict[str, list[Alarm]] = {}
    for alarm in find_alarms(run):
        found.setdefault(alarm.kind, []).append(alarm)
    return found


def rises(run: Run) -> np.ndarray:
    R = OBSERVABLES["risk"].trace(run)
    return np.flatnonzero(R[1:] > R[:-1] * (1.0 + 1e-5)) + 1


@pytest.mark.parametrize(
    ("eta", "data", "least"), [(3.0, {}, 0.2), (10.0, {"labels": "random"}, 0.03)]
)
def test_at_the_edge_a_rising_risk_is_no_alarm(
    tmp_path: Path, eta: float, data: dict[str, str], least: float
) -> None:
    with trained(tmp_path / "run.msrun", eta, **data) as run:
        rising = rises(run)
        assert rising.size >= least * run.frames
        found = told(run)
        assert "risk" not in found
        assert "margin" not in found
        (calm,) = found["edge"]
        assert calm.calm
        assert calm.frame == rising[0]
        assert "at the edge of stability" in calm.text
        near = [OBSERVABLES["stability"].value_at(run, calm.frame - k) for k in (0, 1, 2)]
        assert max(near) >= 0.9
        S = OBSERVABLES["sharpness"].trace(run)
        assert (0.5 * eta * S).max() > 1.0


def test_below_the_edge_nothing_is_said(tmp_path: Path) -> None:
    with trained(tmp_path / "run.msrun", 1.0) as run:
        assert rises(run).size == 0
        assert not told(run).keys() & {"risk", "edge"}


def test_a_divergence_is_an_alarm(tmp_path: Path) -> None:
    with trained(tmp_path / "run.msrun", 6.0, frames=STEPS + 1) as run:
        assert run.reason == "diverged"
        R = OBSERVABLES["risk"].trace(run)
        (alarm,) = told(run)["risk"]
        assert alarm.frame == np.flatnonzero(R / R[0] > 10.0)[0]
        assert not alarm.calm
        assert "diverges" in alarm.text
        assert "Step size there: 6." in alarm.text


def test_so_is_one_between_two_frames(tmp_path: Path) -> None:
    with trained(tmp_path / "run.msrun", 6.0, frames=3) as run:
        assert run.reason == "diverged"
        assert run.frames == 1
        (alarm,) = told(run)["risk"]
        assert alarm.frame == 0
        assert "diverged after this frame" in alarm.text
        assert find_alarms(run) == (alarm,)  # told once


@pytest.mark.parametrize(("q", "kind"), [(0.5, "risk"), (0.95, "edge"), (float("nan"), "")])
def test_what_a_rise_is_depends_on_the_sharpness_near_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, q: float, kind: str
) -> None:
    """A rise where descent is stable is an alarm; where nothing is known nothing is said."""
    heights = [0.0, -0.1, -0.05, -0.04, -0.2, -0.3, -0.2]
    asked: list[int] = []

    def near(run: Run, index: int) -> float:
        asked.append(index)
        return q

    monkeypatch.setattr(module, "log10_risk", lambda run, k: heights[min(k, 6)])
    monkeypatch.setattr(module, "stability_near", near)
    with trained(tmp_path / "run.msrun", 1.0, frames=20) as run:
        found = told(run)
        frames = [alarm.frame for alarm in found.get(kind, [])]
        assert frames == {"risk": [2, 6], "edge": [2], "": []}[kind]
        assert not found.keys() & ({"risk", "edge"} - {kind})
        # The edge lasts for some frames, at which no sharpness is computed again.
        assert asked == ([2] if kind == "edge" else [2, 3, 6])
