"""Numbers that kernels and Python change and read by name, in memory that both share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_KINDS = {"float": np.float64, "int": np.int64}


def record(kind: type) -> tuple[Any, NDArray[np.float64]]:
    """Zeros with the fields, float or int, that a class and its bases annotate in this order.

    Also the same memory as an array, one word for each field; numba knows the record by its fields.
    """
    parts = [vars(part).get("__annotations__", {}) for part in kind.__mro__]
    fields = [(name, _KINDS[own]) for part in parts for name, own in part.items()]
    words = np.zeros(len(fields))
    return words.view(np.dtype((np.record, np.dtype(fields, align=True))))[0], words
