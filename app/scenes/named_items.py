"""Bookmarks, selections and layouts: named in a dialog, listed in a menu, and removed there.

Bookmarks and selections are saved in the notes beside their runs, layouts in the settings.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.playback.display import DisplayController
from app.playback.time_slider import TimeSlider
from app.scenes.controller import SceneController
from app.scenes.scene import renumber_runs
from app.scenes.scene_texts import (
    LAYOUTS,
    Layout,
    apply_layout,
    check_layout_name,
    layout_of,
    link_of,
    parse_link,
)
from app.state.session import OpenRun
from app.state.view_options import typed_time
from app.widgets.dialogs import line_dialog
from app.widgets.labels import menu_text
from core.errors import InputError, MarginscopeError
from core.library.entry import Bookmark, RunNotes
from core.library.run_notes import change_about, read_about
from core.numbers import raise_powers, time_text
from core.observables.node_sets import NodeSet
from core.problem.schedule import inverse_coordinate

NO_BOOKMARKS = "No bookmarks yet. Add one with Bookmark this moment ..."
NO_SETS = "No named selections yet"
NO_RUN = "Open a run first: bookmarks mark moments of recorded runs."
NO_NODES = "Select neurons first: click them, or drag a box in the neuron view."

Part = Literal["bookmarks", "sets"]  # of a run's notes


class NamedController(QObject):
    """Menu of names, with a submenu that removes them."""

    message = Signal(str)  # reason for a failure
    status = Signal(str)  # confirmation

    def __init__(self, window: QWidget, menu: QMenu, noun: str) -> None:
        super().__init__(window)
        self._window, self._menu, self._noun = window, menu, noun
        self._removals = QMenu(f"&Remove {noun}", menu.parentWidget())
        menu.triggered.connect(self._on_triggered)

    @abstractmethod
    def request_name(self) -> None:
        """Open the dialog whose answer goes to `add`."""

    @abstractmethod
    def add(self, name: str) -> None:
        """Save the present state under a name."""

    @abstractmethod
    def show(self, name: str) -> None:
        """Show the state with a name."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a name."""

    def _open_dialog(self, title: str, label: str, text: str = "") -> None:
        dialog = line_dialog(self._window, self._noun, title, label, text)
        dialog.textValueSelected.connect(self.add)
        dialog.open()

    def _clear_menu(self) -> None:
        self._menu.clear()
        self._removals.clear()

    def _list_name(self, name: str, detail: str = "", removable: bool = True) -> QAction:
        """Add a name to the menu, with a detail at its right, and return its action."""
        text = menu_text(name)
        action = self._menu.addAction(f"{text}\t{detail}" if detail else text)
        action.setData(("show", name))
        if removable:
            self._removals.addAction(text).setData(("remove", name))
        return action

    def _finish_menu(self, none: str = "", above: QAction | None = None) -> None:
        """Add `above` and the menu that removes names, or the sentence `none` if there are none."""
        if self._menu.isEmpty():
            self._menu.addAction(none).setEnabled(False)
            return
        self._menu.addSeparator()
        if above is not None:
            self._menu.addAction(above)
        self._menu.addMenu(self._removals).setEnabled(not self._removals.isEmpty())

    def _on_triggered(self, action: QAction) -> None:
        match action.data():
            case "show", str(name):
                self.show(name)
            case "remove", str(name):
                self.remove(name)

    def _read_notes(self, path: Path) -> RunNotes:
        """Return the notes beside a run; report unreadable ones, and return none."""
        try:
            return read_about(path)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return RunNotes()

    def _change_notes(
        self, path: Path, part: Part, item: Bookmark | NodeSet | None, name: str = ""
    ) -> RunNotes | None:
        """Add an item to a part of the notes beside a run, or remove a name; None if that fails."""
        change = partial(_drop_name, part, name) if item is None else partial(_add_name, part, item)
        try:
            return change_about(path, change)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return None


def _add_name(part: Part, item: Bookmark | NodeSet, about: RunNotes) -> RunNotes:
    changed: dict[str, Any] = {part: (*getattr(about, part), item)}
    return replace(about, **changed)


def _drop_name(part: Part, name: str, about: RunNotes) -> RunNotes:
    remaining = tuple(item for item in getattr(about, part) if item.name != name)
    changed: dict[str, Any] = {part: remaining}
    return replace(about, **changed)


@final
class BookmarkController(NamedController):
    """Bookmarks of the current run, which is the first run in their pictures."""

    def __init__(
        self,
        window: QWidget,
        menu: QMenu,
        slider: TimeSlider,
        display: DisplayController,
        scenes: SceneController,
    ) -> None:
        super().__init__(window, menu, "bookmark")
        self._slider, self._display, self._scenes = slider, display, scenes
        self._path: Path | None = None
        self._marks: tuple[Bookmark, ...] = ()
        display.runs_changed.connect(self._on_runs_changed)
        display.current_changed.connect(self._on_runs_changed)
        menu.aboutToShow.connect(self._read)
        slider.bookmark_requested.connect(self.show)
        self._fill_menu()

    def _on_runs_changed(self) -> None:
        run = self._display.current
        path = run.path if run is not None else None
        if path != self._path:
            self._path = path
            self._read()

    def _read(self) -> None:
        """Read the notes, which another window may have written."""
        self._set_bookmarks(() if self._path is None else self._read_notes(self._path).bookmarks)

    def _set_bookmarks(self, marks: tuple[Bookmark, ...]) -> None:
        self._marks = marks
        self._slider.set_bookmarks([(mark.name, mark.log10_time) for mark in marks])
        self._fill_menu()

    def _fill_menu(self) -> None:
        self._clear_menu()
        for mark in self._marks:
            when = self._time_text(mark.log10_time)
            self._list_name(mark.name, "" if mark.name == when else when)
        self._finish_menu(NO_BOOKMARKS)

    def _time_text(self, log10_time: float) -> str:
        """Return a moment as text; t counts the steps of some runs."""
        run = self._display.current
        steps = run is not None and run.counts_steps
        return raise_powers(time_text(log10_time, steps, padded=True))

    def _moment(self) -> float:
        """Return log10 of the shown time; -inf at the start."""
        view = self._display.view
        start = view.cursor <= view.span.low
        return float("-inf") if start else float(inverse_coordinate(view.cursor))

    def request_name(self) -> None:
        if self._path is None:
            self.message.emit(NO_RUN)
            return
        when = self._time_text(self._moment())
        self._open_dialog("Bookmark", f"Bookmark name ({when})", when)

    def add(self, name: str) -> None:
        if self._path is None:
            return
        # Without file names: a bookmark moves with its run.
        scene = renumber_runs(self._scenes.shareable_scene(), self._places())
        picture = link_of(replace(scene, runs=(), intent=replace(scene.intent, current=None)))
        about = self._change_notes(self._path, "bookmarks", Bookmark(name, self._moment(), picture))
        self._on_changed(about, f'Bookmarked "{name.strip()}".')

    def _places(self) -> list[int]:
        """Return the place of each open run in a bookmark."""
        runs, current = list(self._display.session), self._display.current
        row = runs.index(current) if current is not None else 0
        return [0 if k == row else k + (k < row) for k in range(len(runs))]

    def remove(self, name: str) -> None:
        assert self._path is not None
        about = self._change_notes(self._path, "bookmarks", None, name)
        self._on_changed(about, f'Removed bookmark "{name}".')

    def _on_changed(self, about: RunNotes | None, words: str) -> None:
        if about is not None:
            self._set_bookmarks(about.bookmarks)
            self.status.emit(words)

    def show(self, name: str) -> None:
        mark = next((mark for mark in self._marks if mark.name == name), None)
        if mark is None:
            return
        present = self._scenes.scene
        places = self._places()
        base = replace(present, zooms=(), intent=replace(present.intent, playing=False))
        base = renumber_runs(base, places)
        try:
            scene = parse_link(mark.picture, base)
        except MarginscopeError:  # a bookmark of another program or a later version: use its time
            link = f"marginscope://view?t={typed_time(mark.log10_time)}"
            scene = parse_link(link, base)
        scene = renumber_runs(scene, [places.index(k) for k in range(len(places))])
        colours, current = present.intent.palette, present.intent.current
        intent = replace(scene.intent, playing=False, palette=colours, current=current)
        self._scenes.restore(replace(scene, runs=present.runs, intent=intent), f"Bookmark {name}")


@final
class SelectionController(NamedController):
    """Named selections: a set of neurons under one name in each open run that has the name."""

    names_changed = Signal()

    def __init__(self, window: QWidget, menu: QMenu, display: DisplayController) -> None:
        super().__init__(window, menu, "selection")
        self._display = display
        self._sets: dict[Path, tuple[NodeSet, ...]] = {}
        display.runs_changed.connect(self._on_runs_changed)
        menu.aboutToShow.connect(self._read)
        self._fill_menu()

    def _on_runs_changed(self) -> None:
        if {run.path for run in self._display.session} != set(self._sets):
            self._read()

    def _read(self) -> None:
        """Read the notes, which another window may have written."""
        self._sets = {run.path: self._read_notes(run.path).sets for run in self._display.session}
        self._fill_menu()
        self.names_changed.emit()

    def _fill_menu(self) -> None:
        self._clear_menu()
        run_names = {self.name_of(run) for run in self._display.session}
        for name in sorted({one.name for sets in self._sets.values() for one in sets}):
            action = self._list_name(name)
            action.setCheckable(True)
            action.setChecked(name in run_names)
        self._finish_menu(NO_SETS)

    def nodes_of(self, run: OpenRun) -> frozenset[int]:
        """Return the pinned neurons of a run."""
        runs = self._display.view.runs
        return next((one.pinned for one in runs if one.key == run.key), frozenset())

    def name_of(self, run: OpenRun) -> str:
        """Return the name of a run's pinned neurons; "" if they have none."""
        nodes = self.nodes_of(run)
        sets = self._sets.get(run.path, ())
        return next((one.name for one in sets if nodes and one.nodes == nodes), "")

    def named_selection(self, run: OpenRun) -> NodeSet | None:
        """Return the selection of a run with its name, if it has one."""
        runs = self._display.view.runs
        nodes = next((one.selected_nodes for one in runs if one.key == run.key), frozenset[int]())
        return NodeSet(self.name_of(run), nodes) if nodes else None

    def request_name(self) -> None:
        count = sum(len(self.nodes_of(run)) for run in self._display.session)
        if not count:
            self.message.emit(NO_NODES)
            return
        self._open_dialog(
            "Name selection", f"Name of the selection ({count} neuron{'s' * (count > 1)})"
        )

    def add(self, name: str) -> None:
        name = " ".join(name.split())
        nodes = [(run.path, self.nodes_of(run)) for run in self._display.session]
        # A file may be open twice, with different neurons pinned in each panel.
        items = [(path, NodeSet(name, some)) for path, some in nodes if some]
        if items and self._change(items):
            self.status.emit(f'Saved selection "{name}" (Edit, Selections).')

    def remove(self, name: str) -> None:
        having = [path for path, sets in self._sets.items() if any(s.name == name for s in sets)]
        if self._change([(path, None) for path in having], name):
            self.status.emit(f'Removed selection "{name}".')

    def _change(self, items: Sequence[tuple[Path, NodeSet | None]], name: str = "") -> bool:
        is_changed = False
        for path, item in items:
            if about := self._change_notes(path, "sets", item, name):
                self._sets[path] = about.sets
                is_changed = True
        self._fill_menu()
        self.names_changed.emit()
        return is_changed

    def show(self, name: str) -> None:
        runs = {run.key: self._sets.get(run.path, ()) for run in self._display.session}
        sets_by_run = {key: one for key, sets in runs.items() for one in sets if one.name == name}
        unaffected = {mark for mark in self._display.intent.pinned if mark[0] not in sets_by_run}
        mine = {(key, node) for key, one in sets_by_run.items() for node in one.nodes}
        self._display.update_intent(pinned=frozenset(unaffected | mine))
        self._fill_menu()  # choosing the checked entry again would uncheck it


@final
class LayoutController(NamedController):
    """Layouts of the program, and the user's own: `own` by name."""

    def __init__(
        self, window: QWidget, menu: QMenu, scenes: SceneController, own: Mapping[str, Layout]
    ) -> None:
        super().__init__(window, menu, "layout")
        self._scenes = scenes
        self.own: dict[str, Layout] = dict(own)
        self._save = QAction("&Save layout ...", self)
        self._save.setData("save")  # lists the action in the command palette
        self._save.triggered.connect(self.request_name)
        self._fill_menu()

    def _fill_menu(self) -> None:
        self._clear_menu()
        for name in LAYOUTS:
            self._list_name(name, removable=False)
        self._menu.addSeparator()
        for name in self.own:
            self._list_name(name)
        self._finish_menu(above=self._save)

    def request_name(self) -> None:
        self._open_dialog("Save layout", "Layout name (views and panels)")

    def add(self, name: str) -> None:
        try:
            name = check_layout_name(name, self.own)
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self.own[name] = layout_of(self._scenes.shareable_scene())
        self._fill_menu()
        self.status.emit(f'Saved layout "{name}" (View, Layouts).')

    def remove(self, name: str) -> None:
        del self.own[name]
        self._fill_menu()
        self.status.emit(f'Removed layout "{name}".')

    def show(self, name: str) -> None:
        layout = LAYOUTS.get(name) or self.own[name]
        try:
            scene = apply_layout(self._scenes.scene, layout)
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self._scenes.restore(scene, f"Layout {name}")
