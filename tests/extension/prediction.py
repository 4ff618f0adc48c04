"""A prediction: the distance from the start, as long as the gradient is that of the start."""

from __future__ import annotations

import numpy as np

from core.network.parametrisation import Array
from core.observables.prediction import Prediction
from core.observables.registry import PREDICTIONS
from core.runs import Run


def values(run: Run, t: Array) -> Array:
    """|W(t) - W(0)| = t |grad R(W(0))|."""
    problem, f = run.problem, run.problem.outputs(run.origin)
    g = problem.loss.output_gradient(f, run.dataset.y) / run.dataset.n
    return np.asarray(t * np.linalg.norm(run.network.gradient(run.origin, run.inputs, g)))


def suits(run: Run) -> bool:
    return run.network.kind == "cubed"


def condition(run: Run) -> str:
    plain = run.experiment.dynamics.full_gradient and not run.experiment.loss.is_penalised
    return (
        ""
        if plain
        else "the start's gradient says how fast full-batch descent moves, without a penalty"
    )


PREDICTIONS.add(
    Prediction(
        "tangent_distance",
        of="distance",
        label="tangent",
        title="distance along the first gradient",
        formula="t |grad R(W(0))|",
        source="docs/extend.md",
        function=values,
        suits=suits,
        condition=condition,
        where="cubed networks",
        tex=r"t\,|\nabla R(W(0))|",
    )
)
