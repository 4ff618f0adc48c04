"""Labels, tool tips and other texts in Qt's widgets: shown as written, never as HTML or a shortcut.

Qt guesses whether a text is HTML in tool tips, in labels without a text format and in dialogs. It
then opens every picture that the HTML names, also on other computers.
"""

from __future__ import annotations

import math
import re
from typing import final

from PySide6.QtCore import QPoint, QPointF, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, Qt
from PySide6.QtWidgets import (
    QLabel,
    QSizePolicy,
    QToolTip,
    QWidget,
)

CONTROLS = re.compile(r"[\t\r\n]+")


def plain_tip(text: str) -> str:
    """Return a text for `setToolTip` and for ToolTipRole that Qt shows without markup.

    >>> plain_tip("m < 8"), plain_tip("<b>x</b>")
    ('m < 8', '<p>&lt;b&gt;x&lt;/b&gt;</p>')
    """
    # Return ordinary texts unchanged: screen readers read the tool tip literally.
    if not Qt.mightBeRichText(text):
        return text
    return Qt.convertFromPlainText(text, Qt.WhiteSpaceMode.WhiteSpaceNormal)


def rich_tip(html: str) -> str:
    """Return HTML of the program, with texts of files escaped, that Qt takes for HTML.

    >>> rich_tip("a &lt; b")
    '<qt>a &lt; b</qt>'
    """
    return f"<qt>{html}</qt>" if html else ""


def show_tip(place: QPoint, text: str, widget: QWidget) -> None:
    """Show a text as a tool tip at a place of the screen."""
    QToolTip.showText(place, plain_tip(text), widget)


def show_rich_tip(place: QPoint, html: str, widget: QWidget) -> None:
    """Show HTML of the program, with texts of files escaped, as a tool tip."""
    QToolTip.showText(place, rich_tip(html), widget)


def plain_label(text: str = "", parent: QWidget | None = None, wrap: bool = False) -> QLabel:
    """Return a label that shows its texts as they are written."""
    return QLabel(text, parent, textFormat=Qt.TextFormat.PlainText, wordWrap=wrap)


def menu_text(text: str) -> str:
    r"""Return a name for a menu, a button or a box to tick, where & marks a key.

    >>> menu_text("a & b\tCtrl+Q")
    'a && b Ctrl+Q'
    """
    # Qt shows the text after a tab as the shortcut of an action.
    return CONTROLS.sub(" ", text).replace("&", "&&")


def window_title(text: str) -> str:
    """Return a title for a window, where Qt takes [*] for the mark of a changed document.

    >>> window_title("W[*]")
    'W[*][*]'
    """
    return text.replace("[*]", "[*][*]")


@final
class ElidedLabel(QWidget):
    """One line of text, shortened in the middle or at the right.

    `typeset`: symbols such as gamma_gl are Greek letters with subscripts.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        role: QPalette.ColorRole = QPalette.ColorRole.WindowText,
        typeset: bool = False,
    ) -> None:
        super().__init__(parent)
        self._text, self._typeset = "", typeset
        self._mode, self._role = mode, role
        self._align = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        # A long path must not widen the window.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_alignment(self, alignment: Qt.AlignmentFlag) -> None:
        self._align = alignment | Qt.AlignmentFlag.AlignVCenter

    def text(self) -> str:
        return self._text

    def set_text(self, text: str, explanation: str = "") -> None:
        """Show a text; the tooltip is `explanation`, or the text itself."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.updateGeometry()  # sizeHint depends on the text
            self.update()
        self.setToolTip(plain_tip(explanation or text))

    def shown_text(self) -> str:
        """Return the text as painted, with symbols as they are written."""
        if self._has_symbols:
            from app.widgets.levels import fit_text

            return fit_text(self._text, self.font(), self.width())
        return self.fontMetrics().elidedText(self._text, self._mode, self.width())

    @property
    def _has_symbols(self) -> bool:
        """True if subscripts are painted; only then numpy is needed."""
        return self._typeset and "_" in self._text

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self._text)
        if self._has_symbols:
            from app.widgets.levels import label_width

            width = math.ceil(label_width(self._text, self.font()))
        return QSize(width + 2, metrics.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self._role))
        if self._has_symbols:
            from app.widgets.levels import paint_label

            metrics = self.fontMetrics()
            base = (self.height() - metrics.height()) / 2 + metrics.ascent()
            paint_label(painter, QPointF(0.0, base), self.shown_text())
        else:
            painter.drawText(self.rect(), self._align, self.shown_text())
        painter.end()


MOST_LINES = 3


def _label(role: str, text: str, parent: QWidget | None, wrap: bool) -> QLabel:
    label = plain_label(text, parent, wrap)
    label.setProperty(role, True)
    return label


def quiet_label(text: str, parent: QWidget | None = None, wrap: bool = False) -> QLabel:
    """Return a label in the muted colour."""
    return _label("quiet", text, parent, wrap)


def show_short(label: QLabel, text: str) -> None:
    """Show the first lines of a text in a label, all of it in the tool tip."""
    lines = text.split("\n")
    n_unlisted = len(lines) - MOST_LINES
    listed = [*lines[:MOST_LINES], f"and {n_unlisted} more"] if n_unlisted > 0 else lines
    label.setText("\n".join(listed))
    label.setToolTip(plain_tip(text))


def heading_label(text: str, parent: QWidget | None = None) -> QLabel:
    """Return the heading of a group of rows."""
    return _label("heading", text, parent, wrap=False)


def problem_label(parent: QWidget | None = None) -> QLabel:
    """Return a hidden label for an error sentence."""
    label = _label("problem", "", parent, wrap=True)
    label.hide()
    return label


def rich_label(parent: QWidget) -> QLabel:
    """Return a label for rich text, which the mouse can select."""
    label = QLabel(parent, textFormat=Qt.TextFormat.RichText, wordWrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Qt gives selectable text the focus
    return label
