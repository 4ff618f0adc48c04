"""One window for many tests: reset after each, and replaced if the reset is not exact.

A window costs more than a second of processor time, most tests need a tenth of that. `reset` takes
back what a test did by the program's own means: dialogs are closed, the first scene is shown again.
`state_of` then lists everything that a later test could notice: the values of all controllers, the
actions, every widget and the user's files. A window whose list differs from that of a new window
is closed, so no test sees what another test left.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, final

import pytest
from PySide6.QtCore import QByteArray, QObject, QRect, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QWidget,
)
from shiboken6 import isValid

from app import style
from app.actions import set_keys
from app.scenes.scene import Scene
from app.shell.application import Marginscope
from app.shell.shortcut_keys import DEFAULTS
from app.shell.tour import TourController
from app.worker import Worker
from core.studies.study import Study
from tests.conftest import PATIENCE

LOG = logging.getLogger("tests.windows")
FEATURES = (
    *("app.playback.", "app.training.", "app.theory.", "app.scenes.", "app.data.", "app.library."),
    *("app.export.", "app.stories.", "app.study.", "app.shell."),
)
PLAIN = (type(None), bool, int, float, str, bytes, Path, Enum, QRect, type)
# Clocks, counters, caches of computed values, and what the user did: no test looks at them in a
# window that it shares.
VOLATILE = {
    *("_collector", "_last", "_drawn", "_pace", "_rate", "_thread", "_written", "_requested_at"),
    *("_n_runs", "_newest", "_named", "_grew", "_train", "answer"),
    *("key", "_key", "_keys", "_pattern", "_sorted", "_watched", "background", "_noted"),
    *("_picture", "_cursor", "__METAOBJECT__"),
}
# What controllers keep of the user's choices beside the scene.
REMEMBERED = {
    "bookmarks": ("_marks",),
    "notes": ("notes", "_deleted", "_draft", "_is_new"),
    "stories": ("story", "_is_waiting", "_study"),
    "commands": ("used",),
    "drawing": ("_put", "_latest", "_before"),
    "training": ("_study", "_cells", "_proposals"),
    "export": ("_folder", "tab", "preset"),
    "settings": ("values",),
    "readout": ("_message",),
    "record": ("entries",),
    "selections": ("_sets",),
    "shortcuts": ("_keys",),
    "studies": ("_remembered",),
}
# Sets of the keys of open runs, of which only the number matters.
RUN_KEYS = {"program.theory.judge._wanted"}
CACHES = {
    *("program.theory.margins._known", "program.theory.final_margins._requested"),
}
KEPT_BY_THE_PROGRAM = {"session.json", "library.sqlite", "library.sqlite-wal", "library.sqlite-shm"}
CLAIM = ".claim"  # of a run file's name; the next run deletes those that are a minute old
KEY = re.compile(r"\bkey=\d+")  # of an open run: each is used once
MARGINS = 5  # of tests.support.theory_stand_ins, for each run
SIZE = 1280, 800
RESET_S = 10.0  # after which a window is replaced
DEEP = 12
TURNS = 10


def state_of(program: Marginscope) -> dict[str, str]:
    """Return everything in a window that a later test could notice: name -> value as text."""
    found: dict[str, str] = {}
    _add_object(program, "program", found, set(), 0)
    for key, action in program.actions.items():
        found[f"action {key}"] = _action(action)
    for path, widget in _widgets(program.window, "window"):
        found[path] = _widget(widget)
    found["focus"] = type(program.window.focusWidget()).__name__
    found["style"] = _style()
    for file in sorted(program.places.runs.parent.rglob("*")):
        if file.is_file() and file.name not in KEPT_BY_THE_PROGRAM and file.suffix != CLAIM:
            found[f"file {file.name}"] = str(file.stat().st_size)
    return found


def _action(action: QAction) -> str:
    return repr(
        (
            action.isEnabled(),
            action.isChecked(),
            action.isVisible(),
            action.text(),
            action.toolTip(),
            action.shortcut().toString(),
        )
    )


def _widgets(top: QWidget, path: str) -> Iterator[tuple[str, QWidget]]:
    """Yield the shown widgets below a window; a hidden one fills itself when shown.

    Windows of their own are left out unless they are visible.
    """
    numbers: Counter[str] = Counter()
    for child in top.children():
        if not isinstance(child, QWidget) or (child.isWindow() and not child.isVisible()):
            continue
        kind = type(child).__name__
        numbers[kind] += 1
        if not child.isHidden():
            name = f"{path}/{kind}{numbers[kind]}"
            yield name, child
            yield from _widgets(child, name)


def _widget(widget: QWidget) -> str:
    parts: list[Any] = [
        widget.isHidden(),
        widget.isEnabled(),
        widget.toolTip(),
        widget.accessibleName(),
    ]
    if widget.isVisible() and not _is_scrolled(widget):
        parts.append(widget.geometry().getRect())
    if isinstance(widget, QLabel | QLineEdit | QAbstractButton):
        parts.append(widget.text())
    if isinstance(widget, QAbstractButton):
        parts.append(widget.isChecked())
    if isinstance(widget, QComboBox | QStackedWidget | QTabWidget):
        parts.append(widget.currentIndex())
    if isinstance(widget, QAbstractItemView):
        parts.append(widget.currentIndex().row())
    if isinstance(widget, QAbstractScrollArea):
        bars = widget.horizontalScrollBar(), widget.verticalScrollBar()
        parts.append([bar.value() for bar in bars])
    if type(widget).__module__.startswith(FEATURES):  # what it paints by itself
        own = vars(widget).items()
        parts += [
            f"{name}={KEY.sub('key=', repr(value))}" for name, value in own if _counts(name, value)
        ]
    return repr(parts)


def _counts(name: str, value: Any) -> bool:
    return name not in VOLATILE and _is_plain(value)


def _is_scrolled(widget: QWidget) -> bool:
    """Return True for the content of a scroll area, whose height does not matter."""
    viewport = widget.parentWidget()
    area = viewport.parentWidget() if viewport is not None else None
    return isinstance(area, QAbstractScrollArea) and area.viewport() is viewport


def _add_object(value: Any, path: str, found: dict[str, str], seen: set[int], depth: int) -> None:
    """Add the attributes of an object of `app`, and of the objects that it holds."""
    if id(value) in seen or depth > DEEP:
        return
    seen.add(id(value))
    for name in (*getattr(value, "__dict__", ()), *_slots(type(value))):
        if name in VOLATILE or not hasattr(value, name) or f"{path}.{name}" in CACHES:
            continue
        _add_value(getattr(value, name), f"{path}.{name}", found, seen, depth)


@cache
def _slots(kind: type) -> tuple[str, ...]:
    return tuple(name for base in kind.__mro__ for name in getattr(base, "__slots__", ()))


def _add_value(value: Any, path: str, found: dict[str, str], seen: set[int], depth: int) -> None:
    kind = type(value)
    if kind in (SignalInstance, QAction):  # actions are listed by their keys
        return
    if path in RUN_KEYS:
        found[path] = f"{kind.__name__} of {len(value)}"
    elif _is_atom(kind) or _is_plain(value):
        found[path] = KEY.sub("key=", repr(value))
    elif isinstance(value, list | tuple):
        found[path] = f"{kind.__name__} of {len(value)}"
        for number, one in enumerate(value):
            _add_value(one, f"{path}[{number}]", found, seen, depth)
    elif isinstance(value, dict):
        keys = [_named(key) for key in value if not isinstance(key, int)]
        found[path] = f"dict of {len(value)}: {keys}"
        for number, one in enumerate(value.values()):
            _add_value(one, f"{path}[{number}]", found, seen, depth)
    else:
        found[path] = kind.__name__
        if _is_of_the_program(kind) and not (isinstance(value, QObject) and not isValid(value)):
            _add_object(value, path, found, seen, depth + 1)


def _named(key: Any) -> str:
    return repr(key) if isinstance(key, PLAIN) or _is_plain(key) else type(key).__name__


@cache
def _is_atom(kind: type) -> bool:
    return issubclass(kind, PLAIN)


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """Return the names of a dataclass's fields, or None for another class."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def _is_plain(value: Any) -> bool:
    """Return True if a value consists of plain values, so that its text is complete."""
    kind = type(value)
    if _is_atom(kind):
        return True
    if kind in (tuple, frozenset, set):
        return all(map(_is_plain, value))
    names = _fields(kind)
    return names is not None and all(_is_plain(getattr(value, name)) for name in names)


@cache
def _is_of_the_program(kind: type) -> bool:
    widget_or_module = issubclass(kind, ModuleType | QWidget)
    return kind.__module__.startswith("app.") and not widget_or_module


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE / 1000) -> None:
    """Run the event loop until a condition holds, outside of any test."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the shared window did not become quiet"
        QTest.qWait(2)


def settle(program: Marginscope, seconds: float = PATIENCE / 1000) -> None:
    """Wait until a window has nothing left to read, compute or draw.

    Texts are updated at once: their timer would take up to 60 ms after each test.
    """

    def rests() -> bool:
        if not (trained(program) and is_quiet(program)):
            return False
        was_stale = program.readout._stale
        if was_stale:
            program.readout._tick()
        return not was_stale

    wait_until(rests, seconds)


@contextmanager
def defer_painting(window: QWidget) -> Iterator[None]:
    """Paint a window once, by the next turn of the event loop, instead of at each change."""
    so = window.updatesEnabled()
    if so:
        window.setUpdatesEnabled(False)
    try:
        yield
    finally:
        if so:
            window.setUpdatesEnabled(True)


@contextmanager
def skip_style_sheet() -> Iterator[None]:
    """Change colours without Qt's style sheet, which takes .4 s beside a second window.

    The scene, the actions and what is painted by the program's own colours change.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "apply", lambda *_: None)
        yield


def workers_of(program: Marginscope) -> set[Worker]:
    return {*program.findChildren(Worker), *program.window.findChildren(Worker)}


def is_quiet(program: Marginscope) -> bool:
    """Return True if no worker is busy and the event loop has nothing pending."""
    theory = program.theory
    return (
        not theory.busy
        and all(theory.results(run.key).mark[1] == MARGINS for run in program.session)
        and not program.display.calculator.busy
        and not program.open_runs.is_ticking
        and not program.scenes.has_pending_change
        and not _busy(program)
    )


def _busy(program: Marginscope) -> bool:
    """Return True if any worker is busy. Finding all workers is the slowest part."""
    # The training thread never rests.
    rest = workers_of(program) - set(program.worker.findChildren(Worker))
    return any(worker.busy for worker in rest)


def trained(program: Marginscope) -> bool:
    """Return True if runs are open, ended and fully read, and the views are up to date."""
    runs = list(program.session)
    return (
        bool(runs)
        and not program.session.live
        and not program.session.is_starting
        and all(run.data is not None and not run.has_unread_frames for run in runs)
        and not any(panel.pending for panel in program.display.panels)
    )


@final
@dataclass
class SharedWindow:
    """Window that tests share, with its initial state."""

    program: Marginscope
    scene: Scene
    splitters: dict[QSplitter, QByteArray]
    style: str
    state: dict[str, str]
    dialogs: set[tuple[str, str]]
    files: set[Path]
    values: dict[tuple[str, str], Any]
    study: Study | None
    follows: bool
    delta: float

    @classmethod
    def of(cls, program: Marginscope) -> SharedWindow:
        """Trigger what a window creates at its first use, and store the state after that."""
        entries = program.record.entries
        program.commands.show()
        settle(program)
        program.actions["compare"].trigger()
        settle(program)
        program.actions["compare"].trigger()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TourController, "_has_only_figure_1", lambda _controller: True)
            program.tour.start()
            program.tour.stop()
        program.display.update_intent(
            playing=False, pinned=frozenset()
        )  # as the tour's first step has it
        program.actions["library"].setChecked(True)
        settle(program)
        program.training._study = None
        program.actions["library"].setChecked(False)
        program.playback.seek_start()
        scene = program.scenes.scene
        program.files.replace(())  # so that the runs are opened from files, as they always will be
        files = set(program.places.runs.parent.rglob("*"))
        splitters = {one: one.saveState() for one in program.window.findChildren(QSplitter)}
        shared = cls(
            program,
            scene,
            splitters,
            _style(),
            {},
            set(),
            files,
            {},
            program.result._study,
            program.appearance.follows_system,
            program.window.theory.delta.value(),
        )
        shared.dialogs = {(owner, name) for owner, name, _ in _dialogs(program)}
        shared._take_back()
        for _ in range(TURNS):
            settle(program)
            program.record.entries = entries
            before, shared.state = shared.state, state_of(program)
            if before == shared.state and program.window.size().toTuple() == SIZE:
                break
            shared._turn()
        shared.values = {(owner, name): copy(value) for owner, name, value in _values(program)}
        return shared

    def has_lost_its_style(self) -> bool:
        """Return True if another window has changed the application's style."""
        return _style() != self.style

    def threads(self) -> set[threading.Thread]:
        return {one._thread for one in workers_of(self.program) if one._thread is not None}

    def reset(self) -> bool:
        """Reset the window after a test; return False if it has to be replaced."""
        program = self.program
        if program._stopped:
            LOG.info("closed by its test")
            return False
        try:
            program.training.stop()
            wait_until(lambda: not program.session.live, RESET_S)
            self._remove_files()
            program.window.setUpdatesEnabled(False)
            self._take_back()
            return self._has_come_back()
        except Exception:  # whatever the test left: the next one gets another window
            LOG.exception("cannot be reset")
            return False
        finally:
            program.window.setUpdatesEnabled(True)  # the event loop paints it once

    def _has_come_back(self) -> bool:
        """Return True if the window reaches its initial state within some turns."""
        for _ in range(TURNS):
            settle(self.program, RESET_S)
            self.program.window.bar.clear()
            differences = compare(self.state, state_of(self.program))
            if not differences:
                return True
            self._turn()
        for name in differences[:4]:
            LOG.info("differs: %s", name)
        return False

    def _remove_files(self) -> None:
        folder = self.program.places.runs.parent
        for path in set(folder.rglob("*")) - self.files:
            if path.is_file() and path.name not in KEPT_BY_THE_PROGRAM:
                path.unlink()

    def _put_values_back(self) -> None:
        """Restore the controllers' plain values, such as the last choices."""
        program = self.program
        for (owner, name), value in self.values.items():
            setattr(getattr(program, owner), name, copy(value))
        program.window.set_recent(program.settings.values.recent)
        program.export.figure_process.stop()
        program.readout.show_message(program.readout._message)

    def _forget_study_and_story(self) -> None:
        """Stop the story, and show the first study's result in place of a test's."""
        program = self.program
        program.stories.player.stop()
        program.stories.player._moments = ()
        program.stories._show_offer()
        program.result.worker.cancel()
        if any(program.result._drawn) and self.study is not None:
            program.result.show_study(self.study)

    def _turn(self) -> None:
        """Let the event loop do the layouts; hidden widgets no longer limit the window's size."""
        QTest.qWait(20)
        self.program.window.resize(*SIZE)

    def _take_back(self) -> None:
        """Undo what a test did, by the program's own means."""
        program, window = self.program, self.program.window
        while (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
        for top in window.findChildren(QWidget):
            if top.isWindow() and top.isVisible() and not isinstance(top, QMenu):
                top.close()
        program.tour.stop()
        program.help.leave_welcome()
        program.training.drop_queue()
        if (runner := program.studies.runner) is not None:
            program.studies.close()
            runner.deleteLater()
        window.times.rows.place = (0, False, 0)
        window.theory.delta.setValue(self.delta)
        for owner, name, dialog in _dialogs(program):
            if (owner, name) not in self.dialogs:
                dialog.deleteLater()
                setattr(getattr(program, owner), name, None)
        window.bookmarks.aboutToShow.emit()  # reads the notes beside the run again
        window.bar.clear()
        window.columns.widths.clear()
        self._put_values_back()
        window.resize(*SIZE)
        program.scenes.show(self.scene)
        self._forget_study_and_story()
        window.resize(*SIZE)
        if self.has_lost_its_style():
            program.appearance.apply()
        program.library.librarian.list()
        program.actions["system"].setChecked(self.follows)
        for key, action in program.actions.items():
            if action.shortcut().toString() != DEFAULTS[key]:
                set_keys(action, DEFAULTS[key])
        self._put_values_back()
        for splitter, sizes in self.splitters.items():
            splitter.restoreState(sizes)
        for area in window.findChildren(QAbstractScrollArea):
            area.horizontalScrollBar().setValue(0)
            area.verticalScrollBar().setValue(0)
        program.scenes.clear_history()
        window.activateWindow()
        window.transport.slider.setFocus()


def _values(program: Marginscope) -> Iterator[tuple[str, str, Any]]:
    """Yield what controllers remember of the user's choices: controller, attribute, value."""
    for owner, names in REMEMBERED.items():
        for name in names:
            yield owner, name, getattr(getattr(program, owner), name)


def _dialogs(program: Marginscope) -> Iterator[tuple[str, str, QWidget]]:
    """Yield the windows that controllers keep for reuse: controller, attribute, window."""
    for owner, controller in vars(program).items():
        if type(controller).__module__.startswith(FEATURES):
            for name, value in vars(controller).items():
                if not isinstance(value, QWidget) or not isValid(value):
                    continue
                if value.isWindow() and value is not program.window:
                    yield owner, name, value


def _style() -> str:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    font = application.font()
    return f"{application.styleSheet()} {font.family()} {font.pointSizeF()}"


def compare(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the names whose values differ, with both values."""
    names = sorted(before.keys() | after.keys())
    return [
        f"{name}: {before.get(name)} -> {after.get(name)}"
        for name in names
        if before.get(name) != after.get(name)
    ]
