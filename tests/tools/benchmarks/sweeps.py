"""Use of the cores by a sweep, and its overhead beyond the cells."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path

from core.cli.main import main as program
from core.studies.study import parse_study
from core.sweep.control import SweepControl
from core.sweep.loop import sweep
from core.sweep.plan import ledger_path, plan
from core.sweep.pools import ProcessPool, cores
from tests.tools.benchmarks.measure import heading, row

CELLS = """
[data]
kind = "parity"
d = 20
n = 64
[network]
m = 64
[dynamics]
kind = "gd"
step = 0.25
until_log10_time = {until}
[recording]
frames = 20
[axes]
"run.seed" = {seeds}
"""


def main(until: float = 3.4, cells: int = 200) -> None:
    """Measure 200 cells of gradient descent on as many processes as there are cores.

    busy: CPU seconds of the workers by (wall * cores). overhead: 1 - seconds inside cells by
    (wall * cores), both from the first cell's end, when the workers have loaded the program.
    """
    study = parse_study(CELLS.format(until=until, seeds=list(range(cells))), "bench")
    with tempfile.TemporaryDirectory() as folder:
        made = plan(study, Path(folder))
        jobs = cores()
        pool = ProcessPool(jobs)
        for future in [pool.submit(made.tasks[:1]) for _ in range(2 * jobs)]:
            future.result()  # programs imported, kernels loaded
        begin, used = time.perf_counter(), _cpu()
        status = [*sweep(made, pool, SweepControl())][-1]
        wall = time.perf_counter() - begin
        busy = (_cpu() - used) / (wall * jobs)
        inside = sum(entry.row.seconds for entry in made.ledger.entries.values())
        heading("sweeps", "by the clock", "CPU", "")
        row(
            f"{status.done} cells on {jobs} cores",
            f"{wall:.1f} s",
            f"{busy:.1%} busy",
            asked="90 %, overhead 5 %",
            words=f"overhead {1.0 - inside / (wall * jobs):.1%}, load {os.getloadavg()[0]:.1f}",
        )


def picture(study: str = "frei23-figure-1", size: str = "quick") -> None:
    """Measure figure and verdicts of a study with large runs, with its ledger and without."""
    with tempfile.TemporaryDirectory() as folder:
        runs, drawing = Path(folder) / "runs", Path(folder) / "f.pdf"
        begin = time.perf_counter()
        program(["run", study, f"--{size}", "--out", str(runs), "--quiet"])
        swept = time.perf_counter() - begin
        files = [path.stat().st_size for path in runs.glob("*.msrun")]
        row(
            f"{study}, {size}",
            f"{swept:.1f} s",
            asked="60 s",
            words=f"{len(files)} runs, {sum(files) / 1e6:.0f} MB",
        )
        for way in ("ledger", "files"):
            if way == "files":
                ledger_path(study, runs).unlink()
            begin, used = time.perf_counter(), _cpu()
            program(["figure", str(runs), "--out", str(drawing), "--quiet"])
            wall, cpu = time.perf_counter() - begin, _cpu() - used
            name = f"  its figure and verdicts from the {way}"
            row(name, f"{wall:.1f} s", f"{cpu:.1f} s of CPU", asked="10 s")


def _cpu() -> float:
    """Return the CPU seconds of this process and of its children, ended or running."""
    import psutil

    own = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
    for child in psutil.Process().children(recursive=True):
        times = child.cpu_times()
        total += times.user + times.system
    return total


if __name__ == "__main__":
    main()
