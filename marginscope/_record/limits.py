"""Limits of what is read of one state of a checkpoint, and mappings that keep them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError

MOST_BYTES = 512 << 20  # of the arrays read from one state, as float64
# Bytes of the pickle that describes the tensors, about 200 per tensor. One byte of a hostile pickle
# creates up to 100 bytes of objects.
MOST_PICKLE = 4 << 20
# Bytes of a directory: a zip's, for which zipfile needs ten times as much memory, or the header of
# a safetensors file.
MOST_DIRECTORY = 4 << 20
MOST_DIMENSIONS = 32
REMEDY = "read it in your own loop, and pass its arrays on as mappings"
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


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Turn every error that a damaged or hostile file leads to into InputError."""
    try:
        yield
    except InputError:
        raise
    except LimitError as error:
        raise InputError(f"The checkpoint {path} is not read: {error}; {error.remedy}.") from error
    except Exception as error:
        first = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(
            f"The checkpoint {path} cannot be read as tensors alone "
            f"({first or type(error).__name__}); {REMEDY}."
        ) from error


# ------------------------------------------------------------------------------------ lazy mappings


class LazyArrays(Mapping[str, Any], ABC):
    """Mapping of names to arrays that are read when they are taken, and not by `in`."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    @abstractmethod
    def float_shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of an array, None if it is not of real numbers. Raises InputError."""


class FileArrays(LazyArrays):
    """Arrays of an open file, within the limit of all that are read. Raises InputError alone."""

    def __init__(self, path: Path, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self._path = path
        self._counted: dict[str, int] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        with translate_errors(self._path):
            return self._read(name)

    def float_shape(self, name: str) -> tuple[int, ...] | None:
        with translate_errors(self._path):
            shape, is_float = self._shape(name)
            return shape if is_float else None

    @abstractmethod
    def _read(self, name: str) -> NDArray[Any]:
        """Return an array, counted before it is read. Raises ValueError."""

    @abstractmethod
    def _shape(self, name: str) -> tuple[tuple[int, ...], bool]:
        """Return the shape of an array, and True if it is of real numbers. Raises ValueError."""

    def _count(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
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
                f"the requested arrays, up to {name}, take more than {MOST_BYTES >> 20} MB as "
                "float64, the most of one state",
                FEWER,
            )
