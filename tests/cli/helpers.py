"""What tests of several commands share."""

from __future__ import annotations

import signal

import pytest

from core.problem.problem import Problem
from core.reference.linear import LinearMargin
from core.reference.margin import Bracket
from core.reference.watch import Watch


def interrupt_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the user press Ctrl-C while a linear margin is computed."""

    def interrupted(self: LinearMargin, problem: Problem, watch: Watch) -> Bracket:
        signal.raise_signal(signal.SIGINT)
        watch.look()
        raise AssertionError

    monkeypatch.setattr(LinearMargin, "compute", interrupted)


def interrupted_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the user press Ctrl-C while the programs of fixed patterns are solved."""
    from core.reference.gated import _Search

    def interrupted(self: _Search, tolerance: float) -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    monkeypatch.setattr(_Search, "round", interrupted)
