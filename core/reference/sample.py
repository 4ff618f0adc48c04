"""What the reference margins share: the signed examples, and why some have no margin."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from typing import final

import numpy as np

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.margin import Bracket, Reference, absent
from core.reference.watch import Watch


def binary(problem: Problem) -> bool:
    """Whether the data have two labels, -1 and +1, and the network one output."""
    return problem.dataset.classes == 2 and not problem.dataset.real


def data_key(problem: Problem, *more: object) -> str:
    """SHA-256 of the training examples and what else matters."""
    data = problem.dataset
    # The last was whether one class is meant: points of one label had no margin if it was not.
    single = np.unique(data.y).size == 1
    digest = hashlib.sha256(repr((data.x.shape, data.classes, single)).encode())
    for array in (data.x, data.y):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    for item in more:
        is_array = isinstance(item, np.ndarray)
        digest.update(item.astype("<f8").tobytes() if is_array else repr(item).encode())  # type: ignore[attr-defined]
    return digest.hexdigest()


class SampleMargin(Reference):
    """A margin of the training examples alone, of two classes; those without one get a sentence.

    `too_many` says that there are more than `most_examples`, with their number n.
    """

    most_examples: float = math.inf
    too_many = "There are more than {most} examples, too many for this margin's exact method."

    def applies(self, problem: Problem) -> bool:
        return binary(problem)

    def key(self, problem: Problem) -> str:
        return data_key(problem)

    @final
    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        sentence, n = refusal(problem), problem.dataset.n
        if not sentence and n > self.most_examples:
            sentence = self.too_many.format(most=self.most_examples, n=n)
        if sentence:
            return absent(sentence)
        watch.look()
        try:
            return self.of_sample(problem, watch)
        except ArithmeticError as error:
            return absent(str(error))

    @abstractmethod
    def of_sample(self, problem: Problem, watch: Watch) -> Bracket:
        """As `compute`, for examples that may have a margin.

        Raises ArithmeticError, with the sentence, where the method does not come to an end.
        """


def signed(problem: Problem) -> Array:
    """G_i = y_i x_i, (n, d)."""
    return problem.dataset.y[:, None] * problem.dataset.x


def refusal(problem: Problem) -> str:
    """Return why these data have no margin whatever the predictor, as a sentence, or "".

    Real targets; more than two classes; equal points of opposite labels. Points of one label have
    margins, since no predictor here is free to be constant.
    """
    data = problem.dataset
    if data.real:
        return "The targets are real numbers, and a margin is one of labels."
    if data.classes != 2:
        return f"The data have {data.classes} classes, and this margin is one of two classes."
    pair = contradiction(data.x, data.y)
    if pair is not None:
        return (
            f"Examples {pair[0]} and {pair[1]} are equal and have opposite labels, so no predictor "
            "has a positive margin."
        )
    return ""


def contradiction(x: Array, y: Array) -> tuple[int, int] | None:
    """The first two equal rows of x with different y, counted from 0; None without any.

    >>> contradiction(np.array([[1.0], [2.0], [1.0]]), np.array([1.0, 1.0, -1.0]))
    (0, 2)
    """
    seen: dict[bytes, int] = {}
    for place, row in enumerate(x + 0.0):  # -0.0 + 0.0 is 0.0
        first = seen.setdefault(row.tobytes(), place)
        if y[first] != y[place]:
            return first, place
    return None
