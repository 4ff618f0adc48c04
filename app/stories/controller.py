"""Stories in the window: edited in a dialog, opened, saved, played, and exported as pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.export.controller import ExportController
from app.export.pictures import PageJob
from app.playback.display import DisplayController
from app.scenes.controller import SceneController
from app.scenes.scene import Scene
from app.scenes.scene_texts import parse_link
from app.stories.editor import MarkedMoment, StoryDialog
from app.stories.player import StoryPlayer
from app.training.controller import TrainingController
from app.training.files import FileController
from app.training.studies import shipped_study_of
from app.widgets.labels import menu_text
from app.widgets.screen_text import greek
from core.errors import MarginscopeError
from core.figures.names import PAGE_PANELS
from core.library.entry import Bookmark, MomentNote, RunNotes
from core.library.run_notes import read_about
from core.numbers import raise_powers, time_text
from core.problem.schedule import inverse_coordinate
from core.stories.shipped_stories import shipped_stories
from core.stories.story import LONGEST_SENTENCE, Story, StoryMoment, StoryRun
from core.stories.story_file import SUFFIX, find_runs, load_story, relative_run, save_story
from core.studies.study import Study
from core.studies.summaries import shipped_summaries

NO_RUNS = "Open a run first: a story is about recorded runs."
NO_MOMENTS = "The story has no moments yet. Add some with Story ..."
PLAY_FIRST = "Play the story first: its page shows the runs that it is about."
SHIPPED_STORY, OWN_STORY = "This study has a story", "Your story"
SAVED = "Saved the story."


@final
class StoryController(QObject):
    """Owner of the story of the open runs, whose runs have absolute paths here."""

    message = Signal(str)  # reason for a failure
    status = Signal(str)  # confirmation
    opened = Signal(str)  # path of a story that was opened or saved
    offer_changed = Signal(str)  # sentence about the story that Play story plays, "" for none

    def __init__(
        self,
        window: QWidget,
        menu: QMenu,
        player: StoryPlayer,
        display: DisplayController,
        scenes: SceneController,
        training: TrainingController,
        files: FileController,
        export: ExportController,
    ) -> None:
        super().__init__(window)
        self._window, self.player, self._display = window, player, display
        self._scenes, self._training, self._files = scenes, training, files
        self._export = export
        self.story = Story()
        self._study = ""  # study in the form
        self._offer = ""
        self._is_waiting = False  # True until the runs of a requested story are open
        self.dialog: StoryDialog | None = None
        for name, one in shipped_stories().items():
            menu.addAction(menu_text(one.title)).setData(name)
        menu.triggered.connect(self._on_shipped)
        files.story_requested.connect(self.open)
        training.study_loaded.connect(self._on_study_loaded)
        display.runs_changed.connect(self._on_runs_changed)

    # -------------------------------------------------------------------------------- opening

    def _on_shipped(self, action: QAction) -> None:
        self.play_study(str(action.data()))

    def play_study(self, name: str) -> None:
        """Train the study of a shipped story unless its runs are open, and play the story."""
        self.message.emit("")
        self.player.stop()
        self.story, self._is_waiting = shipped_stories()[name], True
        if not self._has_runs() and not self._training.choose(name):
            self._is_waiting = False
            return
        self._start()

    def open(self, name: str) -> None:
        """Open a story with its runs, and play it."""
        self.message.emit("")
        path = Path(name).absolute()
        try:
            story = load_story(path)
            paths = find_runs(story, path.parent)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        if story.study:
            if story.study not in shipped_stories():
                self.message.emit(f"{path.name} is about {story.study}, which has no story here.")
                return
            self.play_study(story.study)
            self.story = story
        else:
            runs = zip(story.runs, paths, strict=True)
            absolute_runs = tuple(replace(run, path=str(one.resolve())) for run, one in runs)
            self.player.stop()
            self.story, self._is_waiting = replace(story, runs=absolute_runs), True
            if not self._show_runs():
                self._is_waiting = False
                return
        self.opened.emit(name)
        self._start()

    def _show_runs(self) -> bool:
        """Show the runs of the story; report why not, and return False, if that is impossible."""
        if self._has_runs():
            return True
        present = self._scenes.scene
        paths = tuple(Path(run.path) for run in self.story.runs)
        intent = replace(present.intent, playing=False, current=None, compared=None)
        scene = replace(present, runs=paths, zooms=(), intent=intent)
        return self._scenes.restore(scene, "Open story")

    def _has_runs(self) -> bool:
        """Return True if the runs of the story are those that are open."""
        session = self._display.session
        if self.story.study:
            ids = {one.title: one.id for one in shipped_summaries()}
            titles = {run.data.run.title for run in session if run.data is not None}
            return {ids.get(title) for title in titles} == {self.story.study}
        return [run.path.resolve() for run in session] == [Path(r.path) for r in self.story.runs]

    def _on_study_loaded(self, study: Study) -> None:
        self._study = shipped_study_of(study).id
        self._show_offer()

    def _story_to_play(self) -> Story:
        """Return the story to play: that of the open runs, else that of the study in the form."""
        shipped = shipped_stories().get(self._study)
        if shipped is None or (self.story.moments and self._has_runs()):
            return self.story
        return shipped

    def _choose_story(self) -> None:
        story = self._story_to_play()
        if story is not self.story:
            self._set_story(story)

    def _show_offer(self) -> None:
        """Describe the story to play, if its runs are open or can be trained."""
        story, sentence = self._story_to_play(), ""
        if story.moments and (story.study or self._has_runs()):
            words = SHIPPED_STORY if story.study else OWN_STORY
            title = f": {greek(story.title)}" if story.title else ""
            count = len(story.moments)
            sentence = f"{words}{title} ({count} moment{'s' if count > 1 else ''})."
        if sentence != self._offer:
            self._offer = sentence
            self.offer_changed.emit(sentence)

    def _on_runs_changed(self) -> None:
        if self._is_waiting:
            self._start()
        elif self.player.is_playing and not self._has_runs():
            self.player.stop()
        self._show_offer()
        if self.dialog is not None and self.dialog.isVisible():
            self._refresh()

    def _start(self) -> None:
        """Play the requested story once its runs are open."""
        if self._has_runs():
            self._is_waiting = False
            self._set_story(self.story)
            self.player.play(self.story)

    # -------------------------------------------------------------------------------- editing

    def show(self) -> None:
        """Open the dialog on the story of the open runs."""
        if not self._sources():
            self.message.emit(NO_RUNS)
            return
        if not self._has_runs():
            self.story = Story(runs=self._runs())
        if self.dialog is None:
            self.dialog = dialog = StoryDialog(self._window)
            dialog.story_changed.connect(self._on_story_changed)
            dialog.moment_requested.connect(self._on_moment_requested)
            dialog.present_requested.connect(self.add_present)
            dialog.play_requested.connect(self.play)
            dialog.open_requested.connect(self._choose_file)
            dialog.save_requested.connect(self.save)
            dialog.export_requested.connect(self.export)
        self.dialog.set_story(self.story)
        self._refresh()
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def _set_story(self, story: Story) -> None:
        self.story = story
        self._show_offer()
        if self.dialog is not None:
            self.dialog.set_story(story)
            self._refresh()

    def _refresh(self) -> None:
        """List the bookmarks and notes of the current run in the dialog."""
        assert self.dialog is not None
        current = self._display.current
        steps = current is not None and current.counts_steps
        self.dialog.set_marked(tuple(self._list_marked(steps)), steps)

    def _list_marked(self, steps: bool) -> Iterator[MarkedMoment]:
        current = self._display.current
        if current is None:
            return
        try:
            about = read_about(current.path)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            about = RunNotes()
        marks: list[Bookmark | MomentNote] = [*about.bookmarks, *about.moments]
        for mark in sorted(marks, key=_time_of):
            when = raise_powers(time_text(mark.log10_time, steps))
            if isinstance(mark, Bookmark):
                sentence = "" if mark.name == when else mark.name
                moment = StoryMoment(mark.log10_time, sentence, _views_of(mark))
                text = f"{when} \u2013 {mark.name}"
            else:
                moment = StoryMoment(mark.log10_time, mark.text[:LONGEST_SENTENCE])
                text = f"{when} \u2013 {greek(mark.text)}"
            yield MarkedMoment(text, moment)

    def add_present(self) -> None:
        """Add the moment and the views that the window shows, ready for a sentence."""
        if self.dialog is not None:
            self.dialog.add(self._present())

    def _present(self) -> StoryMoment:
        view = self._display.view
        start = view.cursor <= view.span.low
        time = float("-inf") if start else float(inverse_coordinate(view.cursor))
        return StoryMoment(time, "", tuple(view.wishes.views), view.wishes.filled)

    def _on_story_changed(self, story: Story) -> None:
        self.story = story
        self.player.stop()
        self._show_offer()

    def _on_moment_requested(self, place: int) -> None:
        """Show a moment that was selected in the dialog."""
        if 0 <= place < len(self.story.moments):
            self.player.show_once(self.story.moments[place])

    def _runs(self) -> tuple[StoryRun, ...]:
        return tuple(
            StoryRun(str(run.path.resolve()), run.data.run.name if run.data is not None else "")
            for run in self._display.session
        )

    def _sources(self) -> tuple[Path, ...]:
        """Return the files of the open runs."""
        return tuple(run.source for run in self._display.session if run.data is not None)

    # ------------------------------------------------------------------------- playing, files

    def play(self) -> None:
        """Play the story, from the moment that is selected in the dialog."""
        self._choose_story()
        if not self.story.moments:
            self.message.emit(NO_MOMENTS)
            return
        place = 0
        if self.dialog is not None and self.dialog.isVisible():
            place = max(self.dialog.place, 0)
            self.dialog.hide()
        self._is_waiting = True
        if not self._has_runs() and not self.story.study and not self._show_runs():
            self._is_waiting = False
            return
        if self._has_runs():
            self._is_waiting = False
            self.player.play(self.story, place)
        elif self.story.study:
            self.play_study(self.story.study)

    def _choose_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self._window, "Open story", str(self._folder()), f"Stories (*{SUFFIX})"
        )
        if name:
            self.open(name)

    def save(self) -> None:
        """Save the story; the dialog proposes the folder of the first run."""
        usual = str(self._folder() / f"{self._stem()}{SUFFIX}")
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Save story", usual, f"Stories (*{SUFFIX})"
        )
        if not name:
            return
        path = Path(name if name.lower().endswith(SUFFIX) else f"{name}{SUFFIX}")
        runs = tuple(relative_run(Path(one.path), path.parent, one.name) for one in self.story.runs)
        try:
            save_story(replace(self.story, runs=runs), path)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        self.opened.emit(str(path))
        self.status.emit(SAVED)

    def export(self) -> None:
        """Export the story of the open runs as one page that steps through it."""
        self._choose_story()
        if not self.story.moments:
            self.message.emit(NO_MOMENTS if self._sources() else NO_RUNS)
            return
        if not self._sources() or not self._has_runs():
            self.message.emit(PLAY_FIRST)
            return
        place = QStandardPaths.StandardLocation.DocumentsLocation
        folder = Path(QStandardPaths.writableLocation(place))
        usual = str((folder if folder.is_dir() else Path.home()) / f"{self._stem()}.html")
        name, _ = QFileDialog.getSaveFileName(self._window, "Export story", usual, "Pages (*.html)")
        if not name:
            return
        path = Path(name if name.lower().endswith(".html") else f"{name}.html")
        views = (one for one in self._display.view.wishes.views if one in PAGE_PANELS)
        job = PageJob(self._sources(), path, tuple(views), story=self.story)
        self._export.start(job)

    def _folder(self) -> Path:
        return Path(self.story.runs[0].path).parent if self.story.runs else Path.home()

    def _stem(self) -> str:
        letters = (sign if sign.isalnum() else "-" for sign in self.story.title.lower())
        stem = "-".join(part for part in "".join(letters).split("-") if part)[:60]
        return stem or "story"

    def close(self) -> None:
        """Stop playing."""
        self.player.stop()


def _time_of(mark: Bookmark | MomentNote) -> float:
    return mark.log10_time


def _views_of(mark: Bookmark) -> tuple[str, ...]:
    """Return the views of a bookmark; those that the window shows if it names none."""
    try:
        return parse_link(mark.picture, Scene()).intent.views if mark.picture else ()
    except MarginscopeError:  # a bookmark of another program
        return ()
