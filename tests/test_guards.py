"""Each guard fails a test that leaks, by name, and leaves a clean test alone."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]

THREAD = """
import threading, time

def test_leak():
    stop = threading.Event()
    threading.Thread(target=stop.wait, args=(3,), name="forgotten", daemon={daemon}).start()
"""

CHILD = """
import subprocess, sys
processes = []

def test_leak():
    processes.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(4)"]))
"""

WIDGET = """
from PySide6.QtWidgets import QWidget
windows = []

def test_leak(qtbot):
    window = QWidget()
    window.setObjectName("forgotten")
    windows.append(window)
"""

TIMER = """
from PySide6.QtCore import QTimer
timers = []

def test_leak(qapp):
    timer = QTimer()
    timer.setObjectName("forgotten")
    timer.start(1234)
    timers.append(timer)
"""

CLEAN = """
import subprocess, sys, threading, time
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

def test_threads_and_processes_that_end():
    threading.Thread(target=time.sleep, args=(0.1,)).start()
    subprocess.run([sys.executable, "-c", "pass"], check=True)

def test_windows_and_timers_that_end(qtbot):
    window = QMainWindow()
    window.menuBar().addMenu("File")
    qtbot.addWidget(window)
    window.show()
    timer = QTimer(window)
    timer.start(10)
    other = QWidget()
    other.deleteLater()

def test_unreachable_cycle(qapp):
    widget = QWidget()
    widget.itself = widget

class Worker(QThread):
    def run(self):
        self.name = threading.current_thread().name

def test_foreign_thread_that_ended(qapp):
    worker = Worker()
    worker.start()
    assert worker.wait(5000)
    assert worker.name.startswith("Dummy")
"""


@pytest.fixture
def outcome(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run a test file under the guards in a process of its own; its result."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(source: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("-p", "tests.guards", "-p", "no:xdist", timeout=60)

    return run


@pytest.mark.parametrize(
    ("daemon", "words"), [(True, "'forgotten', a daemon"), (False, "'forgotten'")]
)
def test_thread_that_is_left_running(outcome, daemon: bool, words: str) -> None:
    result = outcome(THREAD.format(daemon=daemon))
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"*This test left a thread running: {words}; join it*"])


def test_child_process_that_is_left_running(outcome) -> None:
    result = outcome(CHILD)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*This test left a child process: * (*time.sleep(4)*); wait*"])


def test_window_that_is_left_open(outcome) -> None:
    result = outcome(WIDGET)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*This test left a window: QWidget 'forgotten'; give it to*"])


def test_timer_that_is_left_running(outcome) -> None:
    result = outcome(TIMER)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*left a running timer: QTimer 'forgotten', every 1234 ms*"])


def test_what_ends_in_time_is_no_leak(outcome) -> None:
    outcome(CLEAN).assert_outcomes(passed=4)
