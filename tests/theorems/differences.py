"""Physical parameters of a frame, and slopes of the margins by central differences."""

from __future__ import annotations

import math

import numpy as np

from core.runs import Run

Array = np.ndarray


def physical(run: Run, index: int) -> Array:
    flat = run.parameters(index).copy()
    flat[: run.network.scaled] *= math.exp(run.rho[index])
    return flat


def slopes(run: Run, flat: Array, direction: Array) -> Array:
    """Return <direction, grad p_i(W)>, (n,), by central differences."""
    h = 1e-6 / np.linalg.norm(direction)
    return (
        run.problem.margins(flat + h * direction) - run.problem.margins(flat - h * direction)
    ) / (2.0 * h)
