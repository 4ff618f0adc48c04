"""Studies made from runs and from other studies, and where a run is continued to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.problem.schedule import coordinate, further
from core.settings import MAX_SEED
from core.studies.changes import comes_from, origin_of, retitled
from core.studies.study import Study, load_study, shipped_summaries

if TYPE_CHECKING:
    from core.runs import Run


def goes_on_to(run: Run) -> float:
    """Where a run is continued to: the end that was not reached, or a decade beyond it."""
    until = run.experiment.dynamics.until_log10_time
    # 1e-12: the last step's time is a product of a step and a count, and may be a rounding short.
    reached = not run.frames or until <= run.log10_time[-1] * (1 + 1e-12)
    return float(coordinate(further(until) if reached else until))


def study_of(run: Run, identifier: str) -> Study:
    """The settings of a recorded run as a study of one cell."""
    from core.runs.settings import optimizer_text, unknown_settings

    unknown = unknown_settings(run)
    tables: dict[str, Any] = run.experiment.model_dump(mode="python", exclude_none=True)
    for key in unknown:
        section, name = key.split(".")
        tables[section].pop(name, None)
    window = next((one.window for one in _shipped_like(run)), {})
    study = Study(identifier, run.title, run.source, tables, axes={}, sizes={}, window=window)
    return replace(study, unknown=unknown, optimizer=optimizer_text(run))


def _shipped_like(run: Run) -> Iterator[Study]:
    """Shipped studies of a run's title, of which it is probably a run."""
    return (load_study(one.id) for one in shipped_summaries() if comes_from(run.title, one.title))


def with_next_seed(study: Study) -> Study:
    """Return the study with its next seed: other data, other weights. Raises InputError."""
    for key in ("data.seed", "network.seed"):
        if _has(study, key):
            # A seed of its own would keep the data, or the weights, as they are.
            study = study.with_value(key, None)
    return _seeded(study, "run.seed", _seed_of(study, "run.seed", 0) + 1)


def with_next_weights(study: Study) -> Study:
    """Return the study with the same data and other initial weights. Raises InputError."""
    before = _seed_of(study, "network.seed", _seed_of(study, "run.seed", 0))
    return _seeded(study, "network.seed", before + 1)


def _seeded(study: Study, key: str, seed: int) -> Study:
    study = study.with_value(key, seed % MAX_SEED)  # after the largest seed comes 0
    study.check()
    return retitled(study, origin_of(study))


def _has(study: Study, key: str) -> bool:
    section, name = key.split(".")
    return key in study.axes or study.tables.get(section, {}).get(name) is not None


def _seed_of(study: Study, key: str, otherwise: int) -> int:
    """Return the seed of a study, the largest one if it varies."""
    section, name = key.split(".")
    if key in study.axes:
        return max(int(value) for value in study.axes[key] if value is not None)
    value = study.tables.get(section, {}).get(name)
    return otherwise if value is None else int(value)
