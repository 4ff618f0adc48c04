"""The camera that follows the nodes: closed forms, and what must hold of any extents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.figures.camera import (
    SAMPLES,
    SIDE,
    sample_frames,
    signed_root,
    signed_square,
    smooth_reach,
)

LOGS = st.floats(-300.0, 300.0)
EXTENTS = st.lists(LOGS, min_size=SAMPLES, max_size=SAMPLES)


def test_of_nodes_that_grow_evenly() -> None:
    """log10 extents a + s i: earlier ones count as the present one, later ones by the triangle.

    Weights 5, 4, 3, 2, 1 of 25 from the middle: sum_i i w_i = (4 + 6 + 6 + 4) / 25 = .8.
    """
    slope = 0.07
    extents = 3.0 + slope * np.arange(-4, 5)
    assert smooth_reach(extents, 3.0) == pytest.approx(3.0 + 0.8 * slope)


def test_of_nodes_that_shrink_the_present_extent_is_the_reach() -> None:
    assert smooth_reach(-0.3 * np.arange(-4, 5), 0.0) == pytest.approx(0.3 * 0.8)
    assert smooth_reach([-math.inf] * SAMPLES, 2.0) == 2.0
    assert smooth_reach([-math.inf] * SAMPLES, -math.inf) == -math.inf


@given(EXTENTS, LOGS, LOGS)
def test_nothing_is_outside_and_only_ratios_count(
    extents: list[float], now: float, shift: float
) -> None:
    reach = smooth_reach(extents, now)
    assert now - 1e-9 <= reach <= max(now, *extents) + 1e-9
    moved = smooth_reach([one + shift for one in extents], now + shift)
    assert moved == pytest.approx(reach + shift, abs=1e-9)


@given(st.integers(1, 3000), st.integers(0, 3000), st.integers(1, 3000))
def test_the_frames_that_are_looked_at(frames: int, frame: int, planned: int) -> None:
    planned, frame = max(planned, frames), min(frame, frames - 1)
    shown = sample_frames(frame, frames, planned)
    assert shown.shape == (SAMPLES,)
    assert ((shown >= 0) & (shown < frames)).all()
    assert (np.diff(shown) >= 0).all()
    assert shown[SAMPLES // 2] == frame
    assert np.abs(shown - frame).max() <= max(math.ceil(SIDE * planned), 1)


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=5))
def test_signed_squares_undo_signed_roots(values: list[float]) -> None:
    np.testing.assert_allclose(signed_square(signed_root(values)), values, rtol=1e-15, atol=1e-300)
    assert (np.sign(signed_root(values)) == np.sign(values)).all()
