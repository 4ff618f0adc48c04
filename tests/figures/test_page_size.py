"""Large pages: how long their arrays are packed, and what a moment costs."""

from __future__ import annotations

import time
import zlib

import numpy as np
import pytest

from core.figures import page_panels
from core.figures.neurons import Track, followed
from core.figures.page import page_html
from core.figures.page_codec import encoded
from tests.figures.helpers import two_runs
from tests.figures.pages import decoded


def test_arrays_are_packed_about_as_fast_as_zlib_usually_does() -> None:
    """Its slowest level took ten times as long, and pages of large runs minutes."""
    steps = np.random.default_rng(0).normal(0.0, 3.0, (400, 500))
    values = (30_000 + np.cumsum(steps, axis=0)).astype(np.uint16)
    planes = np.frombuffer(values.tobytes(), dtype=np.uint8).reshape(-1, 2).T.tobytes()
    start = time.process_time()
    usual = zlib.compress(planes, 6)
    middle = time.process_time()
    packed = encoded(values)
    end = time.process_time()
    assert end - middle < 6.0 * (middle - start) + 0.02
    assert len(packed["data"]) * 3 / 4 < 1.02 * len(usual)
    assert np.array_equal(decoded(packed), values)


def test_the_range_of_a_moment_needs_no_node_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """All nodes of all frames were scaled at each: of 2,000 frames of 2,000 nodes 130 GB moved."""
    scaled = []

    def counted(nodes: Track, position: int) -> Track:
        scaled.append(nodes.points.size)
        return followed(nodes, position)

    monkeypatch.setattr(page_panels, "followed", counted)
    run = two_runs()[0]
    page_html([run], ("neurons",))
    assert len(scaled) == run.frames
    assert sum(scaled) == 0
