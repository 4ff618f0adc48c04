"""What is done to runs of the library: asked about, and handed to the librarian."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from app.library.librarian import Done, Librarian
from app.state.session import MOST_RUNS, Session
from app.widgets.question import Question, Role
from core.errors import InputError

if TYPE_CHECKING:
    from core.library.entry import Entry
    from core.library.library import Library

BESIDE = "It is stored beside the run file and moves with it."
OPEN_NOW = "{name} is open; close it before you move it to the trash."
PURGE = "Remove {what} permanently? This frees {size} and cannot be undone."
REMOVE, CANCEL = "Remove", "Cancel"
ANSWERS = {REMOVE: Role.YesRole, CANCEL: Role.RejectRole}
RENAMED = "Another file has taken the name {name}; the run is restored as {now}."
Change = Callable[["Library", "Entry"], str]


@final
class LibraryDeeds(QObject):
    """open_requested(names, beside): runs are to be opened. compare_requested(names): they are to
    be compared. message(sentence): for the bar."""

    open_requested = Signal(list, bool)
    compare_requested = Signal(list)
    message = Signal(str)

    def __init__(self, window: QWidget, session: Session, librarian: Librarian) -> None:
        super().__init__(window)
        self._window, self._session, self._librarian = window, session, librarian
        self._chosen: tuple[Entry, ...] = ()
        self._question = Question(window, "purge")
        self._question.answered.connect(self._on_answer)
        librarian.done.connect(self._on_done)

    def ask(self, deed: str, chosen: tuple[Entry, ...]) -> None:
        """One of the deeds of the panel is wanted for some runs."""
        self._chosen = chosen
        if deed == "again":
            self._librarian.list(again=True)
        elif deed in ("rename", "tags", "note") and chosen:
            self._ask_for_text(deed, chosen)
        elif deed == "throw":
            self.throw(chosen)
        elif deed == "restore":
            self._librarian.do(deed, _restore, chosen)
        elif deed == "purge" and chosen:
            self._ask_to_purge(chosen)
        elif deed == "compare" and chosen:
            self.compare_requested.emit([str(entry.path) for entry in chosen])
        elif deed in ("open", "beside") and chosen:
            names = [str(entry.path) for entry in chosen[:MOST_RUNS]]
            self.open_requested.emit(names, deed == "beside")

    def _ask_for_text(self, deed: str, chosen: Sequence[Entry]) -> None:
        from app.library.dialogs import TextDialog
        from core.library.about import common_tags

        which = _called(chosen)
        if deed == "rename":
            words = (f"A name for {which}", "Without one it is called by what differs.")
            before = chosen[0].about.name
        elif deed == "tags":
            words = (f"Tags of {which}", "Between commas. Of several runs: those that all carry.")
            before = ", ".join(common_tags(entry.about for entry in chosen))
        else:
            notes = {entry.about.note for entry in chosen}
            several = "Their notes differ; this one takes the place of all of them."
            words = (f"A note on {which}", several if len(notes) > 1 else BESIDE)
            before = notes.pop() if len(notes) == 1 else ""
        dialog = TextDialog(deed, *words, before, self._window, lines=deed == "note")
        dialog.accepted.connect(self._describe)
        dialog.open()

    def _describe(self) -> None:
        from core.library.about import checked, tags_of
        from core.library.entry import About

        dialog: Any = self.sender()
        deed, before, text = dialog.deed, dialog.before, dialog.text()
        if text == before:  # also of several that differ, for which nothing stood there
            return
        try:
            if deed == "tags":
                old, new = tags_of(before), tags_of(text)
                change: Change = _Describe(gone=frozenset(old) - frozenset(new), tags=new)
            elif deed == "rename":
                change = _Describe(name=checked(About(name=text)).name)
            else:
                change = _Describe(note=checked(About(note=text)).note)
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self._librarian.do(deed, change, self._chosen)

    def throw(self, chosen: Sequence[Entry]) -> None:
        """Move runs into the trash, but for those that are open."""
        shown = self.open_paths()
        kept = [entry for entry in chosen if entry.path in shown]
        if kept:
            self.message.emit(OPEN_NOW.format(name=kept[0].path.name))
        gone = [entry for entry in chosen if entry.path not in shown]
        if gone:
            self._librarian.do("throw", _throw, gone)

    def throw_passing(self, paths: Collection[Path]) -> None:
        """Move those of some runs into the trash that nobody has kept in any way and that are not
        open; what cannot be moved now is left where it is, without a word."""
        gone = frozenset(path.absolute() for path in paths) - self.open_paths()
        if gone:
            self._librarian.do("passing", _ThrowPassing(gone), [_nobody()])

    def open_paths(self) -> set[Path]:
        """The files that are shown."""
        paths = {run.path.absolute() for run in self._session}
        return paths | {run.source.absolute() for run in self._session}

    def _ask_to_purge(self, chosen: Sequence[Entry]) -> None:
        from core.numbers import size_text

        size = size_text(sum(entry.size for entry in chosen))
        question = PURGE.format(what=_called(chosen), size=size)
        self._question.ask(question, "", ANSWERS, CANCEL, QMessageBox.Icon.Warning)

    def _on_answer(self, answer: str) -> None:
        if answer == REMOVE:
            self._librarian.do("purge", _purge, self._chosen)

    def _on_done(self, done: Done) -> None:
        sentences = done.wrong or done.said
        if sentences:
            more = f" ({len(sentences) - 1} more like it)" if len(sentences) > 1 else ""
            self.message.emit(sentences[0] + more)


@final
class _ThrowPassing:
    """Throws away what nobody would miss, by what the library says of it at that time."""

    def __init__(self, paths: frozenset[Path]) -> None:
        self._paths = paths

    def __call__(self, library: Library, entry: Entry) -> str:
        from core.library.entry import missed_by_none

        for one in missed_by_none(library.refresh().entries, self._paths):
            with suppress(InputError):
                library.throw(one)
        return ""


def _nobody() -> Entry:
    """For a deed that finds its runs itself."""
    from core.library.entry import Entry

    return Entry(Path(), 0, 0.0)


@final
class _Describe:
    """Changes what is said of a run; None leaves it."""

    def __init__(
        self,
        name: str | None = None,
        note: str | None = None,
        tags: tuple[str, ...] = (),
        gone: frozenset[str] = frozenset(),
    ) -> None:
        self._name, self._note, self._tags, self._gone = name, note, tags, gone

    def __call__(self, library: Library, entry: Entry) -> str:
        library.describe(entry.path, self._changed)
        return ""

    def _changed(self, about: Any) -> Any:
        kept = tuple(tag for tag in about.tags if tag not in self._gone)
        return replace(
            about,
            name=about.name if self._name is None else self._name,
            note=about.note if self._note is None else self._note,
            tags=tuple(dict.fromkeys((*kept, *self._tags))),
        )


def _throw(library: Library, entry: Entry) -> str:
    library.throw(entry)
    return ""


def _restore(library: Library, entry: Entry) -> str:
    path = library.restore(entry)
    return "" if path == entry.origin else RENAMED.format(name=entry.path.name, now=path.name)


def _purge(library: Library, entry: Entry) -> str:
    library.purge(entry)
    return ""


def _called(chosen: Sequence[Entry]) -> str:
    from app.library.columns import name_of

    return f'"{name_of(chosen[0])}"' if len(chosen) == 1 else f"{len(chosen)} runs"
