"""Random starts that several networks share."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from core.network.parametrisation import Array


def signs(generator: Generator, m: int) -> Array:
    """m independent uniform signs."""
    return np.asarray(generator.choice([-1.0, 1.0], m))


def on_sphere(generator: Generator, m: int, d: int) -> Array:
    """m independent uniform unit vectors of R^d, (m, d)."""
    V = generator.standard_normal((m, d))
    return np.asarray(V / np.linalg.norm(V, axis=1, keepdims=True))


def glorot_uniform(generator: Generator, shape: tuple[int, int], sd: float) -> Array:
    """Uniform on [-sqrt(3) sd, sqrt(3) sd]: of standard deviation sd (its limit is sqrt(3) sd)."""
    limit = np.sqrt(3.0) * sd
    return np.asarray(generator.uniform(-limit, limit, shape))
