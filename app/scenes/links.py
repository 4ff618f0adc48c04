"""Links and view files: made from the present view, and opened."""

from __future__ import annotations

from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.desktop import VIEW_SUFFIX, is_link
from app.scenes.controller import SceneController
from app.scenes.scene import Scene
from app.scenes.scene_texts import (
    MOST_BYTES,
    link_of,
    parse_link,
    parse_view,
    study_in,
    view_text,
    with_absolute_paths,
)
from app.scheme import change
from app.state.intent import PROPOSED, Intent
from app.training.controller import TrainingController
from app.training.files import FileController
from app.widgets.dialogs import line_dialog
from core.errors import MarginscopeError
from core.files import read_text, write_whole

COPIED = "Link copied."
NO_RUNS = "Open a run first: links show recorded runs."
OFFERED = "Settings now show the study from the link. Press Run to train it."
NOTHING = "The link contains no run."
LINK_PROMPT = "Paste a link copied from Marginscope (marginscope://...)"


@final
class LinkController(QObject):
    """Links and view files. A link to a study puts it into the form, and trains nothing."""

    message = Signal(str)  # reason for a failure
    status = Signal(str)  # confirmation
    opened = Signal(str)  # path of a view file that was opened or saved

    def __init__(
        self,
        window: QWidget,
        scenes: SceneController,
        training: TrainingController,
        files: FileController,
    ) -> None:
        super().__init__(window)
        self._window, self._scenes, self._training = window, scenes, training
        files.view_requested.connect(self.open)

    def register(self) -> None:
        """Register this program for links and runs with the system, or unregister it."""
        try:
            self.status.emit(change())
            self.message.emit("")
        except MarginscopeError as error:
            self.message.emit(error.sentence)

    # ------------------------------------------------------------------------------- copy and save

    def copy(self) -> None:
        """Copy the link to this picture to the clipboard."""
        if picture := self._picture_of_runs():
            QApplication.clipboard().setText(link_of(picture))
            self.status.emit(COPIED)

    def _picture_of_runs(self) -> Scene | None:
        """Return the scene; report and return None if it shows no runs."""
        picture = self._scenes.shareable_scene()
        if picture.runs or picture.intent.compared is not None:
            return picture
        self.message.emit(NO_RUNS)
        return None

    def save(self) -> None:
        """Save this picture as a view file; the dialog proposes the folder of the first run."""
        picture = self._picture_of_runs()
        if picture is None:
            return
        compared = picture.intent.compared
        first = picture.runs[0] if picture.runs else Path(compared.runs[0] if compared else "")
        usual = str(first.with_suffix(VIEW_SUFFIX))
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Save view", usual, f"Views (*{VIEW_SUFFIX})"
        )
        if not name:
            return
        path = Path(name if name.endswith(VIEW_SUFFIX) else f"{name}{VIEW_SUFFIX}")
        try:
            write_whole(path, view_text(picture, path.parent).encode())
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        self.opened.emit(str(path))

    # ---------------------------------------------------------------------------------------- open

    def show_dialog(self) -> None:
        """Let the user paste a link; the field starts with one from the clipboard."""
        clipboard = QApplication.clipboard().text().strip()
        initial = clipboard if is_link(clipboard) else ""
        dialog = line_dialog(self._window, "link", "Open link", LINK_PROMPT, initial)
        dialog.resize(480, dialog.sizeHint().height())
        dialog.textValueSelected.connect(self._on_link)
        dialog.open()

    def _on_link(self, text: str) -> None:
        if text.strip():
            self._open_link(text)

    def open(self, name: str) -> None:
        """Show the picture of a link or of a view file."""
        if is_link(name):
            self._open_link(name)
            return
        path = Path(name)
        try:
            text = read_text(path, MOST_BYTES, "view file")
            scene = parse_view(text, path.absolute().parent, self._base(), path.name)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        if self._show(scene, f"Open {path.name}"):
            self.opened.emit(name)

    def _open_link(self, text: str) -> None:
        try:
            study = study_in(text)
            scene = self._base() if study else parse_link(text, self._base())
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        if study:
            self.message.emit("")
            self._training.offer(study)
            self.status.emit(OFFERED)
        else:
            self._show(scene, "Open link")

    def _base(self) -> Scene:
        """Return the scene that a link starts from: a new window with the user's appearance."""
        present = self._scenes.scene
        intent = Intent(
            palette=present.intent.palette,
            pace=present.intent.pace,
            loop=present.intent.loop,
            **{name: getattr(present.intent, name) for name in PROPOSED},
        )
        return Scene(intent=intent, panels=present.panels)

    def _show(self, scene: Scene, words: str) -> bool:
        self.message.emit("")
        if not scene.runs and scene.intent.compared is None:
            self.message.emit(NOTHING)
            return False
        return self._scenes.restore(with_absolute_paths(scene), words)
