"""Resources held by a process: memory, threads, timers, widgets, handles, processes."""

from __future__ import annotations

import ctypes
import gc
import re
import sys
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from tests.guards import child_processes

# Where files and pipes are counted; /proc/self/fd itself is one of them while it is looked at.
HANDLES, TASKS = Path("/proc/self/fd"), Path("/proc/self/task")
MOST_GROWTH = 0.05
EXPLAINED = ("memory", "given", "modules", "objects")  # the first is compared by its share
DIGITS = re.compile(r"\d+")


@final
@dataclass(frozen=True, slots=True)
class Holdings:
    """Counts at a moment when nothing is open; memory in bytes.

    `given` (bytes allocated by the C library, 0 if unknown), `modules` (loaded late) and `objects`
    (of Python) are printed to explain the memory.
    """

    memory: int
    given: int
    modules: int
    objects: int
    widgets: int
    timers: int
    threads: int
    handles: int
    children: int


def trim() -> None:
    """Release free memory: deleted objects of Qt, garbage, and the allocator's reserve."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):  # not the GNU library
        return


def resident() -> int:
    """Return the bytes of the process's own memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise AssertionError


class _Given(ctypes.Structure):
    """mallinfo2(3) of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def given_out() -> int:
    """Return the bytes that malloc(3) has allocated and not freed."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return 0
    ask.restype = _Given
    found = ask()
    return int(found.uordblks + found.hblkhd)


def held() -> Holdings:
    """Return what is held now; call `trim` before."""
    widgets = QApplication.allWidgets()
    active = [timer for timer in timers() if timer.isActive()]
    return Holdings(
        resident(),
        given_out(),
        len(sys.modules),
        len(gc.get_objects()),
        len(widgets),
        len(active),
        len(list(TASKS.iterdir())),
        len(list(HANDLES.iterdir())),
        len(child_processes()),
    )


def timers() -> list[QTimer]:
    """Return all timers with owners in Python or in windows."""
    application = QApplication.instance()
    assert application is not None
    roots: list[Any] = [application, *QApplication.topLevelWidgets()]
    return [timer for root in roots for timer in root.findChildren(QTimer)]


def kinds() -> Counter[str]:
    """Count each kind of widget, thread and file, to find a leak."""
    found = Counter(_place(widget) for widget in QApplication.allWidgets())
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    for task in TASKS.iterdir():
        with suppress(OSError):  # it has just ended
            name = names.get(int(task.name)) or (task / "comm").read_text().strip()
            found[f"thread {name}"] += 1
    for handle in HANDLES.iterdir():
        with suppress(OSError):
            found[f"file {DIGITS.sub('#', handle.readlink().name)}"] += 1
    return found


def _place(widget: QWidget) -> str:
    """Return a widget's class and its surroundings."""
    parent = widget.parentWidget()
    above = parent.parentWidget() if parent is not None else None
    places = [type(one).__name__ for one in (above, parent, widget) if one is not None]
    return " > ".join(places)


def grown(before: list[Holdings], after: list[Holdings]) -> list[str]:
    """Return what has grown: memory by over 5 % in the mean, other counts by at least one.

    >>> one = Holdings(100, 60, 9, 5, 1, 1, 1, 1, 0)
    >>> grown([one], [Holdings(106, 60, 9, 5, 1, 1, 2, 1, 0)])
    ['memory grew by 6.0 %', 'threads: 2 where there were 1']
    >>> grown([one], [Holdings(104, 60, 9, 9, 1, 0, 1, 1, 0)])
    []
    """
    memory = [sum(one.memory for one in some) / len(some) for some in (before, after)]
    share = memory[1] / memory[0] - 1.0
    wrong = [f"memory grew by {100 * share:.1f} %"] if share > MOST_GROWTH else []
    for field in fields(Holdings):
        if field.name in EXPLAINED:
            continue
        # The least of the last ones: what some of them are without is no leak.
        most = max(getattr(one, field.name) for one in before)
        least = min(getattr(one, field.name) for one in after)
        if least > most:
            wrong.append(f"{field.name}: {least} where there were {most}")
    return wrong
