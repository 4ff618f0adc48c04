"""Qt model of the library's runs, sorted, and the delegate that draws their curves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import (
    QAbstractTableModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QUrl,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.library.columns import COLUMNS, PICTURE, LibraryColumn, lineage_text, name_of
from app.widgets.labels import plain_tip
from app.widgets.tables import preserved_selection, sorted_places
from core.library.entry import GROWING, Entry, arrange_by_parent

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
Role = Qt.ItemDataRole
ENTRY = int(Role.UserRole)
NO_HEIGHT = 255
PICTURE_SIZE = QSize(64, 20)
MARGIN = 3
CHILD, STEP = "\u21b3 ", "\u2003"
# Sorted by one of these columns, children follow their parents.
IN_A_TREE = ("picture", "name", "study", "date", "parent")


@final
class LibraryModel(QAbstractTableModel):
    """Runs of the library, one a row."""

    picture_requested = Signal(object)  # path of a visible run without a picture

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Entry] = []
        self._depths: list[int] = []  # number of listed ancestors of each row
        self._order = (COLUMNS[0], Qt.SortOrder.AscendingOrder)
        self._pictures: dict[Path, bytes] = {}
        self._danger, self._quiet = QColor(), QColor()

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Set the runs, latest first; the table's sorting is applied."""
        self.beginResetModel()
        self._arrange(entries)
        self.endResetModel()

    def set_picture(self, path: Path, picture: bytes) -> None:
        self._pictures[path] = picture
        for row, entry in enumerate(self._rows):
            if entry.path == path:
                self.dataChanged.emit(self.index(row, 0), self.index(row, 0))

    def forget_pictures(self, paths: Iterable[Path]) -> None:
        """Discard the pictures of runs that have grown."""
        for path in paths:
            self._pictures.pop(path, None)

    @property
    def paths_with_picture(self) -> Collection[Path]:
        """Runs with a picture."""
        return self._pictures.keys()

    def picture(self, path: Path) -> bytes | None:
        return self._pictures.get(path)

    def set_colours(self, danger: str, quiet: str) -> None:
        """Set the colours of unreadable runs, and of runs not read yet."""
        self._danger, self._quiet = QColor(danger), QColor(quiet)

    def entry(self, row: int) -> Entry:
        return self._rows[row]

    @property
    def entries(self) -> Sequence[Entry]:
        """Runs in the order of the rows."""
        return self._rows

    # ------------------------------------------------------------------------------ Qt's interface

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column."""
        self._order = (COLUMNS[column] if 0 <= column < len(COLUMNS) else PICTURE, order)
        with preserved_selection(self, self._paths):
            self._arrange(self._rows)

    def _paths(self) -> list[Path]:
        return [entry.path for entry in self._rows]

    def _arrange(self, entries: Sequence[Entry]) -> None:
        """Sort, and put runs below those that they continue, unless sorted by a number.

        The largest number comes first, whatever its parent.
        """
        rows = self._sort_entries(entries)
        tree = self._order[0].name in IN_A_TREE
        placed = arrange_by_parent(rows) if tree else [(entry, 0) for entry in rows]
        self._rows, self._depths = [entry for entry, _ in placed], [depth for _, depth in placed]

    def _sort_entries(self, entries: Sequence[Entry]) -> list[Entry]:
        column, order = self._order
        if column is PICTURE:
            return list(entries)
        places = sorted_places((column.key(entry) for entry in entries), order)
        return [entries[place] for place in places]

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return None
        column = COLUMNS[section]
        if role == Role.DisplayRole:
            return column.title
        if role == Role.ToolTipRole:
            return plain_tip(column.tip)
        if role == Role.AccessibleTextRole:
            return column.title or "Picture"
        if role == Role.TextAlignmentRole:
            return _alignment(column)
        return None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        entry, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == ENTRY:
            return entry
        if role == Role.DisplayRole:
            text = column.text(entry)
            return text if column.name != "name" else self._indent_name(text, index.row())
        if role == Role.TextAlignmentRole:
            return _alignment(column)
        if role == Role.ToolTipRole:
            return plain_tip(_tip(entry, column))
        if role == Role.AccessibleTextRole and column is PICTURE:
            return f"Picture of {name_of(entry)}"
        if role == Role.AccessibleTextRole and column.name == "name" and entry.facts.parent:
            return f"{name_of(entry)}, {lineage_text(entry)}"
        if role == Role.ForegroundRole:
            if entry.facts.wrong:
                return self._danger
            if not entry.readable or entry.state == GROWING:
                return self._quiet
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def mimeData(self, indexes: Iterable[Index]) -> QMimeData:
        """Return the files of some rows, for drag and drop."""
        data = QMimeData()
        rows = dict.fromkeys(index.row() for index in indexes)
        data.setUrls([QUrl.fromLocalFile(str(self._rows[row].path)) for row in rows])
        return data

    def _indent_name(self, name: str, row: int) -> str:
        """Mark and indent the name of a run that continues another one."""
        child = bool(self._rows[row].facts.parent)
        return f"{STEP * max(self._depths[row] - 1, 0)}{CHILD}{name}" if child else name


def _alignment(column: LibraryColumn) -> int:
    side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def _tip(entry: Entry, column: LibraryColumn) -> str:
    if entry.facts.wrong:
        return entry.facts.wrong
    if column.name == "verdicts" and entry.verdicts:
        return "\n".join(f"{count} {word}" for word, count in entry.verdicts.items())
    if column.name == "note" and entry.about.note:
        return entry.about.note
    where = f"\nDeleted from {entry.origin}" if entry.origin is not None else ""
    lineage = f"\n{lineage_text(entry)}" if entry.facts.parent else ""
    return f"{name_of(entry)}\n{entry.facts.title}{lineage}\n{entry.state}, {entry.path}{where}"


@final
class CurveDelegate(QStyledItemDelegate):
    """Delegate that draws the curve of a run's margin, in the colour of the text."""

    def __init__(self, model: LibraryModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self._colour = QColor()

    def set_colour(self, colour: str) -> None:
        self._colour = QColor(colour)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return PICTURE_SIZE

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        entry = self._model.entry(index.row())
        picture = self._model.picture(entry.path)
        if picture is None:
            # Qt paints visible rows only.
            if entry.readable and entry.facts.frames:
                self._model.picture_requested.emit(entry.path)
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._colour, 1.2))
        inner = QRectF(option.rect).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        for piece in curve(picture, inner):
            painter.drawPolyline(piece)
        painter.restore()


def curve(picture: bytes, room: QRectF) -> list[QPolygonF]:
    """Return the pieces of a curve of heights in a rectangle, broken at missing heights."""
    pieces, points = [], list[QPointF]()
    for place, height in enumerate([*picture, NO_HEIGHT]):
        if height == NO_HEIGHT:
            if points:
                pieces.append(QPolygonF(points))
            points = []
            continue
        x = room.left() + room.width() * place / max(len(picture) - 1, 1)
        points.append(QPointF(x, room.bottom() - room.height() * height / (NO_HEIGHT - 1)))
    return pieces
