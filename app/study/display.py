"""Display of a whole study's runs in its window, and saving of its figure and table.

The table and the points follow at once. A thread renders the figure; while cells run, redrawing
takes at most a tenth of a processor. Claims are judged when the study rests.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from app.export.controller import ExportController
from app.export.jobs import SceneJob
from app.export.pictures import Exportable, StudySubject
from app.study.sweep_lines import SweepLines, lines_of
from app.study.whole_study import StudyFigureJob, StudyRuns, TableJob
from app.study.window import StudyWindow
from app.study.workers import StudyFigure, claims_judged, figure_drawn
from app.widgets.labels import window_title
from app.worker import Worker
from core.figures.names import PageSize
from core.figures.palette import Palette
from core.studies.formulas import VARIANT

if TYPE_CHECKING:
    from core.studies.verdicts import JudgedClaim

REDRAW_MS = 250  # least ms between two updates of table and points
REST = 10.0  # pause before the next figure, in multiples of the last one's drawing time
LEAST_REST = 1.0  # seconds
RESIZED_MS = 250  # ms from the last resize to redrawing the figure of an idle study
PARTLY = "Based on the runs finished so far."
NO_FIGURE = "The figure could not be drawn (internal error). Details are in the log."
NOT_JUDGED = "The claims could not be checked (internal error). Details are in the log."
MEANS = "Means over seeds"
TABLES = ";;".join(
    f"{what}, {form}"
    for what in ("Runs", MEANS)
    for form in ("CSV (*.csv)", "NPZ (*.npz)", "Parquet (*.parquet)")
)


@final
class StudyDisplay(QObject):
    """Table, points, figure and claims of the shown study."""

    def __init__(self, window: StudyWindow, palette: Palette, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._palette = window, palette
        self._runs: StudyRuns | None = None
        self._resting = False
        self._judged: tuple[JudgedClaim, ...] = ()
        self._started = self._next = 0.0  # start of the last figure, earliest start of the next
        self._to_judge = False
        self._cells: object = None
        self._has_figure = False
        self._width = 0  # pixels requested for the last figure
        self.painter = Worker(
            "study figure", figure_drawn, self, our_error=NO_FIGURE, one_core=True
        )
        self.judge = Worker("claims", claims_judged, self, our_error=NOT_JUDGED, one_core=True)
        self.export = ExportController(window, self._exportable)
        self._redraw = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._redraw.timeout.connect(self._show_rows)
        self._draw = QTimer(self, singleShot=True)
        self._draw.timeout.connect(self._request_figure)
        self.painter.result.connect(self._on_figure)
        self.painter.error.connect(self._on_figure_failed)
        self.judge.result.connect(self._on_judged)
        self.judge.error.connect(window.bar.show_message)
        self.export.error.connect(window.bar.show_message)
        self.export.finished.connect(window.bar.show_notice)
        self.export.export_refused.connect(window.bar.show_notice)
        window.axes.changed.connect(self._show_points)
        window.axes.scales_changed.connect(self._on_scales_changed)
        window.picture.resized.connect(self._on_resized)
        window.figure.clicked.connect(self.export.figure)
        window.numbers.clicked.connect(self._save_table)

    def close(self) -> None:
        """Cancel all work, and wait for the threads."""
        self._redraw.stop()
        self._draw.stop()
        for worker in (self.painter, self.judge):
            worker.close()
        self.export.close()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self._window.set_colours(palette)
        self._schedule_figure(now=True)

    # ---------------------------------------------------------------------------------- rows

    @property
    def idle(self) -> bool:
        """True if nothing is pending."""
        waits = self._to_judge or self._redraw.isActive() or self._draw.isActive()
        return not (waits or self.painter.busy or self.judge.busy)

    def show_runs(self, runs: StudyRuns, resting: bool) -> None:
        """Show the cells' rows so far; judge the claims if the study is `resting`."""
        # The rows of one grid share their cells; other cells belong to another study.
        new = runs.cells is not self._cells
        self._runs, self._cells, self._resting = runs, runs.cells, resting
        if new:
            for worker in (self.painter, self.judge):
                worker.cancel()  # requests of the study before
            self._draw.stop()
            self._show_grid(runs)
        if new or resting:  # once and at once: later updates would show the same
            self._redraw.stop()
            self._show_rows()
        elif not self._redraw.isActive():
            self._redraw.start()
        # Judge only at rest: 3 of 20 seeds do not decide a claim about 20.
        self._to_judge = resting and bool(runs.done and runs.study.claims)
        self._schedule_figure(now=resting)
        if not self._draw.isActive():
            self._judge_now()

    def _show_grid(self, runs: StudyRuns) -> None:
        study, window = runs.study, self._window
        self._judged = ()
        title = f"{study.title} \u2013 Whole study \u2013 Marginscope"
        window.setWindowTitle(window_title(title))
        axes = dict(study.axes)
        if study.variants:
            axes[VARIANT] = tuple(study.variants)
        columns = study.sweep.columns
        window.axes.show_study(axes, columns)
        window.plot.set_logarithmic(None, None)
        window.table.show_cells(runs.cells, runs.paths, columns)
        window.claims.show_study(study)
        from core.figures.study_figure import has_figure

        self._has_figure = has_figure(study)
        window.set_has_figure(self._has_figure)
        window.picture.show_words("The figure fills in as runs finish.")

    def _show_rows(self) -> None:
        """Update the table and the points; wait ten times as long as this takes before the next."""
        runs, start = self._runs, time.monotonic()
        if runs is None:
            return
        self._window.table.show_rows(runs.rows)
        for button in (self._window.figure, self._window.numbers):
            button.setEnabled(bool(runs.done))
        self._show_points()
        took = time.monotonic() - start
        self._redraw.setInterval(max(REDRAW_MS, round(1000.0 * REST * took)))

    def _show_points(self) -> None:
        """Draw the chosen column over the chosen axis, a point for each setting."""
        from core.studies.cell_table import rows_of

        runs, window = self._runs, self._window
        if runs is None:
            return
        axis, column = window.axes.axis_name, window.axes.column_name
        lines = SweepLines()
        if axis:
            table, fit_only = rows_of(runs.study, runs.rows), runs.study.sweep.exclude_unfit
            lines = lines_of(table, runs.paths, axis, column, window.axes.chosen, fit_only)
        window.plot.show_lines(lines, axis, column)
        window.axes.show_scales(*window.plot.logarithmic)
        window.note.set_text(window.plot.note)

    def _on_scales_changed(self) -> None:
        axes = self._window.axes
        self._window.plot.set_logarithmic(axes.log_x.isChecked(), axes.log_y.isChecked())
        axes.show_scales(*self._window.plot.logarithmic)

    # -------------------------------------------------------------------------------- figure

    def _schedule_figure(self, now: bool = False) -> None:
        """Draw the figure now, or at the next allowed time."""
        runs = self._runs
        if runs is None or not self._has_figure or not runs.done:
            return
        if now:
            self._draw.start(0)
        elif not self._draw.isActive() and not self.painter.busy:
            wait = max(self._next - time.monotonic(), LEAST_REST)
            self._draw.start(round(1000.0 * wait))

    def _on_resized(self) -> None:
        # Showing a figure may toggle a scroll bar, which resizes the picture but not its room.
        if self._window.picture.pixels_wide() == self._width:
            return
        if self._resting and self._has_figure and self._runs is not None and self._runs.done:
            self._draw.start(RESIZED_MS)  # each change restarts the timer
        else:
            self._schedule_figure()

    def _request_figure(self) -> None:
        runs = self._runs
        if runs is None:
            return
        if self._window.picture.image.isNull():
            self._window.picture.show_words("Drawing the figure ...")
        self._started = time.monotonic()
        self._width = self._window.picture.pixels_wide()
        self.painter.request(runs, self._palette.name, self._width, self.export.figure_process)

    def _on_figure(self, picture: StudyFigure) -> None:
        self._window.picture.show_png(picture.png)
        now, runs = time.monotonic(), self._runs
        self._next = now + REST * (now - self._started)
        # Cells were finished in the meantime.
        if runs is not None and len(runs.done) != picture.runs:
            self._schedule_figure(now=self._resting)
        self._judge_now()

    def _on_figure_failed(self, sentence: str) -> None:
        self._window.picture.show_words(sentence)
        self._judge_now()

    # -------------------------------------------------------------------------------- claims

    def _judge_now(self) -> None:
        """Judge the claims, after the figure: two threads at once would keep the window waiting."""
        if self._to_judge and self._runs is not None:
            self._to_judge = False
            self.judge.request(self._runs)

    def _on_judged(self, claims: tuple[JudgedClaim, ...]) -> None:
        runs = self._runs
        if runs is None or not self._resting:
            return
        self._judged = claims
        note = "" if len(runs.done) == len(runs.cells) else PARTLY
        self._window.claims.show_judged(claims, note)

    # -------------------------------------------------------------------------------- saving

    def _exportable(self) -> Exportable:
        runs = self._runs
        if runs is None:
            return Exportable()
        subject = StudySubject(runs.study.id, self._figure_job)
        return Exportable(palette=self._palette, study=subject)

    def _figure_job(self, path: Path, dpi: float, palette: Palette, sheet: PageSize) -> SceneJob:
        """Return the job that draws the cells so far."""
        assert self._runs is not None
        runs, lines = self._runs, tuple(one.line for one in self._judged)
        arguments = (runs.study, runs.done, path, dpi, palette.name, lines, runs.figures, sheet)
        return StudyFigureJob(*arguments, runs.folder)

    def _save_table(self) -> None:
        path, form = self._choose_path("Save the table", ".csv", TABLES)
        if path is not None and self._runs is not None:
            rows, means = dict(self._runs.rows), form.startswith(MEANS)
            self.export.start(TableJob(self._runs.study, rows, path, means))

    def _choose_path(self, title: str, suffix: str, formats: str) -> tuple[Path | None, str]:
        """Ask for a path; return it with its suffix, and the format. None if cancelled."""
        if self._runs is None:
            return None, ""
        first = self._runs.folder / f"{self._runs.study.id}{suffix}"
        name, chosen = QFileDialog.getSaveFileName(self._window, title, str(first), formats)
        if not name:
            return None, ""
        # Qt adds a suffix only with native dialogs.
        ending = chosen.rpartition(".")[2].rstrip(")")
        path = Path(name)
        return path if path.suffix else path.with_suffix(f".{ending}"), chosen
