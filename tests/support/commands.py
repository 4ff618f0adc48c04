"""Helpers shared by tests of several commands."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import RunFileError
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.linear import LinearMargin
from core.reference.margin import Bracket
from core.runs import open_run

Call = Callable[..., tuple[int, str, str]]  # of the fixture `call` of tests.conftest


def wait_for_frames(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists():
            try:
                with open_run(path) as run:
                    if run.frames >= count:
                        return
            except RunFileError:
                pass  # not yet whole: its tables are being made
        time.sleep(0.02)
    raise AssertionError(f"no {count} frames in {path}")


def interrupt_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate Ctrl-C during the computation of a linear margin."""

    def interrupted(self: LinearMargin, problem: Problem, watch: CancelToken) -> Bracket:
        signal.raise_signal(signal.SIGINT)
        watch.check()
        raise AssertionError

    monkeypatch.setattr(LinearMargin, "compute", interrupted)


def interrupted_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate Ctrl-C while the programs of fixed patterns are solved."""
    from core.reference.gated_limits import _Search

    def interrupted(self: _Search, tolerance: float) -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    monkeypatch.setattr(_Search, "round", interrupted)
