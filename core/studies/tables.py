"""Plain tables of a study file: keys, settings, axes, sizes, variants; and cells of the grid.

Values that are not allowed raise InputError, a sentence.
"""

from __future__ import annotations

import math
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, final, get_args, get_origin

import tomli_w
from pydantic import Field, ValidationInfo, field_validator

from core.errors import InputError, did_you_mean
from core.numbers import NARROW_SPACE
from core.settings import Section
from core.studies.formulas import FACTOR, FORMULA, VARIANT
from core.study_file.experiment import Experiment
from core.study_file.validation import SECTIONS, Table, reason, section_class

# --------------------------------------------- settings: lists that are axes, and kinds that change


@contextmanager
def as_typed() -> Iterator[None]:
    """Attribute errors in settings to the command line's option `--set`."""
    try:
        yield
    except InputError as error:
        raise InputError(error.text, option="--set", clauses=error.clauses) from error


def is_one_value(value: list[Any], cls: type[Section], name: str) -> bool:
    """Return True if a list is one value of its key, and no axis.

    Parameters
    ----------
    value, cls, name : list, type of Section, str
        List of a study file, the section's class, and the key in it.

    Returns
    -------
    bool
        False if the list nests deeper than the values of its key: it is an axis of them.
    """
    annotation = cls.model_fields[name].annotation
    return depth_of(value) <= max(map(_depth_in, (annotation, *get_args(annotation))))


def depth_of(value: Any) -> int:
    """Return how deep lists are nested.

    >>> depth_of(1), depth_of([1, 2]), depth_of([[1, 2], [3]]), depth_of([[1], 2])
    (0, 1, 2, 1)
    """
    if not isinstance(value, list | tuple):
        return 0
    return 1 + (min(map(depth_of, value)) if value else 0)


def _depth_in(annotation: Any) -> int:
    """Return how deep lists are nested in the values of a type."""
    if get_origin(annotation) is not tuple:
        return 0
    return 1 + max(map(_depth_in, get_args(annotation)))


def change_kind(tables: dict[str, dict[str, Any]], section: str, kind: Any) -> set[str]:
    """Set the kind of a section, and drop keys that belonged to the old kind.

    Other sections get kinds that go with the new one where theirs do not: data of real targets, or
    of many classes, need a loss of theirs.

    Parameters
    ----------
    tables : dict of sections
        Updated in place.
    section : str
        "data", "network", "loss" or "dynamics".
    kind : any
        New kind.

    Returns
    -------
    set of str
        Keys that the new kind has to itself; empty for the same kind as before.
    """
    table = tables.setdefault(section, {})
    before, table["kind"] = table.get("kind"), kind
    cls = section_class(section, table)
    dropped_keys = set() if before == kind else set(cls.own)
    for key in [key for key in table if key not in cls.model_fields or key in dropped_keys]:
        del table[key]
    for other_section, usual in cls.others.items():
        if not cls.is_compatible_with(section_class(other_section, tables.get(other_section, {}))):
            change_kind(tables, other_section, usual)
    return dropped_keys


def kinds_first(key: str) -> bool:
    """Sort key that places kinds before the keys that depend on them."""
    return not key.endswith(".kind")


def is_dropped(axis: str, section: str, names: Set[str]) -> bool:
    """Return True if a section's kind does not have the key of an axis.

    Parameters
    ----------
    axis, section : str
        Dotted key, and the section whose kind changed.
    names : set of str
        Keys that the new kind has.

    Returns
    -------
    bool
        False for an axis of another section.
    """
    part, name = axis.split(".", 1)
    return part == section and name not in names


# ------------------------------------------------------------------------------------------- tables

Size = Literal["quick", "paper"]
SIZES: tuple[Size, ...] = get_args(Size)
MAX_CELLS = 100_000
MAX_SETTING = 200_000


@final
class StudyFile(Table):
    """Tables of a study file: those of the experiment, and those of the study."""

    title: str = ""
    source: str = ""
    note: str = ""
    data: dict[str, Any] = Field({}, description="must be a table [data] with keys")
    network: dict[str, Any] = Field({}, description="must be a table [network] with keys")
    loss: dict[str, Any] = Field({}, description="must be a table [loss] with keys")
    dynamics: dict[str, Any] = Field({}, description="must be a table [dynamics] with keys")
    recording: dict[str, Any] = Field({}, description="must be a table [recording] with keys")
    run: dict[str, Any] = Field({}, description="must be a table [run] with keys")
    axes: dict[str, Any] = Field({}, description='must be a table, such as "network.m" = [16, 256]')
    sizes: dict[str, Any] = Field(
        {}, description="must hold the tables sizes.quick and sizes.paper"
    )
    derived: dict[str, str] = Field(
        {}, description='must hold formulas, such as "network.m" = "2 * d^2"'
    )
    variants: dict[str, dict[str, Any]] = Field(
        {}, description='must hold tables [variants.NAME] of "section.key"'
    )
    figure: Any = Field(default_factory=dict)
    window: Any = Field(default_factory=dict)
    claims: Any = Field(default_factory=list)
    sweep: Any = Field(default_factory=dict)
    hunt: Any = Field(default_factory=dict)

    @field_validator("title", "source", "note")
    @classmethod
    def _printable(cls, text: str, info: ValidationInfo) -> str:
        # Titles and sources are stored in run files too, which allow no narrow spaces.
        allowed = f"\n\t{NARROW_SPACE}" if info.field_name == "note" else "\n\t"
        if any(not char.isprintable() and char not in allowed for char in text):
            raise ValueError(f"{info.field_name} holds a character that cannot be printed")
        return text

    def given_tables(self, names: Iterable[str]) -> dict[str, Any]:
        """Return those of the tables that the file has."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


def flatten_sections(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return sections as dotted key -> value."""
    return {f"{s}.{name}": value for s, table in tables.items() for name, value in table.items()}


def value_text(value: Any) -> str:
    """Return a value as in file names: without separators of paths or cells.

    >>> value_text(16), value_text(0.25), value_text("a/b"), value_text([3, 8])
    ('16', '0.25', 'a-b', '3+8')
    >>> value_text([[0.5, 1], [0.25, -1]])  # rows by how many there are, and by a checksum
    '2-rows-635f7566'
    """
    if depth_of(value) > 1:
        return f"{len(value)}-rows-{zlib.crc32(_exact(value).encode()):08x}"
    if isinstance(value, list | tuple):
        return "+".join(map(value_text, value))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(char if char.isalnum() or char in ".+-_" else "-" for char in text)


def _exact(value: Any) -> str:
    """Return a value to its last digit, the same for 1 and 1.0."""
    if isinstance(value, list | tuple):
        return f"[{' '.join(map(_exact, value))}]"
    is_exact = isinstance(value, int) and abs(value) < 2**53
    return repr(float(value) if is_exact else value)


def split_key(key: str) -> tuple[str, str]:
    """Split a dotted key into section and name. Raises InputError for an unknown section."""
    section, _, name = key.partition(".")
    if section not in (*SECTIONS, FACTOR) or not name:
        hint = did_you_mean(section, SECTIONS)
        raise InputError(f"{key}: a key reads section.name, such as network.m; {hint}")
    return section, name


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse `key=value` with a TOML value; a bare word is a string.

    >>> parse_setting("network.m=[16, 64]"), parse_setting("dynamics.kind=gd")
    (('network.m', [16, 64]), ('dynamics.kind', 'gd'))
    """
    key, equals, value = text.partition("=")
    if len(text) > MAX_SETTING and not key.strip() == "network.code":
        raise InputError(f"--set {key[:60]}: more than {MAX_SETTING} characters; use a study file.")
    if not equals or not key.strip() or not value.strip():
        raise InputError(f"--set {text}: write key=value, such as --set network.m=16.")
    try:
        return key.strip(), tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"--set {key.strip()[:60]}: {reason(error)}.") from error


def setting_text(key: str, value: Any) -> str:
    """Return `key=value` as `parse_setting` reads it back, to the last digit.

    >>> setting_text("dynamics.step", 0.1), setting_text("data.classes", (3, 8))
    ('dynamics.step=0.1', 'data.classes=[3, 8]')
    """
    value = list(value) if isinstance(value, tuple) else value
    text = tomli_w.dumps({"value": value}).partition("=")[2]
    return f"{key}={' '.join(text.split()).replace('[ ', '[').replace(', ]', ']')}"


def axes(table: Mapping[str, Any], where: str) -> dict[str, tuple[Any, ...]]:
    """Return the axes of a study by key. Raises InputError for anything but lists of values."""
    checked = {}
    for key, values in table.items():
        if isinstance(values, dict):
            raise InputError(f'{where}: write the axis {key} in quotes: "{key}.name" = [...].')
        try:
            split_key(key)
        except InputError as error:
            raise InputError(f"axes: {error.text}", where=where) from error
        checked[key] = axis(key, values, where)
    cells = math.prod(map(len, checked.values()))
    if cells > MAX_CELLS:
        raise InputError(
            f"{where}: the axes span {cells} cells; at most {MAX_CELLS} are "
            "allowed, so leave some values out."
        )
    return checked


def axis(key: str, values: Any, where: str) -> tuple[Any, ...]:
    """Return the values of an axis.

    Parameters
    ----------
    key : str
        Dotted key, for messages.
    values : list
        At least one value, each once as a text in file names.
    where : str
        Study file, for messages.

    Returns
    -------
    tuple

    Raises
    ------
    InputError
        No list, an empty or a too long one, or a value that occurs twice.
    """
    if not isinstance(values, list) or not values:
        raise InputError(f"the axis {key} must be a list of at least one value.", where=where)
    if len(values) > MAX_CELLS:
        raise InputError(
            f"the axis {key} has {len(values)} values; at most {MAX_CELLS} are allowed.",
            where=where,
        )
    # Compare by text, since it names the run file: values of equal text would share a file.
    repeated = sorted(t for t, count in Counter(map(value_text, values)).items() if count > 1)
    if repeated:
        raise InputError(f"the axis {key} has the value {repeated[0]} twice.", where=where)
    return tuple(values)


def sizes(table: Mapping[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """Return the settings of the sizes. Raises InputError for unknown sizes and sections."""
    for size, settings in table.items():
        if size not in SIZES:
            raise InputError(f"{where}: sizes.{size} does not exist; {did_you_mean(size, SIZES)}")
        if not isinstance(settings, dict):
            raise InputError(f'{where}: sizes.{size} must be a table of "section.key" = value.')
        for key in settings:
            if key != VARIANT:
                split_key(key)
    return dict(table)


def check_derived(formulas: Mapping[str, str], where: str) -> None:
    """Raise InputError for formulas of factors, which only axes set."""
    for key in formulas:
        if split_key(key)[0] == FACTOR:
            raise InputError(f"{where}: derived: {key} is a factor, which only axes may set.")


def check_variants(variants: Mapping[str, Mapping[str, Any]], where: str) -> None:
    """Raise InputError for variants with unknown sections, or formulas without quotes."""
    for settings in variants.values():
        for key, value in settings.items():
            split_key(key.removeprefix(FORMULA))
            if key.startswith(FORMULA) and not isinstance(value, str):
                raise InputError(f"{where}: variants: {key} must be a formula in quotes.")


def set_in_variants(
    tables: Mapping[str, Mapping[str, Any]],
    variants: Mapping[str, Mapping[str, Any]],
    key: str,
    value: Any,
) -> dict[str, Mapping[str, Any]]:
    """Set a key in those variants whose own kind of its section has it.

    Parameters
    ----------
    tables : mapping of sections
        Tables of the study itself.
    variants : mapping of str to settings
        Variants by name, with dotted keys.
    key : str
        Dotted key.
    value : any
        Its value.

    Returns
    -------
    dict
        All variants; empty if the study itself has the key, or no variant has.
    """
    section, name = split_key(key)

    def has(table: Mapping[str, Any]) -> bool:
        return name in section_class(section, table).model_fields

    table = tables.get(section, {})
    if has(table):
        return {}
    kinds = {v: settings.get(f"{section}.kind") for v, settings in variants.items()}
    having = {v for v, kind in kinds.items() if kind is not None and has({**table, "kind": kind})}
    return {
        v: {**settings, key: value} if v in having else settings
        for v, settings in variants.items()
        if having
    }


# -------------------------------------------------------------------------------------------- cells

Place = Mapping[str, Any]  # values of a study's axes by key


@dataclass(frozen=True, slots=True)
class Cell:
    """Experiment of a study. `name` is such as `network.m=16`, or empty without axes.

    `values` are those of the axes, factors among them, and `variant`.
    """

    name: str
    experiment: Experiment
    values: Mapping[str, Any] = field(default_factory=dict)


def name_of(place: Place) -> str:
    """Return the name of the cell at a place.

    >>> name_of({"network.m": 16, "run.seed": 0})
    'network.m=16__run.seed=0'
    """
    return "__".join(f"{key}={value_text(value)}" for key, value in place.items())
