"""The kinds against a second computation (`python -m pytest`)."""

from __future__ import annotations

from pathlib import Path

import marginscope as ms
import numpy as np
import pytest

import my_paper.kinds

STUDY = Path(my_paper.kinds.__file__).parent / "studies" / "my-paper-figure-1.toml"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ms.Run:
    path = tmp_path_factory.mktemp("runs") / "one.msrun"
    return ms.train(STUDY, path=path, **{"run.seed": 0, "dynamics.until_log10_time": 1.0})


def test_the_rings_have_their_radii(run: ms.Run) -> None:
    radius = np.linalg.norm(run.x, axis=1)
    assert np.allclose(radius, np.where(run.y > 0, 2.0, 1.0))


def test_risk_and_share_are_those_of_the_formulas(run: ms.Run) -> None:
    a, V = run.a[-1], run.V[-1]
    outputs = np.maximum(run.x @ V.T, 0.0) @ (a * abs(a))
    risk = np.logaddexp(0.0, -run.y * outputs).mean()
    assert np.isclose(run["log10_risk"][-1], np.log10(risk))
    sizes = a**2 * np.linalg.norm(V, axis=1)
    assert np.isclose(run["share_of_largest"][-1], sizes.max() / sizes.sum())
