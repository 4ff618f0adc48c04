"""Makes resources/thumbnails/studies.json: of each shipped study the margin of its first run over
time, as small as it is drawn in the list of studies, and the CPU time that this run took.

`python -m tests.thumbnails [STUDY ...]` makes them anew. The window never trains for them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.library.reading import picture_of
from core.observables.margins import hard_margin
from core.runs import open_run
from core.studies.study import Study, load_study, shipped_ids
from core.training.control import Control, FinishReason
from tests.recording import recorded

PATH = Path(__file__).resolve().parents[1] / "resources" / "thumbnails" / "studies.json"
FRAMES = 48
LIMIT_S = 12.0  # of a run; what takes longer is drawn as far as it came


def first_run(study: Study) -> list[str]:
    """The settings that a study's first run is made with: enough frames for a curve."""
    settings = [f"recording.frames={FRAMES}"]
    try:
        study.with_settings(settings).cells()
    except InputError:  # predictors that need no training have one moment
        return []
    return settings


def made(identifier: str) -> dict[str, Any]:
    """The entry of a study."""
    study = load_study(identifier)
    control = Control()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.msrun"
        timer = threading.Timer(LIMIT_S, control.stop)
        timer.start()
        begun = time.process_time()
        status = recorded(path, *first_run(study), study=identifier, control=control)
        seconds = time.process_time() - begun
        timer.cancel()
        with open_run(path) as run:
            last = hard_margin(run, run.frames - 1)
        heights = picture_of(path)
    return {
        "heights": heights.hex(),
        "margin": float(f"{last:.4g}"),
        "seconds": float(f"{seconds:.2g}"),
        "whole": status.reason is FinishReason.COMPLETED,
    }


def runs_of(study: Study) -> dict[str, int]:
    """How many cells a study has, as it is and at its sizes."""
    return {"": study.count} | {size: study.at_size(size).count for size in study.sizes}


def main(names: list[str]) -> None:
    """Make those named anew, or all; what is no study's any more is left out."""
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
