"""Controls for values: lines of text, choices, numbers, buttons.

The decimal sign of numbers is a point (app.qt_application). Qt drops a comma, or a point, as a sign
between groups of digits: 8,5 becomes 85.
"""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QPalette,
    QValidator,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from app.style import icon_of_colours, line_of
from app.widgets.labels import plain_tip
from core.numbers import MINUS, dropped_zero, fixed_text

# Of the window's grid (app.style): a line is 24 pixels high, and larger heights are multiples of
# 4.
HEIGHT = 24
# Pixels around a control's text: edges, padding, and the arrow of a choice (app.style_sheet).
AROUND_TEXT, AROUND_CHOICE = 22, 30
UNDO, REDO = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo


def line_height(widget: QWidget, least: int = HEIGHT) -> int:
    """Return the height of one line: the grid's, or more for a large system font."""
    return max(least, line_of(widget.font()))


def set_property(widget: QWidget, name: str, value: bool) -> None:
    """Set a property that the style sheet uses, and restyle the widget if it changed."""
    if bool(widget.property(name)) == value:
        return
    widget.setProperty(name, value)
    # Qt evaluates properties only when a widget is polished.
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def push_button(text: str, parent: QWidget, tip: str = "") -> QPushButton:
    """Return a button that Return presses only while it has the focus."""
    button = QPushButton(text, parent, autoDefault=False)
    button.setToolTip(plain_tip(tip))
    return button


def text_width(control: QLineEdit | QComboBox) -> int:
    """Return the width of a control that shows its text uncut."""
    metrics = control.fontMetrics()
    if isinstance(control, QComboBox):
        return metrics.horizontalAdvance(control.currentText()) + AROUND_CHOICE
    texts = (control.text(), control.placeholderText())
    return max(map(metrics.horizontalAdvance, texts)) + AROUND_TEXT


@final
class ValueEdit(QLineEdit):
    """Line of text; Escape requests the earlier value. For a path it offers a dialog."""

    restore_requested = Signal()
    browse_requested = Signal()
    """The folder button, or the empty line of a path, was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(line_height(self))
        self.browse: QAction | None = None

    def add_browse(self) -> None:
        """Add a folder button at the right end."""
        self.browse = QAction("Browse ...", self)
        self.browse.triggered.connect(self.browse_requested)
        self._show_folder()
        self.addAction(self.browse, QLineEdit.ActionPosition.TrailingPosition)

    def _show_folder(self) -> None:
        assert self.browse is not None
        colours = self.palette()
        muted = colours.color(QPalette.ColorRole.PlaceholderText).name()
        self.browse.setIcon(icon_of_colours("open", muted, muted))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and self.browse is not None:
            self._show_folder()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        inside = self.rect().contains(event.position().toPoint())
        if self.browse is not None and is_left and inside and not self.text():
            self.browse_requested.emit()

    def event(self, event: QEvent) -> bool:
        # The window undoes edits of this field with all others, not the field by itself.
        if event.type() is QEvent.Type.ShortcutOverride:
            assert isinstance(event, QKeyEvent)
            if event.matches(UNDO) or event.matches(REDO):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Otherwise the window handles Escape and unpins neurons.
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.restore_requested.emit()
            return
        super().keyPressEvent(event)


@final
class ChoiceBox(QComboBox):
    """Combo box that ignores the wheel without the focus, so that panels can scroll."""

    choices_needed = Signal()
    """Emitted before the choices are used: the box gets the focus or opens."""

    def __init__(self, parent: QWidget | None = None, name: str = "", letters: int = 6) -> None:
        """`name` is for screen readers; the box has room for at least `letters` characters."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFixedHeight(line_height(self))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # Qt's default is the width of the longest choice, which would keep the panel wide.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(letters)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as Qt does, but elide a long choice."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        if self.currentIndex() < 0:
            muted = self.palette().brush(QPalette.ColorRole.PlaceholderText)
            option.palette.setBrush(QPalette.ColorRole.ButtonText, muted)
            option.currentText = self.placeholderText()
        room = self.width() - AROUND_CHOICE + 2
        elide = Qt.TextElideMode.ElideRight
        option.currentText = self.fontMetrics().elidedText(option.currentText, elide, room)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.choices_needed.emit()

    def showPopup(self) -> None:
        self.choices_needed.emit()
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


Answer = tuple[QValidator.State, str, int]


@final
class WholeBox(QSpinBox):
    """Field for a whole number; texts with a comma or a point are incomplete."""

    def validate(self, text: str, position: int) -> Answer:
        if {",", "."} & set(text):
            # Not "invalid": Qt would drop only the sign, turning 1,5 into 15.
            return QValidator.State.Intermediate, text, position
        answer: Answer = super().validate(text, position)
        return answer

    def fixup(self, text: str) -> str:
        return text  # Qt would remove commas


@final
class DecimalBox(QDoubleSpinBox):
    """Field for a number, written as everywhere (core.numbers): .05, without trailing zeros.

    It takes a decimal point or a comma, with or without a zero before it; texts with both are
    incomplete.
    """

    def validate(self, text: str, position: int) -> Answer:
        if text.count(",") + text.count(".") > 1:
            return QValidator.State.Intermediate, text, position
        state, checked, place = super().validate(_plain_number(text), position)
        # Qt shows the text that is returned here.
        return state, checked.replace("-", MINUS) if MINUS in text else checked, place

    def fixup(self, text: str) -> str:
        return text

    def valueFromText(self, text: str) -> float:
        return super().valueFromText(_plain_number(text))

    def textFromValue(self, value: float) -> str:
        return dropped_zero(fixed_text(value, self.decimals()))


def _plain_number(text: str) -> str:
    """Return a number as Qt reads it."""
    return text.replace(",", ".").replace(MINUS, "-")


PAGE = 8  # rows
ACCEPTS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
MOVES = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -PAGE,
    Qt.Key.Key_PageDown: PAGE,
}
TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


@final
class SearchLine(QLineEdit):
    """Line of text whose keys also move in the list of matches."""

    selection_moved = Signal(int)
    """Number of rows to move down; negative for up."""
    accepted = Signal(bool)
    """Return was pressed; True with Shift."""
    run_requested = Signal()
    """Ctrl+Return was pressed."""
    focus_left = Signal()
    """Escape was pressed."""

    def __init__(self, hint: str, parent: QWidget, alone: bool = False) -> None:
        """`alone`: Tab has no other target."""
        super().__init__(parent)
        self.setPlaceholderText(hint)
        self.setAccessibleName(hint)
        self.setClearButtonEnabled(True)
        self._alone = alone

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            key = Qt.Key(event.key())
            if self._alone and key in TABS:
                return True
            if key in MOVES:
                self.selection_moved.emit(MOVES[key])
                return True
            if key in ACCEPTS and event.modifiers() & CONTROL:
                self.run_requested.emit()
                return True
            if key in ACCEPTS:
                self.accepted.emit(bool(event.modifiers() & SHIFT))
                return True
            if key == Qt.Key.Key_Escape:
                self.focus_left.emit()
                return True
        return super().event(event)


def row_after(row: int, step: int, count: int) -> int:
    """Return the row after a move: single steps wrap around, pages stop at the ends.

    >>> row_after(0, -1, 5), row_after(4, 1, 5), row_after(1, 8, 5), row_after(1, -8, 5)
    (4, 0, 4, 0)
    """
    if abs(step) == 1:
        return (row + step) % max(count, 1)
    return min(max(row + step, 0), max(count - 1, 0))
