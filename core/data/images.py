"""Labelled images as data: choice of classes, subsampling, scaling; and scikit-learn's digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import model_validator

from core.data.dataset import Array, Dataset, Distribution
from core.data.labels import as_labels
from core.data.section import N_MEANING, DataSection, check_sizes
from core.errors import InputError, RuleError
from core.settings import MAX_ELEMENTS, MAX_SEED, SEED_MEANING, setting

Scale = Literal["unit_max", "centred", "pixels"]
# The size of the test sets of MNIST and CIFAR-10.
MOST_TEST_IMAGES = 10_000
CLASSES_MEANING = (
    "class numbers to use: two are labelled -1 and +1 in this order, more are numbered 0, 1, ..."
)
UNIT_MAX = (
    "unit_max: divided by the largest norm, so that |x| <= 1; centred: the same of x - mu, "
    "mu the training mean (batchnorm assumes |x - mu| <= 1)"
)


def check_classes(classes: tuple[int, ...]) -> None:
    """Raise RuleError unless the class numbers are two or more distinct ones of 0, ..., 9."""
    texts = ", ".join(map(str, classes))
    if len(classes) == 1:
        raise RuleError(
            f"classes = {texts} is one class; choose at least two, such as 3, 8", keys=("classes",)
        )
    if len(set(classes)) < len(classes):
        raise RuleError(f"classes = {texts} names a class twice; name each once", keys=("classes",))
    if any(not 0 <= number <= 9 for number in classes):
        raise RuleError(f"classes = {texts}: classes are numbered 0 to 9", keys=("classes",))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Grey values `pixels` (N, d), class numbers `labels` (N,), and `brightest`, the full value."""

    pixels: NDArray[Any]
    labels: NDArray[np.int64]
    brightest: float

    def of_classes(self, classes: tuple[int, ...]) -> Images:
        """Return the images whose class is one of `classes`, in their order."""
        return self.part(np.flatnonzero(np.isin(self.labels, classes)))

    def part(self, places: NDArray[np.int64]) -> Images:
        """Return the images at some places, in that order."""
        return Images(self.pixels[places], self.labels[places], self.brightest)


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """Choice of images: which classes (none: all), how many, and how they are scaled.

    `n` training images are drawn from the chosen classes without replacement (None: all). Labels
    are -1 and +1 for two classes in the order named, else 0, 1, ... `unit_max` divides by the
    largest norm of training and test images together, `centred` first subtracts the training mean,
    so that |x - mu| <= 1, and `pixels` divides by the brightest value.
    """

    classes: tuple[int, ...]
    n: int | None
    scale: Scale

    def dataset(
        self, generator: Generator, images: Images, test: Images | None, where: str
    ) -> Dataset:
        """Draw the data set. Without given test images, those not drawn are the test set.

        Parameters
        ----------
        generator : Generator
            Source of randomness.
        images : Images
            Images to draw from.
        test : Images or None
            Test images, of which at most 10,000 are kept, fewer of large ones.
        where : str
            Name of the images, which starts error messages.

        Returns
        -------
        Dataset
            Training and test examples.

        Raises
        ------
        InputError
            A class has no image, or n is larger than their number.
        """
        classes = self.classes or tuple(np.unique(images.labels).tolist())
        self._check(images, classes, where)
        chosen = images.of_classes(classes)
        available = chosen.labels.size
        count = available if self.n is None else self.n
        if count > available:
            raise InputError(
                f"data.n = {count}, but {where} has {available} images of these classes; lower n."
            )
        if count * chosen.pixels.shape[1] > MAX_ELEMENTS:
            limit = MAX_ELEMENTS // chosen.pixels.shape[1]
            raise InputError(
                f"data.n: {count} images are more than a run holds; choose n = {limit} or fewer."
            )
        # Permute all images even if few are used: with one seed, a larger n extends a smaller one.
        order = generator.permutation(available)
        train = chosen.part(order[:count])
        remainder = chosen.part(order[count:]) if test is None else test.of_classes(classes)
        limit = min(MOST_TEST_IMAGES, max(1, MAX_ELEMENTS // chosen.pixels.shape[1]))
        return self._scale_pixels(
            train, remainder.part(np.arange(remainder.labels.size)[:limit]), classes
        )

    def _check(self, images: Images, classes: tuple[int, ...], where: str) -> None:
        labels = np.unique(images.labels).tolist()
        missing = [number for number in classes if number not in labels]
        if missing:
            raise InputError(
                f"data.classes: {where} has no image of class {missing[0]}; it has the classes "
                f"{', '.join(map(str, labels))}."
            )
        if len(classes) < 2:
            raise InputError(
                f"data.classes: {where} has only the class {classes[0]}; two are needed."
            )

    def _scale_pixels(self, train: Images, test: Images, classes: tuple[int, ...]) -> Dataset:
        x, x_test = (np.asarray(part.pixels, dtype=np.float64) for part in (train, test))
        size = train.brightest
        # The training mean: test points are centred with the training set's mu (batchnorm, 1.3).
        if self.scale == "centred":
            mean = x.mean(axis=0)
            x, x_test = x - mean, x_test - mean
        if self.scale != "pixels":
            # Over the test images too, so that |x| <= 1 holds for them; images may be all black.
            norms = [np.linalg.norm(part, axis=1) for part in (x, x_test)]
            size = max(float(np.concatenate(norms).max()), 1e-300)
        y, y_test = (_number_classes(part.labels, classes) for part in (train, test))
        if not y_test.size:
            return Dataset(x / size, y, classes=len(classes))
        return Dataset(x / size, y, x_test / size, y_test, classes=len(classes))


def _number_classes(labels: NDArray[np.int64], classes: tuple[int, ...]) -> Array:
    places = {number: place for place, number in enumerate(classes)}
    numbers = np.array([places[label] for label in labels.tolist()], dtype=np.int64)
    return as_labels(numbers, len(classes))


@final
@dataclass(frozen=True, slots=True)
class ImageFiles(Distribution):
    """Images that `read` finds at a path, for training and perhaps for the test.

    d, when given, must agree with them.
    """

    read: Callable[[Path], tuple[Images, Images | None]]
    path: Path
    choice: Choice
    d: int | None = None

    def sample(self, generator: Generator) -> Dataset:
        if not (self.path.is_file() or self.path.is_dir()):
            raise InputError(f"data.path: {self.path} does not exist; check the path.")
        dataset = self.choice.dataset(generator, *self.read(self.path), str(self.path))
        check_sizes(dataset, self.path, self.d, None)
        return dataset


# ------------------------------------------------------------------------- scikit-learn's digits

FILE = ("datasets", "data", "digits.csv.gz")  # path within the package
# Number of each digit 0, 1, ..., 9 in scikit-learn's data; a constant, since studies are checked
# without loading scikit-learn.
DIGIT_COUNTS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)


def bundled_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return scikit-learn's digits, from its own file.

    scikit-learn itself is not loaded, which takes a second, and need not be present: a bundle has
    this file of it and nothing else.

    Returns
    -------
    pixels : array (1797, 64)
        Grey values from 0 to 16.
    labels : array of int (1797,)
        Digits.

    Raises
    ------
    InputError
        The file is not installed.
    """
    spec = find_spec("sklearn")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    files = [place for name in places if (place := Path(name, *FILE)).is_file()]
    if not files:
        raise InputError(
            "The digits are those of scikit-learn, which is not installed",
            remedy="install it (pip install scikit-learn), or choose other data",
        )
    rows = np.loadtxt(files[0], delimiter=",")
    return rows[:, :-1], rows[:, -1].astype(np.int64)


@final
class DigitsData(DataSection, Distribution):
    """Digits of chosen classes; those not drawn are the data set's own test set.

    A run holds both, so that it opens where another scikit-learn is installed or none.
    """

    title: ClassVar[str] = (
        "scikit-learn's 8 x 8 digits: n of the chosen classes, tested on the rest"
    )
    source: ClassVar[str] = "the bundled data of scikit-learn (1797 digits); runs hold the content"
    own: ClassVar[tuple[str, ...]] = ("d", "n")

    plane: ClassVar[str] = "components"  # single pixels show little of an image
    words: ClassVar[str] = "scanned digits"
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
        meaning="true: the images' own labels; random: random training labels, true test labels",
        source="Zhang et al., ICLR 2017",
        added=True,
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _check_count(self) -> DigitsData:
        check_classes(self.classes)
        available = sum(DIGIT_COUNTS[number] for number in self.classes or range(10))
        if self.n >= available:
            raise RuleError(
                f"n = {self.n} leaves none of the {available} digits of these classes for testing; "
                f"choose at most {available - 1}",
                keys=("n",),
            )
        return self

    def sample(self, generator: Generator) -> Dataset:
        pixels, labels = bundled_digits()
        images = Images(pixels, labels, 16.0)
        choice = Choice(self.classes, self.n, self.scale)
        dataset = choice.dataset(generator, images, None, "the bundled set of digits")
        if self.labels == "true":
            return dataset
        # After the images, which with the same seed equal those with true labels.
        numbers = generator.integers(dataset.classes, size=dataset.n)
        return replace(dataset, y=as_labels(numbers, dataset.classes))

    def picture_shape(self, d: int) -> tuple[int, ...]:
        return (8, 8)
