"""Entries of a matrix with given singular values: regression on several outputs at once."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import Array, Dataset, Distribution
from core.data.regression import LARGEST, TargetData
from core.data.section import set_sizes
from core.errors import RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting

MOST_ENTRIES = 1024  # n = d entries, and n d numbers in a run file


@final
class MatrixData(TargetData, Distribution):
    """Every entry of a matrix S (k, d') as one example: a linear map with k outputs, taken apart.

    The example of row c and column i has the input X = sqrt(n) e_c e_i', row after row, with
    n = k d', and the target sqrt(n) S_ci. Hence X'X/n = I, and the risk of f(x) = <B, X> is
    |B - S|^2/2, that of k outputs on white inputs of d' coordinates.

    >>> data = MatrixData(singular_values=(2.0, 1.0), bases="axes")
    >>> dataset = data.sample(np.random.default_rng(0))
    >>> dataset.y.tolist(), np.diag(dataset.x).tolist()
    ([4.0, 0.0, 0.0, 2.0], [2.0, 2.0, 2.0, 2.0])
    """

    title: ClassVar[str] = "all entries of a matrix with given singular values"
    source: ClassVar[str] = "Saxe, McClelland and Ganguli 2014, section 1"
    own: ClassVar[tuple[str, ...]] = ("d", "n")
    known_law: ClassVar[bool] = False

    words: ClassVar[str] = "entries of a matrix"
    kind: Literal["matrix"] = "matrix"
    singular_values: tuple[float, ...] = setting(
        (3.0, 2.0, 1.0, 0.5), meaning="singular values of the matrix, > 0"
    )
    rows: int | None = setting(
        None,
        meaning="rows of the matrix, the number of outputs; use network.rows of the same size "
        "(default: one for each singular value)",
        ge=1,
        le=MOST_ENTRIES,
    )
    columns: int | None = setting(
        None,
        meaning="columns of the matrix (default: one for each singular value)",
        ge=1,
        le=MOST_ENTRIES,
    )
    bases: Literal["random", "axes"] = setting(
        "random",
        meaning="singular vectors: random, uniform among all orthonormal ones; or e_1, e_2, ...",
    )
    d: int | None = setting(None, meaning="rows times columns", ge=1, advanced=True)
    n: int | None = setting(None, meaning="rows times columns", ge=1, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _sizes(self) -> MatrixData:
        count = len(self.singular_values)
        if not count:
            raise RuleError(
                "no singular values are given; give at least one, such as 1.0",
                keys=("singular_values",),
            )
        rows, columns = self.shape
        if count > min(rows, columns):
            raise RuleError(
                f"{count} singular values are given for a matrix of {rows} x {columns}; give 1 to "
                f"{min(rows, columns)}, or choose more rows and columns",
                keys=("singular_values", "rows", "columns"),
            )
        wrong = next((one for one in self.singular_values if not 0.0 < one <= LARGEST), None)
        if wrong is not None:
            raise RuleError(
                f"the singular value {wrong:g} is not between 0 and {LARGEST:g}",
                keys=("singular_values",),
            )
        if rows * columns > MOST_ENTRIES:
            raise RuleError(
                f"a matrix of {rows} x {columns} has {rows * columns} entries, more than "
                f"{MOST_ENTRIES}; choose fewer rows or columns",
                keys=("rows", "columns"),
            )
        sizes = {"n": rows * columns, "d": rows * columns}
        set_sizes(self, sizes, "the matrix has {size} entries", "rows")
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        count = len(self.singular_values)
        return self.rows or count, self.columns or count

    def sample(self, generator: Generator) -> Dataset:
        count, (rows, columns) = len(self.singular_values), self.shape
        left, right = (self._vectors(generator, size)[:, :count] for size in (rows, columns))
        S = left * np.array(self.singular_values) @ right.T
        scale = np.sqrt(S.size)
        return Dataset(scale * np.eye(S.size), scale * S.reshape(-1), real=True)

    def _vectors(self, generator: Generator, size: int) -> Array:
        """Return an orthogonal matrix (size, size), uniformly drawn or the identity."""
        if self.bases == "axes":
            return np.eye(size)
        Q, R = np.linalg.qr(generator.standard_normal((size, size)))
        return np.asarray(Q * np.sign(np.diag(R)))
