"""Options of the window: what links, layouts, settings, undo and actions know of each.

An option is one field of `Intent` (app.state.intent), declared by `switch`, `choice` or `option`.
Their record is the field's metadata, and `VIEW_OPTIONS` there the table of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, final

from pydantic import AfterValidator

Texts = Sequence[str]

LONGEST = 40  # letters of a value that undo names
STUDY = "study"  # the text of an option that is left to the study
RECORD = "option"  # the key of the record in the metadata of a field


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
        """Return what undo says of the change from one intent to another."""
        if self.of_study and getattr(after, self.name) == self.default:
            return self.of_study
        return self.kind.undo_text(self.get_shown(before), self.get_shown(after))


def option(default: object, kind: ValueKind, **more: Any) -> Any:
    """Declare an option; `more` are other parts of its record."""
    return field(default=default, metadata={RECORD: ViewOption(kind, **more)})


def switch(default: bool, on: str, off: str, **more: Any) -> Any:
    """Declare an option that is on or off, with what undo says of either."""
    kind = ValueKind(
        lambda texts: parse_word(texts, ("yes", "no")) == "yes",
        lambda value: ("yes" if value else "no",),
        lambda before, after: on if after else off,
        bool,
    )
    return option(default, kind, **more)


def choice(default: str, titles: Mapping[str, str], subject: str = "", **more: Any) -> Any:
    """Declare an option with one of some values; `subject` precedes their titles in undo.

    An option with a `proposal` is "" while the study decides.
    """
    allowed = (*titles, STUDY) if "proposal" in more else tuple(titles)

    def parse(texts: Texts) -> str:
        word = parse_word(texts, allowed)
        return "" if word == STUDY else word

    kind = ValueKind(
        parse,
        lambda value: (value or STUDY,),
        lambda before, after: f"{subject} {titles.get(after, after)}".lstrip(),
        Annotated[str, AfterValidator(lambda value: parse((value or STUDY,)))],
    )
    return option(default, kind, **more)


def parse_only(texts: Texts) -> str:
    """Return the only text. Raises ValueError."""
    if len(texts) != 1:
        raise ValueError("give it once")
    return texts[0]


def parse_word(texts: Texts, allowed: Sequence[str]) -> str:
    """Return the only text, which must be allowed. Raises ValueError."""
    text = parse_only(texts)
    if text not in allowed:
        raise ValueError(f"it is {' or '.join(allowed)}")
    return text


def shorten(text: str) -> str:
    """Return a text in one line, of at most LONGEST letters."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026"
