"""Cyclic garbage is collected by the window's own thread, and by no other.

Left to itself Python collects wherever a thread happens to allocate. Objects of Qt that are part of
a cycle are then destroyed in a thread that trains: Qt holds a lock of its connections there and
waits for the interpreter, while the window's thread has the interpreter and waits for that lock,
and neither ever goes on.
"""

from __future__ import annotations

import gc
import sys
from typing import final

from PySide6.QtCore import QObject, QTimer

EACH_MS = 100
QUARTER = 0.25  # of the old objects: so many are new before all are looked through, as in Python
BLOCKS_AN_OBJECT = 4


@final
class Garbage:
    """Collects when Python would have, where `look` is called.

    Python looks whenever 700 objects are new. Here thousands may be, at a look: it is objects that
    are counted, and not looks, or a figure that was drawn between two of them (65,000 objects in
    cycles) would be one of a hundred that are waited for.

    They are counted by Python's own counter and by its blocks of memory. Asking it for all that it
    has (`gc.get_objects`) would hand out tuples that another thread is filling, which then fails
    there with a SystemError.
    """

    def __init__(self) -> None:
        self._frozen = 0  # blocks
        self._old = self._held()
        # New objects since the last collection of more than those, and since the last of all; how
        # many of the latter have stayed.
        self._young = self._all = self._stayed = 0

    def look(self) -> None:
        """Collect what is due: the new objects; those that have outlived one such collection, each
        7,000; or all, each 70,000, once a quarter as many have stayed as there were old ones."""
        new = gc.get_count()[0]
        first, second, third = gc.get_threshold()
        if new <= first:
            return
        self._young += new
        self._all += new
        self._stayed += new
        if self._young <= first * second:
            self._stayed -= gc.collect(0)
            return
        self._young = 0
        if self._all <= first * second * third or self._stayed <= QUARTER * self._old:
            self._stayed -= gc.collect(1)
            return
        gc.collect()
        self._old, self._all, self._stayed = self._held(), 0, 0

    def freeze(self) -> None:
        """Exclude all live objects from future collections (`gc.freeze`).

        Garbage goes first: what is frozen is never collected. That takes a tenth of a second once.
        """
        gc.collect()
        gc.freeze()
        self._frozen = sys.getallocatedblocks()
        self._old = self._young = self._all = self._stayed = 0

    def _held(self) -> int:
        """How many objects that can be part of a cycle there are, about: one block of four is."""
        return max(0, sys.getallocatedblocks() - self._frozen) // BLOCKS_AN_OBJECT


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

    def freeze(self) -> None:
        """Exclude all live objects from future collections."""
        self._garbage.freeze()

    def _look(self) -> None:
        gc.disable()  # recording a CUDA graph turns it off and on again (core.tensors.repeat)
        self._garbage.look()
