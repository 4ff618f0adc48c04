"""Random valid studies, each drawn from (seed, number) alone."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.problem.problem import Problem, resolve_problem
from core.studies.study import Study, parse_study
from core.study_file.experiment import KINDS, PLAIN_SECTIONS
from core.study_file.validation import build_experiment
from tests.tools.hunt.files import CODE, START, WRITTEN, Tables, write_code, write_start
from tests.tools.hunt.values import table_of

FOCI = tuple((section, kind) for section, kinds in KINDS.items() for kind in kinds)
"""Consecutive studies have each kind of each section in turn; the other sections are random."""
CLASSES = {"digits", "modular", *WRITTEN}  # data that may have more than two
MOST_TRIES = 20_000
MOST_STEPS, LEAST_TIME = 4_000, -8.0
OWN_STARTS = 0.2
MORE = {"flow": 8, "gd": 4, "mirror": 3, "exponential": 3, "logistic": 3}
"""Kinds that are drawn so many times as often as others: most statements are about these."""
SLOW = {"mnist", "cifar10", "digits"}  # only in their turn: 12, 3,072 and 64 coordinates
MANY = {"multiclass", "cross_entropy"}
NEEDED = {"population": {"data": "regression", "network": "standard"}}
"""The only kinds that go with some dynamics: few random studies have them together."""


@dataclass
class Drawn:
    """Valid study in its folder; `refused` are the sentences of the earlier draws."""

    study: Study
    refused: list[str] = field(default_factory=list)

    def problem(self) -> Problem:
        """Return the problem, made as by `run`."""
        study = self.study
        (cell,) = study.cells()
        return resolve_problem(cell.experiment, study.folder, study.title, study.source)


def drawn(seed: int, number: int, folder: Path) -> Drawn:
    """Write study `number` of a seed to `folder`/study.toml, with the files that it reads."""
    chance = random.Random(f"hunt {seed} {number}")
    refused: list[str] = []
    for _ in range(MOST_TRIES):
        tables = _tables(FOCI[number % len(FOCI)], chance)
        if many_classes(tables) and tables["data"]["kind"] not in CLASSES:
            continue
        try:
            build_experiment(_without_files(tables), "draw")
        except InputError:
            continue  # parts that do not go together
        try:
            _write_files(tables, folder, chance)
            study = _written(tables, folder, f"seed {seed}, number {number}")
            problem = prepare(Drawn(study).problem())
            make_integrator(problem)
        except InputError as error:
            refused.append(str(error))
            continue
        end = _last_time(problem)
        if end < LEAST_TIME:
            continue  # a step so small that it gets nowhere
        if end >= study_end(problem):
            return Drawn(study, refused)
        tables["dynamics"]["until_log10_time"] = end
        return Drawn(_written(tables, folder, study.title), refused)
    raise AssertionError(f"no valid study in {MOST_TRIES} draws: {refused[-1:]}")


def _tables(focus: tuple[str, str], chance: random.Random) -> Tables:
    tables: Tables = {}
    for section, kinds in KINDS.items():
        usual = [kind for kind in kinds for _ in range(MORE.get(kind, 1)) if kind not in SLOW]
        kind = focus[1] if section == focus[0] else chance.choice(usual)
        tables[section] = table_of(kinds[kind], kind, chance)
    for section, kind in NEEDED.get(focus[1], {}).items():
        tables[section] = table_of(KINDS[section][kind], kind, chance)
    if focus[0] != "data" and many_classes(tables):
        tables["data"] = {"kind": "file"}
    # What such data turn other sections to in the form, where these do not fit them.
    for section, kind in KINDS["data"][tables["data"]["kind"]].others.items():
        if section != focus[0]:
            tables[section] = table_of(KINDS[section][kind], kind, chance)
    for section, cls in PLAIN_SECTIONS.items():
        tables[section] = table_of(cls, "", chance)
    tables["run"]["seed"] = chance.randrange(10**6)
    if tables["data"]["kind"] == "points":  # which have their own number
        tables["data"].pop("n", None)
    if tables["data"]["kind"] == "cifar10":
        tables["network"]["m"] = min(tables["network"]["m"], 4)
    return tables


def many_classes(tables: Tables) -> bool:
    """Return True if the network or the loss has three or more classes."""
    return bool(MANY & {tables["network"]["kind"], tables["loss"]["kind"]})


def _without_files(tables: Tables) -> Tables:
    """Check what can be checked before any file is written."""
    shown = {section: dict(table) for section, table in tables.items()}
    if shown["data"]["kind"] in WRITTEN:
        shown["data"] = {"kind": shown["data"]["kind"], "path": "data"}
    if shown["network"]["kind"] == "custom":
        shown["network"]["path"] = CODE
    return shown


def _write_files(tables: Tables, folder: Path, chance: random.Random) -> None:
    kind, network = tables["data"]["kind"], tables["network"]
    many = many_classes(tables)
    if kind in WRITTEN:
        tables["data"] = WRITTEN[kind](folder, chance, many)
    elif kind == "digits" and many:
        tables["data"]["classes"] = chance.sample(range(10), 3)
    if network["kind"] == "custom":
        network["path"] = write_code(folder, chance, many)
    elif chance.random() < OWN_STARTS:
        write_start(folder, tables, chance)
        network |= {"init": "file", "init_path": START}
    else:
        section = KINDS["network"][network["kind"]]
        allowed = section.model_fields["init"].annotation
        network["init"] = chance.choice([x for x in allowed.__args__ if x != "file"])


def _written(tables: Tables, folder: Path, title: str) -> Study:
    study = Study("study", title, "the hunt", tables, {}, {}, folder.resolve())
    text = study.to_toml()
    (folder / "study.toml").write_text(text)
    return parse_study(text, "study", folder.resolve())


def study_end(problem: Problem) -> float:
    dynamics: Any = problem.experiment.dynamics
    return float(dynamics.until_log10_time)


def _last_time(problem: Problem) -> float:
    """Return log10 t after `MOST_STEPS` steps; infinity for dynamics without equal steps."""
    step = getattr(problem.experiment.dynamics, "step", None)
    return math.inf if step is None else math.floor(100.0 * math.log10(step * MOST_STEPS)) / 100.0
