"""Choice and change of coordinates: plain, or row-space form (core.problem.reduction).

The form is exact for full-batch training, and for stochastic descent on the training set, of
networks with `row_space`: each gradient in v_j is in the span of the (centred) data rows and of
v_j(0).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.network.parametrisation import Shape
from core.network.registry import build_network
from core.problem.problem import Problem, Start
from core.problem.reduction import Reduction, reduction

Array = NDArray[np.float64]
Change = Callable[[Array], Array]
# Smaller problems take about 0.1 ms per step directly, and plain coordinates are easier to inspect.
SMALLEST = 1_000_000
GAIN = 2.0  # ratio of dimensions


def can_reduce(problem: Problem) -> bool:
    """Return True if network and dynamics stay within the row space, and the start is at t = 0."""
    dynamics, start = problem.experiment.dynamics, problem.start
    fresh = start.step == 0 and np.array_equal(start.parameters, start.origin)
    return dynamics.in_row_space() and fresh and problem.network.row_space


def is_cheaper(problem: Problem) -> bool:
    """Return True if the form at least halves the cost of a step.

    d >= 2 (n + 1), and m n d >= 1e6.
    """
    data, m = problem.dataset, problem.network.m
    return data.d >= GAIN * (data.n + 1) and float(m) * data.n * data.d >= SMALLEST


def reduce_rows(problem: Problem) -> Problem:
    """Return a problem in row-space form; one that has this form already is unchanged.

    Raises InputError where the form would not be exact.
    """
    if problem.reduction is not None:
        return problem
    if not can_reduce(problem):
        raise InputError(
            f'Row-space form is not exact for network.kind = "{problem.network.kind}" under '
            f'dynamics.kind = "{problem.experiment.dynamics.kind}" from this start.'
        )
    # Isometric coordinates instead of coefficients of the rows, whose X X' may be badly conditioned
    # and would concern every engine (docs/decisions/0005).
    network, x = problem.network, problem.dataset.x
    form = reduction(x, network.directions(problem.start.origin), network.centred)
    return _change_coordinates(problem, form, form.training(x), form.inner)


def restore_rows(problem: Problem) -> Problem:
    """Return a problem in plain coordinates; one that has these already is unchanged."""
    if problem.reduction is None:
        return problem
    return _change_coordinates(problem, None, problem.dataset.x, problem.reduction.full)


def choose_coordinates(problem: Problem) -> Problem:
    """Return a problem in the coordinates that suit its dynamics best."""
    if problem.reduction is not None:
        return problem if problem.experiment.dynamics.in_row_space() else restore_rows(problem)
    return reduce_rows(problem) if will_be_reduced(problem) else problem


def will_be_reduced(problem: Problem) -> bool:
    """Return True if a problem in plain coordinates will run in row-space form."""
    return problem.reduction is None and is_cheaper(problem) and can_reduce(problem)


def _change_coordinates(
    problem: Problem, form: Reduction | None, x: Array, change: Change
) -> Problem:
    """Return the problem with start and data in the coordinates of a form."""
    previous = problem.network
    fixed = {name: change(a) if name == "V" else a for name, a in previous.fixed.items()}
    shape = Shape(previous.m, x, previous.k)
    network = build_network(problem.experiment.network, shape, fixed)

    def changed(flat: Array) -> Array:
        parts = previous.unpack(flat)
        return network.pack({name: change(a) if name == "V" else a for name, a in parts.items()})

    start = problem.start
    origin = changed(start.origin)
    is_at_origin = start.parameters is start.origin or np.array_equal(
        start.parameters, start.origin
    )
    parameters = origin if is_at_origin else changed(start.parameters)
    # Earlier frames are in the other coordinates; only a new dynamics changes the coordinates.
    start = Start(
        parameters,
        origin,
        start.rho,
        start.step,
        start.log10_time,
        start.continues,
        start.same_dynamics,
    )
    return replace(problem, network=network, start=start, reduction=form)
