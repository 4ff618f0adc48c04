"""Window of the program's documents: their titles, one page, and a search in all pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFont, QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.shell.documents import Document, excerpt, find_pages, slug, with_phrase
from app.style import small
from app.widgets.inputs import SearchLine, push_button, row_after
from app.widgets.labels import plain_tip, quiet_label
from app.widgets.layouts import add_all, space

HINT = "Search all documents"
NONE = "No document contains all of these words."
MISSING = (
    "The documents are not installed. They belong in the folder docs of the Marginscope folder."
)
LIST_WIDTH = 220
PATH = Qt.ItemDataRole.UserRole


@final
class Page(QTextBrowser):
    """Browser of one page. Pictures are at most as wide as the page."""

    def loadResource(self, kind: int, name: Any) -> Any:
        loaded = super().loadResource(kind, name)
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return loaded
        path = self.source().resolved(QUrl(name)).toLocalFile()
        image = QImage(path)
        max_width = max(self.viewport().width() - 40, 200)
        if image.isNull() or image.width() <= max_width:
            return image if not image.isNull() else loaded
        ratio = self.devicePixelRatioF()
        mode = Qt.TransformationMode.SmoothTransformation
        image = image.scaledToWidth(round(max_width * ratio), mode)
        image.setDevicePixelRatio(ratio)
        return image


@final
class DocumentsWindow(QDialog):
    """Window of all documents. The program's window stays usable."""

    def __init__(self, pages: Sequence[Document], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Documents")
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self._all = tuple(pages)
        self._shown: tuple[Document, ...] = ()
        self.line = SearchLine(HINT, self)
        self.line.textChanged.connect(self._search)
        self.line.selection_moved.connect(self._move)
        self.line.accepted.connect(self._find_next)
        self.line.focus_left.connect(self.reject)
        self.back = push_button("Back", self, "Previous page")
        self.forward = push_button("Forward", self, "Next page")
        self.titles = QListWidget(self)
        self.titles.setAccessibleName("Documents")
        self.titles.setSpacing(3)
        self.titles.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the line edit moves the selection
        self.titles.setFrameShape(QFrame.Shape.NoFrame)
        self.titles.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.titles.currentRowChanged.connect(self._on_row)
        self.page = Page(self)
        self.page.setAccessibleName("Document")
        self.page.setFrameShape(QFrame.Shape.NoFrame)
        self.page.setOpenLinks(False)
        self.page.document().setDocumentMargin(16)
        self.page.anchorClicked.connect(self._follow)
        self.page.backwardAvailable.connect(self.back.setEnabled)
        self.page.forwardAvailable.connect(self.forward.setEnabled)
        self.page.sourceChanged.connect(self._mark_page_of)
        self.back.clicked.connect(self.page.backward)
        self.forward.clicked.connect(self.page.forward)
        self.hint = quiet_label("" if pages else MISSING, self)
        self.back.setEnabled(False)
        self.forward.setEnabled(False)
        self._arrange()
        window = parent.size() - QSize(48, 80)
        self.resize(QSize(1100, 720).boundedTo(window))
        self._search()

    def _arrange(self) -> None:
        columns = QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        columns.addWidget(self.titles)
        columns.addWidget(self.page)
        columns.setSizes([LIST_WIDTH, 860])
        columns.setStretchFactor(1, 1)
        row = add_all(space(QHBoxLayout(), spacing=8), (self.line, 1), self.back, self.forward)
        add_all(space(QVBoxLayout(self), (16, 16, 16, 16), 8), row, (columns, 1), self.hint)

    # ------------------------------------------------------------------------------ search

    def _search(self) -> None:
        """List the pages that contain the typed words, and select the first match."""
        self._shown = find_pages(self._all, self.line.text())
        with QSignalBlocker(self.titles):
            self.titles.clear()
            part = ""
            for page in self._shown:
                if page.part not in ("", part):
                    part = page.part
                    self._add_heading(part)
                item = QListWidgetItem(page.title, self.titles)
                item.setToolTip(plain_tip(page.title))
                item.setData(PATH, str(page.path))
                if words := self.line.text().strip():
                    self._add_excerpt(page, words)
        if self._all:
            self.hint.setText("" if self._shown else NONE)
        self.hint.setVisible(bool(self.hint.text()))
        best = with_phrase(self._shown, self.line.text()) or self._shown
        paths = [page.path for page in best]
        present = self.present
        if paths and present not in paths:
            self.titles.setCurrentRow(self._row_of(paths[0]))
        else:
            self._mark(present)
            self._find()

    def _add_heading(self, part: str) -> None:
        item = QListWidgetItem(part, self.titles)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        font = small(self.titles.font())
        font.setWeight(QFont.Weight.DemiBold)
        item.setFont(font)

    def _add_excerpt(self, page: Document, words: str) -> None:
        """Add the text at the first match below a title; a click opens the page."""
        item = QListWidgetItem(excerpt(page, words), self.titles)
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        item.setData(PATH, str(page.path))
        item.setFont(small(self.titles.font()))
        item.setForeground(self.palette().placeholderText())

    def _row_of(self, path: Any) -> int:
        """Return the row of a page among the titles, -1 if it is missing."""
        rows = range(self.titles.count())
        return next((row for row in rows if self.titles.item(row).data(PATH) == str(path)), -1)

    @property
    def present(self) -> Any:
        """Path of the current page; None before the first."""
        return self._page_of(self.page.source())

    def _page_of(self, source: QUrl) -> Any:
        name = source.toLocalFile()
        return next((page.path for page in self._all if str(page.path) == name), None)

    def _move(self, step: int) -> None:
        if self._shown:
            paths = [page.path for page in self._shown]
            present = paths.index(self.present) if self.present in paths else -1
            place = row_after(present, step, len(paths))
            self.titles.setCurrentRow(self._row_of(paths[place]))

    def _on_row(self, row: int) -> None:
        path = self.titles.item(row).data(PATH) if row >= 0 else None
        if path:  # not a heading
            self._open(QUrl.fromLocalFile(path))

    def _mark_page_of(self, source: QUrl) -> None:
        """Mark the next page: the browser emits this before it changes its source."""
        self._mark(self._page_of(source))

    def _mark(self, present: Any) -> None:
        """Mark the current page among the titles, if it is listed."""
        with QSignalBlocker(self.titles):
            self.titles.setCurrentRow(self._row_of(present))

    def _follow(self, link: QUrl) -> None:
        """Open a link: to a document here, any other by the system."""
        target = self.page.source().resolved(link)
        if target.isLocalFile() and target.toLocalFile().endswith(".md"):
            self._open(target)
        else:
            QDesktopServices.openUrl(target)

    def _open(self, target: QUrl) -> None:
        place = target.fragment()
        target = QUrl.fromLocalFile(target.toLocalFile())
        if target != self.page.source():
            self.page.setSource(target, QTextDocument.ResourceType.MarkdownResource)
        if place:
            self._to_heading(place)
        else:
            self._find()

    def _to_heading(self, name: str) -> None:
        block = self.page.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel() and slug(block.text()) == name:
                layout = self.page.document().documentLayout()
                top = layout.blockBoundingRect(block).top()
                self.page.verticalScrollBar().setValue(round(top) - 8)
                return
            block = block.next()

    def _find(self) -> None:
        """Select the best match on the page: the phrase, a block with all words, or a word."""
        self.page.moveCursor(QTextCursor.MoveOperation.Start)
        text = self._match_text()
        words = self.line.text().lower().split()
        if len(words) > 1 and text == words[0]:
            block = self.page.document().begin()
            while block.isValid() and not all(word in block.text().lower() for word in words):
                block = block.next()
            if block.isValid():
                self.page.setTextCursor(QTextCursor(block))
        if text:
            self.page.find(text)

    def _find_next(self, backward: bool) -> None:
        """Find the next match, or with Shift the previous one; the search wraps around."""
        text = self._match_text()
        flag = QTextDocument.FindFlag.FindBackward if backward else QTextDocument.FindFlag(0)
        if text and not self.page.find(text, flag):
            end = QTextCursor.MoveOperation.End if backward else QTextCursor.MoveOperation.Start
            self.page.moveCursor(end)
            self.page.find(text, flag)

    def _match_text(self) -> str:
        """Return the text to select: the whole phrase if the page contains it, else one word."""
        words = self.line.text().lower().split()
        phrase = " ".join(words)
        is_here = bool(phrase) and not self.page.document().find(phrase).isNull()
        return phrase if is_here else next(iter(words), "")
