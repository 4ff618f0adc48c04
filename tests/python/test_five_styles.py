"""Loops in five styles, recorded as the documents say: the file ends with the loop's own risk."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import marginscope as ms

EPOCHS, N = 12, 40


def data() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(N, 3, generator=generator)
    return x, (x[:, 0] * x[:, 1] > 0).float()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 16), nn.Linear(16, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(torch.tanh(self.fc1(x))).squeeze(1)


def with_epochs(path: Path) -> float:
    """Return a DataLoader whose steps are counted through all epochs."""
    x, y = data()
    net, criterion = Net(), nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    batches = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
    step = 0
    with ms.record(path, x, y, loss=criterion, model=net) as r:
        for _ in range(EPOCHS):
            for inputs, targets in batches:
                optimizer.zero_grad()
                criterion(net(inputs), targets).backward()
                optimizer.step()
                step += 1
                if r.due(step):
                    r.frame(step)
    return float(criterion(net(x), y).detach())


def with_a_class(path: Path) -> float:
    """Return own arrays in a class, mean field, gradient descent on all examples."""

    class MeanField(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.V, self.a = nn.Parameter(torch.randn(16, 3)), nn.Parameter(torch.randn(16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x @ self.V.T) @ self.a / 16

    x, y = data()
    net = MeanField()
    settings = {"dynamics": "gd", "eta": 0.1, "loss": nn.BCEWithLogitsLoss(reduction="sum")}
    with ms.record(path, x, y, model=net, **settings) as r:
        for t in range(1, 60):
            risk = settings["loss"](net(x), y)
            slopes = torch.autograd.grad(risk, list(net.parameters()))
            with torch.no_grad():
                for weights, slope in zip(net.parameters(), slopes, strict=True):
                    weights -= 0.1 * slope
            if r.due(t):
                r.frame(t, risk=risk)
    return float(settings["loss"](net(x), y).detach()) / N


def functional(path: Path) -> float:
    """Return parameters as values, new ones at each step, as JAX has them."""
    x, y = (part.numpy().astype(np.float64) for part in data())
    sign, rng = 2 * y - 1, np.random.default_rng(0)
    p = {"V": rng.standard_normal((3, 16)), "a": rng.standard_normal((16, 1)), "b": np.zeros(16)}

    def apply(p: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        return (np.maximum(x @ p["V"] + p["b"], 0.0) @ p["a"])[:, 0]

    def step(p: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        z = x @ p["V"] + p["b"]
        q = sign / (1.0 + np.exp(sign * apply(p, x))) / N
        back = (z > 0) * np.outer(q, p["a"])
        slopes = {"V": x.T @ back, "b": back.sum(0), "a": np.maximum(z, 0).T @ q[:, None]}
        return {name: p[name] + 0.5 * slopes[name] for name in p}

    def layers() -> tuple[Any, Any]:
        return {"kernel": p["V"], "bias": p["b"]}, {"kernel": p["a"]}

    with ms.record(path, x, y, loss="logistic", layers=layers(), model=lambda x: apply(p, x)) as r:
        for t in range(1, 60):
            p = step(p)
            if r.due(t):
                r.frame(t, layers=layers(), outputs=apply(p, x))
    return float(np.log1p(np.exp(-sign * apply(p, x))).mean())


def by_hand(path: Path) -> float:
    """Return NumPy arrays that change in place, leaky ReLUs, least squares of real targets."""
    x = data()[0].numpy().astype(np.float64)
    y, rng = x[:, 0] - 0.5 * x[:, 1], np.random.default_rng(0)
    V, a = rng.standard_normal((16, 3)), rng.standard_normal(16) / 4
    settings = {"activation": "leaky_relu", "slope": 0.1, "targets": "real", "loss": "mse"}

    def f() -> np.ndarray:
        z = x @ V.T
        return np.where(z > 0, z, 0.1 * z) @ a

    with ms.record(path, x, y, V0=V, a0=a, **settings) as r:
        for t in range(1, 60):
            z, gap = x @ V.T, 2 * (f() - y) / N
            hidden = np.where(z > 0, z, 0.1 * z)
            V -= 0.05 * ((np.where(z > 0, 1.0, 0.1) * a) * gap[:, None]).T @ x
            a -= 0.05 * hidden.T @ gap
            if r.due(t):
                r.frame(t, V=V, a=a, risk=((f() - y) ** 2).mean())
    return float(((f() - y) ** 2).mean())


class Recorder:
    """Callback of a trainer with hooks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_train_start(self, trainer: Trainer) -> None:
        x, y = trainer.data
        self.recording = ms.record(self.path, x, y, loss=trainer.criterion, model=trainer.net)

    def on_train_batch_end(self, trainer: Trainer) -> None:
        if self.recording.due(trainer.global_step):
            self.recording.frame(trainer.global_step)

    def on_train_end(self, trainer: Trainer) -> None:
        self.recording.close()


class Trainer:
    def __init__(self, callback: Recorder) -> None:
        self.data, self.net, self.callback, self.global_step = data(), Net(), callback, 0
        self.criterion = nn.SoftMarginLoss()

    def fit(self) -> float:
        x, y = self.data[0], 2 * self.data[1] - 1
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.5)
        self.callback.on_train_start(self)
        while self.criterion(self.net(x), y) > 0.4 and self.global_step < 500:
            optimizer.zero_grad()
            self.criterion(self.net(x), y).backward()
            optimizer.step()
            self.global_step += 1
            self.callback.on_train_batch_end(self)
        self.callback.on_train_end(self)
        return float(self.criterion(self.net(x), y).detach())


def with_hooks(path: Path) -> float:
    return Trainer(Recorder(path)).fit()


STYLES = (with_epochs, with_a_class, functional, by_hand, with_hooks)


def test_every_style_ends_with_the_loops_own_risk(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for style in STYLES:
        with subtests.test(style.__name__), warnings.catch_warnings():
            warnings.simplefilter("error")
            torch.manual_seed(0)
            path = tmp_path / f"{style.__name__}.msrun"
            own = style(path)
            with ms.open(path) as run:
                assert run.status == "completed"
                single = style in (with_epochs, with_a_class, with_hooks)
                assert run["risk"][-1] == pytest.approx(own, rel=1e-5 if single else 1e-12)
                assert run["risk"][-1] < run["risk"][0]
