"""The Python code that a run of a custom network carries, read without being run."""

from __future__ import annotations

from pathlib import Path

from core.runs.connection import check_wal, connect
from core.runs.run_file import meta_values


def code_of(path: Path) -> str | None:
    """The code in a run file exactly as it is, None where there is none. Raises RunFileError."""
    connection = connect(path)
    try:
        check_wal(connection)
        experiment = meta_values(connection).get("experiment")
    finally:
        connection.close()
    network = experiment.get("network") if isinstance(experiment, dict) else None
    code = network.get("code") if isinstance(network, dict) else None
    return code if isinstance(code, str) else None
