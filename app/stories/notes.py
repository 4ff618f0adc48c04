"""Notes at moments and at points of curves: written, listed, edited and deleted in the window."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.playback.display import DisplayController
from app.playback.time_slider import TimeSlider
from app.state.intent import START
from app.widgets.dialogs import line_dialog
from app.widgets.labels import menu_text, rich_tip
from app.widgets.screen_text import greek, rich
from core.errors import MarginscopeError
from core.library.entry import MomentNote, RunNotes
from core.library.run_notes import change_about, read_about
from core.numbers import number_text, raise_powers, time_text
from core.problem.schedule import coordinate, inverse_coordinate

NO_RUN = "Open a run first: notes are about moments of recorded runs."
NO_NOTES = "No notes yet. Write one with Add note at this moment ..."
LONGEST_ENTRY = 60  # characters of a note in a menu
DIALOG_WIDTH = 480


@final
class NoteController(QObject):
    """Notes of the current run, in the order of time."""

    message = Signal(str)
    """Reason for a failure."""
    notice = Signal(str, list)
    """Confirmation, and actions (`QAction`) for the next step."""
    notes_changed = Signal()

    def __init__(
        self, window: QWidget, menu: QMenu, slider: TimeSlider, display: DisplayController
    ) -> None:
        super().__init__(window)
        self._window, self._menu, self._slider = window, menu, slider
        self._display = display
        self._edits = QMenu("&Edit note", menu.parentWidget())
        self._removals = QMenu("&Delete note", menu.parentWidget())
        self._path: Path | None = None
        self.notes: tuple[MomentNote, ...] = ()
        self._deleted: MomentNote | None = None
        self._draft: MomentNote | None = None  # note that the dialog is about
        self._is_new = True
        self._undo = QAction("&Undo", self)
        self._undo.triggered.connect(self._on_undo)
        self._edit = QAction("&Edit note ...", self)
        self._edit.triggered.connect(self._on_edit)
        self._delete = QAction("&Delete note", self)
        self._delete.triggered.connect(self._on_delete)
        display.runs_changed.connect(self._on_runs_changed)
        display.current_changed.connect(self._on_runs_changed)
        menu.aboutToShow.connect(self._read)
        for one in (menu, self._edits, self._removals):
            one.triggered.connect(self._on_triggered)
        slider.note_clicked.connect(self.show)
        slider.note_menu_requested.connect(self._on_menu_requested)
        self._fill_menu()

    # ------------------------------------------------------------------------------- reading

    def _on_runs_changed(self) -> None:
        run = self._display.current
        path = run.path if run is not None else None
        if path != self._path:
            self._path, self._deleted = path, None
            self._read()
        else:
            self._show_at_curves()

    def _show_at_curves(self) -> None:
        """Mark the notes in the plots of the current run."""
        current = self._display.current
        for panel in self._display.panels:
            panel.set_notes(self.notes if panel.run is current and current is not None else ())

    def _read(self) -> None:
        """Read the notes, which another window may have written."""
        notes: tuple[MomentNote, ...] = ()
        if self._path is not None:
            try:
                notes = read_about(self._path).moments
            except MarginscopeError as error:
                self.message.emit(error.sentence)
        self._set_notes(notes)

    def _set_notes(self, notes: tuple[MomentNote, ...]) -> None:
        self.notes = notes
        self._slider.notes.set_notes(
            [(one.log10_time, self._tip(number, one)) for number, one in enumerate(notes)]
        )
        self._slider.update()
        self._show_at_curves()
        self._fill_menu()
        self.notes_changed.emit()

    def _fill_menu(self) -> None:
        for menu in (self._menu, self._edits, self._removals):
            menu.clear()
        for number, one in enumerate(self.notes):
            text = menu_text(self._entry(number, one))
            for menu, verb in (
                (self._menu, "show"),
                (self._edits, "edit"),
                (self._removals, "delete"),
            ):
                action = menu.addAction(text)
                action.setData((verb, number))
                action.setToolTip(rich_tip(self._tip(number, one)))
        if not self.notes:
            self._menu.addAction(NO_NOTES).setEnabled(False)
            return
        self._menu.addSeparator()
        self._menu.addMenu(self._edits)
        self._menu.addMenu(self._removals)

    def _time_text(self, one: MomentNote) -> str:
        run = self._display.current
        steps = run is not None and run.counts_steps
        return raise_powers(time_text(one.log10_time, steps, padded=True))

    def _entry(self, number: int, one: MomentNote) -> str:
        text = greek(one.text)
        short = text if len(text) <= LONGEST_ENTRY else f"{text[: LONGEST_ENTRY - 1]}\u2026"
        return f"{number + 1}. {short} ({self._time_text(one)})"

    def _tip(self, number: int, one: MomentNote) -> str:
        """Return a note as rich text."""
        where = html.escape(self._time_text(one))
        if one.quantity and one.value is not None:
            value = raise_powers(number_text(one.value, 4))
            where = f"{where}, {rich(one.quantity)} = {html.escape(value)}"
        return f"<p>{number + 1}. {rich(one.text)}</p><p>{where}</p>"

    # ------------------------------------------------------------------------------- writing

    def request_text(self) -> None:
        """Let the user write a note at this moment."""
        view = self._display.view
        start = view.cursor <= view.span.low
        when = float("-inf") if start else float(inverse_coordinate(view.cursor))
        self.request_note(MomentNote(when, ""))

    def request_note(self, draft: MomentNote) -> None:
        """Let the user write a note at a moment, or at a point of a curve."""
        if self._path is None:
            self.message.emit(NO_RUN)
            return
        self._open_dialog(draft, is_new=True)

    def _open_dialog(self, draft: MomentNote, is_new: bool) -> None:
        self._draft, self._is_new = draft, is_new
        title = "Add note" if is_new else "Edit note"
        dialog = line_dialog(
            self._window, "note", title, f"Note ({self._time_text(draft)})", draft.text
        )
        dialog.resize(DIALOG_WIDTH, dialog.sizeHint().height())
        dialog.textValueSelected.connect(self._on_text)
        dialog.open()

    def _on_text(self, text: str) -> None:
        draft, self._draft = self._draft, None
        if draft is None or not text.strip():
            return
        note = replace(draft, text=text)
        previous_note = None if self._is_new else draft
        if self._change(partial(_replace_note, previous_note, note)):
            words = "Added" if self._is_new else "Changed"
            self.notice.emit(f"{words} the note at {self._time_text(note)}.", [])

    def _change(self, change: Callable[[RunNotes], RunNotes]) -> bool:
        """Change the notes beside the run; report a failure, and return False."""
        if self._path is None:
            return False
        try:
            about = change_about(self._path, change)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return False
        self._set_notes(about.moments)
        return True

    def delete(self, number: int) -> None:
        """Delete a note; a button of the message bar takes that back."""
        if 0 <= number < len(self.notes):
            note = self.notes[number]
            if self._change(partial(_replace_note, note, None)):
                self._deleted = note
                self.notice.emit(f"Deleted the note at {self._time_text(note)}.", [self._undo])

    def _on_undo(self) -> None:
        note, self._deleted = self._deleted, None
        if note is not None and self._change(partial(_replace_note, None, note)):
            self.notice.emit(f"Restored the note at {self._time_text(note)}.", [])

    # ------------------------------------------------------------------------------- showing

    def show(self, number: int) -> None:
        """Go to the moment of a note, and show its text with the next steps."""
        if not 0 <= number < len(self.notes):
            return
        note = self.notes[number]
        self._draft = note
        cursor = float(coordinate(note.log10_time)) if note.log10_time > float("-inf") else START
        self._display.update_intent(cursor=cursor, playing=False, follow=False)
        self.notice.emit(f"{number + 1}. {greek(note.text)}", [self._edit, self._delete])

    def edit(self, number: int) -> None:
        """Let the user change a note."""
        if 0 <= number < len(self.notes):
            self._open_dialog(self.notes[number], is_new=False)

    def _on_edit(self) -> None:
        if self._draft in self.notes:
            self.edit(self.notes.index(self._draft))

    def _on_delete(self) -> None:
        if self._draft in self.notes:
            self.delete(self.notes.index(self._draft))

    def _on_triggered(self, action: QAction) -> None:
        # A click in a submenu is also a signal of the menu around it; the palette's choice is not.
        match action.data():
            case "show", int(number) if self.sender() is self._menu:
                self.show(number)
            case "edit", int(number) if self.sender() is self._edits:
                self.edit(number)
            case "delete", int(number) if self.sender() is self._removals:
                self.delete(number)

    def _on_menu_requested(self, number: int, place: QPoint) -> None:
        self._draft = self.notes[number]
        menu = QMenu(self._window)
        menu.addActions([self._edit, self._delete])
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)


def _replace_note(
    previous_note: MomentNote | None, new: MomentNote | None, about: RunNotes
) -> RunNotes:
    """Return the notes of a run without an old note, and with a new one."""
    other_notes = tuple(one for one in about.moments if one != previous_note)
    return replace(about, moments=other_notes if new is None else (*other_notes, new))
