"""`limit`: the bracket on the final margin, as text and JSON, and its refusals."""

from __future__ import annotations

import json
import math
import signal
from pathlib import Path

import pytest

from core.cli.main import main
from core.cli.parser import build_parser
from core.cli.view_arguments import theory_of
from core.observables.margins import hard_margin
from core.problem.schedule import parse_time
from core.runs import Recorder, open_run
from tests.support.commands import interrupted_programs
from tests.support.judged_runs import problem_of, recorded_run

pytestmark = pytest.mark.usefixtures("few_directions")

KEYS = {
    *("frame", "log10_time", "hard_margin", "below", "above", "condition", "closed"),
    *("why_no_below", "above_always", "always", "above_while"),
}
FLOW = {"kind": "flow", "until_log10_time": 12.0}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    at = problem_of({"m": 16}, FLOW, "exponential", {"d": 4, "n": 10})
    with recorded_run(tmp_path / "small", at) as run:
        return run.path


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["limit", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_json(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    status, out, err = answer(capsys, small, "--json", "--quiet")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert set(found) == KEYS
    assert found["below"] <= found["hard_margin"] <= found["above"] <= found["above_always"]
    own, cells = found["above_while"]
    assert cells["above"] <= own["above"] * (1 + 2e-4)
    assert own["since_frame"] <= cells["since_frame"] <= found["frame"]
    assert math.isclose(sum(one["q"] for one in own["examples"]), 1.0, abs_tol=0.01)


def test_text(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    status, out, _ = answer(capsys, small, "--quiet")
    assert status == 0
    assert out.startswith("final margin in [")
    assert "gamma_gl / 2" in out
    assert "a condition met since" in out
    assert "dual weight on examples" in out and "and on neurons" in out


def test_another_moment(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    _, out, _ = answer(capsys, small, "--json", "--quiet", "--at", "10^-1")
    found = json.loads(out)
    assert found["log10_time"] <= (parse_time("10^-1") or 0.0)
    assert found["below"] is None and found["why_no_below"]
    status, _, err = answer(capsys, small, "--at", "soon")
    assert (status, err.count("\n")) == (2, 1) and "--at" in err


def test_what_it_is_not_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = {"kind": "digits", "classes": [0, 1, 2], "n": 30}
    dynamics = {"kind": "gd", "step": 0.01, "until_log10_time": -1.0}
    at = problem_of({"kind": "multiclass", "m": 4}, dynamics, "cross_entropy", data)
    with recorded_run(tmp_path / "three", at) as run:
        status, out, err = answer(capsys, run.path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "3 classes" in err
    status, _, err = answer(capsys, tmp_path / "nowhere")
    assert status == 2 and "nowhere" in err


def test_a_run_without_frames(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    at = problem_of({"m": 4}, FLOW, data={"d": 4, "n": 8})
    recorder = Recorder(tmp_path / "run", at, engine="none", planned=2, temperature_cap=None)
    recorder.finish("cancelled")
    status, out, err = answer(capsys, tmp_path / "run")
    assert (status, out) == (2, "") and "no frames" in err


def test_an_interrupt_ends_it_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    interrupted_programs(monkeypatch)
    before = signal.getsignal(signal.SIGINT)
    status, out, err = answer(capsys, small, "--quiet")
    assert (status, out) == (130, "")
    assert "Traceback" not in err
    assert signal.getsignal(signal.SIGINT) is before


def test_figures_draw_its_ends(small: Path, tmp_path: Path) -> None:
    words = ["figure", str(small), "--out", str(tmp_path / "f.png"), "--quiet"]
    arguments = build_parser().parse_args([*words, "--bound", "final margin"])
    with open_run(small) as run:
        _, (bounds,), _ = theory_of(arguments, [run])
        upper, lower = (one.values[-1] for one in bounds)
        assert lower <= hard_margin(run, run.frames - 1) <= upper
    assert {(one.key, one.view) for one in bounds} == {("final margin", "margins")}
    assert main([*words, "--panels", "margins", "--bound", "final margin"]) == 0
