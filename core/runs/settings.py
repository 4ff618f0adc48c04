"""Known settings of a run, and the test that its recorder is gone."""

from __future__ import annotations

from typing import Any

from core.numbers import time_text
from core.run_files.active_recorders import has_recorder
from core.runs.base import Run
from core.settings import NOT_RECORDED

# Sections that a loop describes; data, network and frames follow from the recording.
STATED_SECTIONS = ("loss", "dynamics", "run")
Tables = dict[str, dict[str, Any]]


def unknown_settings(run: Run) -> frozenset[str]:
    """Return the dotted keys of settings that a recorded loop did not give.

    The experiment has their defaults, since every section needs values; they are not the loop's.
    """
    if not run.is_external:
        return frozenset()
    sections = {name: getattr(run.experiment, name) for name in STATED_SECTIONS}
    return frozenset(
        f"{section}.{name}"
        for section, values in sections.items()
        for name in type(values).model_fields.keys() - values.model_fields_set
    )


def known_settings(run: Run) -> Tables:
    """Return the sections of a run's experiment, and `optimizer` as a recorded loop gave it.

    Unknown settings are `NOT_RECORDED`.
    """
    tables: Tables = run.experiment.model_dump(mode="json")
    for key in sorted(unknown_settings(run)):
        section, name = key.split(".")
        if name in tables[section]:
            tables[section][name] = NOT_RECORDED
    return tables | ({"optimizer": run.optimizer} if run.optimizer else {})


def optimizer_text(run: Run) -> str:
    """Return the settings of a recorded loop's optimizer in one line; empty if unknown.

    Its words are texts from a file, and no markup.
    """
    settings = dict(run.optimizer)
    kind = str(settings.pop("kind", "optimizer" if settings else ""))
    parts = [
        f"{name.replace('_', ' ')} {_text(value)}" for name, value in settings.items() if value
    ]
    return ", ".join((kind, *parts))


def _text(value: Any) -> str:
    """Return a setting as text: lists in parentheses, yes, no and none."""
    if isinstance(value, list):
        return f"({', '.join(map(_text, value))})"
    if isinstance(value, bool | None):
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def was_left(run: Run) -> bool:
    """Return True if a run is unfinished and the process that recorded it is gone.

    May refresh the run. False if the process is not known to be gone.
    """
    if not run.is_recording or has_recorder(run.path) is not False:
        return False
    run.refresh()  # a recorder finishes its file before it closes it
    return run.is_recording


def left_words(run: Run) -> str:
    """Return a sentence that the recording stopped, and how far its frames reach."""
    words = "the recording was interrupted (its process is gone)"
    if run.frames == 0:
        return f"{words}; it has no frames"
    end = time_text(float(run.log10_time[run.frames - 1]), run.counts_steps)
    return f"{words}; frames up to {end} are safe"
