"""A sweep on a two-worker Dask cluster that loses one worker; run in a separate process.

Prints JSON: the statuses' last numbers, the rows by cell, and the processes that were left.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import psutil

from core.studies.study import parse_study
from core.sweep.control import SweepControl
from core.sweep.loop import sweep
from core.sweep.plan import plan
from core.sweep.pools import ClusterPool
from tests.support.small_studies import SLOW


def main(folder: Path) -> None:
    """Start the cluster and the sweep, kill a worker during it, and print the results."""
    from distributed import Client, LocalCluster

    study = parse_study(SLOW, "slow")
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            workers = client.run(os.getpid)
        made = plan(study, folder, shared=True)
        pool = ClusterPool(cluster.scheduler_address)
        victim, killed_at = 0, None
        for status in sweep(made, pool, SweepControl()):
            if killed_at is None and status.done >= 3:
                # One that has done a cell: the other may still be loading, and would do no other.
                victim = int(next(iter(made.ledger.entries.values())).row.worker.rpartition(":")[2])
                assert victim in workers.values()
                os.kill(victim, signal.SIGKILL)
                killed_at = status.done
    rows = {
        name: [entry.row.state, entry.row.worker] for name, entry in made.ledger.entries.items()
    }
    children = [
        child.cmdline()
        for child in psutil.Process().children(recursive=True)
        if "resource_tracker" not in " ".join(child.cmdline())  # Python's own, ends with this one
    ]
    told = {
        "rows": rows,
        "done": status.done,
        "failed": status.failed,
        "killed_at": killed_at,
        "victim": victim,
        "children": children,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
