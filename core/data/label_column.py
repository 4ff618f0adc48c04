"""The label column of a text table: distinct labels, and the class that each stands for."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.data.labels import (
    MAX_CLASSES,
    SHOWN,
    Coding,
    as_labels,
    coding_of,
    label_fault,
    label_value,
    note_of,
)
from core.data.origin import Origin
from core.errors import InputError
from core.numbers import whole_text


@final
class LabelColumn:
    """Collects labels as texts, four bytes each, and makes numbers of them."""

    def __init__(self, origin: Origin, most: int = MAX_CLASSES) -> None:
        self._origin, self._most = origin, most
        self._places: dict[str, int] = {}  # of each text; 1 and 1.0 have the same
        self._labels: dict[float | str, int] = {}
        self._texts: list[str] = []  # of each label as it was written first, and the line
        self._lines: list[int] = []
        self._codes = array("i")

    def add(self, text: str, line: int) -> None:
        """Take one label. Raises InputError with the line if it is none."""
        place = self._places.get(text)
        if place is None:
            place = self._place_of(text, line)
            if len(self._places) <= MAX_CLASSES:
                self._places[text] = place
        self._codes.append(place)

    def _place_of(self, text: str, line: int) -> int:
        if fault := label_fault(text):
            raise self._origin.at(line, f"{fault}.")
        value = label_value(text)
        label = text if value is None else value
        if label in self._labels:
            return self._labels[label]
        if len(self._labels) == self._most:
            seen = " and ".join(repr(one[:SHOWN]) for one in self._texts[:2])
            many = f"at most {whole_text(self._most)} classes are read"
            raise self._origin.at(
                line,
                f"has the label {text[:SHOWN]!r} after {seen}; "
                f"{'points have two classes' if self._most == 2 else many}.",
            )
        self._texts.append(text)
        self._lines.append(line)
        self._labels[label] = len(self._labels)
        return self._labels[label]

    def finish(self, single: bool = False) -> tuple[Array, Coding]:
        """Return the labels as numbers, and what they stand for.

        A `single` class is allowed where points are added to others. Raises InputError with a line.
        """
        codes = np.frombuffer(self._codes, dtype=np.intc)
        words = [label for label in self._labels if isinstance(label, str)]
        if words:
            return self._from_words(words, codes)
        values = [float(label) for label in self._labels]
        numbers = np.array(values)
        if single and len(values) == 1 and values[0] in (-1.0, 0.0, 1.0):
            return np.where(numbers > 0, 1.0, -1.0)[codes], Coding((values[0],))
        lines = dict(zip(values, self._lines, strict=True))
        try:
            coding = coding_of(numbers, lambda value: self._origin.place(lines[value]))
        except InputError as error:
            raise self._origin.error(error.text) from error
        return coding.encode(numbers, "")[codes], coding

    def _from_words(self, words: list[str], codes: NDArray[np.intc]) -> tuple[Array, Coding]:
        if len(words) < len(self._labels):
            # Texts are in the order of their lines: the second kind is that which differs.
            first, *others = zip(self._labels, self._texts, self._lines, strict=True)
            odd = next(
                one for one in others if isinstance(one[0], str) != isinstance(first[0], str)
            )
            raise self._origin.at(
                odd[2],
                f"has the label {odd[1][:SHOWN]!r} and line {first[2]} {first[1][:SHOWN]!r}; "
                "labels are numbers or words, not both.",
            )
        classes = sorted(words, key=lambda word: (word.casefold(), word))
        for one, other in pairwise(classes):
            if one.casefold() == other.casefold():
                line = max(self._lines[words.index(one)], self._lines[words.index(other)])
                raise self._origin.at(
                    line,
                    f"has a label that differs from another in capitals only, {one[:SHOWN]!r} and "
                    f"{other[:SHOWN]!r}; write them alike.",
                )
        if len(classes) == 1:
            words_ = f"has only the label {classes[0][:SHOWN]!r}; two classes are needed."
            raise self._origin.whole(words_)
        if 2 < len(classes) == codes.size:
            raise self._origin.whole(
                f"has another word in each row of its label column, such as {words[0][:SHOWN]!r}; "
                f"{self._origin.choose_label}."
            )
        order = {word: place for place, word in enumerate(classes)}
        places = np.array([order[word] for word in words], dtype=np.int64)
        values = tuple(float(place) for place in range(len(classes)))
        return as_labels(places, len(classes))[codes], Coding(values, note_of(classes))
