"""Columns of the library's table: what each shows of a run, and what it is sorted by."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import final

from app.widgets.screen_text import shown_number
from core.library.entry import Entry, Setting, setting_text
from core.numbers import raise_powers, size_text, time_text
from core.study_file.words import setting_words

Key = float | str
DASH = "\u2013"


@final
@dataclass(frozen=True, slots=True)
class LibraryColumn:
    """`key` returns the sort key, NaN or "" without a value; `text` the shown text."""

    name: str
    title: str
    tip: str
    key: Callable[[Entry], Key]
    text: Callable[[Entry], str]
    number: bool = False


def name_of(entry: Entry) -> str:
    """Return a run's name: the user's, what differs, or the file's."""
    return entry.about.name or raise_powers(entry.heading) or entry.path.stem


def lineage_text(entry: Entry) -> str:
    """Return from where a run continues, with the changes of a branch in words."""
    facts = entry.facts
    if not facts.changes:
        return raise_powers(facts.lineage)
    parts = [one.partition(" = ") for one in facts.changes.split(", ")]
    words = ", ".join(setting_words(key, value) for key, _, value in parts)
    return raise_powers(f"{facts.lineage.removesuffix(facts.changes)}{words}")


def date_text(entry: Entry) -> str:
    """Return when the recording started, by the user's clock."""
    try:
        moment = datetime.fromisoformat(entry.date)
    except ValueError:
        return DASH
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def verdict_text(entry: Entry) -> str:
    """Return how many statements hold, and how many are violated."""
    if entry.verdicts is None:
        return DASH
    return f"{entry.holds:.0f} hold" + (
        f", {entry.n_violated:.0f} violated" if entry.n_violated else ""
    )


def _verdicts(entry: Entry) -> float:
    # Violated statements first: readers look for those.
    return 1e3 * entry.n_violated + entry.holds


def _result(name: str, title: str, tip: str) -> LibraryColumn:
    def value(entry: Entry) -> float:
        return entry.facts.results.get(name, math.nan)

    return LibraryColumn(name, title, tip, value, lambda one: shown_number(value(one), 4), True)


def _margin(name: str, title: str, tip: str) -> LibraryColumn:
    def value(entry: Entry) -> float:
        return entry.facts.margins.get(name, math.nan)

    return LibraryColumn(name, title, tip, value, lambda one: shown_number(value(one), 4), True)


def _setting(key: str, title: str, number: bool = True) -> LibraryColumn:
    def value(entry: Entry) -> Setting | None:
        return entry.facts.settings.get(key)

    def sorted_by(entry: Entry) -> Key:
        setting = value(entry)
        if setting is None:
            return math.nan if number else ""
        return setting if isinstance(setting, str) else float(setting)

    def text(entry: Entry) -> str:
        setting = value(entry)
        return DASH if setting is None else setting_text(setting)

    return LibraryColumn(key, title, f"Setting {key}", sorted_by, text, number)


def _share(entry: Entry) -> str:
    return DASH if math.isnan(entry.share) else f"{100.0 * entry.share:.1f} %"


def _time_to_90(entry: Entry) -> str:
    if math.isinf(entry.log10_time_to_90):
        return "not reached"
    if math.isnan(entry.log10_time_to_90):
        return DASH
    return raise_powers(time_text(entry.log10_time_to_90).removeprefix("t = "))


PICTURE = LibraryColumn(
    "picture",
    "",
    "Hard margin over the frames; starts at 0 or at the smallest margin",
    lambda _: "",
    lambda _: "",
)
COLUMNS: tuple[LibraryColumn, ...] = (
    PICTURE,
    LibraryColumn(
        "name",
        "Run",
        "Name you gave the run, or the settings in which it differs",
        name_of,
        name_of,
    ),
    LibraryColumn(
        "study",
        "Study",
        "Study of the run",
        lambda one: one.facts.title,
        lambda one: one.facts.title or DASH,
    ),
    _result("hard_margin", "margin", "hard_margin at the last frame: min_i p_i / |W|^L"),
    LibraryColumn(
        "share",
        "share of \u03b3/2",
        "share: hard margin as a share of \u03b3/2, if the global margin was computed",
        lambda one: one.share,
        _share,
        True,
    ),
    LibraryColumn(
        "time_to_90",
        "time to 90 %",
        "time_to_90: time at which the hard margin first reached 90 % of \u03b3_gl/2, if "
        "\u03b3_gl was computed",
        lambda one: one.log10_time_to_90,
        _time_to_90,
        True,
    ),
    LibraryColumn(
        "verdicts",
        "Verdicts",
        "Theorems that hold and that are violated, checked when the run was last open",
        _verdicts,
        verdict_text,
    ),
    LibraryColumn("date", "Date", "Start of the recording", lambda one: one.date, date_text),
    LibraryColumn(
        "size",
        "Size",
        "Size on disk",
        lambda one: float(one.size),
        lambda one: size_text(one.size),
        True,
    ),
    LibraryColumn(
        "tags",
        "Tags",
        "Your tags",
        lambda one: ", ".join(one.about.tags),
        lambda one: ", ".join(one.about.tags),
    ),
    LibraryColumn(
        "note",
        "Note",
        "Your note",
        lambda one: one.about.note,
        lambda one: one.about.note.partition("\n")[0],
    ),
    LibraryColumn(
        "state",
        "State",
        "End of the run: complete, stopped, diverged, ...",
        lambda one: one.state,
        lambda one: one.state,
    ),
    _setting("network.m", "m"),
    _setting("data.n", "n"),
    _setting("data.d", "d"),
    _setting("run.seed", "seed"),
    _setting("network.kind", "network", False),
    _setting("data.kind", "data", False),
    _setting("loss.kind", "loss", False),
    _setting("dynamics.kind", "dynamics", False),
    _setting("dynamics.step", "step"),
    _result("log10_time", "log\u2081\u2080 t", "log\u2081\u2080 of the time of the last frame"),
    _result("log10_risk", "log\u2081\u2080 R", "log\u2081\u2080 of the risk at the last frame"),
    _result("smoothed_margin", "smoothed", "smoothed_margin at the last frame"),
    _result("l1_margin", "\u2113\u2081 margin", "l1_margin at the last frame"),
    _result("norm", "|W|", "norm of the homogeneous parameters at the last frame"),
    _result("train_error", "training error", "train_error at the last frame"),
    _margin("gamma_gl", "global margin", "Global margin, if computed"),
    _margin("gamma_ntk", "tangent margin", "Tangent margin, if computed"),
    LibraryColumn(
        "frames",
        "Frames",
        "Number of frames",
        lambda one: float(one.facts.frames),
        lambda one: str(one.facts.frames),
        True,
    ),
    LibraryColumn(
        "parent",
        "Parent",
        "Run from which it was branched or continued, the time, and the changed settings",
        lambda one: one.facts.lineage,
        lambda one: lineage_text(one).capitalize() or DASH,
    ),
    LibraryColumn("file", "File", "Run file", lambda one: one.path.name, lambda one: one.path.name),
)
FIRST = (
    "picture",
    "name",
    "study",
    "hard_margin",
    "share",
    "time_to_90",
    "verdicts",
    "date",
    "size",
    "tags",
    "note",
)
