"""Labels as people write them, converted to -1 and +1 or 0, ..., k - 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.data.numbers import FILL, MINUS, is_missing, number_of, without_groups
from core.errors import InputError

MAX_CLASSES = 10_000
MOST_NAMED = 6  # classes named in a message
SHOWN = 20  # characters of a label in a message
SIGNS = {"-": -1.0, "+": 1.0}
ALLOWED = "labels must be -1 and +1, or 0 and 1, or the class numbers 0, 1, ..., k - 1"
REAL = 'for numeric targets set data.targets = "real"'
Where = Callable[[float], str]  # returns the place of a value: a file's array, or a line


@final
@dataclass(frozen=True, slots=True)
class Coding:
    """Classes of the labels of a training set.

    `values` are the labels as they were, in the order of their classes; `note` says how they were
    coded, and is empty for -1 and +1, 0 and 1, and 0, ..., k - 1.
    """

    values: tuple[float, ...]
    note: str = ""

    @property
    def classes(self) -> int:
        return max(len(self.values), 2)

    def encode(self, y: Array, where: str) -> Array:
        """Return the classes of further labels, which are written like those of the coding.

        Parameters
        ----------
        y : array (n,)
            Labels as they are written.
        where : str
            Place of the labels, which starts error messages.

        Returns
        -------
        array (n,)
            -1 and +1, or 0, ..., k - 1.

        Raises
        ------
        InputError
            A label is not one of `values`.
        """
        if self.classes > 2 and not self.note:
            return class_numbers(y, self.classes, where)
        if not self.note:
            # Test labels may be 0 and 1 while training labels are -1 and +1.
            return binary_labels(y, where, needs_both=False)
        values = np.array(self.values)
        places = np.minimum(np.searchsorted(values, y), values.size - 1)
        odd = y[values[places] != y]
        if odd.size:
            texts = ", ".join(f"{value:g}" for value in self.values[:MOST_NAMED])
            raise InputError(
                f"{where} has the label {odd[0]:g}; the training labels are {texts}; use the same "
                "labels in both."
            )
        return as_labels(places, self.classes)


def as_labels(places: NDArray[np.int64], classes: int) -> Array:
    """Return the places of classes, counted from 0, as labels: -1 and +1 if there are two.

    Parameters
    ----------
    places : array of int (n,)
        Places.
    classes : int
        Number of classes.

    Returns
    -------
    array (n,)
        Labels in float64.
    """
    numbers = places.astype(np.float64)
    return 2.0 * numbers - 1.0 if classes == 2 else numbers


def coding_of(y: Array, where: Where) -> Coding:
    r"""Return the coding of numeric training labels.

    Two whole numbers from 1 on are the classes -1 and +1 in their order, and 1, ..., k the classes
    0, ..., k - 1. Raises InputError for values that are no labels, and for a single class.

    >>> coding_of(np.array([2.0, 1.0]), lambda value: "y").note
    '1 is \u22121, 2 is +1'
    """
    values = np.unique(y)
    if np.any(values != np.round(values)):
        odd = float(values[values != np.round(values)][0])
        raise InputError(f"{where(odd)} has the label {odd:g}; {ALLOWED}; {REAL}.")
    labels = values.tolist()
    if set(labels) <= {-1.0, 1.0} or set(labels) <= {0.0, 1.0}:
        binary_labels(y, where(labels[0]))
        return Coding((min(labels), max(labels)))
    if len(labels) == 1:
        raise InputError(_single(where(labels[0]), f"{labels[0]:g}"))
    if len(labels) == 2 and labels[0] >= 1.0:
        return Coding(tuple(labels), note_of([f"{value:g}" for value in labels]))
    if labels[0] == 1.0 and labels[-1] == len(labels) <= MAX_CLASSES:
        last = f"{labels[-1]:g}"
        return Coding(
            tuple(labels), f"the classes 1 to {last} are numbered 0 to {labels[-1] - 1:g}"
        )
    if class_count(y, where(labels[-1])) == 2:
        odd = next((value for value in labels if value not in (-1.0, 0.0, 1.0)), 0.0)
        raise InputError(f"{where(odd)} has the label {odd:g}; {ALLOWED}: use one of these.")
    return Coding(tuple(labels))


def note_of(names: Sequence[str]) -> str:
    r"""Return the class of each label, in the order of classes, as a clause.

    Long names are cut, and those after the first `MOST_NAMED` are counted.

    >>> note_of(["cat", "dog"])
    'cat is \u22121, dog is +1'
    """
    classes = (f"{MINUS}1", "+1") if len(names) == 2 else tuple(map(str, range(len(names))))
    texts = [
        f"{name[:SHOWN]} is {number}"
        for name, number in zip(names[:MOST_NAMED], classes, strict=False)
    ]
    n_unnamed = len(names) - MOST_NAMED
    return ", ".join(texts) + (f" and {n_unnamed} more in their order" if n_unnamed > 0 else "")


def _single(where: str, label: str) -> str:
    """Return the error's sentence for data in which all labels are equal."""
    return (
        f"{where} has only the label {label}; a study needs both classes: add examples of the "
        "other, or choose another column or array as the label."
    )


def binary_labels(y: Array, where: str, needs_both: bool = True) -> Array:
    """Return labels as -1 and +1; 0/1 becomes -1/+1.

    Parameters
    ----------
    y : array (n,)
        Labels.
    where : str
        Place of the labels, which starts error messages.
    needs_both : bool
        True if both classes are needed.

    Returns
    -------
    array (n,)
        -1 and +1.

    Raises
    ------
    InputError
        Another value, or a missing class.

    Examples
    --------
    >>> binary_labels(np.array([0.0, 1.0]), "y").tolist()
    [-1.0, 1.0]
    """
    values = set(np.unique(y).tolist())
    if not values <= {-1.0, 1.0} and not values <= {0.0, 1.0}:
        # -1, 0 and 1 together mix two conventions; name the label that is unknown to the other one.
        odd = sorted(values - {-1.0, 0.0, 1.0}) or [0.0]
        raise InputError(f"{where} has the label {odd[0]:g}; {ALLOWED}: use one of these.")
    if needs_both and len(values) < 2:
        raise InputError(_single(where, f"{next(iter(values)):g}"))
    return np.where(y > 0, 1.0, -1.0)


def class_count(y: Array, where: str) -> int:
    """Return the number of classes: k >= 3 for class numbers up to k - 1, else 2.

    Raises InputError for class numbers with a gap, and for more than 10,000 classes.

    >>> class_count(np.array([2.0, 0.0, 1.0]), "y"), class_count(np.array([1.0, 0.0]), "y")
    (3, 2)
    """
    values = np.unique(y)
    if values[0] != 0.0 or values[-1] < 2.0 or np.any(values != np.round(values)):
        return 2
    # Before the range below, whose length comes from the file.
    if values[-1] >= MAX_CLASSES:
        raise InputError(
            f"{where} has the class number {values[-1]:g}; at most {MAX_CLASSES} classes are read; "
            f"{REAL}."
        )
    missing = sorted(set(range(int(values[-1]))) - set(values.tolist()))
    if missing:
        raise InputError(
            f"{where} has the class number {values[-1]:g} and none of {missing[0]}; class numbers "
            "must be 0, 1, ..., k - 1 without a gap; renumber them."
        )
    return values.size


def class_numbers(y: Array, classes: int, where: str) -> Array:
    """Return labels of three or more classes unchanged, after a check.

    Parameters
    ----------
    y : array (n,)
        Class numbers.
    classes : int
        Number of classes k.
    where : str
        Place of the labels, which starts error messages.

    Returns
    -------
    array (n,)
        The same labels.

    Raises
    ------
    InputError
        A label is not one of 0, ..., k - 1.
    """
    odd = y[(y < 0) | (y >= classes) | (y != np.round(y))]
    if odd.size:
        raise InputError(
            f"{where} has the label {odd[0]:g}; the classes of y are numbered 0 to {classes - 1}; "
            "correct it."
        )
    return y


# ------------------------------------------------------------------------------- labels as text


def label_value(text: str) -> float | None:
    """Return the finite number that a label is, -1 or 1 for a sign alone; None for a word."""
    plain = text.replace(MINUS, "-")
    value = SIGNS.get(plain, number_of(plain))
    return value if value is not None and math.isfinite(value) else None


def label_fault(text: str) -> str:
    """Return why a cell is no label, as a clause; empty if it may be one."""
    if not text:
        return f"has no label; {FILL}"
    if is_missing(text):
        return f"has the label {text!r}, which marks a missing value; {FILL}"
    value = label_value(text)
    if value is None:
        problem = f"has the label {text[:SHOWN]!r}"
        if (plain := without_groups(text)) is not None:
            return f"{problem}, a number with thousands separators; write {plain}"
        return (
            "" if text.isprintable() else f"{problem}, which is not a word; use letters and digits"
        )
    if value != round(value):
        return (
            f"has the label {text[:SHOWN]!r}; labels are whole numbers or words, and {REAL}; or "
            "name another column as the label"
        )
    return ""
