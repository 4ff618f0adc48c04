"""A real local Dask cluster: a worker dies in mid-sweep, and nothing is lost or done twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from core.runs import open_run
from core.study import parse_study
from core.sweep.plan import plan, run_file
from core.sweep.pools import ClusterPool
from tests.sweep.studies import SLOW


def test_a_sweep_survives_the_death_of_a_worker(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.sweep.cluster_sweep", str(tmp_path)]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, cwd=root, env=dict(os.environ, PYTHONPATH=str(root)), check=False, timeout=120,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    study = parse_study(SLOW, "slow")
    cells = study.cells()
    assert told["killed_at"] < len(cells)  # it died while there was work left
    assert sorted(told["rows"]) == sorted(cell.name for cell in cells)
    assert {state for state, _ in told["rows"].values()} == {"done"}
    assert (told["done"], told["failed"], told["children"]) == (len(cells), 0, [])
    workers = {worker for _, worker in told["rows"].values()}
    assert len(workers) >= 2
    files = {run_file(study, cell, tmp_path) for cell in cells}
    assert set(tmp_path.iterdir()) == files | {tmp_path / "slow.sweep.json"}
    for cell in cells:
        with open_run(run_file(study, cell, tmp_path)) as run:
            assert (run.status, run.reason) == ("finished", "completed")
    assert plan(study, tmp_path).tasks == ()


def test_a_pool_names_the_address_at_which_nobody_answers() -> None:
    import pytest

    from core.errors import InputError

    with pytest.raises(InputError, match="no Dask scheduler"):
        ClusterPool("tcp://127.0.0.1:9", patience=0.3)
