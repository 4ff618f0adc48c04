"""Problems for tests, made by the program's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.problem.problem import Problem, resolve_problem
from core.run_files.frame import Frame
from core.studies.study import Study, load_study

FIGURE_1 = "telgarsky22-figure-1"


def figure_1(*settings: str) -> Study:
    return load_study(FIGURE_1).with_settings(settings)


def problem(*settings: str, m: int = 16) -> Problem:
    study = figure_1(f"network.m={m}", *settings)
    return resolve_problem(study.cells()[0].experiment, title=study.title, source=study.source)


def margin_of(problem: Problem, frame: Frame) -> float:
    """Return min_i p_i / |W|^2 of a frame."""
    flat = frame.parameters.astype(np.float64)
    return float(problem.margins(flat).min() / np.dot(flat, flat))


def physical(frame: Frame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return W = e^rho * parameters."""
    return np.exp(frame.rho) * frame.parameters.astype(np.float64)
