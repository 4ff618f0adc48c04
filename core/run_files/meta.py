"""Description of a run, as rows of the table `meta`: key -> JSON text."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, final

import numpy as np

from core.program.version import __version__

START = ("rho", "step", "log10_time", "continues")  # fields of a Description in one row of `meta`


def dump_json(value: object) -> str:
    """Return a value as JSON text; numbers that are not finite become null.

    >>> dump_json({"a": float("nan"), "b": (1, 2.5)})
    '{"a": null, "b": [1, 2.5]}'
    """
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: object) -> object:
    """Convert NumPy numbers and tuples to JSON types; non-finite numbers become None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def printable(text: str) -> str:
    r"""Return text without control characters, which would steer the reader's terminal.

    >>> printable("a\x1b[2Jb")
    'a [2Jb'
    """
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)


@final
@dataclass(frozen=True, slots=True)
class Description:
    """Description of a run before its first frame, each part as the reader of meta wants it.

    `layout` lists the trained arrays, (name, shape), in their order in a frame; `sizes` are n, d, m
    and k; `experiment` the sections of a study file; `state` the version of the stored states, 0
    for none. `recorded` is true if another program took the steps; `optimizer` are then the
    settings of its optimizer, and `loop` the factors of the loop's outputs and of its loss.
    """

    engine: str
    dtype: str
    layout: tuple[tuple[str, tuple[int, ...]], ...]
    network: str
    sizes: Mapping[str, int]
    experiment: Mapping[str, Any]
    planned: int
    title: str = ""
    source: str = ""
    temperature_cap: float | None = None
    rho: float = 0.0
    step: int = 0
    log10_time: float = float("-inf")
    continues: Mapping[str, object] | None = None
    state: int = 0
    recorded: bool = False
    optimizer: Mapping[str, object] | None = None
    loop: Mapping[str, float] | None = None

    @property
    def size(self) -> int:
        """Number of parameters of a frame."""
        return sum(int(np.prod(shape)) for _, shape in self.layout)

    def rows(self) -> dict[str, str]:
        """Return the rows of `meta` at the start of a recording."""
        own: dict[str, object] = {one.name: getattr(self, one.name) for one in fields(self)}
        start = {name: own.pop(name) for name in START}
        for name in ("optimizer", "loop"):
            if own[name] is None:
                del own[name]
        values = {
            "program": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **own,
            "start": start,
            "status": "recording",
            "reason": None,
            "counts": None,
            "name": secrets.token_hex(8),
            "wal": None,
        }
        return {key: dump_json(value) for key, value in values.items()}
