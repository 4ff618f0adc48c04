"""The largest margin of modular addition: attained, not exceeded, and its penalised level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from core.errors import InputError
from core.reference.modular import gamma_star, penalised_optimum
from tests.modular.closed_form import (
    best_network,
    cubed_norms,
    quadratic_margin,
    quadratic_outputs,
)

KNOWN = {5: 0.03042903, 7: 0.01714482, 11: 0.00820610, 13: 0.00629043, 23: 0.00257957}


@pytest.mark.parametrize("p", KNOWN)
def test_the_explicit_network_attains_it(p: int) -> None:
    U, V, W = best_network(p)
    assert U.shape == V.shape == W.shape == (3 * (p - 1), p)
    assert (U**2 + V**2 + W**2).sum(axis=1) == pytest.approx(np.ones(3 * (p - 1)), abs=1e-13)
    ratio = quadratic_margin(U, V, W) / cubed_norms(U, V, W)
    assert ratio == pytest.approx(gamma_star(p), rel=1e-12)
    assert gamma_star(p) == pytest.approx(KNOWN[p], abs=5e-9)


@pytest.mark.parametrize("p", [5, 7, 13])
def test_all_gaps_of_it_are_equal(p: int) -> None:
    f = quadratic_outputs(*best_network(p))
    own = (np.arange(p)[:, None] + np.arange(p)) % p
    gaps = np.take_along_axis(f, own[:, :, None], axis=2) - f
    others = gaps[np.arange(p) != own[:, :, None]]
    assert others.std() < 1e-12 * others.mean()


def test_outputs_by_the_definition() -> None:
    g = np.random.default_rng(0)
    U, V, W = (g.standard_normal((4, 5)) for _ in range(3))
    f = quadratic_outputs(U, V, W)
    for a, b, c in ((0, 0, 0), (1, 3, 2), (4, 4, 1)):
        assert f[a, b, c] == pytest.approx(sum(W[:, c] * (U[:, a] + V[:, b]) ** 2))


def test_no_network_near_or_far_has_more() -> None:
    """An ascent on a smooth minimum of the gaps, over N, from the best network and from chance."""
    import torch

    p = 5
    index = torch.arange(p)
    own = (index[:, None] + index) % p
    others = torch.ones(p, p, p, dtype=torch.bool).scatter(2, own[:, :, None], False)

    def ratio(theta: torch.Tensor, sharp: float) -> torch.Tensor:
        u, v, w = theta
        f = torch.einsum("jab,jc->abc", (u[:, :, None] + v[:, None, :]) ** 2, w)
        gaps = (f.gather(2, own[:, :, None]) - f)[others]
        norm = (theta**2).sum(dim=(0, 2)).pow(1.5).sum()
        return -torch.logsumexp(-sharp * gaps / norm, 0) / sharp

    torch.manual_seed(0)
    chance = torch.randn(3, 40, p, dtype=torch.float64)
    near = torch.tensor(np.array(best_network(p)))
    for theta in (chance, near + 0.1 * torch.randn_like(near)):
        theta.requires_grad_(True)
        for sharp in (1e3, 1e4):
            adam = torch.optim.Adam([theta], lr=0.01)
            for _ in range(120):
                adam.zero_grad()
                (-ratio(theta, sharp)).backward()
                adam.step()
        U, V, W = theta.detach().numpy()
        found = quadratic_margin(U, V, W) / cubed_norms(U, V, W) / gamma_star(p)
        assert 0.7 < found <= 1.0 + 1e-12


@pytest.mark.parametrize(
    ("p", "risk"), [(5, 0.0032917), (7, 0.0058497), (11, 0.012261), (13, 0.016025), (23, 0.039538)]
)
def test_the_penalised_level(p: int, risk: float) -> None:
    penalty, gamma = 1e-4, gamma_star(p)
    found, norm = penalised_optimum(p, penalty)
    assert found == pytest.approx(risk, rel=5e-5)
    assert found == pytest.approx(np.log1p((p - 1) * np.exp(-gamma * norm)), rel=1e-10)
    least = minimize_scalar(
        lambda N: np.log1p((p - 1) * np.exp(-gamma * N)) + penalty * N,
        bounds=(0.0, 1e5),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert norm == pytest.approx(least.x, rel=1e-5)


def test_a_penalty_that_leaves_nothing() -> None:
    assert penalised_optimum(5, 1.0) == (pytest.approx(np.log(5.0)), 0.0)
    with pytest.raises(InputError, match="above 0"):
        penalised_optimum(5, 0.0)


@pytest.mark.parametrize(("p", "near"), [(1, 3), (2, 3), (4, 5), (8, 9)])
def test_only_odd_moduli(p: int, near: int) -> None:
    with pytest.raises(InputError, match=rf"p = {p} is not odd .*; choose .* {near}\."):
        gamma_star(p)


@pytest.mark.parametrize("p", [9, 15])
def test_gamma_star_of_odd_moduli_that_are_not_prime(p: int) -> None:
    """A network that has it, and the largest mean gap of one node, over random starts.

    The mean gap with equal weights bounds every margin. For fixed v and w the best u is along
    its gradient, so that each turn of the three vectors only raises the mean gap.
    """
    U, V, W = best_network(p)
    assert quadratic_margin(U, V, W) / cubed_norms(U, V, W) == pytest.approx(gamma_star(p))
    own = (np.arange(p)[:, None] + np.arange(p)[None, :]) % p
    generator, best = np.random.default_rng(0), 0.0
    for _ in range(20):
        u, v, w = generator.standard_normal((3, p))
        for _ in range(300):
            centred = (w - w.mean()) * p / (p - 1.0)
            u = centred[own] @ v
            u *= 3.0**-0.5 / np.linalg.norm(u)
            v = u @ centred[own]
            v *= 3.0**-0.5 / np.linalg.norm(v)
            w = np.array([(np.outer(u, v)[own == c]).sum() for c in range(p)])
            w = (w - w.mean()) * 3.0**-0.5 / np.linalg.norm(w - w.mean())
        hidden = (u[:, None] + v[None, :]) ** 2
        gaps = hidden * (w[own] - w.mean()) * p / (p - 1.0)
        best = max(best, float(gaps.mean()))
    assert best == pytest.approx(gamma_star(p), rel=1e-6)
