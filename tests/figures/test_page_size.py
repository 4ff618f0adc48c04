"""Large pages: how long their arrays are packed."""

from __future__ import annotations

import time
import zlib

import numpy as np

from core.figures.page_codec import decoded, encoded


def test_arrays_are_packed_about_as_fast_as_zlib_usually_does() -> None:
    """Its slowest level took ten times as long, and pages of large runs minutes."""
    steps = np.random.default_rng(0).normal(0.0, 3.0, (400, 500))
    values = (30_000 + np.cumsum(steps, axis=0)).astype(np.uint16)
    changes = values.copy()
    changes[1:] -= values[:-1]
    planes = np.frombuffer(changes.tobytes(), dtype=np.uint8).reshape(-1, 2).T.tobytes()
    start = time.process_time()
    usual = zlib.compress(planes, 6)
    middle = time.process_time()
    packed = encoded(values)
    end = time.process_time()
    assert end - middle < 6.0 * (middle - start) + 0.02
    assert len(packed["data"]) * 3 / 4 < 1.02 * len(usual)
    assert np.array_equal(decoded(packed), values)
