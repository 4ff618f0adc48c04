"""Observables of runs of every network against plain formulas on the physical parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls

from core.dynamics.rows import reduce_rows
from core.dynamics.step_size import jacobian
from core.losses import LOSSES
from core.observables.certificates import certificate
from core.observables.node_coordinates import positions
from core.observables.registry import OBSERVABLES
from core.observables.spectrum import singular_values
from core.observables.table import parameter_columns
from core.problem.problem import Problem
from core.runs import Recorder, Run, open_run
from core.training.trajectory import run as train
from tests.networks import (
    HEADS,
    HOMOGENEOUS,
    TWO_LAYER,
    UNCOMPILED,
    Case,
    at_a_random_point,
    small_problem,
)
from tests.observables.columns import node_columns, scalar_columns

DESCENT = {"kind": "gd", "step": 0.1, "until_log10_time": 2.5}
SHORT_DESCENT = DESCENT | {"until_log10_time": 1.0}  # the mirror flow takes each of its steps too
MIRRORED = ("scalar", "normalised", "head")
FLOW = {"kind": "flow", "until_log10_time": 2.5}
SLOPES = {"exponential": lambda z: np.exp(-z), "logistic": lambda z: 1.0 / (1.0 + np.exp(z))}


def recorded(problem: Problem, path: Path) -> Run:
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    return open_run(path)


@dataclass
class Facts:
    """A run's last frame, computed here from the physical parameters alone."""

    run: Run
    case: Case

    def __post_init__(self) -> None:
        run = self.run
        self.index = run.frames - 1
        self.flat = run.parameters(self.index)
        self.W = run.network.physical(self.flat, float(run.rho[self.index]))
        self.parts, self.origin = run.network.unpack(self.W), run.network.unpack(run.origin)
        self.f = np.asarray(run.network.outputs(self.W, run.inputs))
        self.p = self.scores_of(self.f).reshape(run.dataset.n, -1).min(axis=1)

    def scores_of(self, f: np.ndarray) -> np.ndarray:
        y = self.run.dataset.y
        if f.ndim == 1:
            return y * f
        k = f.shape[1]
        return np.array(
            [f[i, int(own)] - f[i, c] for i, own in enumerate(y) for c in range(k) if c != int(own)]
        )

    @property
    def norm(self) -> float:
        if self.case.kind == "batch_norm":
            return float(np.linalg.norm(self.parts["a"]) * np.linalg.norm(self.parts["c"]))
        if self.case.kind == "quadratic":
            theta = np.hstack([self.parts["A"], self.parts["V"]])
            return float((np.linalg.norm(theta, axis=1) ** 3).sum())
        power = 1 if self.case.kind == "fixed_outer" else 2
        return float(np.linalg.norm(self.W[: self.run.network.scaled]) ** power)

    @property
    def losses(self) -> np.ndarray:
        y, f, p = self.run.dataset.y, self.f, self.p
        if self.case.loss == "cross_entropy":
            return np.log(np.exp(f).sum(axis=1)) - f[np.arange(y.size), y.astype(int)]
        table = {
            "exponential": np.exp(-p),
            "logistic": np.log1p(np.exp(-p)),
            "squared": (1 - p) ** 2,
            "least_squares": 0.5 * (f - y) ** 2,
        }
        return table[self.case.loss]

    @property
    def smoothed(self) -> float:
        total = self.losses.sum()
        if LOSSES[self.case.loss].fits:
            return float("nan")
        return float(-np.log(total if self.case.loss == "exponential" else np.expm1(total)))

    def value(self, name: str) -> float:
        return float(OBSERVABLES[name].value_at(self.run, self.index))


ALL = [
    *(
        (case, SHORT_DESCENT if case.kind in MIRRORED else DESCENT)
        for case in (*TWO_LAYER, *UNCOMPILED, *HEADS)
    ),
    *((case, FLOW) for case in HOMOGENEOUS),
]


@pytest.fixture(scope="module", params=ALL, ids=lambda pair: f"{pair[0]}-{pair[1]['kind']}")
def facts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Facts]:
    """Yield the last frame of a run that all tests of its network read."""
    case, dynamics = request.param
    path = tmp_path_factory.mktemp("facts") / "run.msrun"
    with recorded(small_problem(case, dynamics, recording={"frames": 4}), path) as run:
        yield Facts(run, case)


def test_scalars_and_nodes_from_their_definitions(facts: Facts) -> None:
    run, W = facts.run, facts.W
    assert facts.value("hard_margin") == pytest.approx(facts.p.min() / facts.norm, rel=1e-9)
    assert facts.value("risk") == pytest.approx(facts.losses.mean(), rel=1e-9)
    smoothed = facts.smoothed / facts.norm
    assert facts.value("smoothed_margin") == pytest.approx(smoothed, rel=1e-7, nan_ok=True)
    Wh = W[: run.network.scaled]
    assert facts.value("norm_squared") == pytest.approx(Wh @ Wh, rel=1e-10)
    assert facts.value("distance") == pytest.approx(np.linalg.norm(W - run.origin), rel=1e-9)
    assert facts.value("train_error") == np.mean(~(facts.p > 0))
    table = scalar_columns(run)
    always = {"risk", "log10_risk", "hard_margin", "smoothed_margin", "l1_margin", "norm_squared"}
    always |= {"distance", "train_error", "test_error", "test_error_se", "balance_drift"}
    assert always <= set(table)
    assert all(np.array(column).shape == (run.frames,) for column in table.values())
    if facts.case.kind in ("scalar", "normalised", "head"):
        u = np.abs(facts.parts["a"] * facts.parts["b"])
        assert np.allclose(node_columns(run)["u"][-1], u, rtol=1e-10)


def test_l1_margin_and_its_bound(facts: Facts) -> None:
    """hard <= l1/2 wherever min p >= 0 (AM-GM), for the norms that are sums of squares."""
    parts, run = facts.parts, facts.run
    if facts.case.kind in ("standard", "bias"):
        U = parts["V"] if "b" not in parts else np.column_stack([parts["V"], parts["b"]])
        l1 = np.abs(parts["a"]) @ np.linalg.norm(U, axis=1)
    elif facts.case.kind in ("normalised", "head", "scalar"):
        l1 = np.abs(parts["a"] * parts["b"]).sum()
    elif facts.case.kind == "multiclass":
        U = parts["V"] if "b" not in parts else np.column_stack([parts["V"], parts["b"]])
        l1 = np.linalg.norm(parts["A"], axis=1) @ np.linalg.norm(U, axis=1)
    elif facts.case.kind == "quadratic":
        l1 = np.linalg.norm(parts["A"], axis=1) @ (parts["V"] ** 2).sum(axis=1)
    else:
        U = run.network.nodes(facts.W)[1]
        a = parts.get("a", run.network.fixed.get("a"))
        l1 = np.abs(a) @ np.linalg.norm(U, axis=1)
    assert facts.value("l1_margin") == pytest.approx(facts.p.min() / l1, rel=1e-9)
    if facts.p.min() >= 0 and facts.case.kind not in ("fixed_outer", "batch_norm"):
        # |A| |v|^2 <= 2 |theta|^3/sqrt(27), as 2 |a| |v| <= |a|^2 + |v|^2.
        most = np.sqrt(4.0 / 27.0) if facts.case.kind == "quadratic" else 0.5
        assert facts.value("hard_margin") <= facts.value("l1_margin") * most * (1 + 1e-9)


def test_inner_weights(facts: Facts) -> None:
    if facts.case.kind == "head":
        assert np.isnan(node_columns(facts.run)["rotation"]).all()
        return
    run = facts.run
    V = facts.parts.get("V", run.network.fixed.get("V"))
    V0 = facts.origin.get("V", run.network.fixed.get("V"))
    singular = np.linalg.svd(V, compute_uv=False)
    found = singular_values(run, facts.index)
    assert np.allclose(found, singular[: found.size], rtol=1e-7, atol=1e-9 * singular[0])
    assert facts.value("stable_rank") == pytest.approx((V**2).sum() / singular[0] ** 2)
    cosine = [v @ w / np.linalg.norm(v) / np.linalg.norm(w) for v, w in zip(V, V0, strict=True)]
    assert np.allclose(node_columns(run)["rotation"][-1], cosine, atol=1e-10)
    assert np.allclose(parameter_columns(run)["V"].reshape(-1, *V.shape)[-1], V, rtol=1e-12)


def test_batch_norm_quantities(facts: Facts) -> None:
    if facts.case.kind != "batch_norm":
        assert "outer_displacement" not in scalar_columns(facts.run)
        return
    parts, origin = facts.parts, facts.origin
    moved = sum(np.sum((parts[name] - origin[name]) ** 2) for name in ("a", "c"))
    assert facts.value("outer_displacement") == pytest.approx(np.sqrt(moved))
    inner = np.linalg.norm(parts["V"] - origin["V"])
    assert facts.value("inner_displacement") == pytest.approx(inner)
    settings = facts.case.settings
    N = np.ones(facts.run.network.m)
    if settings.get("normalise", True):
        sigma = np.cov(facts.run.dataset.x.T, bias=True)
        N = np.sqrt(
            np.einsum("jk,kl,jl->j", parts["V"], sigma, parts["V"]) + settings.get("eps", 0)
        )
    assert facts.value("smallest_normaliser") == pytest.approx(N.min())
    assert facts.value("median_normaliser") == pytest.approx(np.median(N))
    squared = np.sum(facts.W[: facts.run.network.scaled] ** 2)
    assert facts.value("balanced_margin") == pytest.approx(facts.p.min() / squared)


def test_dual_weights(facts: Facts) -> None:
    if facts.case.loss not in SLOPES:
        return
    cap = facts.run.temperature_cap
    scale = np.exp(facts.run.network.degree * facts.run.rho[facts.index])
    if cap is None or scale <= cap:
        slope = SLOPES[facts.case.loss]
        q = OBSERVABLES["dual"].value_at(facts.run, facts.index)
        assert np.allclose(q, slope(facts.p) / slope(facts.smoothed), rtol=1e-6)


def test_kkt_residual_by_all_gradients(facts: Facts) -> None:
    network, run = facts.run.network, facts.run
    if not network.homogeneous or LOSSES[facts.case.loss].fits:
        assert "kkt_residual" not in scalar_columns(run)
        return
    found = certificate(run, facts.index)
    if facts.p.min() <= 0:
        assert np.isnan(found.residual)
        return
    flat, scaled, L = facts.flat, network.scaled, network.degree
    p = facts.scores_of(np.asarray(network.outputs(flat, run.inputs)))
    c = p.min() ** (-1.0 / L)
    theta = np.concatenate([c * flat[:scaled], flat[scaled:]])
    rows = jacobian(network, theta, run.inputs).reshape(run.dataset.n, -1, network.size)
    J = np.array([facts.scores_of(column) for column in _columns(rows, network.k)]).T
    target = np.concatenate([theta[:scaled], np.zeros(network.size - scaled)])
    _, distance = nnls(J.T, target)
    assert found.residual == pytest.approx(distance / np.linalg.norm(target), abs=1e-6)


def _columns(rows: np.ndarray, k: int) -> list[np.ndarray]:
    """Return the derivative of the outputs in each parameter, in the shape of the outputs."""
    return [rows[:, 0, s] if k == 1 else rows[:, :, s] for s in range(rows.shape[2])]


@pytest.mark.parametrize("case", TWO_LAYER, ids=str)
def test_tangent_kernel_equals_the_gradients(case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case))
    J = jacobian(at.network, flat, at.inputs)
    wanted = J @ J.T
    found = at.network.gram(flat, at.inputs)
    assert np.allclose(found, wanted, atol=1e-12 * np.abs(wanted).max())


def on_kinks(run: Run) -> float:
    """Return the largest share of preactivations that are 0 but for rounding, over all frames."""
    shares = []
    for index in range(run.frames):
        flat = run.parameters(index)
        inner = run.inputs @ run.network.effective(flat)[1].T
        shares.append(float(np.mean(np.abs(inner) < 1e-10)))
    return max(shares)


@pytest.mark.parametrize("case", TWO_LAYER, ids=str)
def test_row_space_runs_read_as_direct_ones(case: Case, tmp_path: Path) -> None:
    until = 1.0 if case.kind in MIRRORED else 1.5
    dynamics = {"kind": "gd", "step": 0.1, "until_log10_time": until}
    at = small_problem(case, dynamics, d=40, n=8, m=9, recording={"frames": 4})
    with (
        recorded(at, tmp_path / "direct.msrun") as direct,
        recorded(reduce_rows(at), tmp_path / "rows.msrun") as rows,
    ):
        assert direct.reduction is None
        assert rows.reduction is not None
        assert rows.network.d < 10 < direct.network.d
        one, other = scalar_columns(direct), scalar_columns(rows)
        assert set(one) == set(other)
        for name, column in one.items():
            if name == "log10_risk" and LOSSES[case.loss].fits:
                continue  # the fit is exact: what is left of (1 - p)^2 is rounding
            room = 1e-9
            if name == "patterns_changed":  # examples that rounding puts on either side of a kink
                room += on_kinks(direct)
            assert np.allclose(column, other[name], rtol=1e-8, atol=room, equal_nan=True), name
        assert np.allclose(
            node_columns(direct)["rotation"], node_columns(rows)["rotation"], atol=1e-9
        )
        for name, column in parameter_columns(direct).items():
            assert np.allclose(column, parameter_columns(rows)[name], atol=1e-10), name
        last = direct.frames - 1
        for columns in ((5, 17), None):
            there, here = positions(direct, last, columns), positions(rows, last, columns)
            assert np.allclose(there, here, atol=1e-10)
