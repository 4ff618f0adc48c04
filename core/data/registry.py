"""Distributions by the kind named in study files."""

from __future__ import annotations

from pathlib import Path

from core.data.dataset import Distribution
from core.data.files import FileSource
from core.data.parity import Parity
from core.errors import InputError
from core.sections.data import FileData, ParityData


def distribution(section: ParityData | FileData, folder: Path | None) -> Distribution:
    """The distribution that a data section names; paths in it are relative to `folder`."""
    if isinstance(section, ParityData):
        return Parity(section.d, section.n, section.k)
    if section.path is None:
        raise InputError('data.path is missing; with data.kind = "file" name an NPZ or CSV file.')
    path = Path(section.path)
    return FileSource(path if folder is None else folder / path, section.d, section.n)
