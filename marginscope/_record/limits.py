"""Limits of what is read of one state of a checkpoint, and the error of a file beyond them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, final

import numpy as np

from core.errors import InputError

MOST_BYTES = 512 << 20  # of the arrays that are read of one state, as float64
# Bytes of the pickle that describes the tensors, some 200 a tensor. One byte of a hostile pickle
# makes up to 100 bytes of objects.
MOST_PICKLE = 4 << 20
# Bytes of a list of contents: a zip's, of which zipfile takes ten times as much, or the header of
# a safetensors file.
MOST_DIRECTORY = 4 << 20
MOST_DIMENSIONS = 32
REMEDY = "read it in a loop of your own, and hand its arrays on as mappings"
FEWER = "save the weights alone"


@final
class LimitError(ValueError):
    """A file beyond a limit of this module; `remedy` is what its user can do."""

    def __init__(self, text: str, remedy: str = REMEDY) -> None:
        super().__init__(text)
        self.remedy = remedy


def check_size(shape: tuple[int, ...], where: str) -> None:
    """Raise InputError for an array of more numbers than are read of one state."""
    size = math.prod(shape)
    if size > MOST_BYTES // 8:
        raise InputError(
            f"{where} has shape {shape}, {size:.3g} numbers; at most {MOST_BYTES // 8:.3g} are "
            "read. Give the weights alone."
        )


@final
class ReadArrays:
    """The arrays that were asked for of one file, and their bytes, within the limit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counted: dict[str, int] = {}

    def add(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Count an array before it is read.

        Raises
        ------
        InputError
            The array alone is too large.
        LimitError
            All arrays together are.
        """
        check_size(shape, f"The array {name} in {self._path}")
        self._counted[name] = math.prod(shape) * max(8, dtype.itemsize)
        if sum(self._counted.values()) > MOST_BYTES:
            raise LimitError(
                f"the arrays that were asked for, up to {name}, take more than "
                f"{MOST_BYTES >> 20} MB as float64, the most of one state",
                FEWER,
            )
