"""Teacher of a problem: the network whose outputs are the targets."""

from __future__ import annotations

import numpy as np

from core.data.regression import RegressionData
from core.network.erf_inputs import ErfTeacher
from core.network.gaussian_inputs import ReluTeacher, Teacher
from core.network.hermite_inputs import HermiteTeacher
from core.network.parametrisation import Array, Network
from core.problem.problem import Problem, with_directions


def teacher_of(problem: Problem) -> Teacher:
    """Return the teacher of a problem whose data have directions "positive" and "negative".

    Its inner weights V (M, d) are these directions, in full coordinates, and its outer weights c
    (M,) their signs, +-1. Its neurons are those of `data.neurons`, ReLUs for other data than
    "regression". Raises KeyError for data without such directions.
    """
    directions = with_directions(problem).directions
    up, down = directions["positive"], directions["negative"]
    c = np.concatenate([np.ones(up.shape[0]), -np.ones(down.shape[0])])
    V, data = np.concatenate([up, down]), problem.experiment.data
    neurons = data.neurons if isinstance(data, RegressionData) else "relu"
    if isinstance(data, RegressionData) and neurons == "hermite":
        return HermiteTeacher(c, V, data.degree)
    return ErfTeacher(c, V) if neurons == "erf" else ReluTeacher(c, V)


def student_weights(network: Network, flat: Array) -> tuple[Array, Array]:
    """Return the outer weights (m,) and inner weights (m, D) of a student.

    Parameters
    ----------
    network : Network
        Network with parameters a and V, or V alone.
    flat : array (size,)
        Trained parameters.

    Returns
    -------
    tuple of arrays
        a (m,), 1 where they are no parameters, and V (m, D).
    """
    parts = network.unpack(flat)
    V = np.asarray(parts["V"])
    return np.asarray(parts.get("a", np.ones(V.shape[0]))), V
