"""A data set, and the distribution it came from."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EXACT_TEST_DIMENSION = 12  # up to here the test error is summed over all 2^d corners
TEST_POINTS = 2**14


@dataclass(frozen=True, slots=True, eq=False)
class TestSet:
    """Points for the test error; `exact` when they are the whole support, equally likely."""

    __test__ = False  # the name must not make a test class of it

    x: Array
    y: Array
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """n labelled examples: x (n, d), y (n,); a test set when a file brought one.

    Labels are -1 and +1 for two classes, and the class numbers 0, 1, ..., classes - 1 for more.
    `directions` are what the distribution knows of itself (mu, a teacher's weights, the axes of
    cones), each (k, d): drawn over the data, and needed for its test points. Run files do not hold
    them: they are drawn anew.
    """

    x: Array
    y: Array
    x_test: Array | None = None
    y_test: Array | None = None
    classes: int = 2
    directions: Mapping[str, Array] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return int(self.x.shape[0])

    @property
    def d(self) -> int:
        return int(self.x.shape[1])

    def digest(self) -> str:
        """SHA-256 of the shapes and values, as hexadecimal digits."""
        digest = hashlib.sha256()
        for array in (self.x, self.y, self.x_test, self.y_test):
            if array is not None:
                digest.update(repr(array.shape).encode())
                digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return digest.hexdigest()


class Distribution(ABC):
    """Where examples come from: a training sample and points for the test error."""

    @abstractmethod
    def sample(self, generator: np.random.Generator) -> Dataset:
        """Draw the training examples."""

    @abstractmethod
    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet | None:
        """Points for the test error, or None where the distribution is not known.

        `training` is what `sample` drew, with its directions.
        """
