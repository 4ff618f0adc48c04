"""Perturbed data and starts: neighbours of a point, on the support of its law."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.random import Generator

from core.data.dataset import Law
from core.data.parity import ParityData
from core.errors import InputError
from core.extremes.search import (
    DATA,
    NETWORK,
    Array,
    ArraySpace,
    Ground,
    Point,
    SeedSpace,
    Space,
    replace_section,
)
from core.problem.problem import Problem, points_for_test, resolve_problem
from core.study_file.experiment import Experiment

EXCHANGED = 0.25  # fraction of moved examples that are drawn again, if the law is known
TRIES = 40  # draws of a corner until it has the label of its example


def perturb_on_sphere(rng: Generator, array: Array, step: float) -> Array:
    """Move an array in a random direction, at constant norm.

    Parameters
    ----------
    rng : Generator
        Random numbers.
    array : array
        Array to move, of any shape.
    step : float
        Length of the move relative to the norm, before the norm is restored.

    Returns
    -------
    array
        Of the same shape, and of the same norm unless it is one number.

    Examples
    --------
    >>> a = perturb_on_sphere(np.random.default_rng(0), np.array([3.0, 4.0]), 0.1)
    >>> bool(np.isclose(np.linalg.norm(a), 5.0))
    True
    """
    norm = float(np.linalg.norm(array))
    way = rng.standard_normal(array.shape)
    perturbed = array + step * norm * way / np.linalg.norm(way)
    size = float(np.linalg.norm(perturbed))
    # A single number at constant norm can only change its sign.
    return perturbed * (norm / size) if size > 0.0 and array.size > 1 else perturbed


def perturb(rng: Generator, array: Array, step: float) -> Array:
    """Move an array of a start, with its structure.

    Rows of one norm, as directions have, move one by one; signs, which have one absolute value,
    stay.

    Parameters
    ----------
    rng : Generator
        Random numbers.
    array : array
        Array to move, of any shape.
    step : float
        Length of the move relative to the norm.

    Returns
    -------
    array
        Of the same shape, and of the same norm unless it is one number.
    """
    if not array.size or of_one_size(array):
        return array
    if array.ndim == 2 and array.shape[1] > 1 and of_one_size(np.linalg.norm(array, axis=1)):
        return np.stack([perturb_on_sphere(rng, row, step) for row in array])
    return perturb_on_sphere(rng, array, step)


def of_one_size(array: Array) -> bool:
    """Return True if all entries have one absolute value.

    >>> of_one_size(np.array([0.5, -0.5])), of_one_size(np.array([0.5, 0.25]))
    (True, False)
    """
    sizes = np.abs(array)
    return bool(np.ptp(sizes) <= 1e-12 * sizes.max())


@final
class StartSpace(ArraySpace):
    """Starts drawn by network.seed, and perturbations of known ones; the data are the study's.

    A perturbation moves each array at the same norm, but for signs. With init = "file" nothing is
    drawn, and large perturbations of the file replace draws.
    """

    over = "start"

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        experiment = self.cells[0].experiment
        if getattr(experiment.dynamics, "particles", "network") != "network":
            raise InputError(
                "the perturbed flow draws its own start here; set dynamics.particles = "
                '"network", or search over seeds.',
                where="start",
                option="--over",
            )
        self.with_file(experiment, Path("start.npz"))

    def fresh(self, rng: Generator, number: int) -> Point | None:
        place, round_number = number % len(self.cells), number // len(self.cells)
        if self.cells[place].experiment.network.init == "file":
            return self.draw_neighbour(rng, self.start_at(place), 1.0)
        seed = self.ground.draw_seed(round_number, rng)
        return None if seed is None else Point(place, {NETWORK: seed})

    def draw_neighbour(self, rng: Generator, parent: Point, step: float) -> Point | None:
        parent_arrays = self.arrays_of(parent)
        arrays = {name: perturb(rng, parent_arrays[name], step) for name in sorted(parent_arrays)}
        return Point(parent.place, parent.seeds, arrays)

    def arrays_of(self, point: Point) -> Mapping[str, Array]:
        """Return the start of a point.

        Parameters
        ----------
        point : Point
            Point with arrays of its own, or with the seeds that draw them.

        Returns
        -------
        dict of str to array
            Trained and untrained arrays by name.
        """
        if point.arrays is not None:
            return point.arrays
        problem = self._problem(point)
        trained = problem.network.unpack(problem.physical_start())
        return {**problem.network.fixed, **{k: np.array(v) for k, v in trained.items()}}

    def _problem(self, point: Point) -> Problem:
        """Return the problem of a point's seeds, without its arrays."""
        plain = Point(point.place, point.seeds)
        return resolve_problem(self.experiment(plain, Path()), self.ground.study.folder)

    def with_file(self, experiment: Experiment, file: Path) -> Experiment:
        table: dict[str, Any] = experiment.network.model_dump(exclude_none=True)
        # Keys that draw a start do not apply to one read from a file.
        table |= {"init": "file", "init_path": str(file)}
        table.pop("seed", None)
        reason = "The start of this study cannot be varied, so nothing can be searched"
        return replace_section(experiment, "network", table, reason)


@final
class DataSpace(ArraySpace):
    """Data sets drawn by data.seed, and perturbations of known ones in some of their examples.

    On the corners of a cube some of their coordinates change sign; other examples move at the same
    length. If the data have a law some are drawn again. Labels stay with their examples, unless
    `flips` allows them to change. All runs have the same start: that of run.seed without data,
    unless the network has a seed of its own.
    """

    over = "data"

    def __init__(self, ground: Ground, flips: bool = False, with_test: bool = False) -> None:
        super().__init__(ground)
        self._flips, self._with_test = flips, with_test
        for cell in self.cells:
            self.with_file(cell.experiment, Path("data.npz"))
            problem = self._problem_of(cell.experiment)
            if flips and (problem.dataset.classes > 2 or problem.dataset.real):
                raise InputError("--flip-labels is for data of two classes.")
            if problem.dataset.d == 1 and self._on_corners(problem.dataset.x):
                raise InputError(
                    "data: the examples lie at two points of a line and cannot be varied; search "
                    "over seeds or start.",
                    option="--over",
                )

    def start_at(self, place: int) -> Point:
        run = self.cells[place].experiment.run.seed
        data = self.cells[place].experiment.data.seed
        # The data of the study itself: a shared generator draws data first.
        return Point(place, {DATA: run if data is None else data})

    def fresh(self, rng: Generator, number: int) -> Point | None:
        place, round_number = number % len(self.cells), number // len(self.cells)
        if not self.cells[place].experiment.data.known_law:
            return self.draw_neighbour(rng, self.start_at(place), 1.0)
        seed = self.ground.draw_seed(round_number, rng)
        return None if seed is None else Point(place, {DATA: seed})

    def draw_neighbour(self, rng: Generator, parent: Point, step: float) -> Point | None:
        arrays = {name: np.array(array) for name, array in self.arrays_of(parent).items()}
        x, y = arrays["x"], arrays["y"]
        count = max(1, round(step * x.shape[0] * rng.random()))
        corners = self._on_corners(x)
        for i in rng.choice(x.shape[0], size=min(count, x.shape[0]), replace=False):
            if not self._redraw_example(rng, parent.place, x, y, int(i)):
                if corners:
                    self._flip_signs(rng, parent.place, x, int(i), step)
                elif x.shape[1] > 1:
                    x[i] = perturb_on_sphere(rng, x[i], step)
                else:
                    x[i] += step * float(x.std() or 1.0) * rng.standard_normal()
        if self._flips and rng.integers(2):
            flipped = y.copy()
            flipped[rng.integers(y.size)] *= -1.0
            y[:] = flipped if np.unique(flipped).size > 1 else y
        labels = not self.cells[parent.place].experiment.data.real
        if labels and np.unique(y).size < np.unique(self.arrays_of(parent)["y"]).size:
            return None
        return Point(parent.place, parent.seeds, arrays)

    def arrays_of(self, point: Point) -> Mapping[str, Array]:
        """Return the data set of a point.

        Parameters
        ----------
        point : Point
            Point with arrays of its own, or with the seeds that draw them.

        Returns
        -------
        dict of str to array
            x (n, d), y (n,), and test points if wanted.
        """
        if point.arrays is not None:
            return point.arrays
        problem = self._problem_of(self.experiment(Point(point.place, point.seeds), Path()))
        dataset = problem.dataset
        arrays = {"x": dataset.x, "y": dataset.y}
        test = points_for_test(problem) if self._with_test else None
        return arrays if test is None else {**arrays, "x_test": test.x, "y_test": test.y}

    def _problem_of(self, experiment: Experiment) -> Problem:
        return resolve_problem(experiment, self.ground.study.folder)

    @staticmethod
    def _on_corners(x: Array) -> bool:
        """Return True if all coordinates have one absolute value, as on the corners of a cube."""
        return bool(x.any()) and of_one_size(x)

    @cached_property
    def _laws(self) -> tuple[Law | None, ...]:
        """Law of each cell whose examples are independent."""
        sections = [cell.experiment.data for cell in self.cells]
        return tuple(one if isinstance(one, Law) else None for one in sections)

    def _redraw_example(self, rng: Generator, place: int, x: Array, y: Array, i: int) -> bool:
        """Draw an example and its label again, with some probability; return True if drawn."""
        law = self._laws[place]
        # Laws with directions know the directions only of the data set that they drew.
        if law is None or rng.random() > EXCHANGED or law.directions(np.random.default_rng(0)):
            return False
        new_x, new_y = law.draw(rng, 1, {})
        x[i], y[i] = new_x[0], new_y[0]
        return True

    def _flip_signs(self, rng: Generator, place: int, x: Array, i: int, step: float) -> None:
        """Change signs of coordinates of an example on a corner that keep its label right."""
        section = self.cells[place].experiment.data
        max_flips = max(2, round(0.5 * step * x.shape[1]))
        for _ in range(TRIES):
            count = int(rng.integers(1, max_flips, endpoint=True))
            row = x[i].copy()
            row[rng.choice(row.size, size=min(count, row.size), replace=False)] *= -1.0
            if self._preserves_label(section, x[i], row):
                x[i] = row
                return

    @staticmethod
    def _preserves_label(section: Any, before: Array, after: Array) -> bool:
        """Return True unless the law gives a moved example another label."""
        if not isinstance(section, ParityData):
            return True
        if section.freeze and after[-1] != before[-1]:
            return False
        labels = section.labels(np.sign(np.stack([before, after])))
        return bool(labels[0] == labels[1])

    def with_file(self, experiment: Experiment, file: Path) -> Experiment:
        targets = "real" if experiment.data.real else "labels"
        table = {"kind": "file", "path": str(file), "targets": targets}
        reason = "The data of this study cannot be varied, so nothing can be searched"
        return replace_section(experiment, "data", table, reason)


def space_of(over: str, ground: Ground, flips: bool = False, with_test: bool = False) -> Space:
    """Return the space of a name.

    Parameters
    ----------
    over : str
        "seeds", "data" or "start".
    ground : Ground
        Cells and seeds.
    flips : bool
        Allow labels to change (data only).
    with_test : bool
        Add test points to the data.

    Returns
    -------
    Space
    """
    if over == SeedSpace.over:
        return SeedSpace(ground)
    return StartSpace(ground) if over == StartSpace.over else DataSpace(ground, flips, with_test)
