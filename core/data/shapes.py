"""Well-known clouds of points to begin a drawing with, seeded."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator

from core.data.dataset import Array
from core.data.points import ISLAND, Points

COUNT = 40
DIGITS = 3  # of coordinates: files stay short, and nobody sees more

Shape = Callable[[Generator], tuple[Array, Array]]


def _labels() -> Array:
    return np.repeat([1.0, -1.0], COUNT // 2)


def _moons(generator: Generator) -> tuple[Array, Array]:
    """Two half circles of radius 1, one inside the other's arc."""
    angle = generator.uniform(0.0, np.pi, COUNT)
    y = _labels()
    x = np.stack([np.cos(angle) - 0.5, y * np.sin(angle) - 0.25 * y], axis=1)
    x[y < 0, 0] += 1.0
    return x + 0.07 * generator.standard_normal(x.shape), y


def _gaussians(generator: Generator) -> tuple[Array, Array]:
    """N((1, 0.5), 0.16 I) and N((-1, -0.5), 0.16 I)."""
    y = _labels()
    return y[:, None] * [1.0, 0.5] + 0.4 * generator.standard_normal((COUNT, 2)), y


def _xor(generator: Generator) -> tuple[Array, Array]:
    """Uniform on four squares, labelled by sign(x_1 x_2)."""
    sides = generator.uniform(0.15, 1.0, (COUNT, 2))
    first = np.tile([1.0, -1.0], COUNT // 2)
    y = _labels()
    return sides * np.stack([first, first * y], axis=1), y


def _circle(generator: Generator) -> tuple[Array, Array]:
    """+1 inside of radius 0.5, -1 on the ring from 0.8 to 1.1."""
    y = _labels()
    angle = generator.uniform(0.0, 2.0 * np.pi, COUNT)
    inner = 0.5 * np.sqrt(generator.random(COUNT))
    radius = np.where(y > 0, inner, generator.uniform(0.8, 1.1, COUNT))
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), y


def _pieces(generator: Generator) -> tuple[Array, Array]:
    """Five points on each of four pieces of [-1, 1], labelled -1 and +1 in turn."""
    low = np.repeat([-0.95, -0.45, 0.05, 0.55], 5)
    return (low + generator.uniform(0.0, 0.4, low.size))[:, None], np.tile(
        np.repeat([-1.0, 1.0], 5), 2
    )


# The dimension and the law, by what each is called.
ISLAND_NAME = "island"
SHAPES: Mapping[str, tuple[int, Shape]] = {
    "two moons": (2, _moons),
    "two Gaussians": (2, _gaussians),
    "XOR": (2, _xor),
    "circle": (2, _circle),
    "intervals": (1, _pieces),
}
NAMES = (ISLAND_NAME, *SHAPES)


def shape(name: str, seed: int = 0) -> Points:
    """The points of a shape by its name, rounded; the island is the same for all seeds.

    >>> len(shape("XOR")), len(shape("intervals")[0])
    (40, 2)
    """
    if name == ISLAND_NAME:
        return tuple((float(a), float(b), float(label)) for a, b, label in ISLAND)
    _, law = SHAPES[name]
    x, y = law(np.random.default_rng(seed))
    rows = np.column_stack([np.round(x, DIGITS) + 0.0, y])
    return tuple(tuple(row) for row in rows.tolist())
