"""Positions of a run's neurons and data on a plane of the input space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.data.geometry import fix_signs, orthonormal, principal_axes
from core.errors import InputError
from core.observables.node_coordinates import inner_columns, unit_rows
from core.observables.planes import PLANES, NodePlane
from core.runs import Run

Array = NDArray[np.float64]

MOST_FRAMES = 16  # frames whose motion is used
MOST_NUMBERS = 8_000_000  # in all of them, so that this takes well under a second
# Up to 300 coordinates the product of the motion with itself is formed, and all its axes are
# computed; beyond, only the two needed, by products with vectors.
DENSE = 300


@final
@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Two orthonormal directions (2, d), and their names."""

    rows: Array
    labels: tuple[str, str]


def check_coordinates(run: Run, numbers: tuple[int, ...]) -> tuple[int, int]:
    """Check two coordinates, counted from 0; with d = 1 the second one does not exist.

    Raises InputError, which counts from 1 as the axes and the user do.
    """
    d = run.dataset.d
    if len(numbers) != 2:
        raise InputError(f"Give two coordinates, not {len(numbers)}.")
    first, second = (int(value) for value in numbers)
    if first == second and d > 1:
        raise InputError(f"Coordinate {first + 1} was given twice; choose two of 1 to {d}.")
    for value in (first, second):
        if not 0 <= value < max(d, 2):
            raise InputError(
                f"Coordinate {value + 1} does not exist; with d = {d} choose 1 to {d}."
            )
    return first, second


def coordinates(run: Run, numbers: tuple[int, ...]) -> Axes:
    """Return the plane of two coordinates of the inputs; axes that the data do not have are 0."""
    d = run.dataset.d
    labels = [f"coordinate {c + 1}" if c < d else f"no coordinate {c + 1}" for c in numbers]
    rows = np.array([np.arange(d) == c for c in numbers], dtype=np.float64)
    return Axes(rows, (labels[0], labels[1]))


def _vectors(run: Run, index: int) -> Array:
    """Return |alpha_j| u_j at the flat parameters, (m, d)."""
    s, U = run.network.nodes(run.parameters(index))
    return np.asarray(np.abs(s)[:, None] * _full(run, U))


def _full(run: Run, U: Array) -> Array:
    """Return inner weights (m, d) in the coordinates of the inputs."""
    if run.reduction is None:
        return U[:, : run.dataset.d]
    return run.reduction.full(U[:, : run.reduction.size])


def motion(run: Run, numbers: tuple[int, ...]) -> Axes:
    """Return the plane of the neurons' motion: principal directions of |a_j| v_j(t) - |a_j| v_j(0).

    All neurons and some frames count. Every frame has the same weight, whatever its scale: late
    frames are larger by many powers of ten.
    """
    m, d = run.network.m, run.dataset.d
    count = int(np.clip(MOST_NUMBERS // (m * d), 1, MOST_FRAMES))
    frames = np.unique(np.linspace(0, run.frames - 1, count + 1).round().astype(np.int64))[1:]
    s, U = run.network.nodes(run.origin)
    start = np.abs(s)[:, None] * _full(run, U)
    parts = []
    for index in frames.tolist():
        # At the scale of the frame, since e^(L rho) may far exceed float64.
        with np.errstate(over="ignore"):
            before = np.exp(-run.network.degree * run.rho[index]) * start
        change = _vectors(run, index) - before
        size = float(np.linalg.norm(change))
        if np.isfinite(size) and size > 0.0:
            parts.append(change / size)
    if not parts:
        raise InputError("No neuron has moved yet, so directions of motion do not exist.")
    return Axes(_leading(np.concatenate(parts)), ("motion 1", "motion 2"))


def _leading(rows: Array) -> Array:
    """Return the first two right singular vectors of rows (k, d), (2, d), with fixed signs.

    Where a vector is missing, as for rows of rank 1, unit vectors complete them.
    """
    d = rows.shape[1]
    if d <= DENSE:
        _, vectors = np.linalg.eigh(rows.T @ rows)
    else:
        from scipy.sparse.linalg import LinearOperator, eigsh

        product = LinearOperator((d, d), matvec=lambda v: rows.T @ (rows @ v), dtype=np.float64)
        # A fixed start: SciPy's is random, and the same run must give the same picture.
        _, vectors = eigsh(product, k=2, v0=np.cos(1.0 + np.arange(d)))
    return fix_signs(orthonormal([vectors[:, -1], vectors[:, -2], *np.eye(2, d)]))


def class_means(run: Run, numbers: tuple[int, ...]) -> Axes:
    """Return the plane of the difference of two classes' means, and its orthogonal in their span.

    For several classes, the plane of the principal directions of their means.
    """
    x, labels = run.dataset.x, run.dataset.labels
    kinds = np.unique(labels)
    means = np.array([x[labels == kind].mean(axis=0) for kind in kinds])
    if len(means) < 2:
        raise InputError("All examples are of one class; choose another plane.")
    if np.abs(means - means[0]).max() <= 1e-12 * np.abs(x).max():
        raise InputError("The means of the classes are equal; choose another plane.")
    axes = principal_axes(x)
    if len(means) == 2:
        # Sign not normalised: class +1 is at the right.
        low, high = (run.dataset.words(kind).replace("-", "\u2212") for kind in kinds.tolist())
        rows = orthonormal([means[1] - means[0], means[1] + means[0], *axes])
        return Axes(rows, (f"mean of {high} minus mean of {low}", "across, within the means"))
    rows = orthonormal([*principal_axes(means), *axes])
    return Axes(rows, ("class means 1", "class means 2"))


def components(run: Run, numbers: tuple[int, ...]) -> Axes:
    """Return the plane of the first two principal components of the inputs."""
    return Axes(principal_axes(run.dataset.x), ("component 1", "component 2"))


def nodes(run: Run, numbers: tuple[int, ...]) -> Axes:
    """Return the span of two neurons' inner weights at a frame: numbers are (j, k, frame)."""
    if len(numbers) != 3:
        raise InputError("A plane through two neurons needs two pinned neurons.")
    first, second, frame = numbers
    m = run.network.m
    if not (0 <= first < m and 0 <= second < m and first != second):
        raise InputError(f"Neurons {first} and {second}: choose two of 0 to {m - 1}.")
    if not 0 <= frame < run.frames:
        raise InputError(f"Frame {frame} does not exist; the run has {run.frames} frames.")
    rows = _full(run, run.network.nodes(run.parameters(frame))[1])[[first, second]]
    axes = orthonormal(list(rows))
    if len(axes) < 2:
        raise InputError(
            f"Neurons {first} and {second} have the same direction, or none; choose two others."
        )
    return Axes(axes, (f"along v of neuron {first}", f"across, towards neuron {second}"))


@final
class Projection:
    """Projection of a run's neurons and data on a plane.

    Raises InputError if the run has no such plane.
    """

    def __init__(self, run: Run, plane: NodePlane) -> None:
        if plane.kind not in PLANES:
            raise InputError(f"{plane.kind} is not a plane; choose one of {', '.join(PLANES)}.")
        self.run, self.plane = run, plane
        if plane.kind != "coordinates" and run.dataset.d < 2:
            raise InputError("The inputs have one coordinate, which spans no plane.")
        axes = PLANES[plane.kind].load()(run, plane.numbers)
        self.rows, self.labels = axes.rows, axes.labels

    def inputs(self, x: Array) -> Array:
        """Return points of the input space on the plane.

        Parameters
        ----------
        x : array (k, d)
            Points.

        Returns
        -------
        array (k, 2)
        """
        return np.asarray(x @ self.rows.T)

    def weights(self, index: int) -> Array:
        """Return |alpha_j| u_j on the plane, at the flat parameters of a frame, without biases.

        Parameters
        ----------
        index : int
            Index of the frame.

        Returns
        -------
        array (m, 2)
        """
        s, U = self.run.network.nodes(self.run.parameters(index))
        return np.asarray(np.abs(s)[:, None] * self._inner(U))

    def directions(self, index: int) -> Array:
        """Return v_j/|v_j| at a frame, v_j the neuron's inner weights without its bias.

        |v_j| is over all d coordinates: a component across the plane shortens the projection.

        Parameters
        ----------
        index : int
            Index of the frame.

        Returns
        -------
        array (m, 2)
            NaN for neurons of length 0.
        """
        run = self.run
        # Without biases, which come last. The row-space form preserves lengths.
        size = run.dataset.d if run.reduction is None else run.reduction.size
        U = run.network.nodes(run.parameters(index))[1][:, :size]
        return self._inner(unit_rows(U)[0])

    def _inner(self, U: Array) -> Array:
        if self.plane.kind == "coordinates":  # indexed, instead of products with zeros
            return inner_columns(self.run, U, self.plane.numbers)
        reduction = self.run.reduction
        if reduction is None:
            return np.asarray(U[:, : self.run.dataset.d] @ self.rows.T)
        inside, outside = self._reduced_axes
        return np.asarray(
            U[:, : reduction.size - 1] @ inside
            + U[:, reduction.size - 1 : reduction.size] * outside
        )

    @cached_property
    def _reduced_axes(self) -> tuple[Array, Array]:
        """Axes of the plane in the coordinates of the row-space form."""
        assert self.run.reduction is not None
        reduction = self.run.reduction
        return reduction.basis @ self.rows.T, reduction.perpendicular @ self.rows.T


def checked_projection(run: Run, plane: NodePlane) -> Projection:
    """Return a projection on a plane; raise InputError for coordinates that do not exist."""
    if plane.kind == "coordinates":
        check_coordinates(run, plane.numbers)
    return Projection(run, plane)
