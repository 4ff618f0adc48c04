"""Comparison of runs in a grid of plots: opened by files, traced in the background."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.library.compare_model import CompareModel
from app.library.compared_runs import (
    common_observables,
    legend_rows,
    reference_levels,
    value_heading,
)
from app.playback.display import DisplayController
from app.playback.transport import PlaybackController
from app.state.comparison import MOST_OBSERVABLES, ComparedRuns
from app.state.session import Session
from app.training.run_questions import RunQuestions
from app.widgets.layouts import PageStack
from core.comparison.question import MOST_COMPARED, CompareQuestion, check_count
from core.errors import InputError, MarginscopeError
from core.figures.palette import PALETTES, run_colour
from core.problem.schedule import coordinate
from core.trust import UntrustedCodeError

if TYPE_CHECKING:
    from app.library.compare_page import ComparePanel

FIRST = "hard_margin"
OF_VIEWS = {"margins": FIRST, "rotations": "rotation", "norms": "relative_norm"}
"""Observables of views that show a run each."""
TOO_FEW = "Comparing needs at least two runs. Open another, or select some in the library."
LAST_TWO = "A comparison needs at least two runs. Close it to show the open runs."


def observables_of(views: Sequence[str], curves: Sequence[str]) -> tuple[str, ...]:
    """Return the observables that views show, with those of the view of curves.

    >>> observables_of(("neurons", "curves", "margins"), ("log10_risk",))
    ('log10_risk', 'hard_margin')
    """
    names: list[str] = []
    for view in views:
        if view == "curves":
            names += curves
        elif view in OF_VIEWS:
            names.append(OF_VIEWS[view])
    return tuple(dict.fromkeys(names))[:MOST_OBSERVABLES]


@final
class CompareController(QObject):
    """Opens, traces and shows the runs that the intent's `compared` names."""

    message = Signal(str)
    """Sentence for the bar."""
    visibility_changed = Signal(bool)
    """True once the page is shown, False once it is left."""
    page_created = Signal()
    """Emitted once, before the page is shown for the first time."""

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
        self.page: ComparePanel | None = None
        self.model = CompareModel(session, self)
        self.model.values_computed.connect(self._on_computed)
        self.model.frames_added.connect(display.refresh)
        self.model.reading_failed.connect(self.message)
        display.changed.connect(self._on_display_changed)

    # -------------------------------------------------------------------------------- requests

    def compare(self, names: Sequence[str]) -> None:
        """Compare the runs in some files."""
        before = self._display.intent.compared
        if before is None:
            compared = ComparedRuns(tuple(names), CompareQuestion()).with_observables(
                self._observables_for(names)
            )
        else:
            compared = replace(before, runs=tuple(names), hidden=frozenset(), slots=())
        self._set_compared(compared)

    @property
    def default_observables(self) -> tuple[str, ...]:
        """Observables of the views shown; the margin if these have none."""
        views, curves = self._display.view.wishes.views, self._display.intent.shown_curves
        return observables_of(views, curves) or (FIRST,)

    def _observables_for(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the default observables, those of the first run's study if no run is open."""
        from app.training.studies import study_of
        from core.runs import open_run

        if not {str(run.source) for run in self._session}.isdisjoint(names) or not names:
            return self.default_observables
        try:
            with open_run(names[0]) as run:
                display = study_of(run, "compared").opens_with
        except (MarginscopeError, OSError):  # reported when all of them are opened
            return self.default_observables
        return observables_of(display.views, display.curves) or self.default_observables

    def _set_compared(self, compared: ComparedRuns) -> None:
        """Compare runs if they are neither too few nor too many; report it otherwise."""
        try:
            check_count(len(compared.runs))
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self.message.emit("")
        self._display.update_intent(compared=compared)

    def set_shown(self, is_shown: bool) -> None:
        """Compare the open runs, or show them again."""
        if is_shown == (self._display.intent.compared is not None):
            return
        if not is_shown:
            self._display.update_intent(compared=None)
            return
        names = [str(run.source) for run in self._session if run.data is not None]
        if len(names) > 1:
            self.compare(names[:MOST_COMPARED])
        else:
            self.message.emit(TOO_FEW)
            self.visibility_changed.emit(False)

    def add_runs(self, names: Sequence[str]) -> None:
        """Add runs dropped on the page to the comparison."""
        if self._of is not None:
            self._set_compared(self._of.with_runs([*dict.fromkeys((*self._of.runs, *names))]))

    def _on_removal_requested(self, rows: tuple[int, ...]) -> None:
        if self._of is None:
            return
        names = [name for k, name in enumerate(self._of.runs) if k not in rows]
        if len(names) < 2:
            self.message.emit(LAST_TWO)
        else:
            self._set_compared(self._of.with_runs(names))

    def _on_row_moved(self, row: int, place: int) -> None:
        if self._of is not None:
            names = list(self._of.runs)
            names.insert(place, names.pop(row))
            self._display.update_intent(compared=self._of.with_runs(names))

    def _on_shown_changed(self, row: int, is_shown: bool) -> None:
        if self._of is not None:
            hidden_runs = self._of.hidden ^ {self._of.runs[row]}
            self._display.update_intent(compared=replace(self._of, hidden=hidden_runs))

    def _on_rows_selected(self) -> None:
        """Emphasise the lines of the selected runs."""
        if self.page is None or self._of is None:
            return
        runs = self._of.shown_runs
        rows = [runs.index(k) for k in self.page.table.selected_rows if k in runs]
        for name, plot in self.page.grid.plots.items():
            if (answer := self.model.answers.get(name)) is not None:
                lines = map(answer.line_of, rows)
                plot.emphasise(frozenset(line for line in lines if line >= 0))

    @property
    def observables(self) -> dict[str, str]:
        """Observables that all compared runs have, with their titles."""
        return common_observables(self.model.runs) if self.model.runs else {}

    def set_observables(self, names: Sequence[str]) -> None:
        """Compare the runs by one to four other observables."""
        compared = self._display.intent.compared
        if compared is not None and names:
            self._display.update_intent(compared=compared.with_observables(names))

    def _on_plot_moved(self, name: str, target: str) -> None:
        if self._of is not None:
            names = list(self._of.observables)
            place = names.index(target)
            names.remove(name)
            names.insert(place, name)
            self.set_observables(names)

    def _set_question(self, question: CompareQuestion) -> None:
        compared = self._display.intent.compared
        if compared is not None:
            self._display.update_intent(compared=replace(compared, question=question))

    def leave(self) -> None:
        """Show the open runs instead of the comparison."""
        if self._display.intent.compared is not None:
            self._display.update_intent(compared=None)

    def _on_place_clicked(self, name: str, place: float) -> None:
        """Seek the moment at which the first line reaches a place of the axis."""
        answer = self.model.answers.get(name)
        if answer is None:
            return
        if answer.answer.question.against in ("log10_time", "time"):
            self._playback.seek(float(coordinate(place)))
        elif math.isfinite(moment := answer.moment_at(place)):
            self._playback.seek(moment)

    # ------------------------------------------------------------------------------- following

    def _on_display_changed(self) -> None:
        """Show the runs, question, palette and moment of the intent."""
        if self._stopped:
            return
        wishes = self._display.view.wishes
        if wishes.compared != self._of:
            self._change(wishes.compared)
        if self.page is not None and wishes.palette != self._palette:
            self._palette = wishes.palette
            self.page.grid.set_colours(PALETTES[wishes.palette])
            self._show_answers()
        if self.page is not None and self._of is not None:
            self.page.grid.set_names((wishes.filled,) if wishes.filled else self._of.observables)
            self._show_moment()

    def _change(self, comparison: ComparedRuns | None) -> None:
        before, self._of = self._of, comparison
        if comparison is None:
            self.model.close_runs()
            self._pages.set_over(None)
            self.visibility_changed.emit(False)
            self._display.refresh()  # the slider again spans the open runs only
            return
        if (before is None or before.runs != comparison.runs) and not self._open_runs(
            comparison.runs
        ):
            self._of = before  # keep the comparison shown so far
            self._display.update_intent(compared=before)
            self.visibility_changed.emit(before is not None)
            return
        common = self.observables
        names = [name for name in comparison.observables if name in common]
        if len(names) < len(comparison.observables):
            self.set_observables(names or [FIRST if FIRST in common else next(iter(common))])
            return  # leads back here
        page = self._make()
        self.model.request(comparison.questions, self._display.view.cursor)
        page.show_question(comparison.question)
        page.grid.set_names(comparison.observables)
        self._answer()
        self._pages.set_over(page)
        self.visibility_changed.emit(True)
        self._display.refresh()  # the slider spans the compared runs, also while held

    def _make(self) -> ComparePanel:
        """Return the page; create it at its first use."""
        if self.page is not None:
            return self.page
        from app.library.compare_page import ComparePanel

        self._palette = self._display.intent.palette
        self.page = page = ComparePanel(PALETTES[self._palette], self._window)
        page.question_changed.connect(self._set_question)
        page.runs_dropped.connect(self.add_runs)
        page.close_button.clicked.connect(self.leave)
        page.grid.place_clicked.connect(self._on_place_clicked)
        page.grid.plot_moved.connect(self._on_plot_moved)
        table = page.table
        table.shown_changed.connect(self._on_shown_changed)
        table.removal_requested.connect(self._on_removal_requested)
        table.row_moved.connect(self._on_row_moved)
        table.itemSelectionChanged.connect(self._on_rows_selected)
        self.page_created.emit()
        return page

    def _open_runs(self, names: Sequence[str]) -> bool:
        """Open the files; report which one cannot be read, and return False."""
        try:
            self.model.open(names)
        except (MarginscopeError, OSError) as error:
            self.message.emit(getattr(error, "sentence", "") or f"{error}.")
            if isinstance(error, UntrustedCodeError):
                self._questions.confirm_trust(error, partial(self.compare, names))
            return False
        return True

    def close(self) -> None:
        """Stop all work, and close the files."""
        self._stopped = True
        self.model.close()

    # -------------------------------------------------------------------------------- showing

    def update_names(self) -> None:
        """Name the compared runs again, after the user named some."""
        self._on_computed()

    def _on_computed(self) -> None:
        if self._of is not None and self.model.runs:
            self._answer()

    def _answer(self) -> None:
        """Show the values known so far."""
        assert self._of is not None
        self.model.answer(self._of, self._display.view.cursor)
        self._show_answers()
        self._show_moment()

    def _show_answers(self) -> None:
        compared, page, differences = self._of, self.page, self.model.named
        if page is None or compared is None or differences is None or not self.model.answers:
            return
        palette, answers = PALETTES[self._palette], self.model.answers
        for name, plot in page.grid.plots.items():
            if name in answers:
                answer = answers[name].answer
                levels = reference_levels(self.model.references, answer.question, palette)
                plot.show_comparison(answer, levels)
        page.grid.share_axes()
        page.show_notes(dict.fromkeys(x for one in answers.values() for x in one.answer.notes))
        values = [value_heading(question) for question in compared.questions]
        page.table.show_rows(
            values, differences.keys, legend_rows(self.model.runs, differences, compared.shown_runs)
        )
        page.table.show_colours([run_colour(x, palette) for x in differences.shades], palette)
        page.fit()
        self._on_rows_selected()

    def _show_moment(self) -> None:
        """Draw the lines up to the cursor, and show their values there."""
        if self.page is None or self._of is None:
            return
        cursor, compared, answers = self._display.view.cursor, self._of, self.model.answers
        if cursor != self.model.requested_at and any(one.is_by_rank for one in compared.questions):
            self.model.request(compared.questions, cursor)
        for name, plot in self.page.grid.plots.items():
            answer = answers.get(name)
            if answer is not None and not answer.answer.question.is_by_rank:
                plot.show_places(answer.places_of_lines(cursor))
        for column, name in enumerate(compared.observables):
            if (answer := answers.get(name)) is not None:
                values = answer.values_at(cursor, len(compared.shown_runs))
                self._show_values(column, values)

    def _show_values(self, column: int, values: Sequence[float]) -> None:
        """Show the values of the drawn runs in their rows."""
        from app.widgets.screen_text import shown_number

        assert self._of is not None
        assert self.page is not None
        texts = [""] * len(self.model.runs)
        for k, value in zip(self._of.shown_runs, values, strict=True):
            texts[k] = shown_number(value, 4)
        self.page.table.show_values(column, texts)
