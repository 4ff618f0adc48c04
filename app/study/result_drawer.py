"""Drawer of a study's result: its figure, whose points open runs, and its judged claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QToolButton, QVBoxLayout, QWidget

from app.qt_workarounds import ActionButtonSync
from app.study.claim_list import ClaimList
from app.widgets.inputs import push_button
from app.widgets.keyboard import ButtonKeyActivation
from app.widgets.labels import heading_label, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.study_picture import StudyPicture
from core.figures.palette import Palette

WIDTH = 400  # pixels, for a panel of the figure with legible letters
SHARES = (600, 400)  # of figure and claims in the height, pixels
HINT, LINE_HINT = "Click a point to open its run.", "Click a curve to open one of its runs."
STORY_ACTIONS = ("play_story", "story_page")


@final
class ResultDrawer(QWidget):
    """Title, story, figure and claims of a study."""

    opened = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Study")
        self.title = heading_label("", self)
        self.title.setWordWrap(True)
        self.origin = quiet_label("", self, wrap=True)
        self.picture = StudyPicture(palette, self)
        self.hint = quiet_label(HINT, self, wrap=True)
        self.claims = ClaimList(palette, self)
        self.whole = push_button(
            "Run whole study ...", self, "Train all runs of the study, at this or another size"
        )
        self.story = quiet_label("", self, wrap=True)
        self.story_buttons: dict[str, QToolButton] = {}
        self._story_row = QWidget(self)
        self._keys = ButtonKeyActivation(self)
        space(QHBoxLayout(self._story_row), spacing=8).addStretch(1)
        self.set_story("")
        head = QWidget(self)
        column = space(QVBoxLayout(head), (16, 12, 16, 4), 4)
        add_all(column, self.title, self.origin, self.story, self._story_row)
        foot = QWidget(self)
        add_all(space(QVBoxLayout(foot), (16, 8, 16, 12), 0), self.whole)
        figure = QWidget(self)
        self.hint.setContentsMargins(16, 0, 16, 4)
        add_all(space(QVBoxLayout(figure), spacing=0), (self.picture, 1), self.hint)
        self._parts = QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False)
        self._figure = figure
        for place, part in enumerate((figure, self.claims)):
            self._parts.addWidget(part)
            self._parts.setStretchFactor(place, 1)
        self._parts.setSizes([*SHARES])
        add_all(space(QVBoxLayout(self), spacing=0), head, (self._parts, 1), foot)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 640)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.opened.emit()

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Add the buttons of a story, which are actions of the table."""
        row = self._story_row.layout()
        assert isinstance(row, QHBoxLayout)
        for place, key in enumerate(STORY_ACTIONS):
            button = QToolButton(self._story_row)
            button.setProperty("filled", True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setDefaultAction(actions[key])
            ActionButtonSync(button)
            self._keys.add(button)
            row.insertWidget(place, button)
            self.story_buttons[key] = button

    def set_story(self, sentence: str) -> None:
        """Show a sentence about the story that can be played, with its buttons; "" for none."""
        self.story.setText(sentence)
        for part in (self.story, self._story_row):
            part.setVisible(bool(sentence))

    def set_has_figure(self, has_figure: bool) -> None:
        """Show the figure's place, or give its room to the claims."""
        self._figure.setVisible(has_figure)

    def set_colours(self, palette: Palette) -> None:
        """Set the palette; the owner draws the figure again."""
        self.picture.set_colours(palette)
        self.claims.set_colours(palette)
