"""What the window of a whole study shows of its runs, and what is saved of it.

The table and the points follow at once. The figure is drawn in a thread, and drawn anew so seldom
that this takes at most a tenth of a processor; claims are judged when the study rests.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog

from app.controllers.export import ExportController
from app.panels.study_window import StudyWindow
from app.state.exports import StudyFigureJob, TableJob
from app.state.sweep_lines import SweepLines, lines_of
from app.workers.study_readers import ClaimJudge, FigurePainter, Picture, Shelf
from core.figures.palette import Palette
from core.studies.derived import VARIANT

if TYPE_CHECKING:
    from core.studies.verdicts import Judged

REDRAW_MS = 250  # the table and the points, at most so often
REST = 10.0  # times as long as the figure took are waited before it is drawn again
LEAST_REST = 1.0  # seconds
NO_RUNS = "The figure appears here as cells are done."
PARTLY = "Judged by the cells that are there so far."
DRAWING = "Drawing the figure ..."
FIGURES = "PDF (*.pdf);;SVG (*.svg);;PNG (*.png)"
MEANS = "Means over seeds"
TABLES = ";;".join(
    f"{what}, {form}"
    for what in ("Cells", MEANS)
    for form in ("CSV (*.csv)", "NPZ (*.npz)", "Parquet (*.parquet)")
)


@final
class StudyDisplay(QObject):
    """Fills the window. run_asked(path, beside): a point or a row was clicked."""

    run_asked = Signal(object, bool)

    def __init__(self, window: StudyWindow, palette: Palette, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._palette = window, palette
        self._shelf: Shelf | None = None
        self._resting = False
        self._judged: tuple[Judged, ...] = ()
        self._asked = self._rested = 0.0  # when the figure was asked for, and when it may be again
        self._to_judge = False
        self._cells: object = None
        self._has_figure = False
        self.painter = FigurePainter(self)
        self.judge = ClaimJudge(self)
        self.export = ExportController(window, self)
        self._redraw = self._timer("points", REDRAW_MS, self._show_rows)
        self._draw = self._timer("study figure", 0, self._ask_figure)
        self.painter.made.connect(self._on_picture)
        self.painter.refused.connect(self._on_no_picture)
        self.judge.made.connect(self._on_judged)
        self.judge.refused.connect(window.bar.say)
        self.export.failed.connect(window.bar.say)
        self.export.finished.connect(window.bar.say)
        window.axes.changed.connect(self._show_points)
        window.axes.scaled.connect(self._scale)
        window.plot.run_asked.connect(self.run_asked)
        window.table.run_asked.connect(self.run_asked)
        window.picture.resized.connect(self._resized)
        window.figure.clicked.connect(self._save_figure)
        window.numbers.clicked.connect(self._save_table)

    def _timer(self, name: str, milliseconds: int, slot: object) -> QTimer:
        timer = QTimer(self)
        timer.setObjectName(name)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    def close(self) -> None:
        """Wait for the threads."""
        self._redraw.stop()
        self._draw.stop()
        for worker in (self.painter, self.judge):
            worker.close()
        self.export.close()

    def set_colours(self, palette: Palette) -> None:
        """Another palette."""
        self._palette = palette
        self._window.set_colours(palette)
        self._figure_soon(now=True)

    # ---------------------------------------------------------------------------------- rows

    @property
    def rests(self) -> bool:
        """Whether all is shown that there is to show."""
        waits = self._to_judge or self._redraw.isActive() or self._draw.isActive()
        return not (waits or self.painter.busy or self.judge.busy)

    def show_shelf(self, shelf: Shelf, resting: bool) -> None:
        """What came of the cells so far; the claims are judged where that is all for now."""
        new = shelf.cells is not self._cells
        self._shelf, self._cells, self._resting = shelf, shelf.cells, resting
        if new:
            for worker in (self.painter, self.judge):
                worker.cancel()  # what they are at is another study's
            self._draw.stop()
            self._show_grid(shelf)
        if new or resting:
            self._redraw.stop()
            self._show_rows()
        elif not self._redraw.isActive():
            self._redraw.start()
        self._to_judge = resting and bool(shelf.done and shelf.study.claims)
        self._figure_soon(now=resting)
        if not self._draw.isActive():
            self._judge_now()

    def _show_grid(self, shelf: Shelf) -> None:
        study, window = shelf.study, self._window
        self._judged = ()
        window.setWindowTitle(f"{study.title} \u2013 Whole study \u2013 Marginscope")
        axes = dict(study.axes)
        if study.variants:
            axes[VARIANT] = tuple(study.variants)
        columns = study.sweep.columns
        window.axes.show_study(axes, columns)
        window.plot.set_logarithmic(None, None)
        window.table.show_cells(shelf.cells, shelf.paths, columns)
        window.claims.show_study(study)
        from core.figures.study_figure import has_figure

        self._has_figure = has_figure(study)
        window.set_has_figure(self._has_figure)
        window.picture.show_words(NO_RUNS)

    def _show_rows(self) -> None:
        """The table and the points; the next time not before ten times as long as this takes."""
        shelf, begin = self._shelf, time.monotonic()
        if shelf is None:
            return
        self._window.table.show_rows(shelf.rows)
        for button in (self._window.figure, self._window.numbers):
            button.setEnabled(bool(shelf.done))
        self._show_points()
        took = time.monotonic() - begin
        self._redraw.setInterval(max(REDRAW_MS, round(1000.0 * REST * took)))

    def _show_points(self) -> None:
        from core.studies.cell_table import rows_of

        shelf, window = self._shelf, self._window
        if shelf is None:
            return
        axis, column = window.axes.axis_name, window.axes.column_name
        found = SweepLines()
        if axis:
            table = rows_of(shelf.study, shelf.rows)
            found = lines_of(
                table,
                shelf.paths,
                axis,
                column,
                window.axes.chosen,
                shelf.study.sweep.exclude_unfit,
            )
        window.plot.show_lines(found, axis, column)
        window.axes.show_scales(*window.plot.logarithmic)
        window.note.set_text(window.plot.note)

    def _scale(self) -> None:
        axes = self._window.axes
        self._window.plot.set_logarithmic(axes.log_x.isChecked(), axes.log_y.isChecked())
        axes.show_scales(*self._window.plot.logarithmic)

    # -------------------------------------------------------------------------------- figure

    def _figure_soon(self, now: bool = False) -> None:
        """Draw the figure when it is its turn."""
        shelf = self._shelf
        if shelf is None or not self._has_figure or not shelf.done:
            return
        if now:
            self._draw.start(0)
        elif not self._draw.isActive() and not self.painter.busy:
            wait = max(self._rested - time.monotonic(), LEAST_REST)
            self._draw.start(round(1000.0 * wait))

    def _ask_figure(self) -> None:
        shelf = self._shelf
        if shelf is None:
            return
        if self._window.picture.image.isNull():
            self._window.picture.show_words(DRAWING)
        self._asked = time.monotonic()
        self.painter.ask(shelf, self._palette.name, self._window.picture.pixels_wide())

    def _on_picture(self, picture: Picture) -> None:
        self._window.picture.show_png(picture.png)
        now, shelf = time.monotonic(), self._shelf
        self._rested = now + REST * (now - self._asked)
        if shelf is not None and len(shelf.done) != picture.runs:
            self._figure_soon(now=self._resting)
        self._judge_now()

    def _on_no_picture(self, sentence: str) -> None:
        self._window.picture.show_words(sentence)
        self._judge_now()

    def _resized(self) -> None:
        self._figure_soon()

    # -------------------------------------------------------------------------------- claims

    def _judge_now(self) -> None:
        """Judge the claims, after the figure: two threads at once would keep the window waiting."""
        if self._to_judge and self._shelf is not None:
            self._to_judge = False
            self.judge.ask(self._shelf)

    def _on_judged(self, judged: tuple[Judged, ...]) -> None:
        shelf = self._shelf
        if shelf is None or not self._resting:
            return
        self._judged = judged
        note = "" if len(shelf.done) == len(shelf.cells) else PARTLY
        self._window.claims.show_judged(judged, note)

    # -------------------------------------------------------------------------------- saving

    def _save_figure(self) -> None:
        path, _ = self._ask_path("Save the figure", ".pdf", FIGURES)
        if path is not None and self._shelf is not None:
            lines = tuple(one.line() for one in self._judged)
            shelf = self._shelf
            job = StudyFigureJob(shelf.study, shelf.done, path, verdicts=lines, told=shelf.told)
            self.export.start(job)

    def _save_table(self) -> None:
        path, form = self._ask_path("Save the table", ".csv", TABLES)
        if path is not None and self._shelf is not None:
            rows, means = dict(self._shelf.rows), form.startswith(MEANS)
            self.export.start(TableJob(self._shelf.study, rows, path, means))

    def _ask_path(self, title: str, suffix: str, formats: str) -> tuple[Path | None, str]:
        """A path with an ending, and the format that was chosen; None where nothing was."""
        if self._shelf is None:
            return None, ""
        first = self._shelf.folder / f"{self._shelf.study.id}{suffix}"
        name, chosen = QFileDialog.getSaveFileName(self._window, title, str(first), formats)
        if not name:
            return None, ""
        ending = chosen.rpartition(".")[2].rstrip(")")
        path = Path(name)
        return path if path.suffix else path.with_suffix(f".{ending}"), chosen
