"""Observables of a run against plain formulas on the physical parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls

from core.dynamics.step_size import jacobian
from core.observables.certificates import certificate
from core.observables.law_features import unit_directions
from core.observables.registry import OBSERVABLES, last_values, scalars_of, usual_of
from core.observables.table import parameter_columns
from core.problem.problem import points_for_test
from core.runs import Run, open_run
from tests.observables.columns import scalar_columns
from tests.recording import recorded

FLOW = ("dynamics.until_log10_time=4", "recording.frames=12")


@pytest.fixture(scope="module", params=["exponential", "logistic"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("runs") / "run.msrun"
    recorded(path, *FLOW, f"loss.kind={request.param}", "data.d=6", "data.n=20", "network.m=7")
    return open_run(path)


def value(run: Run, name: str, index: int = -1) -> float:
    return float(OBSERVABLES[name].value_at(run, index % run.frames))


def W_of(run: Run, index: int = -1) -> np.ndarray:
    index %= run.frames
    return np.exp(run.rho[index]) * run.parameters(index)


@pytest.mark.parametrize("index", [0, 5, -1])
def test_scalars_from_their_definitions(run: Run, index: int) -> None:
    W = W_of(run, index)
    a, V = W[:7], W[7:].reshape(7, 6)
    x, y = run.dataset.x, run.dataset.y
    p = y * (np.maximum(x @ V.T, 0) @ a)
    exponential = run.loss.kind == "exponential"
    losses = np.exp(-p) if exponential else np.log1p(np.exp(-p))
    total = losses.sum()
    inverse = -np.log(total) if exponential else -np.log(np.expm1(total))
    square = W @ W
    l1 = np.abs(a) @ np.linalg.norm(V, axis=1)
    wanted = {
        "risk": losses.mean(),
        "log10_risk": np.log10(losses.mean()),
        "hard_margin": p.min() / square,
        "smoothed_margin": inverse / square,
        "l1_margin": p.min() / l1,
        "norm_squared": square,
        "distance": np.linalg.norm(W - run.origin),
        "train_error": np.mean(p <= 0),
        "stable_rank": (V**2).sum() / np.linalg.norm(V, 2) ** 2,
    }
    for name, number in wanted.items():
        assert value(run, name, index) == pytest.approx(number, rel=1e-9, abs=1e-13), name


def test_margins_in_their_order(run: Run) -> None:
    """hard <= l1/2 wherever min p >= 0, hard <= dual margin, smoothed <= hard."""
    for index in range(run.frames):
        hard = value(run, "hard_margin", index)
        if hard >= 0:
            assert hard <= value(run, "l1_margin", index) / 2 + 1e-12
        assert value(run, "smoothed_margin", index) <= hard + 1e-12
        assert hard <= value(run, "dual_margin", index) + 1e-12


def test_nodes_from_their_definitions(run: Run) -> None:
    W, W0 = W_of(run), run.origin
    a, V, V0 = W[:7], W[7:].reshape(7, 6), W0[7:].reshape(7, 6)
    for j in range(7):
        cosine = V[j] @ V0[j] / np.linalg.norm(V[j]) / np.linalg.norm(V0[j])
        assert OBSERVABLES["rotation"].value_at(run, run.frames - 1)[j] == pytest.approx(cosine)
    norms = np.abs(a) * np.linalg.norm(V, axis=1)
    relative = OBSERVABLES["relative_norm"].value_at(run, run.frames - 1)
    assert relative == pytest.approx(norms / norms.max())
    assert OBSERVABLES["rotation"].value_at(run, 0) == pytest.approx(np.ones(7))


def test_balance_drift_is_that_of_the_definition(run: Run) -> None:
    W, W0 = W_of(run, 5), run.origin

    def imbalance(flat: np.ndarray) -> np.ndarray:
        return flat[:7] ** 2 - (flat[7:].reshape(7, 6) ** 2).sum(axis=1)

    wanted = np.abs(imbalance(W) - imbalance(W0)).max() / (W @ W)
    assert value(run, "balance_drift", 5) == pytest.approx(wanted, abs=1e-14)
    assert value(run, "balance_drift", 0) < 1e-15


@pytest.mark.parametrize("log10_size", [-150.0, 0.0, 60.0])
def test_balance_drift_of_any_size(log10_size: float, tmp_path: Path) -> None:
    """Over |W(t)|^2, whose squares are 1e-300 to 1e120."""
    d, m = 3, 4
    generator = np.random.default_rng(0)
    start = {"a": generator.standard_normal(m), "V": generator.standard_normal((m, d))}
    start = {name: 10.0**log10_size * array for name, array in start.items()}
    np.savez(tmp_path / "start.npz", a=start["a"], V=start["V"])
    inputs = 10.0 ** min(-2.0 * log10_size, 8.0) * generator.standard_normal((6, d))
    np.savez(tmp_path / "data.npz", x=inputs, y=[1, -1, 1, -1, 1, -1])
    network = [f"network.init_path='{tmp_path / 'start.npz'}'", "network.init=file"]
    data = ["data.kind=file", "data.d=3", "data.n=6", f"data.path='{tmp_path / 'data.npz'}'"]
    recorded(
        tmp_path / "run.msrun",
        "dynamics.until_log10_time=-8",
        "recording.frames=3",
        "recording.log10_times=[]",
        "network.m=4",
        *data,
        *network,
    )
    with open_run(tmp_path / "run.msrun") as begun:
        a, V = start["a"] / 10.0**log10_size, start["V"] / 10.0**log10_size
        assert begun.rho[0] == pytest.approx(np.log(10.0) * log10_size, abs=3.0)
        room = 4.0 * abs(begun.rho[0]) * np.finfo(float).eps + 1e-15  # of e^(-2 rho)
        assert value(begun, "balance_drift", 0) < room
        assert np.linalg.norm(np.r_[a, V.ravel()]) == pytest.approx(
            np.exp(begun.rho[0] - np.log(10.0) * log10_size)
        )


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e100])
def test_singular_values_of_weights_of_any_size(size: float, tmp_path: Path) -> None:
    """The Gram matrix of the fixed V has squares, which were 0 at 1e-200."""
    V = np.random.default_rng(0).standard_normal((4, 3))
    np.savez(tmp_path / "start.npz", a=np.ones(4), b=np.ones(4), V=size * V)
    recorded(
        tmp_path / "run.msrun",
        "data.d=3",
        "network.kind=scalar",
        "network.init=file",
        f"network.init_path='{tmp_path / 'start.npz'}'",
        "network.m=4",
        "dynamics.kind=gd",
        "dynamics.until_log10_time=-8",
        "dynamics.step=1e-8",
        "recording.frames=3",
        "recording.log10_times=[]",
        "loss.kind=logistic",
    )
    sigma = np.linalg.svd(V, compute_uv=False)
    with open_run(tmp_path / "run.msrun") as begun:
        for name, wanted in zip(("sigma_1", "sigma_2", "sigma_3"), sigma, strict=True):
            assert value(begun, name, 0) == pytest.approx(size * wanted, rel=1e-9)
        assert value(begun, "stable_rank", 0) == pytest.approx((V**2).sum() / sigma[0] ** 2)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_directions_of_weights_of_any_size(run: Run, size: float) -> None:
    """|v_j|^2 leaves float64 there, and every node was without a direction."""
    flat = run.parameters(3).copy()
    flat[7:13] = 0.0  # v_1
    wanted = unit_directions(run, flat)
    assert np.isnan(wanted[0]).all()
    assert np.linalg.norm(wanted[1:], axis=1) == pytest.approx(np.ones(6))
    assert np.allclose(unit_directions(run, size * flat), wanted, rtol=1e-14, equal_nan=True)


def test_patterns_changed(run: Run) -> None:
    V, V0 = (flat[7:].reshape(7, 6) for flat in (W_of(run), run.origin))
    changed = 0
    for j in range(7):
        for i in range(20):
            x = run.dataset.x[i]
            changed += (V[j] @ x > 0) != (V0[j] @ x > 0)
    assert value(run, "patterns_changed") == pytest.approx(changed / 140)


def test_test_error_is_exact_in_small_dimension(run: Run) -> None:
    points = points_for_test(run.problem)
    assert points.exact
    W = W_of(run)
    wrong = 0
    for x, y in zip(points.x, points.y, strict=True):
        f = sum(W[j] * max(W[7 + 6 * j : 13 + 6 * j] @ x, 0.0) for j in range(7))
        wrong += not y * f > 0
    assert value(run, "test_error") == wrong / 64
    assert value(run, "test_error_se") == 0.0


def test_kkt_residual_by_the_full_gradients(run: Run) -> None:
    found = certificate(run, run.frames - 1)
    flat = run.parameters(run.frames - 1)
    a, V = run.network.effective(flat)
    x, y = run.dataset.x, run.dataset.y
    p = y * (np.maximum(x @ V.T, 0) @ a)
    if p.min() <= 0:
        assert np.isnan(found.residual)
        return
    theta = flat / np.sqrt(p.min())
    J = y[:, None] * jacobian(run.network, theta, run.inputs)
    multipliers, distance = nnls(J.T, theta)
    assert found.residual == pytest.approx(distance / np.linalg.norm(theta), abs=1e-7)
    slack = multipliers @ (p / p.min() - 1) / multipliers.sum()
    assert found.complementarity == pytest.approx(slack, abs=1e-6)


def test_table_columns(run: Run) -> None:
    columns = scalar_columns(run)
    assert columns["frame"].dtype == columns["step"].dtype == np.int64
    assert columns["log10_time"][0] == -np.inf
    assert all(column.shape == (run.frames,) for column in columns.values())
    named = {item.name for item in scalars_of(run) if item.on_request}
    assert named and not named & columns.keys()
    for item in usual_of(run):
        last = columns[item.name][-1]
        assert np.array_equal(last, last_values(run)[item.name], equal_nan=True)
    parameters = parameter_columns(run)
    assert parameters["V"].shape == (run.frames, 7, 6)
    W = np.concatenate([parameters["a"][-1], parameters["V"][-1].reshape(-1)])
    assert pytest.approx(W_of(run)) == W


def test_values_are_memoised(run: Run) -> None:
    first = OBSERVABLES["rotation"].value_at(run, 3)
    assert OBSERVABLES["rotation"].value_at(run, 3) is first


def test_late_margins_do_not_underflow(tmp_path: Path) -> None:
    recorded(tmp_path / "late.msrun", "dynamics.until_log10_time=1e12", "recording.frames=20")
    with open_run(tmp_path / "late.msrun") as late:
        last = late.frames - 1
        assert value(late, "risk") == 0.0
        assert value(late, "log10_risk") == pytest.approx(-1e12, rel=1e-3)
        assert value(late, "smoothed_margin") == pytest.approx(0.0402, abs=1e-4)
        assert value(late, "atoms") >= 20
        assert np.isfinite(OBSERVABLES["rotation"].value_at(late, last)).all()
        assert value(late, "norm_squared") == pytest.approx(np.exp(2 * late.rho[-1]))


def test_file_data_without_test_points_has_no_test_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(3), y=[1, -1, 1])
    study = tmp_path / "mine.toml"
    study.write_text("[data]\nkind = 'file'\npath = 'data.npz'\n[network]\nm = 3\n")
    recorded(tmp_path / "mine.msrun", study=str(study))
    with open_run(tmp_path / "mine.msrun") as own:
        assert np.isnan(value(own, "test_error"))
        assert np.isnan(value(own, "test_error_se"))
