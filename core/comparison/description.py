"""Facts that name a recorded run."""

from __future__ import annotations

from typing import Any

from core.comparison.names import RunDescription
from core.comparison.own_name import own_name_of
from core.runs import Run
from core.runs.settings import known_settings
from core.studies.tables import flatten_sections
from core.study_file.dynamics import RecordedLoop


def describe(run: Run) -> RunDescription:
    """Return the facts that name a recorded run."""
    lineage = run.lineage
    return RunDescription(
        _settings(run),
        run.title,
        run.path.stem,
        branch=lineage.heading if lineage is not None and lineage.changes else "",
        continued=lineage.moment if lineage is not None and not lineage.changes else "",
        own_name=own_name_of(run.path),
    )


def _settings(run: Run) -> dict[str, Any]:
    """Return known settings by dotted key, without duplicates of the dynamics in `optimizer`.

    Options that an optimizer does not use (False) are left out too.
    """
    spelled_out = {f"optimizer.{name}" for name in ("lr", "betas", "eps")}
    if isinstance(run.experiment.dynamics, RecordedLoop):
        spelled_out = set()
    every = flatten_sections(known_settings(run))
    return {
        key: value
        for key, value in every.items()
        if key not in spelled_out and not (key.startswith("optimizer.") and value is False)
    }
