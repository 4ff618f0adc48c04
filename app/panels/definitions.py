"""Definitions of what is shown, by name; loaded with the first of them, never with the window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from app.panels.help_card import Explanation
from app.widgets.screen_text import raised
from core.errors import InputError


@cache
def explanation_of(name: str) -> Explanation | None:
    """What an observable, a reference margin or a view's quantity is; None for unknown names."""
    from core.observables.help import explain

    try:
        found = explain(name)
    except InputError:
        return None
    return Explanation(
        found.title,
        found.tex,
        raised(found.formula),
        found.source,
        raised(found.normalisation),
        found.unit,
    )


def explanations_of(names: Sequence[str]) -> tuple[Explanation, ...]:
    """Those that are known, in order."""
    found = (explanation_of(name) for name in names)
    return tuple(one for one in found if one is not None)
