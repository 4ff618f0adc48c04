"""z_i = y_i beta * F(x_i): the network itself is <u, z_i>, whatever the signs of a and b."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.observables.features import reparametrise, signed_features
from core.runs import open_run
from tests.recording import recorded


@pytest.mark.parametrize("kind", ["scalar", "normalised", "head"])
def test_margins_are_inner_products_with_u(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run.msrun"
    recorded(
        path,
        f"network.kind={kind}",
        "network.m=8",
        "data.d=4",
        "data.n=12",
        "recording.frames=12",
        "loss.kind=logistic",
        "dynamics.kind=gd",
        "dynamics.step=0.05",
        "dynamics.until_log10_time=0.5",
    )
    with open_run(path) as run:
        for index in (0, run.frames - 1):
            p = run.network.margins(run.parameters(index), run.inputs, run.dataset.y)
            found = signed_features(run, index) @ reparametrise(run, index)
            np.testing.assert_allclose(found, p, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["scalar", "normalised", "head"])
def test_features_are_evaluated_once(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one network of m nodes for each of m nodes; and beta_j F_j is the network of node j."""
    path = tmp_path / "run.msrun"
    recorded(
        path,
        f"network.kind={kind}",
        "network.m=6",
        "data.d=4",
        "data.n=12",
        "recording.frames=4",
        "recording.log10_times=[]",
        "loss.kind=logistic",
        "dynamics.kind=gd",
        "dynamics.step=0.05",
        "dynamics.until_log10_time=0.5",
    )
    with open_run(path) as run:
        flat, network = run.parameters(2), run.network
        signs = np.sign(run.origin[:12])
        wanted = np.zeros((12, 6))
        for j in range(6):
            single = np.array(flat)
            single[:12] = 0.0
            single[[j, 6 + j]] = signs[[j, 6 + j]]
            wanted[:, j] = run.dataset.y * network.outputs(single, run.inputs)
        monkeypatch.setattr(type(network), "outputs", _not_called)
        np.testing.assert_allclose(signed_features(run, 2), wanted, rtol=1e-12, atol=1e-14)


def _not_called(*arguments: object) -> np.ndarray:
    raise AssertionError("a network for each node")
