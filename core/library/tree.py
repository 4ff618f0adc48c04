"""The runs as a tree: those that go on from others stand below them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from core.library.entry import GROWING, Entry


def arranged(entries: Sequence[Entry]) -> list[tuple[Entry, int]]:
    """The entries with their depths: each below its parent, where that is among them, and in the
    given order otherwise.

    A parent is known by its random name, and by its file in the same folder where it has none.
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
    return _walked(entries, roots, below)


def missed_by_none(entries: Iterable[Entry], paths: Collection[Path]) -> tuple[Entry, ...]:
    """Those of some runs that nobody has kept in any way: without a name, a note, tags, bookmarks
    and sets, from which no other run goes on, which were not restored and do not grow.

    A run that cannot be read is never among them, nor one in the trash.
    """
    entries = list(entries)
    parents = {entry.facts.parent_run for entry in entries} - {""}
    files = {entry.facts.parent for entry in entries} - {""}
    return tuple(
        entry
        for entry in entries
        if entry.path in paths
        and entry.readable
        and not entry.trashed
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
    facts = entry.facts
    if not facts.parent:
        return None
    # Of copies the one beside it.
    same = names.get(facts.parent_run, []) if facts.parent_run else []
    beside = [place for place in same if entries[place].path.parent == entry.path.parent]
    if beside or same:
        return (beside or same)[0]
    known = files.get((entry.path.parent, facts.parent))
    # A file of that name that is another run is no parent.
    foreign = known is not None and facts.parent_run and entries[known].facts.run
    return None if foreign else known


def _walked(
    entries: Sequence[Entry], roots: Sequence[int], below: dict[int, list[int]]
) -> list[tuple[Entry, int]]:
    """Depth first; runs that say they are each other's parents stand as if they had none."""
    rows: list[tuple[Entry, int]] = []
    seen: set[int] = set()
    for first in (*roots, *range(len(entries))):
        waiting = [(first, 0)] if first not in seen else []
        while waiting:
            place, depth = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            rows.append((entries[place], depth))
            waiting += [(child, depth + 1) for child in reversed(below.get(place, []))]
    return rows
