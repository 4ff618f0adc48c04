"""The user's own data and weights: NPZ and CSV files, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.data.csv_file import read_csv
from core.data.dataset import Array, Dataset, Distribution
from core.data.npz import NpzFile
from core.data.scaling import SCALE_MEANING, Scale, ScaledSource
from core.data.section import CONTENT_MEANING, TARGETS, FileSection, check_sizes, check_stated
from core.errors import InputError, did_you_mean
from core.settings import MAX_ELEMENTS, MAX_SEED, SEED_MEANING, setting

MAX_CLASSES = 10_000
NAMES = (("x", "y"), ("x_test", "y_test"))
Shapes = Mapping[str, tuple[int, ...]]


def binary_labels(y: Array, where: str, both: bool = True) -> Array:
    """Labels as -1 and +1; 0/1 is turned into -1/+1.

    >>> binary_labels(np.array([0.0, 1.0]), "y").tolist()
    [-1.0, 1.0]

    Raises InputError for any other value, and when `both` classes are needed and one is missing.
    """
    values = set(np.unique(y).tolist())
    if not values <= {-1.0, 1.0} and not values <= {0.0, 1.0}:
        # -1, 0 and 1 together: each is a label of one convention, and 0 is none of the other.
        odd = sorted(values - {-1.0, 0.0, 1.0}) or [0.0]
        raise InputError(
            f"{where} has the label {odd[0]:g}; labels must be -1 and +1, or 0 and 1, or the class "
            "numbers 0, 1, ..., k - 1."
        )
    if both and len(values) < 2:
        raise InputError(
            f"{where} has only the label {next(iter(values)):g}; both classes are needed."
        )
    return np.where(y > 0, 1.0, -1.0)


def class_count(y: Array, where: str) -> int:
    """How many classes labels stand for: k >= 3 where they are class numbers up to k - 1, else 2.

    >>> class_count(np.array([2.0, 0.0, 1.0]), "y"), class_count(np.array([1.0, 0.0]), "y")
    (3, 2)

    Raises InputError for class numbers with a gap, and for more than 10,000 classes.
    """
    values = np.unique(y)
    if values[0] != 0.0 or values[-1] < 2.0 or np.any(values != np.round(values)):
        return 2
    # Before the range below, whose length a file could choose.
    if values[-1] >= MAX_CLASSES:
        raise InputError(
            f"{where} has the class number {values[-1]:g}; at most {MAX_CLASSES} classes are read."
        )
    missing = sorted(set(range(int(values[-1]))) - set(values.tolist()))
    if missing:
        raise InputError(
            f"{where} has the class number {values[-1]:g} and none of {missing[0]}; class numbers "
            "must be 0, 1, ..., k - 1 without a gap."
        )
    return values.size


def class_numbers(y: Array, classes: int, where: str) -> Array:
    """Labels of three or more classes. Raises InputError for one that is not 0, ..., k - 1."""
    odd = y[(y < 0) | (y >= classes) | (y != np.round(y))]
    if odd.size:
        raise InputError(
            f"{where} has the label {odd[0]:g}; the classes of y are numbered 0 to {classes - 1}."
        )
    return y


def check_shapes(shapes: Shapes, path: Path) -> None:
    """Raise InputError unless x (n, d) and y (n,), and test points of the same d, fit together."""
    for inputs, labels in NAMES:
        if inputs not in shapes:
            continue
        rows, labelled = shapes[inputs], shapes[labels]
        if len(rows) != 2 or rows[0] < 1 or rows[1] < 1:
            raise InputError(
                f"data.path: {inputs} in {path} has shape {rows}; a table (n, d) is needed."
            )
        if labelled != rows[:1]:
            raise InputError(
                f"data.path: {labels} in {path} has shape {labelled}; one label for each of the "
                f"{rows[0]} rows of {inputs} is needed."
            )
        if rows[0] * rows[1] > MAX_ELEMENTS:
            raise InputError(
                f"data.path: {inputs} in {path} has shape {rows}; at most {MAX_ELEMENTS:.0e} "
                "values are read."
            )
    if "x_test" in shapes and shapes["x_test"][1] != shapes["x"][1]:
        raise InputError(
            f"data.path: x_test in {path} has {shapes['x_test'][1]} columns, "
            f"x has {shapes['x'][1]}; they must agree."
        )


def checked(
    x: Array, y: Array, path: Path, names: tuple[str, str], classes: int | None = None
) -> tuple[Array, Array, int]:
    """x and y of shapes that fit, with finite values, and the number of classes.

    `classes` are those of the training labels where these are test labels. Raises InputError.
    """
    check_finite(x, y, path, names)
    where = f"data.path: {names[1]} in {path}"
    count = class_count(y, where) if classes is None else classes
    if count > 2:
        return x, class_numbers(y, count, where), count
    # Test points may all be of one class; what is learnt from must have both.
    return x, binary_labels(y, where, both=classes is None), 2


def check_finite(x: Array, y: Array, path: Path, names: tuple[str, str]) -> None:
    """Raise InputError for a value that is not finite."""
    for name, array in zip(names, (x, y), strict=True):
        finite = np.isfinite(array)
        if not finite.all():
            bad = np.unravel_index(int(np.argmin(finite)), array.shape)
            place = ", ".join(str(int(index)) for index in bad)
            raise InputError(
                f"data.path: {name} in {path} has the value {array[bad]} at index "
                f"({place}), counted from 0; every value must be finite."
            )


@final
@dataclass(frozen=True, slots=True)
class FileSource(Distribution):
    """A data file; d and n, when given, must agree with it."""

    path: Path
    d: int | None = None
    n: int | None = None
    real: bool = False

    def sample(self, generator: Generator) -> Dataset:
        with ExitStack() as stack:
            arrays = self._arrays(stack)
        dataset = self._fitted(arrays) if self.real else self._labelled(arrays)
        check_sizes(dataset, self.path, self.d, self.n)
        return dataset

    def _labelled(self, arrays: Mapping[str, Array]) -> Dataset:
        x, y, classes = checked(arrays["x"], arrays["y"], self.path, NAMES[0])
        if "x_test" not in arrays:
            return Dataset(x, y, classes=classes)
        test = arrays["x_test"], arrays["y_test"]
        return Dataset(x, y, *checked(*test, self.path, NAMES[1], classes)[:2], classes)

    def _fitted(self, arrays: Mapping[str, Array]) -> Dataset:
        for names in NAMES[: len(arrays) // 2]:
            check_finite(arrays[names[0]], arrays[names[1]], self.path, names)
        return Dataset(
            arrays["x"], arrays["y"], arrays.get("x_test"), arrays.get("y_test"), real=True
        )

    def _arrays(self, stack: ExitStack) -> dict[str, Array]:
        """What the file holds, once the shapes that it states are right."""
        suffix = self.path.suffix.lower()
        if suffix == ".csv":
            x, y = read_csv(self.path, "data.path")
            return {"x": x, "y": y}
        if suffix != ".npz":
            raise InputError(
                f"data.path: {self.path} ends in {suffix or 'nothing'}; "
                "an NPZ (.npz) or CSV (.csv) file is needed."
            )
        file = stack.enter_context(NpzFile(self.path, "data.path"))
        shapes = file.shapes
        for name in ("x", "y"):
            if name not in shapes:
                hint = did_you_mean(name, shapes) if shapes else "it is empty."
                raise InputError(f"data.path: {self.path} has no array {name}; {hint}")
        if ("x_test" in shapes) != ("y_test" in shapes):
            raise InputError(f"data.path: {self.path} needs both x_test and y_test, or neither.")
        # All that the headers tell is checked before any value is read (decision 0012).
        check_shapes(shapes, self.path)
        n, d = shapes["x"]
        check_stated(self.path, (("d", self.d, d), ("n", self.n, n)))
        return {name: file.read(name) for pair in NAMES for name in pair if name in shapes}


@final
class FileData(FileSection):
    title: ClassVar[str] = "data from a file: NPZ (x, y, optional x_test, y_test) or CSV (label y)"
    source: ClassVar[str] = "the user's own"
    names: ClassVar[str] = "an NPZ or CSV file"
    rescaling: ClassVar[str] = (
        'set data.scale = "standard", "unit" or "max_norm", or give the columns in another unit'
    )

    kind: Literal["file"] = "file"
    path: str | None = setting(
        None,
        meaning="NPZ or CSV file, relative to the study file; labels -1 and +1, 0 and 1, or class "
        "numbers 0, 1, ..., k - 1, unless targets are real",
    )
    targets: Literal["labels", "real"] = setting(
        "labels", meaning=f"what y is: {TARGETS}", added=True
    )
    scale: Scale = setting("none", meaning=SCALE_MEANING, added=True)
    d: int | None = setting(None, meaning="dimension of the inputs, if it should be checked", ge=1)
    n: int | None = setting(None, meaning="number of examples, if it should be checked", ge=1)
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def read_from(self, path: Path) -> Distribution:
        source = FileSource(path, self.d, self.n, self.real)
        return source if self.scale == "none" else ScaledSource(source, self.scale, path)

    @property
    def real(self) -> bool:
        return self.targets == "real"
