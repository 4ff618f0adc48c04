"""Open files of compared runs, and the values known so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.library.compared_runs import (
    ComparedRun,
    ComparedValues,
    close_compared,
    compare_nodes,
    compare_over_time,
    open_compared,
    request_values,
    snapshot_of,
)
from app.playback.calculator import Calculator
from app.state.comparison import ComparedRuns
from app.state.session import Session
from core.comparison.question import CompareQuestion
from core.errors import MarginscopeError

if TYPE_CHECKING:
    from core.comparison.setting_differences import Differing
    from core.reference.margin import ReferenceMargin

POLL_MS = 500  # between polls of files that still grow


@final
class CompareModel(QObject):
    """Open files of compared runs, read as they grow; values are computed in the background."""

    frames_added = Signal()
    """Files have new frames."""
    values_computed = Signal()
    """New values are known."""
    reading_failed = Signal(str)
    """Sentence about a file that can no longer be read."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._questions: tuple[CompareQuestion, ...] = ()
        self.runs: tuple[ComparedRun, ...] = ()
        self.named: Differing | None = None
        self.references: tuple[ReferenceMargin, ...] = ()
        self.answers: dict[str, ComparedValues] = {}
        self.requested_at = math.nan  # cursor at the last request of values
        self.calculator = Calculator(self)
        self.calculator.values_computed.connect(self.values_computed)
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def is_polling(self) -> bool:
        """True while files grow."""
        return self._timer.isActive()

    def open(self, names: Sequence[str]) -> None:
        """Open files; close those of runs that left.

        Raises MarginscopeError or OSError if one cannot be read, and changes nothing.
        """
        from core.comparison.setting_differences import common_references

        opened = open_compared(names, self.runs)
        close_compared(one for one in self.runs if one not in opened)
        self.runs, self.answers = opened, {}
        self.references = common_references([one.run for one in opened])
        self._update_session()
        if any(one.run.status != "finished" for one in opened):
            self._timer.start()

    def close_runs(self) -> None:
        """Close all files."""
        self._timer.stop()
        self.calculator.watch(())
        close_compared(self.runs)
        self.runs, self.references, self.answers, self.named = (), (), {}, None
        self._questions, self.requested_at = (), math.nan
        self._session.compared = ()

    def close(self) -> None:
        """Stop all work, and close the files."""
        self.calculator.close()
        self.close_runs()

    def request(self, questions: Sequence[CompareQuestion], cursor: float) -> None:
        """Request the values for questions; neurons at the cursor."""
        self._questions, self.requested_at = tuple(questions), cursor
        names = [one.observable for one in questions]
        self.answers = {name: one for name, one in self.answers.items() if name in names}
        request_values(questions, self.runs, cursor)
        self.calculator.watch([one.background for one in self.runs])

    def answer(self, compared: ComparedRuns, cursor: float) -> None:
        """Compare the values known so far."""
        from core.comparison.setting_differences import differing_of

        self.named = differing_of([one.run for one in self.runs], compared.colours)
        runs, differences = (
            [self.runs[k] for k in compared.shown_runs],
            self.named.select_runs(compared.shown_runs),
        )
        for question in self._questions:
            if question.is_by_rank:
                answer = compare_nodes(question, runs, differences, cursor)
            else:
                answer = compare_over_time(question, runs, differences)
            if answer is not None:
                self.answers[question.observable] = answer

    def _poll(self) -> None:
        """Read new frames of files that grow."""
        growing = [one for one in self.runs if one.run.status != "finished"]
        if not growing:
            self._timer.stop()
            return
        before = [one.run.frames for one in growing]
        try:
            after = [one.run.refresh() for one in growing]
        except (MarginscopeError, OSError) as error:
            self._timer.stop()
            self.reading_failed.emit(getattr(error, "sentence", str(error)))
            return
        if after != before:
            self._update_session()
            self.request(self._questions, self.requested_at)
            self.frames_added.emit()

    def _update_session(self) -> None:
        """Extend the cursor's range to these runs."""
        self._session.compared = tuple(snapshot_of(one) for one in self.runs)
