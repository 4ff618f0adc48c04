"""Theorem timeline: for each statement the times of its hypotheses and its conclusion.

It is below the slider, and has the slider's axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.playback.time_slider import TimeSlider
from app.theory.statement_lines import LEGEND, StatementLine, count_holding, paint_legend
from app.theory.time_rows import SIDE, TITLE, TimeRows
from app.widgets.labels import plain_label, quiet_label
from app.widgets.layouts import add_all, fill_scrolled, space
from core.figures.palette import Palette

NO_LINES = "No theorem that applies to this run depends on time."
WAITING = "Checking theorems ..."
NO_RUN = "The times at which each theorem holds appear here once a run is open."
MOST_ROWS = 6  # visible rows; more need scrolling


@final
class Legend(QWidget):
    """Legend of the shapes in the timeline; its tool tip and accessible name are LEGEND."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette = palette
        self.setAccessibleName(LEGEND)
        self.setToolTip(LEGEND)

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, self.fontMetrics().height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_legend(painter, QRectF(self.rect()), self._palette)
        painter.end()


@final
class TheoremTimes(QWidget):
    """Heading, legend and scrolled rows of the timeline, always MOST_ROWS rows high."""

    def __init__(self, palette: Palette, slider: TimeSlider, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("times")
        self._slider = slider
        self.heading = plain_label(TITLE, self)
        self.heading.setProperty("heading", True)
        self.legend = Legend(palette, self)
        self.note = quiet_label(NO_RUN, self)
        body = QWidget(self)
        self.rows = TimeRows(palette, slider, body)
        self.rows.row_reached.connect(self._on_row_reached)
        self._area = fill_scrolled(body, self.rows)
        column = space(QVBoxLayout(self), (0, 4, 0, 0), 2)
        line = space(QHBoxLayout(), (int(SIDE), 0, int(SIDE), 0), 16)
        add_all(line, self.heading, (self.note, 1), (self.legend, 1))
        add_all(column, line, body)
        self._body = body
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._fit_height()

    def show_lines(
        self, heading: str, lines: Sequence[StatementLine] | None, any_run: bool
    ) -> None:
        """Show the lines of a run's statements, and colour the slider by how many hold when.

        `lines` is None while the run is not judged, and empty if no statement depends on time; a
        note in place of the legend then says so, or that no run is open (not `any_run`). `heading`
        names the run in the title, "" for none.
        """
        self.heading.setText(f"{TITLE} of {heading}" if heading else TITLE)
        self.rows.show_lines(lines or ())
        self._slider.set_theorems(count_holding(lines or ()))
        words = NO_LINES if lines is not None else WAITING if any_run else NO_RUN
        self.note.setText(words)
        self.note.setVisible(not lines)
        self.legend.setVisible(bool(lines))
        self._fit_height()

    def set_colours(self, palette: Palette) -> None:
        """Set the palette, and fit to the font, which may have changed."""
        self.rows.set_colours(palette)
        self.legend.set_colours(palette)
        self._fit_height()

    def _fit_height(self) -> None:
        """Set the heights of heading and rows for the font, the same with and without a verdict."""
        # Fixed height for the highest text of the line above, so that a verdict does not resize
        # the views.
        parts = (self.heading, self.note, self.legend)
        self.heading.setMinimumHeight(max(part.sizeHint().height() for part in parts))
        self._body.setFixedHeight(MOST_ROWS * self.rows.row_height())
        self.rows.setFixedHeight(self.rows.sizeHint().height())

    def _on_row_reached(self, top: int, bottom: int) -> None:
        """Scroll as little as shows the row."""
        bar = self._area.verticalScrollBar()
        if top < bar.value():
            bar.setValue(top)
        elif bottom > bar.value() + self._area.viewport().height():
            bar.setValue(bottom - self._area.viewport().height())
