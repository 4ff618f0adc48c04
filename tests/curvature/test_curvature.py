"""The Hessian of the risk: against central differences of the gradient, autograd of the whole risk,
and dense eigenvalues; Lanczos against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.dynamics.curvature import (
    MOST_PARAMETERS,
    Curvature,
    check_size,
    gauss_newton_sharpness,
    sharpness,
)
from core.dynamics.lanczos import top_eigenvalues
from core.dynamics.step_size import lambda_0
from core.errors import InputError
from core.network import custom
from core.network.quadratic import cubed_norm_curvature, cubed_norm_gradient, node_blocks
from core.problem.problem import Problem
from tests.networks import HEADS, TWO_LAYER, UNCOMPILED, Case, small_problem

CASES = (*TWO_LAYER, *UNCOMPILED, HEADS[0])


def gradient(problem: Problem, flat: np.ndarray) -> np.ndarray:
    f = problem.outputs(flat)
    g = np.asarray(problem.loss.output_gradient(f, problem.dataset.y)) / problem.dataset.n
    slope = np.asarray(problem.network.gradient(flat, problem.inputs, g))
    loss = problem.experiment.loss
    cubes = loss.l23 * cubed_norm_gradient(problem.network, flat) if loss.l23 else 0.0
    return slope + 2.0 * loss.l2 * flat + cubes


def dense(problem: Problem, flat: np.ndarray) -> np.ndarray:
    product = Curvature(problem, flat)
    return np.array([product(one) for one in np.eye(flat.size)])


def has_groups(case: Case) -> bool:
    try:
        node_blocks(small_problem(case).network)
    except ValueError:
        return False
    return True


GROUPED = [case for case in TWO_LAYER if has_groups(case)]


@pytest.mark.parametrize(
    ("case", "l23"),
    [*((case, 0.0) for case in CASES), *((case, 0.05) for case in GROUPED)],
    ids=str,
)
def test_products_are_differences_of_the_gradient(case: Case, l23: float) -> None:
    """Central differences along random directions, h = 1e-5: the error is h^2 of third derivatives
    and rounding over h, 1e-9 or so; of 12 points and 9 nodes no pattern changes within h."""
    problem = small_problem(case, loss={"l2": 0.01, "l23": l23})
    flat = problem.physical_start() + 0.1 * np.random.default_rng(0).standard_normal(
        problem.network.size
    )
    product, h = Curvature(problem, flat), 1e-5
    for w in np.random.default_rng(1).standard_normal((3, flat.size)):
        along = (gradient(problem, flat + h * w) - gradient(problem, flat - h * w)) / (2.0 * h)
        scale = np.abs(along).max()
        assert np.abs(product(w) - along).max() < 1e-6 * max(scale, 1.0)


@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_the_curvature_of_cubes_is_symmetric_and_euler_s(case: Case) -> None:
    """N has degree 3: (Hessian) theta = 2 grad N. At nodes of length 0 it is 0."""
    network = small_problem(case).network
    flat = np.random.default_rng(2).standard_normal(network.size)
    for offset, width in node_blocks(network).tolist():
        flat[offset : offset + width] = 0.0  # node 0
    whole = np.array([cubed_norm_curvature(network, flat, one) for one in np.eye(flat.size)])
    assert np.abs(whole - whole.T).max() <= 1e-14 * np.abs(whole).max()
    assert whole @ flat == pytest.approx(2.0 * cubed_norm_gradient(network, flat), rel=1e-13)
    assert not whole[flat == 0.0].any()


@pytest.mark.parametrize("case", [case for case in CASES[:-1] if case.classes == 2], ids=str)
def test_the_hessian_is_that_of_the_whole_risk(case: Case) -> None:
    """Of R as one function of the parameters, by autograd, to rounding; symmetric by itself."""
    problem = small_problem(case)
    flat = problem.physical_start()
    x, y = torch.tensor(problem.inputs), torch.tensor(problem.dataset.y)
    losses = {
        "exponential": lambda p: torch.exp(-p),
        "logistic": lambda p: torch.nn.functional.softplus(-p),
        "squared": lambda p: (1.0 - p) ** 2,
        "least_squares": lambda p: 0.5 * (1.0 - p) ** 2,  # of labels +-1
    }

    def risk(theta: torch.Tensor) -> torch.Tensor:
        return losses[case.loss](y * problem.network.outputs(theta, x)).mean()

    whole = torch.autograd.functional.hessian(risk, torch.tensor(flat)).numpy()
    ours = dense(problem, flat)
    scale = np.abs(whole).max()
    assert np.abs(ours - ours.T).max() < 1e-13 * scale
    assert np.abs(ours - whole).max() < 1e-12 * scale


@pytest.mark.parametrize("case", CASES, ids=str)
def test_sharpness_is_that_of_the_dense_hessian(case: Case) -> None:
    problem = small_problem(case)
    flat = problem.physical_start()
    values = np.linalg.eigvalsh(dense(problem, flat))[::-1][:3]
    found = sharpness(problem, flat)
    assert found.values == pytest.approx(values, abs=1e-4 * abs(values[0]))
    assert (found.bounds <= 1e-4 * np.abs(values).max() * 1.01).all() or found.products == flat.size
    exact = sharpness(problem, flat, tolerance=1e-12)
    assert exact.values == pytest.approx(values, abs=1e-9 * abs(values[0]))


def test_the_gauss_newton_part_is_lambda_0() -> None:
    """Which the default step is one over: at the start the same number by another way."""
    for case in (Case("standard", "squared"), Case("bias"), Case("standard", "exponential")):
        problem = small_problem(case)
        flat = problem.physical_start()
        found = gauss_newton_sharpness(problem, flat, 1e-10)
        assert found == pytest.approx(lambda_0(problem), rel=1e-8)


def test_without_pytorch_the_closed_form_is_there_and_others_say_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(custom, "has_pytorch", lambda: False)
    plain = small_problem(Case("standard"))
    assert sharpness(plain, plain.physical_start()).largest > 0.0
    other = small_problem(Case("normalised"))
    with pytest.raises(
        InputError, match=r'sharpness of network\.kind = "normalised" needs PyTorch'
    ):
        sharpness(other, other.physical_start())


def test_too_many_parameters_are_refused() -> None:
    network = small_problem(Case("standard")).network

    class Large:
        size = MOST_PARAMETERS + 1

    check_size(network)
    with pytest.raises(InputError, match=r"1e\+07 parameters is not computed"):
        check_size(Large())


# ---------------------------------------------------------------------------------------- Lanczos


@pytest.mark.parametrize("size", [1, 2, 5, 60])
@pytest.mark.parametrize("count", [1, 3])
def test_lanczos_against_lapack(size: int, count: int) -> None:
    g = np.random.default_rng(size)
    A = g.standard_normal((size, size))
    A += A.T
    found = top_eigenvalues(lambda v: A @ v, size, count, 1e-9)
    known = np.linalg.eigvalsh(A)[::-1][:count]
    assert found.values == pytest.approx(known, abs=1e-8 * np.abs(known).max())
    residual = np.linalg.norm(found.vectors @ A - found.values[:, None] * found.vectors, axis=1)
    assert (residual <= found.bounds + 1e-12 * np.abs(A).max() * size).all()
    assert found.vectors @ found.vectors.T == pytest.approx(np.eye(len(known)), abs=1e-10)


def test_copies_nothing_and_negative_operators() -> None:
    many = np.repeat([4.0, 2.0], [3, 30])
    assert top_eigenvalues(lambda v: many * v, 33, 3, 1e-9).values == pytest.approx([4, 4, 4])
    assert top_eigenvalues(lambda v: many * v, 33, 4, 1e-9).values == pytest.approx([4, 4, 4, 2])
    assert top_eigenvalues(lambda v: 0.0 * v, 5_000, 3).products < 10
    assert top_eigenvalues(lambda v: 0.0 * v, 5, 2).values == pytest.approx([0.0, 0.0])
    down = -np.arange(1.0, 9.0)
    assert top_eigenvalues(lambda v: down * v, 8, 2, 1e-9).values == pytest.approx([-1.0, -2.0])
    start = np.eye(33)[32]  # an eigenvector of another value
    assert top_eigenvalues(lambda v: many * v, 33, 1, 1e-9, start).largest == pytest.approx(4.0)


def test_an_operator_that_is_not_finite_gives_nan() -> None:
    found = top_eigenvalues(lambda v: v * np.inf, 4, 2)
    assert np.isnan(found.values).all()
    assert found.products == 1
