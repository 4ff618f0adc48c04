"""Each guard fails a test that leaks, by name, and leaves a clean test alone."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]

LEAKS_AND_CLEAN = """
import subprocess, sys, threading, time
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget
leaked = []

def start_thread(daemon):
    stop = threading.Event()
    threading.Thread(target=stop.wait, args=(3,), name="forgotten", daemon=daemon).start()

def test_daemon():
    start_thread(daemon=True)

def test_thread():
    start_thread(daemon=False)

def test_child():
    leaked.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(4)"]))

def test_window(qtbot):
    window = QWidget()
    window.setObjectName("forgotten")
    leaked.append(window)

def test_timer(qapp):
    timer = QTimer()
    timer.setObjectName("forgotten")
    timer.start(1234)
    leaked.append(timer)

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
# Test of the file above -> the sentence of its guard; the other four tests leave nothing.
SENTENCES = {
    "daemon": "*This test left a thread running: 'forgotten', a daemon; join it*",
    "thread": "*This test left a thread running: 'forgotten'; join it*",
    "child": "*This test left a child process: * (*time.sleep(4)*); wait*",
    "window": "*This test left a window: QWidget 'forgotten'; give it to*",
    "timer": "*left a running timer: QTimer 'forgotten', every 1234 ms*",
}


def test_guards_fail_tests_that_leak_and_no_others(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """All tests share one process, so a leak must not be blamed on a later test either."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(LEAKS_AND_CLEAN)
    result = pytester.runpytest_subprocess("-p", "tests.guards", "-p", "no:xdist", timeout=60)
    result.assert_outcomes(passed=9, errors=len(SENTENCES))
    for name, sentence in SENTENCES.items():
        with subtests.test(leak=name):
            # The sentence must follow the heading of its own test: nothing else in between.
            lines = result.outlines
            heading = next(k for k, line in enumerate(lines) if f"of test_{name} _" in line)
            section = lines[heading + 1 :]
            stop = next((k for k, line in enumerate(section) if line.startswith("___")), None)
            assert fnmatch.filter(section[:stop], sentence), section[:stop]
