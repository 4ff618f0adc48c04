"""What a flow says, and does, where the data cannot be fitted or nothing moves any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.cli.main import main
from core.dynamics.integrator import Event
from core.dynamics.log_time_flow import LogTimeFlow
from core.dynamics.registry import make_integrator
from core.numbers import number_text, time_text
from core.problem.problem import Problem
from core.run_files.frame import Frame
from core.runs import open_run
from core.training.trajectory import chunks
from tests.problems import physical, problem


def followed(at: Problem) -> tuple[list[Frame], list[Event]]:
    found = list(chunks(make_integrator(at)))
    frames = [frame for chunk in found for frame in chunk.frames]
    return frames, [chunk.event for chunk in found if chunk.event is not None]


def of_points(folder: Path, x: Any, y: Any, *settings: str, m: int = 1) -> Problem:
    np.savez(folder / "a.npz", x=np.array(x, dtype=float), y=np.array(y, dtype=float))
    sizes = (f"data.d={len(x[0])}", f"data.n={len(y)}", "network.kind=scalar")
    file = ("data.kind=file", f"data.path={folder / 'a.npz'}", "recording.log10_times=[]")
    return problem(*file, *sizes, *settings, m=m)


def test_too_few_nodes_are_told_once() -> None:
    """With the numbers of that moment: |grad R|^2 = -dR/dt along the flow."""
    at = problem("dynamics.until_log10_time=3.3", "recording.frames=400", m=3)
    frames, events = followed(at)
    assert [kind for kind, _ in events] == ["unfitted"]
    told = events[0][1]
    later = [frame for frame in frames if frame.log10_time >= told["log10_time"]]
    before, after = frames[len(frames) - len(later) - 3], later[3]
    risks = [np.exp(at.loss.log_risk(at.margins(physical(f)))) for f in (before, after)]
    fall = (risks[0] - risks[1]) / (10.0**after.log10_time - 10.0**before.log10_time)
    # Sliding along a kink |grad R| at a point is larger than what moves the network.
    assert told["gradient"] ** 2 > 0.9 * fall > 0.0
    assert told["risk"] == pytest.approx(np.mean(risks), rel=1e-2)
    wrong = int((at.margins(physical(later[0])) <= 0.0).sum())
    assert (told["wrong"], told["of"]) == (wrong, 64)
    assert f"{wrong} of 64 examples are misclassified" in told["note"]
    assert "network.m" in told["note"]


def test_what_is_told_does_not_depend_on_where_chunks_end() -> None:
    """Short chunks, and one chunk of the whole run; other machines cut elsewhere."""
    at = problem("dynamics.until_log10_time=3.05", "recording.frames=60", m=3)
    told = []
    for seconds in (0.01, 1000.0):
        flow = make_integrator(at)
        assert isinstance(flow, LogTimeFlow)
        flow.pace.seconds = seconds
        told.append([one.event for one in chunks(flow) if one.event is not None])
    assert told[0] == told[1] and len(told[0]) == 1


def test_frames_within_one_step_have_the_atoms_of_none() -> None:
    """Euler steps are not cut at frames; the number of atoms is that of steps between frames."""
    frames, _ = followed(
        problem("dynamics.until_log10_time=1", "recording.frames=2000", "dynamics.scheme=euler")
    )
    steps = [frame.step for frame in frames]
    shared = [k for k in range(2, len(steps)) if steps[k] == steps[k - 1]]
    assert shared
    counts = {k: (frames[k].diagnostics or {}).get("fewest_atoms") for k in range(1, len(frames))}
    assert all(counts[k] is None for k in shared)
    assert all(count is None or count in range(1, 65) for count in counts.values())


def test_what_is_fitted_is_not_told() -> None:
    _, events = followed(problem("dynamics.until_log10_time=30", m=16))
    assert events == []


def test_a_flow_into_zero_stays_there(tmp_path: Path) -> None:
    """a^2 - b^2 = 0 is kept, so that one node that loses ends in W = 0, a saddle, for ever."""
    points = [[1.0, 0.0], [-1.0, 0.0]], [1.0, -1.0]
    for seed in range(20):
        setting = (f"run.seed={seed}", "dynamics.until_log10_time=8", "recording.frames=40")
        at = of_points(tmp_path, *points, *setting)
        a, b = at.start.parameters
        if at.margins(at.start.parameters).min() < 0.0:
            break
    frames, events = followed(at)
    (kind, told), last = events[-1], frames[-1]
    assert abs(abs(a) - abs(b)) < 1e-15
    assert kind == "stationary"
    assert np.linalg.norm(physical(last)[:2]) ** 2 < 1e-12
    assert last.log10_time == pytest.approx(8.0)
    assert last.step < 10_000
    assert told["risk"] == pytest.approx(float(at.loss.value(np.zeros(1))[0]), rel=1e-6)
    assert last.diagnostics["margin_error"] < 1e-6
    assert "came to rest" in told["note"]


def test_the_exact_mirror_flow_ends_where_nothing_is_left(tmp_path: Path) -> None:
    """u = u(0) e^(-2 l'(0) t) falls below what a float64 holds: R = l(0), and that is said."""
    setting = ("dynamics.kind=mirror", "dynamics.until_log10_time=5", "recording.frames=30")
    for seed in range(20):
        at = of_points(tmp_path, [[1.0], [-1.0]], [1.0, -1.0], *setting, f"run.seed={seed}")
        if at.margins(at.start.parameters).min() < 0.0:
            break
    frames, events = followed(at)
    assert events[-1][0] == "stationary"
    assert min(frame.rho for frame in frames) < -350.0
    assert events[-1][1]["risk"] == pytest.approx(1.0, abs=1e-15)
    assert frames[-1].log10_time == pytest.approx(5.0)


def test_the_command_line_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = ("network.m=3", "dynamics.until_log10_time=3.1", "recording.frames=20")
    told = [part for setting in sets for part in ("--set", setting)]
    code = main(["run", "telgarsky22-figure-1", *told, "--out", str(tmp_path / "a"), "--quiet"])
    assert code == 0
    assert "examples are misclassified" in capsys.readouterr().err
    (path,) = (tmp_path / "a").glob("*.msrun")
    with open_run(path) as run:
        assert [kind for _, kind, _ in run.events()] == ["unfitted"]


def test_the_note_has_times_and_numbers_as_people_write_them() -> None:
    """It said "log10 t = 2.997", "R = 0.489716" and "|grad R| = 2.0e-01"."""
    at = problem("dynamics.until_log10_time=3.05", "recording.frames=60", m=3)
    (told,) = (facts for _, facts in followed(at)[1])
    risk, slope = number_text(told["risk"]), number_text(told["gradient"], 2)
    assert told["note"].startswith(f"At {time_text(told['log10_time'])}, ")
    assert f"R = {risk}, |grad R| = {slope}." in told["note"]
    assert "log10" not in told["note"].partition("Try")[0]
