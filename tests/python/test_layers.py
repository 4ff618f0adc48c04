"""Layers and models of PyTorch, and of other libraries, recorded as they are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import marginscope as ms
from core.runs import open_run
from tests.support.loops import loop

F = torch.nn.functional
N, D, M = 40, 5, 30
Model = Callable[[torch.Tensor], torch.Tensor]


class TwoLayers(nn.Module):
    """Default layers of PyTorch, with what authors put around them."""

    def __init__(self, phi: Any = F.relu, **parts: Any) -> None:
        super().__init__()
        self.scale, self.inner = parts.get("scale", 1.0), parts.get("inner", 1.0)
        self.fc1 = nn.Linear(D, M, bias=parts.get("b", True))
        self.fc2 = nn.Linear(M, parts.get("k", 1), bias=parts.get("c", True))
        self.drop, self.phi, self.head = nn.Dropout(0.5), phi, parts.get("head")
        self.skip = parts.get("skip", False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        f = self.scale * self.fc2(self.drop(self.phi(self.inner * self.fc1(x))))
        f = f + x[:, :1] if self.skip else f
        return f if self.head is None else self.head(f)


class OwnArrays(nn.Module):
    """Arrays of a module's own, a node in each column."""

    def __init__(self) -> None:
        super().__init__()
        self.W1, self.b1 = nn.Parameter(torch.randn(D, M)), nn.Parameter(torch.randn(M))
        self.W2, self.b2 = nn.Parameter(torch.randn(M, 1)), nn.Parameter(torch.randn(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (torch.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2)[:, 0]


def examples(k: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(N, D, generator=generator)
    return x, torch.sign(x[:, 0] * x[:, 1]) if k == 1 else (torch.arange(N) % k)


def train(path: Path, model: Any, k: int = 1, **settings: Any) -> tuple[np.ndarray, list[str]]:
    """Record some steps; the model's outputs after the last one, and the warnings."""
    x, y = examples(k)
    loss = "logistic" if k == 1 else "cross_entropy"
    given = {"model": model} | settings
    optimiser = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ms.record(path, x, y, loss=loss, **given) as r:
            for t in range(1, 6):
                f = model(x)
                risk = F.cross_entropy(f, y) if k > 1 else F.softplus(-y * f.reshape(-1)).mean()
                optimiser.zero_grad()
                risk.backward()
                optimiser.step()
                if r.due(t):
                    r.frame(t)
    model.eval()
    with torch.no_grad():
        return model(x).reshape(N, -1).double().numpy(), [str(one.message) for one in caught]


FORMS: dict[str, tuple[Callable[[], nn.Module], dict[str, Any]]] = {
    "default layers": (TwoLayers, {"activation": "relu", "biases": True, "offset": True}),
    "no biases": (lambda: TwoLayers(b=False, c=False), {"kind": "standard"}),
    "inner biases": (lambda: TwoLayers(c=False), {"kind": "bias"}),
    "tanh": (lambda: TwoLayers(torch.tanh), {"activation": "tanh"}),
    "erf": (lambda: TwoLayers(torch.erf), {"activation": "erf"}),
    "hardtanh": (lambda: TwoLayers(F.hardtanh), {"activation": "hardtanh"}),
    "gelu": (lambda: TwoLayers(F.gelu), {"activation": "gelu"}),
    "gelu tanh": (lambda: TwoLayers(nn.GELU(approximate="tanh")), {"activation": "gelu_tanh"}),
    "linear": (lambda: TwoLayers(nn.Identity()), {"activation": "linear"}),
    "leaky": (lambda: TwoLayers(nn.LeakyReLU(0.2)), {"activation": "leaky_relu", "slope": 0.2}),
    "leaky default": (lambda: TwoLayers(nn.LeakyReLU()), {"slope": 0.01}),
    "mean field": (lambda: TwoLayers(scale=1 / M, b=False, c=False), {"kind": "standard"}),
    "mean field, biases": (lambda: TwoLayers(scale=1 / M), {"activation": "relu"}),
    "tanh, 1/m": (lambda: TwoLayers(torch.tanh, scale=1 / M), {"activation": "tanh"}),
    "inner factor": (lambda: TwoLayers(inner=D**-0.5), {"activation": "relu"}),
    "probabilities": (lambda: TwoLayers(head=torch.sigmoid), {"activation": "relu"}),
    "classes": (lambda: TwoLayers(k=3, b=False, c=False), {"kind": "multiclass"}),
    "log softmax": (lambda: TwoLayers(k=3, head=nn.LogSoftmax(1)), {"activation": "relu"}),
    "softmax": (lambda: TwoLayers(k=3, head=nn.Softmax(1)), {"activation": "relu"}),
    "squares": (lambda: TwoLayers(torch.square, k=3, b=False, c=False), {"kind": "quadratic"}),
    "sequential": (
        lambda: nn.Sequential(nn.Linear(D, M), nn.SiLU(), nn.Linear(M, 1)),
        {"activation": "silu"},
    ),
    "own arrays": (OwnArrays, {"activation": "relu", "biases": True, "offset": True}),
    "double": (lambda: TwoLayers(torch.tanh).double(), {"activation": "tanh"}),
}


def test_the_file_has_the_models_outputs(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """For whatever two-layer model: f of the file is that of the loop, in the loop's precision."""
    torch.manual_seed(0)
    default = torch.get_default_dtype()
    for name, (make, wanted) in FORMS.items():
        with subtests.test(name):
            try:
                torch.set_default_dtype(torch.float64 if name == "double" else default)
                model, k = make(), 3 if wanted.get("kind") in ("multiclass", "quadratic") else 1
                k = 3 if "softmax" in name else k
                x, y = examples(k)
                path = tmp_path / f"{name}.msrun"
                if name == "double":
                    with ms.record(path, x, y, loss="logistic", model=model):
                        pass
                    f = model.eval()(x.double()).detach().numpy()
                else:
                    f, sentences = train(path, model, k)
                    assert sentences == []
            finally:
                torch.set_default_dtype(default)
            with open_run(path) as run:
                section = run.experiment.network.model_dump()
                assert {key: section[key] for key in wanted} == wanted
                own = run.problem.outputs(run.parameters(run.frames - 1)).reshape(N, -1)
            if name == "probabilities":
                own = 1.0 / (1.0 + np.exp(-own))
            if "softmax" in name:
                own = np.exp(own) / np.exp(own).sum(axis=1, keepdims=True)
                f = np.exp(f) if name == "log softmax" else f
            assert own == pytest.approx(f, rel=1e-9 if name == "double" else 1e-4, abs=2e-6)


def test_models_that_are_other_networks_are_said(tmp_path: Path, subtests: Any) -> None:
    """Their weights are recorded without a risk: none is known, and none is wrong."""
    torch.manual_seed(0)
    for name, model in {
        "skip": TwoLayers(skip=True),
        "inner factor": TwoLayers(torch.tanh, inner=D**-0.5),
        "sine": TwoLayers(torch.sin),
        "shared": TwoLayers(lambda z: torch.relu(z) - z.mean(dim=1, keepdim=True)),
    }.items():
        with subtests.test(name):
            _, sentences = train(tmp_path / f"{name}.msrun", model)
            assert len(sentences) == 1 and "model's outputs are not those of" in sentences[0]
            with ms.open(tmp_path / f"{name}.msrun") as run:
                assert np.isnan(run["risk"]).all()


WRONG_MODELS = {
    "three layers": (
        lambda: nn.Sequential(nn.Linear(D, 7), nn.Linear(7, 7), nn.Linear(7, 1)),
        "trained parameters in 0 \\(Linear\\), 1 \\(Linear\\), 2 \\(Linear\\); a recorded network",
    ),
    "batch norm": (
        lambda: nn.Sequential(nn.Linear(D, 7), nn.BatchNorm1d(7), nn.Linear(7, 1)),
        "1 \\(BatchNorm1d\\)",
    ),
    "other inputs": (
        lambda: nn.Sequential(nn.Linear(D + 1, 7), nn.Linear(7, 1)),
        f"do not lead from x in R\\^{D}",
    ),
    "two logits": (lambda: TwoLayers(k=2), "of two logits record the difference of their rows"),
    "no call": (lambda: nn.Bilinear(D, M, 1), "trained parameters in|do not identify"),
}


def test_models_that_cannot_be_recorded(tmp_path: Path, subtests: pytest.Subtests) -> None:
    x, y = examples()
    for name, (make, sentence) in WRONG_MODELS.items():
        with subtests.test(name), pytest.raises(ms.InputError, match=sentence):
            ms.record(tmp_path / "a.msrun", x, y, loss="logistic", model=make())
    with pytest.raises(ms.InputError, match="cannot be called with x of shape"):
        model = {"model": lambda x: 1 / 0, "V0": np.ones((3, D)), "a0": np.ones(3)}
        ms.record(tmp_path / "a.msrun", x, y, loss="logistic", **model)
    assert list(tmp_path.iterdir()) == []


def test_the_check_leaves_the_loop_alone(tmp_path: Path) -> None:
    """Random numbers, gradients, modes and statistics are those of a loop without a recording."""
    x, y = examples()
    torch.manual_seed(3)
    model = TwoLayers()
    model.drop.eval()
    state = torch.random.get_rng_state()
    with ms.record(tmp_path / "a.msrun", x, y, loss="logistic", model=model) as r:
        r.frame(1)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert model.training and model.fc1.training and not model.drop.training
    assert model.fc1.weight.grad is None


def test_layers_have_their_biases_with_them(tmp_path: Path) -> None:
    torch.manual_seed(0)
    x, y = examples()
    model = TwoLayers()
    with ms.record(tmp_path / "a.msrun", x, y, loss="logistic", layers=(model.fc1, model.fc2)) as r:
        with torch.no_grad():
            model.fc1.bias += 1.0
        r.frame(1)
    with open_run(tmp_path / "a.msrun") as run:
        parts = run.network.unpack(run.parameters(1))
        assert np.array_equal(parts["b"], model.fc1.bias.detach().numpy().astype(np.float64))
        assert np.array_equal(parts["c"], model.fc2.bias.detach().numpy().astype(np.float64))


def warnings_of_a_pass(path: Path, model: nn.Module, **start: Any) -> list[str]:
    x, y = examples()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ms.record(path, x, y, loss="logistic", overwrite=True, **start):
            for _ in range(2):
                model(x)
    assert {one.filename for one in caught} <= {__file__}  # and no line of PyTorch
    return [str(one.message) for one in caught]


def test_forgotten_biases_are_said_at_the_first_pass(tmp_path: Path) -> None:
    """Weights alone, as the first version of this program's documents had them."""
    for net, wanted in ((TwoLayers(), 1), (TwoLayers(b=False, c=False), 0)):
        start = {"V0": net.fc1.weight, "a0": net.fc2.weight}
        found = warnings_of_a_pass(tmp_path / "a.msrun", net, **start)
        assert len(found) == wanted
        assert all("belong to layers with biases, but b0 and c0 are not given" in s for s in found)


def test_another_activation_is_said_at_the_first_pass(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Of layers alone: relu is what their file has, and dropout behind it is none of its own."""
    for name, phi, settings, wanted in (
        ("relu", F.relu, {}, ""),
        ("tanh", torch.tanh, {}, "give activation='tanh'"),
        ("sine", torch.sin, {}, "give model=net, which finds it"),
        ("named", torch.tanh, {"activation": "tanh"}, ""),
        ("unknown", torch.sin, {"activation": None}, ""),
    ):
        with subtests.test(name):
            net = TwoLayers(phi)
            start = {"layers": (net.fc1, net.fc2)} | settings
            found = warnings_of_a_pass(tmp_path / "a.msrun", net, **start)
            assert len(found) == bool(wanted) and all(wanted in sentence for sentence in found)


def test_outer_weights_without_gradient_are_fixed(tmp_path: Path) -> None:
    model = TwoLayers(b=False, c=False)
    model.fc2.weight.requires_grad_(False)
    x, y = examples()
    with ms.record(tmp_path / "a.msrun", x, y, loss="logistic", model=model) as r:
        r.frame(1)
        with torch.no_grad():
            model.fc2.weight += 1.0
        with pytest.warns(ms.RecordingWarning, match="but have changed"):
            r.frame(2)
    with open_run(tmp_path / "a.msrun") as run:
        assert not run.experiment.network.model_dump()["outer"]
        assert run.steps.tolist() == [0, 1]


class Frozen:
    """Stands for an array of JAX, which never changes in place."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.shape, self.T = values, values.shape, values.T

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


Frozen.__module__ = "jaxlib.fake"


def test_layers_that_never_change_come_with_each_frame(tmp_path: Path) -> None:
    """Flax has a column for each node, and Equinox modules as PyTorch has them."""
    one = loop()

    def layers(factor: float) -> tuple[dict[str, Any], dict[str, Any]]:
        V, a = Frozen(factor * one.V.T), Frozen(one.a[:, None])
        return {"kernel": V, "bias": np.ones(6)}, {"kernel": a, "bias": np.ones(1)}

    V, a = Frozen(one.V), Frozen(one.a[None])
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", layers=(V, a)) as r:
        with pytest.warns(ms.RecordingWarning, match="frame\\(t, layers=\\(inner, outer\\)\\)"):
            r.frame(1)
        r.frame(2, layers=(Frozen(2 * one.V), a))
    with ms.record(tmp_path / "b.msrun", one.x, one.y, loss="logistic", layers=layers(1.0)) as r:
        r.frame(2, layers=layers(2.0))
    for name in ("a", "b"):
        with ms.open(tmp_path / f"{name}.msrun") as run:
            assert np.array_equal(run.V[:, :, :], np.stack([one.V, 2 * one.V]))
            assert run.t.tolist() == [0.0, pytest.approx(2.0)]


def test_the_last_state_of_a_loop_that_stops_is_recorded(tmp_path: Path) -> None:
    one = loop()
    with ms.record(
        tmp_path / "a.msrun", one.x, one.y, loss="logistic", layers=(one.V, one.a), until=1000
    ) as r:
        for t in range(1, 1000):
            one.V *= 1.001
            if r.due(t):
                r.frame(t)
            if t == 333:
                break
    assert one.V.base is None
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps[-1] == 333
        assert np.array_equal(run.network.unpack(run.parameters(run.frames - 1))["V"], one.V)


@pytest.mark.parametrize("biases", [False, True])
def test_mean_field_is_the_same_descent_with_another_step(tmp_path: Path, biases: bool) -> None:
    """f = (1/m) sum_j a_j relu(...): margins are those of the loop, and steps follow gradients."""
    one = loop()
    m, eta = 6, 2.0
    scale = {"scale": 1.0 / m, "dynamics": "gd", "eta": eta}
    V, a = one.V.copy(), one.a.copy()
    b = {"b": np.full(m, 0.25)} if biases else {}
    x1 = np.column_stack([one.x, np.ones(12)]) if biases else one.x
    U = np.column_stack([V, b["b"]]) if biases else V
    start = {"b0": b["b"]} if biases else {}
    with ms.record(
        tmp_path / "a.msrun", one.x, one.y, loss="logistic", V0=V, a0=a, **start, **scale
    ) as r:
        for t in range(1, 30):
            z = U @ x1.T
            f = a @ np.maximum(z, 0.0) / m
            q = one.y / (1.0 + np.exp(one.y * f)) / 12 / m
            a, U = a + eta * np.maximum(z, 0.0) @ q, U + eta * ((z > 0) * a[:, None] * q) @ x1
            if r.due(t):
                r.frame(t, V=U[:, :4], a=a, **({"b": U[:, 4]} if biases else {}))
    f = a @ np.maximum(U @ x1.T, 0.0) / m
    with open_run(tmp_path / "a.msrun") as run:
        last = run.frames - 1
        assert run.experiment.dynamics.step == pytest.approx(eta / m, rel=1e-14)
        # The margin over |W|^2/m of the loop's own weights.
        margin = (one.y * f).min() / ((np.sum(U**2) + np.sum(a**2)) / m)
        with ms.open(tmp_path / "a.msrun") as opened:
            assert opened["hard_margin"][-1] == pytest.approx(margin, rel=1e-14)
        # One more step of the file's own gradient is the next frame.
        before, after = run.parameters(last - 1), run.parameters(last)
        g = run.loss.output_gradient(run.problem.outputs(before), run.dataset.y) / 12
        step = run.network.gradient(before, run.network.inputs(run.dataset.x), g)
        assert before - eta / m * step == pytest.approx(after, rel=1e-12)
        assert run.log10_time[last] == pytest.approx(math.log10(29 * eta / m), rel=1e-14)


def test_a_scale_beside_an_outer_bias_is_no_descent(tmp_path: Path) -> None:
    one = loop()
    start = {"V0": one.V, "a0": one.a, "c0": np.ones(1), "scale": 0.1, "dynamics": "gd", "eta": 1.0}
    with pytest.warns(ms.RecordingWarning, match='do not follow dynamics = "gd"'):
        ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", **start).close()
    with open_run(tmp_path / "a.msrun") as run:
        assert run.experiment.dynamics.kind == "recorded"
        f = 0.1 * (np.maximum(one.x @ one.V.T, 0.0) @ one.a + 1.0)
        assert run.problem.outputs(run.origin) == pytest.approx(f, rel=1e-14)


# ---------------------------------------------------------------- what strangers' loops came upon


def record_quietly(path: Path, step: Any, x: Any, y: Any, **settings: Any) -> list[str]:
    """Record ten steps; the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ms.record(path, x, y, overwrite=True, **settings) as r:
            for t in range(1, 11):
                step(r, t)
    return [str(one.message) for one in caught]


def test_a_last_layer_that_the_loss_does_not_undo_is_said(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The classical bug: a sigmoid or a softmax in front of a loss of logits."""
    torch.manual_seed(0)
    sigmoid, softmax = TwoLayers(head=torch.sigmoid), TwoLayers(k=3, head=nn.Softmax(1))
    log = TwoLayers(k=3, head=nn.LogSoftmax(1))
    cases = (
        ("sigmoid, BCE", sigmoid, nn.BCELoss(), 1, False),
        ("sigmoid, BCE with logits", sigmoid, nn.BCEWithLogitsLoss(), 1, True),
        ("sigmoid, squares", sigmoid, nn.MSELoss(), 1, True),
        ("softmax, cross-entropy", softmax, nn.CrossEntropyLoss(), 3, True),
        ("log softmax, cross-entropy", log, nn.CrossEntropyLoss(), 3, False),
        ("log softmax, NLL", log, nn.NLLLoss(), 3, False),
        ("logits, BCE", TwoLayers(), nn.BCELoss(), 1, True),
    )
    for name, model, loss, k, wrong in cases:
        with subtests.test(name):
            x, y = examples(k)
            real = {"targets": "real"} if isinstance(loss, nn.MSELoss) else {}
            found = record_quietly(
                tmp_path / "a.msrun", lambda r, t: None, x, y, loss=loss, model=model, **real
            )
            assert ["outputs" in sentence for sentence in found] == [True] * wrong


def test_a_loss_of_ones_own_by_the_name_of_torchs_is_another(tmp_path: Path) -> None:
    def mse_loss(f: Any, y: Any) -> Any:
        return ((f - y) ** 2).mean() / 2

    x, y = examples()
    with pytest.raises(ms.InputError, match="loss = mse_loss is not known"):
        ms.record(tmp_path / "a.msrun", x, y, loss=mse_loss)


def test_weights_that_are_rebound_are_said(tmp_path: Path) -> None:
    """Frames of layers that no longer are the loop's, and the state at the end."""
    one = loop()

    def take(r: Any, t: int) -> None:
        one.step()
        r.frame(t)

    layers = {"loss": "logistic", "layers": (one.V, one.a)}
    found = record_quietly(tmp_path / "a.msrun", take, one.x, one.y, **layers)
    assert len(found) == 1 and "at t = 3 are still those of the start" in found[0]

    def hand_over(r: Any, t: int) -> None:
        one.step()
        if r.due(t) and t < 8:
            r.frame(t, layers=(one.V, one.a))

    found = record_quietly(tmp_path / "b.msrun", hand_over, one.x, one.y, **layers)
    with ms.open(tmp_path / "b.msrun") as run:
        assert found == [] and run.steps[-1] == 7  # and not the start once more, as t = 10


def test_learning_rates_that_change_are_said(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = TwoLayers(b=False, c=False)
    x, y = examples()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)

    def step(r: Any, t: int) -> None:
        F.softplus(-y * net(x)[:, 0]).mean().backward()
        optimiser.step()
        optimiser.param_groups[0]["lr"] = 0.1 if t < 5 else 0.05
        r.frame(t)

    settings = {"loss": "logistic", "model": net, "optimizer": optimiser}
    (sentence,) = record_quietly(tmp_path / "a.msrun", step, x, y, **settings)
    assert "lr = 0.05 at t = 5 but had 0.1 at the start" in sentence


def test_scales_and_slopes_of_any_digits(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """They are those of the model, in each later frame too, and none is rounded away."""
    torch.manual_seed(0)
    x, y = examples()
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for scale, slope in (
            (1 / 3, 0.0),
            (M**-0.75, 0.0),
            (1.0, 1 / 5.5),
            (0.98, 0.03),
            (-1.0, 0),
        ):
            with subtests.test(dtype=str(dtype), scale=scale, slope=slope):
                phi = nn.LeakyReLU(slope) if slope else F.relu
                net = TwoLayers(phi, scale=scale, b=False, c=False).to(dtype)

                def step(r: Any, t: int, net: nn.Module = net) -> None:
                    with torch.no_grad():
                        net.fc1.weight *= 1.01
                    r.frame(t)

                found = record_quietly(
                    tmp_path / "a.msrun", step, x.to(dtype), y, loss="logistic", model=net
                )
                assert found == []
                with open_run(tmp_path / "a.msrun") as run:
                    own = run.problem.outputs(run.parameters(run.frames - 1))
                f = net.eval()(x.to(dtype))[:, 0].detach().double().numpy()
                error = {torch.float32: 1e-4, torch.float64: 1e-9}.get(dtype, 6e-2)
                assert own == pytest.approx(f, abs=error * np.abs(f).max())


def test_gelu_of_few_nodes_is_found(tmp_path: Path) -> None:
    """Tails are differences of larger numbers, whose rounding is not relative to phi."""
    x, y = examples()
    for seed in range(10):
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(D, 2, bias=False), nn.GELU(), nn.Linear(2, 1, bias=False))
        found = record_quietly(
            tmp_path / "a.msrun", lambda r, t: None, x, y, loss="logistic", model=net
        )
        assert found == []


def test_dead_and_zero_starts_are_recorded(tmp_path: Path) -> None:
    x, y = examples()
    for inner in (True, False):
        net = TwoLayers()
        with torch.no_grad():
            (net.fc1.weight if inner else net.fc2.weight).zero_()
            net.fc1.bias.fill_(-1.0)
            net.fc2.bias.fill_(0.5)
        found = record_quietly(
            tmp_path / "a.msrun", lambda r, t: None, x, y, loss="logistic", model=net
        )
        assert found == []


def test_own_arrays_are_told_apart_by_the_model(tmp_path: Path) -> None:
    """Shapes leave a choice: a and b of the same length, and square weights."""

    class Ambiguous(nn.Module):
        def __init__(self, d: int, columns: bool) -> None:
            super().__init__()
            self.b, self.W = nn.Parameter(torch.randn(d)), nn.Parameter(torch.randn(d, D))
            self.a, self.columns = nn.Parameter(torch.randn(d)), columns

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x @ (self.W if self.columns else self.W.T) + self.b) @ self.a

    x, y = examples()
    for net in (Ambiguous(M, False), Ambiguous(D, True), Ambiguous(D, False)):
        found = record_quietly(
            tmp_path / "a.msrun", lambda r, t: None, x, y, loss="logistic", model=net
        )
        with open_run(tmp_path / "a.msrun") as run:
            f = run.problem.outputs(run.origin)
        assert found == [] and f == pytest.approx(net(x).detach().numpy(), rel=1e-4, abs=1e-5)


def test_frozen_layers_are_no_descent(tmp_path: Path) -> None:
    """Random features: nothing is decided that rests on descent of all weights."""
    x, y = examples()
    net = TwoLayers(b=False, c=False)
    net.fc1.weight.requires_grad_(False)
    settings = {"loss": "logistic", "model": net, "dynamics": "gd", "eta": 0.1}
    (sentence,) = record_quietly(tmp_path / "a.msrun", lambda r, t: None, x, y, **settings)
    assert "where some of them are not trained" in sentence
    with open_run(tmp_path / "a.msrun") as run:
        assert run.experiment.dynamics.kind == "recorded"


def test_files_that_were_recorded_open(tmp_path: Path) -> None:
    """Batches of more than all examples, and flows of networks in single precision."""
    x, y = examples()
    net = TwoLayers(b=False, c=False)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
    for settings in ({"optimizer": optimiser, "batch": 128}, {"dynamics": "flow", "time": "t"}):
        record_quietly(
            tmp_path / "a.msrun",
            lambda r, t: r.frame(t),
            x,
            y,
            loss="logistic",
            model=net,
            **settings,
        )
        with open_run(tmp_path / "a.msrun") as run:
            assert run.frames >= 10


def test_a_loop_that_records_before_its_steps_has_no_other_state(tmp_path: Path) -> None:
    one = loop()
    states = []
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", layers=(one.V, one.a)) as r:
        for t in range(50):
            if r.due(t):
                r.frame(t)
            states.append(one.V.copy())
            one.V *= 1.01
    with open_run(tmp_path / "a.msrun") as run:
        for index in range(run.frames):
            V = run.network.unpack(run.parameters(index))["V"]
            assert np.array_equal(V, states[int(run.steps[index])])


def test_hooks_go_with_a_recording_that_was_refused(tmp_path: Path) -> None:
    from torch.nn.modules import module

    x, y = examples()
    net = TwoLayers()
    before = len(module._global_forward_hooks)
    start = {"V0": net.fc1.weight, "a0": net.fc2.weight, "b0": np.full(M, np.nan)}
    with pytest.raises(ms.InputError, match="b0 holds nan"):
        ms.record(tmp_path / "a.msrun", x, y, loss="logistic", **start)
    assert len(module._global_forward_hooks) == before


def test_a_strict_recording_raises_at_the_first_pass(tmp_path: Path) -> None:
    net = TwoLayers(torch.tanh).eval()
    x, y = examples()
    settings = {"layers": (net.fc1, net.fc2), "strict": True}
    with (
        pytest.raises(ms.InputError, match="give activation='tanh'"),
        ms.record(tmp_path / "a.msrun", x, y, loss="logistic", **settings),
    ):
        net(x)
