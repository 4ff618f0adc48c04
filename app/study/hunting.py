"""Hunts among the runs of a whole study, on a page of its window."""

from __future__ import annotations

import math
from hashlib import sha256
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal

from app.state.study_runs import StudyRuns
from app.study.hunt_worker import HuntNews, HuntOrder, HuntWorker
from app.study.window import StudyWindow
from app.widgets.screen_text import shown_number
from core.errors import MarginscopeError
from core.extremes.question import Question, asked_by
from core.numbers import whole_text
from core.studies.claims import hunt_of
from core.studies.code import check_cells
from core.trust import UntrustedCodeError

READING = "Reading what is known ..."
STOPPING = "; stopping ..."
ALL_TRIED = "; nothing is left that was not tried"


@final
class HuntController(QObject):
    """Fills the page and owns the worker. `changed`: a hunt has begun or ended.

    run_requested(path, beside): a finding is to be opened. code_refused(error, repeat): untrusted
    Python code, and the request to repeat on consent.
    """

    changed = Signal()
    run_requested = Signal(object, bool)
    code_refused = Signal(object, object)

    def __init__(self, window: StudyWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self.page = window, window.hunt
        self._runs: StudyRuns | None = None
        self._asks: object = None  # whose own question stands on the page
        self._said = ""  # of the hunt before, whose findings stay until there are others
        self.worker = HuntWorker(self)
        self.worker.progress.connect(self._on_progress)
        self.worker.finished.connect(self._on_finished)
        self.page.hunt_requested.connect(self.start)
        self.page.stop_requested.connect(self.stop)
        self.page.run_requested.connect(self.run_requested)

    @property
    def busy(self) -> bool:
        """Whether a hunt is on."""
        return self.worker.busy

    def close(self) -> None:
        """Stop it, and wait for it."""
        self.worker.close()

    def show_runs(self, runs: StudyRuns, possible: bool) -> None:
        """Another study, size or folder; `possible`: nothing else is run now."""
        self._runs = runs
        asks = runs.study.id, runs.size, str(runs.study.results.get("hunt"))
        if asks != self._asks and not self.busy:
            self._asks = asks
            self._show_question(runs)
        self.page.set_hunting(self.busy, possible and bool(runs.cells))

    def _show_question(self, runs: StudyRuns) -> None:
        """What the study asks by itself."""
        try:
            table = hunt_of(runs.study.results, runs.study.id)
        except MarginscopeError as error:
            self.page.show_question(None, None)
            self.page.show_problem(error.sentence)
            return
        if table is None:
            self.page.show_question(None, None)
        else:
            self.page.show_question(asked_by(table, runs.size), table.counts(runs.size).runs)

    # ---------------------------------------------------------------------------------- hunting

    def start(self) -> None:
        """Begin, or go on with the same question in its folder."""
        runs, options = self._runs, self._window.options
        if self.busy or runs is None or not runs.cells:
            return
        try:
            question, (most, seconds) = self.page.question(), self.page.limits()
            check_cells(runs.study)
        except MarginscopeError as error:
            self.page.show_problem(error.sentence)
            if isinstance(error, UntrustedCodeError):
                self.code_refused.emit(error, self.start)
            return
        self.page.show_problem("")
        self._said = self.page.words.text()
        self.page.words.set_text(READING)
        jobs = None if options.on_cluster else options.jobs.value()
        folder = folder_of(runs.folder, question)
        place = most, seconds, jobs, options.address
        self.worker.start(HuntOrder(runs.study, runs.size, question, folder, *place))
        self.page.set_hunting(True, possible=False)
        self.changed.emit()

    def stop(self) -> None:
        """End it; what was found stays."""
        self.worker.control.stop()
        self._show(STOPPING)

    def _on_progress(self) -> None:
        self._show(STOPPING if self.worker.control.stop_requested else "")

    def _show(self, more: str) -> None:
        news = self.worker.news
        if news is not None:
            self.page.table.show_findings(news.findings)
            self.page.words.set_text(words_of(news) + more)

    def _on_finished(self, wrong: str) -> None:
        news = self.worker.news
        self._show(ALL_TRIED if news is not None and news.exhausted else "")
        if news is None:
            self.page.words.set_text(self._said)
        self.page.show_problem(wrong)
        self.page.set_hunting(False, possible=True)
        self.changed.emit()


def folder_of(folder: Path, question: Question) -> Path:
    """Beside the runs of a study, a folder for each question: the same one goes on there."""
    return folder / f"hunt-{sha256(repr(question).encode()).hexdigest()[:8]}"


def words_of(news: HuntNews) -> str:
    """How far a hunt is, in a line.

    >>> from core.extremes.hunt import HuntStatus
    >>> words_of(HuntNews(HuntStatus(tried=37, failed=1, best=0.468, running=2), ()))
    '37 runs, 1 failed, 2 running; the best .468'
    """
    status = news.status
    parts = [f"{whole_text(status.tried)} {'run' if status.tried == 1 else 'runs'}"]
    if status.failed:
        parts.append(f"{whole_text(status.failed)} failed")
    if status.running:
        parts.append(f"{status.running} running")
    text = ", ".join(parts)
    if status.compiling:
        return f"{text}; compiling kernels first, once on this computer"
    if status.lacks_workers:
        return f"{text}; waiting: no worker of the cluster is left"
    return text if math.isnan(status.best) else f"{text}; the best {shown_number(status.best, 6)}"
