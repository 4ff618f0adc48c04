"""Buttons of a paper's statements: the line with the verdict, the check box and the fold."""

from __future__ import annotations

import math
from typing import final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QPushButton, QSizePolicy, QWidget

from app.theory.statement_lines import StatementLine, paint_stripe
from app.widgets.inputs import line_height
from app.widgets.labels import rich_tip
from app.widgets.verdict_mark import VERDICT_STYLES, VerdictStyle, hue_of, paint_mark
from core.figures.palette import Palette

MARK = 14.0  # pixels, size of the verdict's mark
STRIPE = 4.0  # pixels, height of the stripe over time
INDENT = 24.0  # pixels, of the content beside the mark
SMALL = 0.92  # factor of the font size for sentence, time and slack
WRAPPED = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


def accept_key(event: QEvent) -> bool:
    """Accept space, Return or Enter without modifiers for a button; return True if accepted.

    Only a ShortcutOverride event is accepted, before the window's shortcuts, such as the space bar
    that plays the run. Nothing is pressed here.
    """
    mine = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
    if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() in mine and not event.modifiers():
        event.accept()
        return True
    return False


@final
class BoundBox(QCheckBox):
    """Check box that the space bar toggles while focused, without playing the run."""

    def event(self, event: QEvent) -> bool:
        """Claim the button's keys before the window's shortcuts."""
        return accept_key(event) or super().event(event)


@final
class VerdictFold(QPushButton):
    """Button that unfolds the undecided statements while it is checked.

    It reads "Show 3 undecided", or "Hide 3 undecided" while checked. The space bar presses it.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setFlat(True)
        self._count = 0
        self.toggled.connect(self._show_words)

    def set_count(self, count: int) -> None:
        """Set the number of undecided statements, which the button shows."""
        self._count = count
        self._show_words()

    def _show_words(self) -> None:
        """Set the text of the button, for its state and count."""
        verb = "Hide" if self.isChecked() else "Show"
        self.setText(f"{verb} {self._count} undecided")

    def event(self, event: QEvent) -> bool:
        """Claim the button's keys before the window's shortcuts."""
        return accept_key(event) or super().event(event)


@final
class VerdictLine(QAbstractButton):
    """Button that opens or closes a statement's details, by a click, space, Return or Enter.

    From the top: the verdict's mark, the statement's number and, at the right, the verdict's word;
    the sentence; timing and slack; the stripe of the conclusion over time.
    """

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette = palette
        self._verdict_style: VerdictStyle = VERDICT_STYLES["not decided"]
        self._name = self._sentence = self._timing = ""
        self.stripe: StatementLine | None = None
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        # A long name is elided and does not widen the panel.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_verdict(
        self, names: tuple[str, str], style: VerdictStyle, timing: str, tip: str
    ) -> None:
        """Show a verdict, with the tool tip `tip` (HTML).

        `names` are the statement's number and its sentence. `timing` is "" if nothing is known.
        """
        before = self._sentence, self._timing
        (self._name, self._sentence), self._verdict_style, self._timing = names, style, timing
        self.setText(f"{self._name}: {style.word}")
        self.setAccessibleName(self.text())
        self.setAccessibleDescription(" ".join(part for part in (names[1], timing) if part))
        self.setToolTip(rich_tip(tip))
        if before != (self._sentence, self._timing):
            self.updateGeometry()
        self.update()

    def show_stripe(self, line: StatementLine | None) -> None:
        """Show where in the run the conclusion holds and fails.

        Hide the stripe for None, and for a line that is not decided over some time.
        """
        decided_line = line if line is not None and line.is_decided else None
        if decided_line != self.stripe:
            if (decided_line is None) != (self.stripe is None):
                self.updateGeometry()
            self.stripe = decided_line
            self.update()

    @property
    def sentence(self) -> str:
        """Shown sentence of the statement, with its paper; "" before the first verdict."""
        return self._sentence

    @property
    def timing(self) -> str:
        """Shown time and slack of the verdict; "" if unknown."""
        return self._timing

    @property
    def word(self) -> str:
        """Shown word of the verdict, "undecided" before the first verdict."""
        return self._verdict_style.word

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()

    def event(self, event: QEvent) -> bool:
        """Claim the button's keys before the window's shortcuts."""
        return accept_key(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Click the button with Return and Enter; Qt does so with the space bar."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of name, wrapped sentence and timing, and stripe if shown."""
        sizes = [self._size_of_text(text, width).height() for text in self._small_texts()]
        below = (5.0 if sizes else 0.0) + (STRIPE + 3.0 if self.stripe else 0.0)
        return math.ceil(line_height(self) + sum(sizes) + below)

    def _small_texts(self) -> list[str]:
        """Return the sentence and the timing, without empty ones."""
        return [text for text in (self._sentence, self._timing) if text]

    def _small_font(self) -> QFont:
        """Return the font of sentence and timing, smaller than the widget's own."""
        font = QFont(self.font())
        font.setPointSizeF(SMALL * font.pointSizeF())
        return font

    def _size_of_text(self, text: str, width: int) -> QSizeF:
        """Return the size of a small text, wrapped in a row of this width, less its indent."""
        room = QRectF(0.0, 0.0, max(width - INDENT - 4.0, 40.0), 1e4)
        return QFontMetricsF(self._small_font()).boundingRect(room, WRAPPED, text).size()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint mark, texts and stripe, on a tint under the pointer and in a frame with focus."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(self._palette.foreground)
        ground.setAlpha(24 if self.isDown() else 14 if self.underMouse() else 0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(self.rect()), 4.0, 4.0)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QColor(hue_of("positive", self._palette)))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4.0, 4.0)
        middle = 0.5 * line_height(self)
        paint_mark(
            painter, self._verdict_style, QRectF(4.0, middle - MARK / 2, MARK, MARK), self._palette
        )
        self._paint_texts(painter)
        if self.stripe is not None:
            place = QPointF(INDENT, self.height() - STRIPE - 4.0)
            box = QRectF(place, QSizeF(self.width() - INDENT - 4.0, STRIPE))
            paint_stripe(painter, self.stripe, box, self._palette)
        painter.end()

    def _paint_texts(self, painter: QPainter) -> None:
        """Paint name (elided) and verdict, and below them sentence and timing in grey."""
        metrics = self.fontMetrics()
        wide = metrics.horizontalAdvance(self._verdict_style.word)
        height = float(line_height(self))
        box = QRectF(INDENT, 0.0, self.width() - INDENT - 4.0, height)
        painter.setPen(QColor(hue_of(self._verdict_style.hue, self._palette)))
        painter.drawText(
            box,
            int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter),
            self._verdict_style.word,
        )
        room = max(box.width() - wide - 8.0, 0.0)
        name = metrics.elidedText(self._name, Qt.TextElideMode.ElideRight, int(room))
        painter.setPen(self.palette().windowText().color())
        painter.drawText(
            QRectF(INDENT, 0.0, room, height),
            int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter),
            name,
        )
        painter.setFont(self._small_font())
        painter.setPen(QColor(self._palette.muted))
        place = QPointF(INDENT, height - 3.0)
        for text in self._small_texts():
            size = QSizeF(box.width(), self._size_of_text(text, self.width()).height())
            painter.drawText(QRectF(place, size), WRAPPED, text)
            place += QPointF(0.0, size.height())
