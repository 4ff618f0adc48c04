"""The user's own data and weights: NPZ and CSV files, checked before anything runs."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from core.data.dataset import Array, Dataset, Distribution, TestSet
from core.data.sizes import check_sizes
from core.errors import InputError, did_you_mean

MAX_FILE_VALUES = 200_000_000
MAX_CLASSES = 10_000


def read_npz(path: Path, what: str) -> dict[str, Array]:
    """All arrays of an NPZ file in float64; never unpickles.

    Raises InputError for a missing or foreign file and for arrays that are not plain numbers.
    """
    if not path.is_file():
        raise InputError(f"{what}: there is no file {path}; check the path.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: _plain_numbers(archive, name, path, what) for name in archive.files}
    except InputError:
        raise
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError, AttributeError) as error:
        raise InputError(
            f"{what}: {path} is not a readable NPZ file ({type(error).__name__}); "
            "write it with numpy.savez."
        ) from error


def _plain_numbers(archive: Mapping[str, Array], name: str, path: Path, what: str) -> Array:
    try:
        array = archive[name]
    except ValueError as error:
        raise InputError(
            f"{what}: the array {name} in {path} is not a plain array of numbers (an object array "
            "would have to be unpickled, which is never done); save it as float64."
        ) from error
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"{what}: the array {name} in {path} has type {array.dtype}; numbers are needed."
        )
    if array.size > MAX_FILE_VALUES:
        raise InputError(f"{what}: the array {name} in {path} has more than 2e8 values.")
    return np.ascontiguousarray(array, dtype=np.float64)


def read_csv(path: Path, what: str) -> tuple[Array, Array]:
    """x and y of a CSV file with a header; the label column is y, all others are coordinates."""
    if not path.is_file():
        raise InputError(f"{what}: there is no file {path}; check the path.")
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{what}: {path} is not a readable CSV file ({error}).") from error
    if len(rows) < 2:
        raise InputError(f"{what}: {path} has no rows below its header.")
    header = [name.strip() for name in rows[0]]
    if header.count("y") != 1:
        raise InputError(
            f"{what}: {path} needs one column named y for the labels; its header has "
            f"{', '.join(header[:6])}."
        )
    table = np.empty((len(rows) - 1, len(header)))
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InputError(
                f"{what}: line {line} of {path} has {len(row)} values, its header {len(header)}."
            )
        table[line - 2] = [_number(text, line, path, what) for text in row]
    column = header.index("y")
    return np.delete(table, column, axis=1), table[:, column].copy()


def _number(text: str, line: int, path: Path, what: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(
            f"{what}: line {line} of {path} has {text!r} where a number is needed."
        ) from error


def binary_labels(y: Array, where: str, both: bool = True) -> Array:
    """Labels as -1 and +1; 0/1 is turned into -1/+1.

    >>> binary_labels(np.array([0.0, 1.0]), "y").tolist()
    [-1.0, 1.0]

    Raises InputError for any other value, and when `both` classes are needed and one is missing.
    """
    values = set(np.unique(y).tolist())
    if not values <= {-1.0, 1.0} and not values <= {0.0, 1.0}:
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


def checked(
    x: Array, y: Array, path: Path, names: tuple[str, str], classes: int | None = None
) -> tuple[Array, Array, int]:
    """x (n, d), y (n,) with finite values and matching lengths, and the number of classes.

    `classes` are those of the training labels where these are test labels. Raises InputError.
    """
    if x.ndim != 2 or x.shape[0] < 1 or x.shape[1] < 1:
        raise InputError(
            f"data.path: {names[0]} in {path} has shape {x.shape}; a table (n, d) is needed."
        )
    if y.shape != (x.shape[0],):
        raise InputError(
            f"data.path: {names[1]} in {path} has shape {y.shape}; one label for each of the "
            f"{x.shape[0]} rows of {names[0]} is needed."
        )
    for name, array in zip(names, (x, y), strict=True):
        bad = np.argwhere(~np.isfinite(array))
        if bad.size:
            place = ", ".join(str(int(index)) for index in bad[0])
            raise InputError(
                f"data.path: {name} in {path} has the value {array[tuple(bad[0])]} at index "
                f"({place}), counted from 0; every value must be finite."
            )
    where = f"data.path: {names[1]} in {path}"
    count = class_count(y, where) if classes is None else classes
    if count > 2:
        return x, class_numbers(y, count, where), count
    return x, binary_labels(y, where, both=classes is None), 2


@final
@dataclass(frozen=True, slots=True)
class FileSource(Distribution):
    """A data file; d and n, when given, must agree with it."""

    path: Path
    d: int | None = None
    n: int | None = None

    def sample(self, generator: np.random.Generator) -> Dataset:
        arrays = self._arrays()
        x, y, classes = checked(arrays["x"], arrays["y"], self.path, ("x", "y"))
        x_test = y_test = None
        if ("x_test" in arrays) != ("y_test" in arrays):
            raise InputError(f"data.path: {self.path} needs both x_test and y_test, or neither.")
        if "x_test" in arrays:
            test, names = (arrays["x_test"], arrays["y_test"]), ("x_test", "y_test")
            x_test, y_test, _ = checked(*test, self.path, names, classes)
            if x_test.shape[1] != x.shape[1]:
                raise InputError(
                    f"data.path: x_test in {self.path} has {x_test.shape[1]} columns, "
                    f"x has {x.shape[1]}; they must agree."
                )
        dataset = Dataset(x, y, x_test, y_test, classes)
        check_sizes(dataset, self.path, self.d, self.n)
        return dataset

    def _arrays(self) -> dict[str, Array]:
        suffix = self.path.suffix.lower()
        if suffix == ".csv":
            x, y = read_csv(self.path, "data.path")
            return {"x": x, "y": y}
        if suffix != ".npz":
            raise InputError(
                f"data.path: {self.path} ends in {suffix or 'nothing'}; "
                "an NPZ (.npz) or CSV (.csv) file is needed."
            )
        arrays = read_npz(self.path, "data.path")
        for name in ("x", "y"):
            if name not in arrays:
                hint = did_you_mean(name, arrays) if arrays else "it is empty."
                raise InputError(f"data.path: {self.path} has no array {name}; {hint}")
        return arrays

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet | None:
        return None
