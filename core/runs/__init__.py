"""Run files: one run, one SQLite file, written while it goes on and safe to open from anyone."""

from core.runs.base import Run
from core.runs.code import code_of
from core.runs.new_file import estimated_bytes
from core.runs.recorder import Recorder, RecorderAt
from core.runs.run import RecordedRun, RunFile, open_run, runs_in

__all__ = [
    "RecordedRun",
    "Recorder",
    "RecorderAt",
    "Run",
    "RunFile",
    "code_of",
    "estimated_bytes",
    "open_run",
    "runs_in",
]
