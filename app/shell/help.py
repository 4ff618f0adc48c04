"""Answers "what is this?": a card of definitions of what the pointer, or the keyboard, is at."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget

from app.shell.help_card import HelpCard
from app.shell.main_window import MainWindow
from app.state.session import Session
from core.errors import InputError

if TYPE_CHECKING:
    from core.observables.registry import Help
    from core.runs import Run


@final
class HelpController(QObject):
    """Shows one card at a time."""

    def __init__(self, window: MainWindow, session: Session) -> None:
        super().__init__(window)
        self._window, self._session = window, session

    def explain(self, names: Any) -> None:
        """Explain these, beside the pointer."""
        self._open(tuple(names), QCursor.pos() + QPoint(8, 8))

    def what(self) -> None:
        """Explain what the pointer is at, else what has the focus, else the first view."""
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
        """Return an open run; None where the margins of the open ones have several norms."""
        runs = [run.data.run for run in self._session if run.data is not None]
        return runs[0] if len({run.network.margin_norm for run in runs}) == 1 else None


def explanations_of(names: tuple[str, ...], run: Run | None = None) -> list[Help]:
    """Return the definitions of observables, reference margins and views.

    Other names are left out. `run`: whose margins are explained.
    """
    from core.observables.registry import explain  # loads the numerical libraries

    network, explanations = None if run is None else run.network, []
    for name in names:
        # A view may name what is no observable and no margin: it is explained as far as it can be.
        with suppress(InputError):
            explanations.append(explain(name, network))
    return explanations


def _own_names(widget: QWidget) -> tuple[str, ...]:
    explained = getattr(widget, "explained", None)
    return tuple(explained()) if callable(explained) else ()


def _names_of(widget: QWidget | None) -> tuple[str, ...]:
    """Those of a widget, or of what it is part of."""
    while widget is not None:
        if names := _own_names(widget):
            return names
        widget = widget.parentWidget()
    return ()
