"""Studies for training: made from runs or other studies, with proposals and playback frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, final

from app.state.intent import FIRST_CURVES
from app.state.views import VIEWS, choose_views
from core.errors import InputError, did_you_mean
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.problem.schedule import coordinate, further_horizon
from core.settings import MAX_SEED
from core.studies.cell_selection import restrict_study
from core.studies.changes import is_derived_title, origin_of, present_title, retitle
from core.studies.study import Study, load_study, shipped_ids
from core.studies.summaries import shipped_summaries
from core.studies.tables import Cell
from core.study_file.experiment import KINDS, Experiment

if TYPE_CHECKING:
    from app.state.display import DisplayData
    from core.runs import Run


def choose_horizon(run: Run) -> float:
    """Return the end to continue a run to: the planned one, or a decade beyond it once reached."""
    until = run.experiment.dynamics.until_log10_time
    # 1e-12: the last step's time is step times count, and may be short by a rounding.
    reached = not run.frames or until <= run.log10_time[-1] * (1 + 1e-12)
    return float(coordinate(further_horizon(until) if reached else until))


def study_of(run: Run, identifier: str) -> Study:
    """Return the settings of a recorded run as a study of one cell."""
    from core.runs.settings import optimizer_text, unknown_settings

    unknown = unknown_settings(run)
    tables: dict[str, Any] = run.experiment.model_dump(mode="python", exclude_none=True)
    for key in unknown:
        section, name = key.split(".")
        tables[section].pop(name, None)
    window = next((one.window for one in _shipped_origins(run)), {})
    study = Study(identifier, run.title, run.source, tables, axes={}, sizes={}, window=window)
    return replace(study, unknown=unknown, optimizer=optimizer_text(run))


def _shipped_origins(run: Run) -> Iterator[Study]:
    """Return shipped studies with a run's title, from which it probably comes."""
    return (
        load_study(one.id) for one in shipped_summaries() if is_derived_title(run.title, one.title)
    )


def shipped_study_of(study: Study) -> Study:
    """Return the shipped study whose settings a recorded run has; other studies as they are."""
    if study.folder is not None or study.id in shipped_ids():
        return study
    title = present_title(study.title)
    ids = (one.id for one in shipped_summaries() if one.title == title)
    return next(map(load_study, ids), study)


def with_next_seed(study: Study) -> Study:
    """Return the study with its next seed: other data, other weights. Raises InputError."""
    for key in ("data.seed", "network.seed"):
        if _has(study, key):
            # A separate seed would fix the data or the weights.
            study = study.with_value(key, None)
    return _with_seed(study, "run.seed", _seed_of(study, "run.seed", 0) + 1)


def with_next_weights(study: Study) -> Study:
    """Return the study with the same data and other initial weights. Raises InputError."""
    before = _seed_of(study, "network.seed", _seed_of(study, "run.seed", 0))
    return _with_seed(study, "network.seed", before + 1)


def _with_seed(study: Study, key: str, seed: int) -> Study:
    study = study.with_value(key, seed % MAX_SEED)  # the largest seed is followed by 0
    study.check()
    return retitle(study, origin_of(study))


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


def is_trained(study: Study, runs: Sequence[Experiment]) -> bool:
    """Return True if some runs are all of a study; False without any."""
    unmatched = list(runs)
    for cell in islice(study.iter_cells(), MAX_EXAMINED):
        pair = (cell.experiment, with_playback_frames(cell.experiment))
        unmatched = [one for one in unmatched if one not in pair]
        if not unmatched:
            return bool(runs)
    return False


@final
@dataclass(frozen=True, slots=True)
class Proposals:
    """Options proposed by a study, used where the user has chosen nothing."""

    views: tuple[str, ...] = ()
    plane: str = ""
    curves: tuple[str, ...] = FIRST_CURVES
    points: str = "weights"

    @classmethod
    def from_study(cls, study: Study) -> Proposals:
        first = study.opens_with
        return cls(first.views, first.plane, first.curves or FIRST_CURVES, first.points)

    def for_runs(self, runs: Sequence[DisplayData]) -> dict[str, Any]:
        """Return the proposing fields of `Intent`, as far as the runs can show them."""
        return {
            "proposed": choose_views(self.views, runs),
            "proposed_plane": suited_plane(self.plane, [data.run for data in runs]),
            "proposed_curves": self.curves,
            "proposed_points": self.points,
        }

    def problem(self, identifier: str) -> str:
        """Return a sentence about the first name in a study that is no view, "" for none."""
        unknown = next((name for name in self.views if name not in VIEWS), "")
        if not unknown:
            return ""
        hint = did_you_mean(unknown, VIEWS)
        return f"{identifier}: window.views contains the unknown view {unknown}; {hint}"


def suited_plane(wished: str, runs: Sequence[Run]) -> NodePlane:
    """Return the plane that the study or all runs' data propose, if all runs have it."""
    kinds = {wished or run.experiment.data.plane for run in runs}
    if len(kinds) != 1 or kinds == {COORDINATES.kind}:
        return COORDINATES
    (kind,) = kinds
    if kind == "motion":  # every run has a motion once it has moved
        return NodePlane(kind, ())
    try:
        for run in runs:
            PLANES[kind].load()(run, ())
    except InputError:
        return COORDINATES
    return NodePlane(kind, ())


NO_NETWORK = (
    "This network was trained by another program, and Marginscope cannot train it. Choose a "
    "network in Settings."
)
NO_DYNAMICS = (
    "This run was trained by another program with unknown dynamics. Choose the dynamics in "
    "Settings."
)
FIX_FIRST = "Fix the highlighted settings first."
QUEUED = "{title} is next: training starts once the current runs finish."
OF_MANY = "Showing {some} of {count} runs. Choose other runs, or run the whole study."
NOTHING_DRAWN = (
    "The data and initial weights of this run come from a recording, so a new seed does not "
    "change them. Choose another initialisation in Settings first."
)


def why_not_trained(experiment: Experiment) -> str:
    """Return why another program's experiment cannot be trained here, "" if it can."""
    # As a list, since kinds that only run files name can be looked up but are not listed.
    if experiment.network.kind not in list(KINDS["network"]):
        return NO_NETWORK
    return "" if experiment.dynamics.kind in list(KINDS["dynamics"]) else NO_DYNAMICS


def is_from_recording(study: Study) -> bool:
    """Return True if data and start come from a recording, and cannot be drawn again."""
    data, network = study.tables.get("data", {}), study.tables.get("network", {})
    content = data.get("content") and not data.get("path")
    return bool(content) and network.get("init") == "file" and not network.get("init_path")


# Least number of frames of a run in the window, and the most memory that they may take.
WATCHED_FRAMES, WATCHED_BYTES = 200, 100_000_000
MAX_EXAMINED = 60  # runs of a study examined at most
UNKNOWN_D = 1000  # inputs assumed for data that are not read yet


def with_playback_frames(experiment: Experiment) -> Experiment:
    """Return an experiment that records enough frames to play it.

    Studies of many cells record few. Large runs record fewer, to limit the bytes.
    """
    recording = experiment.recording
    d, m = getattr(experiment.data, "d", None), experiment.network.m
    each = 8 * (d or UNKNOWN_D) * (m or 1)
    frames = max(recording.frames, min(WATCHED_FRAMES, WATCHED_BYTES // each))
    changed = recording.model_copy(update={"frames": frames})
    return experiment.model_copy(update={"recording": changed})


def study_of_cells(study: Study, cells: Sequence[Cell]) -> Study:
    """Return the study of certain cells only, with enough frames to play them."""
    study = restrict_study(study, cells)
    first = cells[0].experiment
    frames = with_playback_frames(first).recording.frames
    plain = frames == first.recording.frames or "recording.frames" in study.axes
    return study if plain else study.with_value("recording.frames", frames)
