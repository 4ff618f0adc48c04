"""What differs between two scenes, in the words of the menus: the names of what can be undone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import final

from app.state.edits import Edits
from app.state.intent import (
    MARGIN_AXES,
    MARGIN_UNITS,
    MOST_RINGS,
    NEURON_POINTS,
    NEURON_RANGES,
    Intent,
)
from app.state.scene import PASSING, Scene, Zoom
from app.state.views import VIEWS
from core.observables.planes import PLANES

LONGEST = 40  # letters of a value that was typed
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
    for item in fields(Intent):
        if item.name in PASSING or (item.name == "pinned" and before.runs != after.runs):
            continue  # nodes of runs that are closed are let go by themselves
        if getattr(before.intent, item.name) != getattr(after.intent, item.name):
            found.append(Difference(item.name, WORDS[item.name](before.intent, after.intent)))
    moved = {_place(zoom) for zoom in set(before.zooms) ^ set(after.zooms)}
    # Zooms into runs that are gone are gone by themselves.
    if moved and before.runs == after.runs:
        words = "Zoom" if set(after.zooms) - set(before.zooms) else "Whole range"
        titles = sorted({_title(view) for _, view in moved})
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


def _title(view: str) -> str:
    return VIEWS[view].title if view in VIEWS else view


def _runs(before: Scene, after: Scene) -> list[Difference]:
    if before.runs == after.runs:
        return []
    new = [path.stem for path in after.runs if path not in before.runs]
    words = f"Open {_short(new[0])}" if new else "Close runs"
    if len(new) > 1:
        words += f" and {len(new) - 1} more"
    return [Difference("runs", words)]


def _form(before: Edits | None, after: Edits | None) -> list[Difference]:
    if before == after or after is None:
        return []
    if before is None or before.base != after.base:
        return [Difference("study", f"Settings of {_short(after.base.title)}")]
    found = []
    for section, kind in _changed(before.kinds, after.kinds).items():
        found.append(Difference(f"form {section}", f"{section} = {kind}" if kind else section))
    for key, text in _changed(before.texts, after.texts).items():
        name = key.rpartition(".")[2]
        words = f"{name} as it was" if text is None else f"{name} = {_short(text) or 'nothing'}"
        found.append(Difference(f"form {key}", words))
    return found


def _changed(
    before: tuple[tuple[str, str], ...], after: tuple[tuple[str, str], ...]
) -> dict[str, str | None]:
    """The new value of each name whose value is another one; None where it has none any more."""
    old, new = dict(before), dict(after)
    names = dict.fromkeys((*new, *old))
    return {name: new.get(name) for name in names if old.get(name) != new.get(name)}


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026"


# ------------------------------------------------------------------------------------- wishes


def _pins(before: Intent, after: Intent) -> str:
    count = len(after.pinned - before.pinned)
    if count > MOST_RINGS:
        return f"Select {count} nodes"
    if count:
        return "Pin a node" if count == 1 else f"Pin {count} nodes"
    return "Unpin nodes" if after.pinned else "Unpin all nodes"


def _views(before: Intent, after: Intent) -> str:
    if not after.views:
        return "The study's views"
    old = before.views or before.proposed
    new = [name for name in after.views if name not in old]
    gone = [name for name in old if name not in after.views]
    if len(new) + len(gone) != 1:
        return "Views"
    return f"Show {_title(new[0]).lower()}" if new else f"Hide {_title(gone[0]).lower()}"


def _members(name: str, more: str, less: str, many: str) -> Callable[[Intent, Intent], str]:
    """Words about a wish that is a collection of names: one came, one went, or several."""

    def words(before: Intent, after: Intent) -> str:
        old, new = set(getattr(before, name)), set(getattr(after, name))
        came, went = sorted(new - old), sorted(old - new)
        if len(came) == 1 and len(went) <= 1:
            return more.format(_short(came[0]))
        return less.format(_short(went[0])) if len(went) == 1 and not came else many

    return words


def _switch(name: str, on: str, off: str) -> Callable[[Intent, Intent], str]:
    def words(before: Intent, after: Intent) -> str:
        return on if getattr(after, name) else off

    return words


def _plane(before: Intent, after: Intent) -> str:
    if after.plane is None:
        return "The study's plane"
    plane = after.plane
    kind = PLANES[plane.kind].title if plane.kind in PLANES else plane.kind
    if plane.kind == "coordinates":
        return f"Coordinates {plane.numbers[0] + 1} and {plane.numbers[1] + 1}"
    return kind


def _one(name: str, what: str, titles: Mapping[str, str]) -> Callable[[Intent, Intent], str]:
    def words(before: Intent, after: Intent) -> str:
        value = getattr(after, name)
        return f"{what} {titles.get(value, value)}".lstrip()

    return words


def _pace(before: Intent, after: Intent) -> str:
    return f"Pace {after.pace:g}\u00d7"


def _interval(before: Intent, after: Intent) -> str:
    return "Loop over an interval" if after.interval is not None else "No interval"


def _compared(before: Intent, after: Intent) -> str:
    if after.compared is None:
        return "Compare no runs"
    if before.compared is None or before.compared.runs != after.compared.runs:
        return f"Compare {len(after.compared.runs)} runs"
    return f"Compare by {after.compared.question.observable}"


# Each wish that does not pass has its words; a test compares the two lists.
WORDS: Mapping[str, Callable[[Intent, Intent], str]] = {
    "pace": _pace,
    "loop": _switch("loop", "Loop", "Do not loop"),
    "interval": _interval,
    "compared": _compared,
    "pinned": _pins,
    "plane": _plane,
    "neuron_range": _one("neuron_range", "Neurons:", NEURON_RANGES),
    "neuron_points": _one("shown_points", "Neurons:", NEURON_POINTS),
    "margin_axis": _one("margin_axis", "Curves against", MARGIN_AXES),
    "margin_unit": _one("margin_unit", "", MARGIN_UNITS),
    "views": _views,
    "curves": _members("shown_curves", "Curve of {}", "No curve of {}", "Curves"),
    "log_curves": _switch("log_curves", "Logarithmic curves", "Curves as suits them"),
    "palette": _one("palette", "Colours:", {}),
    "hidden_margins": _members("hidden_margins", "Hide line {}", "Show line {}", "Lines"),
    "shown_bounds": _members("shown_bounds", "Bound of {}", "No bound of {}", "Bounds"),
    "linked": _switch("linked", "Link axes of runs", "Unlink axes of runs"),
    "equal": _switch("equal", "Equal aspect", "Free aspect"),
}
