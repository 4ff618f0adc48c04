"""Page shown while no run is open: papers, recent files, own data, first steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.shell.welcome_pictures import FigurePicture, PointsPicture
from app.state.headings import file_words
from app.style import small
from app.widgets.inputs import push_button
from app.widgets.labels import heading_label, menu_text, plain_label, plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from core.stories.shipped_stories import shipped_stories
from core.studies.papers import PAPERS
from core.studies.summaries import shipped_summaries

HEADLINE = "Watch a network learn"
EXPLANATION = (
    "Run trains {study}. To change it first, open Settings. Every frame is recorded, so you "
    "can go back to any moment."
)
# Actions offered on this page, with their names here; unavailable ones are left out.
OFFERED = {
    "last": "Reopen the last session",
    "library": "Library of runs",
    "tour": "Five-minute tour",
    "documents": "Read the documents",
}
STORY_TIP = "Train {}, and step through it with explanations"
OWN = "own"
OWN_WORDS = (
    "Your own data",
    "Draw points in the plane or on a line, paste them from a spreadsheet, or open a file.",
    "NPZ, CSV, text",
)
MOST_RECENT = 4
CARD_WIDTH, LEAST_CARD = 260, 220
SIDES = 24


@final
class WelcomePage(QScrollArea):
    """Page that is shown without runs.

    run_requested, open_requested: a button. paper_chosen(name), own_data_requested: a card.
    story_chosen(study): one of the stories. file_chosen([path]): one of the recent files.
    close_requested: back to the runs.
    """

    run_requested = Signal()
    open_requested = Signal()
    paper_chosen = Signal(str)
    file_chosen = Signal(list)
    story_chosen = Signal(str)
    own_data_requested = Signal()
    close_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content = content = QWidget(self)
        column = space(QVBoxLayout(content), (SIDES, 24, SIDES, 24), 12)
        headline = plain_label(HEADLINE, content, wrap=True)
        font = headline.font()
        font.setPointSizeF(font.pointSizeF() * 1.7)
        headline.setFont(font)
        self.explanation = quiet_label("", content, wrap=True)
        self.run_button = QPushButton("Run the study", content)
        self.run_button.setProperty("primary", True)
        self.run_button.clicked.connect(self.run_requested)
        self.open_button = QPushButton("Open a run file ...", content)
        self.open_button.clicked.connect(self.open_requested)
        self._start_lines = _Lines("", content, QBoxLayout.Direction.LeftToRight)
        self._start_lines.chosen.connect(self._on_start)
        first = (self.run_button, self.open_button, self._start_lines)
        self._buttons = add_all(space(QHBoxLayout(), spacing=8), *first)
        self._stories = _Lines("Stories of studies", content)
        self._stories.chosen.connect(self.story_chosen)
        add_all(column, headline, self.explanation, self._buttons, self._stories)
        column.setAlignment(self._buttons, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(8)
        papers = heading_label("Papers and their studies", content)
        papers.setWordWrap(True)
        column.addWidget(papers)
        self._grid = space(QGridLayout(), spacing=(12, 12))
        column.addLayout(self._grid)
        column.addSpacing(8)
        self._recent = _Lines("Reopen", content)
        self._recent.chosen.connect(self._on_file)
        add_all(column, self._recent, 1)
        self._actions: Mapping[str, QAction] = {}
        self.cards: tuple[Card, ...] = ()
        self._columns = 0
        self.setWidget(content)
        self.close_button = QToolButton(self)
        self.close_button.setText("\u00d7")
        self.close_button.setAutoRaise(True)
        self.close_button.setToolTip("Back to the runs (Esc)")
        self.close_button.setAccessibleName("Back to the runs")
        self.close_button.clicked.connect(self.close_requested)
        self.close_button.hide()
        self.set_study("")
        self._offer_stories()
        self.set_recent(())

    def _made_cards(self) -> Iterator[Card]:
        studies = shipped_summaries()
        for paper in PAPERS.values():
            n_studies = sum(one.source == paper.name for one in studies)
            picture = FigurePicture(paper.name)
            count = "1 study" if n_studies == 1 else f"{n_studies} studies"
            card = Card(paper.name, (paper.short, paper.sentence, count), picture, self._content)
            card.setToolTip(plain_tip(f"{paper.title}\n{paper.authors}"))
            card.clicked.connect(self._on_card)
            yield card
        own = Card(OWN, OWN_WORDS, PointsPicture(), self._content)
        own.clicked.connect(self.own_data_requested)
        yield own

    def sizeHint(self) -> QSize:
        return QSize(560, 400)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.cards:  # most windows open with runs and never show the cards
            self.cards = tuple(self._made_cards())
            self._arrange()
            self._chain()

    def _chain(self) -> None:
        """Set the Tab order to the reading order, whatever the order of creation."""
        first = (self.run_button, self.open_button, *self._start_lines.buttons)
        for one, following in pairwise(
            (*first, *self._stories.buttons, *self.cards, *self._recent.buttons)
        ):
            QWidget.setTabOrder(one, following)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        size = self.close_button.sizeHint().expandedTo(QSize(SIDES, SIDES))
        self.close_button.setFixedSize(size)
        self.close_button.move(self.viewport().width() - size.width() - 8, 8)

    def _arrange(self) -> None:
        room = self.viewport().width() - 2 * SIDES
        for lines in (self._start_lines, self._stories, self._recent):
            lines.fit(room)
        self._turn(self._buttons, room)
        columns = max(1, room // CARD_WIDTH)
        columns = min(columns, len(self.cards))
        if columns != self._columns:
            for place, card in enumerate(self.cards):
                self._grid.addWidget(card, *divmod(place, columns))
            for place in range(max(columns, self._columns)):
                self._grid.setColumnStretch(place, int(place < columns))
            self._columns = columns

    @staticmethod
    def _turn(row: QBoxLayout, room: int) -> None:
        """Place parts side by side if they fit, else below one another."""
        needed = row.spacing() * (row.count() - 1)
        for place in range(row.count()):
            item = row.itemAt(place)
            assert item is not None
            widget = item.widget()
            # The item's own hint is outdated until the event loop has laid out the page.
            needed += (item if widget is None else widget).sizeHint().width()
        direction = (
            QBoxLayout.Direction.LeftToRight if needed <= room else QBoxLayout.Direction.TopToBottom
        )
        if row.direction() is not direction:
            row.setDirection(direction)

    # ------------------------------------------------------------------------------- content

    def set_study(self, title: str) -> None:
        """Name the study that Run would train."""
        self.explanation.setText(EXPLANATION.format(study=title or "the study"))

    def set_runnable(self, runnable: bool) -> None:
        """Set whether the form has a study with valid values."""
        self.run_button.setEnabled(runnable)

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Offer the table's actions for a first step."""
        self._actions = {key: actions[key] for key in OFFERED if key in actions}
        for action in self._actions.values():
            action.enabledChanged.connect(self._offer)
        self._offer()

    def _offer(self) -> None:
        enabled = [key for key, action in self._actions.items() if action.isEnabled()]
        self._start_lines.offer(
            [(key, OFFERED[key], self._actions[key].toolTip()) for key in enabled]
        )
        self._arrange()
        self._chain()

    def _offer_stories(self) -> None:
        titles = {one.id: one.title for one in shipped_summaries()}
        self._stories.offer(
            [
                (name, one.title, STORY_TIP.format(titles.get(name, name)))
                for name, one in shipped_stories().items()
            ]
        )

    def set_recent(self, paths: Sequence[str]) -> None:
        """Show the files that were opened last."""
        self._recent.offer([(path, file_words(Path(path)), path) for path in paths[:MOST_RECENT]])
        self._arrange()
        self._chain()

    def _on_start(self, key: str) -> None:
        self._actions[key].trigger()

    def _on_file(self, path: str) -> None:
        self.file_chosen.emit([path])

    def _on_card(self) -> None:
        self.paper_chosen.emit(self.sender().objectName())


@final
class _Lines(QWidget):
    """Buttons that look like lines of text, below a heading or side by side.

    chosen(name): one of them was pressed.
    """

    chosen = Signal(str)

    def __init__(
        self,
        heading: str,
        parent: QWidget,
        direction: QBoxLayout.Direction = QBoxLayout.Direction.TopToBottom,
    ) -> None:
        super().__init__(parent)
        self._column = space(QBoxLayout(direction, self), spacing=6)
        if heading:
            self._column.addWidget(heading_label(heading, self))
        self.buttons: list[QPushButton] = []

    def offer(self, lines: Sequence[tuple[str, str, str]]) -> None:
        """Show buttons, given as name, text and tip."""
        while len(self.buttons) < len(lines):
            button = push_button("", self)
            button.setProperty("line", True)
            button.clicked.connect(self._on_clicked)
            self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            self.buttons.append(button)
        for button, (name, text, tip) in zip(self.buttons, lines, strict=False):
            button.setObjectName(name)
            button.setAccessibleName(text)
            button.setToolTip(plain_tip(tip))
        for place, button in enumerate(self.buttons):
            button.setVisible(place < len(lines))
        self.setVisible(bool(lines))

    def fit(self, room: int) -> None:
        """Elide texts that are longer than the room, such as file names."""
        for button in self.buttons:
            text = button.accessibleName()
            short = button.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, room - 4)
            button.setText(menu_text(short))

    def _on_clicked(self) -> None:
        self.chosen.emit(self.sender().objectName())


@final
class Card(QPushButton):
    """Button with a picture and texts, as high as these need."""

    def __init__(
        self, name: str, words: tuple[str, str, str], picture: QWidget, parent: QWidget
    ) -> None:
        """`words`: the title, a sentence, and a detail."""
        super().__init__(parent, autoDefault=False)
        self.setObjectName(name)
        self.setProperty("card", True)
        title, sentence, count = words
        self.setAccessibleName(f"{title}. {sentence} {count}")
        about = QLabel(sentence, self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        about.setFont(small(about.font()))
        count_label = quiet_label(count, self)
        count_label.setFont(small(count_label.font()))
        heading = heading_label(title, self)
        heading.setWordWrap(True)
        column = space(QVBoxLayout(self), (12, 10, 12, 10), 4)
        add_all(column, picture, heading, about, count_label, 1)
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    # A button uses only its own text, which is empty here.
    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        assert layout is not None
        return layout.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:
        return QSize(CARD_WIDTH, self.heightForWidth(CARD_WIDTH))

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_CARD, self.heightForWidth(CARD_WIDTH))
