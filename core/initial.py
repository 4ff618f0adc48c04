"""Initial parameters from a file, checked before anything runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.data.files import read_npz
from core.errors import InputError
from core.network.parametrisation import Block, Network, Shape
from core.network.registry import build_network, initial_arrays
from core.sections.network import NetworkSection

Array = NDArray[np.float64]


def read_arrays(
    section: NetworkSection, folder: Path | None, x: Array, k: int
) -> tuple[dict[str, Array], int]:
    """(arrays by name, width) for network.init = "file"; untrained ones must be there too.

    Raises InputError for a missing file or array, another shape, and values that are not finite.
    """
    if section.init_path is None:
        raise InputError('network.init_path is missing; with network.init = "file" name an NPZ.')
    path = Path(section.init_path) if folder is None else folder / section.init_path
    arrays = read_npz(path, "network.init_path")
    widths = {array.shape[0] for array in arrays.values() if array.ndim}
    width = section.m if section.m is not None else min(widths, default=1)
    for block in _wanted(section, Shape(width, x, k)):
        _check(arrays, block, path, width, x.shape[1])
    return arrays, width


def _wanted(section: NetworkSection, shape: Shape) -> list[Block]:
    """The trained and untrained arrays of the network, in their order."""
    example = initial_arrays(section, shape, np.random.default_rng(0))
    network: Network = build_network(section, shape, example)
    fixed = [Block(name, array.shape) for name, array in network.fixed.items()]
    return [*network.layout, *fixed]


def _check(arrays: dict[str, Array], block: Block, path: Path, m: int, d: int) -> None:
    if block.name not in arrays:
        found = ", ".join(sorted(arrays)) or "nothing"
        raise InputError(f"network.init_path: {path} has no array {block.name}; found {found}.")
    array = arrays[block.name]
    if array.shape != block.shape:
        raise InputError(
            f"network.init_path: {block.name} in {path} has shape {array.shape}; with "
            f"m = {m} and d = {d} it must be {block.shape}."
        )
    if not np.isfinite(array).all():
        raise InputError(
            f"network.init_path: {block.name} in {path} has a value that is not finite."
        )
