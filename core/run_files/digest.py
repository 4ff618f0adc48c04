"""Digest of the arrays that a run file holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def digest(arrays: Iterable[NDArray[Any]]) -> str:
    """Return the SHA-256 of the shapes and values of arrays, as hexadecimal digits."""
    made = hashlib.sha256()
    for array in arrays:
        made.update(repr(array.shape).encode())
        # Little-endian on every machine: the digest is part of an experiment.
        made.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return made.hexdigest()
