"""Data set, and the distribution that it comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from core.run_files.frame import digest

Array = NDArray[np.float64]
UNDERSTOOD = "Understood:"  # prefix of the note of a Dataset
Directions = Mapping[str, Array]  # known directions of a law, by name
EXACT_TEST_DIMENSION = 12  # up to d = 12 the test error is summed over all 2^d corners
# 2^14 points give a test error of 1/2 with a standard error of .004.
TEST_POINTS = 2**14
TEST_VALUES = 2**24  # limits n d of test points: 1677 points at d = 10^4
FEWEST_TEST_POINTS = 64


def points_at(d: int) -> int:
    """Return the number of points in a sampled test set in d dimensions.

    >>> points_at(20), points_at(10_000)
    (16384, 1677)
    """
    return int(np.clip(TEST_VALUES // d, FEWEST_TEST_POINTS, TEST_POINTS))


@dataclass(frozen=True, slots=True, eq=False)
class TestSet:
    """Points for the test error; `exact` if they are the whole support, equally likely."""

    __test__ = False  # keeps pytest from collecting the class, whose name starts with Test

    x: Array
    y: Array
    exact: bool


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Transformation that made the points: x = (raw - shift) / divisor, both (d,), divisor > 0.

    >>> Scaling(np.array([1.0, 0.0]), np.array([2.0, 1.0])).apply(np.array([[5.0, 3.0]])).tolist()
    [[2.0, 3.0]]
    """

    shift: Array
    divisor: Array

    def apply(self, raw: Array) -> Array:
        """Return points as a run with this scaling sees them.

        Parameters
        ----------
        raw : array (N, d)
            Points of the file.

        Returns
        -------
        array (N, d)
            (raw - shift) / divisor.
        """
        return np.asarray((raw - self.shift) / self.divisor)


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Set of n labelled examples, x (n, d) and y (n,), with a test set if a file has one.

    Labels are -1 and +1 for two classes, and the class numbers 0, 1, ..., classes - 1 for more. If
    they are `real` they are targets, any finite numbers, and the two classes are their signs, by
    which they are drawn.

    `directions` are what the distribution knows of itself (mu, a teacher's weights, the axes of
    cones), each (k, d): drawn over the data, and needed for its test points. Run files do not hold
    them: they are drawn again.

    `note` says how a file was read, and `is_guess` is true if the file itself does not say all of
    it; run files do not hold them either.

    `scaling` is what `data.scale` did to the columns of a file; None if it did nothing.
    """

    x: Array
    y: Array
    x_test: Array | None = None
    y_test: Array | None = None
    classes: int = 2
    directions: Directions = field(default_factory=dict)
    real: bool = False
    note: str = ""
    is_guess: bool = False
    scaling: Scaling | None = None

    @property
    def reading_sentence(self) -> str:
        """Sentence on how a file was read; empty if the file leaves no choice."""
        return f"Understood: {self.note}" if self.is_guess else ""

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    @property
    def d(self) -> int:
        return int(self.x.shape[1])

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class of each training example, (n,).

        0 for -1 and 1 for +1, else its number; of real targets the sign, 0 for those that are not
        positive.
        """
        return np.asarray(self.y > 0.0 if self.classes == 2 else self.y, dtype=np.int64)

    def words(self, label: int) -> str:
        """Format one of `labels`.

        >>> two = Dataset(np.eye(2), np.array([1.0, -1.0]))
        >>> two.words(0), two.words(1)
        ('-1', '+1')
        """
        if self.real:
            return "y > 0" if label else "y <= 0"
        return f"{2 * label - 1:+d}" if self.classes == 2 else f"{label}"

    def digest(self) -> str:
        """Return the SHA-256 of the shapes and values, as hexadecimal digits."""
        arrays = (self.x, self.y, self.x_test, self.y_test)
        return digest(array for array in arrays if array is not None)


class Distribution(ABC):
    """Source of examples: a training sample and points for the test error."""

    @abstractmethod
    def sample(self, generator: Generator) -> Dataset:
        """Draw the training examples."""

    def test_set(self, generator: Generator, training: Dataset) -> TestSet | None:
        """Return points for the test error, or None if the distribution is not known.

        `training` is what `sample` drew, with its directions.
        """
        return None

    def fresh(
        self, generator: Generator, count: int, training: Dataset
    ) -> tuple[Array, Array] | None:
        """Draw further examples of the same law.

        Parameters
        ----------
        generator : Generator
            Source of randomness.
        count : int
            Number of examples.
        training : Dataset
            Result of `sample`, with its directions.

        Returns
        -------
        tuple of arrays, or None
            x (count, d) and y (count,); None if the law is not known.
        """
        return None


class Law(Distribution):
    """Law of single examples, with the same draw for training, test and fresh ones.

    Subclasses have the fields `d` and `n`, and implement `draw`; `directions` are drawn first.
    """

    if TYPE_CHECKING:
        d: int
        n: int

        @property
        def real(self) -> bool: ...

    def directions(self, generator: Generator) -> dict[str, Array]:
        """Draw the parts of the distribution that precede the examples, such as a teacher.

        Parameters
        ----------
        generator : Generator
            Source of randomness.

        Returns
        -------
        dict of str to array (k, d)
            Directions by name; empty by default.
        """
        return {}

    @abstractmethod
    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        """Draw independent examples.

        Parameters
        ----------
        generator : Generator
            Source of randomness.
        count : int
            Number of examples.
        directions : mapping of str to array
            Directions.

        Returns
        -------
        tuple of arrays
            x (count, d) and y (count,).
        """

    def sample(self, generator: Generator) -> Dataset:
        # Before the examples, so that one seed gives the same teacher at every n.
        directions = self.directions(generator)
        x, y = self.draw(generator, self.n, directions)
        return Dataset(x, y, directions=directions, real=self.real)

    def test_set(self, generator: Generator, training: Dataset) -> TestSet:
        x, y = self.draw(generator, points_at(self.d), training.directions)
        return TestSet(x, y, exact=False)

    def fresh(self, generator: Generator, count: int, training: Dataset) -> tuple[Array, Array]:
        return self.draw(generator, count, training.directions)
