"""gamma_op: closed forms, two classes, another program's minimum, spectral descent, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import marginscope
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.hull import separate_from_origin
from core.reference.margin import Bracket
from core.reference.multiclass import OperatorMargin, Pairs, operator_margin, smoothed_polar
from core.reference.registry import REFERENCES, references_of
from core.runs import Recorder, open_run
from core.training.trajectory import run as train
from tests.networks import Case, small_problem

Array = np.ndarray


def bracket(x: Array, y: Array, k: int) -> Bracket:
    return operator_margin(x, y, k, CancelToken())


def on_circle(k: int) -> tuple[Array, Array]:
    angles = 2.0 * np.pi * np.arange(k) / k
    return np.stack([np.cos(angles), np.sin(angles)], axis=1), np.arange(float(k))


def gaussian(seed: int, n: int = 20, d: int = 8, k: int = 4) -> tuple[Array, Array]:
    generator = np.random.default_rng(seed)
    return generator.standard_normal((n, d)), generator.integers(0, k, n).astype(np.float64)


def margin_of(M: Array, x: Array, y: Array) -> float:
    """Return the least own value less the largest other, over |M|_op, by a loop."""
    gaps = []
    for row, own in zip(x @ M.T, y.astype(int), strict=True):
        gaps.append(row[own] - max(value for c, value in enumerate(row) if c != own))
    return float(min(gaps) / np.linalg.svd(M, compute_uv=False)[0])


@pytest.mark.parametrize("k", [3, 4, 5, 8])
def test_classes_on_a_circle(k: int) -> None:
    """By symmetry the best map is a multiple of the points themselves: |x'|_op = sqrt(k/2)."""
    found = bracket(*on_circle(k), k)
    exact = np.sqrt(2.0 / k) * (1.0 - np.cos(2.0 * np.pi / k))
    assert found.certified
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 2e-6 * exact


def test_one_unit_vector_for_each_class() -> None:
    """The identity: margin 1 for each, and no map of operator norm 1 has more on average."""
    found = bracket(3.0 * np.eye(5), np.arange(5.0), 5)
    assert found.value == pytest.approx(3.0, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_two_classes_have_the_margin_of_a_vector(seed: int) -> None:
    """M = (w, -w)/(sqrt(2) |w|): sqrt(2) times gamma_linear."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((15, 4))
    y = (x @ generator.standard_normal(4) > 0.0).astype(np.float64)
    linear = separate_from_origin((2.0 * y - 1.0)[:, None] * x)
    found = bracket(x, y, 2)
    assert found.lower <= np.sqrt(2.0) * linear.upper
    assert found.upper >= np.sqrt(2.0) * linear.lower
    assert found.value == pytest.approx(np.sqrt(2.0) * linear.lower, rel=1e-5)


def cutting_planes(x: Array, y: Array, k: int, rounds: int) -> tuple[float, float]:
    """Return both ends by linear programs: max t, <M, A> >= t, <u v', M> <= 1 for the cuts so far.

    Each round cuts off the singular vectors of M whose values exceed 1.
    """
    (n, d), units = x.shape, np.eye(k)
    A = [
        np.outer(units[int(y[i])] - units[c], x[i]) for i in range(n) for c in range(k) if c != y[i]
    ]
    margins = np.array([np.append(-one.reshape(-1), 1.0) for one in A])
    cuts, lower, upper = list[Array](), -np.inf, np.inf
    for _ in range(rounds):
        table = np.vstack([margins, *cuts])
        right = np.r_[np.zeros(len(A)), np.ones(len(cuts))]
        box = [(-1.0, 1.0)] * (k * d) + [(None, None)]
        found = linprog(-np.eye(k * d + 1)[-1], table, right, bounds=box)
        M = found.x[:-1].reshape(k, d)
        lower, upper = max(lower, margin_of(M, x, y)), min(upper, float(found.x[-1]))
        U, s, Vt = np.linalg.svd(M)
        cuts += [
            np.append(np.outer(U[:, j], Vt[j]).reshape(-1), 0.0) for j in range(k) if s[j] > 1.0
        ]
    return lower, upper


@pytest.mark.parametrize("seed", range(3))
def test_another_program_has_the_same_margin(seed: int) -> None:
    """Its bracket overlaps, and is narrow after 100 rounds."""
    x, y = gaussian(seed, 10, 6)
    found = bracket(x, y, 4)
    assert (found.upper - found.lower) / found.upper < 3e-3
    lower, upper = cutting_planes(x, y, 4, 100)
    assert upper - lower < 0.006 * upper
    assert lower <= found.upper
    assert upper >= found.lower
    assert found.upper == pytest.approx(upper, rel=3e-3)


def test_no_weights_and_no_map_are_better() -> None:
    generator, (x, y) = np.random.default_rng(5), gaussian(1)
    found, pairs = bracket(x, y, 4), Pairs(x, y, 4)
    for q in generator.dirichlet(np.full(60, 0.2), 300):
        S = pairs.weighted_sum(q)
        assert np.linalg.norm(S, "nuc") >= found.lower
        assert pairs.upper_end(q) >= np.linalg.norm(S, "nuc")
    assert max(margin_of(M, x, y) for M in generator.standard_normal((2000, 4, 8))) <= found.upper


def test_spectral_descent_comes_to_it_from_below() -> None:
    """M <- M + .3 t^-1/2 polar(M_t), M_t a mean of gradients over the steps."""
    generator = np.random.default_rng(0)
    y = (np.arange(40) % 4).astype(np.float64)
    x = generator.standard_normal((4, 10))[y.astype(int)] + 0.6 * generator.standard_normal(
        (40, 10)
    )
    found, pairs = bracket(x, y, 4), Pairs(x, y, 4)
    M, mean = np.zeros((4, 10)), np.zeros((4, 10))
    shares = []
    for t in range(1, 4001):
        p = pairs.margins(M)
        weights = np.exp(p.min() - p)
        G = pairs.weighted_sum(weights / weights.sum())
        mean = 0.9 * mean + 0.1 * G
        U, _, Vt = np.linalg.svd(mean, full_matrices=False)
        M = M + 0.3 * t**-0.5 * U @ Vt
        if t in (100, 4000):
            shares.append(margin_of(M, x, y) / found.upper)
    assert shares[0] < shares[1] <= 1.0
    assert shares[1] > 0.95


def test_what_it_does_not_depend_on() -> None:
    x, y = gaussian(0, 10, 6)
    found = bracket(x, y, 4)
    rotation, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((6, 6)))
    order = np.random.default_rng(4).permutation(10)
    for points, labels, factor in (
        (7.0 * x, y, 7.0),
        (1e-90 * x, y, 1e-90),
        (x @ rotation, y, 1.0),
        (x[order], (y[order] + 1.0) % 4.0, 1.0),
        (np.c_[x, np.zeros((10, 30))], y, 1.0),  # more coordinates than examples
        (np.r_[x, x[:3]], np.r_[y, y[:3]], 1.0),
    ):
        other = bracket(points, labels, 4)
        assert other.lower <= factor * found.upper
        assert other.upper >= factor * found.lower
        assert other.value == pytest.approx(factor * found.value, rel=1e-3)


def test_rounds_on_likely_pairs_are_those_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    y = (np.arange(80) % 4).astype(np.float64)
    x = generator.standard_normal((4, 6))[y.astype(int)] + 0.4 * generator.standard_normal((80, 6))
    few = bracket(x, y, 4)
    monkeypatch.setattr("core.reference.multiclass.SPARE", 10**6)
    every = bracket(x, y, 4)
    assert few.lower == pytest.approx(every.lower, rel=1e-8)
    assert few.upper == pytest.approx(every.upper, rel=1e-8)


def test_fewer_coordinates_than_classes() -> None:
    x = np.linalg.qr(np.random.default_rng(0).standard_normal((9, 3)))[0]
    x /= np.linalg.norm(x, axis=1)[:, None]  # every point of a sphere is a vertex of the hull
    found = bracket(x, np.arange(9.0), 9)
    assert found.upper - found.lower < 1e-3 * found.upper
    S = np.random.default_rng(1).standard_normal((9, 3))
    polar, left, right = smoothed_polar(S, 1e-9)
    U, _, Vt = np.linalg.svd(S, full_matrices=False)
    assert polar == pytest.approx(U @ Vt, abs=1e-8)
    assert left @ S @ right @ right == pytest.approx(U @ Vt, abs=1e-8)


def test_data_without_such_a_margin() -> None:
    x, y = np.array([[1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0])
    found = bracket(x, y, 3)
    assert found.is_zero
    assert "Farkas" in found.method
    assert bracket(np.zeros((3, 2)), y, 3).is_zero
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        operator_margin(*gaussian(0), 4, watch)
    late = operator_margin(*gaussian(0), 4, CancelToken(-1.0))
    assert late.certified
    assert late.upper >= bracket(*gaussian(0), 4).lower


def of_classes(dynamics: dict[str, object]) -> Problem:
    return small_problem(Case("multiclass", "cross_entropy", 3), dict(dynamics))


def test_it_is_listed_with_spectral_descent_of_several_classes() -> None:
    steps = {"step": 0.1, "until_log10_time": 0.5}
    for norm, is_listed in (("spectral", True), ("sign", False)):
        of = of_classes({"kind": "steepest", "norm": norm, **steps})
        assert ("gamma_op" in [one.name for one in references_of(of)]) is is_listed
        assert "gamma_op" in [one.name for one in references_of(of, unlisted=True)]
    two = small_problem(Case("standard"), {"kind": "steepest", "norm": "spectral", **steps})
    assert not REFERENCES["gamma_op"].applies(two)


def test_refusals_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    of = of_classes({"kind": "gd", "step": 0.1})
    monkeypatch.setattr("core.reference.multiclass.MOST_POINTS", 10)
    many = OperatorMargin().compute(of, CancelToken())
    assert not many.exists
    assert "at most 10 pairs of an example and another class, but these data have 24" in many.method
    monkeypatch.undo()
    of.dataset.x[1] = of.dataset.x[0]
    equal = OperatorMargin().compute(of, CancelToken())
    assert equal.method.startswith("Examples 0 and 1 are equal and belong to different classes")


def test_python_finds_it_by_name() -> None:
    x, y = on_circle(3)
    found = marginscope.margins(x, y, which=["gamma_op"], network="multiclass")["gamma_op"]
    assert found.value == pytest.approx(np.sqrt(1.5), rel=1e-6)
    with pytest.raises(marginscope.InputError, match='give network = "multiclass"'):
        marginscope.margins(x, y)


def test_the_observable_is_over_the_operator_norms_of_both_layers(tmp_path: Path) -> None:
    """A = I and V = I on unit vectors: margins 1 over 1; scales of W do not matter."""
    case = Case("multiclass", "cross_entropy", 3)
    problem = small_problem(case, {"kind": "gd", "step": 0.1, "until_log10_time": 0.0}, d=3, m=3)
    problem.dataset.x[:] = np.eye(3)[problem.dataset.y.astype(int)]
    for scale, name in ((1.0, "a"), (5.0, "b")):
        flat = scale * np.concatenate([np.eye(3).reshape(-1), np.eye(3).reshape(-1)])
        problem.start.parameters[:] = flat
        train(problem, lambda at, name=name, **facts: Recorder(tmp_path / name, at, **facts))
        with open_run(tmp_path / name) as run:
            value = OBSERVABLES["margin_spectral"].value_at(run, 0)
        assert value == pytest.approx(1.0, rel=1e-12)
