"""List of studies to choose from: the shipped ones and the loaded one."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.widgets.inputs import ChoiceBox, text_width
from app.widgets.labels import plain_tip
from app.widgets.layouts import add_all, space
from core.studies.study import Study
from core.studies.summaries import Summary, shipped_summaries

OPEN_TEXT = "Open a study file ..."
OPEN = "open"
BROWSE_TEXT = "Browse all studies ..."
BROWSE = "browse"
Role = Qt.ItemDataRole
LEAST_WIDTH = 200  # pixels, in a narrow window
EDGES = 24  # pixels added to the widest title


@final
class StudyChooser(QWidget):
    """List of the shipped studies by title, and of the loaded one from any source."""

    chosen = Signal(str)  # id of a shipped study
    open_requested = Signal()
    browse_requested = Signal()

    def __init__(self, parent: QWidget | None = None, browses: bool = True) -> None:
        """`browses`: offer the page of all studies."""
        super().__init__(parent)
        self.box = ChoiceBox(self, "Study")
        self.box.setMinimumWidth(LEAST_WIDTH)
        add_all(space(QHBoxLayout(self), spacing=8), (self.box, 1))
        self._browses = browses
        self._room: int | None = None  # pixels, None for as many as the title needs
        self._shipped = 0
        self._present = 0
        self._fill()
        self.box.activated.connect(self._on_activated)
        self.box.choices_needed.connect(self._widen_list)

    def set_room(self, width: int) -> None:
        """Leave what is beyond a width in pixels to the widgets beside this one."""
        if width != self._room:
            self._room = width
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return room for the present title, at most half of the window, and what is left."""
        half = self.window().width() // 2
        max_width = max(half if self._room is None else min(half, self._room), LEAST_WIDTH)
        return QSize(min(text_width(self.box), max_width), super().sizeHint().height())

    def _widen_list(self) -> None:
        """Show the titles of the list uncut, as far as the window allows."""
        view = self.box.view()
        scroll = view.verticalScrollBar().sizeHint().width()
        width = view.sizeHintForColumn(0) + scroll + EDGES
        view.setMinimumWidth(max(min(width, self.window().width() - EDGES), 0))

    def _fill(self) -> None:
        for study in shipped_summaries():  # damaged studies do not stop the window from opening
            self.box.addItem(study.title, study.id)
            self.box.setItemData(
                self.box.count() - 1, plain_tip(explanation(study)), Role.ToolTipRole
            )
        self._shipped = self.box.count()
        self.box.insertSeparator(self._shipped)
        if self._browses:
            self.box.addItem(BROWSE_TEXT, BROWSE)
        self.box.addItem(OPEN_TEXT, OPEN)
        # No selection until a study is loaded, since the first one is not shown.
        self.box.setCurrentIndex(-1)
        self._present = -1

    def announce(self, words: str) -> None:
        """Show words while no study is loaded."""
        self.box.setPlaceholderText(words)
        self.updateGeometry()

    def ids(self) -> tuple[str, ...]:
        """Return the ids of the shipped studies."""
        return tuple(self.box.itemData(position) for position in range(self._shipped))

    def set_study(self, study: Study) -> None:
        """Select the loaded study; if it is not shipped, at the end of the list."""
        with QSignalBlocker(self.box):
            # Entries after OPEN are user's studies shown earlier.
            while self.box.itemData(self.box.count() - 1) != OPEN:
                self.box.removeItem(self.box.count() - 1)
            # A user's file may have the name of a shipped study; only shipped studies have no
            # folder.
            if study.folder is None and study.id in self.ids():
                position = self.ids().index(study.id)
            else:
                position = self.box.count()
                self.box.addItem(study.title)
                self.box.setItemData(position, plain_tip(explanation(study)), Role.ToolTipRole)
            self.box.setCurrentIndex(position)
        self._present = position
        self.box.setToolTip(plain_tip(explanation(study)))
        self.updateGeometry()

    def _on_activated(self, position: int) -> None:
        identifier = self.box.itemData(position)
        if identifier in (OPEN, BROWSE, None):
            with QSignalBlocker(self.box):  # keep the present study until another one is open
                self.box.setCurrentIndex(self._present)
            if identifier == OPEN:
                self.open_requested.emit()
            elif identifier == BROWSE:
                self.browse_requested.emit()
            return
        self._present = position
        self.chosen.emit(identifier)


def explanation(study: Study | Summary) -> str:
    """Return title, source and note of a study, for a tool tip."""
    lines = [study.title]
    if study.source:
        lines.append(f"Source: {study.source}.")
    if study.note:
        lines.append(" ".join(study.note.split()))
    return "\n".join(lines)
