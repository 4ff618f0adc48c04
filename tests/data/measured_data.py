"""Data like real measurements: columns in different units, drawn from a seed."""

from __future__ import annotations

import numpy as np

from core.data.dataset import Array


def measured_data(n: int = 120) -> tuple[Array, Array]:
    """Return points (n, 8), columns on scales from about .1 to 4,254, and labels -1 and +1."""
    generator = np.random.default_rng(5)
    units = np.array([0.05, 0.1, 1.2, 14.0, 26.0, 92.0, 655.0, 880.0])
    z = generator.standard_normal((n, units.size))
    y = np.where(z[:, 3] + z[:, 6] + 0.2 * generator.standard_normal(n) > 0.0, 1.0, -1.0)
    x = units * np.exp(0.3 * z)
    x[7, 7] = 4254.0
    return x, y
