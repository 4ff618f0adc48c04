"""A sweep where kernels are not compiled: they are compiled once, before the workers begin."""

from __future__ import annotations

from pathlib import Path

from core.compiled import kernel_groups
from core.studies.study import load_study
from core.sweep.control import SweepControl
from core.sweep.loop import missing_kernels, sweep
from core.sweep.plan import plan
from core.sweep.pools import InProcessPool
from tests.support.cold_kernels import Cold, cold

__all__ = ["cold"]

STUDY = """
[network]
m = 5
[dynamics]
kind = "gd"
until_log10_time = 0.5
[recording]
frames = 3
[axes]
"run.seed" = [0, 1]
"""


def test_cells_wait_for_kernels_that_are_compiled_once(cold: Cold, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    study.write_text(STUDY)
    control = SweepControl()
    made = plan(load_study(str(study)), tmp_path / "runs", None)
    wanted = (kernel_groups.DESCENT, kernel_groups.GRAM)
    assert missing_kernels(made.tasks) == wanted
    told = []
    for status in sweep(made, InProcessPool(control.cell), control):
        told.append(status)
        if len(told) == 5:
            cold.release(*wanted)
    assert told[0].compiling == ()
    assert all(one.compiling == wanted and one.done == 0 for one in told[1:5])
    assert told[-1].done == 2
    assert told[-1].compiling == ()
    assert cold.requests == [list(wanted)]


def test_a_sweep_that_waits_for_kernels_can_be_stopped(cold: Cold, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    study.write_text(STUDY)
    control = SweepControl()
    made = plan(load_study(str(study)), tmp_path / "runs", None)
    for count, status in enumerate(sweep(made, InProcessPool(control.cell), control)):
        if count == 2:
            assert status.compiling
            control.stop()
    assert status.stopped
    assert status.ended
    assert status.done == 0
