"""Modes of linear networks of any depth: closed forms, integration, and runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from core.errors import InputError
from core.observables.depth_curve import DepthCurve
from core.observables.depth_mode import predict_coefficients
from core.observables.registry import OBSERVABLES, predict
from core.observables.saxe_mode import saxe_curve
from core.runs import Run
from tests.observables.test_linear_networks import S, Y, recorded

C = 0.25
# Half times from a(0) = .001 of s = 3, 2, 1, .5, as 4 x 4 networks have them in Heun's steps.
HALF = {
    2: (1.334, 1.900, 3.453, 6.213),
    3: (3.136, 4.661, 9.145, 17.837),
    4: (5.217, 7.808, 15.529, 30.806),
}
STEPS = {"kind": "plain_flow", "step": 0.02, "until_log10_time": 1.2}


@pytest.mark.parametrize("depth", HALF)
def test_half_times(depth: int) -> None:
    for s, half in zip((3.0, 2.0, 1.0, 0.5), HALF[depth], strict=True):
        curve = DepthCurve.from_start(s, 1e-3, depth)
        t = curve.time_to(s / 2.0)
        assert t == pytest.approx(half, abs=1e-3)
        assert curve.values(np.array([t]))[0] == pytest.approx(s / 2.0, rel=1e-12)


def test_two_layers_are_saxes() -> None:
    t = np.linspace(0.0, 9.0, 91)
    for s, start in ((2.0, 1e-6), (0.3, 0.2), (1.0, 7.0)):
        found = DepthCurve.from_start(s, start, 2).values(t)
        assert np.allclose(found, saxe_curve(t, s, start), rtol=1e-12, atol=0)


def test_tiny_starts_decay_from_a_target_of_the_other_sign() -> None:
    t = np.linspace(0.0, 15.0, 31)
    for start in (1e-3, 1e-17, 1e-20, 1e-200):
        found = DepthCurve.from_start(-1.0, start, 2).values(t)
        assert np.allclose(found, saxe_curve(t, -1.0, start), rtol=1e-9, atol=0)


def test_four_layers_have_a_closed_form() -> None:
    """t = (F(b) - F(b_0))/4, b = sqrt a."""
    for s, start in ((3.0, 1e-3), (0.5, 1e-9), (1.0, 0.9)):
        root = np.sqrt(s)

        def primitive(a: float, s: float = s, root: float = root) -> float:
            b = np.sqrt(a)
            return float(-2.0 / (s * b) + s**-1.5 * np.log((root + b) / (root - b)))

        curve = DepthCurve.from_start(s, start, 4)
        for a in np.geomspace(start * 1.01, s * 0.999, 9).tolist():
            t = (primitive(a) - primitive(start)) / 4.0
            assert curve.time_to(a) == pytest.approx(t, rel=1e-11)
            assert curve.values(np.array([t]))[0] == pytest.approx(a, rel=1e-10)


@pytest.mark.parametrize("depth", [2, 3, 4, 7])
@pytest.mark.parametrize(
    ("s", "start"), [(2.0, 0.01), (1.0, 3.0), (-1.5, 0.4), (0.0, 0.7), (1.0, 1.0), (0.5, 500.0)]
)
def test_curves_are_those_of_integration(depth: int, s: float, start: float) -> None:
    times = np.array([0.0, 0.1, 0.7, 2.0, 6.0])
    found = DepthCurve.from_start(s, start, depth).values(times)
    solved = solve_ivp(
        lambda _, a: depth * np.maximum(a, 0.0) ** (2.0 - 2.0 / depth) * (s - a),
        (0.0, 6.0),
        [start],
        method="LSODA",
        t_eval=times,
        rtol=1e-11,
        atol=1e-13,
    )
    assert np.allclose(found, solved.y[0], rtol=1e-7, atol=1e-10)


def test_full_matrices_follow_their_modes() -> None:
    """4 x 4 targets with several modes: each singular value keeps to its own curve."""
    generator = np.random.default_rng(0)
    left, right = (np.linalg.qr(generator.standard_normal((4, 4)))[0] for _ in range(2))
    targets, depth, start = np.array([3.0, 2.0, 1.0, 0.5]), 3, 1e-2
    S4 = left * targets @ right.T
    turn = np.linalg.qr(generator.standard_normal((4, 4)))[0]
    size = start ** (1.0 / depth)
    layers = [size * turn @ right.T, size * np.eye(4), size * left @ turn.T]

    def slope(_: float, flat: np.ndarray) -> np.ndarray:
        W1, W2, W3 = flat.reshape(3, 4, 4)
        rest = S4 - W3 @ W2 @ W1
        slopes = (W2.T @ W3.T @ rest, W3.T @ rest @ W1.T, rest @ W1.T @ W2.T)
        return np.concatenate([one.ravel() for one in slopes])

    flat = np.concatenate([one.ravel() for one in layers])
    for t in (0.5, 1.2, 3.0):
        end = solve_ivp(slope, (0.0, t), flat, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        W1, W2, W3 = end.reshape(3, 4, 4)
        modes = np.diag(left.T @ W3 @ W2 @ W1 @ right)
        wanted = [DepthCurve.from_start(s, start, depth).values(np.array([t]))[0] for s in targets]
        assert np.allclose(modes, wanted, rtol=0, atol=1e-9)
        assert np.abs(W2.T @ W2 - W1 @ W1.T).max() <= 1e-10


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_deep_runs_lie_on_the_curve(layers: int, tmp_path: Path) -> None:
    network = {"kind": "deep_linear", "layers": layers, "scale": 0.05}
    with recorded(tmp_path, network, dynamics=STEPS) as run:
        mode, risk = predict(run, "mode_depth"), predict(run, "log10_risk_depth")
        assert mode.largest <= 1e-7
        assert np.abs(risk.residual[mode.values < S - 1e-4]).max() <= 1e-4
        assert OBSERVABLES["layer_drift"].trace(run).max() <= 1e-9
        assert mode.values[-1] > S / 2.0 > mode.values[0]
        half = DepthCurve.from_start(S, 0.05, layers).time_to(S / 2.0) / C
        assert np.interp(S / 2.0, mode.values + mode.residual, run.t) == pytest.approx(
            half, rel=0.05
        )
        assert OBSERVABLES["mode_angle"].trace(run).max() <= 1e-5


def test_deep_runs_from_any_balanced_start_keep_the_balance(tmp_path: Path) -> None:
    with recorded(tmp_path, {"kind": "deep_linear", "init": "balanced"}, dynamics=STEPS) as run:
        assert OBSERVABLES["layer_drift"].trace(run).max() <= 1e-9
        with pytest.raises(InputError, match="not aligned"):
            predict(run, "mode_depth")


@pytest.mark.parametrize("layers", [2, 3])
def test_diagonal_runs_lie_on_their_coordinates_curves(layers: int, tmp_path: Path) -> None:
    data = {"kind": "orthonormal", "y": [2.0, 0.5, 0.0, -1.0]}
    network = {"kind": "diagonal_linear", "layers": layers, "m": 1, "scale": 0.3}
    with recorded(tmp_path, network, data=data, dynamics=STEPS) as run:
        mode, risk = predict(run, "mode_coordinates"), predict(run, "log10_risk_coordinates")
        assert mode.largest <= 1e-8
        assert risk.largest <= 1e-6
        beta = _coefficients(run)
        assert np.abs(predict_coefficients(run, np.asarray(run.t)) - beta).max() <= 1e-8
        assert np.abs(beta[-1] - (2.0, 0.5, 0.0, 0.0)).max() <= 0.35  # the last can not change sign


def _coefficients(run: Run) -> np.ndarray:
    frames = [run.network.unpack(run.physical_parameters(k)) for k in range(run.frames)]
    return np.array([np.prod([one[0] for one in frame.values()], axis=0) for frame in frames])


@pytest.mark.parametrize(
    ("network", "tables", "sentence"),
    [
        ({"kind": "deep_linear", "init": "random"}, {}, "the start is not balanced"),
        ({"kind": "deep_linear"}, {"data": {"kind": "regression", "d": 3, "n": 8}}, "not white"),
        ({"kind": "diagonal_linear", "m": 1, "form": "squares"}, {}, 'form = "product"'),
        ({"kind": "diagonal_linear", "m": 2}, {}, "network.m = 1, not for 2"),
        ({"kind": "diagonal_linear", "m": 1, "init": "random"}, {}, "not balanced"),
    ],
)
def test_where_no_curve_is_known_one_sentence_says_so(
    network: dict[str, Any], tables: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    name = "mode_depth" if network["kind"] == "deep_linear" else "mode_coordinates"
    dynamics = {"kind": "gd", "step": 0.1, "until_log10_time": 0.5}
    with recorded(tmp_path, network, **{"dynamics": dynamics, **tables}) as run:
        with pytest.raises(InputError, match=sentence) as caught:
            predict(run, name)
        assert str(caught.value).count(". ") == 0


def test_the_strength_along_the_target(tmp_path: Path) -> None:
    network = {"kind": "diagonal_linear", "m": 1, "scale": 0.2}
    with recorded(tmp_path, network, dynamics=STEPS) as run:
        wanted = _coefficients(run) @ np.array(Y) / S
        assert np.allclose(OBSERVABLES["mode_strength"].trace(run), wanted, rtol=1e-12)
