"""Small problems for every kind of network, data of several classes included."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.data.dataset import Dataset
from core.losses import LOSSES
from core.network.parametrisation import Shape
from core.network.registry import build_network, initial_arrays
from core.problem.problem import Problem, Start, resolve_problem
from core.study_file.validation import build_experiment


@dataclass(frozen=True)
class Case:
    """A kind of network with settings, a loss that fits, and a number of classes."""

    kind: str
    loss: str = "logistic"
    classes: int = 2
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([self.kind, self.loss, *(f"{k}={v}" for k, v in self.settings.items())])


TWO_LAYER = (
    Case("standard", "exponential"),
    Case("standard", "logistic"),
    Case("standard", "squared"),
    Case("standard", "least_squares"),
    Case("standard", settings={"slope": 0.3}),
    Case("scalar"),
    Case("normalised", "exponential"),
    Case("fixed_outer", "exponential"),
    Case("fixed_outer", "logistic", settings={"smooth": True}),
    Case("batch_norm"),
    Case("batch_norm", "squared", settings={"eps": 0.1}),
    Case("batch_norm", settings={"normalise": False}),
    Case("bias", "squared"),
    Case("multiclass", "cross_entropy", 3),
    Case("multiclass", "cross_entropy", 4, {"biases": True}),
    Case("quadratic", "cross_entropy", 3),
    Case("linear", settings={"init": "random", "scale": 1.0}),
)
UNCOMPILED = (Case("tanh"), Case("tanh", "squared"))  # two-layer networks of the general engines
HOMOGENEOUS = tuple(
    case for case in TWO_LAYER if not case.settings.get("smooth") and not LOSSES[case.loss].fits
)


def small_problem(
    case: Case,
    dynamics: dict[str, Any] | None = None,
    d: int = 7,
    n: int = 12,
    m: int = 9,
    seed: int = 0,
    **tables: dict[str, Any],
) -> Problem:
    """Return a problem with Gaussian-like data of the case's classes and the paper's start."""
    network = {"kind": case.kind, "m": m, **case.settings}
    d += -d % int(case.settings.get("rows", 1))  # a matrix of this many rows
    experiment = build_experiment(
        {
            "data": {"d": d, "n": n, **tables.get("data", {})},
            "network": network,
            "loss": {"kind": case.loss, **tables.get("loss", {})},
            "dynamics": dynamics or {"kind": "gd", "step": 0.1, "until_log10_time": 1.0},
            "recording": tables.get("recording", {"frames": 6}),
            "run": {"seed": seed, **tables.get("run", {})},
        },
        "test",
    )
    if case.classes == 2:
        return resolve_problem(experiment)
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((n, d)) / np.sqrt(d)
    y = (np.arange(n) % case.classes).astype(np.float64)
    dataset, shape = Dataset(x, y, classes=case.classes), Shape(m, x, case.classes)
    arrays = initial_arrays(experiment.network, shape, generator)
    net = build_network(experiment.network, shape, arrays)
    flat = net.pack(arrays)
    return Problem(experiment, dataset, net, Start(flat, flat))


def at_a_random_point(problem: Problem, seed: int = 5) -> tuple[Problem, np.ndarray]:
    """Return the problem, and parameters near its start without any of its symmetries."""
    generator = np.random.default_rng(seed)
    start = problem.start.parameters
    flat = start + 0.3 * np.abs(start).mean() * generator.standard_normal(start.size)
    return replace(problem, start=Start(flat, flat)), flat


HEADS = (
    Case("head", "exponential", settings={"depth": 1, "normaliser": "layer"}),
    Case("head", "logistic", settings={"depth": 2, "hidden": 8}),
    Case("head", "exponential", settings={"depth": 3, "hidden": 6, "normaliser": "layer"}),
)

LINEAR_PREDICTORS = (
    Case("diagonal_linear", "exponential", settings={"layers": 3, "init": "random"}),
    Case("diagonal_linear", settings={"form": "squares", "init": "random"}),
    Case("deep_linear", "exponential", settings={"init": "random", "scale": 1.0}),
    Case("deep_linear", settings={"init": "random", "layers": 2, "scale": 1.0}),
    Case("deep_linear", settings={"init": "random", "rows": 2, "scale": 1.0}),
)

OWN_NETWORK = '''
"""A three-layer network with a skip connection, homogeneous in its outer weights only."""
import torch

degree = 1
homogeneous = ["w"]
directions = "V"
outer = "w"

def initial(generator, m, d, k):
    return {"V": generator.standard_normal((m, d)), "w": generator.standard_normal(m) / m}

def outputs(parameters, x):
    return torch.tanh(x @ parameters["V"].T) @ parameters["w"]
'''
