"""The cost of a study, against cells that were timed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.cli.main import main
from core.studies.cell_table import Row
from core.studies.study import parse_study
from core.sweep.cell import Task
from core.sweep.cost import Cost, GroupCost, estimate, fit_line, work
from tests.support.small_studies import QUICK


def test_a_line_through_measured_points_is_found() -> None:
    a, b = fit_line([(w, 0.5 + 2e-9 * w) for w in (1e6, 1e8, 1e9)])
    assert (a, b) == pytest.approx((0.5, 2e-9))
    assert fit_line([(4.0, 2.0), (4.0, 4.0)]) == (0.0, 0.75)


def test_probed_cells_give_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(tasks: Sequence[Task]) -> list[Row]:
        return [Row(one.name, "done", "completed", seconds[one.name]) for one in tasks]

    study = parse_study(QUICK, "quick")
    seconds = {cell.name: 1e-3 + 1e-6 * work(cell.experiment) for cell in study.cells()}
    monkeypatch.setattr("core.sweep.cost.run_batch", timed)
    found = estimate(study, 2)
    assert found.total == pytest.approx(sum(seconds.values()))
    assert found.groups[0].most == pytest.approx(max(seconds.values()))
    assert 2 <= found.groups[0].probes <= 5


def test_wall_time_is_never_below_the_longest_cell_nor_a_fair_share() -> None:
    group = GroupCost("", 10, 2.0, 8.0, 20.0, 100, 1, 2.0)
    assert Cost((group,), 1000).wall >= 8.0
    assert Cost((group,), 2).wall >= 10.0


def test_cost_prints_what_a_study_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "quick.toml"
    file.write_text(QUICK)
    assert main(["cost", str(file), "--cores", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cores"] == 3
    assert told["groups"][0]["cells"] == 6
    assert 0.0 < told["core_seconds"] < 60.0
    assert told["wall_seconds"] > 0.0
    assert main(["cost", str(file), "--cores", "0"]) == 2
