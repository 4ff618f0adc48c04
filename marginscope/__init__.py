"""Marginscope from Python: record a training loop, show runs, and compute margins and verdicts.

    import marginscope as ms

    with ms.record("mine.msrun", x, y, loss="logistic", V0=V, a0=a) as r:
        for t in range(1, steps + 1):
            step()
            if r.due(t):
                r.frame(t, V=net.fc1.weight, a=net.fc2.weight)

Importing this module loads nothing else; `record` needs nothing but NumPy. The manual is
docs/python.md.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from core.program import package
    from core.program.version import __version__
except ModuleNotFoundError as error:  # never in an installed wheel, which has one name
    if error.name not in ("core", "core.program"):
        raise
    hiding = getattr(sys.modules.get("core"), "__file__", None) or "Another module"
    raise ImportError(
        f"{hiding} hides Marginscope's own package `core`. Install Marginscope's wheel, which adds "
        "only the name `marginscope`; or rename your module."
    ) from error

if TYPE_CHECKING:
    from core.errors import DiskError, InputError, MarginscopeError
    from core.studies.verdicts import JudgedClaim as Claim
    from core.theorems.report import Hypothesis
    from core.theorems.report import Report as Verdict
    from marginscope._engine.boundary import TrainingWarning
    from marginscope._engine.loading import load
    from marginscope._engine.margins import Bracket, Margins, margins, theorems
    from marginscope._engine.player import Player
    from marginscope._engine.run import Run, State
    from marginscope._engine.run import open_run as open
    from marginscope._engine.showing import figure, player
    from marginscope._engine.studies import Cell, Study, studies, study
    from marginscope._engine.sweeping import Sweep, SweptCell, check, sweep
    from marginscope._engine.training import train
    from marginscope._record.api import record
    from marginscope._record.frames import RecordingWarning
    from marginscope._record.recording import Recording
    from marginscope._show import show

# Public name -> its module, and its name there.
_PLACES = {
    "Run": "_engine.run",
    "State": "_engine.run",
    "open": "_engine.run:open_run",
    "TrainingWarning": "_engine.boundary",
    "Claim": "core.studies.verdicts:JudgedClaim",
    "check": "_engine.sweeping",
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
    "Hypothesis": "core.theorems.report:Hypothesis",
    "Verdict": "core.theorems.report:Report",
    "theorems": "_engine.margins",
    "train": "_engine.training",
    "MarginscopeError": "core.errors",
    "InputError": "core.errors",
    "DiskError": "core.errors",
    "record": "_record.api",
    "load": "_engine.loading",
    "Recording": "_record.recording",
    "RecordingWarning": "_record.frames",
    "show": "_show",
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
    place = package(module) if module.startswith("core.") else f"{__name__}.{module}"
    value = getattr(import_module(place), called or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
