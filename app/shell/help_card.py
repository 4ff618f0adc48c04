"""The card that answers "what is this?": definitions of what is shown, with their formulas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.theory.formula import FormulaLabel
from app.widgets.inputs import heading_label, quiet_label
from app.widgets.layouts import laid
from app.widgets.plain_text import plain_label
from app.widgets.symbols import rich

if TYPE_CHECKING:  # loads the numerical libraries
    from core.observables.registry import Help

# Letters that stand for a symbol in a formula of one line.
SYMBOLS = {
    *("sum", "min", "max", "sqrt", "exp", "ln", "log", "int", "grad"),
    *("theta", "alpha", "beta", "lambda", "eps", "Sigma"),
}
WIDTH, MOST_HEIGHT = 400, 520
NOTHING = "There is no definition of this yet: run a study, or open a run, first."


@final
class HelpCard(QFrame):
    """Closes with Escape, or when something else is clicked."""

    def __init__(self, explanations: Sequence[Help], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)  # which a click elsewhere closes
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("helpCard")
        self.setFrameShape(QFrame.Shape.Box)
        self.setAccessibleName("What is this")
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.explanations = tuple(explanations)
        self._content = QWidget(self)
        self._said = set[str]()  # formulas and the like: several explanations may share one
        column = laid(QVBoxLayout(self._content), (16, 12, 16, 16), 4)
        for place, one in enumerate(self.explanations):
            column.addSpacing(12 if place else 0)
            self._add(one, column)
        if not self.explanations:
            column.addWidget(_wrapped(NOTHING, self._content))
        column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._content)
        layout = laid(QVBoxLayout(self), (1, 1, 1, 1))
        layout.addWidget(scroll)
        # Else the arrow keys would scroll nothing until it is clicked.
        scroll.setFocus()

    def _add(self, one: Help, column: QVBoxLayout) -> None:
        heading = heading_label("", self._content)
        heading.setTextFormat(Qt.TextFormat.RichText)
        heading.setText(rich(one.title))
        heading.setWordWrap(True)
        column.addWidget(heading)
        if one.tex and one.tex not in self._said:
            self._said.add(one.tex)
            formula = FormulaLabel(self._content, one.tex)
            formula.setAccessibleDescription(one.formula)
            formula.setFixedHeight(formula.heightForWidth(WIDTH - 40))
            column.addWidget(formula)
        # The same in one line adds nothing, but what it says beside the formula does.
        told = not one.tex or says_more(one.formula)
        if one.formula and told and one.formula not in self._said:
            self._said.add(one.formula)
            column.addWidget(_wrapped(one.formula, self._content))
        for name, text in (
            ("Normalisation", self._normalisation(one)),
            ("Unit", one.unit),
            ("Source", one.source),
        ):
            if text:
                column.addWidget(_wrapped(f"{name}: {text}", self._content, quiet=True))

    def _normalisation(self, one: Help) -> str:
        """Margins of one card share what they are divided by: it is said at the first."""
        text = one.normalisation
        before = next((said for said in self._said if text.startswith(f"{said};")), "")
        rest = text.removeprefix(before) if before else "" if text in self._said else text
        self._said.add(text)
        return f"as above{rest}" if before else rest

    def show_at(self, place: QPoint) -> None:
        """Open beside a point of the screen, and wholly on it."""
        layout = self._content.layout()
        assert layout is not None
        # By its own layout: labels that wrap do not say how high they are before they have a width.
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


def says_more(formula: str) -> bool:
    """Whether a formula in one line has words beside its symbols.

    >>> says_more("R = (1/n) sum_i l(p_i)"), says_more("the second singular value of V")
    (False, True)
    """
    return bool(set(re.findall(r"[A-Za-z]{2,}", formula)) - SYMBOLS)


def _wrapped(text: str, parent: QWidget, quiet: bool = False) -> QLabel:
    label = quiet_label("", parent) if quiet else plain_label(parent=parent)
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setText(rich(text))
    label.setWordWrap(True)
    return label
