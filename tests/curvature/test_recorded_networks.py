"""The Hessian of networks that other programs have trained: every activation, with its biases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core.dynamics.curvature import Curvature
from core.network.recorded_network import phi_of
from core.run_files.networks import ACTIVATIONS
from core.runs import open_run
from tests.curvature.test_curvature import gradient

rng = np.random.default_rng


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_second_derivatives_are_differences_of_the_first(name: str) -> None:
    """Central differences, h = 1e-5: their error is h^2 phi''''/6, and rounding over h, 1e-10."""
    one, h = phi_of(name, 0.2), 1e-5
    z = rng(0).uniform(-4.0, 4.0, 200)
    z = z[np.abs(z) > 1e-3]  # elsewhere than at a kink
    wanted = (one.slopes(z + h) - one.slopes(z - h)) / (2.0 * h)
    assert np.abs(one.curvatures(z) - wanted).max() < 1e-8
    assert one.bent == bool(np.abs(wanted).max() > 1e-6)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_products_are_differences_of_the_gradient(name: str, k: int, tmp_path: Path) -> None:
    """Also with inner biases and an outer one, in which f is linear."""
    x, V, b, c = (rng(s).standard_normal(size) for s, size in enumerate([(12, 4), (6, 4), 6, k]))
    a = rng(4).standard_normal((3, 6) if k == 3 else 6)
    y = np.arange(12) % 3 if k == 3 else np.where(rng(5).random(12) < 0.5, 1, -1)
    start = {"V0": V, "a0": a, "b0": b, "c0": c}
    loss = "cross_entropy" if k == 3 else "logistic"
    with ms.record(tmp_path / "a.msrun", x, y, loss=loss, activation=name, slope=0.2, **start):
        pass
    with open_run(tmp_path / "a.msrun") as run:
        flat, h = np.asarray(run.parameters(0)), 1e-5
        product = Curvature(run.problem, flat)
        for w in rng(6).standard_normal((3, flat.size)):
            ends = [gradient(run.problem, flat + sign * h * w) for sign in (1.0, -1.0)]
            along = (ends[0] - ends[1]) / (2.0 * h)
            assert np.abs(product(w) - along).max() < 1e-6 * max(np.abs(along).max(), 1.0)
