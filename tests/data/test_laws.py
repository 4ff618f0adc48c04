"""Every distribution against its definition, closed forms, and docs/theory.md, 5 and 6."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from core.data.constructions import IntervalsData
from core.data.dataset import TEST_VALUES
from core.data.geometry import max_margin
from core.data.parity import ParityData
from core.data.regression import TeacherData
from core.errors import InputError
from core.problem.problem import points_for_test
from tests.data.drawing import data_of, fresh_of, law_of, problem_of

SMALL: dict[str, dict[str, object]] = {
    "parity": {"d": 8, "n": 30},
    "wei19": {"d": 8, "n": 30},
    "gaussian_mixture": {"d": 30, "n": 100},
    "xor": {"d": 30, "n": 40},
    "cones": {"d": 6, "n": 40},
    "two_cones": {"d": 4, "n": 20},
    "teacher": {"d": 8, "n": 40},
    "intervals": {"n": 30},
    "regression": {"d": 5, "n": 40, "units": 3, "noise": 0.5},
}
FIXED: dict[str, dict[str, object]] = {
    "near_orthogonal": {},
    "three_point": {},
    "dyadic": {},
    "digits": {},
    "spurious": {},
    "orthonormal": {},
    "matrix": {"rows": 5},
}


@pytest.mark.parametrize("kind", [*SMALL, *FIXED])
def test_draws_depend_on_the_seed_alone(kind: str) -> None:
    keys = {**SMALL, **FIXED}[kind]
    one, again = data_of(kind, **keys), data_of(kind, **keys)
    assert one.digest() == again.digest()
    assert one.x.shape == (one.n, one.d)
    assert np.isfinite(one.x).all()
    assert one.real or set(one.y.tolist()) <= {-1.0, 1.0}
    if kind not in ("three_point", "dyadic", "spurious", "orthonormal"):
        assert data_of(kind, seed=1, **keys).digest() != one.digest()


@pytest.mark.parametrize("kind", SMALL)
def test_test_points_and_fresh_ones_come_from_the_same_law(kind: str) -> None:
    """Same mean of x, of y and of y x as the training law's, and no training point among them."""
    at = problem_of(kind, **SMALL[kind])
    points = points_for_test(at)
    x, y = fresh_of(at, 4000)
    for one, other in (
        (x, points.x),
        (y, points.y),
        (y[:, None] * x, points.y[:, None] * points.x),
    ):
        error = 6.0 * np.sqrt(one.var(axis=0) / len(one) + other.var(axis=0) / len(other))
        assert np.all(np.abs(one.mean(axis=0) - other.mean(axis=0)) <= error + 1e-12)
    again = points_for_test(problem_of(kind, **SMALL[kind]))
    assert np.array_equal(points.x, again.x)
    if kind in ("gaussian_mixture", "xor", "cones", "teacher", "intervals", "regression"):
        assert not np.isin(points.x[:, 0], at.dataset.x[:, 0]).any()


@pytest.mark.parametrize("kind", FIXED)
def test_sets_without_a_law_have_nothing_fresh(kind: str) -> None:
    at = problem_of(kind)
    assert law_of(at).fresh(np.random.default_rng(0), 5, at.dataset) is None


def test_the_teacher_is_drawn_anew_for_test_points_of_a_run_from_a_file() -> None:
    """Run files do not hold directions; a data set without them gets the same test points."""
    at = problem_of("teacher", d=5, n=30)
    known = points_for_test(at)
    bare = type(at.dataset)(at.dataset.x, at.dataset.y)
    anew = points_for_test(type(at)(at.experiment, bare, at.network, at.start))
    assert np.array_equal(known.x, anew.x)
    assert np.array_equal(known.y, anew.y)


def test_long_points_are_tested_on_fewer() -> None:
    points = points_for_test(problem_of("gaussian_mixture", d=10_000, n=4))
    assert points.x.size <= TEST_VALUES
    assert points.y.size == 1677


# -------------------------------------------------------------------------------------- parity


def test_uniform_parity_is_drawn_as_it_was() -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([-1, 1], (64, 20)) / np.sqrt(20)
    data = data_of("parity")
    assert np.array_equal(data.x, x)
    assert np.array_equal(data.y, np.sign(x[:, 0] * x[:, 1]))


@pytest.mark.parametrize("law", ["uniform", "biased", "markov", "decoy"])
def test_laws_on_the_corners(law: str) -> None:
    d, k, bias, n = 6, 2, 0.8, 40_000
    parity = ParityData(d=d, n=n, k=k, law=law, bias=bias)
    data = parity.sample(np.random.default_rng(1))
    s = data.x * np.sqrt(d)
    assert set(np.unique(s.round(12))) == {-1.0, 1.0}
    assert np.array_equal(data.y, np.sign(s[:, 0] * s[:, 1]))
    lean = 2 * bias - 1
    cases = {
        "uniform": (s.mean(axis=0), np.zeros(d)),
        "biased": (s.mean(axis=0), np.full(d, lean)),
        "markov": ((s[:, 1:] * s[:, :-1]).mean(axis=0), np.full(d - 1, lean)),
        "decoy": ((s * data.y[:, None])[:, 2:].mean(axis=0), np.array([lean, 0, 0, 0])),
    }
    found, wanted = cases[law]
    assert np.abs(found - wanted).max() < 5 / np.sqrt(n)
    points = parity.test_set(np.random.default_rng(2), data)
    assert points.exact is (law == "uniform")


def best_margin(x: np.ndarray, y: np.ndarray) -> float:
    """Return max over |a|_1 <= 1 of min y f, f = sum a_j relu(<u_j, x>), over 400 units."""
    units = np.random.default_rng(7).standard_normal((400, x.shape[1]))
    features = y[:, None] * np.maximum(x @ (units / np.linalg.norm(units, axis=1)[:, None]).T, 0)
    rows = np.c_[-features, features, np.ones(len(y))]
    cost, size = np.r_[np.zeros(800), -1.0], np.r_[np.ones(800), 0.0][None, :]
    bounds = [(0, None)] * 800 + [(None, None)]
    return -float(linprog(cost, rows, np.zeros(len(y)), size, [1.0], bounds=bounds).fun)


@pytest.mark.parametrize(
    ("k", "freeze", "learnt"), [(2, False, True), (3, False, False), (3, True, True)]
)
def test_a_frozen_coordinate_repairs_odd_parity(k: int, freeze: bool, learnt: bool) -> None:
    """docs/theory.md, 5.3: without biases odd k >= 3 has margin 0 on the full cube."""
    parity = ParityData(d=4, n=10, k=k, freeze=freeze)
    generator = np.random.default_rng(0)
    points = parity.test_set(generator, parity.sample(generator))
    assert points.exact
    assert points.x.shape == (8 if freeze else 16, 4)
    margin = best_margin(points.x, points.y)
    assert margin > 0.01 if learnt else abs(margin) < 1e-9


# -------------------------------------------------------------------------------- wei19, teacher


def test_wei19_is_equation_2_1() -> None:
    at = problem_of("wei19", d=6, n=500)
    x, y = at.dataset.x, at.dataset.y
    first, second = x[:, 0], x[:, 1]
    assert np.array_equal(np.abs(first), (y > 0).astype(float))
    assert np.array_equal(np.abs(second), (y < 0).astype(float))
    assert np.all(np.abs(x[:, 2:]) == 1.0)
    assert np.allclose((x**2).sum(axis=1), 5)
    points = points_for_test(at)
    assert points.exact
    assert np.unique(points.x, axis=0).shape == (64, 6)
    for case in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        assert np.all(points.x[:, :2] == case, axis=1).sum() == 16


def test_wei19_scaled_has_norm_1_and_the_four_neuron_margin() -> None:
    """f = (|x_1| - |x_2|)/4 by four neurons: |Theta|^2 = 2, so y f/|Theta|^2 is 1/8."""
    data = data_of("wei19", d=9, n=50, scaled=True)
    assert np.allclose(np.linalg.norm(data.x, axis=1), 1)
    x, y = data.x * np.sqrt(8), data.y
    U, alpha = np.eye(2, 9).repeat(2, axis=0) * [[1], [-1], [1], [-1]], np.array([1, 1, -1, -1.0])
    f = np.maximum(x @ U.T, 0) @ alpha
    assert np.allclose(y * f / (alpha @ alpha + (U**2).sum()), 1 / 8)


@pytest.mark.parametrize(("units", "margin"), [(10, 0.01), (6, 0.1), (6, 3.0)])
def test_the_teacher_keeps_its_margin(units: int, margin: float) -> None:
    at = problem_of("teacher", units=units, margin=margin)
    known = at.dataset.directions
    assert known["positive"].shape[0] + known["negative"].shape[0] == units
    x, y = fresh_of(at, 1000)
    for inputs, labels in ((at.dataset.x, at.dataset.y), (x, y)):
        f = sum(
            sign * max(float(row @ direction), 0.0) * np.eye(len(inputs))[i]
            for sign, name in ((1, "positive"), (-1, "negative"))
            for direction in known[name]
            for i, row in enumerate(inputs[:20])
        )
        assert np.all(labels[:20] * f[:20] >= margin)
    assert np.all(y * TeacherData.outputs(x, known) >= margin)


def test_a_hopeless_margin_is_refused() -> None:
    with pytest.raises(InputError, match=r"data.margin = 10000: only 0 of \d+ random inputs"):
        data_of("teacher", margin=1e4, n=4)


# ------------------------------------------------------------------------------------- clusters


@pytest.mark.parametrize("seed", range(5))
def test_the_mixture_flips_exactly(seed: int) -> None:
    data = data_of("gaussian_mixture", seed=seed, d=50, n=100)
    for cluster, sign in ((data.y[:50], 1), (data.y[50:], -1)):
        assert (cluster != sign).sum() in (7, 8)
    mean = data.directions["mean"][0]
    assert np.all(mean > 0)
    assert np.ptp(mean) == 0
    assert np.isclose(np.linalg.norm(mean), 50**0.26)


def test_the_mixture_has_its_means_and_unit_noise() -> None:
    data = data_of("gaussian_mixture", d=200, n=4000, flips=0.0)
    mean = data.directions["mean"][0]
    noise = data.x - data.y[:, None] * mean
    assert abs(noise.mean()) < 5 / np.sqrt(noise.size)
    assert abs(noise.var() - 1) < 5 * np.sqrt(2 / noise.size)


def test_both_roundings_of_the_flips_occur() -> None:
    counts = {
        int((data_of("gaussian_mixture", seed=seed, d=2, n=100).y[:50] < 0).sum())
        for seed in range(12)
    }
    assert counts == {7, 8}


def test_test_labels_of_the_mixture_are_noisy() -> None:
    """sign(<mu, x>) is right on .85 of them where the clusters are far apart."""
    at = problem_of("gaussian_mixture", d=20, n=10, mean_exponent=1.0)
    points = points_for_test(at)
    right = np.mean(points.y * (points.x @ at.dataset.directions["mean"][0]) > 0)
    assert abs(right - 0.85) < 5 * np.sqrt(0.85 * 0.15 / points.y.size)


def test_xor_labels_and_clusters() -> None:
    data = data_of("xor", d=50, n=2000, mean_exponent=0.6)
    means = data.directions["means"]
    assert np.allclose(means @ means.T, np.eye(2) * 50**1.2)
    inner = np.abs(data.x @ means.T)
    assert np.array_equal(data.y, np.where(inner[:, 0] > inner[:, 1], 1.0, -1.0))
    nearest = np.concatenate([means, -means])[np.argmax(data.x @ np.r_[means, -means].T, axis=1)]
    assert abs((data.x - nearest).var() - 1) < 0.03
    assert abs(data.y.mean()) < 5 / np.sqrt(2000)


def test_near_orthogonal_sets_have_the_gram_matrix() -> None:
    at = problem_of("near_orthogonal", d=30, n=12, coherence=0.05)
    gram = at.dataset.x @ at.dataset.x.T
    assert np.allclose(np.diag(gram), 1, atol=1e-12)
    assert np.isclose(np.abs(gram - np.diag(np.diag(gram))).max(), 0.05, atol=1e-12)
    wanted = law_of(at).gram(np.random.default_rng(0))
    assert np.allclose(gram, wanted, atol=1e-12)
    assert at.dataset.y.sum() == 0
    with pytest.raises(InputError, match="not positive definite; lower coherence or n"):
        data_of("near_orthogonal", d=40, n=30, coherence=0.9)


def test_orthogonal_sets() -> None:
    x = data_of("near_orthogonal", d=8, n=8, coherence=0.0).x
    assert np.allclose(x @ x.T, np.eye(8), atol=1e-12)


# ---------------------------------------------------------------------------------------- cones


@pytest.mark.parametrize("labels", ["single", "mixed"])
@pytest.mark.parametrize(("r", "d", "eps"), [(2, 1, 0.1), (4, 3, 0.05), (4, 10, 0.05), (1, 3, 0.1)])
def test_cones_satisfy_the_assumption(labels: str, r: int, d: int, eps: float) -> None:
    """The corrected Assumption 3.1 of telgarsky22 (docs/theory.md, 6), and |x| <= 1."""
    if r == 1 and labels == "mixed":
        with pytest.raises(InputError, match="needs two cones"):
            data_of("cones", r=r, d=d, eps=eps, labels=labels)
        return
    at = problem_of("cones", r=r, d=d, eps=eps, labels=labels)
    axes = at.dataset.directions["axes"]
    assert np.allclose(axes @ axes.T, (r * np.eye(r) - 1) / max(r - 1, 1) if r > 1 else 1)
    x, y = fresh_of(at, 5000)
    inner = x @ axes.T
    own = inner.argmax(axis=1)
    off = np.linalg.norm(x - inner[np.arange(5000), own, None] * axes[own], axis=1)
    assert inner.max(axis=1).min() >= 0.5 - 1e-12
    assert off.max() <= 0.5 * np.sqrt(eps / 2) + 1e-12
    others = inner[np.arange(r)[None, :] != own[:, None]]
    assert others.size == 0 or others.max() <= -eps + 1e-12
    assert np.linalg.norm(x, axis=1).max() <= 1 + 1e-12
    assert np.array_equal(
        y, np.where(own % 2 == 1, -1.0, 1.0) if labels == "mixed" else 1.0 + 0 * y
    )


def test_the_condition_on_cones_is_sharp() -> None:
    """At the largest eps that is let through the worst point of a cone meets -eps."""
    gamma, r = 0.5, 4
    slope = 1 / (r - 1)
    low, high = 0.0, 0.5
    for _ in range(60):
        eps = (low + high) / 2
        fits = gamma * slope - gamma * np.sqrt(eps / 2) * np.sqrt(1 - slope**2) >= eps
        low, high = (eps, high) if fits else (low, eps)
    data_of("cones", eps=low * 0.999)
    with pytest.raises(InputError, match="lower eps or r, or raise gamma_nc"):
        data_of("cones", eps=high * 1.001)


@pytest.mark.parametrize("seed", range(3))
def test_two_cones_in_the_plane_have_a_linear_margin_in_closed_form(seed: int) -> None:
    """docs/theory.md, 5.4: alpha = .3, the linear predictor has margin .0759 for |W|^2."""
    data = data_of("two_cones", seed=seed)
    assert np.allclose(np.linalg.norm(data.x, axis=1), 1)
    assert np.all(data.y == 1)
    first, second = data.x[:10], data.x[10:20]
    assert (first @ second.T).max() <= -1 / np.sqrt(2)
    margin, w, _ = max_margin(data.x)
    assert np.isclose(margin, np.sin(np.arcsin(0.3) / 2), atol=1e-9)
    assert round(margin / 2, 4) == 0.0759
    assert np.isclose((data.x @ w).min(), margin)


def test_two_cones_have_a_wide_margin_for_a_network() -> None:
    """max over l1-bounded alpha on the circle, a linear program: .495 (docs/theory.md, 7.3)."""
    x = data_of("two_cones", n=41, separation=140.4, spread=2.7).x
    angles = np.linspace(0, 2 * np.pi, 2001)
    features = np.maximum(x @ np.stack([np.cos(angles), np.sin(angles)]), 0)
    cost = np.r_[np.zeros(2001), -1.0]
    rows = np.c_[-features, np.ones(41)]
    total = np.r_[np.ones(2001), 0.0][None, :]
    found = linprog(cost, rows, np.zeros(41), total, [1.0])
    assert abs(-found.fun - 0.495) < 1e-3


def test_two_cones_in_space_follow_the_construction() -> None:
    data = data_of("two_cones", d=6, n=31, alpha=0.4)
    x, spoiler = data.x[:-1], data.x[-1]
    assert np.allclose(np.linalg.norm(data.x, axis=1), 1)
    assert (x[:15] @ x[15:].T).max() <= -1 / np.sqrt(2)
    _, u, support = max_margin(x)
    v_1 = x[support[support < 15][0]]
    assert np.isclose(spoiler @ v_1, -np.sqrt(1 - 0.4**2))
    v_0 = u - (u @ v_1) * v_1
    assert np.isclose(spoiler @ v_0 / np.linalg.norm(v_0), 0.4)


def test_the_separator_agrees_with_a_linear_program_of_its_dual() -> None:
    """margin = min over q of |G' q|: no q does better, and w reaches it."""
    rng = np.random.default_rng(3)
    points = rng.standard_normal((30, 5)) + 2.0
    margin, w, _ = max_margin(points)
    assert np.isclose((points @ w).min(), margin)
    for q in rng.dirichlet(np.ones(30) / 10, 500):
        assert np.linalg.norm(points.T @ q) >= margin - 1e-12
    with pytest.raises(InputError, match="cannot be separated"):
        max_margin(np.array([[1.0, 0.0], [-1.0, 0.0]]))


# ------------------------------------------------------------------------------ fixed, intervals


@pytest.mark.parametrize("d", [1, 2, 5, 8, 20])
def test_dyadic_margin_is_that_of_proposition_1_1(d: int) -> None:
    data = data_of("dyadic", d=d)
    assert data.x.shape == (2 * d, d)
    margin, _, _ = max_margin(data.y[:, None] * data.x)
    assert np.isclose(margin, np.sqrt(3 / (4.0 ** (d + 1) - 4)), rtol=1e-9)


def test_three_points_satisfy_lemma_b_8() -> None:
    """(K o G) lambda = 1 with slope 1/2, m_1 = m_2 has lambda = (8/(4e+5), 8/(4e+5), 8/5)."""
    data, eps = data_of("three_point", eps=0.01), 0.01
    gram = data.x @ data.x.T
    assert np.allclose(gram, [[1, -eps, 0], [-eps, 1, 0], [0, 0, 1]])
    K = np.where(np.outer(data.y, data.y) > 0, (1 + 0.25) / 2, -0.5)
    lam = np.linalg.solve(K * gram, np.ones(3))
    assert np.allclose(lam, [8 / (4 * eps + 5), 8 / (4 * eps + 5), 8 / 5])


def test_intervals_are_labelled_in_turn() -> None:
    at = problem_of("intervals", n=400, breaks=[-0.4, 0.7], gap=0.2)
    x, y = fresh_of(at, 20_000)
    assert np.array_equal(y, np.where((x[:, 0] > -0.4) & (x[:, 0] < 0.7), 1.0, -1.0))
    assert np.abs(x - [[-0.4, 0.7]]).min() >= 0.1
    assert np.abs(x).max() <= 1
    share = 0.9 / (0.5 + 0.9 + 0.2)  # pieces by their lengths
    assert abs((y > 0).mean() - share) < 5 * np.sqrt(share * (1 - share) / 20_000)
    assert isinstance(law_of(at), IntervalsData)
