"""scikit-learn's bundled digits: 1797 images of 8 x 8 grey values from 0 to 16."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import model_validator

from core.data.dataset import Dataset, Distribution
from core.data.images import CLASSES_MEANING, UNIT_MAX, Choice, Images, check_classes
from core.data.section import N_MEANING, DataSection
from core.errors import InputError, RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting

FILE = ("datasets", "data", "digits.csv.gz")  # in the package
# Written down, since a study must be checked without loading scikit-learn.
# How many of scikit-learn's bundled digits show 0, 1, ..., 9.
DIGIT_COUNTS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)


def bundled_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Pixels (1797, 64) from 0 to 16 and what they show, from scikit-learn's own file.

    scikit-learn itself is not loaded, which takes a second, and need not be there: a bundle has
    this file of it and nothing else. Raises InputError where there is none.
    """
    spec = find_spec("sklearn")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    files = [place for name in places if (place := Path(name, *FILE)).is_file()]
    if not files:
        raise InputError(
            "The digits are those of scikit-learn, which is not there",
            remedy="install it (pip install scikit-learn), or choose other data",
        )
    rows = np.loadtxt(files[0], delimiter=",")
    return rows[:, :-1], rows[:, -1].astype(np.int64)


@final
class DigitsData(DataSection, Distribution):
    """n digits of the chosen classes; those not drawn are the data set's own test set.

    A run holds both, so that it opens where another scikit-learn is installed or none.
    """

    title: ClassVar[str] = (
        "scikit-learn's 8 x 8 digits: n of the chosen classes, tested on the rest"
    )
    source: ClassVar[str] = "the bundled data of scikit-learn (1797 digits); runs hold the content"
    own: ClassVar[tuple[str, ...]] = ("d", "n")

    plane: ClassVar[str] = "components"  # single pixels show little of a picture
    kind: Literal["digits"] = "digits"
    classes: tuple[int, ...] = setting((3, 8), meaning=f"{CLASSES_MEANING}; none: all ten")
    d: int = setting(64, meaning="always 64 pixels", ge=64, le=64, advanced=True)
    n: int = setting(
        256, meaning=f"{N_MEANING}; the digits left over are the test set", ge=2, le=1796
    )
    scale: Literal["unit_max", "centred", "pixels"] = setting(
        "unit_max", meaning=f"{UNIT_MAX}; pixels: grey values 0 to 16 divided by 16"
    )
    labels: Literal["true", "random"] = setting(
        "true",
        meaning="true: what the images show; random: drawn for each training example, the test set "
        "keeping its own",
        source="Zhang et al., ICLR 2017",
        added=True,
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _enough(self) -> DigitsData:
        check_classes(self.classes)
        there = sum(DIGIT_COUNTS[number] for number in self.classes or range(10))
        if self.n >= there:
            raise RuleError(
                f"n = {self.n} leaves none of the {there} digits of these classes for the test; "
                f"choose at most {there - 1}",
                keys=("n",),
            )
        return self

    def sample(self, generator: Generator) -> Dataset:
        pixels, labels = bundled_digits()
        images = Images(pixels, labels, 16.0)
        choice = Choice(self.classes, self.n, self.scale)
        drawn = choice.dataset(generator, images, None, "the bundled set of digits")
        if self.labels == "true":
            return drawn
        # After the images, which are those that the same seed has with their own labels.
        numbers = generator.integers(drawn.classes, size=drawn.n).astype(np.float64)
        return replace(drawn, y=2.0 * numbers - 1.0 if drawn.classes == 2 else numbers)

    def picture_shape(self, d: int) -> tuple[int, ...]:
        return (8, 8)
