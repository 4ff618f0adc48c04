"""scikit-learn's bundled digits: 1797 images of 8 x 8 grey values from 0 to 16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import Dataset, Distribution, TestSet
from core.data.images import Choice, Images


@final
@dataclass(frozen=True, slots=True)
class Digits(Distribution):
    """n digits of the chosen classes; those not drawn are the data set's own test set.

    A run holds both, so that it opens where another scikit-learn is installed or none.
    """

    choice: Choice

    def sample(self, generator: np.random.Generator) -> Dataset:
        from sklearn.datasets import load_digits  # slow to load, and not always needed

        pixels, labels = load_digits(return_X_y=True)
        images = Images(pixels, np.asarray(labels, dtype=np.int64), 16.0)
        return self.choice.dataset(generator, images, None, "the bundled set of digits")

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet | None:
        return None
