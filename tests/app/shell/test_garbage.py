"""Cyclic garbage: collected by the window's thread, whoever has made it, and by no other thread."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.garbage import Collector, Garbage


class Cycle(QObject):
    """An object of Qt that only the collector destroys."""

    def __init__(self) -> None:
        super().__init__()
        self.own = self
        self.child = QObject(self)
        self.parts: list[object] = []


@pytest.fixture
def threads() -> Iterator[list[int]]:
    """Of each collection, the thread that has done it."""
    found: list[int] = []

    def note(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            found.append(threading.get_ident())

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


@pytest.fixture
def frozen() -> Iterator[Garbage]:
    """What looks for it once everything is loaded, as in the window: the million objects of all
    other tests are not looked through."""
    loaded = [[] for _ in range(1_000_000)]
    garbage = Garbage()
    garbage.freeze()
    yield garbage
    gc.unfreeze()
    assert len(loaded) == 1_000_000
    del loaded
    gc.collect()
    gc.freeze()  # as it was, in tests.conftest


def litter(count: int) -> None:
    """Cycles, as exceptions and closures leave them."""
    for _ in range(count):
        one: list[object] = []
        one.append(one)


def test_a_thread_that_allocates_collects_nothing(
    program: Marginscope, qtbot: QtBot, threads: list[int]
) -> None:
    gone = [weakref.ref(Cycle()) for _ in range(5)]
    gc.enable()  # as the recording of a CUDA graph leaves it, for a tenth of a second at most
    qtbot.waitUntil(lambda: not gc.isenabled())
    before = len(threads)
    worker = threading.Thread(target=litter, args=(200_000,))
    worker.start()
    worker.join()
    assert len(threads) == before
    qtbot.waitUntil(lambda: len(threads) > before)
    assert set(threads[before:]) == {threading.get_ident()}
    assert gc.get_count()[0] < 200_000

    def destroyed() -> bool:
        litter(1000)  # what makes old objects old
        return not any(one() for one in gone)

    qtbot.waitUntil(destroyed)


def test_all_is_looked_through_once_a_quarter_is_new() -> None:
    loaded = [[] for _ in range(1_000_000)]
    cycle = Cycle()
    gone = weakref.ref(cycle)
    gc.collect()  # it is old now, and nothing else is due
    garbage, kept = Garbage(), []
    del cycle
    assert gone() is not None
    for _ in range(5000):
        kept.append([[] for _ in range(1000)])
        garbage.look()
        if gone() is None:
            break
    assert gone() is None
    assert len(kept) > 100  # not at once: there is much to look through
    assert len(loaded) == 1_000_000


def test_large_things_do_not_pile_up(frozen: Garbage) -> None:
    """As figures would: 65,000 objects in cycles each, and few looks while one is drawn."""
    seen, most = [], 0
    for _ in range(8):
        figure = Cycle()
        seen.append(weakref.ref(figure))
        for _ in range(6):
            figure.parts.append([[figure] for _ in range(11_000)])
            frozen.look()
        most = max(most, sum(one() is not None for one in seen))
        del figure
    assert most <= 2


def test_garbage_is_not_frozen() -> None:
    cycle = Cycle()
    gone = weakref.ref(cycle)
    del cycle
    Garbage().freeze()
    assert gone() is None


def test_what_was_frozen_does_not_put_off_the_next_look(frozen: Garbage) -> None:
    """Else nothing old would go before there is more of it than all that the window has loaded."""
    cycle, kept = Cycle(), []
    gone = weakref.ref(cycle)
    gc.collect(0)
    gc.collect(1)
    del cycle
    while gone() is not None and len(kept) < 500:
        kept.append([[] for _ in range(1000)])
        frozen.look()
    assert len(kept) < 100


def test_it_is_as_it_was_in_the_end(qtbot: QtBot) -> None:
    owner = QObject()
    before = gc.isenabled()
    try:
        for wanted in (True, False):
            (gc.enable if wanted else gc.disable)()
            collector = Collector(owner)
            collector.begin()
            assert not gc.isenabled()
            collector.end()
            assert gc.isenabled() == wanted
    finally:
        (gc.enable if before else gc.disable)()
        owner.deleteLater()
