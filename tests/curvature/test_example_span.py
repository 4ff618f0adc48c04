"""The Hessian in the span of the examples' gradients: against the dense one, whose eigenvalues
LAPACK counts, and where Lanczos is made to end at the wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from core.dynamics import example_span
from core.dynamics.curvature import Curvature
from core.dynamics.example_span import ProvedSharpness, _ExampleSpan, has_span
from core.problem.problem import Problem
from tests.networks import HEADS, TWO_LAYER, Case, small_problem

CASES = [case for case in TWO_LAYER if has_span(small_problem(case))]
SLACK = 1e-4


def dense(problem: Problem, flat: np.ndarray, whole: bool = True) -> np.ndarray:
    curvature = Curvature(problem, flat)
    product = curvature if whole else curvature.gauss_newton
    return np.linalg.eigvalsh(np.array([product(one) for one in np.eye(flat.size)]))[::-1]


def moved(problem: Problem, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal(problem.network.size)
    return np.asarray(problem.physical_start() + 0.3 * noise)


def gradient(problem: Problem, flat: np.ndarray) -> np.ndarray:
    """Return n grad R."""
    g = np.asarray(problem.loss.output_gradient(problem.outputs(flat), problem.dataset.y))
    return np.asarray(problem.network.gradient(flat, problem.inputs, g))


def span_of(problem: Problem, flat: np.ndarray, whole: bool = True) -> _ExampleSpan:
    return _ExampleSpan(problem, problem.inputs @ problem.inputs.T, flat, whole)


def test_which_networks_have_it() -> None:
    """One output, weights that are parameters, no curvature of the activation."""
    kinds = {case.kind for case in CASES}
    assert kinds >= {"standard", "bias", "fixed_outer"}
    assert not kinds & {"normalised", "scalar", "batch_norm", "quadratic"}
    assert not has_span(small_problem(HEADS[0]))
    cubes = small_problem(Case("standard"), loss={"l23": 0.1})
    assert not has_span(cubes)
    with pytest.raises(ValueError, match="no form"):
        ProvedSharpness(cubes)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "gauss_newton"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_the_dense_hessian(case: Case, whole: bool) -> None:
    """At most the slack below, and above by rounding alone: Ritz values are never above."""
    problem = small_problem(case, loss={"l2": 0.01})
    for seed in range(3):
        flat = moved(problem, seed)
        known = dense(problem, flat, whole)[:3]
        found = ProvedSharpness(problem).prove_at(flat, 3, SLACK, whole)
        assert found is not None
        assert (found <= known + 1e-12 * known[0]).all()
        assert (found >= known - SLACK * known[0]).all()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_eigenvalues_above_a_number_are_counted(case: Case) -> None:
    """Also below the largest |q_j|, where nodes count by themselves."""
    problem = small_problem(case)
    flat = moved(problem)
    known = dense(problem, flat)
    positive = known[known > 1e-9 * known[0]]
    ends = np.concatenate([[2.0 * known[0]], positive])
    span = span_of(problem, flat)
    apart = ends[1:] < ends[:-1] * (1.0 - 1e-9)
    for mu in np.sqrt(ends[1:] * ends[:-1])[apart]:  # between two of them
        assert span._count_above(mu / span._scale) == (known > mu).sum()


def test_a_wrong_end_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanczos that stops after a step has nothing; what the proof finds above it leads on."""
    monkeypatch.setattr(example_span, "RESIDUALS", (1e9,))
    problem = small_problem(Case("standard", "squared"), n=40, m=60, d=10)
    flat = moved(problem)
    assert ProvedSharpness(problem).prove_at(flat, 1, SLACK) is None
    monkeypatch.setattr(example_span, "RESIDUALS", (1e9, 1e-3))
    found = ProvedSharpness(problem).prove_at(flat, 1, SLACK)
    assert found == pytest.approx(dense(problem, flat)[:1], rel=SLACK)


def test_what_the_proof_finds_is_above() -> None:
    """Its Rayleigh quotient is more than the number that was to be proved."""
    problem = small_problem(Case("standard", "squared"), n=40, m=60, d=10)
    span = span_of(problem, moved(problem))
    top = span.prove_eigenvalues(1, SLACK)
    assert top is not None
    for share in (0.6, 0.9, 0.999):
        mu = share * float(top[0]) / span._scale
        v = span._find_missed(mu)
        lowered = span._metric(v)
        assert lowered @ span._product(lowered) > mu * (v @ lowered)


@pytest.mark.parametrize(("factor", "least", "most"), [(1.0, 0.0, 1e-60), (-1.0, 1e60, np.inf)])
def test_late_in_a_run(factor: float, least: float, most: float) -> None:
    """Losses far below 1 and far above: the numbers of the proof keep their size."""
    problem = small_problem(Case("standard", "exponential"))
    flat = problem.physical_start()
    for _ in range(200):
        flat = flat - 0.5 * gradient(problem, flat) / np.linalg.norm(gradient(problem, flat))
    assert (problem.outputs(flat) * problem.dataset.y > 0.0).all()
    flat = flat * abs(factor)
    if factor < 0.0:
        flat[: problem.network.m] *= -1.0  # the outer weights: every example is wrong
    known = dense(problem, flat)
    assert least < known[0] < most
    found = ProvedSharpness(problem).prove_at(flat, 1, SLACK)
    assert found is not None
    assert found[0] == pytest.approx(known[0], rel=SLACK)


def test_no_proof_of_what_is_not_there() -> None:
    """Nodes that are all dead; weights beyond float64; equal eigenvalues, one of which is found."""
    problem = small_problem(Case("standard", "squared"))
    proof = ProvedSharpness(problem)
    flat = problem.physical_start()
    assert proof.prove_at(np.zeros_like(flat), 1, SLACK) is None
    assert proof.prove_at(1e200 * flat, 1, SLACK) is None
    twins = _twins(problem)
    known = dense(problem, twins)
    assert known[3] == pytest.approx(known[4], rel=1e-12)
    assert proof.prove_at(twins, 5, SLACK) is None
    assert proof.prove_at(twins, 1, SLACK) == pytest.approx(known[:1], rel=SLACK)


def _twins(problem: Problem) -> np.ndarray:
    """Return the start with every node alike but for a sign."""
    parts = problem.network.unpack(problem.physical_start())
    signs = np.where(np.arange(problem.network.m) % 2, 1.0, -1.0)
    a = parts["a"][0] * signs
    V = np.tile(parts["V"][0], (problem.network.m, 1))
    return np.concatenate([a, V.ravel()])
