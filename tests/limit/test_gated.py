"""The program of fixed patterns: closed forms, another solver, and that no network is beyond it."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from core.data.cones import simplex
from core.reference.cancel_token import CancelToken
from core.reference.gated_limits import (
    FixedPattern,
    Gates,
    bracket_gated_limit,
    bracket_leaky_limit,
    gates_and_neurons,
)
from core.reference.global_margin import global_margin
from core.reference.leaky import solve_leaky_problem
from core.runs import Recorder, open_run
from core.training.trajectory import run
from tests.networks import Case, small_problem
from tests.problems import problem

Sample = tuple[np.ndarray, np.ndarray, Gates]


def sample(n: int, d: int, m: int, seed: int) -> Sample:
    g = np.random.default_rng(seed)
    x, V, a = g.standard_normal((n, d)), g.standard_normal((m, d)), g.standard_normal(m)
    y = np.sign(np.maximum(x @ V.T, 0.0) @ a)
    active = (V @ x.T) > 0.0
    used = active.any(axis=1)
    return x, y, Gates(np.sign(a)[used], active[used])


def kept_of(cells: bool) -> FixedPattern:
    return FixedPattern.CONES if cells else FixedPattern.GATES


def price(q: np.ndarray, x: np.ndarray, y: np.ndarray, gates: Gates) -> float:
    """Return (1/2) max_j |sum_(i in A_j) q_i y_i x_i|."""
    return 0.5 * max(float(np.linalg.norm((q * y * one) @ x)) for one in gates.active)


def by_another_solver(x: np.ndarray, y: np.ndarray, gates: Gates, kept: FixedPattern) -> float:
    """The program itself: linear in u (k, d), w = relu(<u, x>) on examples of the other label
    (k, n), lengths (k,) and t, with tangent planes for |u_k| <= length_k until none is violated."""
    k, (n, d) = len(gates.signs), x.shape
    first_w, first_s = k * d, k * d + k * n
    size = first_s + k + 1
    other = gates.opposite_labels(y) & (kept is FixedPattern.OWN_LABEL)
    rows: list[np.ndarray] = []
    ends: list[float] = []

    begins = {"u": 0, "w": first_w, "s": first_s, "t": size - 1}

    def at_most(end: float, *parts: tuple[str, int, np.ndarray | float]) -> None:
        row = np.zeros(size)
        for name, place, values in parts:
            begin = begins[name] + (d * place if name == "u" else place)
            row[begin : begin + np.size(values)] = values
        rows.append(row)
        ends.append(end)

    for i in range(n):
        gain = gates.signs * y[i] * gates.active[:, i] * ~other[:, i]
        row = np.zeros(size)
        row[:first_w] = -np.outer(gain, x[i]).ravel()
        row[first_w:first_s].reshape(k, n)[:, i] = other[:, i]
        row[-1] = 1.0
        rows.append(row)
        ends.append(0.0)
    for j, i in product(range(k), range(n)):
        if other[j, i]:
            at_most(0.0, ("u", j, x[i]), ("w", n * j + i, -1.0))
        elif kept is not FixedPattern.GATES:
            at_most(0.0, ("u", j, -x[i] if gates.active[j, i] else x[i]))
    at_most(0.5, ("s", 0, np.ones(k)))
    for j, c in product(range(k), np.vstack([np.eye(d), -np.eye(d)])):
        at_most(0.0, ("u", j, c), ("s", j, -1.0))
    aim = np.zeros(size)
    aim[-1] = -1.0
    bounds = [(None, None)] * first_w + [(0.0, None)] * (k * n + k) + [(None, None)]
    for _ in range(300):
        done = linprog(aim, np.array(rows), np.array(ends), bounds=bounds, method="highs-ds")
        u, s = done.x[:first_w].reshape(k, d), done.x[first_s:-1]
        lengths = np.linalg.norm(u, axis=1)
        long = np.flatnonzero(lengths > s * (1.0 + 1e-5) + 1e-6)
        if not long.size:
            return float(done.x[-1])
        for j in long.tolist():
            at_most(0.0, ("u", j, u[j] / lengths[j]), ("s", j, -1.0))
    raise AssertionError("tangent planes did not come to an end")


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_another_solver_finds_the_same(seed: int, cells: bool) -> None:
    x, y, gates = sample(6, 3, 5, seed)
    limit = bracket_gated_limit(x, y, gates, CancelToken(), 2e-6, kept_of(cells))
    assert limit.lower <= limit.upper <= limit.lower * (1 + 2.1e-6) + 1e-8  # 1e-9 |x| is nothing
    assert limit.upper == pytest.approx(by_another_solver(x, y, gates, kept_of(cells)), abs=2e-5)


@pytest.mark.parametrize("cells", [False, True])
def test_both_ends_are_what_their_witnesses_say(cells: bool) -> None:
    x, y, gates = sample(12, 4, 9, 7)
    limit = bracket_gated_limit(x, y, gates, CancelToken(), 1e-6, kept_of(cells))
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
        wide = bracket_gated_limit(x, y, gates, CancelToken(), 1e-6)
        tight = bracket_gated_limit(x, y, gates, CancelToken(), 1e-6, pattern=FixedPattern.CONES)
        assert tight.lower <= wide.upper * (1 + 1e-9)


def test_no_network_with_these_patterns_is_beyond_it() -> None:
    """Random weights in the cells of the nodes, and ascents of the smoothed margin from there."""
    at = small_problem(Case("standard", "exponential"), n=12, m=20, d=5)
    flat = at.physical_start()
    gates = gates_and_neurons(at, flat)[0]
    limit = bracket_gated_limit(
        at.dataset.x, at.dataset.y, gates, CancelToken(), 1e-6, pattern=FixedPattern.CONES
    )
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
    """Check that the margins of Figure 1's runs do not exceed the limit of their own gates."""
    path = tmp_path / "run.msrun"
    settings = ("dynamics.until_log10_time=1e3", "recording.frames=20")
    run(problem(*settings, m=m), partial(Recorder, path))
    with open_run(path) as recorded:
        at = recorded.problem
        for frame in (5, recorded.frames - 1):
            flat = recorded.parameters(frame)
            flat = flat / np.linalg.norm(flat)
            gates, _ = gates_and_neurons(at, flat)
            limit = bracket_gated_limit(at.dataset.x, at.dataset.y, gates, CancelToken(), 1e-4)
            assert float(at.margins(flat).min()) <= limit.upper


def test_what_has_one_gate_for_all_is_the_linear_margin() -> None:
    """One node that is active everywhere: half of the largest linear margin."""
    g = np.random.default_rng(3)
    w = g.standard_normal(4)
    x = g.standard_normal((9, 4))
    y = np.sign(x @ w)
    gates = Gates(np.ones(1), np.ones((1, 9), dtype=bool))
    limit = bracket_gated_limit(x, y, gates, CancelToken(), 2e-6)

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
    x = g.standard_normal((5, 2))
    y = np.where(np.arange(5) % 2, 1.0, -1.0)
    angles = np.linspace(0.0, 2.0 * np.pi, 401)
    V = np.column_stack([np.cos(angles), np.sin(angles)])
    active = np.unique(V @ x.T > 0.0, axis=0)
    active = active[active.any(axis=1)]
    both = Gates(np.repeat([1.0, -1.0], len(active)), np.vstack([active, active]))
    limit = bracket_gated_limit(x, y, both, CancelToken(), 1e-5, pattern=FixedPattern.CONES)
    bracket = global_margin(x, y, CancelToken()).bracket
    assert 2.0 * limit.lower <= bracket.upper * (1 + 1e-9)
    assert 2.0 * limit.upper >= bracket.lower * (1 - 1e-9)
    assert 2.0 * limit.upper == pytest.approx(bracket.value, rel=1e-3)


def test_examples_that_nobody_can_fit() -> None:
    """A point that no node is active on has margin 0, whatever the others do."""
    gates = Gates(np.ones(1), np.array([[True, False]]))
    limit = bracket_gated_limit(np.eye(2), np.ones(2), gates, CancelToken())
    assert limit.lower == 0.0 and limit.upper == pytest.approx(0.0, abs=1e-9)
    empty = bracket_gated_limit(
        np.eye(2), np.ones(2), Gates(np.zeros(0), np.zeros((0, 2), bool)), CancelToken()
    )
    assert empty.upper == 0.0


# ------------------------------------------------------------- examples of a node's own label


def own(gates: Gates, y: np.ndarray) -> Gates:
    """Return the same nodes, of which only what they are active on of their own label is kept."""
    active = gates.active & ~gates.opposite_labels(y)
    used = active.any(axis=1)
    return Gates(gates.signs[used], active[used])


@pytest.mark.parametrize("seed", range(4))
def test_another_solver_finds_the_same_of_own_examples(seed: int) -> None:
    x, y, gates = sample(6, 3, 5, seed)
    limit = bracket_gated_limit(x, y, own(gates, y), CancelToken(), 1e-5, FixedPattern.OWN_LABEL)
    assert limit.lower <= limit.upper <= limit.lower * (1 + 2e-5) + 1e-8
    assert limit.upper == pytest.approx(
        by_another_solver(x, y, own(gates, y), FixedPattern.OWN_LABEL), abs=2e-5
    )


def test_own_examples_leave_more_room_than_cells_and_gamma_gl_more_still() -> None:
    """All three are of the same data: what is asked for less may not be below what is asked for
    more, and every one of them is the margin of some network."""
    for seed in range(6):
        x, y, gates = sample(8, 3, 8, seed)
        cells = bracket_gated_limit(x, y, gates, CancelToken(), 1e-5, FixedPattern.CONES)
        loose = bracket_gated_limit(
            x, y, own(gates, y), CancelToken(), 1e-5, FixedPattern.OWN_LABEL
        )
        most = global_margin(x, y, CancelToken()).bracket.upper / 2.0
        assert cells.lower <= loose.upper
        assert loose.lower <= most * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_every_own_pattern_is_gamma_gl(seed: int) -> None:
    """n = 6 in the plane: all patterns are those of a circle of directions."""
    g = np.random.default_rng(seed)
    x = g.standard_normal((6, 2))
    y = np.where(np.arange(6) % 2, 1.0, -1.0)
    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    V = np.column_stack([np.cos(angles), np.sin(angles)])
    active = np.unique(V @ x.T > 0.0, axis=0)
    signs = np.repeat([1.0, -1.0], len(active))
    both = own(Gates(signs, np.vstack([active, active])), y)
    limit = bracket_gated_limit(x, y, both, CancelToken(), 1e-5, FixedPattern.OWN_LABEL)
    bracket = global_margin(x, y, CancelToken()).bracket
    assert 2.0 * limit.lower <= bracket.upper * (1 + 1e-6)
    assert 2.0 * limit.upper >= bracket.lower * (1 - 1e-9)
    assert 2.0 * limit.upper == pytest.approx(bracket.value, rel=1e-3)
    # And what fewer nodes can do is no more.
    few = Gates(both.signs[::3], both.active[::3])
    assert bracket_gated_limit(
        x, y, few, CancelToken(), 1e-4, FixedPattern.OWN_LABEL
    ).lower <= limit.upper * (1 + 1e-6)


@pytest.mark.parametrize("kept", list(FixedPattern))
@pytest.mark.parametrize("r", [2, 3, 5])
def test_a_node_for_each_of_r_collapsed_cones(r: int, kept: FixedPattern) -> None:
    """gamma_nc/(2 r) with gamma_nc = 1 (telgarsky22, Assumption 3.1): |u_k| = 1/(2 r) each."""
    x, y = simplex(r, r + 1), np.where(np.arange(r) % 2, -1.0, 1.0)
    gates = Gates(y.copy(), np.eye(r, dtype=bool))
    limit = bracket_gated_limit(x, y, gates, CancelToken(), 1e-6, kept)
    assert limit.lower <= 0.5 / r * (1 + 1e-6)
    assert limit.upper == pytest.approx(0.5 / r, rel=1e-5)
    assert limit.q == pytest.approx(np.full(r, 1.0 / r), abs=1e-3)


def test_the_linear_solution_of_two_cones_can_rise_no_further() -> None:
    """x' of Proposition 2.6: one node that is active on all has sin(arcsin(.3)/2)/2 = .0759."""
    alpha = 0.3
    # v_1, and x' = alpha v_0 - sqrt(1 - alpha^2) v_1.
    x = np.array([[0.0, 1.0], [alpha, -np.sqrt(1.0 - alpha**2)]])
    gates = Gates(np.ones(1), np.ones((1, 2), dtype=bool))
    expected = 0.5 * np.sin(0.5 * np.arcsin(alpha))
    for kept in FixedPattern:
        limit = bracket_gated_limit(x, np.ones(2), gates, CancelToken(), 1e-6, kept)
        assert limit.upper == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_leaky_network_at_its_optimum_has_the_closed_form(seed: int) -> None:
    """frei23, problem (3): its patterns are the labels', and its optimum 1/|W*|."""
    g = np.random.default_rng(seed)
    n, d, m, slope = 6, 40, 8, 0.3
    x = g.standard_normal((n, d)) / np.sqrt(d)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    a = np.where(np.arange(m) < 3, 1.0, -1.0) / np.sqrt(m)
    slopes = np.where(a[:, None] * y > 0.0, 1.0, slope)
    lower, upper, q = bracket_leaky_limit(x, y, a, slopes)
    best = solve_leaky_problem(x, y, 3.0 / m, 5.0 / m, slope)
    assert best is not None and best.closed
    assert lower == pytest.approx(best.lower, rel=1e-9)
    assert upper == pytest.approx(best.upper, rel=1e-9)
    gradients = (y[:, None, None] * a[:, None] * slopes.T[:, :, None] * x[:, None, :]).reshape(
        n, -1
    )
    assert np.linalg.norm(q @ gradients) == pytest.approx(upper, rel=1e-9)
