"""Texts of files in Qt's widgets: shown as they are written, never as HTML or as a shortcut.

Qt guesses whether a text is HTML in tool tips, in labels without a text format and in dialogs. It
then opens every picture that the HTML names, also on other computers.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QPoint
from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

CONTROLS = re.compile(r"[\t\r\n]+")


def plain_tip(text: str) -> str:
    """Return a text for `setToolTip` and for ToolTipRole that Qt shows as it is written.

    >>> plain_tip("m < 8"), plain_tip("<b>x</b>")
    ('m < 8', '<p>&lt;b&gt;x&lt;/b&gt;</p>')
    """
    # Ordinary texts stay as they are: screen readers read the tool tip as it was given.
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


def plain_label(text: str = "", parent: QWidget | None = None, wrap: bool = False) -> QLabel:
    """Return a label that shows its texts as they are written."""
    return QLabel(text, parent, textFormat=Qt.TextFormat.PlainText, wordWrap=wrap)


def menu_text(text: str) -> str:
    r"""Return a name for a menu, a button or a box to tick, where & marks a key.

    >>> menu_text("a & b\tCtrl+Q")
    'a && b Ctrl+Q'
    """
    # What follows a tab is shown as the shortcut of an action.
    return CONTROLS.sub(" ", text).replace("&", "&&")


def window_title(text: str) -> str:
    """Return a title for a window, where Qt takes [*] for the mark of a changed document.

    >>> window_title("W[*]")
    'W[*][*]'
    """
    return text.replace("[*]", "[*][*]")
