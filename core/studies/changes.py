"""Changes of a study, named in its title: a changed study is no longer the paper's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

from core.studies.study import Study, load_study, shipped_ids
from core.studies.summaries import shipped_summaries
from core.study_file.experiment import KINDS
from core.study_file.words import label_of, setting_words

AFTER = " \u00b7 after "  # separates the changes of a study from its title
MODIFIED = "Modified from "  # prefix of the title in files of older versions
OLD_WORD = re.compile(r"\bnode(s?)\b")
MOST_NAMED = 6  # changes named in a title
MOST_CELLS = 100
OF_RECORDING = ("recording.", "run.device")


@cache
def _load_shipped(identifier: str) -> Study:
    return load_study(identifier)


def origin_of(study: Study) -> Study:
    """Return the shipped study that this one is a form of; itself for a user's own study."""
    shipped = study.folder is None and study.id in shipped_ids()
    return _load_shipped(study.id) if shipped else study


def changes_between(origin: Study, study: Study) -> dict[str, Any]:
    """Return what differs between two studies: settings, axes, factors, formulas and variants.

    By dotted key: a value, a tuple for an axis, a text beginning with = for a formula, None for
    what was removed. Keys that a changed kind does not have are left out.
    """
    before, after = _settings(origin), _settings(study)
    changes: dict[str, Any] = {}
    for key in dict.fromkeys((*after, *before)):
        if before.get(key) == after.get(key):
            continue
        section = key.partition(".")[0]
        kind = f"{section}.kind"
        if key not in after and before.get(kind) != after.get(kind):
            continue
        changes[key] = after.get(key)
    return changes


def _settings(study: Study) -> dict[str, Any]:
    """Return all settings of a study by dotted key; kinds come first in each section."""
    settings: dict[str, Any] = {}
    for section, table in study.tables.items():
        for name in sorted(table, key=lambda name: name != "kind"):
            value = table[name]
            if value is not None:
                settings[f"{section}.{name}"] = _tuples_to_lists(value)
    settings |= {key: tuple(values) for key, values in study.axes.items()}
    settings |= {key: f"= {formula}" for key, formula in study.derived.items()}
    if study.variants:
        settings["variant"] = tuple(study.variants)
    return settings


def _tuples_to_lists(value: Any) -> Any:
    """Return lists and tuples, also nested ones, as lists."""
    return list(map(_tuples_to_lists, value)) if isinstance(value, list | tuple) else value


@cache
def _values_in_runs(identifier: str) -> Mapping[str, list[Any]]:
    """Return the values that each setting has in the runs of a shipped study, at all its sizes."""
    study, by_key = _load_shipped(identifier), dict[str, list[Any]]()
    for sized in (study, *map(study.at_size, study.sizes)):
        for cell in islice(sized.iter_cells(), MOST_CELLS):
            for section, table in cell.experiment.model_dump(mode="python").items():
                for name, value in table.items():
                    by_key.setdefault(f"{section}.{name}", []).append(_tuples_to_lists(value))
    return by_key


def _changes_of_shipped(origin: Study, study: Study) -> tuple[Study, dict[str, Any]] | None:
    """Return the shipped study that a recorded run was modified from, and what differs from it.

    Settings of how a run is recorded count only where they differ from the run's.
    """
    is_run = origin.folder is None and not (origin.axes or origin.derived or origin.variants)
    ids = (one.id for one in shipped_summaries() if is_derived_title(origin.title, one.title))
    identifier = next(ids, None) if is_run and is_modified(origin.title) else None
    if identifier is None:
        return None
    before, changes = _values_in_runs(identifier), changes_between(origin, study)
    settings = dict[str, Any]()
    for key, value in _settings(study).items():
        if key.startswith(OF_RECORDING) and key not in changes:
            continue
        values = [*before.get(key, ()), _default_of(study, key)]
        if any(one not in values for one in (value if isinstance(value, tuple) else (value,))):
            settings[key] = value
    return _load_shipped(identifier), settings


def _default_of(study: Study, key: str) -> Any:
    """Return the default of a setting of the study's kind, None without one."""
    section, _, name = key.partition(".")
    table = study.tables.get(section, {})
    kind = KINDS.get(section, {}).get(str(table.get("kind")))
    field = None if kind is None else kind.model_fields.get(name)
    return None if field is None or name == "kind" else _tuples_to_lists(field.default)


def words_of(changes: Mapping[str, Any]) -> str:
    """Return changes as people read them.

    >>> words_of({"network.kind": "head", "network.m": (16, 64), "loss.l2": None})
    'network with normalised head, m = 16 and 64, default \u03bb'
    >>> words_of({"data.kind": "points", "data.points": [[0.5, 1], [0.25, -1]]})
    '2 drawn points'
    """
    words = []
    for key, value in changes.items():
        if key == "data.kind" and changes.get("data.points") is not None:
            continue
        if value is None:
            words.append(f"default {label_of(key)}")
        elif isinstance(value, str) and value.startswith("="):
            words.append(f"{label_of(key)} {value}")
        else:
            words.append(setting_words(key, value))
    n_unnamed = len(words) - MOST_NAMED
    return ", ".join(words[:MOST_NAMED]) + (f" and {n_unnamed} more" if n_unnamed > 0 else "")


def retitle(study: Study, origin: Study) -> Study:
    """Return the study with a title that names the changes of its origin, if any.

    A recorded run that was modified is compared with its shipped study. If that is not known, what
    the title of the run says stays, but for what was changed again.
    """
    changes = changes_between(origin, study)
    if not changes:
        return replace(study, title=origin.title)
    if (shipped_changes := _changes_of_shipped(origin, study)) is not None:
        shipped, changes = shipped_changes
        words = f"{words_of(changes)}{AFTER}{shipped.title}"
        return replace(study, title=words if changes else shipped.title)
    before, title = _parts_of(origin.title)
    before, settings = f", {before}, ", _settings(origin)
    for key in changes:
        before = before.replace(f", {words_of({key: settings.get(key)})}, ", ", ")
    words = ", ".join(filter(None, (before.strip(", "), words_of(changes))))
    return replace(study, title=f"{words}{AFTER}{title}")


def _parts_of(title: str) -> tuple[str, str]:
    """Return the changes that a title names, and the title of the study that was changed."""
    if title.startswith(MODIFIED):
        head, _, words = title.removeprefix(MODIFIED).rpartition(": ")
        return words, head
    words, _, head = title.partition(AFTER)
    return (words, head) if head else ("", title)


def is_modified(title: str) -> bool:
    """Return True if a title is that of a changed study.

    >>> is_modified("m = 16 \u00b7 after Figure 1"), is_modified("Figure 1")
    (True, False)
    """
    return AFTER in title or title.startswith(MODIFIED)


def is_derived_title(title: str, origin: str) -> bool:
    """Return True if a title is that of a study, changed or not.

    >>> titles = ("m = 16 \u00b7 after Figure 1", "Figure 1")
    >>> tuple(is_derived_title(one, "Figure 1") for one in titles)
    (True, True)
    >>> is_derived_title("when small nodes align", "when small neurons align")
    True
    """
    title = present_title(title)
    prefix = f"{MODIFIED}{origin}: "
    return title == origin or title.endswith(f"{AFTER}{origin}") or title.startswith(prefix)


def present_title(title: str) -> str:
    """Return a title as this version writes it; files of older versions say node for neuron.

    >>> present_title("how many nodes the maximum margin needs")
    'how many neurons the maximum margin needs'
    """
    return OLD_WORD.sub(r"neuron\1", title)
