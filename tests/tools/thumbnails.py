"""Make resources/thumbnails/studies.json: a small curve and the CPU time of each study's run.

The curve is the margin over time of the run that is shown first (core.studies.cell_selection), or
the risk for real targets, in the size of the list of studies.

Regenerate them with `python -m tests.tools.thumbnails [STUDY ...]`. The window reads the file and
never trains for a thumbnail.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.library.reading import picture_of
from core.observables.margins import hard_margin
from core.problem.problem import resolve_problem
from core.runs import Recorder, open_run
from core.studies.cell_selection import worth_seeing
from core.studies.study import Study, load_study, shipped_ids
from core.studies.tables import Cell
from core.training.control import Control, FinishReason
from core.training.trajectory import run

PATH = Path(__file__).resolve().parents[2] / "resources" / "thumbnails" / "studies.json"
FRAMES = 48
LIMIT_S = 12.0  # of a run; what takes longer is drawn as far as it came


def seen_first(study: Study) -> Cell:
    """Return the cell that the window shows first, with enough frames for a curve."""
    with contextlib.suppress(InputError):  # predictors that need no training have one moment
        return worth_seeing(study.with_settings([f"recording.frames={FRAMES}"]), 1)[0]
    return worth_seeing(study, 1)[0]


def made(identifier: str) -> dict[str, Any]:
    study = load_study(identifier)
    control = Control()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.msrun"
        timer = threading.Timer(LIMIT_S, control.stop)
        timer.start()
        begun = time.process_time()
        problem = resolve_problem(
            seen_first(study).experiment, study.folder, study.title, study.source
        )
        status = run(problem, partial(Recorder, path), control)
        seconds = time.process_time() - begun
        timer.cancel()
        with open_run(path) as recorded:
            last = hard_margin(recorded, recorded.frames - 1)
        heights = picture_of(path)
    return {
        "heights": heights.hex(),
        "margin": float(f"{last:.4g}") if math.isfinite(last) else None,
        "seconds": float(f"{seconds:.2g}"),
        "whole": status.reason is FinishReason.COMPLETED,
    }


def runs_of(study: Study) -> dict[str, int]:
    """Return the number of a study's cells, unchanged and at its sizes."""
    return {"": study.count} | {size: study.at_size(size).count for size in study.sizes}


def main(names: list[str]) -> None:
    """Make the named thumbnails, or all, and drop those without a study."""
    known = json.loads(PATH.read_text("utf-8")) if PATH.exists() else {}
    ids = shipped_ids()
    known = {name: entry for name, entry in known.items() if name in ids}
    for name in names or ids:
        known[name] = made(name)
        print(name, known[name]["seconds"], known[name]["whole"], len(known[name]["heights"]) // 2)
        for one in known:
            known[one]["runs"] = runs_of(load_study(one))
        text = json.dumps(dict(sorted(known.items())), indent=1, allow_nan=False)
        PATH.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
