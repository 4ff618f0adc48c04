"""Sentence on a wrong value of the form, at a fixed place and of a fixed height.

The sentence moves no control as it appears; pressing it leads to the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractButton, QApplication, QSizePolicy, QWidget

from app.style import small
from app.widgets.labels import plain_tip, show_tip

LEAD = "Press to go to the field."


@final
@dataclass(frozen=True)
class WrongValue:
    """Sentence on a value of the form, and the value's control; None for the whole study."""

    sentence: str
    control: QWidget | None


@final
class ProblemLine(QAbstractButton):
    """Sentence on the wrong value with the focus, else on the first one; the end may be cut."""

    control_requested = Signal(QWidget)
    """Control of the shown wrong value; emitted at a click."""

    def __init__(self, n_lines: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._values: Sequence[WrongValue] = ()
        self._place = 0
        self.setFont(small(self.font()))
        self.setFixedHeight(n_lines * self.fontMetrics().lineSpacing())
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the field its focus
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # painted again for the mouse
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._on_clicked)
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]
        self.hide()

    def show_values(self, values: Sequence[WrongValue]) -> None:
        """Show one of these wrong values; hide the line if all values are right."""
        self._values = values
        focused = QApplication.focusWidget()
        self._show(next((k for k, one in enumerate(values) if one.control is focused), 0))

    def sentence(self) -> str:
        """Return the shown sentence, uncut and without a count; "" for none."""
        return self._values[self._place].sentence if self._values else ""

    def words(self) -> str:
        """Return the line, uncut: the sentence after the count of several wrong values."""
        count = len(self._values)
        return f"{count} wrong values. {self.sentence()}" if count > 1 else self.sentence()

    def shown_lines(self) -> list[str]:
        """Return the lines as painted."""
        words, metrics = self.words(), QFontMetricsF(self.font())
        n_lines = max(1, int(self.height() / metrics.lineSpacing()))
        layout = QTextLayout(words, self.font())
        option = QTextOption()
        # Paths have no spaces.
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        lines: list[str] = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.width())
            start, length = line.textStart(), line.textLength()
            if len(lines) == n_lines - 1:
                elide = Qt.TextElideMode.ElideRight
                lines.append(metrics.elidedText(words[start:], elide, self.width()))
                break
            lines.append(words[start : start + length].rstrip())
        layout.endLayout()
        return lines

    def sizeHint(self) -> QSize:
        return QSize(0, self.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _show(self, place: int) -> None:
        self._place = place
        self.setAccessibleName(self.words())
        self.setToolTip(plain_tip(f"{self.words()}\n\n{LEAD}" if self._values else ""))
        self.setVisible(bool(self._values))
        self.update()

    def _on_focus_changed(self, _before: QWidget | None, focused: QWidget | None) -> None:
        for place, one in enumerate(self._values):
            if focused is not None and one.control is focused:
                self._show(place)

    def _on_clicked(self) -> None:
        """Go to the field of the sentence, or from this field to the next wrong one."""
        control = self._values[self._place].control
        if control is not None and control.hasFocus():
            self._show((self._place + 1) % len(self._values))
            control = self._values[self._place].control
        if control is None:
            return
        self.control_requested.emit(control)
        if self.shown_lines()[-1] not in self.words():  # the end is cut
            show_tip(control.mapToGlobal(control.rect().bottomLeft()), self.sentence(), control)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self.font()
        font.setUnderline(self.hasFocus() or self.underMouse())
        painter.setFont(font)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        metrics = QFontMetricsF(font)
        lines = self.shown_lines()
        top = (self.height() - len(lines) * metrics.lineSpacing()) / 2 + metrics.ascent()
        for number, line in enumerate(lines):
            painter.drawText(QPointF(0.0, top + number * metrics.lineSpacing()), line)
        painter.end()
