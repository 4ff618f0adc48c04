"""Time to a certificate of each reference margin."""

from __future__ import annotations

import time

import numpy as np

from core.reference.cancel_token import CancelToken
from core.reference.global_margin import global_margin
from tests.tools.benchmarks.measure import heading, median_row


def global_margins(rounds: int) -> None:
    """Measure gamma_gl of parity at d = 20, seed 0 (PCG64), with compiled kernels."""
    heading("reference margins", "seconds", "value", "gap")
    for n, asked in ((64, "gap .05 % in 20 s"), (200, "gap .02 %")):
        x = np.random.default_rng(0).choice([-1, 1], (n, 20)) / np.sqrt(20.0)
        y = 20.0 * x[:, 0] * x[:, 1]
        global_margin(x[:24], y[:24], CancelToken())
        seconds = []
        for _ in range(rounds):
            begun = time.perf_counter()
            bracket = global_margin(x, y, CancelToken()).bracket
            seconds.append(time.perf_counter() - begun)
        median_row(
            f"gamma_gl of parity, d = 20, n = {n}",
            seconds,
            f"{bracket.value:.6f}",
            f"{bracket.gap:.1e}",
            asked=asked,
            words=f"certified: {bracket.certified}",
        )
