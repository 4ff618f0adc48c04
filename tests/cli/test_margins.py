"""`margins`: JSON and table, of runs and studies, and its refusals."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from core.cli.main import main
from tests.problems import FIGURE_1
from tests.support.commands import interrupt_margins

pytestmark = pytest.mark.usefixtures("few_directions")

KEYS = {"name", "value", "lower", "upper", "certified", "method", "seconds"}
SMALL = ("--quiet", "--limit", "20", "--set", "data.n=8", "--set", "data.d=4")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARGINSCOPE_CACHE", str(tmp_path / "cache"))


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["margins", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_json_of_a_study_with_one_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = answer(capsys, FIGURE_1, "--json", *SMALL)
    assert status == 0
    found = json.loads(out)
    assert all(set(row) == KEYS for row in found)
    names = [row["name"] for row in found]
    assert len(set(names)) == len(names)  # both widths have the same margins
    assert {"gamma_linear", "gamma_ntk", "rkhs"} <= set(names)


def test_json_names_the_cells_of_several_data_sets(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("--set", "run.seed=[0, 1]", "--set", "network.m=16")
    status, out, _ = answer(capsys, FIGURE_1, "--json", *SMALL, *settings)
    assert status == 0
    found = json.loads(out)
    assert all(set(row) == KEYS | {"cell"} for row in found)
    assert {row["cell"] for row in found} == {"run.seed=0", "run.seed=1"}


def test_numbers_that_are_not_there_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("--set", "data.kind=wei19", "--set", "data.n=40", "--set", "data.d=3")
    status, out, _ = answer(capsys, FIGURE_1, "--json", "--quiet", *settings)
    assert status == 0
    found = {row["name"]: row for row in json.loads(out)}
    assert found["gamma_linear"]["value"] is None
    assert "not separable" in found["gamma_linear"]["method"]
    assert found["wei19_population"]["value"] is not None


def test_a_run_has_the_margins_of_its_study(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    small = ("--set", "data.n=8", "--set", "data.d=4")
    settings = ("--set", "network.m=8", "--set", "recording.frames=6", *small)
    assert main(["run", FIGURE_1, "--out", str(tmp_path), "--quiet", *settings]) == 0
    run = capsys.readouterr().out.strip()
    of_run = json.loads(answer(capsys, run, "--json", "--quiet")[1])
    of_study = json.loads(answer(capsys, FIGURE_1, "--json", "--quiet", *settings)[1])
    assert of_run == of_study  # to the seconds: the second one comes from the cache
    assert {row["name"] for row in of_run} >= {"gamma_gl", "gamma_ntk"}
    status, _, err = answer(capsys, run, "--set", "data.n=4")
    assert (status, err.count("\n")) == (2, 1)


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = answer(capsys, FIGURE_1, *SMALL)
    assert status == 0
    assert "gamma_ntk" in out
    assert "holds except with probability 10^-6" in out
    assert "certified" in out


@pytest.mark.parametrize("limit", ["0", "-1", "nan"])
def test_a_limit_is_positive(capsys: pytest.CaptureFixture[str], limit: str) -> None:
    status, _, err = answer(capsys, FIGURE_1, "--limit", limit)
    assert status == 2
    assert "--limit" in err


def test_unknown_targets(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = answer(capsys, "telgarsky22-figure-1b")
    assert status == 2
    assert FIGURE_1 in err


def test_describe_margins(capsys: pytest.CaptureFixture[str]) -> None:
    from core.reference.registry import REFERENCES

    assert main(["describe", "margins"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in REFERENCES)


def test_an_interrupt_ends_it_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_margins(monkeypatch)
    before = signal.getsignal(signal.SIGINT)
    status, out, err = answer(capsys, FIGURE_1, *SMALL)
    assert (status, out) == (130, "")
    assert "Traceback" not in err
    assert signal.getsignal(signal.SIGINT) is before
