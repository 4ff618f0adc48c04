"""Selected nodes by name: kept in the notes beside their run, and chosen from a menu."""

from __future__ import annotations

from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.playback.display import DisplayController
from app.scenes.named_menu import Change, NamedMenu, make_addition, make_removal
from app.state.session import OpenRun
from app.widgets.line_dialog import line_dialog
from core.errors import MarginscopeError
from core.library.about import change_about, read_about
from core.observables.node_sets import NodeSet

REMOVE = "&Remove selection"
NONE = "No named selections yet"
NO_NODES = "Select some nodes first: draw a box around them among the neurons, or click them."


@final
class SelectionController(QObject):
    """Keeps, lists and shows the named selections of the runs that are open.

    A name stands for a set of nodes in each run that has one of that name. `message` carries a
    sentence; `status` says what was done; `renamed` that other names may be known.
    """

    message = Signal(str)
    status = Signal(str)
    renamed = Signal()

    def __init__(self, window: QWidget, menu: QMenu, display: DisplayController) -> None:
        super().__init__(window)
        self._window, self._display = window, display
        self._sets: dict[Path, tuple[NodeSet, ...]] = {}
        self._menu = NamedMenu(menu, REMOVE)
        self._menu.chosen.connect(self.show)
        self._menu.removal_requested.connect(self.remove)
        display.runs_changed.connect(self._follow)
        menu.aboutToShow.connect(self._read)
        self._fill()

    # ------------------------------------------------------------------------------- following

    def _follow(self) -> None:
        if {run.path for run in self._display.session} != set(self._sets):
            self._read()

    def _read(self) -> None:
        """Read the notes anew: another window may have written them."""
        self._sets = {run.path: self._kept(run.path) for run in self._display.session}
        self._fill()
        self.renamed.emit()

    def _kept(self, path: Path) -> tuple[NodeSet, ...]:
        try:
            return read_about(path).sets
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            return ()

    def _fill(self) -> None:
        self._menu.clear()
        shown = {self.name_of(run) for run in self._display.session}
        for name in sorted({one.name for sets in self._sets.values() for one in sets}):
            action = self._menu.add(name)
            action.setCheckable(True)
            action.setChecked(name in shown)
        self._menu.finish(NONE)

    # ------------------------------------------------------------------------------- asked

    def nodes_of(self, run: OpenRun) -> frozenset[int]:
        """The pinned nodes of a run."""
        shown = self._display.view.runs
        return next((one.pinned for one in shown if one.key == run.key), frozenset())

    def name_of(self, run: OpenRun) -> str:
        """What the pinned nodes of a run are called; "" where they have no name."""
        nodes = self.nodes_of(run)
        sets = self._sets.get(run.path, ())
        return next((one.name for one in sets if nodes and one.nodes == nodes), "")

    def selected(self, run: OpenRun) -> NodeSet | None:
        """The selection of a run with its name, if there is one."""
        shown = self._display.view.runs
        nodes = next((one.selected for one in shown if one.key == run.key), frozenset[int]())
        return NodeSet(self.name_of(run), nodes) if nodes else None

    def ask(self) -> None:
        """Ask for the name of what is selected."""
        count = sum(len(self.nodes_of(run)) for run in self._display.session)
        if not count:
            self.message.emit(NO_NODES)
            return
        label = f"A name for {count} node{'s' if count > 1 else ''}"
        dialog = line_dialog(self._window, "selection", "Name the selection", label)
        dialog.textValueSelected.connect(self.keep)
        dialog.open()

    def keep(self, name: str) -> None:
        """Keep the pinned nodes of each run under a name."""
        name = " ".join(name.split())
        runs = [run for run in self._display.session if self.nodes_of(run)]
        changes = [
            (run.path, make_addition("sets", NodeSet(name, self.nodes_of(run)))) for run in runs
        ]
        if changes and self._change(changes):
            self.status.emit(f"{name} is saved with its run and listed under Edit, Selections.")

    def remove(self, name: str) -> None:
        """Forget a name in all open runs."""
        having = [path for path, sets in self._sets.items() if any(s.name == name for s in sets)]
        if self._change([(path, make_removal("sets", name)) for path in having]):
            self.status.emit(f"The selection {name} is removed.")

    def _change(self, changes: list[tuple[Path, Change]]) -> bool:
        done = False
        for path, change in changes:
            try:
                self._sets[path] = change_about(path, change).sets
                done = True
            except MarginscopeError as error:
                self.message.emit(error.sentence)
        self._fill()
        self.renamed.emit()
        return done

    def show(self, name: str) -> None:
        """Select the nodes of a name in each run that has it."""
        runs = {run.key: self._sets.get(run.path, ()) for run in self._display.session}
        found = {key: one for key, sets in runs.items() for one in sets if one.name == name}
        others = {mark for mark in self._display.intent.pinned if mark[0] not in found}
        mine = {(key, node) for key, one in found.items() for node in one.nodes}
        self._display.ask(pinned=frozenset(others | mine))
        self._fill()  # the mark of a menu's entry moves also where the same one is chosen again
