"""Runs with made-up frames: the content of a figure does not depend on their origin."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from core.problem.problem import Problem, resolve_problem
from core.run_files.frame import Frame
from core.runs import Recorder, Run, open_run
from core.studies.study import load_study

Array = np.ndarray
TIMES = (-np.inf, *np.linspace(-1.0, 4.0, 11).tolist())


def problem_of(*settings: str, title: str = "A title") -> Problem:
    """Return a problem of the first shipped study with some settings, without its axis."""
    study = load_study("telgarsky22-figure-1").with_settings(["network.m=6", "data.d=4", *settings])
    return resolve_problem(study.cells()[0].experiment, title=title, source="telgarsky22")


def growing(problem: Problem, position: int) -> tuple[Array, float]:
    """Return parameters that turn and grow, in a direction drawn once, with the scale in rho."""
    generator = np.random.default_rng(5)
    target = generator.standard_normal(problem.network.size)
    flat = problem.start.parameters + 0.3 * position * target
    return flat / np.linalg.norm(flat), 0.1 * position


def write_run(
    problem: Problem,
    times: Sequence[float] = TIMES,
    parameters: Callable[[Problem, int], tuple[Array, float]] = growing,
    reason: str = "completed",
) -> Run:
    """Return a recorded run whose frames are computed by `parameters`; its file is deleted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made-up.msrun"
        recorder = Recorder(path, problem, engine="tests", planned=len(times), temperature_cap=None)
        frames = []
        for position, time in enumerate(times):
            flat, rho = parameters(problem, position)
            frames.append(Frame(position, time, rho, flat))
        recorder.append(frames)
        recorder.finish(reason)
        run = open_run(path)
        for index in range(run.frames):
            run.parameters(index)  # keeps the frames; nothing is read from the file later
        run.close()
    return run


@cache
def two_runs() -> tuple[Run, Run]:
    return write_run(problem_of()), write_run(problem_of("network.m=9"))


@cache
def far_run() -> Run:
    times = (-np.inf, -1.0, 0.0, 1.0, 2.0, 3.0, 10.0, 100.0, 1e3, 1e4)
    return write_run(problem_of("dynamics.until_log10_time=10000"), times)


def zeros(problem: Problem, position: int) -> tuple[Array, float]:
    """Return parameters that are all 0."""
    return np.zeros(problem.network.size), 0.0


def half_dead(problem: Problem, position: int) -> tuple[Array, float]:
    """Return parameters whose node 0 is 0 while the others turn."""
    flat, rho = growing(problem, position)
    blocks = problem.network.unpack(flat)
    blocks["V"][0] = 0.0
    return problem.network.pack(blocks), rho


def huge(problem: Problem, position: int) -> tuple[Array, float]:
    """Return parameters as large as a flow may reach."""
    return growing(problem, position)[0], 10.0 + 22.0 * position


DEGENERATE: dict[str, Callable[[], Run]] = {
    "one frame": lambda: write_run(problem_of(), (-np.inf,)),
    "one time": lambda: write_run(problem_of(), (-np.inf, 2.0)),
    "only late": lambda: write_run(problem_of(), (2.0,)),
    "two close times": lambda: write_run(problem_of(), (2.0, 2.0 + 1e-9)),
    "m = 1": lambda: write_run(problem_of("network.m=1")),
    "m = 2": lambda: write_run(problem_of("network.m=2")),
    "d = 1": lambda: write_run(problem_of("data.d=1", "data.k=1", "data.n=3", "data.seed=1")),
    "dead": lambda: write_run(problem_of(), TIMES[:4], zeros),
    "half dead": lambda: write_run(problem_of(), TIMES[:4], half_dead),
    "huge": lambda: write_run(
        problem_of("dynamics.until_log10_time=1e200"), (1.0, 1e3, 1e200), huge
    ),
    "one label": lambda: write_run(problem_of("data.kind=two_cones", "data.d=4", "data.n=5")),
    "stopped": lambda: write_run(problem_of(), TIMES[:3], reason="diverged"),
    "signs": lambda: write_run(problem_of(title="5 $ for \\alpha^2_ \u4e2d\n$")),
}
