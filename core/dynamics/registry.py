"""The dynamics by the kind named in study files."""

from __future__ import annotations

from core.dynamics.descent import Descent
from core.dynamics.flow import Flow
from core.dynamics.integrator import Integrator
from core.dynamics.step_size import default_step
from core.problem import Problem, with_dynamics
from core.sections.dynamics import GradientDescent

INTEGRATORS: dict[str, type[Descent] | type[Flow]] = {"gd": Descent, "flow": Flow}


def prepared(problem: Problem) -> Problem:
    """The problem with the defaults that depend on it made explicit (the step of descent)."""
    dynamics = problem.experiment.dynamics
    if isinstance(dynamics, GradientDescent) and dynamics.step is None:
        return with_dynamics(problem, dynamics.model_copy(update={"step": default_step(problem)}))
    return problem


def integrator(problem: Problem) -> Integrator:
    """A fresh integrator of a prepared problem."""
    return INTEGRATORS[problem.experiment.dynamics.kind](problem)
