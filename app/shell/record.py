"""Record of the session, saved as study files and a script of commands."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from app.export.controller import ExportController
from app.scenes.controller import SceneController
from app.shell.main_window import MainWindow
from app.training.branching import BranchController
from app.training.controller import TrainingController
from app.training.fields import PATHS
from app.training.files import RUN, FileController
from core.errors import InputError, MarginscopeError
from core.files import write_whole
from core.program import headless_program
from core.studies.study import Study
from core.terminal.text import escape_controls, is_steering, join_words, path_argument

MOST_ENTRIES = 2000


@final
@dataclass(frozen=True, slots=True)
class RecordEntry:
    """Line of the record.

    `when`: local time, HH:MM:SS. `command`: the words after the program's name, of which STUDY is
    the file of `study`, a text. `is_step`: a step of the undo history, which a step that continues
    it replaces.
    """

    when: str
    words: str
    command: tuple[str, ...] = ()
    study: str = ""
    is_step: bool = False


STUDY = "STUDY"


def with_entry(entries: tuple[RecordEntry, ...], entry: RecordEntry) -> tuple[RecordEntry, ...]:
    """Return the entries and a new one; keep at most the latest MOST_ENTRIES."""
    return (*entries, entry)[-MOST_ENTRIES:]


def script(entries: Sequence[RecordEntry], title: str, stem: str) -> tuple[str, dict[str, str]]:
    """Return the text of a shell script, and its study files by name: STEM-1.toml, ...

    Studies of equal text have one file. Raises InputError for a command that cannot be quoted.

    >>> entry = RecordEntry("10:00:00", "Run", ("run", "STUDY"), "[data]")
    >>> text, files = script([entry], "A session", "mine")
    >>> print(text)
    #!/bin/sh
    # A session
    # Paths of study files and runs are relative to the folder of this file.
    set -e
    cd "$(dirname "$0")"
    <BLANKLINE>
    # 10:00:00 Run
    python -m core run mine-1.toml
    <BLANKLINE>
    >>> files
    {'mine-1.toml': '[data]'}
    """
    files: dict[str, str] = {}
    lines = [f"# {_line(title)}", NAMED, "set -e", 'cd "$(dirname "$0")"', ""]
    shell = "#!/bin/sh"
    for entry in entries:
        lines.append(f"# {entry.when} {_line(entry.words)}")
        if not entry.command:
            continue
        name = next((name for name, text in files.items() if text == entry.study), "")
        if entry.study and not name:
            name = f"{stem}-{len(files) + 1}.toml"
            files[name] = entry.study
        words = [path_argument(name) if word == STUDY else word for word in entry.command]
        line = join_words(words, windows=False)  # the script is always for a POSIX shell
        if any(is_steering(character) for word in words for character in word):
            shell = "#!/usr/bin/env bash"  # bash: plain sh need not know the quotes $'..'
        lines.append(f"{headless_program()} {line}")
    return "\n".join([shell, *lines, ""]), files


NAMED = "# Paths of study files and runs are relative to the folder of this file."


def _line(text: str) -> str:
    """Return a text that remains within its comment."""
    return escape_controls(" ".join(text.split()))


@final
class RecordController(QObject):
    """Record of training, opened files, exports and changes of the view."""

    message = Signal(str)  # reason for a failure
    status = Signal(str)  # confirmation

    def __init__(
        self,
        window: MainWindow,
        training: TrainingController,
        branching: BranchController,
        files: FileController,
        export: ExportController,
        scenes: SceneController,
    ) -> None:
        super().__init__(window)
        self._window = window
        self.entries: tuple[RecordEntry, ...] = ()
        self._started = datetime.now().astimezone()
        training.training_started.connect(self._on_training_started)
        branching.run_continued.connect(self._on_run_continued)
        branching.branch_started.connect(self._on_branch_started)
        files.file_opened.connect(self._on_file_opened)
        files.file_saved.connect(self._on_file_saved)
        export.finished.connect(self._on_exported)
        scenes.step_taken.connect(self._on_step)

    def _add(
        self, words: str, command: Sequence[str] = (), study: str = "", is_step: bool = False
    ) -> None:
        when = datetime.now().astimezone().strftime("%H:%M:%S")
        entry = RecordEntry(when, words, tuple(command), study, is_step)
        self.entries = with_entry(self.entries, entry)

    def _on_training_started(self, study: Study) -> None:
        self._add(f"Train {study.title}", ("run", STUDY), _with_absolute_paths(study).to_toml())

    def _on_run_continued(self, path: str) -> None:
        self._add("Continue training", ("continue", path))

    def _on_branch_started(self, path: str, frame: int, changes: list[str]) -> None:
        sets = [word for change in changes for word in ("--set", change)]
        words = ("branch", path, "--frame", str(frame), *sets)
        self._add(f"Branch from frame {frame}: {', '.join(changes)}", words)

    def _on_file_opened(self, path: str) -> None:
        self._add(f"Open {path}", ("info", path) if path.endswith(RUN) else ())

    def _on_file_saved(self, path: str) -> None:
        """Add a saved file to the record of steps."""
        self._add(f"Save {path}")

    def _on_exported(self, words: str) -> None:
        if words:
            self._add(words)

    def _on_step(self, words: str, continues: bool) -> None:
        if continues and self.entries and self.entries[-1].is_step:
            self.entries = self.entries[:-1]
        if words:
            self._add(words, is_step=True)

    # ---------------------------------------------------------------------------------- saving

    def save(self) -> None:
        """Let the user choose a file, and write the script and its study files there."""
        day = self._started.strftime("%Y-%m-%d")
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Save session script", f"session-{day}.sh", "Scripts (*.sh)"
        )
        if name:
            self.write(Path(name if name.endswith(".sh") else f"{name}.sh"))

    def write(self, path: Path) -> None:
        """Write the script, and the studies beside it under its name."""
        title = f"Marginscope session, started on {self._started:%Y-%m-%d at %H:%M}."
        try:
            text, studies = script(self.entries, title, path.stem)
        except InputError as error:
            self.message.emit(error.sentence)
            return
        if not path.parent.is_dir():
            self.message.emit(f"The folder {path.parent} does not exist. Choose another folder.")
            return
        try:
            for name, content in studies.items():
                write_whole(path.with_name(name), content.encode())
            write_whole(path, text.encode())
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
        except OSError as error:
            self.message.emit(f"Could not write {path}: {error.strerror}.")
        else:
            count = len(studies)
            files = f" with {count} study file{'s' if count > 1 else ''}" if count else ""
            self.status.emit(f"Saved {path.name}{files}.")


def _with_absolute_paths(study: Study) -> Study:
    """Return a study with absolute file names, since its text goes into another folder."""
    if study.folder is None:
        return study
    for section, table in study.tables.items():
        for key in PATHS:
            value = table.get(key)
            if isinstance(value, str) and value and not Path(value).is_absolute():
                study = study.with_value(f"{section}.{key}", str(study.folder / value))
    return study
