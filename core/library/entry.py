"""Facts and notes of a run as frozen values, and the tree of runs that continue others."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import final

from core.numbers import time_text
from core.observables.node_sets import NodeSet
from core.reference.share import FIRST, largest_margin, margin_share

Setting = str | int | float | bool
# States of a file, which is listed before it is read; a file that is not a run stays listed.
UNREAD, UNREADABLE, RECORDING = "not read yet", "unreadable", "recording"
GROWING, LEFT = "growing", "cut off"
RESULTS = (
    "risk",
    "log10_risk",
    "hard_margin",
    "smoothed_margin",
    "l1_margin",
    "norm_squared",
    "train_error",
)


@final
@dataclass(frozen=True, slots=True)
class Bookmark:
    """Named moment of a run. `picture` is the view at that moment, in a format of its author.

    A window reads its own (app.scenes.scene_texts).
    """

    name: str
    log10_time: float
    picture: str = ""


@final
@dataclass(frozen=True, slots=True)
class MomentNote:
    """Plain text at a moment of a run, or at a point of one of its curves.

    `quantity` is the name of the curve, "" for the moment itself. `value` is the curve's value
    there, None for the moment itself.
    """

    log10_time: float
    text: str
    quantity: str = ""
    value: float | None = None


@final
@dataclass(frozen=True, slots=True)
class RunNotes:
    """User's notes of a run: a name, a note, tags, bookmarks, sets of its neurons.

    `moments` are the notes at moments. `kept`: the user restored it. `unknown` has, as JSON, the
    parts of the file that this version does not know.
    """

    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    kept: bool = False
    bookmarks: tuple[Bookmark, ...] = ()
    sets: tuple[NodeSet, ...] = ()
    moments: tuple[MomentNote, ...] = ()
    unknown: str = ""

    @property
    def empty(self) -> bool:
        """True if the user has noted nothing, and did not restore the run."""
        return self == RunNotes()


@final
@dataclass(frozen=True)
class RunSummary:
    """Content of a run file: its study, its settings, and its last frame.

    `settings` have dotted keys; `results` are scalars of the last frame by their names, and `norm`
    and `log10_time`. `margins` are the reference margins computed for its data, NaN if none exists;
    `waiting` names the cache's files of those that were not computed yet. `factor` times gamma_gl
    is the bound of the run's margins, NaN if they have none. `reached` is log10 of the time at
    which the hard margin first came to 90 % of `reached_of`, inf if it never did, NaN if unknown;
    `reached_of` is NaN if not computed yet. `run` is its random name. `parent` is the file of the
    run that it continues, `parent_run` the name of that one; `left` is log10 t of the parent's
    frame, NaN if unknown, and `changes` are those of a branch, empty for a continued run. `wrong`
    says why a file cannot be read.
    """

    title: str = ""
    source: str = ""
    settings: dict[str, Setting] = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)
    margins: dict[str, float] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    factor: float = math.nan
    reached: float = math.nan
    reached_of: float = math.nan
    frames: int = 0
    created: str = ""
    status: str = UNREAD
    reason: str = ""
    run: str = ""
    parent: str = ""
    parent_run: str = ""
    left: float = math.nan
    changes: str = ""
    wrong: str = ""

    @property
    def lineage(self) -> str:
        """Lineage of a continued or branched run, in words; empty for others."""
        if not self.parent:
            return ""
        moment = "" if math.isnan(self.left) else f" at {time_text(self.left)}"
        words = f": {self.changes}" if self.changes else ""
        return f"{'branched' if words else 'continued'} from {self.parent}{moment}{words}"

    @property
    def max_margin(self) -> float:
        """Largest possible hard margin, gamma_gl / 2; NaN if unknown."""
        return largest_margin(self.factor, self.margins.get(FIRST, math.nan))

    @property
    def readable(self) -> bool:
        return not self.wrong and self.status != UNREAD

    @cached_property
    def text(self) -> str:
        """Text for searches; made once for each state of a file."""
        settings = "\n".join([f"{key}={value}" for key, value in self.settings.items()])
        parts = (self.title, self.source, self.created, self.wrong, self.lineage, settings)
        return "\n".join(parts).casefold()


@final
@dataclass(frozen=True)
class Entry:
    """One run of the library. `origin` is its path before it came into the trash, else None.

    `modified` is the time of the last write to the file or its `-wal`, in seconds; `size` that of
    both in bytes. `state` is the end of the run, or that it is growing, cut off, or cannot be read.
    `verdicts` counts the verdicts of statements, None if not judged. `heading` is its difference
    from the other runs of its study.
    """

    path: Path
    size: int
    modified: float
    state: str = UNREAD
    facts: RunSummary = RunSummary()
    about: RunNotes = RunNotes()
    verdicts: Mapping[str, int] | None = None
    origin: Path | None = None
    heading: str = ""

    @property
    def is_trashed(self) -> bool:
        return self.origin is not None

    @property
    def readable(self) -> bool:
        return self.facts.readable

    @property
    def share(self) -> float:
        """Hard margin as a share of its largest possible value, gamma_gl / 2; NaN if unknown."""
        facts = self.facts
        margin = facts.results.get("hard_margin", math.nan)
        return margin_share(margin, facts.factor, facts.margins.get(FIRST, math.nan))

    @property
    def log10_time_to_90(self) -> float:
        """log10 of the time at which the hard margin first came to 90 % of gamma_gl / 2.

        inf if it did not, NaN if unknown.
        """
        facts = self.facts
        # A value for another gamma_gl does not apply.
        return facts.reached if facts.reached_of == facts.max_margin else math.nan

    @property
    def holds(self) -> float:
        """Number of statements that hold, with hypotheses met or not; NaN: not judged."""
        if self.verdicts is None:
            return math.nan
        return float(sum(n for word, n in self.verdicts.items() if word.startswith("holds")))

    @property
    def n_violated(self) -> float:
        """Number of statements violated although their hypotheses are met; NaN: not judged."""
        return math.nan if self.verdicts is None else float(self.verdicts.get("violated", 0))

    @property
    def date(self) -> str:
        """Start of the recording: UTC, ISO 8601."""
        return self.facts.created

    @cached_property
    def text(self) -> str:
        """Text for searches besides that of the facts: name, heading, notes, tags and file.

        Separate, so that no run has its settings twice in memory.
        """
        about = self.about
        notes = (about.note, *(one.text for one in about.moments))
        texts = (about.name, *notes, *about.tags, self.heading, self.state, self.path.name)
        return "\n".join(texts).casefold()

    def mentions(self, word: str) -> bool:
        """Return True if a word in small letters occurs in the notes of the run or in its file."""
        return word in self.text or word in self.facts.text


def setting_text(value: Setting) -> str:
    """Return a setting as in headings.

    >>> setting_text(0.1), setting_text(16), setting_text(True), setting_text("flow")
    ('0.1', '16', 'yes', 'flow')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


# --------------------------------------------------------------------------------- the tree of runs


def arrange_by_parent(entries: Sequence[Entry]) -> list[tuple[Entry, int]]:
    """Return the entries with their depths: each below its parent, otherwise in the given order.

    A parent is identified by its random name, or by its file in the same folder if it has none.
    """
    if not any(entry.facts.parent for entry in entries):
        return [(entry, 0) for entry in entries]
    names: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        if entry.facts.run:
            names.setdefault(entry.facts.run, []).append(place)
    files = {(entry.path.parent, entry.path.name): place for place, entry in enumerate(entries)}
    below: dict[int, list[int]] = {}
    roots = []
    for place, entry in enumerate(entries):
        parent = _parent(entry, entries, names, files)
        if parent is None or parent == place:
            roots.append(place)
        else:
            below.setdefault(parent, []).append(place)
    return _walk_tree(entries, roots, below)


def find_unprotected(entries: Iterable[Entry], paths: Collection[Path]) -> tuple[Entry, ...]:
    """Return the entries at `paths` that nothing protects from deletion.

    A run is protected by a name, notes, tags, bookmarks or sets, by having been restored, by a run
    in `entries` that continues it, and while it grows. So is a run that cannot be read or is in the
    trash. `entries` must be all runs of the library: a child that is missing protects nothing.
    """
    entries = list(entries)
    parents = {entry.facts.parent_run for entry in entries} - {""}
    files = {entry.facts.parent for entry in entries} - {""}
    return tuple(
        entry
        for entry in entries
        if entry.path in paths
        and entry.readable
        and not entry.is_trashed
        and entry.about.empty
        and entry.state != GROWING
        and entry.facts.run not in parents
        and entry.path.name not in files
    )


def _parent(
    entry: Entry,
    entries: Sequence[Entry],
    names: dict[str, list[int]],
    files: dict[tuple[Path, str], int],
) -> int | None:
    """Return the place of an entry's parent among `entries`; None if it is not there."""
    facts = entry.facts
    if not facts.parent:
        return None
    # Of several copies, the one in the same folder.
    matches = names.get(facts.parent_run, []) if facts.parent_run else []
    nearby = [place for place in matches if entries[place].path.parent == entry.path.parent]
    if nearby or matches:
        return (nearby or matches)[0]
    place = files.get((entry.path.parent, facts.parent))
    # A file of that name with another run is not the parent.
    foreign = place is not None and facts.parent_run and entries[place].facts.run
    return None if foreign else place


def _walk_tree(
    entries: Sequence[Entry], roots: Sequence[int], below: dict[int, list[int]]
) -> list[tuple[Entry, int]]:
    """Return the rows depth first; runs that are each other's parents count as if they had none."""
    rows: list[tuple[Entry, int]] = []
    visited: set[int] = set()
    for first in (*roots, *range(len(entries))):
        waiting = [(first, 0)] if first not in visited else []
        while waiting:
            place, depth = waiting.pop()
            if place in visited:
                continue
            visited.add(place)
            rows.append((entries[place], depth))
            waiting += [(child, depth + 1) for child in reversed(below.get(place, []))]
    return rows
