"""`theorems`: JSON and text of a run, and its refusals."""

from __future__ import annotations

import json
import math
import signal
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from core.observables.registry import OBSERVABLES
from core.problem.schedule import parse_time
from core.runs import Recorder, open_run
from core.theorems.registry import STATEMENTS
from core.theorems.statement import Verdict
from tests.conftest import use_few_directions
from tests.support.commands import interrupt_margins
from tests.support.judged_runs import problem_of, recorded_run

pytestmark = pytest.mark.usefixtures("few_directions")

KEYS = {
    *("name", "source", "text", "hypotheses", "bound", "measured", "verdict"),
    *("slack", "ratio", "times", "sense", "when", "why", "slip"),
}
HYPOTHESIS = {"text", "needed", "present", "met"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = problem_of(
        {"m": 16}, {"kind": "flow", "until_log10_time": 12.0}, "exponential", {"d": 4, "n": 10}
    )
    with recorded_run(tmp_path_factory.mktemp("small") / "small", at) as run:
        return run.path


@pytest.fixture(scope="module")
def known(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache in which the margins of that run are known."""
    folder = tmp_path_factory.mktemp("known")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MARGINSCOPE_CACHE", str(folder))
        use_few_directions(environment)
        assert main(["theorems", str(small), "--quiet", "--limit", "5"]) == 0
    return folder


@pytest.fixture
def margins_known(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARGINSCOPE_CACHE", str(known))


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["theorems", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def rows(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, dict[str, Any]]:
    status, out, _ = answer(capsys, *arguments, "--json", "--quiet", "--limit", "5")
    assert status == 0

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found = json.loads(out, parse_constant=refuse)
    assert all(set(row) == KEYS for row in found)
    return {f"{row['source']}, {row['name']}": row for row in found}


@pytest.mark.usefixtures("margins_known")
def test_json(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    found = rows(capsys, small)
    assert set(found) <= {f"{one.source}, {one.name}" for one in STATEMENTS.values()}
    assert len(found) > 15
    words = {verdict.value for verdict in Verdict}
    for row in found.values():
        assert row["verdict"] in words
        hypotheses = row["hypotheses"]
        assert isinstance(hypotheses, list)
        assert all(set(one) == HYPOTHESIS for one in hypotheses)
        assert all(one["met"] in (True, False, None) for one in hypotheses)
        for number in (row["bound"], row["measured"]):
            assert number is None or (isinstance(number, float | int) and math.isfinite(number))
    # The width of Theorem 2.2 at gamma_ntk >= 1/(50 d) = 1/200, delta = .05.
    width = (640 * math.log(10 / 0.05) * 200) ** 2
    hypotheses = found["telgarsky22, Theorem 2.2 (margin)"]["hypotheses"]
    assert isinstance(hypotheses, list)
    needed = [one for one in hypotheses if one["text"].startswith("width")]
    assert (needed[0]["present"], needed[0]["met"]) == ("16", False)
    assert float(needed[0]["needed"].removeprefix(">= ")) == pytest.approx(width, rel=5e-3)
    assert found["telgarsky22, Proposition 1.6 (2)"]["verdict"] == "holds"
    assert found["homogeneity, Example 4.1"]["verdict"] == "the text's constant does not hold"


def test_numbers_that_are_not_there_are_null(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """gamma_linear of D does not exist, and the bound with it."""
    at = problem_of(
        {"m": 4},
        {"kind": "gd", "step": 0.1, "until_log10_time": 0.0},
        data={"kind": "wei19", "d": 3, "n": 40},
    )
    with recorded_run(tmp_path / "run", at) as run:
        row = rows(capsys, run.path)["telgarsky22, Proposition 1.5 (1)"]
    assert (row["bound"], row["verdict"]) == (None, "not decided")
    assert isinstance(row["hypotheses"], list)
    assert row["hypotheses"][0]["met"] is False
    assert "not separable" in row["hypotheses"][0]["present"]


@pytest.mark.usefixtures("margins_known")
def test_delta(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    name = "telgarsky22, Lemma A.2 (outputs)"
    assert rows(capsys, small)[name]["bound"] == pytest.approx(4 * math.log(10 / 0.05))
    given = rows(capsys, small, "--delta", "0.2")[name]["bound"]
    assert given == pytest.approx(4 * math.log(10 / 0.2))


@pytest.mark.parametrize("delta", ["0", "1", "-0.1", "1.5", "nan"])
def test_delta_is_a_probability(
    capsys: pytest.CaptureFixture[str], small: Path, delta: str
) -> None:
    status, out, err = answer(capsys, small, f"--delta={delta}")
    assert (status, out) == (2, "")
    assert "--delta" in err
    assert "between 0 and 1" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("limit", ["0", "-1", "nan"])
def test_a_limit_is_positive(capsys: pytest.CaptureFixture[str], small: Path, limit: str) -> None:
    status, _, err = answer(capsys, small, f"--limit={limit}")
    assert status == 2
    assert "--limit" in err


@pytest.mark.usefixtures("margins_known")
def test_text(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    status, out, _ = answer(capsys, small, "--quiet", "--limit", "5")
    assert status == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    assert "telgarsky22, Lemma A.4: holds" in lines
    assert "NOT MET" in out
    assert "does not hold" in out
    assert "Note: The text does not print that theta is bounded by 1" in out
    # When, by how much, and where it stands.
    assert lines[lines.index("telgarsky22, Lemma A.4: holds") + 2].startswith("    From t = ")
    assert "least slack" in out
    assert "    From: Telgarsky. Feature selection with gradient descent" in out


@pytest.mark.usefixtures("margins_known")
def test_times_and_slack(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    """From when Lemma A.4 holds: after the first frame with R < l(0)/n, by the risk itself."""
    row = rows(capsys, small)["telgarsky22, Lemma A.4"]
    with open_run(small) as run:
        below = OBSERVABLES["log10_risk"].trace(run) < math.log10(1.0 / run.dataset.n)
        times = [parse_time(str(row["times"][name])) for name in ("told", "holds_from")]
        assert times[1] == float(run.log10_time[int(below.argmax()) + 1])
        assert times[0] in run.log10_time
    assert row["times"]["first_violated"] is None
    assert row["slack"] == row["measured"] - row["bound"]
    assert row["text"] == "Once R < l(0)/n the norm keeps growing."


def test_a_run_without_frames(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    at = problem_of(
        {"m": 4}, {"kind": "gd", "step": 0.1, "until_log10_time": 0.0}, data={"d": 4, "n": 8}
    )
    recorder = Recorder(tmp_path / "run", at, engine="none", planned=2, temperature_cap=None)
    recorder.finish("cancelled")
    assert rows(capsys, tmp_path / "run") == {}
    status, out, _ = answer(capsys, tmp_path / "run", "--quiet")
    assert (status, out.count("\n")) == (0, 1)


def test_a_run_that_no_statement_is_about(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = {"kind": "digits", "classes": [0, 1, 2], "n": 30}
    dynamics = {"kind": "gd", "step": 0.01, "until_log10_time": -1.0}
    at = problem_of({"kind": "multiclass", "m": 4}, dynamics, "cross_entropy", data)
    with recorded_run(tmp_path / "run", at) as run:
        assert rows(capsys, run.path) == {}


def test_not_a_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no run")
    for path in (tmp_path / "text", tmp_path / "nowhere"):
        status, out, err = answer(capsys, path)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        assert path.name in err


def test_describe_theorems(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "theorems"]) == 0
    out = capsys.readouterr().out
    assert all(one.name in out for one in STATEMENTS.values())
    assert all(one.source in out for one in STATEMENTS.values())


def test_an_interrupt_ends_it_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    interrupt_margins(monkeypatch)
    before = signal.getsignal(signal.SIGINT)
    status, out, err = answer(capsys, small, "--quiet")
    assert (status, out) == (130, "")
    assert "Traceback" not in err
    assert signal.getsignal(signal.SIGINT) is before
