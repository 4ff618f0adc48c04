"""Numbers that a loop hands over beside frames, compared with the network of the file."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import marginscope as ms
from core.losses import LOSSES, loss_named
from core.runs import open_run
from marginscope._record.losses import risk
from tests.support.loops import loop


def risk_of(
    one: Any, scale: float = 1.0, phi: Any = lambda z: np.maximum(z, 0.0), rows: int = 12
) -> float:
    f = scale * (one.a @ phi(one.V @ one.x[:rows].T))
    return float(np.log1p(np.exp(-one.y[:rows] * f)).mean())


def warnings_of(path: Path, risk_at: Any, steps: int = 40, **settings: Any) -> list[str]:
    """Record a loop which hands over `risk_at(loop)` from before each step; the warnings."""
    one = loop()
    given = {"loss": "logistic", "V0": one.V, "a0": one.a, "overwrite": True} | settings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ms.record(path, one.x, one.y, **given) as r:
            for t in range(1, steps + 1):
                number = risk_at(one)
                one.step()
                if r.due(t):
                    r.frame(t, V=one.V, a=one.a, risk=number)
    return [str(warning.message) for warning in caught]


def test_a_right_risk_is_not_remarked(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Before the step or after it, in single precision, of a sum, of a batch."""
    cases = {
        "before": (risk_of, {}),
        "single": (lambda one: np.float32(risk_of(one)) * (1 + 1e-4), {}),
        "sum": (lambda one: 12 * risk_of(one), {"reduction": "sum"}),
        "batch": (lambda one: risk_of(one, rows=4), {"batch": 4, "dynamics": "sgd", "eta": 0.5}),
        "no loss": (lambda one: 7.0, {"loss": None}),
        "no activation": (lambda one: 7.0, {"activation": None}),
    }
    for name, (risk_at, settings) in cases.items():
        with subtests.test(name):
            assert warnings_of(tmp_path / "a.msrun", risk_at, 200, **settings) == []


def test_a_wrong_risk_is_one_warning_with_its_cause(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    cases = {
        "mean field": (lambda one: risk_of(one, 1 / 6), "give scale=1/m"),
        "square root": (lambda one: risk_of(one, 6**-0.5), r"give scale=m**-0.5"),
        "tanh": (lambda one: risk_of(one, 1.0, np.tanh), "give activation='tanh'"),
        "sum": (lambda one: 12 * risk_of(one), "give reduction='sum'"),
        "twice": (lambda one: 2 * risk_of(one), "twice R"),
        "penalty": (lambda one: risk_of(one) + 0.01, "Usual causes are biases"),
        "infinite": (lambda one: math.inf, "a difference of inf"),
    }
    for name, (risk_at, cause) in cases.items():
        with subtests.test(name):
            (sentence,) = warnings_of(tmp_path / "a.msrun", risk_at)
            assert "at t = 1 the loop has risk = " in sentence and cause in sentence


def test_numbers_from_before_several_steps_are_not_remarked(tmp_path: Path) -> None:
    """Frames ten steps apart, with momentum, and numbers from before each step."""
    one, speed = loop(), [0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ms.record(
            tmp_path / "a.msrun", one.x, one.y, loss="logistic", V0=one.V, a0=one.a
        ) as r:
            for t in range(1, 101):
                number, V, a = risk_of(one), one.V, one.a
                f = one.a @ np.maximum(one.V @ one.x.T, 0.0)
                one.step()
                speed = [0.9 * speed[0] + one.V - V, 0.9 * speed[1] + one.a - a]
                one.V, one.a = V + speed[0], a + speed[1]
                if t % 10 == 0:
                    r.frame(t, V=one.V, a=one.a, risk=number, outputs=f)


def test_outputs_are_compared_where_they_are_given(tmp_path: Path) -> None:
    one = loop()
    f = one.a @ np.maximum(one.V @ one.x.T, 0.0)
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", V0=one.V, a0=one.a) as r:
        r.frame(1, V=one.V, a=one.a, outputs=torch.tensor(f)[:, None])
        r.frame(2, V=one.V, a=2 * one.a, outputs=f)  # from before the step
        with pytest.warns(ms.RecordingWarning, match=r"at t = 3 .* differ by up to 0\.5"):
            r.frame(3, V=one.V, a=one.a, outputs=f + 0.5)
        with pytest.warns(
            ms.RecordingWarning, match=r"outputs have shape \(3,\); they must have \(12,\)"
        ):
            r.frame(4, V=one.V, a=one.a, outputs=f[:3])
    with ms.open(tmp_path / "a.msrun") as run:
        assert run.frame(1).numbers == {}


def test_the_numbers_of_a_first_frame_are_kept(tmp_path: Path) -> None:
    one = loop()
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic") as r:
        r.frame(5, V=one.V, a=one.a, eta=0.5)
    with ms.open(tmp_path / "a.msrun") as run:
        assert run.frame(0).numbers == {"eta": 0.5}


@pytest.mark.parametrize("kind", sorted({*LOSSES, "mse"}))
def test_risks_of_the_recorder_are_the_programs(kind: str) -> None:
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 1.0], 9)
    f = 3.0 * rng.standard_normal(9)
    if kind == "cross_entropy":
        y, f = np.arange(9) % 4 * 1.0, 3.0 * rng.standard_normal((9, 4))
    loss = loss_named(kind)
    wanted = math.exp(loss.log_risk(loss.scores(f, y)))
    assert risk(kind, f, y) == pytest.approx(wanted, rel=1e-13)


TORCH = {
    "bce": (torch.nn.BCEWithLogitsLoss(), "logistic", 1.0),
    "bce sum": (torch.nn.BCEWithLogitsLoss(reduction="sum"), "logistic", 12.0),
    "function": (torch.nn.functional.binary_cross_entropy_with_logits, "logistic", 1.0),
    "soft margin": (torch.nn.SoftMarginLoss(), "logistic", 1.0),
    "mse": (torch.nn.MSELoss(), "mse", 1.0),
    "mse sum": (torch.nn.MSELoss(reduction="sum"), "mse", 12.0),
    "name": ("mse", "mse", 1.0),
    "least squares": ("least_squares", "least_squares", 1.0),
}


def test_losses_of_torch_and_their_steps(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """R, eta and t of the file: a step of the loop is one of the file's gradient."""
    one, eta = loop(), 0.01
    for name, (loss, kind, factor) in TORCH.items():
        real = kind in ("mse", "least_squares")
        with subtests.test(name):
            y = one.y + 0.25 if real else (one.y + 1) / 2
            V, a = (torch.tensor(w, requires_grad=True) for w in (one.V, one.a))
            x, target = torch.tensor(one.x), torch.tensor(y)
            call = loss if callable(loss) else torch.nn.functional.mse_loss
            target = 2 * target - 1 if name == "soft margin" else target
            settings = {"targets": "real" if real else "labels", "dynamics": "gd", "eta": eta}
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with ms.record(
                    tmp_path / f"{name}.msrun", x, y, loss=loss, V0=V, a0=a, **settings
                ) as r:
                    value = call(torch.relu(x @ V.T) @ a, target)
                    value = value / 2 if name == "least squares" else value
                    gV, ga = torch.autograd.grad(value, (V, a))
                    with torch.no_grad():
                        V -= eta * gV
                        a -= eta * ga
                    r.frame(1, V=V, a=a, risk=value)
            with open_run(tmp_path / f"{name}.msrun") as run:
                assert run.loss.kind == kind
                start, flat = run.parameters(0), run.parameters(1)
                f = run.problem.outputs(start)
                R = math.exp(run.loss.log_risk(run.loss.scores(f, run.dataset.y)))
                assert factor * R == pytest.approx(float(value.detach()), rel=1e-12)
                slope = run.network.gradient(
                    start, run.dataset.x, run.loss.output_gradient(f, run.dataset.y) / 12
                )
                step = run.experiment.dynamics.step
                assert step == pytest.approx(factor * eta)
                assert start - step * slope == pytest.approx(flat, rel=1e-12)
                assert run.log10_time[1] == pytest.approx(math.log10(step))


def test_the_edge_of_stability_of_a_copied_learning_rate(tmp_path: Path) -> None:
    """eta S/2 of a mean of squares is twice that of least squares, in the loop and in the file."""
    one, values = loop(), {}
    y = one.y + 0.25
    for loss in ("mse", "least_squares"):
        settings = {"targets": "real", "dynamics": "gd", "eta": 0.1, "V0": one.V, "a0": one.a}
        with ms.record(tmp_path / f"{loss}.msrun", one.x, y, loss=loss, **settings):
            pass
        with ms.open(tmp_path / f"{loss}.msrun") as run:
            values[loss] = run["stability"][0]
    V, a = (torch.tensor(w) for w in (one.V, one.a))

    def mean_of_squares(theta: torch.Tensor) -> torch.Tensor:
        W, w = theta[:24].reshape(6, 4), theta[24:]
        return ((torch.relu(torch.tensor(one.x) @ W.T) @ w - torch.tensor(y)) ** 2).mean()

    flat = torch.cat([V.ravel(), a])
    H = torch.autograd.functional.hessian(mean_of_squares, flat)
    largest = float(torch.linalg.eigvalsh(H)[-1])
    assert values["mse"] == pytest.approx(0.1 * largest / 2, rel=1e-6)
    assert values["least_squares"] == pytest.approx(0.1 * largest / 4, rel=1e-6)


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (torch.nn.L1Loss(), "loss = L1Loss is not known; give one of BCELoss"),
        (torch.nn.CrossEntropyLoss(label_smoothing=0.1), "has label_smoothing, which the risk"),
        (torch.nn.BCEWithLogitsLoss(pos_weight=torch.ones(1)), "has pos_weight"),
        (torch.nn.MSELoss(reduction="none"), "has reduction 'none'; allowed are"),
    ],
)
def test_other_losses_of_torch(loss: Any, sentence: str, tmp_path: Path) -> None:
    one = loop()
    with pytest.raises(ms.InputError, match=sentence):
        ms.record(tmp_path / "a.msrun", one.x, one.y, loss=loss)


@pytest.mark.parametrize("loss", ["mse", "least_squares", "squared"])
def test_squares_of_zeros_and_ones_are_asked_about(tmp_path: Path, loss: str) -> None:
    one = loop()
    start = {"V0": one.V, "a0": one.a, "loss": loss}
    with pytest.warns(ms.RecordingWarning, match='fits outputs to 0 and 1, give targets="real"'):
        ms.record(tmp_path / "a.msrun", one.x, one.y > 0, **start).close()


def test_frames_that_no_schedule_planned_are_thinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the thousandth on; those that were due are kept."""
    monkeypatch.setattr("marginscope._record.frames.DENSE", 50)
    one = loop()
    start = {"V0": one.V, "a0": one.a, "marks": [3333.0]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", **start) as r:
            for t in range(1, 5001):
                if t < 1000 or r.due(t):
                    r.frame(t, V=one.V, a=one.a)
    assert ["on, only 60 frames per decade" in str(warning.message) for warning in caught] == [True]
    with open_run(tmp_path / "a.msrun") as run:
        steps = run.steps.tolist()
        assert steps[:50] == list(range(50)) and 3333 in steps
        late = np.diff(np.log10([t for t in steps if t >= 100]))
        assert late.max() < 1.3 / 60
