"""A Study: a base experiment, axes to vary, its title and source. A single run has no axes.

Read from and written to TOML (the tables are those of Experiment, plus title, source and axes).
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_origin

import tomli_w

from core.errors import InputError, did_you_mean
from core.experiment import KINDS, Experiment
from core.settings import Section
from core.validation import SECTIONS, build_experiment, check_keys, section_class

TOP_KEYS = ("title", "source", "note", *SECTIONS, "axes", "sizes")
SIZES = ("quick", "paper")
MAX_CELLS = 100_000
MAX_STUDY_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One experiment of a study: `name` is `network.m=16` or empty where there are no axes."""

    name: str
    experiment: Experiment


@dataclass(frozen=True)
class Study:
    """A base experiment as plain tables, varied along axes (dotted key -> values)."""

    id: str
    title: str
    source: str
    tables: Mapping[str, Mapping[str, Any]]
    axes: Mapping[str, tuple[Any, ...]]
    sizes: Mapping[str, Mapping[str, Any]]
    folder: Path | None = None
    note: str = ""

    def cells(self) -> tuple[Cell, ...]:
        """Every experiment of the grid, the last axis fastest.

        Raises InputError when a value of the grid is not allowed.
        """
        cells = []
        for values in itertools.product(*self.axes.values()):
            tables = {section: dict(table) for section, table in self.tables.items()}
            names = []
            for key, value in zip(self.axes, values, strict=True):
                section, name = key.split(".", 1)
                tables.setdefault(section, {})[name] = value
                names.append(f"{key}={value_text(value)}")
            cells.append(Cell("__".join(names), build_experiment(tables, self.id)))
        return tuple(cells)

    def with_settings(self, settings: Sequence[str]) -> Study:
        """The study with `key=value` settings applied; a setting of an axis replaces the axis."""
        study = self
        parsed = [parse_setting(setting) for setting in settings]
        kinds_first = sorted(parsed, key=lambda pair: not pair[0].endswith(".kind"))
        for key, value in kinds_first:
            study = study.with_value(key, value)
        study.cells()
        return study

    def with_value(self, key: str, value: Any) -> Study:
        """The study with one dotted key set; a list for a key that takes one value is an axis."""
        section, name = split_key(key)
        tables = {name_: dict(table) for name_, table in self.tables.items()}
        table = tables.setdefault(section, {})
        axes = dict(self.axes)
        if name == "kind" and section in KINDS:
            lost = _change_kind(table, section, value)
            kept = section_class(section, table).model_fields.keys() - lost
            axes = {k: v for k, v in axes.items() if not _dropped(k, section, kept)}
        check_keys({name: value}, section_class(section, table), section, "--set")
        if isinstance(value, list) and not _is_one_value(
            value, section_class(section, table), name
        ):
            axes[key] = _axis(key, value, "--set")
            table.pop(name, None)
        else:
            axes.pop(key, None)
            table[name] = value
        return replace(self, tables=tables, axes=axes)

    def at_size(self, size: str | None) -> Study:
        """The study at its `quick` or `paper` size; a study without sizes has only the one."""
        if size is None or size not in self.sizes:
            return self
        study = self
        for key, value in self.sizes[size].items():
            study = study.with_value(key, value)
        return study

    def to_toml(self) -> str:
        """The study as TOML, which `parse_study` reads back to an equal study."""
        document: dict[str, Any] = {"title": self.title, "source": self.source}
        if self.note:
            document["note"] = self.note
        for section, table in self.tables.items():
            plain = {key: _plain(value) for key, value in table.items() if value is not None}
            if plain:
                document[section] = plain
        if self.axes:
            document["axes"] = {key: list(values) for key, values in self.axes.items()}
        if self.sizes:
            document["sizes"] = {name: dict(table) for name, table in self.sizes.items()}
        return tomli_w.dumps(document)


def _is_one_value(value: list[Any], cls: type[Section], name: str) -> bool:
    """Whether a list is one value of a key that takes lists; a list of lists is an axis of it."""
    annotation = cls.model_fields[name].annotation
    takes_lists = any(get_origin(part) is tuple for part in (annotation, *get_args(annotation)))
    return takes_lists and not (value and all(isinstance(item, list) for item in value))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _change_kind(table: dict[str, Any], section: str, kind: Any) -> set[str]:
    """Set a kind; keys that the new kind does not have, or has to itself, were the old one's.

    Returns those that the new kind has to itself.
    """
    before, table["kind"] = table.get("kind"), kind
    cls = section_class(section, table)
    lost = set() if before == kind else set(cls.own)
    for key in [key for key in table if key not in cls.model_fields or key in lost]:
        del table[key]
    return lost


def _dropped(axis: str, section: str, kept: Set[str]) -> bool:
    part, name = axis.split(".", 1)
    return part == section and name not in kept


def value_text(value: Any) -> str:
    """A value as it stands in file names: no separators of paths or cells.

    >>> value_text(16), value_text(0.25), value_text("a/b"), value_text([3, 8])
    ('16', '0.25', 'a-b', '3+8')
    """
    if isinstance(value, list | tuple):
        return "+".join(map(value_text, value))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(char if char.isalnum() or char in ".+-_" else "-" for char in text)


def split_key(key: str) -> tuple[str, str]:
    """`section.name` of a dotted key; InputError when there is no such section."""
    section, _, name = key.partition(".")
    if section not in SECTIONS or not name:
        hint = did_you_mean(section, SECTIONS)
        raise InputError(f"{key}: a key reads section.name, such as network.m; {hint}")
    return section, name


def parse_setting(text: str) -> tuple[str, Any]:
    """`key=value` with a TOML value; a bare word is a string.

    >>> parse_setting("network.m=[16, 64]"), parse_setting("dynamics.kind=gd")
    (('network.m', [16, 64]), ('dynamics.kind', 'gd'))
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InputError(f"--set {text}: write key=value, such as --set network.m=16.")
    try:
        return key.strip(), tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def parse_study(text: str, identifier: str, folder: Path | None = None) -> Study:
    """A Study from the text of a study file; `folder` is what paths inside are relative to.

    Raises InputError for text that is not TOML, for unknown keys and kinds, and for wrong values.
    """
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{identifier} is not a TOML file: {error}.") from error
    for key in document:
        if key not in TOP_KEYS:
            raise InputError(f"{identifier}: {key} does not exist; {did_you_mean(key, TOP_KEYS)}")
    words = {key: document.get(key, "") for key in ("title", "source", "note")}
    for key, value in words.items():
        if not isinstance(value, str):
            raise InputError(f"{identifier}: {key} must be text in quotes.")
    tables = {section: document[section] for section in SECTIONS if section in document}
    axes = _axes(document.get("axes", {}), identifier)
    sizes = _sizes(document.get("sizes", {}), identifier)
    for key, values in axes.items():  # a base without its axis values need not be complete
        section, name = key.split(".", 1)
        if isinstance(tables.get(section, {}), dict):
            tables[section] = {**tables.get(section, {}), name: values[0]}
    build_experiment(tables, identifier)
    study = Study(
        id=identifier, tables=tables, axes=axes, sizes=sizes, folder=folder,
        title=words["title"] or identifier, source=words["source"], note=words["note"],
    )  # fmt: skip
    study.cells()
    return study


def _axes(table: Any, where: str) -> dict[str, tuple[Any, ...]]:
    if not isinstance(table, dict):
        raise InputError(f'{where}: axes must be a table, such as "network.m" = [16, 256].')
    axes = {}
    for key, values in table.items():
        if isinstance(values, dict):
            raise InputError(f'{where}: write the axis {key} in quotes: "{key}.name" = [...].')
        try:
            split_key(key)
        except InputError as error:
            raise InputError(f"{where}: axes: {error}") from error
        axes[key] = _axis(key, values, where)
    cells = 1
    for values in axes.values():
        cells *= len(values)
    if cells > MAX_CELLS:
        raise InputError(f"{where}: the axes span {cells} cells; at most {MAX_CELLS} are allowed.")
    return axes


def _axis(key: str, values: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(values, list) or not values:
        raise InputError(f"{where}: the axis {key} must be a list of at least one value.")
    texts = [value_text(value) for value in values]
    repeated = sorted({text for text in texts if texts.count(text) > 1})
    if repeated:
        raise InputError(f"{where}: the axis {key} has the value {repeated[0]} twice.")
    return tuple(values)


def _sizes(table: Any, where: str) -> dict[str, dict[str, Any]]:
    if not isinstance(table, dict):
        raise InputError(f"{where}: sizes must hold the tables sizes.quick and sizes.paper.")
    for size, settings in table.items():
        if size not in SIZES:
            raise InputError(f"{where}: sizes.{size} does not exist; {did_you_mean(size, SIZES)}")
        if not isinstance(settings, dict):
            raise InputError(f'{where}: sizes.{size} must be a table of "section.key" = value.')
        for key in settings:
            split_key(key)
    return table


def shipped_ids() -> tuple[str, ...]:
    """The ids of the studies that come with the program, sorted."""
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in _shipped()))


def _shipped() -> Iterable[Any]:
    folder = resources.files("resources").joinpath("studies")
    return [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]


def load_study(name: str) -> Study:
    """A shipped study by its id, or a study file by its path.

    Raises InputError when there is neither, or when the study is not valid.
    """
    for entry in _shipped():
        if entry.name == f"{name}.toml":
            return parse_study(entry.read_text(encoding="utf-8"), name)
    path = Path(name)
    if path.suffix != ".toml" and not path.is_file():
        hint = did_you_mean(name, shipped_ids())
        raise InputError(
            f"There is no study {name}; {hint} `list` shows them all; a file ends in .toml."
        )
    try:
        if path.stat().st_size > MAX_STUDY_BYTES:
            raise InputError(f"{name} is larger than 1 MB; it is not a study file.")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"There is no study file {name}; check the path.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The study file {name} cannot be read: {error}.") from error
    return parse_study(text, path.stem, path.resolve().parent)
