"""Run files: one run, one SQLite file, written during the run and safe to open from anyone.

`description`, `base`, `run` and `run_history` are runs to be read. `connection`, `restrictions`,
`changing_files`, `run_file`, `arrays`, `meta` and `states` read and check their parts; `recorder`
writes one.
"""

from core.runs.base import Run
from core.runs.recorder import Recorder, estimated_bytes
from core.runs.run import RecordedRun, RunFile, code_of, open_run, open_with_history, runs_in

__all__ = [
    "RecordedRun",
    "Recorder",
    "Run",
    "RunFile",
    "code_of",
    "estimated_bytes",
    "open_run",
    "open_with_history",
    "runs_in",
]
