"""Preview of data before training: counts, norms, planes to draw, pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array, Dataset
from core.data.geometry import orthonormal, principal_axes
from core.data.registry import draw
from core.data.section import DataSection, unscaled_note

MOST_POINTS = 5_000  # points drawn and projected: the first ones
PICTURES = 12
DIRECTIONS, COMPONENTS = "known directions", "principal components"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Points on two axes, (k, 2), and the names of the axes."""

    title: str
    horizontal: str
    vertical: str
    points: Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """Preview of a data set before training.

    `counts` are (label, number), for real targets those of a sign; `which` (k,) is the
    class of each drawn point, as a place in `counts`; `shortest` and `longest` are the least and
    the largest |x_i|; `planes` are the most informative projections, the best first; `pictures`
    (p, h, w) or (p, h, w, 3) of bytes. `caution` says that the data are of an unsuitable scale.
    `dataset.note` says how a file was read.
    """

    dataset: Dataset
    counts: tuple[tuple[str, int], ...]
    shortest: float
    longest: float
    which: NDArray[np.int64]
    planes: tuple[Plane, ...]
    pictures: NDArray[np.uint8] | None
    caution: str = ""

    def coordinates(self, first: int, second: int) -> Plane:
        """Return the points on two coordinates, counted from 0; for d = 1 on x and the labels."""
        x = self.dataset.x[: self.which.size]
        if self.dataset.d == 1:
            points = np.stack([x[:, 0], self.dataset.y[: self.which.size]], axis=1)
            return Plane("coordinates", "x", "y", points)
        points = np.ascontiguousarray(x[:, [first, second]])
        return Plane("coordinates", f"coordinate {first + 1}", f"coordinate {second + 1}", points)


def preview(section: DataSection, run_seed: int, folder: Path | None) -> Preview:
    """Return a description of the data that a run would be trained on.

    Parameters
    ----------
    section : DataSection
        Settings of the data.
    run_seed : int
        Seed of the run, used if the section has none.
    folder : Path or None
        Folder of the study file, to which relative paths refer.

    Returns
    -------
    Preview
        Description.

    Raises
    ------
    InputError
        The run could not draw or read the data.
    """
    seed = run_seed if section.seed is None else section.seed
    # A run draws its data first: these are its data for every network.
    dataset = draw(section, np.random.default_rng(seed), folder)
    labels, places, counts = np.unique(dataset.labels, return_inverse=True, return_counts=True)
    norms = np.linalg.norm(dataset.x, axis=1)
    return Preview(
        dataset,
        tuple(
            (dataset.words(label), count)
            for label, count in zip(labels.tolist(), counts.tolist(), strict=True)
        ),
        float(norms.min()),
        float(norms.max()),
        places[:MOST_POINTS].astype(np.int64),
        tuple(_planes(dataset)),
        _pictures(section.picture_shape(dataset.d), dataset, places),
        "" if section.known_law else unscaled_note(dataset, section.rescaling),
    )


def _planes(dataset: Dataset) -> list[Plane]:
    """Return the known directions' plane, if any, and that of the first principal components."""
    if dataset.d < 2:
        return []
    x = dataset.x[:MOST_POINTS]
    components = principal_axes(dataset.x)
    first, second = (f"{COMPONENTS[:-1]} {number}" for number in (1, 2))
    planes = [Plane(COMPONENTS, first, second, (x - x.mean(axis=0)) @ components.T)]
    rows_ = [row for rows in dataset.directions.values() for row in rows]
    if rows_:
        axes = orthonormal([*rows_, *components])
        names = [f"along {name}" for name in dataset.directions for _ in dataset.directions[name]]
        are_independent = len(names) > 1 and np.linalg.matrix_rank(np.array(rows_[:2])) == 2
        vertical = names[1] if are_independent else f"{first}, across"
        if len(names) > 1 and names[0] == names[1]:
            names[0], vertical = f"{names[0]} 1", vertical.replace(names[1], f"{names[1]} 2")
        planes.insert(0, Plane(DIRECTIONS, names[0], vertical, x @ axes.T))
    return planes


def _pictures(
    shape: tuple[int, ...], dataset: Dataset, places: NDArray[Any]
) -> NDArray[np.uint8] | None:
    """Return the first images of each class in turn, as bytes; None for other data."""
    if not shape or int(np.prod(shape)) != dataset.d:
        return None
    classes = int(places.max()) + 1
    turns = -(-PICTURES // classes)
    by_class = [np.flatnonzero(places == number)[:turns] for number in range(classes)]
    chosen = [rows[turn] for turn in range(turns) for rows in by_class if turn < rows.size]
    x = dataset.x[chosen[:PICTURES]]
    # Negative values of centred images are shown black.
    pixels = np.rint(255.0 * np.clip(x / max(float(x.max()), 1e-300), 0.0, 1.0)).astype(np.uint8)
    pictures = pixels.reshape(-1, *shape)
    return np.moveaxis(pictures, 1, -1).copy() if len(shape) == 3 else pictures
