"""What statements are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.theorems.statement import Statement


def paper_of(source: str) -> str:
    """The paper of a statement's source.

    >>> paper_of("telgarsky22, Section 2"), paper_of("frei23")
    ('telgarsky22', 'frei23')
    """
    return source.partition(",")[0].strip()


def key_of(statement: Statement) -> str:
    """A name that no other statement has: two papers may both have a Lemma 2.3."""
    return f"{paper_of(statement.source)} {statement.name}"
