"""z_i = y_i beta * F(x_i): the network itself is <u, z_i>, whatever the signs of a and b."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.observables.features import reparametrised, signed_features
from core.runs import open_run
from tests.recording import recorded


@pytest.mark.parametrize("kind", ["scalar", "normalised", "head"])
def test_margins_are_inner_products_with_u(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run.msrun"
    recorded(
        path, f"network.kind={kind}", "network.m=8", "data.d=4", "data.n=12", "recording.frames=12",
        "loss.kind=logistic", "dynamics.kind=gd", "dynamics.step=0.05",
        "dynamics.until_log10_time=0.5",
    )  # fmt: skip
    with open_run(path) as run:
        for index in (0, run.frames - 1):
            p = run.network.margins(run.parameters(index), run.inputs, run.dataset.y)
            found = signed_features(run, index) @ reparametrised(run, index)
            np.testing.assert_allclose(found, p, rtol=1e-10, atol=1e-12)
