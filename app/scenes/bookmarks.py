"""Moments of runs by name: kept in the notes beside the run at the left, and gone back to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.playback.display import DisplayController
from app.playback.time_slider import TimeSlider
from app.scenes.controller import SceneController
from app.scenes.named_menu import Change, NamedMenu, make_addition, make_removal
from app.state.link import link_of, parse_link
from app.state.value_kinds import typed_time
from app.widgets.line_dialog import line_dialog
from core.errors import MarginscopeError
from core.figures.numbers import MINUS, clock_text
from core.library.about import change_about, read_about
from core.library.entry import Bookmark
from core.problem.schedule import inverse_coordinate

REMOVE = "&Remove bookmark"
NONE = "No bookmarks yet: Bookmark this moment ... makes one"
NO_RUN = "Open a run first: a bookmark is a moment of a recorded run."


def words_of(log10_time: float, steps: bool = False) -> str:
    """A moment as people read it; `steps`: t counts steps."""
    return clock_text(log10_time, steps).replace("-", MINUS)


@final
class BookmarkController(QObject):
    """Keeps, lists and shows the bookmarks of the run at the left.

    `message` carries a sentence; `status` says what was done.
    """

    message = Signal(str)
    status = Signal(str)

    def __init__(
        self,
        window: QWidget,
        menu: QMenu,
        slider: TimeSlider,
        display: DisplayController,
        scenes: SceneController,
    ) -> None:
        super().__init__(window)
        self._window, self._slider = window, slider
        self._display, self._scenes = display, scenes
        self._path: Path | None = None
        self._marks: tuple[Bookmark, ...] = ()
        self._menu = NamedMenu(menu, REMOVE)
        self._menu.chosen.connect(self.show)
        self._menu.removal_requested.connect(self.remove)
        display.runs_changed.connect(self._follow)
        menu.aboutToShow.connect(self._read)
        slider.bookmark_requested.connect(self.show)
        self._fill()

    # ------------------------------------------------------------------------------- following

    def _follow(self) -> None:
        """Other runs may be open."""
        path = next((run.path for run in self._display.session), None)
        if path != self._path:
            self._path = path
            self._read()

    def _read(self) -> None:
        """Read the notes anew: another window may have written them."""
        marks: tuple[Bookmark, ...] = ()
        if self._path is not None:
            try:
                marks = read_about(self._path).bookmarks
            except MarginscopeError as error:
                self.message.emit(error.sentence)
        self._take(marks)

    def _take(self, marks: tuple[Bookmark, ...]) -> None:
        self._marks = marks
        self._slider.set_bookmarks([(mark.name, mark.log10_time) for mark in marks])
        self._fill()

    def _fill(self) -> None:
        self._menu.clear()
        for mark in self._marks:
            when = words_of(mark.log10_time, self._counts_steps())
            self._menu.add(mark.name, "" if mark.name == when else when)
        self._menu.finish(NONE)

    # ------------------------------------------------------------------------------- asked

    def ask(self) -> None:
        """Ask for the name of this moment."""
        if self._path is None:
            self.message.emit(NO_RUN)
            return
        when = words_of(self._moment(), self._counts_steps())
        label = f"A name for this picture, at {when}"
        dialog = line_dialog(self._window, "bookmark", "Bookmark", label, when)
        dialog.textValueSelected.connect(self.keep)
        dialog.open()

    def _counts_steps(self) -> bool:
        """Return True if t counts the steps of the run at the left."""
        run = next(iter(self._display.session), None)
        return run is not None and run.counts_steps

    def _moment(self) -> float:
        """log10 of the time that is shown; -inf at the start."""
        view = self._display.view
        start = view.cursor <= view.span.low
        return float("-inf") if start else float(inverse_coordinate(view.cursor))

    def keep(self, name: str) -> None:
        """Keep this moment, with all that is shown, under a name."""
        if self._path is None:
            return
        # Without the files: it is kept with the run, wherever that goes.
        picture = link_of(replace(self._scenes.picture(), runs=()))
        words = f"{name.strip()} is bookmarked and marked on the time line."
        self._change(make_addition("bookmarks", Bookmark(name, self._moment(), picture)), words)

    def remove(self, name: str) -> None:
        """Forget the moment of a name."""
        self._change(make_removal("bookmarks", name), f"The bookmark {name} is removed.")

    def _change(self, change: Change, words: str) -> None:
        assert self._path is not None
        try:
            about = change_about(self._path, change)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return
        self._take(about.bookmarks)
        self.status.emit(words)

    def show(self, name: str) -> None:
        """Go back to the moment of a name, and to what was shown there."""
        mark = next((mark for mark in self._marks if mark.name == name), None)
        if mark is None:
            return
        present = self._scenes.scene
        base = replace(present, zooms=(), intent=replace(present.intent, playing=False))
        try:
            scene = parse_link(mark.picture, base)
        except MarginscopeError:  # of another program, or of a later one of ours: its time is known
            link = f"marginscope://view?t={typed_time(mark.log10_time)}"
            scene = parse_link(link, base)
        kept = replace(scene.intent, playing=False, palette=present.intent.palette)
        self._scenes.restore(replace(scene, runs=present.runs, intent=kept), f"Bookmark {name}")
