"""Engines that train by each dynamics, by the kind that study files name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn, final

from core.dynamics.engines import check_device, check_precision, make_descent
from core.dynamics.flow import Flow
from core.dynamics.general_flow import GeneralFlow
from core.dynamics.integrator import Integrator
from core.dynamics.kernel_fit import KernelFit, kernel_start
from core.dynamics.mirror import make_mirror_flow, mirror_step
from core.dynamics.perturbed_flow import PerturbedDescent, perturbed_start, perturbed_step
from core.dynamics.plain_flow import BalancedFlow, plain_flow_step
from core.dynamics.population import ExactRiskFlow
from core.dynamics.replay import Replay
from core.dynamics.rows import choose_coordinates
from core.dynamics.runge_kutta import GeneralPlainFlow
from core.dynamics.steepest import Steepest
from core.dynamics.step_size import (
    ShortenedStep,
    default_step,
    momentum_step,
    sharpness_aware_step,
    stochastic_step,
)
from core.dynamics.stochastic import Stochastic
from core.dynamics.two_phase import TwoPhases, two_phase_step
from core.errors import InputError
from core.problem.problem import Problem, with_dynamics
from core.settings import Registry, calling_module, kind_of
from core.study_file.descent import Adam, GradientDescent, StochasticGradientDescent
from core.study_file.dynamics import (
    DYNAMICS,
    GradientFlow,
    KernelPredictor,
    MirrorFlow,
    PerturbedFlow,
    PlainFlow,
    RecordedLoop,
    TwoPhase,
)
from core.study_file.dynamics_section import DynamicsSection
from core.study_file.label_noise import LabelNoise
from core.study_file.momentum import HeavyBall, Nesterov
from core.study_file.population import PopulationFlow
from core.study_file.sam import SharpnessAware
from core.study_file.steepest import SteepestDescent


@final
@dataclass(frozen=True, slots=True)
class Engines:
    """Engines of one dynamics; its section says which networks and losses it supports.

    `integrator` makes the engine for a prepared problem, `general` that for networks without a
    compiled twin (None: `integrator` chooses itself). `default_step` returns the step where the
    study sets none, `start` changes the start before frame 0.
    """

    section: type[DynamicsSection]
    integrator: Callable[[Problem], Integrator]
    general: Callable[[Problem], Integrator] | None = None
    default_step: Callable[[Problem], float | None] | None = None
    start: Callable[[Problem], Problem] | None = None


ENGINES: Registry[Engines] = Registry(
    lambda engines: kind_of(engines.section),
    Engines(GradientFlow, Flow, general=GeneralFlow),
    Engines(GradientDescent, make_descent, default_step=default_step),
    Engines(StochasticGradientDescent, Stochastic, default_step=stochastic_step),
    Engines(LabelNoise, Stochastic, default_step=stochastic_step),
    Engines(Adam, Stochastic),
    Engines(HeavyBall, Stochastic, default_step=momentum_step),
    Engines(Nesterov, Stochastic, default_step=momentum_step),
    Engines(SharpnessAware, Stochastic, default_step=sharpness_aware_step),
    Engines(SteepestDescent, Steepest),
    Engines(PlainFlow, BalancedFlow, general=GeneralPlainFlow, default_step=plain_flow_step),
    Engines(PopulationFlow, ExactRiskFlow, default_step=plain_flow_step),
    Engines(MirrorFlow, make_mirror_flow, default_step=mirror_step),
    Engines(PerturbedFlow, PerturbedDescent, default_step=perturbed_step, start=perturbed_start),
    Engines(TwoPhase, TwoPhases, default_step=two_phase_step),
    Engines(KernelPredictor, KernelFit, start=kernel_start),
)


def _refuse(problem: Problem) -> NoReturn:
    """Raise InputError: another program's steps cannot be repeated here."""
    raise InputError(
        'dynamics.kind = "recorded" denotes the steps of another program, which cannot be '
        "repeated here",
        remedy="choose another dynamics",
        typed="choose another with --set dynamics.kind=gd",
    )


ENGINES.aside["recorded"] = Engines(RecordedLoop, _refuse, start=_refuse)


def register(engines: Engines) -> None:
    """Register a further dynamics, for study files by its section, and for training."""
    module = calling_module()
    DYNAMICS.add(engines.section, module)
    ENGINES.add(engines, module)


def prepare(problem: Problem) -> Problem:
    """Return the problem with its dynamics' own start, and defaults made explicit."""
    engines = ENGINES[problem.experiment.dynamics.kind]
    problem = choose_coordinates(problem if engines.start is None else engines.start(problem))
    dynamics: DynamicsSection = problem.experiment.dynamics
    # A dynamics without steps needs no default one.
    if engines.default_step is not None and getattr(dynamics, "step", 1.0) is None:
        step = engines.default_step(problem)
        notes = (*problem.notes, step.note) if isinstance(step, ShortenedStep) else problem.notes
        stated = None if step is None else float(step)
        prepared = with_dynamics(problem, dynamics.model_copy(update={"step": stated}))
        return replace(prepared, notes=notes)
    return problem


def make_integrator(problem: Problem) -> Integrator:
    """Return a fresh integrator of a prepared problem.

    Raises InputError if the requested device is not present.
    """
    # First: both integrators of a replay pass through here again, and are checked then.
    if problem.start.earlier is not None:
        return Replay(problem, make_integrator)
    check_device(problem)
    check_precision(problem)
    engines = ENGINES[problem.experiment.dynamics.kind]
    make = engines.integrator
    if engines.general is not None and not problem.network.compiled:
        make = engines.general
    integrator = make(problem)
    if problem.reduction is not None:
        integrator.engine = f"{integrator.engine}, row space"
    return integrator
