"""Marginscope from Python: record a training loop, show runs, and ask what theory promises.

    import marginscope as ms

    with ms.record("mine.msrun", x, y, loss="logistic", V0=V, a0=a) as r:
        for t in range(1, steps + 1):
            step()
            if r.due(t):
                r.frame(t, V=net.fc1.weight, a=net.fc2.weight)

Everything is loaded when it is first asked for, and `record` needs nothing but NumPy. The manual is
docs/python.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from marginscope._version import __version__

if TYPE_CHECKING:
    from core.studies.verdicts import Judged as Claim
    from core.theorems.report import Hypothesis
    from core.theorems.report import Report as Verdict
    from marginscope._engine.boundary import TrainingWarning
    from marginscope._engine.claims import check
    from marginscope._engine.loading import load
    from marginscope._engine.margins import Bracket, Margins, margins
    from marginscope._engine.player import Player
    from marginscope._engine.run import Run, State
    from marginscope._engine.run import open_run as open
    from marginscope._engine.showing import figure, player
    from marginscope._engine.studies import Cell, Study, studies, study
    from marginscope._engine.sweeping import Sweep, SweptCell, sweep
    from marginscope._engine.theorems import theorems
    from marginscope._engine.training import train
    from marginscope._errors import DiskError, InputError, MarginscopeError
    from marginscope._record.api import record
    from marginscope._record.recording import Recording
    from marginscope._record.warning import RecordingWarning
    from marginscope._show.api import show

# Name -> the module that has it, and what it is called there.
_PLACES = {
    "Run": "_engine.run",
    "State": "_engine.run",
    "open": "_engine.run:open_run",
    "TrainingWarning": "_engine.boundary",
    "Claim": "_engine.claims:Judged",
    "check": "_engine.claims",
    "figure": "_engine.showing",
    "Bracket": "_engine.margins",
    "Margins": "_engine.margins",
    "margins": "_engine.margins",
    "Player": "_engine.player",
    "player": "_engine.showing",
    "Cell": "_engine.studies",
    "Study": "_engine.studies",
    "studies": "_engine.studies",
    "study": "_engine.studies",
    "Sweep": "_engine.sweeping",
    "SweptCell": "_engine.sweeping",
    "sweep": "_engine.sweeping",
    "Hypothesis": "_engine.theorems:Hypothesis",
    "Verdict": "_engine.theorems:Report",
    "theorems": "_engine.theorems",
    "train": "_engine.training",
    "MarginscopeError": "_errors",
    "InputError": "_errors",
    "DiskError": "_errors",
    "record": "_record.api",
    "load": "_engine.loading",
    "Recording": "_record.recording",
    "RecordingWarning": "_record.warning",
    "show": "_show.api",
}
__all__ = [
    "Bracket",
    "Cell",
    "Claim",
    "DiskError",
    "Hypothesis",
    "InputError",
    "Margins",
    "MarginscopeError",
    "Player",
    "Recording",
    "RecordingWarning",
    "Run",
    "State",
    "Study",
    "Sweep",
    "SweptCell",
    "TrainingWarning",
    "Verdict",
    "__version__",
    "check",
    "figure",
    "load",
    "margins",
    "open",
    "player",
    "record",
    "show",
    "studies",
    "study",
    "sweep",
    "theorems",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, called = _PLACES[name].partition(":")
    value = getattr(import_module(f"{__name__}.{module}"), called or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
