"""Files: opened by menu, drop, command line or as recent ones; studies saved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import final

import tomli_w
from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.desktop import VIEW_SUFFIX as VIEW
from app.desktop import is_link
from app.places import Places
from app.state.session import MOST_RUNS, OpenRun, Session
from app.training.branching import STILL_GOING
from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.run_questions import Repeat, RunQuestions
from app.training.studies import study_of
from core.data.files import DATA_FILTER, DATA_PATTERNS, is_data_file
from core.errors import MarginscopeError
from core.files import write_whole
from core.problem.schedule import coordinate
from core.stories.story_file import SUFFIX as STORY
from core.stories.story_file import is_story_file
from core.studies.study import parse_study, shipped_ids
from core.trust import UntrustedCodeError

RUN, STUDY = ".msrun", ".toml"
MOST_NAMED = 3  # files named in a sentence
FILTER = (
    f"Runs, studies, views, stories and data (*.msrun *.toml *.msview *{STORY} {DATA_PATTERNS});;"
    f"Runs, studies, views and stories (*.msrun *.toml *.msview *{STORY});;"
    f"{DATA_FILTER};;All files (*)"
)
OWN_DATA_M = 64  # width of the network in a study of a data file


@final
class FileController(QObject):
    """Opens runs, studies, views and data files, and saves studies."""

    file_opened = Signal(str)
    """Path of a file that was opened."""
    file_saved = Signal(str)
    """Path of a file that was saved."""
    message = Signal(str)
    """Sentence for the message bar, "" for none."""
    runs_replaced = Signal()
    """Other runs are open, to be played from t = 0."""
    runs_restored = Signal()
    """Other runs are open, to be shown as they were."""
    view_requested = Signal(str)
    """Name of a link or a view file to show."""
    story_requested = Signal(str)
    """Path of a story to play."""
    data_offered = Signal()
    """Study of a data file that the form shows now."""

    def __init__(
        self,
        session: Session,
        training: TrainingController,
        form: ExperimentForm,
        questions: RunQuestions,
        places: Places,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session, self._training = session, training
        self._form, self._questions = form, questions
        self._places, self._window = places, window
        self._ready = False
        self._waiting: list[tuple[list[str], bool]] = []
        self._left_out: list[str] = []

    def ready(self) -> None:
        """Open the files requested before run files could be read."""
        self._ready = True
        waiting, self._waiting = self._waiting, []
        for names, add in waiting:
            self.open_files(names, add)

    # ---------------------------------------------------------------------------- requests

    def open(self) -> None:
        """Let the user choose files."""
        self._choose(add=False)

    def open_beside(self) -> None:
        """Let the user choose runs to open beside the open ones."""
        self._choose(add=True)

    def _choose(self, add: bool) -> None:
        folder = str(self._places.runs) if self._places.runs.is_dir() else ""
        names, _ = QFileDialog.getOpenFileNames(self._window, "Open", folder, FILTER)
        if names:
            self.open_files(names, add)

    def open_recent(self, action: QAction) -> None:
        """Open the file of an action in the menu of recent files."""
        name = action.data()
        if isinstance(name, str):
            self.open_files([name])

    def open_files(self, names: Sequence[str], add: bool = False) -> None:
        """Open runs (the first MOST_RUNS of them side by side), a study, a view or a data file.

        Report what cannot be opened; open runs then stay open.
        """
        if not self._ready:
            self._waiting.append((list(names), add))
            return
        self.message.emit("")
        views = [name for name in names if is_link(name) or name.endswith(VIEW)]
        if views:
            self.view_requested.emit(views[0])
            return
        stories = [name for name in names if is_story_file(name)]
        if stories:
            self.story_requested.emit(stories[0])
            return
        # A study replaces all runs: ignore files opened together with it.
        studies = [name for name in names if name in shipped_ids() or name.endswith(STUDY)]
        if studies:
            unopened = [name for name in names if name != studies[0]]
            if unopened:
                self._left_out.append(
                    f"{Path(studies[0]).name} is a study and replaces all open runs; "
                    f"{_list_files(unopened)} not opened."
                )
            if not self._training.choose(studies[0], partial(self.open_files, names, add)):
                self._left_out.clear()
            elif studies[0].endswith(STUDY):
                self.file_opened.emit(studies[0])
            self._report_left_out()
            return
        data = [name for name in names if is_data_file(name)]
        if data:
            self._offer_data(data[0])
            unopened = [name for name in names if name != data[0]]
            if unopened:
                self.message.emit(f"A study has one data file; {_list_files(unopened)} not opened.")
            return
        wrong = [name for name in names if not name.endswith(RUN)]
        if wrong:
            self.message.emit(
                f"Cannot open {Path(wrong[0]).name}. Choose a run ({RUN}), a view ({VIEW}), a "
                f"story ({STORY}), a study ({STUDY}) or data (.csv, .tsv, .txt, .npz, .npy, "
                ".mat). For shipped studies, choose Experiment, Choose study."
            )
            return
        if len(names) > MOST_RUNS:
            left_out = _list_files(names[MOST_RUNS:])
            self._left_out.append(
                f"At most {MOST_RUNS} runs can be open at once; {left_out} not opened."
            )
        self._open_runs([Path(name) for name in names[:MOST_RUNS]], add)
        self._report_left_out()

    def _offer_data(self, name: str) -> None:
        """Put a study of a data file into the form, and show how the file is read."""
        path = Path(name).absolute()
        tables = {
            "title": f"Data of {path.name}",
            "data": {"kind": "file", "path": str(path)},
            "network": {"m": OWN_DATA_M},
        }
        try:
            study = parse_study(tomli_w.dumps(tables), path.stem, path.parent)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        self._training.offer(study)
        self.file_opened.emit(str(path))
        self.data_offered.emit()

    def _report_left_out(self) -> None:
        """Name the files for which there was no room, unless an error was reported."""
        for words in self._left_out:
            self.message.emit(words)
        self._left_out.clear()

    def _open_runs(self, paths: Sequence[Path], add: bool) -> None:
        names = [str(path) for path in paths]
        runs = self._open_runs_of(paths, partial(self.open_files, names, add))
        if not runs:
            self._left_out.clear()
            return
        if not add:
            self._training.clear_runs()
            assert runs[0].data is not None
            self._training.show_study(study_of(runs[0].data.run, runs[0].path.stem))
        for one in runs:
            self._training.make_room()
            self._session.add(one)
            self.file_opened.emit(str(one.path))
        self.runs_replaced.emit()

    def replace(self, paths: Sequence[Path], repeat: Repeat | None = None) -> bool:
        """Show these runs in place of all others, without playing them.

        Those that are open already stay open. Report why and return False if that is impossible; no
        run is then closed. `repeat` is the whole request, if opening runs is only a part of it.
        """
        paths_ = paths[:MOST_RUNS]
        if any(run.path not in paths_ for run in self._session.live):
            self.message.emit(STILL_GOING)
            return False
        # By path: a file may be open twice.
        present = [run for run in self._session if run.live or (run.data and not run.is_outdated)]
        runs = self._open_runs_of(paths_, repeat or partial(self.replace, paths_), present)
        if paths and not runs:
            return False
        if not self._session.live:
            self._training.drop_queue()
        self._session.replace(runs)
        self.runs_restored.emit()
        return True

    def _open_runs_of(
        self, paths: Sequence[Path], repeat: Repeat, present: Collection[OpenRun] = ()
    ) -> list[OpenRun]:
        """Open the missing runs; report and return none if one is unreadable."""
        from app.state.display import DisplayData
        from core.comparison.description import describe
        from core.runs import open_run

        runs: list[OpenRun] = []
        for path in paths:
            present_runs = [run for run in present if run.path == path and run not in runs]
            if present_runs:
                runs.append(present_runs[0])
                continue
            try:
                run = open_run(path)
            except (MarginscopeError, OSError) as error:
                self.message.emit(_words(error, path))
                # Close what was opened so far: if one file fails, none is shown.
                for unmatched in [run for run in runs if run not in present]:
                    unmatched.close()
                if isinstance(error, UntrustedCodeError):
                    self._questions.confirm_trust(error, repeat)
                return []
            data = DisplayData(run)
            # A finished run ends at its last frame, whatever its horizon.
            times = [data.planned_end] if run.status != "finished" else []
            times += run.log10_time[1:].tolist() or [0.0]
            until, key = float(coordinate(max(times))), self._session.new_key()
            runs.append(OpenRun(key, path, describe(run), until, data=data))
        return runs

    def save_study(self) -> None:
        """Save the study in the form as a file."""
        study = self._form.require_study()
        if study is None:
            self.message.emit("Fix the highlighted settings before saving them.")
            return
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Save study", f"{study.id}{STUDY}", f"Studies (*{STUDY})"
        )
        if not name:
            return
        path = Path(name if name.endswith(STUDY) else f"{name}{STUDY}")
        try:
            write_whole(path, study.to_toml().encode())
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        self.file_saved.emit(str(path))

    def show_folder(self) -> None:
        """Open the folder of the recorded runs."""
        self._show_folder(self._places.runs)

    def show_log(self) -> None:
        """Open the folder of the log."""
        self._show_folder(self._places.logs)

    def _show_folder(self, folder: Path) -> None:
        """Open a folder in the system's file manager, or emit why this is impossible."""
        sentence = show_folder(folder)
        if sentence:
            self.message.emit(sentence)


def _list_files(names: Sequence[str]) -> str:
    """Return a list of files and a verb: the first by name, the rest as a number."""
    listed = [Path(name).name for name in names[:MOST_NAMED]]
    n_unlisted = len(names) - len(listed)
    words = ", ".join(listed) + (f" and {n_unlisted} more" if n_unlisted else "")
    return f"{words} {'was' if len(names) == 1 else 'were'}"


def show_folder(folder: Path) -> str:
    """Open a folder in the system's file manager; return a sentence if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"Could not create {folder}: {error.strerror}."
    opened = QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
    return "" if opened else f"The folder is {folder}."


def _words(error: MarginscopeError | OSError, path: Path) -> str:
    """Return the sentence about a file that cannot be opened."""
    if isinstance(error, MarginscopeError):
        return error.sentence
    return f"Could not read {path}: {error.strerror or error}."
