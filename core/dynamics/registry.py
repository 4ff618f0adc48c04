"""The dynamics by the kind named in study files."""

from __future__ import annotations

from collections.abc import Callable

from core.dynamics.engines import check_device, check_precision, descent
from core.dynamics.flow import Flow
from core.dynamics.general_descent import GeneralDescent
from core.dynamics.general_flow import GeneralFlow
from core.dynamics.integrator import Integrator
from core.dynamics.kernel_fit import KernelFit, kernel_start
from core.dynamics.mirror import mirror_flow, mirror_step
from core.dynamics.perturbed import Perturbed, perturbed_start, perturbed_step
from core.dynamics.replay import Replay
from core.dynamics.rows import suited
from core.dynamics.step_size import default_step, stochastic_step
from core.dynamics.stochastic import Stochastic
from core.dynamics.two_phase import TwoPhases, two_phase_step
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem, with_dynamics
from core.study_file.sections.dynamics import DynamicsSection

INTEGRATORS: dict[str, Callable[[Problem], Integrator]] = {
    "gd": descent,
    "flow": Flow,
    "sgd": Stochastic,
    "adam": Stochastic,
    "mirror": mirror_flow,
    "perturbed": Perturbed,
    "two_phase": TwoPhases,
    "kernel": KernelFit,
}
# Engines of networks without a compiled twin.
GENERAL: dict[str, Callable[[Problem], Integrator]] = {"gd": GeneralDescent, "flow": GeneralFlow}
# The step of a dynamics that was given none.
DEFAULT_STEPS: dict[str, Callable[[Problem], float | None]] = {
    "gd": default_step,
    "sgd": stochastic_step,
    "mirror": mirror_step,
    "perturbed": perturbed_step,
    "two_phase": two_phase_step,
}
# What a dynamics does to the start before frame 0.
STARTS: dict[str, Callable[[Problem], Problem]] = {
    "perturbed": perturbed_start,
    "kernel": kernel_start,
}


def _as_it_is(problem: Problem) -> Problem:
    return problem


def prepared(problem: Problem) -> Problem:
    """The problem as its dynamics takes it up: its own start, and defaults made explicit."""
    problem = suited(STARTS.get(problem.experiment.dynamics.kind, _as_it_is)(problem))
    dynamics: DynamicsSection = problem.experiment.dynamics
    wanted = DEFAULT_STEPS.get(problem.experiment.dynamics.kind)
    if wanted is not None and getattr(dynamics, "step", 1.0) is None:
        return with_dynamics(problem, dynamics.model_copy(update={"step": wanted(problem)}))
    return problem


def integrator(problem: Problem) -> Integrator:
    """A fresh integrator of a prepared problem.

    Networks without a compiled twin (the abstract head, a user's own) go step by step.
    Raises InputError where the device that is asked for is not there.
    """
    if problem.start.earlier is not None:
        return Replay(problem, integrator)
    check_device(problem)
    check_precision(problem)
    kind = problem.experiment.dynamics.kind
    general = kind in GENERAL and not isinstance(problem.network, TwoLayer)
    made = (GENERAL if general else INTEGRATORS)[kind](problem)
    if problem.reduction is not None:
        made.engine = f"{made.engine}, row space"
    return made
