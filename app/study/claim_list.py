"""Claims of a study with their verdicts: a mark, the text and the measurement of each."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app.widgets.labels import heading_label, plain_tip, quiet_label, rich_label, rich_tip
from app.widgets.layouts import add_all, fill_scrolled, space
from app.widgets.screen_text import rich
from app.widgets.verdict_mark import VerdictStyle, hue_of, paint_mark
from core.figures.palette import Palette
from core.numbers import LOG10, MINUS, RAISED
from core.studies.study import Study

if TYPE_CHECKING:
    from core.studies.verdicts import JudgedClaim

MARK = 16
NOT_HERE, NOT_TESTABLE = "not at this size", "not testable at this size"
# Integer powers only: 10 with a raised 2 before .5 would be another number than 10^2.5.
POWER = re.compile(r"(?<=[\w)])\^(\d+)(?![\d.])")
MINUS_SIGN = re.compile(r"(?<![\w^])-(?=\.?\d)| - (?=[\w.])|(?<== )-(?=\w)")
# Keys are values of core.studies.verdicts.Verdict, and "waiting" before the judgement.
CLAIM_STYLES: dict[str, VerdictStyle] = {
    "confirmed": VerdictStyle(
        "confirmed", "disc", "check", "positive", "These runs support the claim."
    ),
    "refuted": VerdictStyle(
        "refuted", "square", "cross", "negative", "These runs contradict the claim."
    ),
    NOT_HERE: VerdictStyle(
        NOT_TESTABLE, "dash", "none", "muted", "Runs of this size cannot decide this claim."
    ),
    "waiting": VerdictStyle(
        "not checked yet",
        "dots",
        "none",
        "muted",
        "Marginscope checks the claim when the study is finished or cancelled.",
    ),
}
NO_CLAIMS = "This study makes no claims."


def _signs(text: str) -> str:
    """Return a claim with mathematical signs, as rich text."""
    # Keep hyphens within words and the signs of exponents.
    text = MINUS_SIGN.sub(_minus, text.replace("+-", "\u00b1"))
    return rich(POWER.sub(_power, text).replace("log10", LOG10))


def _power(match: re.Match[str]) -> str:
    """Return the exponent of a match with raised digits."""
    return match[1].translate(RAISED)


def _minus(match: re.Match[str]) -> str:
    """Return a match with the minus sign in place of the hyphen."""
    return match[0].replace("-", MINUS)


@final
class ClaimMark(QWidget):
    """Mark of a verdict."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette = palette
        self.verdict_style = CLAIM_STYLES["waiting"]
        self.setFixedSize(QSize(MARK, MARK))

    def show_style(self, style: VerdictStyle, palette: Palette) -> None:
        """Show a verdict in the colours of a palette."""
        self.verdict_style, self._palette = style, palette
        self.setToolTip(plain_tip(style.meaning))
        self.setAccessibleName(style.word)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_mark(painter, self.verdict_style, QRectF(0.0, 0.0, MARK, MARK), self._palette)
        painter.end()


@final
class ClaimList(QWidget):
    """Claims of a study, one a row: a mark, the text and the verdict."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._rows: list[tuple[ClaimMark, QLabel]] = []
        self._texts: tuple[str, ...] = ()
        self._judged: tuple[JudgedClaim, ...] = ()
        self.heading = heading_label("Claims", self)
        self.note = quiet_label("", self, wrap=True)
        self._content = QWidget(self)
        self._grid = space(QGridLayout(), spacing=(8, 12))
        self._grid.setColumnStretch(1, 1)
        column = space(QVBoxLayout(self._content), (16, 12, 16, 16), 8)
        add_all(column, self.heading, self.note, self._grid, 1)
        fill_scrolled(self, self._content)

    @property
    def words(self) -> tuple[str, ...]:
        """Shown verdict of each claim."""
        return tuple(mark.verdict_style.word for mark, _ in self._rows)

    @property
    def texts(self) -> tuple[str, ...]:
        """Text of each claim, as rich text."""
        return tuple(label.text() for _, label in self._rows)

    def show_study(self, study: Study) -> None:
        """Show the claims of a study, not judged yet."""
        self._judged = ()
        texts = tuple(claim.text for claim in study.claims)
        # Keep rows of the same claims, and with them the selection and the scroll position.
        if texts != self._texts:
            self._texts = texts
            self._rebuild()
        self.note.setVisible(not texts)
        self.note.setText(NO_CLAIMS)
        self._show()

    def show_judged(self, claims: Sequence[JudgedClaim], note: str = "") -> None:
        """Show verdicts in the order of the claims; later claims wait."""
        self._judged = tuple(claims)
        self.note.setText(note if self._texts else NO_CLAIMS)
        self.note.setVisible(bool(self.note.text()))
        self._show()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self._show()

    def _rebuild(self) -> None:
        for mark, label in self._rows:
            for part in (mark, label):
                part.hide()  # visible until deleted in the next turn of the event loop
                part.deleteLater()
        self._rows = []
        for row in range(len(self._texts)):
            mark = ClaimMark(self._palette, self._content)
            label = rich_label(self._content)
            self._grid.addWidget(mark, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(label, row, 1)
            self._rows.append((mark, label))

    def _show(self) -> None:
        for place, (mark, label) in enumerate(self._rows):
            claim = self._judged[place] if place < len(self._judged) else None
            style = CLAIM_STYLES[claim.verdict if claim is not None else "waiting"]
            mark.show_style(style, self._palette)
            reasons = () if claim is None else (claim.why, claim.basis)
            label.setToolTip(rich_tip("<br>".join(_signs(text) for text in reasons if text)))
            label.setText(self._text(place, style, claim))

    def _text(self, place: int, style: VerdictStyle, claim: JudgedClaim | None) -> str:
        """Return a claim with its verdict and measurement, as rich text."""
        colour = hue_of(style.hue, self._palette)
        muted = f"<span style='color:{self._palette.muted}'>"
        lines = [_signs(self._texts[place]), f"<span style='color:{colour}'>{style.word}</span>"]
        if claim is not None and not math.isnan(claim.measured):
            lines[-1] += f" {muted}\u00b7 {_signs(claim.measurement)}</span>"
        if claim is not None and claim.why and claim.verdict == NOT_HERE:
            lines.append(f"{muted}{_signs(claim.why)}</span>")
        return "<br>".join(lines)
