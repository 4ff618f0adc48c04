"""The worker that answers requests in a thread: order, what is dropped, what is told, the end."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
import threadpoolctl
from pytestqt.qtbot import QtBot

from app.worker import NO_MEMORY, OUR_ERROR, Request, Worker
from core.errors import InputError


class Doubler:
    """Answers twice what it is asked, when it may; and says what it began with."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.began: list[int] = []

    def __call__(self, request: Request, value: int) -> int:
        self.began.append(value)
        request.progress(value)
        while not (self.go.wait(0.005) or request.is_cancelled()):
            pass
        return 2 * value


@pytest.fixture
def doubler() -> Doubler:
    return Doubler()


@pytest.fixture
def worker(qtbot: QtBot, doubler: Doubler) -> Iterator[Worker]:
    made = Worker("doubler", doubler)
    yield made
    assert made.close()


@pytest.fixture
def results(worker: Worker) -> list[int]:
    told: list[int] = []
    worker.result.connect(told.append)
    return told


def test_of_a_key_the_latest_request_counts(
    worker: Worker, doubler: Doubler, results: list[int], qtbot: QtBot
) -> None:
    worker.request(1)
    qtbot.waitUntil(lambda: doubler.began == [1])
    for value in (2, 3):
        worker.request(value)
    worker.request(10, key="other")
    doubler.go.set()
    qtbot.waitUntil(lambda: not worker.busy)
    assert results == [6, 20]
    assert doubler.began == [1, 3, 10]


def test_a_request_that_replaces_one_comes_after_those_that_wait(
    worker: Worker, doubler: Doubler, qtbot: QtBot
) -> None:
    """Who keeps something and then lists it must not get the list from before."""
    worker.request(1)
    qtbot.waitUntil(lambda: doubler.began == [1])
    worker.request(2, key="list")
    worker.request(3, key="kept")
    worker.request(4, key="list")
    doubler.go.set()
    qtbot.waitUntil(lambda: not worker.busy)
    assert doubler.began == [1, 3, 4]


def test_what_is_cancelled_ends_soon_and_is_not_told(
    worker: Worker, doubler: Doubler, results: list[int], qtbot: QtBot
) -> None:
    worker.request(1)
    worker.request(2, key="kept")
    qtbot.waitUntil(lambda: doubler.began == [1])
    worker.cancel(except_keys=("kept",))
    qtbot.waitUntil(lambda: doubler.began == [1, 2])
    doubler.go.set()
    qtbot.waitUntil(lambda: not worker.busy)
    assert results == [4]


def test_progress_comes_before_the_result_in_the_windows_thread(
    worker: Worker, doubler: Doubler, qtbot: QtBot
) -> None:
    told: list[tuple[str, object, threading.Thread]] = []
    worker.progress.connect(lambda it: told.append(("progress", it, threading.current_thread())))
    worker.result.connect(lambda it: told.append(("result", it, threading.current_thread())))
    doubler.go.set()
    worker.request(4)
    qtbot.waitUntil(lambda: len(told) == 2)
    here = threading.current_thread()
    assert told == [("progress", 4, here), ("result", 8, here)]


def test_closing_says_nothing_more_and_leaves_no_thread(
    worker: Worker, doubler: Doubler, results: list[int], qtbot: QtBot
) -> None:
    worker.request(1)
    qtbot.waitUntil(lambda: doubler.began == [1])
    assert worker.close()
    qtbot.wait(20)
    assert results == [] and not worker.busy
    assert "doubler" not in [thread.name for thread in threading.enumerate()]
    worker.request(2)
    assert not worker.busy


def test_a_thread_that_does_not_end_in_time_is_said_so(qtbot: QtBot) -> None:
    begun, go = threading.Event(), threading.Event()

    def deaf(request: Request) -> None:
        begun.set()
        go.wait()

    worker = Worker("deaf", deaf)
    worker.request()
    assert begun.wait(3.0)
    assert not worker.close(patience=0.01)
    go.set()
    assert worker.close()


@pytest.mark.parametrize(
    ("raised", "sentence"),
    [
        (InputError("it is odd", remedy="mend it", typed="use --x"), "it is odd; mend it."),
        (MemoryError(), NO_MEMORY),
        (ZeroDivisionError(), OUR_ERROR),
    ],
)
def test_errors_are_sentences_and_the_next_request_is_answered(
    qtbot: QtBot, raised: Exception, sentence: str
) -> None:
    def answer(request: Request, fails: bool) -> str:
        if fails:
            raise raised
        return "fine"

    worker = Worker("failing", answer)
    with qtbot.waitSignal(worker.error) as signal:
        worker.request(True)
    assert signal.args == [sentence]
    with qtbot.waitSignal(worker.result) as signal:
        worker.request(False)
    assert signal.args == ["fine"]
    worker.close()


def test_on_one_core_only_the_answer_is_limited(qtbot: QtBot) -> None:
    def limits() -> list[int]:
        found = threadpoolctl.threadpool_info()
        return [item["num_threads"] for item in found if item["user_api"] == "blas"]

    def answer(request: Request) -> list[int]:
        return limits()

    before = limits()
    worker = Worker("one core", answer, one_core=True)
    with qtbot.waitSignal(worker.result) as signal:
        worker.request()
    assert set(signal.args[0]) <= {1}
    assert limits() == before
    worker.close()


class Picture:
    """An answer that takes memory."""


def test_a_worker_that_sleeps_keeps_no_answer(qtbot: QtBot) -> None:
    """It may be a copied picture of 30 MB, and the next request hours away."""
    asked, given = weakref.WeakSet[Picture](), weakref.WeakSet[Picture]()

    def answer(request: Request, asked_with: Picture) -> Picture:
        made = Picture()
        given.add(made)
        return made

    def told(_: object) -> None:
        heard.append(True)

    heard: list[bool] = []
    worker = Worker("painter", answer)
    worker.result.connect(told)
    first = Picture()
    asked.add(first)
    worker.request(first)
    del first
    qtbot.waitUntil(lambda: heard == [True])

    def gone() -> bool:
        gc.collect()
        return not asked and not given

    qtbot.waitUntil(gone)  # the thread may be on its way to sleep yet
    assert worker.close()
