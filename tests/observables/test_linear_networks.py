"""Linear networks, their exact solutions, and predictions as a kind, against integration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from core.errors import InputError
from core.observables.matrix_solution import MatrixSolution
from core.observables.prediction import Prediction
from core.observables.registry import OBSERVABLES, PREDICTIONS, predict, predictions_of
from core.observables.saxe_mode import saxe_curve
from core.observables.table import check_columns
from core.problem.problem import Problem, resolve_problem
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.observables.columns import scalar_columns
from tests.support.continued_runs import continued_at

Y = (3.0, 2.0, 1.0, 0.5)
S, C = float(np.linalg.norm(Y)), 0.25  # target and X'X/n of the inputs e_1, ..., e_4
FLOW = {"kind": "plain_flow", "step": 0.01, "until_log10_time": 1.2}


def problem(network: dict[str, Any] | None = None, **tables: dict[str, Any]) -> Problem:
    made = {
        "data": {"kind": "orthonormal", "y": list(Y)},
        "network": {"kind": "linear", "m": 5, **(network or {})},
        "loss": {"kind": "least_squares"},
        "dynamics": FLOW,
        "recording": {"frames": 40},
        **tables,
    }
    return resolve_problem(build_experiment(made, "test"))


def recorded(folder: Path, *arguments: Any, **tables: Any) -> Run:
    path = folder / "run.msrun"
    train(problem(*arguments, **tables), lambda made, **facts: Recorder(path, made, **facts))
    return open_run(path)


def balanced(
    generator: np.random.Generator, d: int, k: int, m: int, size: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Return W1 (m, d) and W2 (k, m) with W2'W2 = W1 W1', in general position."""
    rank = min(d, k)
    R = np.linalg.qr(generator.standard_normal((m, rank)))[0]
    left = np.linalg.qr(generator.standard_normal((k, rank)))[0]
    right = np.linalg.qr(generator.standard_normal((d, rank)))[0]
    roots = np.sqrt(size * generator.uniform(0.2, 1.0, rank))
    return R * roots @ right.T, left @ (R * roots).T


def integrated(S: np.ndarray, W1: np.ndarray, W2: np.ndarray, t: float) -> np.ndarray:
    def slope(_: float, flat: np.ndarray) -> np.ndarray:
        one, two = flat[: W1.size].reshape(W1.shape), flat[W1.size :].reshape(W2.shape)
        rest = S - two @ one
        return np.concatenate([(two.T @ rest).ravel(), (rest @ one.T).ravel()])

    start = np.concatenate([W1.ravel(), W2.ravel()])
    found = solve_ivp(slope, (0.0, t), start, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return found[W1.size :].reshape(W2.shape) @ found[: W1.size].reshape(W1.shape)


@pytest.mark.parametrize("sizes", [(3, 3, 5), (4, 4, 4), (5, 1, 3), (4, 2, 6), (2, 4, 5)])
def test_the_matrix_solution_is_that_of_integration(sizes: tuple[int, int, int]) -> None:
    """Also where F is singular: S need not be square."""
    generator = np.random.default_rng(sum(sizes))
    d, k, m = sizes
    target = generator.standard_normal((k, d))
    W1, W2 = balanced(generator, d, k, m)
    solution = MatrixSolution.from_start(target, W1, W2)
    assert np.allclose(solution.product(0.0), W2 @ W1, rtol=0, atol=1e-14)
    for t in (0.3, 1.0, 3.0):
        wanted = integrated(target, W1, W2, t)
        assert np.abs(solution.product(t) - wanted).max() <= 1e-11


def test_the_matrix_solution_ends_at_the_target() -> None:
    """Over times at which e^(Ft) has overflowed."""
    generator = np.random.default_rng(3)
    target = generator.standard_normal((3, 3))
    solution = MatrixSolution.from_start(target, *balanced(generator, 3, 3, 4))
    assert np.allclose(solution.product(5e3), target, rtol=0, atol=1e-10)
    nowhere = MatrixSolution.from_start(np.zeros((1, 2)), np.eye(2), np.array([[1.0, 0.0]]))
    assert np.isfinite(nowhere.product(10.0)).all()


def test_half_times_of_modes() -> None:
    """NumPy's own values for s = 3, 2, 1, .5 and a(0) = .001, by hand."""
    for s, half in ((3.0, 1.334), (2.0, 1.900), (1.0, 3.453), (0.5, 6.213)):
        t = np.log(s / 1e-3 - 1.0) / (2.0 * s)
        assert t == pytest.approx(half, abs=1e-3)
        assert saxe_curve(np.array([t]), s, 1e-3)[0] == pytest.approx(s / 2.0, rel=1e-12)


@pytest.mark.parametrize("init", ["aligned", "balanced", "random", "file"])
def test_starts(init: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", a=np.ones(5), V=np.ones((5, 4)))
    network = {"kind": "linear", "m": 5, "init": init}
    if init == "file":
        network["init_path"] = str(tmp_path / "own.npz")
    at = problem(network)
    a, V = at.network.unpack(at.start.parameters).values()
    beta = a @ V
    if init in ("aligned", "balanced"):
        assert np.allclose(np.outer(a, a), V @ V.T, rtol=0, atol=1e-17)
        assert a @ a == pytest.approx(1e-3, rel=1e-12)
        along = beta @ Y / S
        assert (abs(along - 1e-3) < 1e-15) == (init == "aligned")
    if init == "random":
        assert 1e-4 < a @ a < 1e-2
    f = at.network.outputs(at.start.parameters, at.inputs)
    assert np.allclose(f, at.inputs @ beta, rtol=1e-13)


def test_an_aligned_run_follows_both_predictions(tmp_path: Path) -> None:
    with recorded(tmp_path) as run:
        saxe, matrix = predict(run, "mode_saxe"), predict(run, "mode_matrix")
        assert saxe.t.size == run.frames
        wanted = S / (1.0 + (S / 1e-3 - 1.0) * np.exp(-2.0 * S * C * run.t))
        assert np.allclose(saxe.values, wanted, rtol=1e-10)
        assert np.allclose(matrix.values, wanted, rtol=1e-10)
        assert saxe.largest <= 2e-4
        assert abs(saxe.last) <= saxe.largest
        mode = np.array([a @ V @ Y / S for a, V in zip(*weights(run), strict=True)])
        assert np.allclose(saxe.residual, mode - wanted, rtol=0, atol=1e-12)
        risk = predict(run, "log10_risk_matrix")
        # R = (c/2) |beta - s|^2 for targets that are met.
        assert np.allclose(10.0**risk.values, 0.5 * C * (S - wanted) ** 2, rtol=1e-6, atol=1e-17)


def weights(run: Run) -> tuple[np.ndarray, np.ndarray]:
    frames = [run.network.unpack(run.physical_parameters(k)) for k in range(run.frames)]
    return np.array([one["a"] for one in frames]), np.array([one["V"] for one in frames])


def test_another_balanced_start_turns_towards_the_target(tmp_path: Path) -> None:
    with recorded(tmp_path, {"init": "balanced"}) as run:
        matrix = predict(run, "mode_matrix")
        assert matrix.largest <= 5e-4
        a, V = (part[0] for part in weights(run))
        # The other route to the same curve: the equations in c t for W1 = V and W2 = a'.
        t = float(run.t[20])
        beta = integrated(np.array([Y]), V, a[None], C * t)[0]
        assert matrix.values[20] == pytest.approx(beta @ Y / S, abs=1e-11)
        angles = OBSERVABLES["mode_angle"].trace(run)
        assert angles[0] > 10.0
        assert angles[-1] < 0.01
        with pytest.raises(InputError, match="not aligned"):
            predict(run, "mode_saxe")
        assert "mode_saxe" not in scalar_columns(run)
        assert {"mode_matrix", "mode_matrix_residual"} <= set(scalar_columns(run))


def test_the_angle_of_tiny_coefficients_is_that_of_others(tmp_path: Path) -> None:
    """A factor changes no angle, also where squares of the coefficients are below float64."""
    angles = []
    for scale in (1e-3, 1e-170):
        with recorded(tmp_path, {"init": "balanced", "scale": scale}) as run:
            angles.append(float(OBSERVABLES["mode_angle"].value_at(run, 0)))
            beta = float(OBSERVABLES["mode_strength"].value_at(run, 0))
            assert 0.0 < abs(beta) < 10.0 * scale
        (tmp_path / "run.msrun").unlink()
    assert angles[0] > 1.0
    assert angles[1] == pytest.approx(angles[0], rel=1e-9)


@pytest.mark.parametrize(
    ("network", "tables", "sentence"),
    [
        ({"init": "random"}, {}, "the start is not balanced"),
        ({}, {"data": {"kind": "regression", "d": 3, "n": 8}}, "not white"),
        ({}, {"loss": {"kind": "least_squares", "l2": 0.1}, "dynamics": {"kind": "gd"}}, "penalty"),
        ({}, {"dynamics": {"kind": "sgd", "step": 0.1, "batch": 2}}, "full-batch"),
        ({}, {"data": {"kind": "orthonormal", "y": [0.0, 0.0]}}, "X'y = 0"),
        ({"kind": "standard"}, {}, "holds for two-layer linear networks"),
    ],
)
def test_where_no_solution_is_known_one_sentence_says_so(
    network: dict[str, Any], tables: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    dynamics = {"until_log10_time": 0.5, **tables.get("dynamics", {"kind": "gd", "step": 0.1})}
    with recorded(tmp_path, network, **{**tables, "dynamics": dynamics}) as run:
        for name in ("mode_saxe", "mode_matrix"):
            with pytest.raises(InputError, match=sentence) as caught:
                predict(run, name)
            assert str(caught.value).count(". ") == 0
            assert name not in scalar_columns(run)
            with pytest.raises(InputError, match=f"'{name}' is a prediction that.*{sentence}"):
                check_columns(run, [name])
            assert np.isnan(OBSERVABLES[name].value_at(run, 0))


def test_unknown_names(tmp_path: Path) -> None:
    with recorded(tmp_path) as run, pytest.raises(InputError, match=r"did you mean .mode_saxe"):
        predict(run, "mode_sax")


def test_the_flow_conserves_the_matrix_and_large_steps_do_not(tmp_path: Path) -> None:
    """Also from a start that is not balanced, and for the logistic loss."""
    with recorded(tmp_path, {"init": "random", "scale": 1.0}) as run:
        drift = OBSERVABLES["layer_drift"].trace(run)
        a, V = weights(run)
        matrix = np.einsum("tj,tk->tjk", a, a) - np.einsum("tjd,tkd->tjk", V, V)
        apart = np.linalg.norm(matrix - matrix[0], axis=(1, 2))
        squared = (a**2).sum(axis=1) + (V**2).sum(axis=(1, 2))
        assert np.allclose(drift, apart / squared, rtol=1e-9, atol=1e-16)
        assert 0.0 < drift.max() <= 1e-4
    large = {"kind": "gd", "step": 0.5, "until_log10_time": 1.2}
    (tmp_path / "gd").mkdir()
    with recorded(tmp_path / "gd", {"init": "random", "scale": 1.0}, dynamics=large) as run:
        assert OBSERVABLES["layer_drift"].trace(run).max() >= 1e-3
        assert run.dataset.real


def test_bands_and_residuals_of_a_prediction() -> None:
    """The columns that a prediction with a band adds, in their order."""
    of = OBSERVABLES["mode_strength"]
    made = Prediction(
        name="line",
        of="mode_strength",
        label="line",
        title="a line",
        formula="t",
        source="tests",
        function=lambda run, t: t,
        suits=lambda run: True,
        condition=lambda run: "",
        where="any run",
        band=lambda run, t: np.array([t - 1.0, t + 1.0]),
    )
    names = [one.name for one in made.make_observables(of)]
    assert names == ["line", "line_low", "line_high", "line_residual"]
    assert made.columns == ("line", "line_low", "line_high")


def test_every_prediction_has_its_columns(tmp_path: Path) -> None:
    for one in PREDICTIONS.values():
        assert {*one.columns, f"{one.name}_residual", one.of} <= set(OBSERVABLES)
    with recorded(tmp_path) as run:
        names = [one.name for one in predictions_of(run, "mode_strength")]
        assert names == ["mode_saxe", "mode_matrix"]


def test_continued_runs_are_compared_from_the_start_of_the_first(tmp_path: Path) -> None:
    descent = {"kind": "gd", "step": 0.01, "until_log10_time": 0.6}
    with recorded(tmp_path, {"init": "balanced"}, dynamics=descent):
        pass
    further, other = tmp_path / "further.msrun", tmp_path / "other.msrun"
    continued_at(further, tmp_path / "run.msrun", "dynamics.until_log10_time=1.2")
    with open_run(further) as run:
        found = predict(run, "mode_matrix")
        assert found.t[0] == pytest.approx(10.0**0.6, rel=0.02)
        assert 0.0 < found.largest <= 0.05  # by steps of .01
        assert found.last == pytest.approx(0.0, abs=1e-6)
    continued_at(
        other, tmp_path / "run.msrun", "dynamics.step=0.02", "dynamics.until_log10_time=1.2"
    )
    with open_run(other) as run, pytest.raises(InputError, match="exact solution holds for"):
        predict(run, "mode_matrix")


def test_the_margin_of_depth_two_is_half_of_the_linear_one(tmp_path: Path) -> None:
    """|W|^2 >= 2 |beta|, with equality where a and V are balanced and of rank one (AM-GM)."""
    labels = {
        "data": {"kind": "gaussian_mixture", "d": 4, "n": 12},
        "loss": {"kind": "exponential"},
        "dynamics": {"kind": "flow", "until_log10_time": 100.0},
        "recording": {"frames": 20},
    }
    with recorded(tmp_path, {"init": "random", "scale": 0.01}, **labels) as run:
        margin = OBSERVABLES["hard_margin"].trace(run)
        Z = run.dataset.y[:, None] * run.dataset.x
        # The largest margin by its dual: the shortest vector of the hull of the y_i x_i.
        found = minimize(
            lambda q: 0.5 * float((q @ Z) @ (q @ Z)),
            np.full(run.dataset.n, 1.0 / run.dataset.n),
            jac=lambda q: Z @ (q @ Z),
            bounds=[(0.0, 1.0)] * run.dataset.n,
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1.0},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        largest = float(np.linalg.norm(found.x @ Z)) / 2.0
        assert margin.max() <= largest * (1.0 + 1e-6)
        assert margin[-1] >= 0.99 * largest
        sigma = OBSERVABLES["sigma_2"].trace(run)[-1] / OBSERVABLES["sigma_1"].trace(run)[-1]
        assert sigma <= 0.01
