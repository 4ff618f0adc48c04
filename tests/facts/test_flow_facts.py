"""The flows of the papers' networks late in their time: the figures of docs/theory.md, 7.4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from core.data.constructions import NearOrthogonalData
from core.dynamics.flow import Flow
from core.problem.problem import Problem, resolve_problem
from core.run_files.frame import Frame
from core.study_file.validation import build_experiment
from tests.frames_in_chunks import frames_of, trajectory


def parity_problem(
    network: dict[str, object],
    dynamics: dict[str, object],
    d: int = 20,
    n: int = 64,
    loss: str = "exponential",
    marks: tuple[float, ...] = (),
    frames: int = 30,
) -> Problem:
    tables = {
        "data": {"d": d, "n": n},
        "network": network,
        "loss": {"kind": loss},
        "dynamics": dynamics,
        "recording": {"frames": frames, "log10_times": list(marks)},
    }
    return resolve_problem(build_experiment(tables, "test"))


def hard_margin(at: Problem, frame: Frame) -> float:
    flat = frame.parameters
    return float(at.margins(flat).min() / at.network.norm_power(flat))


def test_scalar_network_at_d_4() -> None:
    """docs/theory.md, 7.4: .061 +- .003 at log10 t = 100, above gamma_gl/4 = 1/(4 sqrt 32).

    Steps eight times as long change it by .0001.
    """
    at = parity_problem(
        {"kind": "scalar", "m": 4096}, {"kind": "flow", "until_log10_time": 100.0}, d=4
    )
    flow = Flow(at)
    flow.kernel_state.tau_early *= 8.0
    flow.kernel_state.h_early *= 8.0
    margin = hard_margin(at, frames_of(flow)[-1])
    assert margin == pytest.approx(0.061, abs=0.003)
    assert margin > 1.0 / (4.0 * np.sqrt(32.0))


@pytest.mark.parametrize(("kind", "m"), [("scalar", 32), ("normalised", 16), ("fixed_outer", 32)])
def test_far_beyond_log10_t_300(kind: str, m: int) -> None:
    """The invariants of the flow to log10 t = 1000 (docs/theory.md, 3.4 and 4.5)."""
    at = parity_problem(
        {"kind": kind, "m": m}, {"kind": "flow", "until_log10_time": 1000.0}, d=8, n=24
    )
    degree, smoothed = at.network.degree, []
    frames = list(trajectory(at))
    for frame in frames[1:]:
        p = at.margins(frame.parameters)
        cap = 1e4 if kind == "normalised" else 1e5
        temperature = min(float(np.exp(degree * frame.rho)), cap)
        q = at.loss.dual(temperature * p)
        assert p.min() - 1e-12 <= q @ p <= p.min() + np.log(24) / temperature
        smoothed.append(
            at.loss.smoothed_margin(np.exp(degree * frame.rho) * p) / np.exp(degree * frame.rho)
        )
    assert frames[-1].log10_time == 1000.0
    positive = np.array(smoothed)[np.array(smoothed) > 0]
    assert positive.size > 10
    assert np.diff(positive).min() > -1e-6
    # ln t = gt + O(ln rho) late: the clock agrees with the smoothed margin.
    last = frames[-1]
    gt = at.loss.smoothed_margin(np.exp(degree * last.rho) * at.margins(last.parameters))
    assert gt / np.log(10.0) == pytest.approx(1000.0, rel=0.02)
    if kind != "fixed_outer":
        drift = at.network.imbalance(last.parameters)
        assert np.abs(drift).max() < 1e-3


def test_normalised_network_margins_at_two_times() -> None:
    """docs/theory.md, 7.4: d = 20, m = 256, logistic: .0253 at t = 300, .0315 at t = 2000."""
    marks = (float(np.log10(300.0)), float(np.log10(2000.0)))
    dynamics = {"kind": "gd", "step": 0.25, "until_log10_time": marks[1]}
    network = {"kind": "normalised", "m": 256}
    at = parity_problem(network, dynamics, loss="logistic", marks=marks, frames=5)
    found = {round(10**frame.log10_time): hard_margin(at, frame) for frame in trajectory(at)}
    assert found[300] == pytest.approx(0.0253, abs=2e-4)
    assert found[2000] == pytest.approx(0.0315, abs=1e-4)


def test_odd_parity_is_impossible_without_a_frozen_coordinate() -> None:
    """docs/theory.md, 5.3: on the full cube the training error of k = 3 stays at .5."""
    corners = 1.0 - 2.0 * ((np.arange(32)[:, None] >> np.arange(5)) & 1)
    base = parity_problem({"m": 64}, {"kind": "gd", "step": 0.2, "until_log10_time": 2.5}, d=5)
    for frozen, wanted in ((False, 0.5), (True, 0.0)):
        kept = corners[corners[:, 4] > 0] if frozen else corners
        data = replace(base.dataset, x=kept / np.sqrt(5.0), y=kept[:, :3].prod(axis=1))
        at = replace(base, dataset=data)
        last = list(trajectory(at))[-1]
        error = np.mean(~(at.margins(last.parameters) > 0))
        assert error == pytest.approx(wanted, abs=0.1)


# ------------------------------------------------------------------------ frei23, Theorem 3.2

GAMMA, M = 0.5, 10


@pytest.fixture(scope="module")
def limit() -> tuple[Problem, np.ndarray]:
    """Return W at log10 t = 1e4, with min p = 1, on nearly orthogonal data that meet (H)."""
    at = parity_problem(
        {"kind": "fixed_outer", "slope": GAMMA, "m": M},
        {"kind": "flow", "until_log10_time": 1e4, "accuracy": "numbers"},
        d=40,
        n=6,
    )
    data = NearOrthogonalData(d=40, n=6, coherence=0.005).sample(np.random.default_rng(0))
    at = replace(at, dataset=data)
    flat = list(trajectory(at))[-1].parameters
    return at, (flat / at.margins(flat).min()).reshape(M, 40)


def test_its_hypothesis_is_met(limit: tuple[Problem, np.ndarray]) -> None:
    gram = limit[0].dataset.x @ limit[0].dataset.x.T
    squared = np.diag(gram)
    inner = np.abs(gram - np.diag(squared)).max()
    ratio = squared.max() / squared.min()
    assert squared.min() >= 3.0 * GAMMA**-3 * ratio * squared.size * inner


def closed_form(at: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (lambda, v, u) of problem (3): (K o G) lambda = 1 (docs/theory.md, 5.4)."""
    x, y, a = at.dataset.x, at.dataset.y, at.network.fixed["a"]
    m1, m2 = int((a > 0).sum()), int((a < 0).sum())
    m = m1 + m2
    K = np.where(y[:, None] * y > 0, np.where(y[:, None] > 0, m1 + GAMMA**2 * m2, 0), -GAMMA)
    K = np.where((y[:, None] < 0) & (y < 0), m2 + GAMMA**2 * m1, K)
    K = np.where(y[:, None] * y > 0, K / m, K)
    lam = np.linalg.solve(K * (x @ x.T), np.ones(y.size))
    plus, minus = (lam * (y > 0)) @ x, (lam * (y < 0)) @ x
    return lam, (plus - GAMMA * minus) / np.sqrt(m), (minus - GAMMA * plus) / np.sqrt(m)


def test_items_1_to_4(limit: tuple[Problem, np.ndarray]) -> None:
    at, W = limit
    x, y, a = at.dataset.x, at.dataset.y, at.network.fixed["a"]
    assert np.abs(at.margins(W.reshape(-1)) - 1.0).max() < 1e-3
    v, u = W[a > 0].mean(axis=0), W[a < 0].mean(axis=0)
    for part, mean in ((W[a > 0], v), (W[a < 0], u)):
        assert np.linalg.norm(part - mean, axis=1).max() < 1e-3 * np.linalg.norm(mean)
    singular = np.linalg.svd(W, compute_uv=False)
    assert singular[2] < 1e-3 * singular[0]
    lam, v_wanted, u_wanted = closed_form(at)
    assert np.linalg.norm(v - v_wanted) < 1e-3 * np.linalg.norm(v)
    assert np.linalg.norm(u - u_wanted) < 1e-3 * np.linalg.norm(u)
    squared = (x**2).sum(axis=1)
    assert (lam > 1.0 / (2.0 * squared.max())).all()
    assert (lam < 3.0 / (2.0 * GAMMA**2 * squared.min())).all()
    assert (y * (x @ v) > 0).all()
    assert (y * (x @ u) < 0).all()


def test_item_5_against_a_general_solver(limit: tuple[Problem, np.ndarray]) -> None:
    """(v, u) is the optimum of problem (3), by SLSQP instead of the closed form."""
    at, W = limit
    x, y, a = at.dataset.x, at.dataset.y, at.network.fixed["a"]
    m1, m2, d = int((a > 0).sum()), int((a < 0).sum()), 40
    root = np.sqrt(m1 + m2)

    def slack(z: np.ndarray) -> np.ndarray:
        v, u = x @ z[:d], x @ z[d:]
        positive = m1 / root * v - GAMMA * m2 / root * u
        negative = m2 / root * u - GAMMA * m1 / root * v
        return np.where(y > 0, positive, negative) - 1.0

    found = minimize(
        lambda z: 0.5 * m1 * z[:d] @ z[:d] + 0.5 * m2 * z[d:] @ z[d:],
        np.zeros(2 * d),
        constraints={"type": "ineq", "fun": slack},
        options={"maxiter": 300, "ftol": 1e-14},
    )
    assert found.success
    mean = np.concatenate([W[a > 0].mean(axis=0), W[a < 0].mean(axis=0)])
    assert np.linalg.norm(mean - found.x) < 1e-3 * np.linalg.norm(mean)


def test_items_6_and_7(limit: tuple[Problem, np.ndarray]) -> None:
    at, W = limit
    x, y, a = at.dataset.x, at.dataset.y, at.network.fixed["a"]
    m1, m2 = int((a > 0).sum()), int((a < 0).sum())
    v, u = W[a > 0].mean(axis=0), W[a < 0].mean(axis=0)
    z = m1 / np.sqrt(m1 + m2) * v - m2 / np.sqrt(m1 + m2) * u
    anywhere = np.random.default_rng(1).standard_normal((4000, 40))
    f = at.network.outputs(W.reshape(-1), anywhere)
    assert np.mean(np.sign(f) != np.sign(anywhere @ z)) < 1e-3
    assert (y * (x @ z) > 1.0 - 1e-3).all()
    # z*: the hard-margin direction without intercept, |z*| from its dual (all points support it)
    signed = y[:, None] * x
    lam = np.linalg.solve(signed @ signed.T, np.ones(y.size))
    assert (lam > 0).all()
    shortest = np.sqrt(lam.sum())
    kappa = np.sqrt(min(m1, m2) / max(m1, m2))
    assert np.linalg.norm(z) <= 2.0 / (kappa + GAMMA) * shortest * (1.0 + 1e-3)
