"""A sweep on a Dask cluster that loses its only worker, gets another, and loses its scheduler.

Run in a process of its own; prints JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from core.errors import MarginscopeError
from core.studies.study import parse_study
from core.sweep.control import SweepControl
from core.sweep.loop import sweep
from core.sweep.plan import plan
from core.sweep.pools import ClusterPool
from tests.support.small_studies import SLOW

QUIET = ["--no-dashboard"]


def start(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:], *QUIET]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def main(folder: Path) -> None:
    """Run the sweep, and print the messages after each loss."""
    where = folder / "scheduler.json"
    local = ("--port", "0", "--host", "127.0.0.1")
    scheduler = start("scheduler", *local, "--scheduler-file", str(where))
    while not where.exists() or not where.stat().st_size:
        assert scheduler.poll() is None
        os.sched_yield()
    address = json.loads(where.read_text())["address"]
    worker = start("worker", address, "--no-nanny", "--nthreads", "1")
    made = plan(parse_study(SLOW, "slow"), folder / "out", shared=True)
    told: dict[str, object] = {"lacked": False, "returned": False, "error": ""}
    killed = False
    try:
        for status in sweep(made, ClusterPool(address, patience=60.0), SweepControl()):
            if not killed and status.done >= 2:
                worker.kill()
                worker.wait()
                killed = True
            elif killed and status.lacks_workers and not told["lacked"]:
                told["lacked"] = True
                worker = start("worker", address, "--no-nanny", "--nthreads", "1")
            elif told["lacked"] and not status.lacks_workers and not told["returned"]:
                told["returned"] = True
                scheduler.kill()
    except MarginscopeError as error:
        told["error"] = str(error)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    states = {entry.row.state for entry in made.ledger.entries.values()}
    print(json.dumps(told | {"states": sorted(states)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
