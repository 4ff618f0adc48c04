"""What differs between two scenes, in the words of the menus: the names of what can be undone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import final

from app.state.edits import Edits
from app.state.intent import VIEW_OPTIONS
from app.state.scene import Scene, Zoom
from app.state.value_kinds import title_of
from app.state.view_options import shorten

PANELS = {
    "form": "experiment panel",
    "inspector": "inspector panel",
    "library": "library",
    "times": "theorem time line",
    "lecture": "lecture",
}


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """`subject` says what was changed, so that a change that goes on is known; `words` name it."""

    subject: str
    words: str


def differences(before: Scene, after: Scene) -> tuple[Difference, ...]:
    """All that differs, the weightiest first; without what passes (app.state.scene)."""
    found = [*_runs(before, after), *_form(before.form, after.form)]
    for option in VIEW_OPTIONS.values():
        if option.name == "pinned" and before.runs != after.runs:
            continue  # nodes of runs that are closed are let go by themselves
        if getattr(before.intent, option.name) != getattr(after.intent, option.name):
            found.append(Difference(option.name, option.describe(before.intent, after.intent)))
    moved = {_place(zoom) for zoom in set(before.zooms) ^ set(after.zooms)}
    # Zooms into runs that are gone are gone by themselves.
    if moved and before.runs == after.runs:
        words = "Zoom" if set(after.zooms) - set(before.zooms) else "Whole range"
        titles = sorted({title_of(view) for _, view in moved})
        found.append(Difference(f"zoom {sorted(moved)}", f"{words} of {', '.join(titles).lower()}"))
    for panel in sorted(before.panels ^ after.panels):
        verb = "Show" if panel in after.panels else "Hide"
        found.append(Difference(f"panel {panel}", f"{verb} {PANELS.get(panel, panel)}"))
    return tuple(found)


def named(found: Collection[Difference]) -> str:
    """One name for differences that came together: that of the first.

    >>> named([Difference("palette", "Dark"), Difference("views", "Show spectrum")])
    'Dark and 1 more'
    """
    first = next(iter(found)).words
    return first if len(found) == 1 else f"{first} and {len(found) - 1} more"


def _place(zoom: Zoom) -> tuple[int, str]:
    return zoom.place, zoom.view


def _runs(before: Scene, after: Scene) -> list[Difference]:
    if before.runs == after.runs:
        return []
    new = [path.stem for path in after.runs if path not in before.runs]
    words = f"Open {shorten(new[0])}" if new else "Close runs"
    if len(new) > 1:
        words += f" and {len(new) - 1} more"
    return [Difference("runs", words)]


def _form(before: Edits | None, after: Edits | None) -> list[Difference]:
    if before == after or after is None:
        return []
    if before is None or before.base != after.base:
        return [Difference("study", f"Settings of {shorten(after.base.title)}")]
    found = []
    for section, kind in _changed(before.kinds, after.kinds).items():
        found.append(Difference(f"form {section}", f"{section} = {kind}" if kind else section))
    for key, text in _changed(before.texts, after.texts).items():
        name = key.rpartition(".")[2]
        words = f"{name} as it was" if text is None else f"{name} = {shorten(text) or 'nothing'}"
        found.append(Difference(f"form {key}", words))
    return found


def _changed(
    before: tuple[tuple[str, str], ...], after: tuple[tuple[str, str], ...]
) -> dict[str, str | None]:
    """The new value of each name whose value is another one; None where it has none any more."""
    old, new = dict(before), dict(after)
    names = dict.fromkeys((*new, *old))
    return {name: new.get(name) for name in names if old.get(name) != new.get(name)}
