"""Initial parameters from a file, for a network with init = "file"."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.data.numpy_files import NpzFile
from core.errors import InputError
from core.network.normalised_network import BatchNormNetwork
from core.network.parametrisation import Block, Network, Shape
from core.network.registry import build_network, initial_arrays
from core.network.section import NetworkSection

Array = NDArray[np.float64]


def read_arrays(
    section: NetworkSection, folder: Path | None, x: Array, k: int
) -> tuple[dict[str, Array], int]:
    """Return the parameters by name, and the width, of a network with init = "file".

    Parameters
    ----------
    section : NetworkSection
        Network with `init_path`.
    folder : Path or None
        Folder of the study file, to which a relative path refers.
    x, k : array (n, d), int
        Training inputs, and number of outputs.

    Returns
    -------
    arrays, width : dict of str to array, int

    Raises
    ------
    InputError
        A file or array is missing, has another shape, or holds values that are not finite.
    """
    if section.init_path is None:
        raise InputError('network.init_path is missing; with network.init = "file" name an NPZ.')
    path = Path(section.init_path) if folder is None else folder / section.init_path
    with NpzFile(path, "network.init_path") as file:
        # Inner layers may be narrower than the network.
        outer = [file.shapes[name] for name in ("a", "A") if name in file.shapes]
        widths = {shape[0] for shape in outer or file.shapes.values() if shape and shape[0] > 0}
        width = section.m if section.m is not None else min(widths, default=1)
        # Check the size before allocating arrays, although only their shapes are used here.
        section.model_copy(update={"m": width}).check_sizes(x.shape[1], k)
        blocks = _all_blocks(section, Shape(width, x, k))
        for block in blocks:
            _check(file.shapes, block, path, width, x.shape[1])
        arrays = {block.name: file.read(block.name) for block in blocks}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise InputError(f"network.init_path: {name} in {path} has a value that is not finite.")
    _check_directions(section, arrays, path, x)
    return arrays, width


def _all_blocks(section: NetworkSection, shape: Shape) -> list[Block]:
    """Return the trained and untrained arrays of the network, in their order."""
    example = initial_arrays(section, shape, np.random.default_rng(0))
    network: Network = build_network(section, shape, example)
    fixed = [Block(name, array.shape) for name, array in network.fixed.items()]
    return [*network.layout, *fixed]


def _check_directions(
    section: NetworkSection, arrays: dict[str, Array], path: Path, x: Array
) -> None:
    """Raise InputError if a network would divide by |v_j| = 0, or N(v_j) = 0."""
    if section.divides_by_lengths:
        divisors, fault = np.linalg.norm(arrays["V"], axis=1), "is zero, so that v/|v| is undefined"
    elif isinstance(section, BatchNormNetwork) and section.normalise and section.eps == 0.0:
        divisors = np.linalg.norm((x - x.mean(axis=0)) @ arrays["V"].T, axis=0)
        fault = "does not vary over the data: N(v) = 0 (network.eps > 0 would allow it)"
    else:
        return
    if not divisors.all():
        number = int(np.flatnonzero(divisors == 0.0)[0])
        raise InputError(
            f"network.init_path: row {number} of V in {path} {fault}; choose another start."
        )


def _check(shapes: Mapping[str, tuple[int, ...]], block: Block, path: Path, m: int, d: int) -> None:
    if block.name not in shapes:
        names = ", ".join(sorted(shapes)) or "nothing"
        raise InputError(f"network.init_path: {path} has no array {block.name}; found {names}.")
    shape = shapes[block.name]
    if shape != block.shape:
        raise InputError(
            f"network.init_path: {block.name} in {path} has shape {shape}; with "
            f"m = {m} and d = {d} it must be {block.shape}."
        )
