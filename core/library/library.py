"""Library of a folder of runs, whose facts come from the index or from the files."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from core.errors import InputError, MarginscopeError
from core.library.entry import (
    GROWING,
    LEFT,
    RECORDING,
    UNREAD,
    UNREADABLE,
    Entry,
    RunNotes,
    RunSummary,
    find_unprotected,
)
from core.library.headings import headings
from core.library.index import FoundFile, Row, RunIndex, in_folder, list_folder, run_files
from core.library.reading import picture_of, read_facts, time_to_90
from core.library.run_notes import change_about, read_about
from core.library.trash import Trash
from core.run_files.active_recorders import has_recorder

GROWING_S = 60.0  # a recording without writes for a minute was cut off, or is paused
REPORT_S = 1.0
NOTHING = Row("", RunSummary())
BEING_RECORDED = "{name} is being recorded; stop the training first."


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """All runs of a library, the latest first; `left` of them are not read yet.

    `messages` are sentences about failures that were repaired.
    """

    entries: tuple[Entry, ...] = ()
    left: int = 0
    messages: tuple[str, ...] = ()

    def total(self, *, trashed: bool) -> int:
        """Return the bytes of the runs in the trash, or of the others."""
        return sum(entry.size for entry in self.entries if entry.is_trashed == trashed)


ListingCallback = Callable[[Listing], object]
CancelCheck = Callable[[], object]  # raises an error once the work is cancelled


@final
class Library:
    """Runs in a folder and in its trash. For one background thread: calls may take long."""

    def __init__(self, root: Path, index: Path) -> None:
        self.root = root.absolute()
        self.index = RunIndex(index)
        self.trash = Trash(self.root)
        self._rows: dict[str, Row] | None = None
        self._first = True
        self._last: tuple[object, Listing] | None = None  # files seen, and their listing

    # -------------------------------------------------------------------------------------- listing

    def refresh(
        self,
        report: ListingCallback | None = None,
        halt: CancelCheck | None = None,
        again: bool = False,
    ) -> Listing:
        """Return all runs, those in the trash included, reading changed files into the index.

        Parameters
        ----------
        report : callable, optional
            Called with the known runs if anything changed, then once a second during reads.
        halt : callable, optional
            Called between reads; it may cancel by raising an exception.
        again : bool
            Read also files that could not be read before, as the first call always does.

        Returns
        -------
        Listing
        """
        self.trash.complete_moves()
        files: dict[str, Places] = {one.path: (one, None) for one in run_files(self.root)}
        files |= {item.found.path: (item.found, item.origin) for item in self.trash.items()}
        self._rows = self.index.load() if self._rows is None else self._rows
        before = (dict(files), _margin_files())  # a copy, since `files` loses deleted files below
        if self._last is not None and not again and self._last[0] == before:
            return self._last[1]
        again = again or self._first
        self._first = False
        rows, messages = self._rows, list[str]()
        deleted = [path for path in rows if path not in files]
        for path in deleted:
            del rows[path]
        self.index.forget(deleted)
        self._note(files, rows, messages)
        waiting = [
            path for path, (one, _) in files.items() if not _is_known(rows.get(path), one, again)
        ]
        waiting.sort(key=lambda path: -files[path][0].modified)
        self._add_computed_margins(rows, before[1])
        listing = self._listing(files, messages)
        if report is not None:
            report(listing)
        if waiting:
            self._read(waiting, files, messages, report, halt)
            listing = self._listing(files, messages)
        if self._measure_times(files, messages, report, halt):
            listing = self._listing(files, messages)
        for entry in listing.entries:  # computed here, so that the first search does not wait
            _ = entry.text
        # A growing run may stop growing without a change to its file.
        quiet = all(entry.state != GROWING for entry in listing.entries)
        self._last = (before, listing) if quiet and not listing.messages else None
        return listing

    def _note(self, files: Mapping[str, Places], rows: dict[str, Row], messages: list[str]) -> None:
        """Read the notes that changed into `rows` and the index; add errors to `messages`."""
        changed = {}
        for path, (one, _) in files.items():
            row = rows.get(path)
            if one.noted == (row.noted if row is not None else ""):
                continue
            try:
                about, noted = read_about(Path(path)), one.noted
            except MarginscopeError as error:
                messages.append(error.sentence)
                about, noted = RunNotes(), ""
            noted_row = row or Row("", RunSummary())
            changed[path] = rows[path] = replace(noted_row, noted=noted, about=about)
        self.index.save_rows(changed)

    def _read(
        self,
        waiting: list[str],
        files: dict[str, Places],
        messages: list[str],
        report: ListingCallback | None,
        halt: CancelCheck | None,
    ) -> None:
        assert self._rows is not None
        read: dict[str, Row] = {}
        report_time = time.monotonic()
        try:
            for count, path in enumerate(waiting):
                if halt is not None:
                    halt()
                facts = read_facts(Path(path))
                if facts is None:  # deleted since the folder was read
                    del files[path]
                    continue
                row = self._rows.get(path) or Row("", facts)
                row = replace(row, stamp=files[path][0].stamp, facts=facts, verdicts=None)
                self._rows[path] = read[path] = row
                if time.monotonic() - report_time > REPORT_S:
                    self.index.save_rows(read)
                    read, report_time = {}, time.monotonic()
                    if report is not None:
                        report(self._listing(files, messages, len(waiting) - count - 1))
        finally:
            self.index.save_rows(read)

    def _add_computed_margins(self, rows: dict[str, Row], present: Container[str]) -> None:
        """Add margins that were computed since their runs were read."""
        from core.reference.margin import load_margin, saved_margins_folder

        changed = {}
        for path, row in rows.items():
            new = {name: file for name, file in row.facts.waiting.items() if file in present}
            if not new:
                continue
            margins, waiting = dict(row.facts.margins), dict(row.facts.waiting)
            for name, file in new.items():
                entry = load_margin(saved_margins_folder() / file)
                if entry is not None:
                    margins[name] = entry.bracket.value
                    del waiting[name]
            facts = replace(row.facts, margins=margins, waiting=waiting)
            changed[path] = rows[path] = replace(row, facts=facts)
        self.index.save_rows(changed)

    def _measure_times(
        self,
        files: dict[str, Places],
        messages: list[str],
        report: ListingCallback | None,
        halt: CancelCheck | None,
    ) -> bool:
        """Compute the times to 90 % of runs whose gamma_gl is known by now, the latest run first.

        Return True if there were any.
        """
        assert self._rows is not None
        waiting = [path for path in files if _times_wait(self._rows.get(path))]
        waiting.sort(key=lambda path: -files[path][0].modified)
        report_time = time.monotonic()
        for path in waiting:
            row = self._rows[path]
            search, reached = time_to_90(Path(path), row.facts.max_margin), math.nan
            while True:
                if halt is not None:
                    halt()
                try:
                    next(search)
                except StopIteration as answer:
                    reached = answer.value
                    break
            facts = replace(row.facts, reached=reached, reached_of=row.facts.max_margin)
            self._rows[path] = replace(row, facts=facts)
            # Store each result at once: after an interruption it is not computed again.
            self.index.save_rows({path: self._rows[path]})
            if report is not None and time.monotonic() - report_time > REPORT_S:
                report_time = time.monotonic()
                report(self._listing(files, messages))
        return bool(waiting)

    def _listing(
        self, files: Mapping[str, Places], messages: Iterable[str], n_unread: int | None = None
    ) -> Listing:
        assert self._rows is not None
        rows = [self._rows.get(path, NOTHING) for path in files]
        heads = headings([row.facts for row in rows], [Path(path).stem for path in files])
        now = time.time()
        entries = [
            Entry(
                Path(path),
                one.size,
                one.modified,
                _state(row.facts, one, now),
                row.facts,
                row.about,
                row.verdicts,
                origin,
                heading,
            )
            for (path, (one, origin)), row, heading in zip(files.items(), rows, heads, strict=True)
        ]
        entries.sort(key=_sort_key, reverse=True)
        if n_unread is None:
            n_unread = sum(row.facts.status == UNREAD for row in rows)
        sentences = dict.fromkeys((*self.index.messages, *messages))
        return Listing(tuple(entries), n_unread, tuple(sentences))

    def picture(self, path: Path) -> bytes:
        """Return the margin curve of a run as heights (core.library.reading), made once."""
        picture = self.index.picture(str(path))
        if picture is None:
            picture = picture_of(path)
            if picture:  # an unreadable file may be readable later
                self.index.save_picture(str(path), picture)
        return picture

    # -------------------------------------------------------------------------------------- changes

    def describe(self, path: Path, change: Callable[[RunNotes], RunNotes]) -> None:
        """Change the notes of a run; the next `refresh` reads them. Raises as `change_about`."""
        change_about(path, change)

    def set_verdicts(self, path: Path, verdicts: Mapping[str, int]) -> None:
        """Save the counts of verdicts of a finished run, reading its facts first if necessary."""
        name = str(path)
        files = in_folder(path.parent, list_folder(path.parent)[0])
        file = next((one for one in files if one.path == name), None)
        self._rows = self.index.load() if self._rows is None else self._rows
        row = self._rows.get(name)
        if file is None:
            return
        if row is None or row.stamp != file.stamp:
            facts = read_facts(path)
            if facts is None:
                return
            row = replace(row or NOTHING, stamp=file.stamp, facts=facts)
            self.index.save_rows({name: row})
        self._rows[name] = replace(row, verdicts=dict(verdicts))
        self._last = None
        self.index.set_verdicts(name, verdicts)

    def move_to_trash(self, entry: Entry) -> Path:
        """Move a run to the trash; return its path there. InputError while it is recorded."""
        recorded = has_recorder(entry.path)  # including recordings newer than the list, or paused
        if recorded or (recorded is None and entry.state == GROWING):
            raise InputError(BEING_RECORDED.format(name=entry.path.name))
        return self._finish_move(entry.path, self.trash.move_to_trash(entry.path))

    def restore(self, entry: Entry) -> Path:
        """Move a run back to its old path; the program never trashes it by itself again."""
        path = self._finish_move(entry.path, self.trash.restore(entry.path))
        with suppress(MarginscopeError):  # restored even if this fails
            change_about(path, lambda about: replace(about, kept=True))
        return path

    def purge(self, entry: Entry) -> None:
        """Remove a run in the trash from the disk, for good. Raises InputError."""
        self.trash.purge(entry.path)
        self.index.forget([str(entry.path)])
        if self._rows is not None:
            self._rows.pop(str(entry.path), None)

    def _finish_move(self, before: Path, after: Path) -> Path:
        self.index.move(str(before), str(after))
        if self._rows is not None and (row := self._rows.pop(str(before), None)) is not None:
            self._rows[str(after)] = row
        return after

    def close(self) -> None:
        self.index.close()


Places = tuple[FoundFile, Path | None]  # of a file, and its path before it was moved to the trash


def _margin_files() -> frozenset[str]:
    """Return the names of the files of computed margins."""
    from core.reference.margin import saved_margins_folder

    try:
        return frozenset(path.name for path in saved_margins_folder().iterdir())
    except OSError:
        return frozenset()


def _sort_key(entry: Entry) -> tuple[str, float]:
    return entry.date, entry.modified


def _is_known(row: Row | None, file: FoundFile, again: bool) -> bool:
    if row is None or row.stamp != file.stamp or row.facts.status == UNREAD:
        return False
    return not (again and row.facts.wrong)


def _times_wait(row: Row | None) -> bool:
    """Return True if the time to 90 % can be computed, is missing, and the run is not growing."""
    if row is None or not row.facts.readable or row.facts.status == RECORDING:
        return False
    return not math.isnan(row.facts.max_margin) and row.facts.reached_of != row.facts.max_margin


def _state(facts: RunSummary, file: FoundFile, now: float) -> str:
    """Return the end of a run, or GROWING while its recorder is active."""
    if facts.wrong:
        return UNREADABLE
    if facts.status == RECORDING:
        recorded = has_recorder(Path(file.path))
        if recorded is not None:
            return GROWING if recorded else LEFT
        # The system does not report writers. abs: a clock set back gives files from the future.
        return GROWING if abs(now - file.modified) < GROWING_S else LEFT
    return facts.reason or facts.status


def surplus(
    entries: Iterable[Entry], plain: Iterable[Mapping[str, object]], limit: float, root: Path
) -> tuple[Entry, ...]:
    """Return the oldest runs of first starts beyond a limit on the bytes of all.

    A run of a first start has exactly the settings of one that the window trains by itself when it
    opens. Runs with notes, restored or continued ones, parents of others, growing ones and those
    that cannot be read are never among them.

    Parameters
    ----------
    entries, limit : iterable of Entry, float
        Runs of the library; bytes that all runs of first starts may take, NaN for no limit.
    plain, root : iterable of mapping of str to value, Path
        Settings by dotted key, and folder, of the window's own runs; others are never chosen.

    Returns
    -------
    tuple of Entry
    """
    shapes, entries = [dict(settings) for settings in plain], list(entries)
    starts = [
        entry
        for entry in find_unprotected(entries, {entry.path for entry in entries})
        if entry.state != LEFT
        and not entry.facts.parent
        and entry.path.parent == root
        and entry.facts.settings in shapes
    ]
    starts.sort(key=_sort_key, reverse=True)
    total, chosen = 0.0, []
    for entry in starts:
        total += entry.size
        if total > (limit if not math.isnan(limit) else math.inf):
            chosen.append(entry)
    return tuple(chosen)
