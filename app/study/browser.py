"""Page of all studies by paper, each with picture, sentence and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from app.library.model import curve
from app.state.text_search import find, make_entry
from app.style import small
from app.widgets.inputs import SearchLine, row_after
from app.widgets.labels import plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.levels import fit_text, label_width, paint_label
from core.studies.papers import PAPERS
from core.studies.summaries import Summary, shipped_summaries
from core.studies.thumbnails import Thumbnail, sentence, thumbnails

KEYS = "\u2191\u2193: select \u00b7 Enter: train in place of the open runs \u00b7 Esc: close"
PICTURE = QSize(88, 48)
SPACE = 12
DOTS = Qt.TextElideMode.ElideRight
LEFT, TOP = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignTop
NO_PICTURE = Thumbnail()


@final
@dataclass(frozen=True, slots=True)
class Line:
    """Row of the list: the heading of a paper (no study), or a study with sentence and cost."""

    heading: str
    study: Summary | None = None
    about: str = ""
    thumbnail: Thumbnail = NO_PICTURE


def _item(line: Line) -> QListWidgetItem:
    if line.study is None:
        item = QListWidgetItem(line.heading)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
    else:
        item = QListWidgetItem(line.study.title)
        item.setToolTip(plain_tip(" ".join(line.study.note.split())))
        spoken = ". ".join((line.study.title, line.about, line.thumbnail.cost))
        item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
    item.setData(Qt.ItemDataRole.UserRole, line)
    return item


@final
class StudyDelegate(QStyledItemDelegate):
    """Delegate that draws the margin's curve, and beside it title, sentence and cost."""

    def sizeHint(self, option: Any, index: Any) -> QSize:
        line: Line = index.data(Qt.ItemDataRole.UserRole)
        height = QFontMetrics(option.font).height()
        if line.study is None:
            return QSize(PICTURE.width(), height + 16)
        lines = height + 3 * QFontMetrics(small(option.font)).height()
        return QSize(PICTURE.width(), max(PICTURE.height(), lines) + 12)

    def paint(self, painter: QPainter, option: Any, index: Any) -> None:
        line: Line = index.data(Qt.ItemDataRole.UserRole)
        painter.save()
        colours, roles = option.palette, QPalette.ColorRole
        group = QPalette.ColorGroup.Active
        room = QRect(option.rect).adjusted(8, 6, -8, -6)
        if line.study is None:
            painter.setFont(_bold(option.font))
            painter.setPen(colours.color(group, roles.Text))
            heading = QFontMetrics(painter.font()).elidedText(line.heading, DOTS, room.width())
            painter.drawText(room, LEFT | Qt.AlignmentFlag.AlignBottom, heading)
            painter.restore()
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(option.rect, colours.color(group, roles.Highlight))
        text = colours.color(group, roles.HighlightedText if chosen else roles.Text)
        quiet = text if chosen else colours.color(group, roles.PlaceholderText)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(text, 1.5))
        frame = QRectF(room.left(), room.top() + 2, PICTURE.width(), PICTURE.height())
        for piece in curve(line.thumbnail.heights, frame):
            painter.drawPolyline(piece)
        words = room.adjusted(PICTURE.width() + SPACE, 0, 0, 0)
        _write(painter, words, option.font, text, line, quiet)
        painter.restore()


def _write(painter: QPainter, room: QRect, font: QFont, text: Any, line: Line, quiet: Any) -> None:
    """Write the title, the sentence in two lines at most, and the cost."""
    assert line.study is not None
    painter.setFont(font)
    painter.setPen(text)
    metrics = QFontMetrics(font)
    painter.drawText(room, LEFT | TOP, metrics.elidedText(line.study.title, DOTS, room.width()))
    painter.setFont(small(font))
    below = room.adjusted(0, metrics.height(), 0, 0)
    metrics = QFontMetrics(painter.font())
    for words in _two_lines(painter.font(), line.about, room.width()):
        paint_label(painter, QPointF(below.left(), below.top() + metrics.ascent()), words)
        below.adjust(0, metrics.height(), 0, 0)
    painter.setPen(quiet)
    painter.drawText(below, LEFT | TOP, metrics.elidedText(line.thumbnail.cost, DOTS, room.width()))


def _two_lines(font: QFont, text: str, width: int) -> list[str]:
    """Break a text with symbols into two lines; the second is shortened."""
    words, first = text.split(), ""
    while words and label_width(f"{first} {words[0]}", font) <= width:
        first = f"{first} {words.pop(0)}".strip()
    second = fit_text(" ".join(words), font, width) if words else ""
    return [line for line in (first, second) if line]


def _bold(font: QFont) -> QFont:
    result = QFont(font)
    result.setWeight(QFont.Weight.DemiBold)
    return result


@final
class StudyBrowser(QDialog):
    """Searchable page of all studies."""

    chosen = Signal(str)  # id of the study to train

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Studies")
        self.line = SearchLine("Search studies by title, paper or note", self)
        self.line.textChanged.connect(self._search)
        self.line.selection_moved.connect(self._move)
        self.line.accepted.connect(self._accept)
        self.line.focus_left.connect(self.reject)
        self.lines: list[Line] = []
        self.list = QListWidget(self)
        self.list.setItemDelegate(StudyDelegate(self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName("Studies by paper")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the line edit moves the selection
        self.list.clicked.connect(self._accept)
        self.hint = quiet_label(KEYS, self)
        add_all(space(QVBoxLayout(self), (16, 16, 16, 16), 8), self.line, (self.list, 1), self.hint)
        self._studies = shipped_summaries()
        self._pictures: Mapping[str, Thumbnail] = thumbnails()
        window = parent.size() - QSize(48, 80)
        self.resize(QSize(760, 640).boundedTo(window))

    def show_studies(self, present: str, paper: str = "") -> None:
        """Open at the study with the id `present`, or at the first one of a paper."""
        self.line.clear()
        self._search()
        studies = [(row, line.study) for row, line in enumerate(self.lines) if line.study]
        rows = [
            row
            for row, one in studies
            if paper in (one.source, "") and (paper or one.id == present)
        ]
        if rows:
            row = rows[0]
            self._choose(row)
            if paper:  # with its heading
                above = self.list.item(row - 1)
                self.list.scrollToItem(above, QListWidget.ScrollHint.PositionAtTop)
        self.open()
        self.line.setFocus()

    def _search(self) -> None:
        entries = []
        for one in self._studies:
            paper = PAPERS.get(one.source)
            about = f"{paper.title} {paper.authors}" if paper is not None else ""
            entries.append(make_entry(one.id, "", one.title, about, words=f"{one.id} {one.note}"))
        matches = {one.key for one in find(self.line.text(), entries)}
        self.lines = lines = []
        for source in (*PAPERS, ""):
            studies = [one for one in self._studies if _group(one) == source and one.id in matches]
            if studies:
                lines.append(Line(_heading(source)))
            lines += [
                Line("", one, sentence(one.note), self._pictures.get(one.id, NO_PICTURE))
                for one in studies
            ]
        self.list.clear()
        for line in lines:
            self.list.addItem(_item(line))
        self.hint.setText(KEYS if lines else "No study matches.")
        self._choose(1)

    def present(self) -> str:
        """Return the id of the study that Return would choose; "" for none."""
        row = self.list.currentRow()
        study = self.lines[row].study if 0 <= row < len(self.lines) else None
        return study.id if study is not None else ""

    def _rows(self) -> list[int]:
        return [row for row, line in enumerate(self.lines) if line.study is not None]

    def _move(self, step: int) -> None:
        rows = self._rows()
        if rows:
            place = rows.index(self.list.currentRow())
            self._choose(rows[row_after(place, step, len(rows))])

    def _choose(self, row: int) -> None:
        if row >= len(self.lines):
            return
        if row == 1:  # with its heading
            self.list.scrollToTop()
        self.list.setCurrentRow(row)

    def _accept(self, _how: object = None) -> None:
        if chosen := self.present():
            self.accept()
            self.chosen.emit(chosen)


def _group(study: Summary) -> str:
    return study.source if study.source in PAPERS else ""


def _heading(source: str) -> str:
    paper = PAPERS.get(source)
    return "Others" if paper is None else f"{paper.short}: {paper.title}"
