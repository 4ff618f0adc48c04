"""The controls that fields are edited with, and how a wrong or an edited one looks."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QPalette,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from app.style import icon_of_colours, line_of
from app.widgets.plain_text import plain_label, plain_tip

# On the grid of the window (app.style): a line is 24 pixels high, and larger ones go by fours.
HEIGHT = 24
MOST_LINES = 3
# Pixels of a control beside its text: edges, padding, and the arrow of a choice (app.style_sheet).
AROUND_TEXT, AROUND_CHOICE = 22, 30
UNDO, REDO = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo


def line_height(widget: QWidget, least: int = HEIGHT) -> int:
    """The height of one line in a widget: the grid's, or more where the system's type is large."""
    return max(least, line_of(widget.font()))


def set_property(widget: QWidget, name: str, value: bool) -> None:
    """Set a property that the style sheet looks at, and style the widget anew if it changed."""
    if bool(widget.property(name)) == value:
        return
    widget.setProperty(name, value)
    # Qt looks at properties when a widget is polished, and never again by itself.
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def _label(look: str, text: str, parent: QWidget | None, wrap: bool) -> QLabel:
    label = plain_label(text, parent, wrap)
    label.setProperty(look, True)
    return label


def quiet_label(text: str, parent: QWidget | None = None, wrap: bool = False) -> QLabel:
    """A label in the muted colour."""
    return _label("quiet", text, parent, wrap)


def show_short(label: QLabel, text: str) -> None:
    """Show the first lines of a text in a label, all of it in the tool tip."""
    lines = text.split("\n")
    rest = len(lines) - MOST_LINES
    shown = [*lines[:MOST_LINES], f"and {rest} more"] if rest > 0 else lines
    label.setText("\n".join(shown))
    label.setToolTip(plain_tip(text))


def heading_label(text: str, parent: QWidget | None = None) -> QLabel:
    """The heading of a group of rows."""
    return _label("heading", text, parent, wrap=False)


def problem_label(parent: QWidget | None = None) -> QLabel:
    """A hidden label for the sentence that says what is wrong."""
    label = _label("problem", "", parent, wrap=True)
    label.hide()
    return label


def rich_label(parent: QWidget) -> QLabel:
    """A label for rich text, which can be copied with the mouse."""
    label = QLabel(parent, textFormat=Qt.TextFormat.RichText, wordWrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Qt gives text that can be selected the focus
    return label


def push_button(text: str, parent: QWidget, tip: str = "") -> QPushButton:
    """A button that Return does not press from elsewhere in its window."""
    button = QPushButton(text, parent, autoDefault=False)
    button.setToolTip(plain_tip(tip))
    return button


def text_width(control: QLineEdit | QComboBox) -> int:
    """The width without which what stands in a control is cut."""
    metrics = control.fontMetrics()
    if isinstance(control, QComboBox):
        return metrics.horizontalAdvance(control.currentText()) + AROUND_CHOICE
    texts = (control.text(), control.placeholderText())
    return max(map(metrics.horizontalAdvance, texts)) + AROUND_TEXT


@final
class ValueEdit(QLineEdit):
    """Line of text; Escape asks for the value from before. That of a path offers a dialog."""

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
        left = event.button() is Qt.MouseButton.LeftButton
        inside = self.rect().contains(event.position().toPoint())
        if self.browse is not None and left and inside and not self.text():
            self.browse_requested.emit()

    def event(self, event: QEvent) -> bool:
        # The window undoes what was typed here, with all else, and not the field for itself.
        if event.type() is QEvent.Type.ShortcutOverride:
            assert isinstance(event, QKeyEvent)
            if event.matches(UNDO) or event.matches(REDO):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Else Escape goes on to the window, where it lets go of pinned nodes.
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.restore_requested.emit()
            return
        super().keyPressEvent(event)


@final
class ChoiceBox(QComboBox):
    """A combo box that the wheel changes only while it has the focus, so that panels can scroll."""

    def __init__(self, parent: QWidget | None = None, name: str = "", letters: int = 6) -> None:
        """`name` is for readers of the screen; there is room for so many letters at least."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFixedHeight(line_height(self))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # By default as wide as the longest choice, which would keep the panel from being narrow.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(letters)

    def paintEvent(self, event: QPaintEvent) -> None:
        """As Qt does, but for the ellipsis of a choice that is longer than the control."""
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

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
