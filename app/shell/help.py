"""Help: definitions for the widget at the pointer, the documents, and the welcome page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QPoint, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QCursor, QDesktopServices, QGuiApplication, QKeyEvent, QPalette
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.playback.display import DisplayController
from app.shell.main_window import MainWindow
from app.theory.formula import FormulaLabel
from app.widgets.labels import heading_label, plain_label, quiet_label
from app.widgets.layouts import space
from app.widgets.screen_text import rich
from core.errors import InputError

if TYPE_CHECKING:  # loads the numerical libraries
    from app.shell.documents_window import DocumentsWindow
    from core.observables.view_help import Help
    from core.runs import Run

# Letters that stand for a symbol in a one-line formula.
SYMBOLS = {
    *("sum", "min", "max", "sqrt", "exp", "ln", "log", "int", "grad"),
    *("theta", "alpha", "beta", "lambda", "eps", "Sigma"),
}
WIDTH, MOST_HEIGHT = 400, 520
NOTHING = "No definition available yet. Run a study or open a run first."
NO_SITE = "The offline web site is not installed. Help, Documents has the same pages."


@final
class HelpController(QObject):
    """Card of definitions, window of documents, and welcome page over the runs.

    The window of documents is made when it is first shown.
    """

    welcome_shown = Signal(bool)

    def __init__(self, window: MainWindow, display: DisplayController) -> None:
        super().__init__(window)
        self._window, self._display = window, display
        self.documents: DocumentsWindow | None = None
        self._welcomes = False
        window.welcome.close_requested.connect(self.leave_welcome)

    # ------------------------------------------------------------------------------- welcome

    def set_welcome_shown(self, is_shown: bool) -> None:
        """Show the welcome page over the runs, or the runs again."""
        if is_shown == self._welcomes:
            return
        if is_shown and self._display.intent.compared is not None:
            self._display.update_intent(compared=None)
        self._welcomes = is_shown
        self._window.welcome.close_button.setVisible(is_shown and len(self._display.session) > 0)
        self._window.pages.set_over(self._window.welcome if is_shown else None)
        self.welcome_shown.emit(is_shown)

    def leave_welcome(self, _now: object = None) -> None:
        """Show the runs again."""
        self.set_welcome_shown(False)

    def leave_or_unpin(self) -> None:
        """Leave the welcome page over runs, or the single view; otherwise unpin neurons."""
        if self._welcomes and len(self._display.session) > 0:
            self.leave_welcome()
        elif self._display.view.wishes.filled:
            self._display.update_intent(filled="")
        else:
            self._display.unpin()

    def show_messages(self) -> None:
        """Open a dialog with the latest messages."""
        from app.shell.messages import MessagesDialog

        MessagesDialog(self._window.bar.recent, self._window).open()

    # ----------------------------------------------------------------------------- documents

    def show_documents(self) -> None:
        """Open the window of documents, or bring it to the front."""
        if self.documents is None:
            from app.shell.documents import documents
            from app.shell.documents_window import DocumentsWindow

            self.documents = DocumentsWindow(documents(), self._window)
        self.documents.show()
        self.documents.raise_()
        self.documents.activateWindow()
        self.documents.line.setFocus()

    def show_site(self) -> None:
        """Open the web site of the documents in the browser, or report why not."""
        from app.shell.documents import site

        page = site()
        if page is None:
            self._window.bar.show_message(NO_SITE)
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(page))):
            self._window.bar.show_message(
                f"Could not open a browser. The web site starts at {page}."
            )

    # --------------------------------------------------------------------------- definitions

    def explain(self, names: Any) -> None:
        """Show the definitions of observables, margins or views beside the pointer."""
        self._open(tuple(names), QCursor.pos() + QPoint(8, 8))

    def explain_pointed(self) -> None:
        """Explain the widget at the pointer, else the focused one, else the first view."""
        under = QApplication.widgetAt(QCursor.pos())
        for widget in (under, QApplication.focusWidget()):
            if widget is not None and (names := _names_of(widget)):
                self._open(names, widget.mapToGlobal(QPoint(8, 8)))
                return
        names, place = self._first_view()
        self._open(names, place)

    def _first_view(self) -> tuple[tuple[str, ...], QPoint]:
        for widget in self._window.pages.findChildren(QWidget):
            if widget.isVisible() and (names := _own_names(widget)):
                return names, widget.mapToGlobal(QPoint(8, 8))
        return (), self._window.mapToGlobal(QPoint(80, 80))

    def _open(self, names: tuple[str, ...], place: QPoint) -> None:
        HelpCard(explanations_of(names, self._run()), self._window).show_at(place)

    def _run(self) -> Run | None:
        """Return an open run; None if the margins of the open runs have several norms."""
        runs = [run.data.run for run in self._display.session if run.data is not None]
        return runs[0] if len({run.network.margin_norm for run in runs}) == 1 else None


def explanations_of(names: tuple[str, ...], run: Run | None = None) -> list[Help]:
    """Return the definitions of observables, reference margins and views.

    Other names are left out. `run`: whose margins are explained.
    """
    from core.observables.registry import explain  # loads the numerical libraries

    network, explanations = None if run is None else run.network, []
    for name in names:
        # Some names of views are neither observables nor margins and have no explanation.
        with suppress(InputError):
            explanations.append(explain(name, network))
    return explanations


def _own_names(widget: QWidget) -> tuple[str, ...]:
    topics = getattr(widget, "help_topics", None)
    return tuple(topics()) if callable(topics) else ()


def _names_of(widget: QWidget | None) -> tuple[str, ...]:
    """Return the topics of a widget, or of the widgets around it."""
    while widget is not None:
        if names := _own_names(widget):
            return names
        widget = widget.parentWidget()
    return ()


@final
class HelpCard(QFrame):
    """Card of definitions, which Escape or a click elsewhere closes."""

    def __init__(self, explanations: Sequence[Help], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)  # a click elsewhere closes it
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("helpCard")
        self.setFrameShape(QFrame.Shape.Box)
        self.setAccessibleName("What is this")
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.explanations = tuple(explanations)
        self._content = QWidget(self)
        # Formulas and the like, shown once even if several explanations share them.
        self._texts = set[str]()
        column = space(QVBoxLayout(self._content), (16, 12, 16, 16), 4)
        for place, one in enumerate(self.explanations):
            column.addSpacing(12 if place else 0)
            self._add(one, column)
        if not self.explanations:
            column.addWidget(_wrapped_label(NOTHING, self._content))
        column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._content)
        layout = space(QVBoxLayout(self), (1, 1, 1, 1))
        layout.addWidget(scroll)
        # Otherwise the arrow keys would scroll only after a click.
        scroll.setFocus()

    def _add(self, one: Help, column: QVBoxLayout) -> None:
        heading = heading_label("", self._content)
        heading.setTextFormat(Qt.TextFormat.RichText)
        heading.setText(rich(one.title))
        heading.setWordWrap(True)
        column.addWidget(heading)
        if one.tex and one.tex not in self._texts:
            self._texts.add(one.tex)
            formula = FormulaLabel(self._content, one.tex)
            formula.setAccessibleDescription(one.formula)
            formula.setFixedHeight(formula.heightForWidth(WIDTH - 40))
            column.addWidget(formula)
        # Show the plain formula only if it adds words to the typeset one.
        is_new = not one.tex or has_more_words(one.formula)
        if one.formula and is_new and one.formula not in self._texts:
            self._texts.add(one.formula)
            column.addWidget(_wrapped_label(one.formula, self._content))
        for name, text in (
            ("Normalisation", self._normalisation(one)),
            ("Unit", one.unit),
            ("Source", one.source),
        ):
            if text:
                column.addWidget(_wrapped_label(f"{name}: {text}", self._content, quiet=True))

    def _normalisation(self, one: Help) -> str:
        """Return a normalisation, leaving out what the card's margins share after the first."""
        text = one.normalisation
        before = next((one for one in self._texts if text.startswith(f"{one};")), "")
        sentence = text.removeprefix(before) if before else "" if text in self._texts else text
        self._texts.add(text)
        return f"as above{sentence}" if before else sentence

    def show_at(self, place: QPoint) -> None:
        """Open the card beside a point of the screen, fully on the screen."""
        layout = self._content.layout()
        assert layout is not None
        # From the layout: wrapping labels know their height only once they have a width.
        height = layout.totalHeightForWidth(WIDTH - 12) + 8
        self.resize(QSize(WIDTH, min(height, MOST_HEIGHT)))
        screen = QGuiApplication.screenAt(place) or QGuiApplication.primaryScreen()
        room = screen.availableGeometry()
        x = max(min(place.x(), room.right() - self.width()), room.left())
        y = max(min(place.y(), room.bottom() - self.height()), room.top())
        self.move(x, y)
        self.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)


def has_more_words(formula: str) -> bool:
    """Return True if a one-line formula has words beside its symbols.

    >>> has_more_words("R = (1/n) sum_i l(p_i)"), has_more_words("the second singular value of V")
    (False, True)
    """
    return bool(set(re.findall(r"[A-Za-z]{2,}", formula)) - SYMBOLS)


def _wrapped_label(text: str, parent: QWidget, quiet: bool = False) -> QLabel:
    label = quiet_label("", parent) if quiet else plain_label(parent=parent)
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setText(rich(text))
    label.setWordWrap(True)
    return label
