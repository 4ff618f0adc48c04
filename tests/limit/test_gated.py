"""The program of fixed patterns: closed forms, another solver, and that no network is beyond it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from core.reference.gated import Gates, gated_limit, gates_of
from core.reference.global_margin import global_margin
from core.reference.watch import Watch
from core.runs import Recorder, open_run
from core.training.trajectory import run
from tests.networks import Case, small_problem
from tests.problems import problem

Sample = tuple[np.ndarray, np.ndarray, Gates]


def sample(n: int, d: int, m: int, seed: int) -> Sample:
    """Points that a network fits, with the gates of its nodes."""
    g = np.random.default_rng(seed)
    x, V, a = g.standard_normal((n, d)), g.standard_normal((m, d)), g.standard_normal(m)
    y = np.sign(np.maximum(x @ V.T, 0.0) @ a)
    active = (V @ x.T) > 0.0
    used = active.any(axis=1)
    return x, y, Gates(np.sign(a)[used], active[used])


def price(q: np.ndarray, x: np.ndarray, y: np.ndarray, gates: Gates) -> float:
    """(1/2) max_j |sum_(i in A_j) q_i y_i x_i|."""
    return 0.5 * max(float(np.linalg.norm((q * y * one) @ x)) for one in gates.active)


def by_another_solver(x: np.ndarray, y: np.ndarray, gates: Gates, cells: bool) -> float:
    """The program itself by SLSQP: u (k, d) and t, from a few starts."""
    k, d = len(gates.signs), x.shape[1]
    rows = gates.signs[:, None] * gates.active * y

    def margins(z: np.ndarray) -> np.ndarray:
        return (rows * (z[:-1].reshape(k, d) @ x.T)).sum(axis=0) - z[-1]

    def room(z: np.ndarray) -> float:
        return 0.5 - np.sqrt((z[:-1].reshape(k, d) ** 2).sum(axis=1) + 1e-18).sum()

    rules = [{"type": "ineq", "fun": margins}, {"type": "ineq", "fun": room}]
    if cells:
        side = np.where(gates.active, 1.0, -1.0)
        rules.append(
            {"type": "ineq", "fun": lambda z: (side * (z[:-1].reshape(k, d) @ x.T)).ravel()}
        )
    found = []
    for seed in range(3):
        start = 0.1 * np.random.default_rng(seed).standard_normal(k * d + 1)
        options = {"maxiter": 1000, "ftol": 1e-12}
        done = minimize(lambda z: -z[-1], start, constraints=rules, method="SLSQP", options=options)
        if margins(done.x).min() > -1e-7 and room(done.x) > -1e-7:
            found.append(float(done.x[-1]))
    return max(found)


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_another_solver_finds_the_same(seed: int, cells: bool) -> None:
    x, y, gates = sample(6, 3, 5, seed)
    limit = gated_limit(x, y, gates, Watch(), 2e-6, cells)
    assert limit.lower <= limit.upper <= limit.lower * (1 + 2.1e-6) + 1e-8  # 1e-9 |x| is nothing
    assert limit.upper == pytest.approx(by_another_solver(x, y, gates, cells), abs=2e-5)


@pytest.mark.parametrize("cells", [False, True])
def test_both_ends_are_what_their_witnesses_say(cells: bool) -> None:
    x, y, gates = sample(12, 4, 9, 7)
    limit = gated_limit(x, y, gates, Watch(), 1e-6, cells)
    assert np.linalg.norm(limit.u, axis=1) == pytest.approx(np.ones(len(limit.u)), abs=1e-12)
    assert limit.weights.sum() == pytest.approx(0.5)
    assert limit.q.min() >= 0.0 and limit.q.sum() == pytest.approx(1.0)
    network = limit.weights @ gates.columns(limit.gate, limit.u, x, y)
    assert network.min() == pytest.approx(limit.lower, rel=1e-10)
    if cells:
        side = np.where(gates.active[limit.gate], 1.0, -1.0)
        assert (side * (limit.u @ x.T)).min() > -1e-9
        assert limit.upper <= price(limit.q, x, y, gates) + 1e-12
    else:
        assert limit.upper == pytest.approx(price(limit.q, x, y, gates), rel=1e-12)


def test_cells_are_tighter() -> None:
    for seed in range(6):
        x, y, gates = sample(10, 3, 8, seed)
        wide = gated_limit(x, y, gates, Watch(), 1e-6)
        tight = gated_limit(x, y, gates, Watch(), 1e-6, in_cells=True)
        assert tight.lower <= wide.upper * (1 + 1e-9)


def test_no_network_with_these_patterns_is_beyond_it() -> None:
    """Random weights in the cells of the nodes, and ascents of the smoothed margin from there."""
    at = small_problem(Case("standard", "exponential"), n=12, m=20, d=5)
    flat = at.physical_start()
    gates = gates_of(at, flat)
    limit = gated_limit(at.dataset.x, at.dataset.y, gates, Watch(), 1e-6, in_cells=True)
    a, V = at.network.effective(flat)
    g = np.random.default_rng(0)
    best = -np.inf
    for _ in range(2000):
        scale = np.exp(2.0 * g.standard_normal(at.network.m))
        other = at.network.pack({"a": a * scale, "V": V * scale[:, None]})
        margins = at.margins(other) / np.linalg.norm(other) ** 2
        best = max(best, float(margins.min()))
    assert best <= limit.upper


@pytest.mark.parametrize("m", [16, 256])
def test_the_runs_of_figure_1_stay_below_it(tmp_path: Path, m: int) -> None:
    """And gamma_gl / 2 is a bound of every network: the program in cells may not be above it by
    more than the gates that no node of a better network has."""
    path = tmp_path / "run.msrun"
    settings = ("dynamics.until_log10_time=1e4", "recording.frames=40")
    run(problem(*settings, m=m), partial(Recorder, path))
    with open_run(path) as recorded:
        at = recorded.problem
        for frame in (10, 39):
            flat = recorded.parameters(frame)
            flat = flat / np.linalg.norm(flat)
            limit = gated_limit(at.dataset.x, at.dataset.y, gates_of(at, flat), Watch(), 1e-4)
            assert float(at.margins(flat).min()) <= limit.upper


def test_what_has_one_gate_for_all_is_the_linear_margin() -> None:
    """One node that is active everywhere: half of the largest linear margin."""
    g = np.random.default_rng(3)
    w = g.standard_normal(4)
    x = g.standard_normal((9, 4))
    y = np.sign(x @ w)
    gates = Gates(np.ones(1), np.ones((1, 9), dtype=bool))
    limit = gated_limit(x, y, gates, Watch(), 2e-6)

    def gap(v: np.ndarray) -> float:
        return -float((y * (x @ v)).min() / np.linalg.norm(v))

    # The hard margin's program: min |v|^2 with y <v, x> >= 1.
    done = minimize(
        lambda v: v @ v,
        w * 10,
        constraints=[{"type": "ineq", "fun": lambda v: y * (x @ v) - 1.0}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert 2.0 * limit.upper == pytest.approx(-gap(done.x), rel=1e-5)


def test_every_gate_of_all_directions_is_gamma_gl() -> None:
    """Where every pattern is a gate, the program in cells is the global margin, halved."""
    g = np.random.default_rng(5)
    x = g.standard_normal((7, 2))
    y = np.where(np.arange(7) % 2, 1.0, -1.0)
    angles = np.linspace(0.0, 2.0 * np.pi, 401)
    V = np.column_stack([np.cos(angles), np.sin(angles)])
    active = np.unique(V @ x.T > 0.0, axis=0)
    active = active[active.any(axis=1)]
    both = Gates(np.repeat([1.0, -1.0], len(active)), np.vstack([active, active]))
    limit = gated_limit(x, y, both, Watch(), 1e-5, in_cells=True)
    bracket = global_margin(x, y, Watch()).bracket
    assert 2.0 * limit.lower <= bracket.upper * (1 + 1e-9)
    assert 2.0 * limit.upper >= bracket.lower * (1 - 1e-9)
    assert 2.0 * limit.upper == pytest.approx(bracket.value, rel=1e-3)


def test_examples_that_nobody_can_fit() -> None:
    """A point that no node is active on has margin 0, whatever the others do."""
    gates = Gates(np.ones(1), np.array([[True, False]]))
    limit = gated_limit(np.eye(2), np.ones(2), gates, Watch())
    assert limit.lower == 0.0 and limit.upper == pytest.approx(0.0, abs=1e-9)
    empty = gated_limit(np.eye(2), np.ones(2), Gates(np.zeros(0), np.zeros((0, 2), bool)), Watch())
    assert empty.upper == 0.0
