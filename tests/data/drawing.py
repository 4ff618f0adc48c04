"""Problems made from data sections of studies."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.data.dataset import Dataset, Distribution
from core.data.registry import DATA
from core.problem.problem import Problem, resolve_problem
from core.studies.study import parse_study


def problem_of(kind: str, folder: Path | None = None, seed: int = 0, **keys: object) -> Problem:
    many = 'network.kind = "multiclass"\nloss.kind = "cross_entropy"\ndynamics.kind = "gd"\n'
    real = 'loss.kind = "least_squares"\ndynamics.kind = "gd"\n'
    lines = [f"{name} = {_toml(value)}" for name, value in keys.items() if name != "many"]
    text = "\n".join(
        [
            many if keys.get("many") else real if DATA[kind]().real else "",
            f'network.m = 4\nrun.seed = {seed}\n[data]\nkind = "{kind}"',
            *lines,
        ]
    )
    (cell,) = parse_study(text, "test").cells()
    return resolve_problem(cell.experiment, folder)


def _toml(value: object) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return str(value).lower() if isinstance(value, bool) else str(value)


def law_of(problem: Problem) -> Distribution:
    return problem.experiment.data.distribution(None)


def fresh_of(problem: Problem, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return further examples of a problem's distribution, from a separate generator."""
    drawn = law_of(problem).fresh(np.random.default_rng(99), count, problem.dataset)
    assert drawn is not None
    return drawn


def data_of(kind: str, seed: int = 0, **keys: object) -> Dataset:
    return problem_of(kind, seed=seed, **keys).dataset
