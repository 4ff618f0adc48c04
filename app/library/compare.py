"""Comparison of runs in one picture: opened by files, traced beside the window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.library.compared_runs import (
    ComparedRun,
    ComparedValues,
    compare_nodes,
    compare_over_time,
    request_values,
)
from app.playback.calculator import Calculator
from app.playback.display import DisplayController
from app.playback.transport import PlaybackController
from app.state.background_values import BackgroundValues
from app.state.resolve import frame_at
from app.state.session import RunSnapshot, Session
from app.state.view_options import Compared
from app.training.run_questions import RunQuestions
from app.widgets.layouts import PageStack
from core.comparison.question import MOST_COMPARED, SORTED, CompareQuestion, check_count
from core.errors import InputError, MarginscopeError
from core.figures.palette import PALETTES
from core.problem.schedule import coordinate
from core.trust import UntrustedCodeError

if TYPE_CHECKING:
    from app.library.compare_page import ComparePanel
    from app.views.compare import CompareView
    from core.comparison.alignment import Array
    from core.comparison.comparison import Comparison
    from core.comparison.recorded import Differing

FIRST = "hard_margin"
POLL_MS = 500  # between polls of files that still grow
TOO_FEW = "Two runs or more are compared; open one beside it, or select some in the library."


@final
class CompareController(QObject):
    """Opens, traces and shows the runs that the intent's `compared` names."""

    message = Signal(str)  # sentence for the bar
    visibility_changed = Signal(bool)  # the page is shown, or was closed
    help_requested = Signal(object)  # tuple[str, ...]

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
        self._of: Compared | None = None
        self._palette, self._stopped = "", False
        self._open: tuple[ComparedRun, ...] = ()
        self._named: Differing | None = None
        self._known: ComparedValues | None = None
        self._asked_at = math.nan  # the cursor when values were asked for
        self.panel: ComparePanel | None = None
        self.view: CompareView | None = None
        self._calculator = Calculator(self)
        self._calculator.computed.connect(self._on_computed)
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self._poll)
        display.changed.connect(self._on_display_changed)

    # -------------------------------------------------------------------------------- requests

    def compare(self, names: Sequence[str]) -> None:
        """Compare the runs of some files."""
        try:
            check_count(len(names))
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self.message.emit("")
        before = self._display.intent.compared
        question = before.question if before is not None else CompareQuestion()
        self._display.update_intent(compared=Compared(tuple(names), question))

    def set_shown(self, on: bool) -> None:
        """Compare the open runs, or show them again."""
        if on == (self._display.intent.compared is not None):
            return
        if not on:
            self._display.update_intent(compared=None)
            return
        names = [str(run.source) for run in self._session if run.data is not None]
        if len(names) < 2:
            self.message.emit(TOO_FEW)
            self.visibility_changed.emit(False)
            return
        self.compare(names[:MOST_COMPARED])

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
        if self._known is None or not self._known.keys:  # nodes are not over time
            return
        for keys, one in zip(self._known.keys, self._open, strict=True):
            there = np.flatnonzero(keys >= place)
            if there.size:
                moment = float(coordinate(max(float(one.run.log10_time[there[0]]), -300.0)))
                self._playback.seek(moment)
                return

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

    def _change(self, wanted: Compared | None) -> None:
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
            self._close_runs()
            self._start(opened)
        self._make()
        common = self._common()
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
        self.panel = ComparePanel(self.view, self._window)
        self.panel.question_changed.connect(self._set_question)
        self.panel.close_button.clicked.connect(self.leave)
        self.view.place_asked.connect(self._on_place_clicked)
        self.view.help_requested.connect(self.help_requested)

    def _open_runs(self, names: Sequence[str]) -> tuple[ComparedRun, ...]:
        """Open the files, or none of them and report which one cannot be read."""
        from core.comparison.recorded import most_of
        from core.runs import open_run

        opened: list[ComparedRun] = []
        try:
            for name in names:
                run = open_run(Path(name))
                opened.append(ComparedRun(run, BackgroundValues(run), most_of(run)))
                if run.frames == 0:
                    raise InputError(f"{run.path.name} has no frames yet; compare it later.")
        except (MarginscopeError, OSError) as error:
            for one in opened:
                one.run.close()
            words = getattr(error, "sentence", "") or f"{name} cannot be read: {error}."
            self.message.emit(words)
            if isinstance(error, UntrustedCodeError):
                self._questions.ask_trust(error, partial(self.compare, names))
            return ()
        return tuple(opened)

    def _start(self, opened: tuple[ComparedRun, ...]) -> None:
        """Compare runs whose files are open."""
        from core.comparison.recorded import differing_of

        self._open = opened
        self._named = differing_of([one.run for one in opened])
        self._update_session()
        if any(one.run.status != "finished" for one in opened):
            self._timer.start()

    def _close_runs(self) -> None:
        self._timer.stop()
        self._calculator.watch(())
        for one in self._open:
            one.run.close()
        self._open, self._known = (), None
        self._session.compared = ()

    def close(self) -> None:
        """Stop all work, and close the files."""
        self._stopped = True
        self._calculator.close()
        self._close_runs()

    # -------------------------------------------------------------------------------- tracing

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
        from app.state.node_values import with_stand_in

        snapshots = []
        for one in self._open:
            run = one.run
            places = with_stand_in(coordinate(np.asarray(run.log10_time[: run.frames])))
            snapshots.append(RunSnapshot(-1, places, float(places[-1]), False, 0))
        self._session.compared = tuple(snapshots)

    def _request_values(self) -> None:
        assert self._of is not None
        self._asked_at = self._display.view.cursor
        request_values(self._of.question, self._open, self._asked_at)
        self._calculator.watch([one.background for one in self._open])

    def _common(self) -> dict[str, str]:
        """Return the observables that all runs have, with their titles."""
        from core.observables.registry import OBSERVABLES, scalars_of

        names = [{item.name: item.title for item in scalars_of(one.run)} for one in self._open]
        of_nodes = [OBSERVABLES[name] for name in SORTED]
        for known, one in zip(names, self._open, strict=True):
            known |= {x.name: f"{x.title}, sorted" for x in of_nodes if x.applies(one.run)}
        return {k: v for k, v in names[0].items() if all(k in other for other in names[1:])}

    def _on_computed(self) -> None:
        if self._of is not None and self._open:
            self._rebuild()

    def _rebuild(self) -> None:
        """Compare the values that are known so far."""
        assert self._of is not None
        assert self._named is not None
        question, cursor = self._of.question, self._display.view.cursor
        if question.ranked:
            known = compare_nodes(question, self._open, self._named, cursor)
        else:
            known = compare_over_time(question, self._open, self._named)
        if known is not None:
            self._known = known
            self._show_answer()
            self._show_moment()

    # -------------------------------------------------------------------------------- showing

    def _show_answer(self) -> None:
        if self.view is None or self.panel is None or self._known is None or self._named is None:
            return
        from core.figures.comparison import words_for

        answer, named = self._known.answer, self._named
        words = ", ".join(part for part in (words_for(answer.question), answer.moment) if part)
        self.view.show_comparison(answer, f"{words}, {len(self._open)} runs")
        self.panel.show_notes(answer.notes)
        there = "median" if answer.question.ranked else "at the cursor"
        titles = ("run", there, *named.keys)
        rows = [(label, "", *row) for label, row in zip(named.labels, named.rows, strict=True)]
        self.panel.show_table(titles, rows)
        self.panel.show_colours([self._colour(k) for k in range(len(rows))])

    def _line_of(self, run: int) -> int:
        """Return the number of a run's line; -1 if it has none of its own."""
        assert self._known is not None
        lines = self._known.answer.lines
        if self._known.answer.question.kind == "differences":
            return run - 1
        return next((k for k, line in enumerate(lines) if run in line.members), -1)

    def _colour(self, run: int) -> str:
        assert self.view is not None
        line = self._line_of(run)
        return self.view.colours()[line] if line >= 0 else ""

    def _show_moment(self) -> None:
        """Draw the lines up to the cursor, and show their values there."""
        from app.widgets.screen_text import shown_number

        if self.view is None or self.panel is None or self._known is None:
            return
        cursor, known = self._display.view.cursor, self._known
        if known.answer.question.ranked:
            if cursor != self._asked_at:
                self._request_values()
            self.panel.show_values([shown_number(one, 4) for one in medians(known.answer)])
            return
        here = []
        for keys, run in zip(known.keys, known.snapshots, strict=True):
            frame = frame_at(run, cursor)
            here.append(float(keys[frame]) if frame >= 0 else math.nan)
        if known.answer.question.against in ("log10_time", "time"):
            # The cursor itself, between frames too, as long as a run goes.
            from core.problem.schedule import inverse_coordinate

            now = float(inverse_coordinate(cursor))
            here = [now if math.isfinite(place) else place for place in here]
        lines = known.answer.lines
        self.view.show_places([min(here[k] for k in line.members) for line in lines])
        if known.answer.question.kind == "differences":
            values = [self.view.value(k - 1) if k > 0 else math.nan for k in range(len(here))]
        else:
            values = [value_at(*curve, at) for curve, at in zip(known.curves, here, strict=True)]
        self.panel.show_values([shown_number(value, 4) for value in values])


def value_at(places: Array, values: Array, place: float) -> float:
    """Return the value at a place; the last value beyond the last place, NaN before the first."""
    from core.comparison.alignment import at

    if places.size == 0:
        return math.nan
    found = at(places, values, np.array([min(place, float(places[-1]))]))
    return float(found[0])


def medians(answer: Comparison) -> list[float]:
    """Return the median of each line's values; NaN for a line without values."""
    return [float(np.median(x.values)) if x.values.size else math.nan for x in answer.lines]
