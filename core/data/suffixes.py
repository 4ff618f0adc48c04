"""Which files are data by their names; without loading a reader."""

from __future__ import annotations

from pathlib import PurePath

TEXTS = (".csv", ".tsv", ".txt", ".dat", ".data")
ARRAYS = (".npz", ".npy", ".mat")
DATA_PATTERNS = " ".join(f"*{suffix}" for suffix in (*TEXTS, *ARRAYS))
DATA_FILTER = f"Arrays and tables ({DATA_PATTERNS})"


def is_data_file(name: str) -> bool:
    """Return True for the name of a file of data.

    >>> is_data_file("a.CSV"), is_data_file("a.msrun")
    (True, False)
    """
    return PurePath(name).suffix.lower() in (*TEXTS, *ARRAYS)
