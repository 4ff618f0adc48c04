"""Studies of few cells: `check`, `figure` and `table` know their runs, with a ledger or without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.main import main
from core.errors import InputError
from core.studies.study import load_study, parse_study
from core.sweep.control import SweepControl
from core.sweep.folder import existing_sweeps, ledger_of_runs, sweeps_in
from core.sweep.loop import sweep
from core.sweep.plan import ledger_path, plan, read_ledger
from core.sweep.pools import InProcessPool

OWN = """
[data]
d = 6
n = 12
[network]
m = 6
[dynamics]
kind = "gd"
step = 0.1
until_log10_time = 0.5
[recording]
frames = 5
[axes]
"run.seed" = [0, 1]
[sizes.quick]
"network.m" = 4
[[claims]]
text = "The risk is positive."
measure = "risk"
compare = ">="
value = 0.0
"""


def judged(capsys: pytest.CaptureFixture[str], folder: Path) -> list[str]:
    assert main(["check", str(folder), "--json"]) == 0
    return [one["verdict"] for one in json.loads(capsys.readouterr().out)]


def test_an_own_study_of_few_cells_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.toml").write_text(OWN)
    out = tmp_path / "out"
    run = ["run", str(tmp_path / "mine.toml"), "--quick", "--out", str(out), "--quiet"]
    assert main(run) == 0
    capsys.readouterr()
    assert judged(capsys, out) == ["confirmed"]
    ledger = read_ledger(ledger_path("mine", out))
    assert (ledger.size, sorted(ledger.entries)) == ("quick", ["run.seed=0", "run.seed=1"])
    assert main(["table", str(out), "--out", str(tmp_path / "x.csv")]) == 0
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 3
    assert main(run) == 2  # the files are there, as before


def test_runs_of_a_shipped_study_without_a_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The size is that of which most runs are there; runs of other settings count for nothing."""
    study = parse_study(OWN, "shipped")
    monkeypatch.setattr("core.sweep.folder.shipped_ids", lambda: ("shipped",))
    monkeypatch.setattr("core.sweep.folder.load_study", lambda _: study)
    assert sweeps_in(tmp_path) == []
    with pytest.raises(InputError, match="contains no sweep"):
        existing_sweeps(tmp_path)
    control = SweepControl()
    made = plan(study.at_size("quick"), tmp_path)
    assert [*sweep(made, InProcessPool(control.cell), control)][-1].done == 2
    ledger_path("shipped", tmp_path).unlink()
    (found,) = existing_sweeps(tmp_path)
    assert found.size == "quick"
    assert {name: entry.row.state for name, entry in found.entries.items()} == {
        "run.seed=0": "done",
        "run.seed=1": "done",
    }
    (bare,) = existing_sweeps(tmp_path, values=False)
    assert all(entry.row.values == {} for entry in bare.entries.values())
    assert judged(capsys, tmp_path) == ["confirmed"]
    other = parse_study(OWN.replace("step = 0.1", "step = 0.2"), "shipped")
    assert ledger_of_runs(other, tmp_path) is None


def test_the_shipped_figure_of_few_cells_tells_its_sweep() -> None:
    """The study that was called no sweep: few cells at its quick size, and a layout."""
    study = load_study("frei23-figure-2").at_size("quick")
    assert study.figure
    assert study.count <= 4
