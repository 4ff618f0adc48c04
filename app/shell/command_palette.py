"""Command palette: a search line and its matches; the keyboard alone is enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from PySide6.QtCore import (
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.state.text_search import SearchEntry, find, match_spans
from app.style import small
from app.widgets.inputs import PAGE, SearchLine, row_after
from app.widgets.labels import quiet_label
from app.widgets.layouts import space
from core.numbers import whole_text

WIDTH, MOST_ROWS = 640, PAGE + 1
ABOVE = 48  # pixels between the window's top and the palette
# Users narrow down longer lists by typing.
MOST_FOUND = 200
HINT = "Find an action, study, run, observable, view, layout or bookmark"
NOTHING = "No match. Try fewer letters."
KEYS = (
    "Enter: open \u00b7 Ctrl+Enter: run a study \u00b7 Shift+Enter: open a run beside \u00b7 "
    "Esc: close"
)
DOTS = Qt.TextElideMode.ElideRight


def _item(one: SearchEntry) -> QListWidgetItem:
    item = QListWidgetItem(one.title)
    spoken = (one.title, one.kind, one.shortcut, one.detail, one.reason)
    item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(filter(None, spoken)))
    item.setData(Qt.ItemDataRole.UserRole, one)
    return item


@final
class FoundDelegate(QStyledItemDelegate):
    """Delegate that paints two lines per entry.

    The first is its title with the matched letters bold, and its shortcut. The second is its kind
    and its effect, or the reason why it is not available.
    """

    text = ""  # the typed text

    def paint(self, painter: QPainter, option: Any, index: Any) -> None:
        one: SearchEntry = index.data(Qt.ItemDataRole.UserRole)
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        colours, group = option.palette, QPalette.ColorGroup.Active
        if chosen:
            painter.fillRect(option.rect, colours.color(group, QPalette.ColorRole.Highlight))
        text = colours.color(group, _role(chosen))
        quiet = text if chosen else colours.color(group, QPalette.ColorRole.PlaceholderText)
        if one.reason:
            text = quiet
            painter.setOpacity(0.75)
        room = option.rect.adjusted(12, 4, -12, -4)
        first, second = QRect(room), QRect(room)
        metrics = QFontMetrics(option.font)
        first.setHeight(metrics.height())
        second.setTop(first.bottom() + 2)
        if one.shortcut:
            painter.setFont(option.font)
            painter.setPen(quiet)
            painter.drawText(first, Qt.AlignmentFlag.AlignRight, one.shortcut)
            first.setRight(first.right() - metrics.horizontalAdvance(one.shortcut) - 16)
        _draw_title(painter, first, one.title, match_spans(self.text, one.title), option.font, text)
        painter.setFont(small(option.font))
        painter.setPen(quiet)
        words = " \u00b7 ".join(filter(None, (one.kind, one.reason or one.detail)))
        words = QFontMetrics(painter.font()).elidedText(words, DOTS, second.width())
        painter.drawText(second, Qt.AlignmentFlag.AlignLeft, words)
        painter.restore()

    def sizeHint(self, option: Any, index: Any) -> QSize:
        font: QFont = option.font
        lines = QFontMetrics(font).height() + QFontMetrics(small(font)).height()
        return QSize(WIDTH // 2, lines + 12)


def _role(chosen: bool) -> QPalette.ColorRole:
    return QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text


def _draw_title(
    painter: QPainter,
    room: QRect,
    title: str,
    bold: Sequence[tuple[int, int]],
    font: QFont,
    colour: QColor,
) -> None:
    """Draw a title with the matched parts bold, as much as fits."""
    strong = QFont(font)
    strong.setWeight(QFont.Weight.DemiBold)
    painter.setPen(colour)
    x, place = room.left(), 0
    for start, end in (*bold, (len(title), len(title))):
        for text, face in ((title[place:start], font), (title[start:end], strong)):
            if not text or x >= room.right():
                continue
            metrics = QFontMetrics(face)
            painter.setFont(face)
            elided = metrics.elidedText(text, DOTS, room.right() - x)
            part = QRect(x, room.top(), room.right() - x, room.height())
            painter.drawText(part, Qt.AlignmentFlag.AlignLeft, elided)
            x += metrics.horizontalAdvance(text)
        place = end


@final
class CommandPalette(QFrame):
    """Popup that closes with Escape, by a choice, or by a click elsewhere.

    chosen(key, add, runs): what Return or a click was pressed at; `runs` with Ctrl.
    """

    chosen = Signal(str, bool, bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)  # a click elsewhere closes it
        self.setObjectName("commandPalette")
        self.setAccessibleName("Command palette")
        self.setFrameShape(QFrame.Shape.Box)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.line = SearchLine(HINT, self, alone=True)
        self.line.selection_moved.connect(self._move)
        self.line.accepted.connect(self._accept)
        self.line.run_requested.connect(self._on_run_requested)
        self.line.focus_left.connect(self.close)
        self.line.textChanged.connect(self._search)
        self.found: list[SearchEntry] = []
        self.list = QListWidget(self)
        self.delegate = FoundDelegate(self.list)
        self.list.setItemDelegate(self.delegate)
        self.list.setUniformItemSizes(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setAccessibleName("Results")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the line edit moves the selection
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(self._on_clicked)
        self.hint = quiet_label("", self)
        column = space(QVBoxLayout(self), (8, 8, 8, 8), 8)
        column.addWidget(self.line)
        column.addWidget(self.list, 1)
        column.addWidget(self.hint)
        self._entries: Sequence[SearchEntry] = ()
        self._used: Sequence[str] = ()

    def open(self, entries: Sequence[SearchEntry], used_keys: Sequence[str]) -> None:
        """Show entries, those used before first, and wait for input."""
        window = self.parentWidget()
        assert window is not None
        self._entries, self._used = entries, used_keys
        self.line.clear()
        self._search()
        row = self.delegate.sizeHint(_option(self.list), None).height()
        height = row * MOST_ROWS + self.line.sizeHint().height() + self.hint.sizeHint().height()
        size = QSize(WIDTH, height + 4 * 8 + 2).boundedTo(window.size() - QSize(32, ABOVE + 16))
        self.resize(size)
        self.move(window.mapToGlobal(_palette_position(window, size)))
        self.show()
        self.line.setFocus()

    def set_entries(self, entries: Sequence[SearchEntry]) -> None:
        """Replace the entries, such as after listing runs; keep the chosen one."""
        before = self.chosen_entry
        self._entries = entries
        self._search()
        keys = [one.key for one in self.found]
        if before is not None and before.key in keys:
            self._choose(keys.index(before.key))

    @property
    def chosen_entry(self) -> SearchEntry | None:
        """Entry that Return would choose; None if no entry matches."""
        row = self.list.currentRow()
        return self.found[row] if 0 <= row < len(self.found) else None

    def _search(self) -> None:
        text = self.line.text()
        matches = find(text, self._entries, self._used)
        self.delegate.text, self.found = text, matches[:MOST_FOUND]
        self.list.clear()
        for one in self.found:
            self.list.addItem(_item(one))
        self._choose(0)
        n_hidden = len(matches) - MOST_FOUND
        if not matches:
            self.hint.setText(NOTHING)
        elif n_hidden > 0:
            self.hint.setText(f"{whole_text(n_hidden)} more \u2013 keep typing")
        else:
            self.hint.setText(KEYS)

    def _choose(self, row: int) -> None:
        self.list.setCurrentRow(min(max(row, 0), len(self.found) - 1))

    def _move(self, step: int) -> None:
        self._choose(row_after(self.list.currentRow(), step, len(self.found)))

    def _on_clicked(self, _index: Any) -> None:
        self._accept(add=False)

    def _on_run_requested(self) -> None:
        self._accept(add=False, runs=True)

    def _accept(self, add: bool, runs: bool = False) -> None:
        one = self.chosen_entry
        if one is None:
            return
        if one.reason:  # stays open, so that another entry can be chosen
            self.hint.setText(one.reason)
            return
        self.close()
        self.chosen.emit(one.key, add, runs)


def _option(view: QListWidget) -> Any:
    option: Any = QStyleOptionViewItem()
    option.font = view.font()
    return option


def _palette_position(window: QWidget, size: QSize) -> Any:
    """Return the position of a palette of a size: centred, a little below the window's top."""
    return QRect((window.width() - size.width()) // 2, ABOVE, 0, 0).topLeft()
