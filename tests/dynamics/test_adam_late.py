"""Adam where the loss underflows: against numbers of wide exponents, and where eps stops it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.dynamics.batch_engine import ArrayEngine, CompiledEngine
from core.dynamics.integrator import Outcome
from core.dynamics.stochastic import Stochastic
from core.dynamics.update_rule import Rule
from core.losses import LOSSES
from core.problem.problem import Problem, Start
from tests.frames_in_chunks import trajectory
from tests.networks import Case, small_problem

Array = np.ndarray
# Every weight has a slope at the example of the smallest margin.
CASES = (
    Case("standard", "exponential", settings={"slope": 0.3}),
    Case("standard", "logistic", settings={"slope": 0.3}),
    Case("quadratic", "cross_entropy", 3),
)
SIZES = {"n": 5, "d": 6, "m": 16, "seed": 3}


def late(case: Case, low: float, **tables: Any) -> Problem:
    """Return a small problem from weights with min p = `low`."""
    fitted = trajectory(
        small_problem(case, {"kind": "adam", "step": 0.1, "until_log10_time": 1.3}, **SIZES)
    )
    at = small_problem(case, {"kind": "adam", "step": 0.1}, **SIZES, **tables)
    flat = list(fitted)[-1].parameters
    p = LOSSES[case.loss].scores(np.asarray(at.network.outputs(flat, at.inputs)), at.dataset.y)
    flat = (low / p.min()) ** (1.0 / at.network.degree) * flat
    return replace(at, start=Start(flat, flat))


def wide_slopes(case: Case, f: Array, y: Array) -> Array:
    """Return dl/df in 80 bits, whose exponents reach 10^-4932."""
    wide = f.astype(np.longdouble)
    if case.loss == "cross_entropy":
        own = y.astype(int)
        e = np.exp(wide - wide[np.arange(y.size), own][:, None])
        e[np.arange(y.size), own] = 0.0
        g = e / (1.0 + e.sum(axis=1, keepdims=True))
        g[np.arange(y.size), own] = -g.sum(axis=1)
        return g
    weights = np.exp(-y * wide)
    return -y * (weights if case.loss == "exponential" else weights / (1.0 + weights))


def wide_adam(case: Case, at: Problem, rule: Rule, steps: int) -> Array:
    """Return the published steps, with moments in 80 bits; parameters stay in float64."""
    flat = at.physical_start().copy()
    first = second = np.zeros(flat.size, np.longdouble)
    for t in range(1, steps + 1):
        f, y = at.network.outputs(flat, at.inputs), at.dataset.y
        g = wide_slopes(case, f, y)
        size = np.abs(g).max()
        unit = at.network.gradient(flat, at.inputs, (g / size).astype(np.float64) / y.size)
        slope = unit.astype(np.longdouble) * size
        first = rule.beta1 * first + (1.0 - rule.beta1) * slope
        second = rule.beta2 * second + (1.0 - rule.beta2) * slope * slope
        root = np.sqrt(second / (1.0 - np.longdouble(rule.beta2) ** t))
        divisor = root + np.longdouble(rule.eps)
        mean = first / (1.0 - np.longdouble(rule.beta1) ** t)
        step = np.divide(mean, divisor, out=np.zeros_like(mean), where=divisor > 0.0)
        flat = (flat - rule.step_size * step).astype(np.float64)
    return flat


def moved(engine: Any, steps: int) -> Array:
    dtype = engine.current.dtype
    assert engine.take_steps(np.zeros((0, 1), dtype), np.zeros(0, dtype), steps) == steps
    return np.asarray(engine.flat(), np.float64)


ENGINES = pytest.mark.parametrize("engine", [CompiledEngine, ArrayEngine])


@ENGINES
@pytest.mark.parametrize(
    ("case", "low", "eps"),
    [
        *((case, 600.0, eps) for case in CASES for eps in (0.0, 1e-262)),
        *((case, 2500.0, 0.0) for case in CASES[:2]),
    ],
    ids=str,
)
def test_steps_are_those_of_wide_exponents(engine: Any, case: Case, low: float, eps: float) -> None:
    """From margins where squares of gradients are 0 in float64, or gradients themselves.

    epsilon = 1e-262 is of the size of the gradients.
    """
    at, rule = late(case, low), Rule(0.5, adam=True, eps=eps)
    made = engine(at, rule, np.float64, 1e6, at.dataset.n, full=True)
    found, wanted = moved(made, 40), wide_adam(case, at, rule, 40)
    way = np.abs(wanted - at.physical_start()).max()
    assert way > 3.0
    assert np.abs(found - wanted).max() < 1e-9 * way


@ENGINES
@pytest.mark.parametrize("case", CASES, ids=str)
def test_float32_follows(engine: Any, case: Case) -> None:
    at, rule = late(case, 60.0), Rule(0.1, adam=True, eps=0.0)
    made = engine(at, rule, np.float32, 1e6, at.dataset.n, full=True)
    wanted = wide_adam(case, at, rule, 20)
    assert (
        np.abs(moved(made, 20) - wanted).max() < 0.01 * np.abs(wanted - at.physical_start()).max()
    )


def test_moments_with_roots_give_the_steps_of_torch() -> None:
    """epsilon = 0 from the start, where nothing underflows."""
    import torch

    case, steps = CASES[0], 60
    at = small_problem(case, {"kind": "adam"}, **SIZES)
    rule = Rule(0.02, adam=True, beta1=0.8, eps=0.0)
    found = moved(CompiledEngine(at, rule, np.float64, 1e6, at.dataset.n, full=True), steps)
    x, y = torch.tensor(at.inputs), torch.tensor(at.dataset.y)
    start = at.network.unpack(at.physical_start()).values()
    a, V = (torch.tensor(part, requires_grad=True) for part in start)
    adam = torch.optim.Adam([a, V], lr=0.02, betas=(0.8, 0.999), eps=0.0)
    for _ in range(steps):
        adam.zero_grad()
        f = torch.nn.functional.leaky_relu(x @ V.T, 0.3) @ a
        torch.exp(-y * f).mean().backward()
        adam.step()
    wanted = torch.cat([a.detach(), V.detach().reshape(-1)]).numpy()
    assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("eps", [0.0, 1e-262])
def test_batches_of_other_margins_are_followed(eps: float) -> None:
    """The power of 2 goes up no further than the moments allow, and down where it must."""
    at = late(CASES[0], 400.0)
    at = replace(
        at, dataset=replace(at.dataset, x=at.dataset.x * np.array([[1.0], [3], [1], [5], [1]]))
    )
    p = at.margins(at.physical_start())
    assert p.max() > p.min() + 1000.0
    order = np.random.default_rng(0).permutation(np.tile(np.arange(5), 12))
    xs, ys = np.ascontiguousarray(at.inputs[order]), at.dataset.y[order]
    rule, found = Rule(0.1, adam=True, eps=eps), []
    for kind in (CompiledEngine, ArrayEngine):
        engine = kind(at, rule, np.float64, 1e6, 1)
        assert engine.take_steps(xs, ys, ys.size) == ys.size
        found.append(engine.flat())
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert 0.5 < np.abs(found[0] - at.physical_start()).max() < 0.1 * ys.size


@ENGINES
def test_without_slopes_nothing_moves(engine: Any) -> None:
    """0/0 of epsilon = 0 is no step."""
    at = small_problem(Case("standard", "exponential"), {"kind": "adam"}, **SIZES)
    flat = np.zeros(at.network.size)
    flat[at.network.m :] = -1.0
    dead = replace(at, start=Start(flat, flat), dataset=replace(at.dataset, x=np.abs(at.dataset.x)))
    made = engine(dead, Rule(0.1, adam=True, eps=0.0), np.float64, 1e6, at.dataset.n, full=True)
    assert np.array_equal(moved(made, 3), flat)


def test_states_of_earlier_versions_go_on() -> None:
    """They have no power of 2."""
    at = small_problem(CASES[0], {"kind": "adam", "step": 0.1}, **SIZES)
    first = Stochastic(at)
    while first.advance().outcome is Outcome.GOING:
        pass
    state = dict(first.state() or {})
    states = [state, {name: part for name, part in state.items() if name != "scale"}]
    assert len(states[1]) == len(states[0]) - 1
    flats = []
    for one in states:
        start = replace(at.start, parameters=first._flat(), step=10, log10_time=0.0, state=one)
        again = Stochastic(replace(at, start=start))
        assert again._advance(5) == 5
        flats.append(again._flat())
    assert np.array_equal(*flats)
