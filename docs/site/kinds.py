"""Pages of the sections of study files: every kind with its keys, defaults and meanings."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from core.settings import Section
from core.study_file.experiment import KINDS, PLAIN_SECTIONS
from docs.site.markup import code, page, plain, table

CALLED = {"network": "Networks", "data": "Data", "loss": "Losses", "dynamics": "Dynamics"}
KINDS_ARE = """\
Every kind of the section `[{section}]` of a study file, with its keys; a dash stands for no
default. `python -m core describe {section}` prints the same, and the form of the window has it as
tips."""
PLAIN_ARE = """\
Sections of a study file that have one kind only. `python -m core describe {names}` prints the
same."""


def title_of(section: str) -> str:
    """Return the title of a section's page."""
    return CALLED.get(section, section.capitalize())


def kinds_of(section: str) -> str:
    """Return the page of all kinds of a section."""
    kinds = KINDS[section]
    rows = [(f"[{code(name)}](#{name})", plain(one.title)) for name, one in kinds.items()]
    return page(
        f"# {title_of(section)}",
        KINDS_ARE.format(section=section),
        table(("kind", "what it is"), rows),
        *(_kind(name, one) for name, one in kinds.items()),
    )


def settings() -> str:
    """Return the page of the sections without kinds."""
    names = "|".join(PLAIN_SECTIONS)
    parts = [
        page(f"## {name}", _told(one), _keys(one)).rstrip() for name, one in PLAIN_SECTIONS.items()
    ]
    return page("# Recording and run", PLAIN_ARE.format(names=names), *parts)


def _kind(name: str, section: type[Section]) -> str:
    return page(f"## {name}", _told(section), _keys(section)).rstrip()


def _told(section: type[Section]) -> str:
    source = f" Source: {plain(section.source)}." if section.source else ""
    return f"{plain(section.title[:1].upper() + section.title[1:])}.{source}"


def _keys(section: type[Section]) -> str:
    rows = list(_rows(section))
    return table(("key", "meaning", "default", "allowed"), rows) if rows else ""


def _rows(section: type[Section]) -> Iterator[tuple[str, str, str, str]]:
    for key, field in section.model_fields.items():
        if key == "kind":
            continue
        extra: dict[str, Any] = dict(field.json_schema_extra or {})  # type: ignore[arg-type]
        unit = f" \\[{plain(extra['unit'])}\\]" if extra.get("unit") else ""
        source = f" ({plain(extra['source'])})" if extra.get("source") else ""
        meaning = plain(field.description or "") + unit + source
        yield code(key), meaning, default_text(field.get_default()), allowed(field)


def default_text(value: Any) -> str:
    """Return a default as a study file has it, or a dash for none.

    >>> default_text("paper"), default_text(None), default_text(())
    ('`"paper"`', '-', '`[]`')
    """
    if value is None:
        return "-"
    if isinstance(value, tuple):
        return code(str(list(value)))
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(f'"{value}"' if isinstance(value, str) else f"{value}")


def allowed(field: Any) -> str:
    """Return the names or the range that a field allows, if it is limited to them."""
    names = [name for name in _names(field.annotation) if isinstance(name, str)]
    if names:
        return ", ".join(code(f'"{name}"') for name in names)
    signs = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
    limits = [
        f"{sign} {_number(getattr(limit, name))}"
        for limit in field.metadata
        for name, sign in signs.items()
        if getattr(limit, name, None) is not None
    ]
    return code(", ".join(limits)) if limits else ""


def _number(value: float) -> str:
    """Return a limit, without an exponent if it is a whole number."""
    return str(value) if isinstance(value, int) and abs(value) < 10**9 else f"{value:.4g}"


def _names(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) is typing.Literal:
        yield from typing.get_args(annotation)
    for part in typing.get_args(annotation):
        if not isinstance(part, str):
            yield from _names(part)
