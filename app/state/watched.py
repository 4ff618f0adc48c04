"""What is trained where somebody looks on: with frames enough to be played."""

from __future__ import annotations

from collections.abc import Sequence

from core.studies.study import Study
from core.studies.tables import Cell
from core.studies.watching import restricted
from core.study_file.experiment import Experiment

# What is recorded at least of a run that is watched, as long as that takes no more room than this.
WATCHED_FRAMES, WATCHED_BYTES = 200, 100_000_000
UNKNOWN_D = 1000  # inputs of data that are not read yet


def watched(experiment: Experiment) -> Experiment:
    """The experiment as it is recorded where somebody looks on: with frames enough to play.

    Studies of many cells record few. A frame is left out where all of them would take very much.
    """
    recording = experiment.recording
    d, m = getattr(experiment.data, "d", None), experiment.network.m
    each = 8 * (d or UNKNOWN_D) * (m or 1)
    frames = max(recording.frames, min(WATCHED_FRAMES, WATCHED_BYTES // each))
    changed = recording.model_copy(update={"frames": frames})
    return experiment.model_copy(update={"recording": changed})


def as_trained(study: Study, cells: Sequence[Cell]) -> Study:
    """The study of what is trained: of these cells alone, with the frames that they are given."""
    study = restricted(study, cells)
    first = cells[0].experiment
    given = watched(first).recording.frames
    plain = given == first.recording.frames or "recording.frames" in study.axes
    return study if plain else study.with_value("recording.frames", given)
