"""Whether data read from files have the sizes that a study states."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.data.dataset import Dataset
from core.errors import InputError


def check_sizes(dataset: Dataset, path: Path, d: int | None, n: int | None) -> None:
    """Raise InputError where a stated d or n is not that of the data; None states nothing."""
    check_stated(path, (("d", d, dataset.d), ("n", n, dataset.n)))


def check_stated(path: Path, sizes: Iterable[tuple[str, int | None, int]]) -> None:
    """The same for sizes (name, stated, found) that are known before the data are read."""
    for name, wanted, found in sizes:
        if wanted is not None and wanted != found:
            raise InputError(
                f"data.{name} = {wanted} conflicts with {path}, which has "
                f"{name} = {found}; leave data.{name} out or correct it."
            )
