"""Addition modulo p: all pairs (a, b), or a share of them, labelled (a + b) mod p."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import model_validator

from core.data.dataset import Array, Dataset, Distribution, TestSet
from core.data.section import N_MEANING, DataSection, set_sizes
from core.errors import RuleError
from core.settings import MAX_SEED, SEED_MEANING, Section, setting

FEWEST, MOST = 3, 291  # of p: n d = 2 p^3 numbers


def pair_count(p: int, fraction: float) -> int:
    """Return how many of the p^2 pairs are trained on: fraction p^2, rounded, at least two.

    >>> pair_count(5, 1.0), pair_count(23, 0.6)
    (25, 317)
    """
    return max(2, round(fraction * p * p))


def examples(pairs: NDArray[np.int64], p: int) -> tuple[Array, Array]:
    """Return the examples of some pairs.

    Parameters
    ----------
    pairs : array of int (k,)
        Pairs, numbered a p + b.
    p : int
        Modulus.

    Returns
    -------
    x : array (k, 2 p)
        (e_a, e_b).
    y : array (k,)
        (a + b) mod p.

    Examples
    --------
    >>> x, y = examples(np.array([5]), 3)
    >>> x.tolist(), y.tolist()
    ([[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]], [0.0])
    """
    a, b = np.divmod(pairs, p)
    x = np.zeros((pairs.size, 2 * p))
    rows = np.arange(pairs.size)
    x[rows, a] = x[rows, p + b] = 1.0
    return x, ((a + b) % p).astype(np.float64)


def pairs_of(x: Array) -> NDArray[np.int64]:
    """Return the numbers a p + b of inputs.

    Parameters
    ----------
    x : array (k, 2 p)
        (e_a, e_b).

    Returns
    -------
    array of int (k,)
        Pairs.

    Examples
    --------
    >>> pairs_of(examples(np.array([1, 5, 8]), 3)[0]).tolist()
    [1, 5, 8]
    """
    p = x.shape[1] // 2
    return np.asarray(x[:, :p].argmax(axis=1) * p + x[:, p:].argmax(axis=1), dtype=np.int64)


def is_addition(x: Array, y: Array) -> bool:
    """Return True for inputs (e_a, e_b) in R^2p with the labels (a + b) mod p, p odd.

    >>> x, y = examples(np.arange(9), 3)
    >>> is_addition(x, y), is_addition(x, 2.0 - y), is_addition(2.0 * x, y)
    (True, False, False)
    """
    p, remainder = divmod(x.shape[1], 2)
    if remainder or p % 2 == 0 or p < FEWEST:
        return False
    inputs, labels = examples(pairs_of(x), p)
    return np.array_equal(inputs, x) and np.array_equal(labels, y)


@final
class ModularData(DataSection, Distribution):
    """Pairs x = (e_a, e_b) in R^2p, labelled (a + b) mod p; pairs left out are the test points.

    The trained pairs are drawn without replacement, all alike.

    >>> data = ModularData(p=5, fraction=0.6).sample(np.random.default_rng(0))
    >>> data.x.shape, data.classes
    ((15, 10), 5)
    """

    title: ClassVar[str] = "addition modulo p: pairs (a, b), one-hot, labelled (a + b) mod p"
    source: ClassVar[str] = "morwani24, section 3; Power et al. 2022"
    own: ClassVar[tuple[str, ...]] = ("d", "n")
    known_law: ClassVar[bool] = False
    others: ClassVar[Mapping[str, str]] = {"network": "quadratic", "loss": "cross_entropy"}

    words: ClassVar[str] = "addition modulo p"
    kind: Literal["modular"] = "modular"
    p: int = setting(
        5, meaning="modulus, odd: there are p classes and p^2 pairs", ge=FEWEST, le=MOST
    )
    fraction: float = setting(
        1.0,
        meaning="share of the p^2 pairs used for training; the others are the test set",
        gt=0,
        le=1,
    )
    d: int = setting(10, meaning="always 2 p; set from p if omitted", ge=6, advanced=True)
    n: int = setting(
        25, meaning=f"{N_MEANING}; set from p and fraction if omitted", ge=2, advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @classmethod
    def is_compatible_with(cls, section: type[Section]) -> bool:
        return bool(getattr(section, "several", True))

    @property
    def classes(self) -> int:
        return self.p

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, table: Any) -> Any:
        # Before the fields are validated, so that an axis over p needs neither d nor n beside it.
        if not isinstance(table, dict):
            return table
        try:
            p, fraction = int(table.get("p", 5)), float(table.get("fraction", 1.0))
            sizes = {"d": 2 * p, "n": pair_count(p, fraction)}
        except (TypeError, ValueError, OverflowError):
            return table  # the validation of the fields reports the error
        return {**sizes, **table}

    @model_validator(mode="after")
    def _odd_and_sized(self) -> ModularData:
        if self.p % 2 == 0:
            raise RuleError(f"p = {self.p} is even; choose an odd p such as 5 or 23", keys=("p",))
        sizes = {"d": 2 * self.p, "n": pair_count(self.p, self.fraction)}
        clause = f"p = {self.p} with fraction = {self.fraction:g} has {{name}} = {{size}}"
        set_sizes(self, sizes, clause, "p")
        return self

    def sample(self, generator: Generator) -> Dataset:
        count = self.p * self.p
        pairs = np.arange(count)
        if self.n < count:
            # Sorted, so that examples are in the order of their pairs.
            pairs = np.sort(generator.permutation(count)[: self.n])
        x, y = examples(pairs, self.p)
        return Dataset(x, y, classes=self.p)

    def test_set(self, generator: Generator, training: Dataset) -> TestSet | None:
        """Return all pairs that are not trained on; None if all are."""
        unseen_pairs = np.setdiff1d(np.arange(self.p * self.p), pairs_of(training.x))
        if not unseen_pairs.size:
            return None
        return TestSet(*examples(unseen_pairs, self.p), exact=True)
