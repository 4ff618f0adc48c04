"""Definitions of what is shown, by name; loaded with the first of them, never with the window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from app.panels.help_card import Explanation
from app.widgets.screen_text import raised
from app.widgets.symbols import rich
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


def tip_of(name: str) -> str:
    """An explanation as the rich text of a tooltip; empty for unknown names."""
    one = explanation_of(name)
    if one is None:
        return ""
    lines = [f"<b>{rich(one.title)}</b>", rich(one.formula)]
    named = (("Normalisation", one.normalisation), ("Unit", one.unit), ("Source", one.source))
    lines += [f"{what}: {rich(text)}" for what, text in named if text]
    return "".join(f"<p>{line}</p>" for line in lines if line)
