"""Data files of the form: read beside the window, so that a wrong one is named before Run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QObject

from app.state.session import OpenRun, Session
from app.training.experiment_form import ExperimentForm
from app.training.recipes import FromExperiment, recipe_of
from app.worker import Request, Worker
from core.data.section import FileSection
from core.errors import MarginscopeError
from core.numbers import whole_text
from core.studies.study import Study
from core.study_file.experiment import Experiment

PATH = "data.path"
SEPARATED = "separated by"
USUAL = {".csv": "commas", ".txt": "commas"}  # what a note on how a table was read leaves out
Question = tuple[Any, int, Path | None, tuple[int, ...]]
"""Data section, seed, folder, and the file's state on the disk."""
Finding = tuple[str, str]
"""Note on how the file was read, and problem; one of them is empty."""


@final
class DataFileCheck(QObject):
    """Reads the data files of studies, and shows at the form's field what was found in them."""

    def __init__(self, form: ExperimentForm, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._session = form, session
        self._questions: list[Question] = []  # of the form
        self._findings: dict[Question, Finding] = {}
        self._waiting: tuple[list[Question], Callable[[], object], Callable[[str], object]] | None
        self._waiting = None
        self._worker = Worker("data-check", read_file, self)
        self._worker.result.connect(self._on_found)
        self._worker.error.connect(self._on_error)

    def show(self, study: Study | None, experiments: Sequence[Experiment]) -> None:
        """Show at the field of the path what its file holds."""
        self._questions = [] if study is None else questions_of(study, experiments, self._session)
        self._read(self._questions)
        self._update_form()

    def train_if_good(
        self,
        questions: list[Question],
        train: Callable[[], object],
        refuse: Callable[[str], object],
    ) -> None:
        """Call `train` once all files were read, or `refuse` with what is wrong with one.

        Open runs are not closed before, so that a wrong file leaves them alone.
        """
        self._waiting = questions, train, refuse
        self._read(questions)
        self._answer()

    def close(self) -> None:
        """Stop the thread."""
        self._waiting = None
        self._worker.close()

    def _wanted(self) -> list[Question]:
        return [*self._questions, *(self._waiting[0] if self._waiting is not None else ())]

    def _read(self, questions: Sequence[Question]) -> None:
        known = self._findings
        self._findings = {key: known[key] for key in self._wanted() if key in known}
        for question in questions:
            if question not in self._findings:
                self._worker.ask(question, key=question)

    def _on_found(self, found: tuple[Question, Finding]) -> None:
        self._findings[found[0]] = found[1]
        self._update_form()
        self._answer()

    def _on_error(self, sentence: str) -> None:
        for question in self._wanted():
            self._findings.setdefault(question, ("", sentence))
        self._update_form()
        self._answer()

    def _update_form(self) -> None:
        """Show what was found; an empty path is wrong only once Run is pressed."""
        findings = [self._findings.get(one, ("", "")) for one in self._questions if one[0].path]
        problem = next((wrong for _, wrong in findings if wrong), "")
        note = findings[0][0] if findings and not problem else ""
        self._form.show_finding(PATH, note, problem)

    def _answer(self) -> None:
        if self._waiting is None or any(key not in self._findings for key in self._waiting[0]):
            return
        (questions, train, refuse), self._waiting = self._waiting, None
        wrong = next((self._findings[key][1] for key in questions if self._findings[key][1]), "")
        if wrong:
            refuse(wrong)
        else:
            train()


def questions_of(
    study: Study, experiments: Iterable[Experiment], open_runs: Iterable[OpenRun]
) -> list[Question]:
    """List the data files that a study's runs would read, each once."""
    runs, found = tuple(open_runs), dict[Question, None]()
    for one in experiments:
        if not isinstance(one.data, FileSection):
            continue
        if not isinstance(recipe_of(study, one, runs), FromExperiment):
            continue
        seed = one.run.seed if one.data.seed is None else one.data.seed
        found[one.data, seed, study.folder, _state_of(one.data, study.folder)] = None
    return list(found)


def _state_of(section: Any, folder: Path | None) -> tuple[int, ...]:
    try:
        place = (folder or Path()) / str(section.path or "")
        state = place.stat()
    except (OSError, ValueError):  # a name with a zero byte
        return ()
    return state.st_mtime_ns, state.st_size


def read_file(_request: Request, question: Question) -> tuple[Question, Finding]:
    """Read a data file, in the thread: what was understood, or what is wrong."""
    import numpy as np

    from core.data.registry import draw

    section, seed, folder, _ = question
    try:
        dataset = draw(section, np.random.default_rng(seed), folder)
    except MarginscopeError as error:
        return question, ("", error.sentence)
    size = f"{whole_text(dataset.n)} rows, {whole_text(dataset.d)} coordinates"
    usual = USUAL.get(Path(section.path).suffix.lower(), "")
    mark = f"; {SEPARATED} {usual}" if usual and SEPARATED not in dataset.note else ""
    note = dataset.note.removesuffix(".")
    return question, (f"{size}{mark}{'; ' if note else ''}{note}.", "")
