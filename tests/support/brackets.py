"""Check that no run leaves the bracket of its final margin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from core.observables.final_margin import final_margin, find_first_frame
from core.observables.margins import hard_margin, smoothed_margin
from core.reference.cancel_token import CancelToken
from core.reference.margin import ReferenceMargin
from core.runs import Run

SECONDS = 20.0


def check_bracket(
    run: Run, known: Mapping[str, ReferenceMargin], frames: Iterable[int], precision: float = 1e-3
) -> None:
    """Check that later margins of a run respect the brackets of its final margin."""
    reached = np.array([hard_margin(run, k) for k in range(run.frames)])
    smoothed = np.array([smoothed_margin(run, k) for k in range(run.frames)])
    for frame in sorted(set(frames)):
        found = final_margin(run, frame, known, CancelToken(SECONDS), precision=precision)
        later = range(frame, run.frames)
        for one in found.above_while:
            holds = [
                k for k in later if find_first_frame(run, k, one.pattern, CancelToken()) <= frame
            ]
            assert reached[holds].max() <= one.above
            assert one.reached <= one.above * (1 + 1e-9), (frame, one)
        if found.why:
            assert np.isnan(found.below)
        else:
            assert found.below <= smoothed[frame:].min()
            assert found.below <= found.hard
        if not np.isnan(found.above_always):
            assert reached.max() <= found.above_always
        assert found.upper_end <= found.weakest_bound.above
