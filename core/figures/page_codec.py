"""Arrays in a page: differences from frame to frame, bytes of one weight together, deflated.

Numbers that change little from one frame to the next have equal upper bytes, which deflate to
next to nothing. Base64 is what a page can hold. `resources/page/decode.js` reads them back.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
# By the size of an item: what differences are taken of, which wrap around.
WHOLE = {1: "<u1", 2: "<u2", 4: "<u4"}
CODES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "f4": "<f4", "f8": "<f8"}
# zlib's 7 takes 1.6 times as long for pages that are 0.4 % smaller, and 9 takes 12 times as long
# as 7.
LEVEL = 6
BITS = 16  # of the 23 of float32, that are kept of numbers of nodes


def encoded(values: Array) -> dict[str, Any]:
    """An array as JSON: type, shape and text. Differences are taken along the first of two axes or
    more.

    >>> encoded(np.array([[1, 2], [1, 3]], dtype=np.uint16))["shape"]
    [2, 2]
    """
    kind = f"{values.dtype.kind}{values.dtype.itemsize}"
    size = values.dtype.itemsize
    plain = np.ascontiguousarray(values, dtype=CODES[kind])
    if plain.ndim > 1 and size in WHOLE:
        whole = plain.view(WHOLE[size])
        plain = whole.copy()
        plain[1:] -= whole[:-1]
    rows = np.frombuffer(plain.tobytes(), dtype=np.uint8).reshape(-1, size)
    packed = zlib.compress(np.ascontiguousarray(rows.T).tobytes(), LEVEL)
    return {
        "type": kind,
        "shape": list(values.shape),
        "data": base64.b64encode(packed).decode("ascii"),
    }


def whole(values: ArrayLike) -> dict[str, Any]:
    """Encode whole numbers of at least 0 in as few bytes as the largest of them needs.

    >>> [whole([0, most])["type"] for most in (255, 256, 70_000)]
    ['u1', 'u2', 'u4']
    """
    plain = np.asarray(values, dtype=np.int64)
    return encoded(plain.astype(np.min_scalar_type(plain.max(initial=0))))


def decoded(item: dict[str, Any]) -> Array:
    """What `encoded` made, as a page reads it.

    >>> decoded(encoded(np.array([[1.5, -2.0], [0.25, 8.0]], dtype=np.float32))).tolist()
    [[1.5, -2.0], [0.25, 8.0]]
    """
    kind, shape = CODES[item["type"]], tuple(item["shape"])
    size = np.dtype(kind).itemsize
    packed = zlib.decompress(base64.b64decode(item["data"]))
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(size, -1)
    content = np.ascontiguousarray(rows.T).tobytes()
    if len(shape) > 1 and size in WHOLE:
        steps = np.frombuffer(content, dtype=WHOLE[size]).reshape(shape)
        content = np.cumsum(steps, axis=0, dtype=WHOLE[size]).tobytes()
    return np.frombuffer(content, dtype=kind).reshape(shape)


def numbers(values: ArrayLike) -> dict[str, Any]:
    """Numbers as float32, which axes and readings are far coarser than; as float64 where some are
    beyond it."""
    plain = np.asarray(values, dtype=np.float64)
    sizes = np.abs(plain[np.isfinite(plain) & (plain != 0.0)])
    limits = np.finfo(np.float32)
    fits = not sizes.size or (sizes.max() < limits.max and sizes.min() > limits.tiny)
    return encoded(plain.astype(np.float32) if fits else plain)


def trimmed(values: ArrayLike, exact: bool = False) -> dict[str, Any]:
    """Numbers as float32 of which BITS binary digits are kept, so that the lowest byte and a bit
    deflate to nothing: right to 8e-6 of themselves, which is four digits. `exact`: to the last
    bit, for axes that show a small part.

    >>> decoded(trimmed([1.0, 0.7071067811865476, np.nan])).tolist()
    [1.0, 0.7071075439453125, nan]
    """
    plain = np.asarray(values, dtype=np.float64).astype(np.float32)
    if not exact:
        dropped = 23 - BITS
        whole = plain.view(np.uint32)
        rounded = (whole + np.uint32(1 << (dropped - 1))) & np.uint32(~((1 << dropped) - 1) % 2**32)
        plain = np.where(np.isfinite(plain), rounded, whole).view(np.float32)
    return encoded(plain)


def places(points: Array, exact: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Places (F, m, 2) as shares of the largest coordinate of their frame, and these.

    So they are right on axes that reach as far as the nodes of any moment, however far they are
    apart, and where they are beyond float32.
    """
    with np.errstate(invalid="ignore"):
        reach = np.abs(np.nan_to_num(points)).max(axis=(1, 2), initial=0.0)
    reach[reach == 0.0] = 1.0
    return trimmed(points / reach[:, None, None], exact), encoded(reach)
