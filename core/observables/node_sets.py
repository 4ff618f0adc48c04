"""Named sets of neurons, and their text form: numbers and ranges of numbers, such as 3-5,9."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from core.numbers import whole_text

MOST_NODES = 100_000
MOST_DIGITS = 9


@final
@dataclass(frozen=True, slots=True)
class NodeSet:
    """Named set of a run's neurons, given by their indices from 0."""

    name: str
    nodes: frozenset[int]


def nodes_text(nodes: Iterable[int]) -> str:
    """Return neurons as text, in increasing order; consecutive neurons are written as a range.

    >>> nodes_text({9, 3, 5, 4})
    '3-5,9'
    """
    parts: list[list[int]] = []
    for node in sorted(nodes):
        if parts and node == parts[-1][1] + 1:
            parts[-1][1] = node
        else:
            parts.append([node, node])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def parse_nodes(text: str) -> frozenset[int]:
    """Parse a set of neurons such as 3-5,9. Raises ValueError that says what is allowed.

    >>> sorted(parse_nodes("9, 3-5"))
    [3, 4, 5, 9]
    """
    nodes: set[int] = set()
    for part in text.split(","):
        low, dash, high = (piece.strip() for piece in part.partition("-"))
        first = _parse_index(low)
        last = _parse_index(high) if dash else first
        if not first <= last:
            raise ValueError("a range of neurons starts with the smaller number, such as 3-5")
        if len(nodes) + last - first >= MOST_NODES:
            raise ValueError(f"choose at most {whole_text(MOST_NODES)} neurons")
        nodes.update(range(first, last + 1))
    return frozenset(nodes)


def _parse_index(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError("give whole neuron numbers from 0, such as 3-5,9")
    return int(text)
