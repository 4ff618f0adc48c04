"""Small loops as other people write them, without this program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import marginscope as ms

Floats = np.ndarray


@dataclass
class Loop:
    """Gradient descent on the logistic risk of f(x) = sum_j a_j relu(<v_j, x>)."""

    x: Floats
    y: Floats
    V: Floats
    a: Floats
    eta: float = 0.5

    def step(self) -> None:
        z = self.V @ self.x.T
        f = self.a @ np.maximum(z, 0.0)
        q = self.y / (1.0 + np.exp(self.y * f)) / self.y.size
        slope = ((z > 0.0) * self.a[:, None] * q) @ self.x
        self.a, self.V = self.a + self.eta * np.maximum(z, 0.0) @ q, self.V + self.eta * slope


def loop(n: int = 12, d: int = 4, m: int = 6, seed: int = 1) -> Loop:
    """Return a loop on parity of the first two coordinates, with a Gaussian start."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], (n, d))
    y = x[:, 0] * x[:, 1]
    return Loop(x, y, rng.standard_normal((m, d)) / 2.0, rng.standard_normal(m) / m)


def record_loop(path: Path, steps: int = 40, **settings: Any) -> list[tuple[int, Floats, Floats]]:
    """Record a loop; return what it passed on: (t, V, a), the start first."""
    one = loop()
    given = [(0, one.V, one.a)]
    settings = {"loss": "logistic", "V0": one.V, "a0": one.a, "until": steps} | settings
    with ms.record(path, one.x, one.y, strict=True, **settings) as r:
        for t in range(1, steps + 1):
            one.step()
            if r.due(t):
                r.frame(t, V=one.V, a=one.a, eta=one.eta)
                given.append((t, one.V, one.a))
    return given


def states(count: int = 5, every: int = 3) -> Iterator[tuple[int, dict[str, Floats]]]:
    """Yield checkpoints by PyTorch's names: (step, state_dict)."""
    one = loop()
    for index in range(count):
        yield index * every, {"fc1.weight": one.V, "fc2.weight": one.a[None, :]}
        for _ in range(every):
            one.step()
