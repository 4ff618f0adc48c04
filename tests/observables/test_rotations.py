"""The least and the median rotation, from the angles of every node."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.recording import recorded


def cosine(v: np.ndarray, w: np.ndarray) -> float:
    """Return the cosine from the lengths of the sum and difference of unit vectors."""
    v, w = v / np.linalg.norm(v), w / np.linalg.norm(w)
    angle = 2.0 * math.atan2(float(np.linalg.norm(v - w)), float(np.linalg.norm(v + w)))
    return math.cos(angle)


def test_they_are_those_of_the_angles(tmp_path: Path) -> None:
    path = tmp_path / "run.msrun"
    recorded(path, "recording.frames=6", "network.m=9")
    with open_run(path) as run:
        first = run.network.directions(run.parameters(0))
        for index in range(run.frames):
            now = run.network.directions(run.parameters(index))
            cosines = sorted(cosine(*pair) for pair in zip(first, now, strict=True))
            least = OBSERVABLES["least_rotation"].value_at(run, index)
            assert least == pytest.approx(cosines[0], abs=1e-12)
            assert OBSERVABLES["median_rotation"].value_at(run, index) == pytest.approx(
                cosines[4], abs=1e-12
            )
        assert OBSERVABLES["least_rotation"].value_at(run, run.frames - 1) < 0.999


@pytest.mark.parametrize("kind", ["bias", "multiclass", "recorded"])
def test_biases_turn_with_their_nodes(tmp_path: Path, kind: str) -> None:
    """u_j = (v_j, b_j): a node that only moves its bias has turned."""
    rng = np.random.default_rng(4)
    k = 3 if kind == "multiclass" else 1
    x, y = rng.standard_normal((9, 4)), np.arange(9) % (k if k > 1 else 2)
    V, a, b = rng.standard_normal((5, 4)), rng.standard_normal((k, 5)), rng.standard_normal(5)
    loss = "cross_entropy" if k > 1 else "logistic"
    phi = {"activation": "tanh"} if kind == "recorded" else {}
    path = tmp_path / "a.msrun"
    with ms.record(path, x, y, loss=loss, V0=V, a0=a, b0=b, strict=True, **phi) as r:
        r.frame(1, V=V, a=a, b=b + 1.0)
    with open_run(path) as run:
        assert run.network.kind == kind
        before, after = np.column_stack([V, b]), np.column_stack([V, b + 1.0])
        wanted = [cosine(*pair) for pair in zip(before, after, strict=True)]
        assert OBSERVABLES["unit_rotation"].value_at(run, 1) == pytest.approx(wanted, abs=1e-12)
        assert OBSERVABLES["rotation"].value_at(run, 1) == pytest.approx(np.ones(5))


def test_networks_without_biases_have_no_rotation_of_them(tmp_path: Path) -> None:
    recorded(tmp_path / "run.msrun", "recording.frames=6", "network.m=9")
    with open_run(tmp_path / "run.msrun") as run:
        assert not OBSERVABLES["unit_rotation"].applies(run)
