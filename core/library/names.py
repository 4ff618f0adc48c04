"""What names stand for in a condition on runs: settings, results, margins, and what is beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache

from core.errors import InputError, did_you_mean
from core.library.entry import GROWING, RESULTS, Entry
from core.study_file.experiment import KINDS, PLAIN_SECTIONS

Value = float | str | tuple[str, ...] | None  # None, like NaN: this run has none
Reader = Callable[[Entry], Value]
UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "true": 1.0, "false": 0.0}
DATE = "date"
TAGS = ("tag", "tags")


def _time(entry: Entry) -> float:
    return _power(entry.facts.results.get("log10_time", math.nan))


def _time_to_90(entry: Entry) -> float:
    log10_time = entry.log10_time_to_90
    # That it has not come to it says nothing of a time: longer runs may.
    return math.nan if log10_time == math.inf else _power(log10_time)


def _power(log10_time: float) -> float:
    return 10.0**log10_time if log10_time < 308.0 or math.isnan(log10_time) else math.inf


def _verdicts(entry: Entry) -> float:
    return math.nan if entry.verdicts is None else float(sum(entry.verdicts.values()))


def _setting(key: str) -> Reader:
    def read(entry: Entry) -> Value:
        value = entry.facts.settings.get(key)
        return float(value) if isinstance(value, bool | int) else value

    return read


def _among(table: str, name: str) -> Reader:
    def read(entry: Entry) -> Value:
        values: Mapping[str, float] = getattr(entry.facts, table)
        return values.get(name)

    return read


def _unit(value: float) -> Reader:
    return lambda _: value


OTHERS: dict[str, Reader] = {
    "size": lambda entry: float(entry.size),
    "frames": lambda entry: float(entry.facts.frames),
    "share": lambda entry: entry.share,
    "t": _time,
    "time_to_90": _time_to_90,
    DATE: lambda entry: entry.date or None,
    "study": lambda entry: entry.facts.title,
    "source": lambda entry: entry.facts.source,
    "state": lambda entry: entry.state,
    "name": lambda entry: entry.about.name or entry.heading,
    "note": lambda entry: entry.about.note,
    "file": lambda entry: entry.path.name,
    "trashed": lambda entry: float(entry.trashed),
    "growing": lambda entry: float(entry.state == GROWING),
    "continued": lambda entry: float(bool(entry.facts.parent)),
    "parent": lambda entry: entry.facts.parent or None,
    "branched": lambda entry: float(bool(entry.facts.changes)),
    "branched_at": lambda entry: _power(entry.facts.left) if entry.facts.changes else math.nan,
    "changes": lambda entry: entry.facts.changes or None,
    "verdicts": _verdicts,
    "violated": lambda entry: entry.violated,
    "holds": lambda entry: entry.holds,
} | dict.fromkeys(TAGS, lambda entry: entry.about.tags)
# Where many sections have a key of this name.
PREFERRED = {"seed": "run.seed"} | {name: f"{name}.kind" for name in KINDS}


@cache
def settings() -> dict[str, tuple[str, ...]]:
    """The dotted keys that settings can have, by their last parts."""
    keys: dict[str, dict[str, None]] = {}
    for section, kinds in KINDS.items():
        for one in kinds.values():
            for name in one.model_fields:
                keys.setdefault(name, {})[f"{section}.{name}"] = None
    for section, plain in PLAIN_SECTIONS.items():
        for name in plain.model_fields:
            keys.setdefault(name, {})[f"{section}.{name}"] = None
    return {name: tuple(some) for name, some in keys.items()}


@cache
def readers() -> dict[str, Reader]:
    """Every name and what it reads; names of settings with and without their section."""
    from core.reference.registry import REFERENCES

    found: dict[str, Reader] = {}
    for name, keys in settings().items():
        found |= {key: _setting(key) for key in keys}
        if len(keys) == 1:
            found[name] = _setting(keys[0])
    found |= {name: _setting(key) for name, key in PREFERRED.items()}
    found |= {name: _among("margins", name) for name in REFERENCES}
    found |= {name: _among("results", name) for name in (*RESULTS, "norm", "log10_time")}
    return found | OTHERS | {name: _unit(value) for name, value in UNITS.items()}


def reader(name: str, text: str) -> Reader:
    """What a name stands for. Raises InputError for one that is not known, or is several."""
    known = readers()
    if name in known:
        return known[name]
    if len(several := settings().get(name, ())) > 1:
        keys = " or ".join(sorted(several))
        raise InputError(f"{text}: {name} may be {keys}; write one of them.")
    if any(name in kinds for kinds in KINDS.values()):
        raise InputError(f'{text}: {name} is the name of a kind; write it in quotes, "{name}".')
    # Short names first: there are hundreds of dotted ones, too many for a sentence.
    try_these = known if "." in name else [one for one in known if "." not in one]
    hint = did_you_mean(name, try_these) if len(name) > 2 else ""
    if not hint.startswith("did"):
        hint = 'words of text stand in quotes, as in tag == "talk".'
    raise InputError(f"{text}: {name} is no setting, result or margin; {hint}")
