"""Actions on runs of the library: confirmed by the user, and run by the librarian."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.library.compare import CompareController
from app.library.librarian import Librarian, LibraryOperation, OperationResult
from app.state.session import MOST_RUNS, Session
from app.training.files import FileController
from app.widgets.dialogs import Question, Role
from app.widgets.labels import quiet_label
from app.widgets.layouts import add_all, space, widen_for_title
from core.errors import InputError
from core.terminal.text import shorten

if TYPE_CHECKING:
    from core.library.entry import Entry, RunNotes
    from core.library.library import Library

REMOVE, CANCEL = "Delete", "Cancel"
ANSWERS = {REMOVE: Role.YesRole, CANCEL: Role.RejectRole}
FIELDS = {"rename": "name", "tags": "tags", "note": "note"}  # action -> field of RunNotes
BUTTONS = {"rename": "Rename", "tags": "Save tags", "note": "Save note"}
# Sentences about changed runs.
CHANGES = {
    "rename": 'Renamed {name} to "{text}".',
    "tags": "Changed the tags of {name}.",
    "note": "Changed the note on {name}.",
}
UNNAMED = "Removed the own name of {name}."
TRASHED = "Moved {name} to the trash."
RESTORED = "Restored {name}."
PURGED = "Deleted {name} permanently."
REVERTED = "Reverted the change of {name}."


@final
class TextDialog(QDialog):
    """Dialog that edits a text `before`, in one line or several."""

    def __init__(
        self, action: str, words: tuple[str, str], before: str, parent: QWidget, lines: bool = False
    ) -> None:
        """`words` are the question, and a hint below the text."""
        super().__init__(parent)
        question, hint = words
        self.action, self.before = action, before
        self.setWindowTitle("Library of runs")
        widen_for_title(self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        label = QLabel(question, self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.line = QLineEdit(before, self)
        self.field = QPlainTextEdit(before, self, tabChangesFocus=True)
        for part, is_visible in ((self.line, not lines), (self.field, lines)):
            part.setAccessibleName(question)
            part.setVisible(is_visible)
        self._lines = lines
        self.line.selectAll()
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        buttons.button(QDialogButtonBox.StandardButton.Ok).setText(BUTTONS[action])
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        rows = (label, self.line, self.field, quiet_label(hint, self, wrap=True), buttons)
        add_all(space(QVBoxLayout(self), (16, 16, 16, 16), 8), *rows)
        self.setMinimumWidth(420)
        (self.field if lines else self.line).setFocus()

    def text(self) -> str:
        """Return the present text."""
        return self.field.toPlainText() if self._lines else self.line.text()


@final
@dataclass(frozen=True, slots=True)
class Change:
    """Finished change of a run in the library, and the operation that reverts it.

    `entry` is the run before the change; in the sentence, {name} becomes the names of the runs.
    """

    entry: Entry
    sentence: str
    revert: LibraryOperation


Changes = deque[Change]


@final
class LibraryActions(QObject):
    """Actions on the selected runs of the library."""

    runs_changed = Signal(str, object)
    """A sentence about changed runs, and the actions that are offered with it."""

    def __init__(
        self,
        window: QWidget,
        session: Session,
        librarian: Librarian,
        files: FileController,
        compare: CompareController,
        report: Callable[[str], None],
    ) -> None:
        """Call `report(sentence)` for the message bar."""
        super().__init__(window)
        self._window, self._session, self._librarian = window, session, librarian
        self._files, self._compare, self._report = files, compare, report
        self._chosen: tuple[Entry, ...] = ()
        self._changes: Changes = deque()  # the librarian's thread appends, the window's removes
        self._undoable: tuple[Change, ...] = ()
        self._undo = QAction("Undo", self, toolTip="Revert this change in the library")
        self._undo.triggered.connect(self.undo)
        self._question = Question(window, "purge")
        self._question.answer_given.connect(self._on_answer)
        librarian.operations_finished.connect(self._on_finished)

    def start(self, action: str, chosen: tuple[Entry, ...]) -> None:
        """Run an action of the panel on some runs."""
        self._chosen = chosen
        if action == "again":
            self._librarian.list(again=True)
        elif action in ("rename", "tags", "note") and chosen:
            self._request_text(action, chosen)
        elif action == "trash":
            self.trash(chosen)
        elif action == "restore":
            self._librarian.run(partial(_restore, entry, self._changes) for entry in chosen)
        elif action == "purge" and chosen:
            self._confirm_purge(chosen)
        elif action == "undo":
            self.undo()
        elif action == "compare" and chosen:
            self._compare.compare([str(entry.path) for entry in chosen])
        elif action in ("open", "beside") and chosen:
            names = [str(entry.path) for entry in chosen[:MOST_RUNS]]
            self._files.open_files(names, action == "beside")

    def _request_text(self, action: str, chosen: Sequence[Entry]) -> None:
        from core.library.run_notes import common_tags

        names = _name_all(chosen)
        if action == "rename":
            words = (f"Name of {names}", "Leave empty to name it by its settings.")
            before = chosen[0].about.name
        elif action == "tags":
            words = (
                f"Tags of {names}",
                "Separate tags with commas. For several runs, only shared tags are shown.",
            )
            before = ", ".join(common_tags(entry.about for entry in chosen))
        else:
            notes = {entry.about.note for entry in chosen}
            hint = "Stored next to the run file and moved with it."
            if len(notes) > 1:
                hint = "The notes of these runs differ; the new note replaces all of them."
            words = (f"Note on {names}", hint)
            before = notes.pop() if len(notes) == 1 else ""
        dialog = TextDialog(action, words, before, self._window, lines=action == "note")
        dialog.accepted.connect(self._on_text_accepted)
        dialog.open()

    def _on_text_accepted(self) -> None:
        dialog: Any = self.sender()
        text = dialog.text()
        # Unchanged, also where several runs differ and the field was empty.
        if text == dialog.before:
            return
        try:
            change = _change_of(dialog.action, dialog.before, text)
        except InputError as error:
            self._report(error.sentence)
            return
        sentence = CHANGES[dialog.action].replace("{text}", shorten(text))
        if dialog.action == "rename" and not text.strip():
            sentence = UNNAMED
        record = partial(_describe, change=change, field=FIELDS[dialog.action], sentence=sentence)
        self._librarian.run(partial(record, entry, self._changes) for entry in self._chosen)

    def trash(self, chosen: Sequence[Entry]) -> None:
        """Move runs to the trash, except open ones."""
        open_paths = self.open_paths()
        open_entries = [entry for entry in chosen if entry.path in open_paths]
        if open_entries:
            verb, them = ("is", "it") if len(open_entries) == 1 else ("are", "them")
            self._report(
                f"{_name_all(open_entries)} {verb} open. Close {them} before you move {them} to "
                "the trash."
            )
        if closed := [entry for entry in chosen if entry.path not in open_paths]:
            self._librarian.run(partial(_trash, entry, self._changes) for entry in closed)

    def trash_superseded(self, paths: Collection[Path]) -> None:
        """Move those of some runs to the trash that the user has not marked in any way.

        Open runs, and runs that cannot be moved now, stay without a message.
        """
        if closed := frozenset(path.absolute() for path in paths) - self.open_paths():
            self._librarian.run([partial(_trash_superseded, closed)])

    def open_paths(self) -> set[Path]:
        """Return the files of the open runs, and of those that are starting."""
        paths = {run.path.absolute() for run in self._session.all_runs}
        return paths | {run.source.absolute() for run in self._session.all_runs}

    def _confirm_purge(self, chosen: Sequence[Entry]) -> None:
        from core.numbers import size_text

        names, size = _name_all(chosen), size_text(sum(entry.size for entry in chosen))
        question = f"Delete {names} permanently? This frees {size} and cannot be undone."
        self._question.show(question, "", ANSWERS, CANCEL, QMessageBox.Icon.Warning)

    def _on_answer(self, answer: str) -> None:
        if answer == REMOVE:
            self._librarian.run(partial(_purge, entry, self._changes) for entry in self._chosen)

    def _on_finished(self, result: OperationResult) -> None:
        changes = tuple(self._changes.popleft() for _ in range(len(self._changes)))
        self._undoable = tuple(change for change in changes if change.revert is not _revert_nothing)
        sentences = result.errors or result.notes
        remainder = f" ({len(sentences) - 1} more)" if len(sentences) > 1 else ""
        words = sentences[0] + remainder if sentences else ""
        if result.errors or (words and not changes):
            self._report(words)
        elif changes:
            words = words or changes[0].sentence.replace(
                "{name}", _name_all([x.entry for x in changes])
            )
            self.runs_changed.emit(words, (self._undo,) if self._undoable else ())

    def can_undo(self) -> bool:
        """Return True if the latest operation changed runs and can be reverted."""
        return bool(self._undoable)

    def undo(self) -> None:
        """Revert the latest change of runs in the library."""
        changes, self._undoable = self._undoable, ()
        if changes:
            self._librarian.run(partial(_revert, one, self._changes) for one in changes)


def _change_of(action: str, before: str, text: str) -> Callable[[RunNotes], RunNotes]:
    """Return the change that a text makes to a run's notes. Raises InputError."""
    from core.library.entry import RunNotes
    from core.library.run_notes import check_notes, tags_of

    if action == "rename":
        name = check_notes(RunNotes(name=text)).name
        return lambda about: replace(about, name=name)
    if action == "note":
        note = check_notes(RunNotes(note=text)).note
        return lambda about: replace(about, note=note)
    new = tags_of(text)
    removed = set(tags_of(before)) - set(new)

    def retag(about: RunNotes) -> RunNotes:
        tags = (tag for tag in about.tags if tag not in removed)
        return replace(about, tags=tuple(dict.fromkeys((*tags, *new))))

    return retag


def _describe(
    entry: Entry,
    changes: Changes,
    library: Library,
    change: Callable[[RunNotes], RunNotes],
    field: str,
    sentence: str,
) -> str:
    """Change the notes of a run, and record how to restore the one `field` of them."""
    before: list[RunNotes] = []

    def apply(about: RunNotes) -> RunNotes:
        before[:] = [about]
        return change(about)

    library.describe(entry.path, apply)
    changes.append(Change(entry, sentence, partial(_set_field, entry, before[0], field)))
    return ""


def _set_field(entry: Entry, notes: RunNotes, field: str, library: Library) -> str:
    changed = {field: getattr(notes, field)}
    library.describe(entry.path, lambda about: replace(about, **changed))
    return ""


def _trash(entry: Entry, changes: Changes, library: Library) -> str:
    path = library.move_to_trash(entry)
    trashed = replace(entry, path=path, origin=entry.path)
    changes.append(Change(entry, TRASHED, partial(_take_back, trashed)))
    return ""


def _trash_superseded(paths: frozenset[Path], library: Library) -> str:
    from core.library.entry import find_unprotected

    for entry in find_unprotected(library.refresh().entries, paths):
        with suppress(InputError):
            library.move_to_trash(entry)
    return ""


def _take_back(entry: Entry, library: Library) -> str:
    path = library.restore(entry)
    if path == entry.origin:
        return ""
    return f"Restored as {path.name}: another file is now named {entry.path.name}."


def _restore(entry: Entry, changes: Changes, library: Library) -> str:
    path = library.restore(entry)
    restored = replace(entry, path=path, origin=None)
    changes.append(Change(entry, RESTORED, partial(_throw_again, restored)))
    if path == entry.origin:
        return ""
    return f"Restored as {path.name}: another file is now named {entry.path.name}."


def _throw_again(entry: Entry, library: Library) -> str:
    library.move_to_trash(entry)
    return ""


def _purge(entry: Entry, changes: Changes, library: Library) -> str:
    library.purge(entry)
    changes.append(Change(entry, PURGED, _revert_nothing))
    return ""


def _revert(change: Change, changes: Changes, library: Library) -> str:
    note = change.revert(library)
    changes.append(Change(change.entry, REVERTED, _revert_nothing))
    return note


def _revert_nothing(_library: Library) -> str:
    """Do nothing: the change is final."""
    return ""


def _name_all(chosen: Sequence[Entry]) -> str:
    """Return the name of one run, or the number of several."""
    from app.library.columns import name_of

    return f'"{name_of(chosen[0])}"' if len(chosen) == 1 else f"{len(chosen)} runs"
