"""Data check of the form: files are read in the background, to name wrong data before Run."""

from __future__ import annotations

import re
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
from core.network.registry import NETWORKS
from core.numbers import whole_text
from core.studies.study import Study
from core.study_file.experiment import Experiment
from core.study_file.words import kind_words

PATH, CLASSES, KIND = "data.path", "data.classes", "data.kind"
ALL_CLASSES = 10  # of images, unless some are chosen
COLUMN = re.compile(r"label column ('[^']*'|\d+)")
SEPARATED = "separated by"
# Separators not mentioned in the note on how a table was read.
USUAL = {".csv": "commas", ".txt": "commas"}
DataFile = tuple[Any, int, Path | None, tuple[int, ...]]
"""Data section, seed, folder, and the file's state on the disk."""
Question = tuple[DataFile, str]
"""File, and the kind of the network that is to learn its data."""
Finding = tuple[str, str, int]
"""Note on how the file was read, or problem, and the number of classes (0 if not known)."""


@final
class DataFileCheck(QObject):
    """Reads the data files of studies, and shows its findings at the form's field."""

    def __init__(self, form: ExperimentForm, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._session = form, session
        self._questions: list[Question] = []  # the form's questions
        self._findings: dict[DataFile, Finding] = {}
        self._stated = "", ""  # key and problem of data that define their own classes
        self._waiting: tuple[list[Question], Callable[[], object], Callable[[str], object]] | None
        self._waiting = None
        self._worker = Worker("data-check", read_file, self)
        self._worker.result.connect(self._on_found)
        self._worker.error.connect(self._on_error)

    def show(self, study: Study | None, experiments: Sequence[Experiment]) -> None:
        """Show the content of the data file, or data that the network cannot learn."""
        self._stated = stated_conflict(experiments)
        self._questions = [] if study is None else questions_of(study, experiments, self._session)
        self._read(self._questions)
        self._update_form()

    def train_if_good(
        self,
        questions: list[Question],
        train: Callable[[], object],
        refuse: Callable[[str], object],
    ) -> None:
        """Call `train` once all files were read, or `refuse` with the fault of one.

        Open runs are not closed before, so that a wrong file leaves them alone.
        """
        self._waiting = questions, train, refuse
        self._read(questions)
        self._answer()

    def close(self) -> None:
        """Stop the thread."""
        self._waiting = None
        self._worker.close()

    def _pending_questions(self) -> list[Question]:
        return [*self._questions, *(self._waiting[0] if self._waiting is not None else ())]

    def _read(self, questions: Sequence[Question]) -> None:
        findings = self._findings
        self._findings = {
            file: findings[file] for file, _ in self._pending_questions() if file in findings
        }
        for file in dict.fromkeys(file for file, _ in questions):
            if file not in self._findings:
                self._worker.request(file, key=file)

    def _on_found(self, answer: tuple[DataFile, Finding]) -> None:
        self._findings[answer[0]] = answer[1]
        self._update_form()
        self._answer()

    def _on_error(self, sentence: str) -> None:
        for file, _ in self._pending_questions():
            self._findings.setdefault(file, ("", sentence, 0))
        self._update_form()
        self._answer()

    def _update_form(self) -> None:
        """Show the findings; an empty path is wrong only once Run is pressed."""
        with_file = [one for one in self._questions if one[0][0].path]
        problem = next(filter(None, map(self._problem_of, with_file)), "")
        note = self._findings.get(with_file[0][0], ("",))[0] if with_file and not problem else ""
        if self._stated[0]:
            self._form.show_finding(self._stated[0], "", self._stated[1])
        else:
            self._form.show_finding(PATH, note, problem)

    def _problem_of(self, question: Question) -> str:
        """Return the fault of a file, or that a network cannot learn it; "" if unknown."""
        file, network = question
        note, problem, classes = self._findings.get(file, ("", "", 0))
        column = COLUMN.search(note)
        return problem or class_conflict(network, classes, column[1] if column else "")

    def _answer(self) -> None:
        """Train or refuse the waiting study, once all its files are checked."""
        if self._waiting is None or any(file not in self._findings for file, _ in self._waiting[0]):
            return
        (questions, train, refuse), self._waiting = self._waiting, None
        wrong = next(filter(None, map(self._problem_of, questions)), "")
        if wrong:
            refuse(wrong)
        else:
            train()


def questions_of(
    study: Study, experiments: Iterable[Experiment], open_runs: Iterable[OpenRun]
) -> list[Question]:
    """List the data files that a study's runs would read, with their networks, each once."""
    runs, questions = tuple(open_runs), dict[Question, None]()
    for one in experiments:
        if not isinstance(one.data, FileSection):
            continue
        if not isinstance(recipe_of(study, one, runs), FromExperiment):
            continue
        seed = one.run.seed if one.data.seed is None else one.data.seed
        file = one.data, seed, study.folder, _state_of(one.data, study.folder)
        questions[file, one.network.kind] = None
    return list(questions)


def stated_conflict(experiments: Iterable[Experiment]) -> tuple[str, str]:
    """Return the key of data that define their classes, and why a network cannot learn them."""
    for one in experiments:
        classes = getattr(one.data, "classes", None)
        if classes is None:
            continue
        chosen = isinstance(classes, tuple)
        count = (len(classes) or ALL_CLASSES) if chosen else int(classes)
        if problem := class_conflict(one.network.kind, count):
            return CLASSES if chosen else KIND, problem
    return "", ""


def class_conflict(network: str, classes: int, column: str = "") -> str:
    """Return why a network cannot learn data of so many classes, "" if it can, or 0 classes.

    >>> class_conflict("standard", 3, "'class'").partition(".")[0]
    "The label column 'class' has 3 values, and the network Standard needs 2"
    >>> class_conflict("standard", 2), class_conflict("multiclass", 3)
    ('', '')
    """
    subject = f"The label column {column} has" if column else "The labels have"
    network_text = f"the network {kind_words('network', network)}"
    if classes > 2 and NETWORKS[network].classes == "two":
        return (
            f"{subject} {classes} values, and {network_text} needs 2. Choose the network "
            f"{kind_words('network', 'multiclass')} with the loss "
            f"{kind_words('loss', 'cross_entropy')}, or data of two classes."
        )
    if classes == 2 and NETWORKS[network].classes == "several":
        return (
            f"{subject} 2 values, and {network_text} needs 3 or more. Choose the network "
            f"{kind_words('network', 'standard')} with the loss {kind_words('loss', 'logistic')}."
        )
    return ""


def _state_of(section: Any, folder: Path | None) -> tuple[int, ...]:
    """Return time of change and size of a data file; () if it cannot be found."""
    try:
        place = (folder or Path()) / str(section.path or "")
        state = place.stat()
    except (OSError, ValueError):  # a name with a null byte
        return ()
    return state.st_mtime_ns, state.st_size


def read_file(_request: Request, file: DataFile) -> tuple[DataFile, Finding]:
    """Read a data file, in the thread: a description of it, or its fault."""
    import numpy as np

    from core.data.registry import draw

    section, seed, folder, _ = file
    try:
        dataset = draw(section, np.random.default_rng(seed), folder)
    except MarginscopeError as error:
        return file, ("", error.sentence, 0)
    size = f"{whole_text(dataset.n)} rows, {whole_text(dataset.d)} coordinates"
    usual = USUAL.get(Path(section.path).suffix.lower(), "")
    mark = f"; {SEPARATED} {usual}" if usual and SEPARATED not in dataset.note else ""
    note = dataset.note.removesuffix(".")
    classes = 0 if dataset.real else dataset.classes
    return file, (f"{size}{mark}{'; ' if note else ''}{note}.", "", classes)
