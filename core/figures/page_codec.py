"""Arrays in a page: deflated, in base64, their bytes in the order that deflates best.

First come the lowest bytes of all numbers, then the next ones: the upper bytes are alike in most
of them. Plain arrays make the page of Figure 1 1.4 times as large. A browser inflates them by
itself (`resources/page/decode.js`).
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
# zlib's 7 takes 1.6 times as long for pages that are 0.4 % smaller, and 9 takes 12 times as long
# as 7.
LEVEL = 6
BITS = 17  # of the 24 of float32, that are kept of numbers of nodes


def encoded(values: Array) -> dict[str, Any]:
    """An array as JSON: type, shape and text.

    >>> encoded(np.array([[1, 2], [1, 3]], dtype=np.uint16))["shape"]
    [2, 2]
    """
    plain = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    size = plain.dtype.itemsize
    planes = plain.reshape(-1).view(np.uint8).reshape(-1, size).T
    return {
        "type": f"{plain.dtype.kind}{size}",
        "shape": list(values.shape),
        "data": base64.b64encode(zlib.compress(planes.tobytes(), LEVEL)).decode("ascii"),
    }


def whole(values: ArrayLike) -> dict[str, Any]:
    """Encode whole numbers of at least 0 in as few bytes as the largest of them needs.

    >>> [whole([0, most])["type"] for most in (255, 256, 70_000)]
    ['u1', 'u2', 'u4']
    """
    plain = np.asarray(values, dtype=np.int64)
    return encoded(plain.astype(np.min_scalar_type(plain.max(initial=0))))


def numbers(values: ArrayLike) -> dict[str, Any]:
    """Numbers as float32, which axes and readings are far coarser than; as float64 where some are
    beyond it."""
    plain = np.asarray(values, dtype=np.float64)
    sizes = np.abs(plain[np.isfinite(plain) & (plain != 0.0)])
    limits = np.finfo(np.float32)
    fits = not sizes.size or (sizes.max() < limits.max and sizes.min() > limits.tiny)
    return encoded(plain.astype(np.float32) if fits else plain)


def trimmed(values: ArrayLike, exact: bool = False) -> dict[str, Any]:
    """Numbers as float32 of which BITS binary digits are kept, so that the lowest byte deflates to
    nothing: right to 8e-6 of themselves, which is four digits. `exact`: to the last bit, for axes
    that show a small part.
    """
    plain = np.asarray(values, dtype=np.float64).astype(np.float32)
    if not exact:
        mantissa, power = np.frexp(plain)
        plain = np.ldexp(np.round(mantissa * 2.0**BITS) / 2.0**BITS, power)
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
