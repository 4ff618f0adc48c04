"""Files of random studies: data sets of every sort, starts, and users' networks."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.data.registry import draw
from core.network.parametrisation import Shape
from core.network.registry import initial_arrays
from core.study_file.validation import build_experiment
from core.trust import trust
from tests.networks import OWN_NETWORK
from tests.tools.hunt.values import count

Array = NDArray[np.float64]
Tables = dict[str, dict[str, Any]]
DATA, START, CODE = "data.npz", "start.npz", "network.py"
SCALES, EXTREME = 8.0, 120.0  # log10 of how much larger or smaller than 1 inputs are
SMALLEST_START, LARGEST_START = -150.0, 20.0  # their squares are in float64


# ----------------------------------------------------------------------------- inputs (n, d)


def gaussian(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.standard_normal((n, d)) / np.sqrt(d)


def repeated(rng: np.random.Generator, n: int, d: int) -> Array:
    """Return few distinct points: repeats of one label, and contradictions if labels differ."""
    return gaussian(rng, max(1, n // 3), d)[rng.integers(0, max(1, n // 3), n)]


def nearly_repeated(rng: np.random.Generator, n: int, d: int) -> Array:
    return repeated(rng, n, d) + 1e-9 * rng.standard_normal((n, d))


def in_pairs(rng: np.random.Generator, n: int, d: int) -> Array:
    """Return x and -x."""
    half = gaussian(rng, -(-n // 2), d)
    return np.concatenate([half, -half])[:n]


def on_a_ray(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.outer(rng.uniform(0.1, 1.0, n), gaussian(rng, 1, d)[0])


def on_corners(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.choice([-1.0, 1.0], (n, d)) / np.sqrt(d)


def with_zeros(rng: np.random.Generator, n: int, d: int) -> Array:
    """Set some inputs and some coordinates to 0; occasionally all."""
    return gaussian(rng, n, d) * (rng.random((n, 1)) < 0.7) * (rng.random((1, d)) < 0.8)


def of_all_sizes(rng: np.random.Generator, n: int, d: int) -> Array:
    return gaussian(rng, n, d) * 10.0 ** rng.uniform(-4.0, 4.0, (n, 1))


INPUTS: tuple[Callable[[np.random.Generator, int, int], Array], ...] = (
    gaussian,
    gaussian,
    repeated,
    nearly_repeated,
    in_pairs,
    on_a_ray,
    on_corners,
    with_zeros,
    of_all_sizes,
)


def labels(rng: np.random.Generator, x: Array, classes: int) -> Array:
    """Return labels of a linear rule, or random ones; each class occurs."""
    n = len(x)
    if classes == 2 and rng.random() < 0.5:
        y = np.where(x @ rng.standard_normal(x.shape[1]) > 0.0, 1.0, -1.0)
        y[0] = -y[1:].sum() or y[0] if abs(y[1:].sum()) == n - 1 else y[0]
        return np.sign(y)
    y = rng.permutation(np.arange(n) % classes).astype(np.float64)
    return 2.0 * y - 1.0 if classes == 2 else y


def write_data(folder: Path, chance: random.Random, many: bool) -> dict[str, Any]:
    """Write an NPZ with examples, half of the time with test points; return the section."""
    rng = np.random.default_rng(chance.getrandbits(32))
    classes = chance.randint(3, 5) if many else 2
    n, d = count(classes, 16, 80)(chance), count(1, 6, 40)(chance)
    x = chance.choice(INPUTS)(rng, n, d)
    if chance.random() < 0.3:
        most = EXTREME if chance.random() < 0.15 else SCALES
        x = x * 10.0 ** chance.uniform(-most, most)
    y = labels(rng, x, classes)
    arrays = {"x": x, "y": y}
    if chance.random() < 0.5:
        arrays |= {"x_test": x + 0.1 * np.abs(x).max() * gaussian(rng, n, d), "y_test": y}
    np.savez(folder / DATA, **arrays)
    return {"kind": "file", "path": DATA}


def write_mnist(folder: Path, chance: random.Random, many: bool) -> dict[str, Any]:
    """Write idx files of 4 x 3 pixels; return the data section."""
    rng = np.random.default_rng(chance.getrandbits(32))
    (folder / "mnist").mkdir(exist_ok=True)
    for part, size in (("train", 60), ("t10k", 20)):
        for name, array in (
            ("images-idx3", rng.integers(0, 256, (size, 4, 3))),
            ("labels-idx1", np.arange(size) % 10),
        ):
            head = struct.pack(f">I{array.ndim}I", 2048 + array.ndim, *array.shape)
            content = head + array.astype(np.uint8).tobytes()
            (folder / "mnist" / f"{part}-{name}-ubyte").write_bytes(content)
    return {"kind": "mnist", "path": "mnist"} | _chosen(chance, many)


def write_cifar(folder: Path, chance: random.Random, many: bool) -> dict[str, Any]:
    """Write a binary batch of noise; return the data section."""
    rng = np.random.default_rng(chance.getrandbits(32))
    (folder / "cifar").mkdir(exist_ok=True)
    pixels = rng.integers(0, 256, (60, 3073))
    pixels[:, 0] = np.arange(60) % 10
    (folder / "cifar" / "data_batch_1.bin").write_bytes(pixels.astype(np.uint8).tobytes())
    return {"kind": "cifar10", "path": "cifar"} | _chosen(chance, many)


def _chosen(chance: random.Random, many: bool) -> dict[str, Any]:
    classes = chance.sample(range(10), chance.randint(3, 4) if many else 2)
    return {
        "classes": classes,
        "n": chance.randint(len(classes), 6 * len(classes)),
        "scale": chance.choice(["unit_max", "centred", "pixels"]),
    }


WRITTEN: dict[str, Callable[[Path, random.Random, bool], dict[str, Any]]] = {
    "file": write_data,
    "mnist": write_mnist,
    "cifar10": write_cifar,
}
"""Data sections that read files."""

# ------------------------------------------------------------------------ starts and networks

TWO_LAYERS = '''
"""The two-layer ReLU network with any number of outputs, homogeneous of degree 2."""
import torch

degree = 2
homogeneous = ["V", "A"]
directions = "V"

def initial(generator, m, d, k):
    return {"V": generator.standard_normal((m, d)), "A": generator.standard_normal((m, k)) / m}

def outputs(parameters, x):
    f = torch.relu(x @ parameters["V"].T) @ parameters["A"]
    return f[:, 0] if f.shape[1] == 1 else f
'''
NOT_HOMOGENEOUS = '''
"""A tanh network with biases and any number of outputs: no normalised margins."""
import torch

def initial(generator, m, d, k):
    return {"W": generator.standard_normal((m, d)), "b": generator.standard_normal(m),
            "A": generator.standard_normal((m, k))}

def outputs(parameters, x):
    f = torch.tanh(x @ parameters["W"].T + parameters["b"]) @ parameters["A"]
    return f[:, 0] if f.shape[1] == 1 else f
'''


def write_code(folder: Path, chance: random.Random, many: bool) -> str:
    """Write a network's Python file; return its name."""
    code = chance.choice([TWO_LAYERS, NOT_HOMOGENEOUS, *([] if many else [OWN_NETWORK])])
    (folder / CODE).write_text(code)
    trust(code)
    return CODE


def write_start(folder: Path, tables: Tables, chance: random.Random) -> None:
    """Write parameters for `init = "file"`: scaled, some nodes 0, or nodes (nearly) equal.

    Raises InputError where the data cannot be drawn.
    """
    experiment = build_experiment(tables, "start")
    rng = np.random.default_rng(chance.getrandbits(32))
    seed = experiment.data.seed
    generator = np.random.default_rng(experiment.run.seed if seed is None else seed)
    dataset = draw(experiment.data, generator, folder)
    assert experiment.network.m is not None
    shape = Shape(experiment.network.m, dataset.x, 1 if dataset.classes == 2 else dataset.classes)
    arrays = initial_arrays(experiment.network, shape, rng)
    change = chance.choice(["scale", "each", "zero", "alike", "no output", "extreme"])
    extreme = chance.uniform(SMALLEST_START, LARGEST_START)
    for name, array in arrays.items():
        rows = (len(array), *[1] * (array.ndim - 1))
        if change == "scale":
            array *= 10.0 ** chance.uniform(-6.0, 3.0)
        elif change == "each":
            array *= 10.0 ** rng.uniform(-3.0, 2.0, rows)
        elif change == "zero":
            array *= rng.random(rows) < 0.7
        elif change == "alike":
            array[:] = array[:1]
        elif change == "extreme":
            array *= 10.0**extreme
        elif name in ("a", "A"):
            array[:] = 0.0
    np.savez(folder / START, **arrays)
