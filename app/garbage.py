"""Cyclic garbage is collected by the window's own thread, and by no other.

Left to itself Python collects wherever a thread happens to allocate. Objects of Qt that are part of
a cycle are then destroyed in a thread that trains: Qt holds a lock of its connections there and
waits for the interpreter, while the window's thread has the interpreter and waits for that lock,
and neither ever goes on.
"""

from __future__ import annotations

import gc
from typing import final

from PySide6.QtCore import QObject, QTimer

EACH_MS = 100
GROWN = 1.25  # of the old objects, from which all are looked through: as Python does by itself


@final
class Garbage:
    """Collects when Python would have, where `look` is called.

    Python looks whenever 700 objects are new. Here thousands may be, at a look: it is objects that
    are counted, and not looks, or a figure that was drawn between two of them (65,000 objects in
    cycles) would be one of a hundred that are waited for.
    """

    def __init__(self) -> None:
        self._old = len(gc.get_objects(generation=2))
        self._young = self._all = 0  # objects since the last collection of more than the newest

    def look(self) -> None:
        """Collect what is due: the new objects; those that have outlived one such collection, each
        7,000; or all, each 70,000, once a quarter as many have become old as there were."""
        new = gc.get_count()[0]
        first, second, third = gc.get_threshold()
        if new <= first:
            return
        self._young += new
        self._all += new
        if self._young <= first * second:
            gc.collect(0)
        elif self._all <= first * second * third or not self._grown():
            gc.collect(1)
            self._young = 0
        else:
            gc.collect()
            self._young = self._all = 0
            self._old = len(gc.get_objects(generation=2))

    def _grown(self) -> bool:
        """Whether there are a quarter more old objects than there were at the least."""
        now = len(gc.get_objects(generation=2)) + self._young
        self._old = min(self._old, now)  # those that were frozen are old no more
        return now > GROWN * self._old


@final
class Collector(QObject):
    """Looks ten times a second, in the thread of its owner, between `begin` and `end`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._garbage = Garbage()
        self._by_itself = False
        self._timer = QTimer(self, interval=EACH_MS)
        self._timer.setObjectName("garbage")
        self._timer.timeout.connect(self._look)

    def begin(self) -> None:
        """From here on Python collects nothing by itself."""
        self._by_itself = gc.isenabled()
        gc.disable()
        self._timer.start()

    def end(self) -> None:
        """Everything is as it was."""
        self._timer.stop()
        if self._by_itself:
            gc.enable()

    def _look(self) -> None:
        gc.disable()  # who compiles kernels turns it off and on again (core.compiled.hurry)
        self._garbage.look()
