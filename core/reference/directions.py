"""Directions of neurons, as the examples see them: drawn, or of all arcs of the plane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import Array

HALF_TURN = np.pi / 2.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """Directions u by z (N, n) = <u, x_i>, with masses (N,) of sum 1."""

    z: Array
    mass: Array

    @property
    def count(self) -> int:
        return self.mass.size

    def chunks(self, step: int) -> Iterator[tuple[Array, Array]]:
        """Yield the directions in pieces, in order.

        Parameters
        ----------
        step : int
            Most directions of a piece.

        Yields
        ------
        tuple of two arrays
            z (N', n) and masses (N',), N' <= step: views, not copies.
        """
        for start in range(0, self.count, step):
            part = slice(start, start + step)
            yield self.z[part], self.mass[part]


def draw_directions(rows: Array, outside: int, count: int, generator: np.random.Generator) -> Array:
    """Draw directions uniformly from the sphere of R^d, d = r + outside.

    Parameters
    ----------
    rows : array (n, r)
        Examples in coordinates of a space that holds them.
    outside : int
        Dimensions of R^d beyond these r. Of what a direction has there only the length matters.
    count : int
        Number N of directions.
    generator : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    array (N, n)
        <u, x_i>.
    """
    g = generator.standard_normal((count, rows.shape[1]))
    squares = np.einsum("jk,jk->j", g, g)
    if outside > 0:
        squares += generator.chisquare(outside, count)
    z = g @ rows.T
    z /= np.sqrt(squares)[:, None]
    return np.asarray(z)


def quadrature_of_plane(x: Array, y: Array, q: Array | None, count: int) -> Directions:
    """Return nodes of Gauss and Legendre on each arc of directions that see the same examples.

    Parameters
    ----------
    x : array (n, 1) or (n, 2)
        Examples, none of them 0. On the line the two directions are all.
    y : array (n,)
        Labels, -1 or +1.
    q : array (n,) or None
        Weights. With them an arc is cut where <u, D> = 0, D = sum_i q_i y_i 1[<u, x_i> > 0] x_i,
        and nodes are denser at both ends of each part.
    count : int
        Nodes of an arc.

    Returns
    -------
    Directions
        Nodes with their share of all directions.
    """
    if x.shape[1] == 1:
        return Directions(np.concatenate([x, -x], axis=1).T, np.full(2, 0.5))
    angles = np.arctan2(x[:, 1], x[:, 0])
    starts = np.unique(np.mod(np.r_[angles - HALF_TURN, angles + HALF_TURN], 2.0 * np.pi))
    ends = np.r_[starts[1:], starts[0] + 2.0 * np.pi]
    if q is not None:
        starts, ends = _cut(starts, ends, x, y, q)
    nodes, weights = np.polynomial.legendre.leggauss(count)
    t, weights = (nodes + 1.0) / 2.0, weights / 2.0
    if q is not None:  # <u, D> log |<u, D>| is not differentiable at 0
        t, weights = t * t * (3.0 - 2.0 * t), weights * 6.0 * t * (1.0 - t)
    widths = ends - starts
    turned = (starts[:, None] + widths[:, None] * t).ravel()
    mass = (widths[:, None] * weights).ravel() / (2.0 * np.pi)
    return Directions(np.c_[np.cos(turned), np.sin(turned)] @ x.T, mass)


def _cut(starts: Array, ends: Array, x: Array, y: Array, q: Array) -> tuple[Array, Array]:
    """Cut arcs where <u, D> = 0."""
    middle = (starts + ends) / 2.0
    z = np.c_[np.cos(middle), np.sin(middle)] @ x.T
    D = np.where(z > 0.0, q * y, 0.0) @ x
    angles = np.arctan2(D[:, 1], D[:, 0])
    cuts = [starts, ends]
    for turned in (angles - HALF_TURN, angles + HALF_TURN):
        inside = starts + np.mod(turned - starts, 2.0 * np.pi)
        cuts.append(inside[inside < ends])
    distinct = np.unique(np.concatenate(cuts))
    return distinct[:-1], distinct[1:]
