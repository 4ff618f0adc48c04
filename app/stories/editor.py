"""Dialog of a story: marked moments of the run at the left, the story's moments at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from PySide6.QtCore import QPoint, QSignalBlocker, QSize, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.state.views import VIEWS
from app.stories.moment_list import MomentList
from app.widgets.inputs import ChoiceBox, push_button
from app.widgets.labels import heading_label, quiet_label
from app.widgets.layouts import add_all, space, widen_for_title
from app.widgets.screen_text import greek
from core.numbers import raise_powers, time_text
from core.stories.story import (
    LONGEST_SENTENCE,
    LONGEST_TITLE,
    Story,
    StoryMoment,
    drop_moment,
    insert_moment,
    move_moment,
    replace_moment,
)

MOST_UNDONE = 200
HINT = (
    "Drag bookmarks and notes into the story, and drag moments into another order. Alt+Up and "
    "Alt+Down move a moment, Delete removes it, Ctrl+Z undoes."
)
NO_SENTENCE = "(no sentence yet)"
ALL_VIEWS = "All views"


@final
@dataclass(frozen=True, slots=True)
class MarkedMoment:
    """Bookmark or note that can become a moment of a story."""

    text: str
    moment: StoryMoment


def moment_line(moment: StoryMoment, steps: bool) -> str:
    """Return a moment of a story as one line; `steps` says that t counts steps."""
    when = raise_powers(time_text(moment.log10_time, steps))
    return f"{when} \u2013 {greek(moment.sentence) or NO_SENTENCE}"


@final
class StoryDialog(QDialog):
    """Editor of a story. Every change emits the whole new story."""

    story_changed = Signal(object)
    """`Story` after a change."""
    moment_requested = Signal(int)
    """Place of the moment that was selected."""
    present_requested = Signal()
    """Request to add the moment that the window shows."""
    play_requested = Signal()
    open_requested = Signal()
    save_requested = Signal()
    export_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Story")
        widen_for_title(self)
        self.story, self._steps = Story(), False
        self._marked: tuple[MarkedMoment, ...] = ()
        self._past: list[tuple[Story, int]] = []
        self._typed = -1  # place of the moment whose sentence is typed, so that undo takes it whole
        self.title = QLineEdit(self)
        self.title.setMaxLength(LONGEST_TITLE)
        self.title.setPlaceholderText("Title of the story")
        self.title.setAccessibleName("Title of the story")
        self.marked = MomentList("Bookmarks and notes", self)
        self.moments = MomentList("Moments of the story", self)
        self.sentence = QPlainTextEdit(self)
        self.sentence.setAccessibleName("Sentence")
        self.sentence.setPlaceholderText("Sentence for the selected moment")
        self.sentence.setTabChangesFocus(True)
        self.enlarged = ChoiceBox(self, "View that fills the window")
        self.enlarged.setToolTip("Show all views at this moment, or enlarge one of them")
        self.buttons = self._make_buttons()
        self._lay_out(parent)
        self._connect()
        self._show(-1)

    def _make_buttons(self) -> dict[str, QPushButton]:
        texts = {
            "add": ("&Add to story", "Add the selected bookmark or note to the story"),
            "present": ("Add &this moment", "Add the moment and the views that the window shows"),
            "up": ("Move &up", "Move the moment up (Alt+Up)"),
            "down": ("Move &down", "Move the moment down (Alt+Down)"),
            "remove": ("&Remove", "Remove the moment from the story (Delete)"),
            "undo": ("U&ndo", "Undo the last change (Ctrl+Z)"),
            "open": ("&Open ...", "Open a story"),
            "save": ("&Save ...", "Save the story as a small file"),
            "export": ("E&xport page ...", "Export the story as one HTML file"),
            "play": ("&Play", "Play the story in the window"),
        }
        return {key: push_button(text, self, tip) for key, (text, tip) in texts.items()}

    def _lay_out(self, parent: QWidget) -> None:
        button = self.buttons
        self.sentence.setFixedHeight(4 * self.fontMetrics().lineSpacing())
        columns = space(QGridLayout(), spacing=(12, 4))
        columns.addWidget(heading_label("Bookmarks and notes", self), 0, 0)
        columns.addWidget(heading_label("Story", self), 0, 1)
        columns.addWidget(self.marked, 1, 0)
        columns.addWidget(self.moments, 1, 1)
        sources = add_all(space(QHBoxLayout(), spacing=8), button["add"], button["present"], 1)
        order = [button[key] for key in ("up", "down", "remove", "undo")]
        columns.addLayout(sources, 2, 0)
        columns.addLayout(add_all(space(QHBoxLayout(), spacing=8), *order, 1), 2, 1)
        columns.setColumnStretch(0, 2)
        columns.setColumnStretch(1, 3)
        columns.setRowStretch(1, 1)
        files = [button[key] for key in ("open", "save", "export")]
        foot = add_all(space(QHBoxLayout(), spacing=8), *files, 1, button["play"])
        column = space(QVBoxLayout(self), (16, 16, 16, 16), 8)
        view_row = add_all(
            space(QHBoxLayout(), spacing=8), quiet_label("Show", self), self.enlarged, 1
        )
        add_all(column, self.title, (columns, 1), self.sentence, view_row)
        add_all(column, quiet_label(HINT, self, wrap=True), foot)
        room = parent.size() - QSize(48, 80)
        self.resize(QSize(760, 560).boundedTo(room))

    def _connect(self) -> None:
        button = self.buttons
        for key, slot in (
            ("add", self._on_add),
            ("up", self._on_up),
            ("down", self._on_down),
            ("remove", self.remove),
            ("undo", self.undo),
            ("present", self.present_requested),
            ("open", self.open_requested),
            ("save", self.save_requested),
            ("export", self.export_requested),
            ("play", self.play_requested),
        ):
            button[key].clicked.connect(slot)
        self.title.textEdited.connect(self._on_title)
        self.sentence.textChanged.connect(self._on_sentence)
        self.enlarged.activated.connect(self._on_enlarged)
        self.moments.currentRowChanged.connect(self._on_row)
        self.moments.move_requested.connect(self.move_by)
        self.moments.removal_requested.connect(self.remove)
        self.marked.itemDoubleClicked.connect(self._on_add)
        self.marked.row_dragged.connect(self._on_dragged)
        self.moments.row_dragged.connect(self._on_dragged)
        self.marked.row_dropped.connect(self._on_marked_dropped)
        self.moments.row_dropped.connect(self._on_moment_dropped)
        undo = QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self)
        undo.activated.connect(self.undo)

    # --------------------------------------------------------------------------------- state

    @property
    def place(self) -> int:
        """Place of the selected moment, -1 for none."""
        return self.moments.currentRow()

    def set_story(self, story: Story, place: int = 0) -> None:
        """Show another story, without earlier changes to undo."""
        self._past.clear()
        self.story = story
        self.title.setText(story.title)
        self._show(min(place, len(story.moments) - 1))

    def set_marked(self, marked: Sequence[MarkedMoment], steps: bool) -> None:
        """Show the bookmarks and notes of the run; `steps` says that t counts steps."""
        self._marked, self._steps = tuple(marked), steps
        self.marked.set_texts([one.text for one in marked], 0 if marked else -1)
        self._show(self.place)

    def add(self, moment: StoryMoment) -> None:
        """Add a moment after the selected one, ready for its sentence."""
        self._insert(self.place + 1, moment)
        self.sentence.setFocus()

    def _insert(self, place: int, moment: StoryMoment) -> None:
        self._change(insert_moment(self.story, place, moment), place)

    def _change(self, story: Story, place: int, typed: int = -1) -> None:
        """Make a change that undo takes back; typing in one sentence is one change."""
        if typed < 0 or typed != self._typed:
            self._past = [*self._past, (self.story, self.place)][-MOST_UNDONE:]
        self._typed = typed
        self.story = story
        self._show(place)
        self.story_changed.emit(story)

    def undo(self) -> None:
        """Take back the last change."""
        if self._past:
            self.story, place = self._past.pop()
            self._typed = -1
            self.title.setText(self.story.title)
            self._show(place)
            self.story_changed.emit(self.story)

    def _show(self, place: int) -> None:
        """Show the story, with the moment at a place selected."""
        lines = [moment_line(one, self._steps) for one in self.story.moments]
        self.moments.set_texts(lines, place)
        moment = self.story.moments[place] if 0 <= place < len(lines) else None
        sentence = "" if moment is None else moment.sentence
        if moment is None or " ".join(self.sentence.toPlainText().split()) != sentence:
            with QSignalBlocker(self.sentence):
                self.sentence.setPlainText(sentence)
        self._offer_views(moment)
        for part in (self.sentence, self.enlarged, self.buttons["remove"]):
            part.setEnabled(moment is not None)
        self.buttons["up"].setEnabled(place > 0)
        self.buttons["down"].setEnabled(0 <= place < len(lines) - 1)
        self.buttons["undo"].setEnabled(bool(self._past))
        self.buttons["add"].setEnabled(bool(self._marked))
        for key in ("save", "export", "play"):
            self.buttons[key].setEnabled(bool(lines))

    def _offer_views(self, moment: StoryMoment | None) -> None:
        """Offer all views of a moment, or one of them."""
        self.enlarged.clear()
        self.enlarged.addItem(ALL_VIEWS, "")
        names = (moment.views if moment is not None else ()) or tuple(
            kind.name for kind in VIEWS.values()
        )
        for name in names:
            title = VIEWS[name].title if name in VIEWS else name
            self.enlarged.addItem(f"Only {title.lower()}", name)
        place = self.enlarged.findData(moment.enlarged) if moment is not None else 0
        self.enlarged.setCurrentIndex(max(place, 0))

    # --------------------------------------------------------------------------------- slots

    def _on_add(self) -> None:
        row = self.marked.currentRow()
        if 0 <= row < len(self._marked):
            self._insert(self.place + 1, self._marked[row].moment)

    def _on_up(self) -> None:
        self.move_by(-1)

    def _on_down(self) -> None:
        self.move_by(1)

    def move_by(self, by: int) -> None:
        """Move the selected moment up (-1) or down (1)."""
        target = self.place + by
        if self.place >= 0 and 0 <= target < len(self.story.moments):
            self._change(move_moment(self.story, self.place, target), target)

    def remove(self) -> None:
        """Remove the selected moment."""
        if self.place >= 0:
            story = drop_moment(self.story, self.place)
            self._change(story, min(self.place, len(story.moments) - 1))

    def _on_title(self, text: str) -> None:
        self.story = replace(self.story, title=text)
        self.story_changed.emit(self.story)

    def _on_sentence(self) -> None:
        text = " ".join(self.sentence.toPlainText().split())[:LONGEST_SENTENCE]
        if self.place >= 0:
            moment = replace(self.story.moments[self.place], sentence=text)
            self._change(replace_moment(self.story, self.place, moment), self.place, self.place)

    def _on_enlarged(self, index: int) -> None:
        if self.place >= 0:
            name = str(self.enlarged.itemData(index))
            moment = replace(self.story.moments[self.place], enlarged=name)
            self._change(replace_moment(self.story, self.place, moment), self.place)

    def _on_row(self, row: int) -> None:
        self._show(row)
        self.moment_requested.emit(row)

    def _on_dragged(self, _row: int, place: QPoint) -> None:
        self.moments.set_gap(self.moments.gap_at(place))

    def _on_marked_dropped(self, row: int, place: QPoint) -> None:
        gap = self.moments.gap_at(place)
        self.moments.set_gap(-1)
        if gap >= 0:
            self._insert(gap, self._marked[row].moment)

    def _on_moment_dropped(self, row: int, place: QPoint) -> None:
        gap = self.moments.gap_at(place)
        self.moments.set_gap(-1)
        target = gap - (gap > row)
        if gap >= 0 and target != row:
            self._change(move_moment(self.story, row, target), target)
