"""The least and the median rotation, from the angles of every node."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.recording import recorded


def cosine(v: np.ndarray, w: np.ndarray) -> float:
    """By the angle between two vectors, from the lengths of the sum and difference of units."""
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
            least = OBSERVABLES["least_rotation"].at(run, index)
            assert least == pytest.approx(cosines[0], abs=1e-12)
            assert OBSERVABLES["median_rotation"].at(run, index) == pytest.approx(
                cosines[4], abs=1e-12
            )
        assert OBSERVABLES["least_rotation"].at(run, run.frames - 1) < 0.999
