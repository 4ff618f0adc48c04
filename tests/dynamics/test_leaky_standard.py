"""The standard network with a leaky ReLU: what is true of it, and what is not asked of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.integrator import Outcome
from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.problem.problem import Problem, resolve_problem
from core.reference.registry import references_of
from core.study_file.validation import build_experiment
from core.theorems.registry import applicable_statements
from tests.networks import Case, small_problem
from tests.support.judged_runs import recorded_run

LEAKY = Case("standard", "exponential", settings={"slope": 0.3})
PLAIN = Case("standard", "exponential")
SGD: dict[str, Any] = {"kind": "sgd", "step": 0.1, "until_log10_time": 1.0}


def problem_of(slope: float | None, **dynamics: Any) -> Problem:
    network: dict[str, Any] = {"kind": "standard", "m": 5}
    if slope is not None:
        network["slope"] = slope
    tables = {
        "data": {"kind": "parity", "d": 6, "n": 16},
        "network": network,
        "loss": {"kind": "logistic"},
        "dynamics": dynamics,
        "recording": {"frames": 4},
    }
    return prepare(resolve_problem(build_experiment(tables, "test")))


def last_of(problem: Problem) -> tuple[str, np.ndarray]:
    one = make_integrator(problem)
    while True:
        chunk = one.advance()
        if chunk.outcome is not Outcome.GOING:
            return one.engine, np.asarray(chunk.frames[-1].parameters)


def test_a_file_that_does_not_name_the_slope_has_the_relu() -> None:
    plain, named = problem_of(None, kind="gd"), problem_of(0.0, kind="gd")
    assert plain.experiment == named.experiment
    assert plain.network.plain_relu and not problem_of(0.3, kind="gd").network.plain_relu


@pytest.mark.parametrize("batch", [1, 3])
def test_stochastic_descent_is_continuous_in_the_slope(batch: int) -> None:
    """Rows one by one have an engine that knows ReLUs alone; another one takes the leaky ones."""
    (engine, plain), (other, near), (_, leaky) = (
        last_of(problem_of(slope, **SGD, batch=batch)) for slope in (0.0, 1e-12, 0.3)
    )
    assert ("rows" in engine, "rows" in other) == (batch == 1, False)
    assert np.allclose(plain, near, atol=1e-9)
    assert np.abs(plain - leaky).max() > 1e-3


def test_no_margin_and_no_statement_of_relus_is_its(tmp_path: Path) -> None:
    leaky, plain = small_problem(LEAKY), small_problem(PLAIN)
    of_relus = {"gamma_gl", "gamma_ntk"}
    assert of_relus <= {one.name for one in references_of(plain)}
    assert not of_relus & {one.name for one in references_of(leaky)}
    known = []
    for name, problem in (("leaky", leaky), ("plain", plain)):
        with closing(recorded_run(tmp_path / f"{name}.msrun", problem)) as run:
            known.append({one.full_name() for one in applicable_statements(run)})
    assert known[0] < known[1]
    assert not any(one.startswith(("telgarsky22, Lemma 2", "telgarsky22, T")) for one in known[0])


def test_it_is_a_relu_network_less_its_mirror_image() -> None:
    """phi(z) = relu(z) - slope relu(-z)."""
    leaky, plain = small_problem(LEAKY), small_problem(PLAIN)
    flat, x = leaky.start.parameters, leaky.inputs
    assert np.array_equal(flat, plain.start.parameters)
    wanted = plain.network.outputs(flat, x) - 0.3 * plain.network.outputs(flat, -x)
    assert np.allclose(leaky.network.outputs(flat, x), wanted, rtol=1e-12)


def test_the_kernel_of_infinite_width_is_that_of_the_relu() -> None:
    with pytest.raises(InputError, match=r"use network\.slope = 0"):
        problem_of(0.3, kind="kernel")
