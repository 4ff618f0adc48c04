"""The thread that computes for the views: when it begins, what it leaves alone, how it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl
from pytestqt.qtbot import QtBot

from app import one_core
from app.playback.calculator import Calculator
from app.state.background_values import BackgroundValues
from core.observables.registry import OBSERVABLES
from core.runs import Run, open_run
from tests.recording import recorded


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calculator") / "run.msrun"
    recorded(path, "recording.frames=30", "dynamics.until_log10_time=2", "data.n=16", "data.d=6")
    return path


@pytest.fixture
def run(run_file: Path) -> Iterator[Run]:
    with open_run(run_file) as run:
        yield run


OTHERS: set[threading.Thread] = set()


@pytest.fixture
def calculator() -> Iterator[Calculator]:
    OTHERS.clear()
    OTHERS.update(threading.enumerate())  # another window of this process may have one
    calculator = Calculator()
    yield calculator
    calculator.close()


def threads() -> list[threading.Thread]:
    running = set(threading.enumerate()) - OTHERS
    return [thread for thread in running if thread.name == "calculator"]


class Slow:
    """Stands for a run whose numbers take long; says how many threads linear algebra may use."""

    def __init__(self) -> None:
        self.pending = True
        self.limits: list[int] = []
        self.begun, self.ended = threading.Event(), threading.Event()
        self.slices = 0

    def work(self, seconds: float) -> bool:
        """Return a slice of work that never ends by itself."""
        found = threadpoolctl.threadpool_info()
        self.limits += [item["num_threads"] for item in found if item["user_api"] == "blas"]
        self.begun.set()
        self.ended.wait(0.005)
        self.slices += 1
        return True


def test_nothing_to_do_makes_no_thread(calculator: Calculator, run: Run) -> None:
    later = BackgroundValues(run)
    calculator.watch([later])
    calculator.wake()
    assert not threads()
    assert not calculator.busy


def test_what_is_asked_for_is_computed_and_told(
    qtbot: QtBot, calculator: Calculator, run: Run
) -> None:
    later = BackgroundValues(run)
    calculator.watch([later])
    later.request_traces("curves", ("risk", "stable_rank"), run.frames)
    with qtbot.waitSignal(calculator.values_computed):
        calculator.wake()
    qtbot.waitUntil(lambda: not calculator.busy)
    for name in ("risk", "stable_rank"):
        wanted = OBSERVABLES[name].trace(run)
        np.testing.assert_array_equal(later.trace(name, run.frames)[:, 0], wanted)


def test_it_goes_on_after_a_run_that_was_closed(
    qtbot: QtBot, calculator: Calculator, run: Run, run_file: Path
) -> None:
    other = open_run(run_file)
    laters = [BackgroundValues(other), BackgroundValues(run)]
    for later in laters:
        later.request_traces("curves", ("risk",), run.frames)
    other.close()
    calculator.watch(laters)
    qtbot.waitUntil(lambda: not calculator.busy)
    assert np.isnan(laters[0].trace("risk", run.frames)).all()
    assert np.isfinite(laters[1].trace("risk", run.frames)).all()


def test_it_ends_while_there_is_much_to_do_and_takes_one_thread(calculator: Calculator) -> None:
    before = [item["num_threads"] for item in threadpoolctl.threadpool_info()]
    slow = Slow()
    calculator.watch([slow])
    assert slow.begun.wait(5)
    calculator.close()
    done = slow.slices
    slow.ended.wait(0.05)
    assert slow.slices == done  # `close` has waited for a slice, and there is no other
    assert set(slow.limits) <= {1}
    assert [item["num_threads"] for item in threadpoolctl.threadpool_info()] == before
    calculator.watch([slow])
    assert not threads()


def test_blas_libraries_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    controller = threadpoolctl.ThreadpoolController
    looks: list[threadpoolctl.ThreadpoolController] = []

    def look() -> threadpoolctl.ThreadpoolController:
        looks.append(controller())
        return looks[-1]

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", look)
    one_core._find_libraries.cache_clear()
    for _ in range(3):
        with one_core.limit_to_one_core():
            found = controller().info()
            assert {one["num_threads"] for one in found if one["user_api"] == "blas"} == {1}
    assert len(looks) == 1
