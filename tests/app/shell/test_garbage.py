"""Cyclic garbage: collected by the window's thread, whoever has made it, and by no other thread."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.qt_workarounds import GarbageCollector


class Cycle(QObject):
    """An object of Qt that only the collector destroys."""

    def __init__(self) -> None:
        super().__init__()
        self.own = self
        self.child = QObject(self)


@pytest.fixture
def threads() -> Iterator[list[int]]:
    """Yield the threads of the collections so far."""
    found: list[int] = []

    def note(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            found.append(threading.get_ident())

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def litter(count: int) -> None:
    for _ in range(count):
        one: list[object] = []
        one.append(one)


@pytest.mark.usefixtures("program")
def test_a_thread_that_allocates_collects_nothing(qtbot: QtBot, threads: list[int]) -> None:
    gone = [weakref.ref(Cycle()) for _ in range(5)]
    before = len(threads)
    worker = threading.Thread(target=litter, args=(200_000,))
    worker.start()
    worker.join()
    assert len(threads) == before
    qtbot.waitUntil(lambda: len(threads) > before)
    assert set(threads[before:]) == {threading.get_ident()}
    assert gc.get_count()[0] < 200_000
    assert not any(one() for one in gone)


@pytest.mark.parametrize("grown", [True, False])
def test_old_garbage_is_collected_once_memory_has_grown(grown: bool) -> None:
    cycle, collector = Cycle(), GarbageCollector()
    gone, kept = weakref.ref(cycle), []
    gc.collect(0)
    gc.collect(1)  # the cycle is old now
    del cycle
    for _ in range((gc.get_threshold()[1] + 1) * (gc.get_threshold()[2] + 1) + 1):
        litter(1000)
        if grown:
            kept.append([str(number) for number in range(2000)])
        collector.collect_due()
    assert (gone() is None) == grown
    gc.collect()


def test_nothing_is_collected_before_it_is_due(threads: list[int]) -> None:
    collector = GarbageCollector()
    collector.collect_due()
    before = len(threads)
    collector.collect_due()
    assert len(threads) == before


def test_the_collector_of_python_is_as_it_was_in_the_end(qtbot: QtBot) -> None:
    owner = QObject()
    before = gc.isenabled()
    try:
        for wanted in (True, False):
            (gc.enable if wanted else gc.disable)()
            collector = GarbageCollector(owner)
            collector.start()
            assert not gc.isenabled()
            collector.stop()
            assert gc.isenabled() == wanted
    finally:
        (gc.enable if before else gc.disable)()
        owner.deleteLater()
