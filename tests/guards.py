"""Guards against leaks: a test must leave no thread, child process, window or timer behind.

`no_leaks` surrounds every test (tests/conftest.py makes it so). It compares what is there before
the test with what is there after it, gives things that are just ending a moment, and otherwise
fails the test with a sentence that names the leftover. Qt is looked at only where PySide6 is
already imported, since importing it would hide that core needs none.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

PATIENCE = 1.0
PROC = Path("/proc")
# Threads and processes that libraries keep for their own later use, by parts of their names.
POOL_THREADS = ("TMonitor", "tqdm", "hypothesis", "ExecutorManagerThread", "QueueFeederThread")
POOL_PROCESSES = ("resource_tracker", "forkserver", "popen_loky")

_started_timers: WeakSet[Any] = WeakSet()


# --------------------------------------------------------------------------- threads, processes


def running_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if _runs(thread)}


def _runs(thread: threading.Thread) -> bool:
    if any(part in f"{type(thread).__name__} {thread.name}" for part in POOL_THREADS):
        return False
    if type(thread).__name__ == "_DummyThread":
        # Python's stand-in for a foreign thread (QThread) outlives it: ask the system instead.
        return (PROC / "self" / "task" / str(thread.native_id)).exists()
    return thread.is_alive()


def child_processes() -> set[int]:
    """Return the ids of this process's living children, without pools of libraries."""
    multiprocessing.active_children()  # reaps those that have ended
    if not PROC.is_dir():
        return {child.pid for child in multiprocessing.active_children() if child.pid}
    return {child for child in _candidates() if _is_living_child(child)}


def _candidates() -> set[int]:
    """Return the processes started by each thread; all processes if the kernel has no lists."""
    folder = PROC / "self" / "task"
    if not (folder / str(os.getpid()) / "children").exists():
        return {int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()}
    children = set()
    for thread in folder.iterdir():
        with suppress(OSError):  # the thread has ended
            children.update(map(int, (thread / "children").read_bytes().split()))
    return children


def _is_living_child(pid: int) -> bool:
    try:
        # "pid (name) state parent ...", where the name may hold spaces and brackets
        state, parent = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return False
    if int(parent) != os.getpid() or state in "ZX":
        return False
    return not any(part in command_of(pid) for part in POOL_PROCESSES)


def command_of(pid: int) -> str:
    """Return a process's command line, or "" once it has ended."""
    try:
        return (PROC / str(pid) / "cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


# --------------------------------------------------------------------------------------- Qt


def top_level_widgets() -> list[Any]:
    """Return the windows without an owner; none if Qt is not loaded."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or not isinstance(widgets.QApplication.instance(), widgets.QApplication):
        return []
    found = widgets.QApplication.topLevelWidgets()
    # Qt keeps its one tool-tip label itself; a window's menus and pop-ups go with the window.
    return [w for w in found if w.parent() is None and type(w).__name__ != "QTipLabel"]


def active_timers() -> list[Any]:
    """Return the running QTimers that Python code has started.

    Forget the others, which are added again when they are started again: all timers of all windows
    so far took 5 ms.
    """
    if not _started_timers:
        return []
    from shiboken6 import isValid

    running = [timer for timer in list(_started_timers) if isValid(timer) and timer.isActive()]
    _started_timers.clear()
    _started_timers.update(running)
    return running


def watch_timers() -> None:
    """Record every QTimer that Python code starts from now on; repeated calls do nothing."""
    core = sys.modules.get("PySide6.QtCore")
    if core is None or hasattr(core.QTimer.start, "watched"):
        return
    original = core.QTimer.start

    def start(self: Any, *arguments: Any, **named: Any) -> Any:
        _started_timers.add(self)
        return original(self, *arguments, **named)

    start.watched = True
    core.QTimer.start = start


def finish_deletions() -> None:
    """Execute pending deleteLater() calls, which otherwise wait for an event loop."""
    core = sys.modules.get("PySide6.QtCore")
    if core is not None and core.QCoreApplication.instance() is not None:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)


def _label(item: Any) -> str:
    name = item.objectName()
    return f"{type(item).__name__} '{name}'" if name else f"{type(item).__name__} without a name"


# -------------------------------------------------------------------------------------- guard


def wait_until_empty(leftovers: Callable[[], list[Any]]) -> list[Any]:
    """Return what is left over after PATIENCE seconds; return at once if nothing is."""
    deadline = time.monotonic() + PATIENCE
    while (left := leftovers()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def leaked_widgets(before: list[Any], shared: bool = False) -> list[Any]:
    """Return the windows that exist now and did not before.

    pyqtgraph gives each plot plain hidden QWidgets without a parent for its menus. The plots that a
    shared window makes at their first use keep them, so those are left out where it is used.
    """
    known = {id(widget) for widget in before}  # `before` keeps them alive, so ids are unique
    new = [widget for widget in top_level_widgets() if id(widget) not in known]
    return [widget for widget in new if not (shared and is_menu_of_a_plot(widget))]


def is_menu_of_a_plot(widget: Any) -> bool:
    """Return True for a window that pyqtgraph may keep for the menus of a plot."""
    return type(widget).__name__ == "QWidget" and not widget.isVisible()


def leaked_timers(before: list[Any], owner: Any = None) -> list[Any]:
    """Return the QTimers started since, without those of an owner's window."""
    known = {id(timer) for timer in before}
    running = [timer for timer in active_timers() if id(timer) not in known]
    return [timer for timer in running if owner is None or not belongs_to(timer, owner)]


def belongs_to(item: Any, owner: Any) -> bool:
    """Return True if a QObject is below a program or its window."""
    while item is not None:
        if item in (owner, owner.window):
            return True
        item = item.parent()
    return False


def _qt_sentences(
    widgets_before: list[Any], timers_before: list[Any], owner: Any = None, shared: bool = False
) -> list[str]:
    finish_deletions()
    if leaked_timers(timers_before, owner) or leaked_widgets(widgets_before, shared):
        gc.collect()  # an unreachable cycle is not a leak
        finish_deletions()
    sentences = []
    for timer in leaked_timers(timers_before, owner):
        timer.stop()
        sentences.append(f"left a running timer: {_label(timer)}, every {timer.interval()} ms")
    for widget in leaked_widgets(widgets_before, shared):
        sentences.append(f"left a window: {_label(widget)}; give it to qtbot.addWidget")
        widget.close()
        widget.deleteLater()
    finish_deletions()
    return sentences


def _thread_sentence(thread: threading.Thread) -> str:
    daemon = ", a daemon" if thread.daemon else ""
    return f"left a thread running: '{thread.name}'{daemon}; join it before the test ends"


def _process_sentence(pid: int) -> str:
    return f"left a child process: {pid} ({command_of(pid) or 'no command'}); wait for it or end it"


def _new_threads(
    before: set[threading.Thread], owned: Callable[[], set[threading.Thread]]
) -> list[threading.Thread]:
    new = running_threads() - before
    return list(new - owned()) if new else []


@contextmanager
def guarded(
    owner: Any = None, owned: Callable[[], set[threading.Thread]] = set, shared: bool = False
) -> Iterator[None]:
    """Fail a test that leaves a thread, a child process, a window or a running timer behind.

    `owner` is a program that several tests share: timers of its window may start and stop, and
    its threads, which `owned` returns, may start. `shared`: this test uses it.
    """
    watch_timers()
    threads, children = running_threads(), child_processes()
    widgets, timers = top_level_widgets(), active_timers()
    yield
    sentences = _qt_sentences(widgets, timers, owner, shared)
    left_threads = wait_until_empty(lambda: _new_threads(threads, owned))
    left_children = wait_until_empty(lambda: list(child_processes() - children))
    sentences += [_thread_sentence(thread) for thread in left_threads]
    sentences += [_process_sentence(pid) for pid in left_children]
    if sentences:
        pytest.fail("\n".join(f"This test {sentence}." for sentence in sentences), pytrace=False)


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    with guarded():
        yield
