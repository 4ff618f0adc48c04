"""A scene as bytes, from one process of this program to another: an uncompressed NPZ of its arrays,
and of its texts and numbers as JSON.

In the JSON a list is a tuple, {"array": k} the archive's k-th array, {"marker": NAME} a marker, and
{"is": NAME, ...} one of PARTS with its fields. Nothing in it is run.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from core.errors import InputError
from core.figures import primitives
from core.figures.palette import Palette
from core.figures.primitives import FigureScene, Marker

PARTS: dict[str, type[Any]] = {
    name: part
    for name, part in (*vars(primitives).items(), ("Palette", Palette))
    if isinstance(part, type) and is_dataclass(part)
}
TREE = "scene"
# What NumPy, its zip and the parts raise for content that is not of `archive_of`.
UNREADABLE = (
    *(ValueError, TypeError, KeyError, AttributeError, OSError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


def archive_of(scene: FigureScene) -> bytes:
    """The bytes; numbers are the same when they are read, also those not finite."""
    arrays: list[np.ndarray[Any, Any]] = []
    tree = json.dumps(_plain(scene, arrays)).encode()
    file = io.BytesIO()
    named = {str(number): array for number, array in enumerate(arrays)}
    np.savez(file, allow_pickle=False, **{TREE: np.frombuffer(tree, np.uint8)}, **named)
    return file.getvalue()


def scene_in(content: bytes) -> FigureScene:
    """The scene of `archive_of`. Raises InputError for anything else."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            made = _made(json.loads(archive[TREE].tobytes()), archive)
    except UNREADABLE as error:
        raise InputError(f"A scene is not as this program writes it ({error}).") from error
    if not isinstance(made, FigureScene):
        raise InputError("A scene is not as this program writes it (it is none).")
    return made


def _plain(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, Marker):
        return {"marker": value.name}
    if isinstance(value, tuple | list):
        return [_plain(one, arrays) for one in value]
    if type(value).__name__ in PARTS:
        parts = {one.name: _plain(getattr(value, one.name), arrays) for one in fields(value)}
        return {"is": type(value).__name__, **parts}
    # Numbers of NumPy are written as Python has them.
    return value.item() if isinstance(value, np.generic) else value


def _made(value: Any, archive: Any) -> Any:
    if isinstance(value, list):
        return tuple(_made(one, archive) for one in value)
    if not isinstance(value, dict):
        return value
    if "is" in value:
        kind = PARTS[value.pop("is")]
        return kind(**{name: _made(one, archive) for name, one in value.items()})
    return Marker[value["marker"]] if "marker" in value else archive[str(value["array"])]
