"""Options of the window, declared once for links, layouts, settings, undo and actions.

An option is one field of `Intent` (app.state.intent), declared by `switch`, `choice` or `option`.
Their record is the field's metadata, and `VIEW_OPTIONS` there the table of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, final

from pydantic import AfterValidator, Field

from app.state.comparison import ComparedRuns
from app.state.views import VIEWS, known_views
from core.comparison.question import MOST_COMPARED, CompareQuestion
from core.numbers import whole_text
from core.observables.node_sets import MOST_NODES, nodes_text, parse_nodes
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.problem.schedule import coordinate, inverse_coordinate, parse_time

Texts = Sequence[str]

LONGEST = 40  # characters of a value in the name of an undo step
STUDY = "study"  # text of an option that the study decides
RECORD = "option"  # key of the option in a field's metadata


@final
@dataclass(frozen=True, slots=True)
class ValueKind:
    """Kind of value of an option.

    `parse` reads a value from the texts of links, layouts and sessions, and raises ValueError with
    what is allowed; `format` writes them. `undo_text` names a change, from the values shown before
    and after it. `stored`: the type of the value in the settings file.
    """

    parse: Callable[[Texts], Any]
    format: Callable[[Any], Texts]
    undo_text: Callable[[Any, Any], str]
    stored: Any = None


@final
@dataclass(frozen=True, slots=True)
class ViewOption:
    """Option of the window; name and default are those of its field.

    `text`: its name in links, layouts and sessions. `proposal`: the wish that is shown while the
    option has its default; `of_study`: what undo says of going back to it. `remembered`: a window
    opens with the value of the one before. `action`: the key of the action that toggles it, and
    that is checked while it is on.
    """

    kind: ValueKind
    name: str = ""
    default: Any = None
    text: str = ""
    proposal: str = ""
    of_study: str = ""
    remembered: bool = False
    in_link: bool = True
    in_layout: bool = False
    action: str = ""

    def get_shown(self, intent: object) -> Any:
        """Return the value that an intent shows: the chosen or the proposed one."""
        value = getattr(intent, self.name)
        return getattr(intent, self.proposal) if self.proposal and value == self.default else value

    def describe(self, before: object, after: object) -> str:
        """Return the name of the undo step for the change from one intent to another."""
        if self.of_study and getattr(after, self.name) == self.default:
            return self.of_study
        return self.kind.undo_text(self.get_shown(before), self.get_shown(after))


def option(default: object, kind: ValueKind, **arguments: Any) -> Any:
    """Declare an option; `arguments` are further parts of its record."""
    return field(default=default, metadata={RECORD: ViewOption(kind, **arguments)})


def switch(default: bool, on: str, off: str, **arguments: Any) -> Any:
    """Declare an option that is on or off, with the undo texts of both."""
    kind = ValueKind(
        lambda texts: parse_word(texts, ("yes", "no")) == "yes",
        lambda value: ("yes" if value else "no",),
        lambda before, after: on if after else off,
        bool,
    )
    return option(default, kind, **arguments)


def choice(default: str, titles: Mapping[str, str], subject: str = "", **arguments: Any) -> Any:
    """Declare an option with one of some values; `subject` precedes their titles in undo.

    An option with a `proposal` is "" while the study decides.
    """
    allowed = (*titles, STUDY) if "proposal" in arguments else tuple(titles)

    def parse(texts: Texts) -> str:
        word = parse_word(texts, allowed)
        return "" if word == STUDY else word

    kind = ValueKind(
        parse,
        lambda value: (value or STUDY,),
        lambda before, after: f"{subject} {titles.get(after, after)}".lstrip(),
        Annotated[str, AfterValidator(lambda value: parse((value or STUDY,)))],
    )
    return option(default, kind, **arguments)


def parse_only(texts: Texts) -> str:
    """Return the only text. Raises ValueError."""
    if len(texts) != 1:
        raise ValueError("expected one value")
    return texts[0]


def parse_word(texts: Texts, allowed: Sequence[str]) -> str:
    """Return the only text, which must be allowed. Raises ValueError."""
    text = parse_only(texts)
    if text not in allowed:
        raise ValueError(f"expected {' or '.join(allowed)}")
    return text


def shorten(text: str) -> str:
    """Return a text in one line of at most LONGEST characters."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026"


PACES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
# The number of colours for curves in a palette (app.views.curves); a seventh would repeat one.
MOST_CURVES = 6
# Up to so many pinned neurons are ringed. More are a selection: all other neurons are dimmed.
MOST_RINGS = 2
NONE = "none"
MOST_DIGITS = 9
RANGES_IN_TEXT = 200  # ranges of pinned neurons in a text

Mark = tuple[int, int]  # run (its key or its place) and index of a neuron
Interval = tuple[float, float]


def parse_whole(text: str) -> int:
    """Return a number of a neuron, run or coordinate. Raises ValueError."""
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError(
            "numbers of neurons, runs and coordinates must be whole numbers, 0 or larger"
        )
    return int(text)


# ---------------------------------------------------------------------------------- moments


def typed_time(log10_time: float) -> str:
    """Return a time with all digits, as read by `parse_time`.

    >>> typed_time(2.5), typed_time(-math.inf)
    ('10^2.5', '0')
    """
    return f"10^{log10_time!r}" if math.isfinite(log10_time) else "0"


def moment_text(moment: float) -> str:
    """Return a moment, -inf for the start, as a typed time."""
    return typed_time(float(inverse_coordinate(moment)) if moment != -math.inf else moment)


def moment_of(text: str) -> float:
    """Return the moment of a typed time. Raises ValueError for an invalid one."""
    log10_time = parse_time(text)
    if log10_time is None:
        raise ValueError("expected a time such as 10^2.5, 300 or 0")
    return float(coordinate(log10_time)) if math.isfinite(log10_time) else -math.inf


def _parse_interval(texts: Texts) -> Interval:
    if len(texts) != 2:
        raise ValueError("expected two times")
    first, last = map(moment_of, texts)
    if not first < last:
        raise ValueError("the first time must be before the second")
    return first, last


INTERVAL = ValueKind(
    _parse_interval,
    lambda interval: () if interval is None else tuple(map(moment_text, interval)),
    lambda before, after: "Clear interval" if after is None else "Loop over an interval",
)
PACE = ValueKind(
    lambda texts: float(parse_word(texts, [f"{pace:g}" for pace in PACES])),
    lambda pace: (f"{pace:g}",),
    lambda before, after: f"Speed {after:g}\u00d7",
    Annotated[float, Field(ge=0.01, le=100.0)],
)

# ------------------------------------------------------------------------- views and curves


def title_of(view: str) -> str:
    """Return the title of a view; its name if only another version has it."""
    return VIEWS[view].title if view in VIEWS else view


def _names(texts: Texts) -> tuple[str, ...]:
    return tuple(text for text in texts if text not in ("", NONE))


def _write_names(names: Collection[str]) -> Texts:
    return tuple(names if isinstance(names, tuple) else sorted(names)) or (NONE,)


def _parse_views(texts: Texts) -> tuple[str, ...]:
    """Return the known views of some names. Raises ValueError for other names."""
    names = _names(texts)
    if any(name not in VIEWS for name in names):
        raise ValueError(f"expected views among {', '.join(VIEWS)}")
    return known_views(names)


def _name_views(before: Collection[str], after: Collection[str]) -> str:
    new = [name for name in after if name not in before]
    removed = [name for name in before if name not in after]
    if not new and not removed:
        return "Reorder views"
    if len(new) + len(removed) != 1:
        return "Change views"
    return f"Show {title_of(new[0]).lower()}" if new else f"Hide {title_of(removed[0]).lower()}"


def _parse_curves(texts: Texts) -> tuple[str, ...] | None:
    """Return the names of curves; None for those of the study. Raises ValueError for too many."""
    if tuple(texts) == (STUDY,):
        return None
    curves = tuple(dict.fromkeys(_names(texts)))
    if len(curves) > MOST_CURVES:
        raise ValueError(f"at most {MOST_CURVES} curves are allowed")
    return curves


def make_set_kind(more: str, less: str, several: str) -> ValueKind:
    """Return the kind of a set of names, with undo texts for one added, one removed, or several."""

    def name(before: Collection[str], after: Collection[str]) -> str:
        added, removed = sorted(set(after) - set(before)), sorted(set(before) - set(after))
        if len(added) == 1 and len(removed) <= 1:
            return more.format(shorten(added[0]))
        return less.format(shorten(removed[0])) if len(removed) == 1 and not added else several

    return ValueKind(lambda texts: frozenset(_names(texts)), _write_names, name)


SOME_NAMES = Annotated[tuple[str, ...], Field(max_length=20)]
VIEW_NAMES = ValueKind(_parse_views, _write_names, _name_views, SOME_NAMES)
CURVES = ValueKind(
    _parse_curves,
    lambda curves: (STUDY,) if curves is None else _write_names(curves),
    make_set_kind("Show curve of {}", "Hide curve of {}", "Change curves").undo_text,
    SOME_NAMES | None,
)

# ------------------------------------------------------------------------------------ neurons


def _write_plane(plane: NodePlane | None) -> Texts:
    if plane is None:
        return ()
    numbers = ",".join(str(number) for number in plane.numbers)
    return (f"{plane.kind}:{numbers}" if numbers else plane.kind,)


def _parse_plane(texts: Texts) -> NodePlane:
    kind, _, numbers = parse_only(texts).partition(":")
    if kind not in PLANES:
        raise ValueError(f"expected {' or '.join(PLANES)}")
    values = tuple(parse_whole(text) for text in numbers.split(",")) if numbers else ()
    count = {COORDINATES.kind: 2, "nodes": 3}.get(kind, 0)
    if len(values) != count:
        raise ValueError(f"{kind} needs {count} numbers")
    return NodePlane(kind, values)


def _name_plane(before: NodePlane, after: NodePlane) -> str:
    if after.kind == COORDINATES.kind:
        return f"Coordinates {after.numbers[0] + 1} and {after.numbers[1] + 1}"
    return PLANES[after.kind].title if after.kind in PLANES else after.kind


def _write_pins(pinned: frozenset[Mark]) -> Texts:
    texts: list[str] = []
    for place in sorted({place for place, _ in pinned}):
        parts = nodes_text(node for pinned_row, node in pinned if pinned_row == place).split(",")
        starts = range(0, len(parts), RANGES_IN_TEXT)
        texts += [f"{place}:{','.join(parts[k : k + RANGES_IN_TEXT])}" for k in starts]
    return tuple(texts)


def _parse_pins(texts: Texts) -> frozenset[Mark]:
    marks: set[Mark] = set()
    for text in texts:
        place, _, nodes = text.partition(":")
        run = parse_whole(place)
        marks.update((run, node) for node in parse_nodes(nodes))
        if len(marks) > MOST_NODES:
            raise ValueError(f"at most {whole_text(MOST_NODES)} neurons can be pinned")
    return frozenset(marks)


def _name_pins(before: frozenset[Mark], after: frozenset[Mark]) -> str:
    count = len(after - before)
    if count > MOST_RINGS:
        return f"Select {count} neurons"
    if count:
        return "Pin a neuron" if count == 1 else f"Pin {count} neurons"
    return "Unpin neurons" if after else "Unpin all neurons"


PLANE = ValueKind(_parse_plane, _write_plane, _name_plane)
PINS = ValueKind(_parse_pins, _write_pins, _name_pins)

# ----------------------------------------------------------------------------- compared runs


def _parse_compared(texts: Texts) -> ComparedRuns:
    if not 2 <= len(texts) <= MOST_COMPARED or any("\0" in text or not text for text in texts):
        raise ValueError(f"expected 2 to {MOST_COMPARED} run files")
    return ComparedRuns(tuple(texts), CompareQuestion())


def _name_compared(before: ComparedRuns | None, after: ComparedRuns | None) -> str:
    if after is None:
        return "Close the comparison"
    if before is None or sorted(before.runs) != sorted(after.runs):
        return f"Compare {len(after.runs)} runs"
    if before.runs != after.runs:
        return "Move a compared run"
    if before.hidden != after.hidden:
        return "Hide a compared run" if before.hidden < after.hidden else "Show a compared run"
    return f"Compare by {', '.join(after.observables)}"


# The question has a text of its own (app.scenes.scene_texts).
COMPARED = ValueKind(
    _parse_compared, lambda compared: () if compared is None else compared.runs, _name_compared
)
