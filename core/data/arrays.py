"""Roles of the arrays of a data file, NPZ, .npy or .mat: x, y, x_test and y_test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, final

import numpy as np

from core.data.dataset import Array
from core.data.labels import Coding, coding_of, note_of
from core.errors import InputError, did_you_mean
from core.settings import MAX_ELEMENTS

NAMES = (("x", "y"), ("x_test", "y_test"))
# Common names of each array; this program's own name comes first.
CALLED = {
    "x": ("x", "X", "x_train", "X_train", "data", "features", "inputs"),
    "y": ("y", "Y", "y_train", "Y_train", "labels", "label", "targets", "target"),
    "x_test": ("x_test", "X_test"),
    "y_test": ("y_test", "Y_test"),
}
MOST_SHOWN, SHOWN = 6, 40  # arrays named in a message, and characters of a name
Shapes = Mapping[str, tuple[int, ...]]


class ArrayFile(Protocol):
    """Open file of arrays: shapes first, values on request."""

    @property
    def shapes(self) -> Shapes:
        """Shape of each array by its name."""

    def read(self, name: str) -> Array:
        """Return the values of an array.

        Parameters
        ----------
        name : str
            Array, one of `shapes`.

        Returns
        -------
        array
            float64, in the array's shape.

        Raises
        ------
        InputError
            The file is damaged.
        """


@final
@dataclass(frozen=True, slots=True)
class Roles:
    """Names in the file of the arrays that are read; `note` if names differ."""

    names: Mapping[str, str]
    others: tuple[str, ...] = ()  # unused arrays

    @property
    def note(self) -> str:
        renamed = [f"{role} is {name}" for role, name in self.names.items() if role != name]
        return ", ".join(renamed)

    @property
    def others_note(self) -> str:
        names, n_unnamed = self.others[:MOST_SHOWN], len(self.others) - MOST_SHOWN
        words = ", ".join(name[:SHOWN] for name in names) + (
            f" and {n_unnamed} more" if n_unnamed > 0 else ""
        )
        return words and f"not read: {words}"


def find_roles(shapes: Shapes, path: Path, label: str | None) -> Roles:
    """Return the array of each role.

    Parameters
    ----------
    shapes : mapping of str to tuple
        Shape of each array of the file.
    path : Path
        File, for sentences.
    label : str or None
        Name of the label array, if the user stated one.

    Returns
    -------
    Roles
        Names of x, y, and of test arrays if both exist.

    Raises
    ------
    InputError
        An array is missing, or two may have the same role.
    """
    names: dict[str, str] = {}
    for role, called in CALLED.items():
        members = [name for name in called if name in shapes]
        if role == "y" and label is not None:
            if label not in shapes:
                hint = did_you_mean(label, shapes) if shapes else "it is empty."
                raise InputError(
                    f"data.path: {path} has no array {label[:40]!r} for data.label; {hint}"
                )
            members = [label]
        if role in members:
            members = [role]  # the program's own name takes precedence
        if len(members) > 1:
            raise InputError(
                f"data.path: {path} has the arrays {' and '.join(members)}, either of which may be "
                f"{role}; rename one of them to {role}."
            )
        if members:
            names[role] = members[0]
    for role in NAMES[0]:
        if role not in names:
            hint = did_you_mean(role, shapes) if shapes else "it is empty."
            raise InputError(
                f"data.path: {path} has no array {role}; {hint.rstrip('.')}; name the arrays "
                "x and y, as in numpy.savez(path, x=x, y=y)."
            )
    if ("x_test" in names) != ("y_test" in names):
        raise InputError(
            f"data.path: {path} needs both x_test and y_test, or neither; add or remove one."
        )
    return Roles(names, tuple(name for name in shapes if name not in names.values()))


def check_shapes(shapes: Shapes, roles: Roles, path: Path, real: bool) -> None:
    """Raise InputError unless the shapes of inputs and labels fit together.

    x is (n, d); y is (n,), a column (n, 1), a row (1, n), or one-hot (n, k). Test points have the
    same d.

    Parameters
    ----------
    shapes : mapping of str to tuple
        Shape of each array of the file.
    roles : Roles
        Names of the arrays.
    path : Path
        File, for sentences.
    real : bool
        True for real targets, which cannot be one-hot.
    """
    names = roles.names
    for inputs, labels in NAMES:
        if inputs not in names:
            continue
        rows, labelled = shapes[names[inputs]], shapes[names[labels]]
        if len(rows) != 2 or rows[0] < 1 or rows[1] < 1:
            raise InputError(
                f"data.path: {names[inputs]} in {path} has shape {rows}; give a table (n, d) "
                "with a row for each example."
            )
        n = rows[0]
        fits = labelled in ((n,), (n, 1), (1, n)) or (
            not real and len(labelled) == 2 and labelled[0] == n and labelled[1] > 1
        )
        if not fits:
            raise InputError(
                f"data.path: {names[labels]} in {path} has shape {labelled}; give one label for "
                f"each of the {n} rows of {names[inputs]}."
            )
        if rows[0] * rows[1] > MAX_ELEMENTS:
            raise InputError(
                f"data.path: {names[inputs]} in {path} has shape {rows}; at most "
                f"{MAX_ELEMENTS:.0e} values are read; keep fewer rows or columns."
            )
    if "x_test" in names and shapes[names["x_test"]][1] != shapes[names["x"]][1]:
        raise InputError(
            f"data.path: {names['x_test']} in {path} has {shapes[names['x_test']][1]} columns, "
            f"{names['x']} has {shapes[names['x']][1]}; they must agree: keep the "
            "same columns in both."
        )


def check_finite(array: Array, name: str, path: Path) -> None:
    """Raise InputError for a value that is not finite.

    Parameters
    ----------
    array : array
        Values of the file.
    name, path : str, Path
        Array and file, for the message.
    """
    finite = np.isfinite(array)
    if not finite.all():
        bad = np.unravel_index(int(np.argmin(finite)), array.shape)
        place = ", ".join(str(int(index)) for index in bad)
        raise InputError(
            f"data.path: {name} in {path} has the value {array[bad]} at index "
            f"({place}), counted from 0; every value must be finite: correct it, or remove its row."
        )


def class_numbers_of(y: Array, n: int, where: str) -> tuple[Array, str]:
    """Return labels from a column, a row or one-hot rows.

    Parameters
    ----------
    y : array (n,), (n, 1), (1, n) or (n, k)
        Labels of the file.
    n : int
        Number of examples.
    where : str
        Array and file, for sentences.

    Returns
    -------
    array (n,)
        Labels; of one-hot rows the column of the 1.
    str
        "one-hot" for such rows, else "".

    Raises
    ------
    InputError
        Rows with several columns are not one-hot.
    """
    if y.ndim == 1 or y.shape[1] == 1 or y.shape == (1, n):
        return y.reshape(-1), ""
    right = ((y == 0.0) | (y == 1.0)).all(axis=1) & (y.sum(axis=1) == 1.0)
    if not right.all():
        row = int(np.argmin(right))
        raise InputError(
            f"{where} has shape {y.shape}, and row {row}, counted from 0, is not one-hot (a "
            "single 1, else 0); give one label for each row."
        )
    return y.argmax(axis=1).astype(np.float64), "one-hot"


@final
class LabelReader:
    """Training labels `y` (n,), and test labels of the same coding."""

    def __init__(self, y: Array, n: int, where: str) -> None:
        self._where = where
        numbers, self.shape_note = class_numbers_of(y, n, where)
        if self.shape_note and y.shape[1] > 2:
            missing = [k for k in range(y.shape[1]) if not (numbers == k).any()]
            if missing:
                raise InputError(
                    f"{where} is one-hot with {y.shape[1]} columns, but no row has class "
                    f"{missing[0]}; remove the column."
                )
        self.coding: Coding = coding_of(numbers, lambda value: where)
        self.y = self.coding.encode(numbers, where)

    @property
    def note(self) -> str:
        if self.shape_note:
            return f"y is one-hot: {note_of([f'column {k}' for k in range(self.coding.classes)])}"
        return self.coding.note

    def test_labels(self, y: Array, n: int, where: str) -> Array:
        """Return test labels by the coding of the training labels.

        Parameters
        ----------
        y : array
            Labels in one of the shapes of `class_numbers_of`.
        n : int
            Number of test points.
        where : str
            Array and file, for sentences.

        Returns
        -------
        array (n,)
            Labels as `Dataset.y` has them.

        Raises
        ------
        InputError
            The shape differs from the training labels', or a label is unknown.
        """
        numbers, note = class_numbers_of(y, n, where)
        if note != self.shape_note or (note and y.shape[1] != self.coding.classes):
            raise InputError(
                f"{where} has shape {y.shape}, unlike {self._where}; use the same form for both."
            )
        return self.coding.encode(numbers, where)
