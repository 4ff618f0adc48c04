"""Exact risk on Gaussian inputs with a teacher, and its ODE as a prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.data.regression import RegressionData
from core.network.committee import Committee
from core.network.gaussian_inputs import FlowState, Teacher
from core.network.single_index import SingleIndex
from core.network.standard import Standard
from core.observables.observable import Observable, Shape, cached_per_frame, cached_per_run
from core.observables.prediction import Prediction
from core.problem.teacher import student_weights, teacher_of
from core.runs import Run
from core.study_file.descent import StochasticGradientDescent

Array = NDArray[np.float64]
MOST_ROWS = 40  # of student and teacher: the ODE has as many numbers as pairs of them
TOLERANCE = 1e-10
MOST_EVALUATIONS = 20_000  # of slopes: 1.3 s with ten neurons, 14 s with MOST_ROWS
SMALLEST_STEP = 1e-10  # of the time at which it is taken


def has_teacher(run: Run) -> bool:
    """Return True for a network on Gaussian inputs with a teacher of the same neurons."""
    data, network = run.experiment.data, run.network
    if run.is_external or not isinstance(data, RegressionData) or not data.units:
        return False
    if isinstance(network, Committee):
        return data.neurons == "erf"
    if isinstance(network, SingleIndex):
        return data.neurons == "hermite" and data.degree == network.order
    return isinstance(network, Standard) and network.plain_relu and data.neurons == "relu"


@cached_per_run
def teacher(run: Run) -> Teacher:
    """Return the teacher of a run, drawn again: run files do not hold it."""
    return teacher_of(run.problem)


def weights(run: Run, flat: Array) -> tuple[Array, Array]:
    """Return the student's weights in plain coordinates.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (m,), array (m, d)
        a and V, V back in R^d.
    """
    a, V = student_weights(run.network, flat)
    return a, V if run.reduction is None else run.reduction.full(V)


@cached_per_frame
def population_risk(run: Run, index: int) -> float:
    """Return (1/2) E (f(x) - f*(x))^2 at a frame, without the noise of targets."""
    if not has_teacher(run):
        return float("nan")
    return teacher(run).risk(*weights(run, run.physical_parameters(index)))


def log10_population_risk(run: Run, index: int) -> float:
    """Return log10 of `population_risk`; NaN where that is 0 or NaN."""
    risk = population_risk(run, index)
    return float(np.log10(risk)) if risk > 0.0 else float("nan")


@cached_per_frame
def cosines(run: Run, index: int) -> Array:
    """Return the cosines of all neurons and teacher units.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m, M)
        0 for neurons with v_j = 0.
    """
    _, V = weights(run, run.physical_parameters(index))
    one = teacher(run)
    sizes = np.linalg.norm(V, axis=1)[:, None] * np.linalg.norm(one.V, axis=1)
    products = V @ one.V.T
    return np.asarray(np.divide(products, sizes, out=np.zeros(sizes.shape), where=sizes > 0.0))


def teacher_overlap(run: Run, index: int) -> float:
    """Return the mean over teacher units of the largest cosine with a neuron."""
    if not has_teacher(run):
        return float("nan")
    return float(cosines(run, index).max(axis=0).mean())


def nearest_unit(run: Run, index: int) -> Array:
    """Return the largest cosine of each neuron with a teacher unit.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        NaN for a run without a teacher.
    """
    if not has_teacher(run):
        return np.full(run.network.m, np.nan)
    return np.asarray(cosines(run, index).max(axis=1))


# -------------------------------------------------------------------------------------- the ODE


def condition(run: Run) -> str:
    """Return why the ODE does not apply to a run with a teacher; "" if it does."""
    dynamics, loss = run.experiment.dynamics, run.experiment.loss
    if loss.kind != "least_squares" or loss.is_penalised:
        return 'the ODE holds for loss.kind = "least_squares" without a penalty'
    follows = dynamics.full_gradient or dynamics.follows_population
    online = isinstance(dynamics, StochasticGradientDescent) and dynamics.fresh
    shaped = getattr(dynamics, "schedule", "constant") != "constant"
    if not (follows or online) or shaped or run.has_changed_rule:
        return (
            "the ODE describes the population flow, which full-batch descent, the flow, and SGD "
            "on fresh examples approach"
        )
    rows = run.network.m + teacher(run).c.size
    if rows > MOST_ROWS:
        return f"the ODE has {rows} student and teacher units; it is solved for at most {MOST_ROWS}"
    return ""


def online_rate(run: Run) -> float:
    """Return the ODE's eta = step d/batch, 0 unless the dynamics is SGD on fresh examples."""
    dynamics = run.experiment.dynamics
    if not isinstance(dynamics, StochasticGradientDescent) or not dynamics.fresh:
        return 0.0
    return float(dynamics.step or 0.0) * run.dataset.d / dynamics.batch


def noise(run: Run) -> float:
    """Return the standard deviation of the noise of a teacher's targets; 0 without a teacher."""
    data = run.experiment.data
    return data.noise if isinstance(data, RegressionData) else 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Solution of the ODE from `start` on, until it ends at the time `reach`."""

    start: FlowState
    reach: float
    interpolate: Callable[[float], Array]

    def trace(self, value: Callable[[FlowState], float], t: Array) -> Array:
        """Return a value of the states at some times.

        Parameters
        ----------
        value : function
            Number of a state.
        t : array (T,)
            Times, >= 0.

        Returns
        -------
        array (T,)
            NaN beyond the reach.
        """
        return np.array(
            [
                value(self.start.unpack(self.interpolate(one))) if one <= self.reach else np.nan
                for one in np.asarray(t, dtype=np.float64).tolist()
            ]
        )


def solve(start: FlowState, until: float) -> Solution:
    """Return the solution of the ODE up to a time, or to where its steps become too small.

    The gradient of a ReLU neuron has no limit at v_j = 0, which a neuron with |a_j| > |v_j| can
    reach in finite time: no step is small enough to go on there.

    Parameters
    ----------
    start : FlowState
        State at t = 0.
    until : float
        Last time.

    Returns
    -------
    Solution
    """
    from scipy.integrate import DOP853, OdeSolution

    solver = DOP853(
        lambda _, flat: start.unpack(flat).slope(),
        0.0,
        start.pack(),
        until,
        rtol=TOLERANCE,
        atol=TOLERANCE * 1e-3,
    )
    times, parts = [0.0], []
    while solver.status == "running" and solver.nfev < MOST_EVALUATIONS:
        solver.step()
        if solver.status == "failed" or solver.step_size < SMALLEST_STEP * solver.t:
            break
        times.append(solver.t)
        parts.append(solver.dense_output())
    if not parts:
        return Solution(start, 0.0, lambda _: start.pack())
    return Solution(start, times[-1], OdeSolution(times, parts))


@cached_per_run
def solution(run: Run) -> Solution:
    """Return the solution of the ODE from the start of a run, to just beyond its planned end."""
    start = teacher(run).order_parameters(*weights(run, run.origin), online_rate(run), noise(run))
    until = 10.0 ** float(run.experiment.dynamics.until_log10_time)
    step = getattr(run.experiment.dynamics, "step", None) or 0.0
    return solve(start, 1.001 * until + 2.0 * step)


def ode_risk(run: Run, t: Array) -> Array:
    """Return the risk of the ODE.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        Population risk without the noise of targets; NaN beyond the end of the solution.
    """
    return solution(run).trace(lambda state: state.risk(), t)


def ode_log10_risk(run: Run, t: Array) -> Array:
    """Return log10 of the risk of the ODE.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        -inf where the risk is 0; NaN beyond the end of the solution.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log10(ode_risk(run, t)))


def ode_overlap(run: Run, t: Array) -> Array:
    """Return the mean over teacher units of the largest cosine, by the ODE.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        NaN beyond the end of the solution.
    """
    return solution(run).trace(lambda state: state.overlap(), t)


SOURCE = "saad95; docs/theory.md, 4.18"
WHERE = (
    'plain ReLU, erf and Hermite networks on data.kind = "regression" with a teacher of the same '
    "neurons"
)
ENDS = "ends where a ReLU neuron reaches v_j = 0"
ODE = f"the risk of d(a, Q, R)/dt, Q = V V', R = V V*', from the run's start; {ENDS}"
TEX = r"\frac{1}{2}\,E(f-f^*)^2"
OBSERVABLES = (
    Observable(
        "population_risk",
        "exact risk on all inputs",
        "E (f(x) - f*(x))^2/2, x ~ N(0, I), f* the teacher without noise",
        SOURCE,
        population_risk,
        applies=has_teacher,
        where=WHERE,
        tex=TEX,
        normalisation="an expectation",
    ),
    Observable(
        "log10_population_risk",
        "log10 of the exact risk on all inputs",
        "log10 of E (f(x) - f*(x))^2/2, x ~ N(0, I), f* the teacher without noise",
        SOURCE,
        log10_population_risk,
        applies=has_teacher,
        where=WHERE,
        tex=rf"\log_{{10}}\,{TEX}",
        normalisation="an expectation",
    ),
    Observable(
        "teacher_overlap",
        "overlap with the teacher",
        "mean over the teacher's units n of max_j cos(v_j, v*_n)",
        SOURCE,
        teacher_overlap,
        applies=has_teacher,
        where=WHERE,
        tex=r"\frac{1}{M}\sum_n\max_j\cos(v_j,v^*_n)",
        normalisation="a cosine",
    ),
    Observable(
        "teacher_cosine",
        "largest cosine with the teacher's units",
        "max_n cos(v_j, v*_n)",
        SOURCE,
        nearest_unit,
        shape=Shape.NODE,
        applies=has_teacher,
        where=WHERE,
        tex=r"\max_n\cos(v_j,v^*_n)",
        normalisation="a cosine",
    ),
)
PREDICTIONS = (
    Prediction(
        "population_risk_ode",
        "population_risk",
        "ODE",
        "exact risk by the ODE of the order parameters",
        ODE,
        SOURCE,
        ode_risk,
        has_teacher,
        condition,
        WHERE,
        tex=TEX,
    ),
    Prediction(
        "log10_population_risk_ode",
        "log10_population_risk",
        "ODE",
        "log10 of the exact risk by the ODE of the order parameters",
        f"log10 of {ODE}",
        SOURCE,
        ode_log10_risk,
        has_teacher,
        condition,
        WHERE,
        tex=rf"\log_{{10}}\,{TEX}",
    ),
    Prediction(
        "teacher_overlap_ode",
        "teacher_overlap",
        "ODE",
        "overlap with the teacher by the ODE",
        "mean over n of max_j R_jn/(Q_jj T_nn)^(1/2), by d(a, Q, R)/dt from the run's start; "
        f"{ENDS}",
        SOURCE,
        ode_overlap,
        has_teacher,
        condition,
        WHERE,
        tex=r"\frac{1}{M}\sum_n\max_j R_{jn}/\sqrt{Q_{jj}T_{nn}}",
    ),
)
