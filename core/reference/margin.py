"""Reference margins: values with brackets, margins of training examples, and their cache files."""

from __future__ import annotations

import hashlib
import json
import math
import os
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from core.data.dataset import Array
from core.errors import MarginscopeError
from core.files import read_text, write_whole
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken

NAN = float("nan")


@final
@dataclass(frozen=True, slots=True)
class Bracket:
    """Bracket lower <= margin <= upper, and `value` to quote, between them.

    `certified` is true if both bounds are proved for these data up to rounding. A heuristic upper
    bound, such as the best of many starts, is not, nor are bounds that hold with some probability.
    `method` says in a few words how the bracket was found, with the gap; without a number
    (`absent_bracket`, `zero_bracket`, `unresolved_bracket`) it is the sentence that says why.
    """

    lower: float
    upper: float
    value: float
    certified: bool
    method: str

    @property
    def exists(self) -> bool:
        """True if the bracket has a number to quote."""
        return math.isfinite(self.value)

    @property
    def is_unresolved(self) -> bool:
        """True if only an upper bound is known: a positive margin is neither shown nor excluded."""
        return not self.exists and self.upper > 0.0

    @property
    def is_zero(self) -> bool:
        """True if it is proved that no predictor has a positive margin."""
        return not self.exists and self.certified and self.upper == 0.0

    @property
    def gap(self) -> float:
        """Relative gap (upper - lower) / upper."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else NAN


def exact_bracket(value: float, method: str) -> Bracket:
    """Return a certified closed form: lower = upper = value."""
    return Bracket(value, value, value, True, method)


def absent_bracket(sentence: str) -> Bracket:
    """Return a bracket without number, undefined or not computed, with the sentence why."""
    return Bracket(NAN, NAN, NAN, False, sentence)


def zero_bracket(sentence: str) -> Bracket:
    """Return the certified bracket of data that no predictor separates, with the proof."""
    return Bracket(0.0, 0.0, NAN, True, sentence)


NO_NETWORK = "the search found no network with a margin above rounding errors"


def unresolved_bracket(upper: float, size: float, certified: bool, reason: str) -> Bracket:
    """Return a bracket of which only 0 <= margin <= upper is known.

    Parameters
    ----------
    upper : float
        Upper bound.
    size : float
        Size of the data, such as max |x_i|, for the sentence.
    certified : bool
        True if the upper bound is proved.
    reason : str
        Reason, as a clause.

    Returns
    -------
    Bracket
        Bracket without value.

    Examples
    --------
    >>> unresolved_bracket(5e-10, 2.0, True, "two examples are near").method
    "Not resolved: between 0 and 5e-10, that is 2.5e-10 of the data's size; two examples are near."
    """
    sentence = (
        f"Not resolved: between 0 and {upper:.2g}, that is {upper / size:.2g} of the data's size; "
        f"{reason}."
    )
    return Bracket(0.0, upper, NAN, certified, sentence)


class Reference(ABC):
    """Margin that theory promises: definition, problems with it, and computation.

    The plot of margins normalised by |W|^2 draws factor * margin under the name `label` ("gamma_gl
    / 2" with 1/2). A factor of None means that the margin is not comparable and is only listed.
    """

    name: str
    title: str
    formula: str  # definition with its normalisation
    source: str
    label: str
    factor: float | None = None
    where: str = "data of two classes"  # data and networks for which it is defined, in words
    # Probability that either end of an uncertified bracket is wrong; 0 if unknown.
    failure: float = 0.0
    version: int = 1  # of the method: cached values of other versions are not used

    def is_comparable(self, problem: Problem) -> bool:
        """Return True if factor * margin is comparable with margins of this problem's network."""
        return self.factor is not None

    @abstractmethod
    def applies(self, problem: Problem) -> bool:
        """Return True if the margin is defined for this problem's data and network."""

    def is_listed(self, problem: Problem) -> bool:
        """Return True if it is computed with a run's other margins, and not only by its name."""
        return True

    @abstractmethod
    def key(self, problem: Problem) -> str:
        """Return a digest of what the value depends on: the data, and frozen weights."""

    @abstractmethod
    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        """Return the bracket, with a sentence in `method` if it has no number.

        `zero_bracket` where it is proved that no predictor separates the data, `unresolved_bracket`
        where only an upper bound is known, and `absent_bracket` where the margin is undefined or
        not computed. Slow methods check the watch, and raise CancelledError.
        """


@final
@dataclass(frozen=True, slots=True)
class ReferenceMargin:
    """Computed reference margin; `seconds` is the time that its computation took.

    `is_comparable`: `factor` times the margin is comparable with those of the problem's network.
    """

    reference: Reference
    bracket: Bracket
    seconds: float
    is_comparable: bool = True

    @property
    def factor(self) -> float | None:
        """Factor of the bracket in the plot of margins; None if the margin is only listed."""
        return self.reference.factor if self.is_comparable else None

    @property
    def is_drawable(self) -> bool:
        """True if it is a line among a run's margins: it has a value, and is comparable."""
        return self.factor is not None and self.bracket.exists

    @property
    def certainty(self) -> str:
        """Reliability of the bracket in words: proved, all but proved, or heuristic.

        A bracket by randomly drawn neurons is no heuristic: both ends hold but for a known
        probability.
        """
        if self.bracket.certified:
            return "certified"
        if self.reference.failure > 0.0:
            return f"holds except with probability 10^{round(math.log10(self.reference.failure))}"
        return "heuristic"

    def as_json(self) -> dict[str, Any]:
        """Return the fields of `python -m core margins --json`; NaN without a number."""
        bracket = self.bracket
        return {
            "name": self.reference.name,
            "value": bracket.value,
            "lower": bracket.lower,
            "upper": bracket.upper,
            "certified": bracket.certified,
            "method": bracket.method,
            "seconds": self.seconds,
        }


# ----------------------------------------------------------------------- margins of the examples


def has_binary_labels(problem: Problem) -> bool:
    """Return True for data with two labels, -1 and +1, for which a network has one output."""
    return problem.dataset.classes == 2 and not problem.dataset.real


def data_key(problem: Problem, *more: object) -> str:
    """Return the SHA-256 of the training examples and further values."""
    data = problem.dataset
    # The last entry once stated whether a single class was meant; points of one label had no margin
    # if it was not.
    single = np.unique(data.y).size == 1
    digest = hashlib.sha256(repr((data.x.shape, data.classes, single)).encode())
    for array in (data.x, data.y):
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    for item in more:
        is_array = isinstance(item, np.ndarray)
        digest.update(item.astype("<f8").tobytes() if is_array else repr(item).encode())  # type: ignore[attr-defined]
    return digest.hexdigest()


class SampleMargin(Reference):
    """Margin of the training examples alone, of two classes; data without one get a sentence.

    `too_many` is the sentence for more than `most_examples`.
    """

    plain_relu = False  # True for networks of ReLU neurons on x itself only
    most_examples: float = math.inf
    too_many = "This margin's exact method needs at most {most} examples."

    def applies(self, problem: Problem) -> bool:
        return has_binary_labels(problem) and (problem.network.plain_relu or not self.plain_relu)

    def key(self, problem: Problem) -> str:
        return data_key(problem)

    @final
    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        sentence, n = explain_no_sample_margin(problem), problem.dataset.n
        if not sentence and n > self.most_examples:
            sentence = self.too_many.format(most=self.most_examples, n=n)
        if sentence:
            return absent_bracket(sentence)
        watch.check()
        try:
            return self.of_sample(problem, watch)
        except ArithmeticError as error:
            return absent_bracket(str(error))

    @abstractmethod
    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        """Return the bracket for examples that may have a margin.

        Raises ArithmeticError, with the sentence, where the method does not end; `compute` turns it
        into an absent bracket.
        """


def signed_inputs(problem: Problem) -> Array:
    """Return the signed inputs G_i = y_i x_i.

    Parameters
    ----------
    problem : Problem
        Problem of two classes.

    Returns
    -------
    array (n, d)
        Rows whose hard margin is that of the data.
    """
    return problem.dataset.y[:, None] * problem.dataset.x


def explain_no_sample_margin(problem: Problem) -> str:
    """Return why these data have no margin whatever the predictor, as a sentence, or "".

    Real targets; more than two classes; equal points of opposite labels. Points of one label have
    margins, since no predictor here is free to be constant.
    """
    data = problem.dataset
    if data.real:
        return "The targets are real numbers, but margins need labels."
    if data.classes != 2:
        return f"The data have {data.classes} classes, but this margin is defined for two."
    pair = find_contradiction(data.x, data.y)
    if pair is not None:
        return (
            f"Examples {pair[0]} and {pair[1]} are equal and have opposite labels, so no predictor "
            "has a positive margin."
        )
    return ""


def find_contradiction(x: Array, y: Array) -> tuple[int, int] | None:
    """Return the first two equal rows of x with different y, counted from 0; None without any.

    >>> find_contradiction(np.array([[1.0], [2.0], [1.0]]), np.array([1.0, 1.0, -1.0]))
    (0, 2)
    """
    first_places: dict[bytes, int] = {}
    for place, row in enumerate(x + 0.0):  # -0.0 + 0.0 is 0.0
        first = first_places.setdefault(row.tobytes(), place)
        if y[first] != y[place]:
            return first, place
    return None


# ------------------------------------------------------------------------------- margins on disk
#
# The folder is the per-user cache folder; MARGINSCOPE_CACHE names another. A file's name is the
# SHA-256 of the reference's name, the version of its method and the inputs of its value. A damaged
# or missing margin is computed again, and a folder that cannot be written is not an error.

LARGEST_FILE = 100_000  # bytes; a longer file was not written by this module


@final
@dataclass(frozen=True, slots=True)
class SavedMargin:
    """Cached bracket, its seconds, and the time limit that cut it short, if one did."""

    bracket: Bracket
    seconds: float
    allowed: float | None = None

    def serves(self, allowed: float) -> bool:
        """Return True if `allowed` seconds of computation would not improve the bracket."""
        return self.allowed is None or allowed <= self.allowed


def saved_margins_folder() -> Path:
    """Return the folder of cached margins: in $MARGINSCOPE_CACHE, else in the user's cache."""
    from platformdirs import user_cache_path

    chosen = os.environ.get("MARGINSCOPE_CACHE")
    return (Path(chosen) if chosen else user_cache_path("marginscope")) / "margins"


def saved_margin_path(reference: Reference, problem: Problem) -> Path:
    """Return the file of a margin, named by a digest of reference, version and data."""
    # With the version: a bracket of another method's version must not be reused.
    text = json.dumps([reference.name, reference.version, reference.key(problem)])
    return saved_margins_folder() / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def load_margin(path: Path) -> SavedMargin | None:
    """Return the margin in a file; None if the file is missing or unusable."""
    try:
        return _parse(json.loads(read_text(path, LARGEST_FILE, "margin")))
    # Any invalid file is ignored, since the margin can be computed again.
    except (MarginscopeError, OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def save_margin(path: Path, entry: SavedMargin) -> None:
    """Write a file atomically; do nothing if it cannot be written."""
    fields = asdict(entry.bracket)
    for name in ("lower", "upper", "value"):
        fields[name] = fields[name] if math.isfinite(fields[name]) else None
    fields |= {"seconds": entry.seconds, "allowed": entry.allowed}
    try:
        write_whole(path, json.dumps(fields, allow_nan=False).encode())
    except (MarginscopeError, OSError, ValueError):
        return


def _parse(fields: Any) -> SavedMargin:
    """Parse a margin file. Raises ValueError, TypeError or KeyError for invalid content."""
    lower, upper, value = (_read(fields[name]) for name in ("lower", "upper", "value"))
    certified, method = fields["certified"], fields["method"]
    if not isinstance(certified, bool) or not isinstance(method, str):
        raise TypeError
    if math.isfinite(value) and not lower <= value <= upper:
        raise ValueError
    allowed = fields["allowed"]
    bracket = Bracket(lower, upper, value, certified, method)
    return SavedMargin(
        bracket, _read(fields["seconds"]), None if allowed is None else _read(allowed)
    )


def _read(value: object) -> float:
    """Return a JSON number, NaN for null. Raises TypeError for other values."""
    if value is None:
        return NAN
    # bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)
