"""A flag that is set inside a `with` block."""

from __future__ import annotations

from typing import final


@final
class Flag:
    """Boolean that is true inside its `with` blocks, also nested ones.

    An exception in a block leaves the flag as it was before.

    >>> flag = Flag()
    >>> with flag:
    ...     bool(flag)
    True
    >>> bool(flag)
    False
    """

    __slots__ = ("_depth",)

    def __init__(self) -> None:
        self._depth = 0

    def __bool__(self) -> bool:
        return self._depth > 0

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
