"""Comparison of runs in one picture: opened by files, traced beside the window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.library.compared_runs import (
    ComparedRun,
    ComparedValues,
    close_compared,
    common_observables,
    compare_nodes,
    compare_over_time,
    legend_rows,
    medians,
    open_compared,
    reference_levels,
    request_values,
    snapshot_of,
    value_at,
)
from app.playback.calculator import Calculator
from app.playback.display import DisplayController
from app.playback.transport import PlaybackController
from app.state.session import Session
from app.state.view_options import ComparedRuns
from app.training.run_questions import RunQuestions
from app.widgets.layouts import PageStack
from core.comparison.question import MOST_COMPARED, CompareQuestion, check_count
from core.errors import InputError, MarginscopeError
from core.figures.palette import PALETTES, run_colour
from core.problem.schedule import coordinate
from core.trust import UntrustedCodeError

if TYPE_CHECKING:
    from app.library.compare_page import ComparePanel
    from app.views.compare import CompareView
    from core.comparison.recorded import Differing
    from core.reference.margin import ReferenceMargin

FIRST = "hard_margin"
POLL_MS = 500  # between polls of files that still grow
TOO_FEW = "Comparing needs at least two runs. Open another, or select some in the library."
LAST_TWO = "A comparison needs at least two runs. Close it to show the open runs."


@final
class CompareController(QObject):
    """Opens, traces and shows the runs that the intent's `compared` names."""

    message = Signal(str)
    """Sentence for the bar."""
    visibility_changed = Signal(bool)
    """True once the page is shown, False once it is left."""
    help_requested = Signal(object)
    """Names of the observables to explain, as a tuple."""

    def __init__(
        self,
        window: QWidget,
        pages: PageStack,
        session: Session,
        display: DisplayController,
        playback: PlaybackController,
        questions: RunQuestions,
    ) -> None:
        super().__init__(window)
        self._window, self._pages = window, pages
        self._session, self._display = session, display
        self._playback, self._questions = playback, questions
        self._of: ComparedRuns | None = None
        self._palette, self._stopped = "", False
        self._open: tuple[ComparedRun, ...] = ()
        self._named: Differing | None = None
        self._references: tuple[ReferenceMargin, ...] = ()
        self._known: ComparedValues | None = None
        self._requested_at = math.nan  # the cursor when values were asked for
        self.panel: ComparePanel | None = None
        self.view: CompareView | None = None
        self._calculator = Calculator(self)
        self._calculator.values_computed.connect(self._on_computed)
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self._poll)
        display.changed.connect(self._on_display_changed)

    # -------------------------------------------------------------------------------- requests

    def compare(self, names: Sequence[str]) -> None:
        """Compare the runs of some files."""
        before = self._display.intent.compared
        question = before.question if before is not None else CompareQuestion()
        self._set_compared(ComparedRuns(tuple(names), question))

    def _set_compared(self, compared: ComparedRuns) -> None:
        """Compare runs if they are neither too few nor too many; report it otherwise."""
        try:
            check_count(len(compared.runs))
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self.message.emit("")
        self._display.update_intent(compared=compared)

    def set_shown(self, on: bool) -> None:
        """Compare the open runs, or show them again."""
        if on == (self._display.intent.compared is not None):
            return
        if not on:
            self._display.update_intent(compared=None)
            return
        names = [str(run.source) for run in self._session if run.data is not None]
        if len(names) > 1:
            self.compare(names[:MOST_COMPARED])
        else:
            self.message.emit(TOO_FEW)
            self.visibility_changed.emit(False)

    def add_runs(self, names: Sequence[str]) -> None:
        """Compare further runs, which were dropped on the page."""
        if self._of is not None:
            self._set_compared(self._of.with_runs([*dict.fromkeys((*self._of.runs, *names))]))

    def _on_removal_requested(self, rows: tuple[int, ...]) -> None:
        if self._of is None:
            return
        left = [name for k, name in enumerate(self._of.runs) if k not in rows]
        if len(left) < 2:
            self.message.emit(LAST_TWO)
        else:
            self._set_compared(self._of.with_runs(left))

    def _on_row_moved(self, row: int, place: int) -> None:
        if self._of is not None:
            names = list(self._of.runs)
            names.insert(place, names.pop(row))
            self._display.update_intent(compared=self._of.with_runs(names))

    def _on_shown_changed(self, row: int, shown: bool) -> None:
        if self._of is not None:
            hidden = self._of.hidden ^ {self._of.runs[row]}
            self._display.update_intent(compared=replace(self._of, hidden=hidden))

    def _on_rows_selected(self) -> None:
        """Emphasise the lines of the selected runs."""
        if self.panel is None or self.view is None or self._of is None:
            return
        shown = self._of.shown_runs
        rows = [k for k in self.panel.table.selected_rows if k in shown]
        lines = [self._line_of(shown.index(k)) for k in rows]
        self.view.emphasise(frozenset(line for line in lines if line >= 0))

    def _set_question(self, question: CompareQuestion) -> None:
        compared = self._display.intent.compared
        if compared is not None:
            self._display.update_intent(compared=replace(compared, question=question))

    def leave(self) -> None:
        """Show the open runs instead of the comparison."""
        if self._display.intent.compared is not None:
            self._display.update_intent(compared=None)

    def _on_place_clicked(self, place: float) -> None:
        """Seek the moment at which the first line that comes so far reaches a place."""
        if self._of is not None and self._of.question.against in ("log10_time", "time"):
            self._playback.seek(float(coordinate(place)))
            return
        if self._known is not None:
            moment = self._known.moment_at(place)
            if math.isfinite(moment):
                self._playback.seek(moment)

    # ------------------------------------------------------------------------------- following

    def _on_display_changed(self) -> None:
        """Show the runs, question, palette and moment of the intent."""
        if self._stopped:
            return
        wishes = self._display.view.wishes
        if wishes.compared != self._of:
            self._change(wishes.compared)
        if self.view is not None and wishes.palette != self._palette:
            self._palette = wishes.palette
            self.view.set_colours(PALETTES[wishes.palette])
            self._show_answer()
        if self._of is not None:
            self._show_moment()

    def _change(self, wanted: ComparedRuns | None) -> None:
        before, self._of = self._of, wanted
        if wanted is None:
            self._close_runs()
            self._pages.set_over(None)
            self.visibility_changed.emit(False)
            self._display.refresh()  # the slider's range is that of the open runs again
            return
        if before is None or before.runs != wanted.runs:
            opened = self._open_runs(wanted.runs)
            if not opened:  # what was compared before stays
                self._of = before
                self._display.update_intent(compared=before)
                self.visibility_changed.emit(before is not None)
                return
            self._start(opened)
        self._make()
        common = common_observables(self._open)
        if wanted.question.observable not in common:
            name = FIRST if FIRST in common else next(iter(common))
            self._set_question(replace(wanted.question, observable=name))  # and calls this again
            return
        self._request_values()
        assert self.panel is not None
        self.panel.offer(common)
        self.panel.show_question(wanted.question)
        self._rebuild()
        self._pages.set_over(self.panel)
        self.visibility_changed.emit(True)
        self._display.refresh()  # the slider's range holds the compared runs, also while held

    def _make(self) -> None:
        """Make the page when it is first shown."""
        if self.panel is not None:
            return
        from app.library.compare_page import ComparePanel
        from app.views.compare import CompareView

        self._palette = self._display.intent.palette
        self.view = CompareView(PALETTES[self._palette])
        self.panel = ComparePanel(self.view, PALETTES[self._palette], self._window)
        self.panel.question_changed.connect(self._set_question)
        self.panel.runs_dropped.connect(self.add_runs)
        self.panel.close_button.clicked.connect(self.leave)
        table = self.panel.table
        table.shown_changed.connect(self._on_shown_changed)
        table.removal_requested.connect(self._on_removal_requested)
        table.row_moved.connect(self._on_row_moved)
        table.itemSelectionChanged.connect(self._on_rows_selected)
        self.view.place_requested.connect(self._on_place_clicked)
        self.view.help_requested.connect(self.help_requested)

    def _open_runs(self, names: Sequence[str]) -> tuple[ComparedRun, ...]:
        """Open the files, or none of them and report which one cannot be read."""
        try:
            return open_compared(names, self._open)
        except (MarginscopeError, OSError) as error:
            self.message.emit(getattr(error, "sentence", "") or f"{error}.")
            if isinstance(error, UntrustedCodeError):
                self._questions.confirm_trust(error, partial(self.compare, names))
            return ()

    def _start(self, opened: tuple[ComparedRun, ...]) -> None:
        """Compare runs whose files are open; close the files of runs that left."""
        from core.comparison.recorded import common_references

        close_compared(one for one in self._open if one not in opened)
        self._open, self._known = opened, None
        self._references = common_references([one.run for one in opened])
        self._update_session()
        if any(one.run.status != "finished" for one in opened):
            self._timer.start()

    def _close_runs(self) -> None:
        self._timer.stop()
        self._calculator.watch(())
        close_compared(self._open)
        self._open, self._known = (), None
        self._session.compared = ()

    def close(self) -> None:
        """Stop all work, and close the files."""
        self._stopped = True
        self._calculator.close()
        self._close_runs()

    # -------------------------------------------------------------------------------- tracing

    @property
    def _visible_runs(self) -> list[ComparedRun]:
        """Runs that are drawn."""
        return [self._open[k] for k in self._of.shown_runs] if self._of is not None else []

    def _poll(self) -> None:
        """Read new frames of files that grow."""
        growing = [one for one in self._open if one.run.status != "finished"]
        if not growing:
            self._timer.stop()
            return
        before = [one.run.frames for one in growing]
        try:
            after = [one.run.refresh() for one in growing]
        except (MarginscopeError, OSError) as error:
            self._timer.stop()
            self.message.emit(getattr(error, "sentence", str(error)))
            return
        if after != before:
            self._update_session()
            self._request_values()
            self._display.refresh()

    def _update_session(self) -> None:
        """Extend the cursor's range to these runs."""
        self._session.compared = tuple(snapshot_of(one) for one in self._open)

    def _request_values(self) -> None:
        assert self._of is not None
        self._requested_at = self._display.view.cursor
        request_values(self._of.question, self._open, self._requested_at)
        self._calculator.watch([one.background for one in self._open])

    def _on_computed(self) -> None:
        if self._of is not None and self._open:
            self._rebuild()

    def _rebuild(self) -> None:
        """Compare the values that are known so far."""
        from core.comparison.recorded import differing_of

        assert self._of is not None
        question, cursor = self._of.question, self._display.view.cursor
        self._named = differing_of([one.run for one in self._open], self._of.colours)
        runs, named = self._visible_runs, self._named.select_runs(self._of.shown_runs)
        if question.is_by_rank:
            known = compare_nodes(question, runs, named, cursor)
        else:
            known = compare_over_time(question, runs, named)
        if known is not None:
            self._known = known
            self._show_answer()
            self._show_moment()

    # -------------------------------------------------------------------------------- showing

    def _show_answer(self) -> None:
        of, named = self._of, self._named
        if self.view is None or self.panel is None or self._known is None:
            return
        if of is None or named is None:
            return
        from core.figures.comparison import words_for

        answer = self._known.answer
        words = ", ".join(part for part in (words_for(answer.question), answer.moment) if part)
        title = f"{words}, {len(self._open)} runs"
        palette = PALETTES[self._palette]
        levels = reference_levels(self._references, answer.question, palette)
        self.view.show_comparison(answer, title, levels)
        self.panel.show_notes(answer.notes)
        value = "median" if answer.question.is_by_rank else "at the cursor"
        rows = legend_rows(self._open, named, of.shown_runs)
        self.panel.table.show_rows(value, named.keys, rows)
        self.panel.table.show_colours([run_colour(x, palette) for x in named.shades], palette)
        self.panel.fit()
        self._on_rows_selected()

    def _line_of(self, run: int) -> int:
        """Return the number of the line of a drawn run; -1 if it has none of its own."""
        if self._known is None:
            return -1
        lines = self._known.answer.lines
        if self._known.answer.question.kind == "differences":
            return run - 1
        return next((k for k, line in enumerate(lines) if run in line.members), -1)

    def _show_moment(self) -> None:
        """Draw the lines up to the cursor, and show their values there."""
        if self.view is None or self.panel is None or self._known is None or self._of is None:
            return
        cursor, known = self._display.view.cursor, self._known
        if known.answer.question.is_by_rank:
            if cursor != self._requested_at:
                self._request_values()
            every = [*medians(known.answer), math.nan]  # the last one for runs without a line
            self._show_values([every[self._line_of(k)] for k in range(len(self._visible_runs))])
            return
        here = known.places_at(cursor)
        lines = known.answer.lines
        self.view.show_places([min(here[k] for k in line.members) for line in lines])
        if known.answer.question.kind == "differences":
            values = [self.view.value(k - 1) if k > 0 else math.nan for k in range(len(here))]
        else:
            values = [value_at(*curve, at) for curve, at in zip(known.curves, here, strict=True)]
        self._show_values(values)

    def _show_values(self, values: Sequence[float]) -> None:
        """Show the values of the drawn runs in their rows."""
        from app.widgets.screen_text import shown_number

        assert self._of is not None
        assert self.panel is not None
        texts = [""] * len(self._open)
        for k, value in zip(self._of.shown_runs, values, strict=True):
            texts[k] = shown_number(value, 4)
        self.panel.table.show_values(texts)
