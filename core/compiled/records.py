"""Numbers that kernels and Python change and read by name, in shared memory."""

from __future__ import annotations

from functools import cache
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 8  # bytes per field
_KINDS = {"float": np.dtype(np.float64), "int": np.dtype(np.int64)}


def record(kind: type) -> tuple[Any, NDArray[np.float64]]:
    """Return zeros with the fields, float or int, that a class and its bases annotate.

    numba knows the record by its fields.

    Parameters
    ----------
    kind : type
        Class with annotations, in the order of the fields.

    Returns
    -------
    Any
        Record.
    array (fields,)
        Same memory, one word for each field.
    """
    layout = _layout(kind)
    words = np.zeros(layout.itemsize // WORD)
    record_: Any = words.view(layout)[0]
    record_.words = words
    return record_, words


@cache
def _layout(kind: type) -> np.dtype[Any]:
    parts = [vars(part).get("__annotations__", {}) for part in kind.__mro__]
    fields = [(name, _KINDS[own]) for part in parts for name, own in part.items()]
    # np.record looks up names in Python, and describes its fields again for each kernel that uses
    # `data`, which makes a step of a small network a quarter slower.
    members: dict[str, Any] = {
        "__getattribute__": np.void.__getattribute__,
        "__setattr__": np.void.__setattr__,
        "data": property(attrgetter("words")),
    }
    for place, (name, own) in enumerate(fields):
        members[name] = property(
            methodcaller("getfield", own, WORD * place), _setter(own, WORD * place)
        )
    return np.dtype((type(kind.__name__, (np.record,), members), np.dtype(fields, align=True)))


def _setter(own: np.dtype[Any], offset: int) -> Any:
    def put(self: np.void, value: float) -> None:
        self.setfield(value, own, offset)

    return put
