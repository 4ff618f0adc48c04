"""One random study from its draw to its verdicts, with all its defects.

As a process of its own: `SEED FIRST LAST STEP FOLDER`, a line of JSON for each study.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.cli.main import main as run_command
from core.cli.reading import facts
from core.errors import InputError
from core.observables.alarms import find_alarms
from core.observables.registry import OBSERVABLES
from core.observables.table import write_table
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.margin import ReferenceMargin, exact_bracket
from core.reference.registry import compute, references_of
from core.runs import Recorder, Run, open_run
from core.studies.study import parse_study
from core.theorems.registry import applicable_statements
from core.theorems.statement import Assessment, Context, Verdict, assess
from core.training.control import Control
from core.training.trajectory import record
from tests.tools.fuzz.opening import TooLongError, limited
from tests.tools.hunt.studies import Drawn, drawn
from tests.tools.hunt.undefined_frames import may_be_infinite, not_finite

TRAINING_S, MARGIN_S = 2.0, 1.0
MOST_CPU_S, MOST_WALL_S = 30.0, 300  # of a whole study
WITHIN = "within the integration error"
VIOLATED, INFINITE, INTERNAL, REFUSED, STOPPED, SLOW = (
    "violated",
    "not finite",
    "internal error",
    "refused",
    "stopped in training",
    "too slow",
)
DEFECTS = (VIOLATED, INFINITE, INTERNAL, SLOW)
ROUNDING = 1e-9
COMMANDS_EVERY = 5  # studies: what they print was looked at already
SIZES = (1e-300, 1e-150, 1e150)  # of made-up margins, whose powers leave float64


@dataclass
class Found:
    """Outcomes of a study: verdicts by kind, outcomes, and a line for each defect."""

    number: int
    kinds: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    outcomes: list[str] = field(default_factory=list)
    defects: list[tuple[str, str]] = field(default_factory=list)
    redrawn: int = 0
    seconds: float = 0.0

    def add(self, kind: str, line: str) -> None:
        self.defects.append((kind, line))

    @contextmanager
    def watched(self, what: str) -> Iterator[None]:
        """Report internal errors and warnings as defects; a refusal must be a sentence."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                yield
        except InputError as error:
            self.outcomes.append(REFUSED)
            self.add(REFUSED, f"{what}: {error}")
        except TooLongError:
            raise
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno} {last.name}"
            self.add(INTERNAL, f"{what}: {type(error).__name__}: {str(error)[:200]} ({place})")


def chase(seed: int, number: int, folder: Path) -> Found:
    """Draw a study, train it, and check all output about it."""
    found, begun = Found(number), time.perf_counter()
    try:
        with limited(MOST_CPU_S, MOST_WALL_S):
            _chase(seed, found, folder)
    except TooLongError:
        found.add(SLOW, "more time than any study may take")
    found.seconds = time.perf_counter() - begun
    return found


def _chase(seed: int, found: Found, folder: Path) -> None:
    study: Drawn | None = None
    with found.watched("drawing"):
        study = drawn(seed, found.number, folder)
    if study is None:
        return
    found.redrawn = len(study.refused)
    with found.watched("the study file"):
        _check_text(study)
    (cell,) = study.study.cells()
    parts = ("network", "dynamics", "loss", "data")
    found.kinds = {part: getattr(cell.experiment, part).kind for part in parts}
    path = folder / "run.msrun"
    with found.watched("training"):
        problem = study.problem()
        if not _trained(problem, path):
            found.outcomes.append(STOPPED)
    if not path.exists():
        return
    with found.watched("opening"), open_run(path) as run:
        _look_at(run, folder, found)
    if found.number % COMMANDS_EVERY == 0:
        with found.watched("commands"):
            _check_commands(path)


def _check_commands(path: Path) -> None:
    """Check that commands end with 0, and print JSON on request."""
    limited = ["--json", "--limit", str(MARGIN_S)]
    for command in (["info", "--json"], ["theorems", *limited], ["margins", *limited]):
        told, said = io.StringIO(), io.StringIO()
        with redirect_stdout(told), redirect_stderr(said):
            status = run_command([command[0], str(path), *command[1:]])
        if status != 0:
            raise AssertionError(f"{command[0]} ended with {status}: {said.getvalue()[-300:]}")
        json.loads(told.getvalue())


def _check_text(study: Drawn) -> None:
    """Check that a study survives writing and reading."""
    again = parse_study(study.study.to_toml(), "study", study.study.folder)
    if again != study.study:
        raise AssertionError("the study does not read back from its own TOML")


def _trained(problem: Problem, path: Path) -> bool:
    """Train into a run file; return False if the time ran out first."""
    control, begun = Control(), time.process_time()
    for _ in record(problem, partial(Recorder, path), control):
        if time.process_time() - begun > TRAINING_S:
            control.stop()
    return not control.stop_requested


def _look_at(run: Run, folder: Path, found: Found) -> None:
    with found.watched("info"):
        json.dumps(facts(run))
    with found.watched("alarms"):
        find_alarms(run)
    for name, item in OBSERVABLES.items():
        with found.watched(f"observable {name}"):
            wrong = not_finite(run, name) if item.applies(run) else ""
            if wrong:
                found.add(INFINITE, wrong)
    with found.watched("table"):
        _check_tables(run, folder)
    margins = _margins(run, found)
    with found.watched("order of margins"):
        _check_order(run, margins)
    _judge(run, margins, found, _note)
    for size in SIZES:
        made = {
            n: replace(one, bracket=exact_bracket(size, "made up")) for n, one in margins.items()
        }
        _judge(run, made, found, _ignore)


def _judge(
    run: Run,
    margins: dict[str, ReferenceMargin],
    found: Found,
    note: Callable[[Assessment, Found], None],
) -> None:
    """Judge every statement, one by one."""
    context = Context(run.whole_run, margins)
    for statement in applicable_statements(run):
        what = f"statement {statement.source}, {statement.name}"
        with found.watched(what), np.errstate(all="ignore"):  # as the registry judges
            note(assess(statement, context), found)


def _ignore(one: Assessment, found: Found) -> None:
    """Ignore values of made-up margins; only exceptions count."""


def _margins(run: Run, found: Found) -> dict[str, ReferenceMargin]:
    margins = {}
    for reference in references_of(run.problem):
        with found.watched(f"margin {reference.name}"):
            one = compute(reference, run.problem, CancelToken(MARGIN_S))
            margins[reference.name] = one
            bracket = one.bracket
            ends = (bracket.lower, bracket.value, bracket.upper)
            if bracket.exists and not (np.isfinite(ends).all() and sorted(ends) == list(ends)):
                found.add(INFINITE, f"margin {reference.name}: bracket {ends}")
    return margins


def _check_order(run: Run, margins: dict[str, ReferenceMargin]) -> None:
    """Check hard <= l1/2 <= gamma_gl/2 on every frame with min p_i >= 0.

    By |a v| <= (a^2 + |v|^2)/2; for the scalar network |a b v| <= (a^2 + b^2)/2 needs |v| = 1.
    """
    if not run.network.plain_relu or run.dataset.classes != 2:
        return
    own_start = run.experiment.network.init == "file"
    if run.network.kind == "scalar" and own_start:
        return
    hard, l1 = OBSERVABLES["hard_margin"].trace(run), OBSERVABLES["l1_margin"].trace(run)
    fits = (hard >= 0.0) & ~np.isnan(l1)
    room = ROUNDING * np.abs(l1[fits]) + 1e-300
    if (hard[fits] > 0.5 * l1[fits] + room).any():
        raise AssertionError("a hard margin is above half the l1 margin")
    best, most = margins.get("gamma_gl"), float(l1[fits].max(initial=0.0))
    if best is None or not (best.bracket.exists and best.bracket.certified):
        return
    if most > best.bracket.upper * (1.0 + ROUNDING):
        raise AssertionError(f"an l1 margin, {most!r}, is above gamma_gl, {best.bracket.upper!r}")


def _check_tables(run: Run, folder: Path) -> None:
    """Check that both formats read back with the same numbers."""
    write_table(run, folder / "table.npz", parameters=True)
    write_table(run, folder / "table.csv")
    lines = [line.split(",") for line in (folder / "table.csv").read_text().splitlines()]
    with np.load(folder / "table.npz") as columns:
        for k, name in enumerate(lines[0]):
            read = np.array([float(line[k]) for line in lines[1:]])
            if not np.array_equal(read, columns[name], equal_nan=True):
                raise AssertionError(f"the column {name} differs between CSV and NPZ")
        for name in ("x", "y"):
            if not np.isfinite(columns[name]).all():
                raise AssertionError(f"{name} is not finite")


def _note(one: Assessment, found: Found) -> None:
    """Count a verdict; "violated" with all hypotheses met is a defect."""
    comparison, name = one.comparison, f"{one.statement.source}, {one.statement.name}"
    verdict = WITHIN if WITHIN in comparison.why else one.verdict.value
    found.verdicts[verdict] = found.verdicts.get(verdict, 0) + 1
    numbers = f"measured {comparison.measured!r} {comparison.sense} {comparison.bound!r}"
    if one.verdict is Verdict.VIOLATED:
        found.add(VIOLATED, f"{name}: {numbers}")
    decided = comparison.holds is not None
    measured = np.isfinite(comparison.measured) or may_be_infinite(one)
    if decided and (np.isnan(comparison.bound) or not measured):
        found.add(INFINITE, f"{name}: {numbers}")
    if not decided and not comparison.why:
        found.add(INTERNAL, f"{name}: not decided, and it does not say why")


def chased(seed: int, numbers: range, keep: Path | None, told: Callable[[Found], None]) -> None:
    """Run all studies of some numbers; keep those with a defect in their own folder."""
    for number in numbers:
        with tempfile.TemporaryDirectory(prefix="marginscope-hunt-") as name:
            folder = Path(name)
            os.environ["MARGINSCOPE_CACHE"] = str(folder / "cache")
            if keep is not None:
                folder = keep / f"{seed}-{number}"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
            found = chase(seed, number, folder)
            told(found)
            if keep is not None and not any(kind in DEFECTS for kind, _ in found.defects):
                shutil.rmtree(folder)


def _tell(found: Found) -> None:
    print(json.dumps(asdict(found)), flush=True)


def main() -> None:
    seed, first, last, step = map(int, sys.argv[1:5])
    keep: Any = Path(sys.argv[5]) if len(sys.argv) > 5 else None
    chased(seed, range(first, last, step), keep, _tell)


if __name__ == "__main__":
    main()
