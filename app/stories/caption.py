"""Caption of a story: one sentence below the plots, at a height that fits every sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from app.widgets.labels import plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.screen_text import rich

SENTENCE_SCALE = 1.15  # factor of the font size
AROUND = 8  # pixels above and below a sentence


@final
class StoryCaption(QFrame):
    """Sentence of the present moment, with buttons for its neighbours and the end of the story.

    The plots above keep their size from moment to moment, since the caption keeps its height.
    """

    step_requested = Signal(int)  # 1: next moment, -1: the moment before
    close_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("storyCaption")
        self.setAccessibleName("Story")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._sentences: tuple[str, ...] = ()
        self.sentence = QLabel(self, textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.count = quiet_label("", self)
        self.back = self._button("\u2039", "Moment before (Shift+Space)")
        self.next = self._button("\u203a", "Next moment (Space)")
        self.stop = self._button("\u00d7", "End the story (Esc)")
        self.back.clicked.connect(self._on_back)
        self.next.clicked.connect(self._on_next)
        self.stop.clicked.connect(self.close_requested)
        row = space(QHBoxLayout(self), (12, 0, 12, 0), 8)
        add_all(row, self.back, (self.sentence, 1), self.count, self.next, self.stop)
        self.hide()

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self, autoRaise=True)
        button.setText(text)
        button.setToolTip(plain_tip(tip))
        button.setAccessibleName(tip.partition(" (")[0])
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Space is the key of the next moment
        return button

    def set_sentences(self, sentences: Sequence[str]) -> None:
        """Set all sentences of the story, which decide the height."""
        self._sentences = tuple(sentences)
        self._fit()

    def show_moment(self, place: int) -> None:
        """Show the sentence at a place, counted from 0."""
        count, text = len(self._sentences), self._sentences[place]
        self.sentence.setText(rich(text))
        self.count.setText(f"{place + 1} / {count}")
        self.back.setEnabled(place > 0)
        self.next.setEnabled(place + 1 < count)
        self.setAccessibleDescription(f"Moment {place + 1} of {count}. {text}")

    def _fit(self) -> None:
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * SENTENCE_SCALE)
        self.sentence.setFont(font)
        buttons = (self.back, self.next, self.stop)
        used_width = sum(one.sizeHint().width() + 8 for one in buttons)
        used_width += self.count.fontMetrics().horizontalAdvance("00 / 00") + 8 + 24
        room = max(self.width() - used_width, 80)
        probe = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True)
        probe.setFont(font)
        height = probe.fontMetrics().height()
        for text in self._sentences:
            probe.setText(rich(text))
            height = max(height, probe.heightForWidth(room))
        self.setFixedHeight(max(height, self.next.sizeHint().height()) + 2 * AROUND)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _on_back(self) -> None:
        self.step_requested.emit(-1)

    def _on_next(self) -> None:
        self.step_requested.emit(1)
