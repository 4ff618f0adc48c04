"""Make resources/results/STUDY.json: lines of each shipped study's figure, and verdicts.

`python -m tests.tools.results [STUDY ...]`, or `make results`, trains the studies at quick size.
With `--runs FOLDER` finished runs are kept there, and not trained again. With `--words` nothing is
trained: the sentences of the files follow the study files, and the numbers stay. Prints the
verdicts of each study, and those that differ from the file before. The window shows the results of
a study before it trains any of its runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from core.figures.study_figure import cells_of_runs
from core.numbers import replace_nonfinite
from core.program import result_file
from core.runs import Run
from core.studies.cell_table import known_values
from core.studies.claims import Claim
from core.studies.measures.measurement import Measurement
from core.studies.shipped_result import (
    SIZE,
    at_result_size,
    result_text,
    shipped_result,
)
from core.studies.study import load_study, shipped_ids
from core.studies.verdicts import NOT_HERE, JudgedClaim, make_judged
from core.sweep.control import SweepControl
from core.sweep.folder import judged_rows
from core.sweep.loop import sweep
from core.sweep.plan import plan
from core.sweep.pools import pool_for


def make_result(study_id: str, runs: Path, path: Path) -> Counter[str]:
    """Train a study's missing runs, write its result, and return the number of verdicts."""
    study = at_result_size(load_study(study_id))
    size = SIZE if study.sizes else None
    made = plan(study, runs, size)
    control = SweepControl()
    for status in sweep(made, pool_for(made.tasks, None, None, control.cell), control):
        if status.failed:
            sys.exit(f"{study_id}: a run failed.")
    rows = made.ledger.rows
    judged = judged_rows(study, rows, runs, size)
    with ExitStack() as stack:

        def keep(run: Run) -> Run:
            return stack.enter_context(run)

        layout, known = study.layout(), known_values(rows, made.paths)
        paths = tuple(made.paths.values())
        cells = cells_of_runs(study, layout, paths, keep, known) if layout is not None else []
        text = result_text(study, len(rows), cells, judged)
    before = shipped_result(study_id)
    for old, new in zip(before.claims if before else (), judged, strict=False):
        if old.verdict != new.verdict:
            print(f"  now {new.line}\\n  was {old.line}")
    path.write_text(text, encoding="utf-8")
    return Counter(one.verdict for one in judged)


def reworded(study_id: str) -> str:
    """Return a study's result file with the study's present sentences and the same numbers."""
    first, panels, _ = result_file(study_id).read_text("utf-8").split("\n", 2)
    study, result = load_study(study_id), shipped_result(study_id)
    assert result is not None
    judged = (_reworded(claim, one) for claim, one in zip(study.claims, result.claims, strict=True))
    claims = [replace_nonfinite(one.as_dict()) for one in judged]
    table = json.dumps(claims, ensure_ascii=False, allow_nan=False)
    return f'{first}\n{panels}\n"claims": {table}}}\n'


def _reworded(claim: Claim, one: JudgedClaim) -> JudgedClaim:
    numbers = Measurement(one.measured, one.low, one.high, one.runs, "", one.asked, one.unfit)
    judgeable = one.verdict != NOT_HERE or SIZE in claim.sizes
    return make_judged(claim, numbers, one.verdict, one.why if judgeable else claim.reason)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    parser.add_argument("--runs", type=Path, help="folder of the runs; a temporary one by default")
    parser.add_argument("--words", action="store_true", help="train nothing, update sentences only")
    arguments = parser.parse_args()
    if arguments.words:
        for study_id in arguments.studies or shipped_ids():
            result_file(study_id).write_text(reworded(study_id), encoding="utf-8")
        return
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for study_id in arguments.studies or shipped_ids():
            begun = time.monotonic()
            path = result_file(study_id)
            verdicts = make_result(study_id, (arguments.runs or Path(scratch)) / study_id, path)
            size = path.stat().st_size / 1000.0
            total += verdicts
            print(f"{study_id}: {dict(verdicts)}, {size:.0f} kB, {time.monotonic() - begun:.0f} s")
    print(dict(total))


if __name__ == "__main__":
    main()
