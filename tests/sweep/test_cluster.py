"""A real local Dask cluster: a worker dies in mid-sweep, and nothing is lost or done twice."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.runs import open_run
from core.studies.study import parse_study
from core.sweep.plan import plan, run_file
from core.sweep.pools import ClusterPool
from tests.separate_process import ran
from tests.support.small_studies import SLOW


@pytest.mark.slow
def test_a_sweep_survives_the_death_of_a_worker(tmp_path: Path) -> None:
    told = json.loads(ran("tests.sweep.cluster_sweep", str(tmp_path)).splitlines()[-1])
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


@pytest.mark.parametrize(
    ("address", "settings", "words"),
    [
        ("tls://127.0.0.1:9", {}, "does not name the ca-file"),
        ("tls://127.0.0.1:9", {"tls.ca-file": "no.pem"}, "does not name the ca-file"),
        (
            "tls://127.0.0.1:9",
            {f"tls.{name}": "no.pem" for name in ("ca-file", "client.cert", "client.key")},
            "cannot be read",
        ),
        ("tcp://127.0.0.1:9", {"require-encryption": True}, "asks for encryption"),
        ("127.0.0.1:9", {"require-encryption": True}, "asks for encryption"),
        ("ftp://127.0.0.1:9", {}, "tcp://HOST:PORT"),
        ("tcp://127.0.0.1:no", {}, "no Dask scheduler"),
        ("127.0.0.1", {}, "no Dask scheduler"),
    ],
)
def test_addresses_that_dask_would_not_use(
    address: str, settings: dict[str, Any], words: str
) -> None:
    """A sentence, and no client that leaves threads behind."""
    import dask

    threads = threading.active_count()
    named = {f"distributed.comm.{key}": value for key, value in settings.items()}
    with dask.config.set(named), pytest.raises(InputError, match=words):
        ClusterPool(address, patience=0.3)
    assert threading.active_count() == threads


def test_a_pool_names_the_address_at_which_nobody_answers() -> None:
    with pytest.raises(InputError, match="no Dask scheduler"):
        ClusterPool("tcp://127.0.0.1:9", patience=0.3)
