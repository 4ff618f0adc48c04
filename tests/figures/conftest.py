"""What tests of processes that draw have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.compiled import beside
from tests.app.panels.made_up import run_file


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, ...]:
    """Two recorded runs of one study."""
    folder = tmp_path_factory.mktemp("runs")
    return tuple(run_file(folder / f"study__m={m}.msrun", f"network.m={m}") for m in (6, 9))


@pytest.fixture
def answering(monkeypatch) -> Callable[[str], None]:
    """Lets a line of Python stand for the process."""

    def stand(code: str) -> None:
        command = [
            sys.executable,
            "-S",
            "-c",
            f"import json, os, sys; sys.stdin.buffer.readline(); {code}",
        ]
        monkeypatch.setattr(beside, "headless", lambda name: command)

    return stand
