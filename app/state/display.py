"""Data of one run for the screen, as compact arrays that grow with its file.

The numbers come from core.observables, so that the screen and the tables say the same. Nothing here
loads the numerical packages before there is a run: core is imported where it is used.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from app.state.background_values import BackgroundValues
from app.state.frame_reading import ParentHistory, ordered_map
from app.state.headings import description_of
from app.state.node_values import (
    Floats,
    Indices,
    NodeFacts,
    Singles,
    SortedNodes,
    with_finite_first,
)
from core.observables.planes import COORDINATES, NodePlane
from core.problem.schedule import coordinate as schedule_coordinate

if TYPE_CHECKING:
    from core.observables.projection import Projection
    from core.runs import Run

# The margin view draws these over all frames; other scalars are computed at the cursor only.
MARGINS = ("hard_margin", "smoothed_margin", "l1_margin")
SCALARS = (
    "risk",
    "log10_risk",
    *MARGINS,
    "norm_squared",
    "distance",
    "balance_drift",
    "train_error",
)
SORTED_KINDS = ("rotation", "relative_norm")
MOST_SORTED = 160  # cached sorted frames: the moments of both views, and the latest ones shown


@final
class DisplayData:
    """Run for the screen; `frames` of it are read so far, `m` neurons each.

    Positions are kept at the stored scale and multiplied by e^(L rho) on request, because late
    frames of long runs leave the range of single precision.
    """

    def __init__(self, run: Run, plane: NodePlane = COORDINATES) -> None:
        self.run = run
        self.frames = 0
        self.m = int(run.network.m)
        self.plane = plane
        self.directions = False
        # Reason why the plane is unavailable; coordinates are shown instead.
        self.plane_problem = ""
        self._projection: Projection | None = None
        self._projected_at = 0  # number of frames used for the projection
        room = max(run.planned_frames, run.frames, 1)
        # Room for all planned frames. Single precision: a screen resolves fewer than seven digits.
        self._flat: Singles = np.empty((room, self.m, 2), dtype=np.float32)
        self._placed = np.zeros(room, dtype=bool)
        # Largest coordinate of each frame: the neurons' view needs its range at every tick.
        self._reach = np.zeros(room)
        self._node: dict[str, Singles] = {
            kind: np.empty((room, self.m), np.float32) for kind in SORTED_KINDS
        }
        self._signs: NDArray[np.int8] = np.empty((room, self.m), dtype=np.int8)
        self._margins = np.empty((room, len(MARGINS)))
        self._log10_norm = np.empty(room)
        self._sorted: OrderedDict[tuple[str, int], SortedNodes] = OrderedDict()
        self._coordinate = np.empty(0)
        self.background = BackgroundValues(run)
        self.past = ParentHistory(run, MARGINS)
        self.classes = int(run.dataset.classes)
        self._class: NDArray[np.int16] | None = None
        if self.classes > 2:
            self._class = np.empty((room, self.m), dtype=np.int16)

    # -------------------------------------------------------------------------------- reading

    @property
    def planned_frames(self) -> int:
        """Planned number of frames: those on its schedule, or those with which it ended."""
        if self.run.status == "finished" or not math.isfinite(self.run.planned_end):
            return max(self.run.frames, 1)
        return max(self.run.planned_frames, self.run.frames, 1)

    @property
    def complete(self) -> bool:
        """True if the run has ended and all its frames are read."""
        return self.run.status == "finished" and self.frames == self.run.frames

    def update(
        self, seconds: float = 0.008, hands: Executor | None = None, until: int | None = None
    ) -> int:
        """Read new frames for about so many seconds, up to `until`; return `frames`.

        `hands` read several frames of a finished run at a time: file, checksums and products let go
        of the interpreter. Raises RunFileError for a file that is no longer a run.
        """
        deadline = time.perf_counter() + seconds
        # Reopening a growing file takes time (decision 0002): read the known frames first.
        available = self.run.frames
        if self.frames == available:
            available = self.run.refresh()
        if self.frames == available:
            self.past.read(deadline)
            return self.frames
        self._make_room(available)
        available = available if until is None else min(available, max(until, self.frames + 1))
        if hands is not None and self.run.status == "finished":
            _ = self.projection  # before the threads start; a batch would keep the file open
            for index in ordered_map(self._read, self.frames, available, deadline, hands):
                self.frames = index + 1
        else:
            self._read_in_turn(available, deadline)
        # The plane of motion is fitted to all frames, and refitted when a growing run has doubled.
        grown = self.frames >= 2 * self._projected_at or self.complete
        if self.plane.kind == "motion" and grown and self._projected_at < self.run.frames:
            self._discard_projection()
        return self.frames

    def _read_in_turn(self, available: int, deadline: float) -> None:
        with self.run.batch():  # one frame at least: otherwise a slow disk would stop all progress
            while self.frames < available:
                self._read(self.frames)
                self.frames += 1
                if time.perf_counter() >= deadline:
                    break

    def _make_room(self, frames: int) -> None:
        room = self._signs.shape[0]
        if frames <= room:
            return
        # By half at least, since a loop without a known end grows a little at every poll.
        missing = max(frames - room, room // 2)
        for name in ("_flat", "_placed", "_reach", "_signs", "_margins", "_log10_norm"):
            setattr(self, name, _append_zeros(getattr(self, name), missing))
        if self._class is not None:
            self._class = _append_zeros(self._class, missing)
        self._node = {kind: _append_zeros(values, missing) for kind, values in self._node.items()}

    def _read(self, index: int) -> None:
        from core.observables.nodes import outer_classes, outer_signs
        from core.observables.registry import OBSERVABLES

        run = self.run
        for kind, values in self._node.items():
            # Not through `at`, which would cache the same numbers again in the run.
            values[index] = OBSERVABLES[kind].function(run, index)
        self._signs[index] = outer_signs(run, index)
        if self._class is not None:
            self._class[index] = outer_classes(run, index)
        self._margins[index] = [OBSERVABLES[name].value_at(run, index) for name in MARGINS]
        # In logarithms: e^(2 rho) overflows beyond rho = 354.
        length = run.network.norm(run.parameters(index))
        unit = math.log10(length) if length > 0.0 else -math.inf
        self._log10_norm[index] = 2.0 * (unit + float(run.rho[index]) / math.log(10.0))
        self._place(index)

    def _place(self, index: int) -> None:
        projection = self.projection
        points = projection.directions(index) if self.directions else projection.weights(index)
        self._flat[index] = points
        # fmax ignores NaN, the value of neurons without a direction.
        self._reach[index] = np.fmax.reduce(np.abs(points), axis=None, initial=0.0)
        self._placed[index] = True

    def set_plane(self, plane: NodePlane) -> None:
        """Set another plane; positions are read again on demand."""
        if plane != self.plane:
            self.plane = plane
            self._discard_projection()

    def _discard_projection(self) -> None:
        """Discard the projection and the placed frames; both are computed on demand."""
        self._projection = None
        self._placed[:] = False

    @property
    def projection(self) -> Projection:
        """Projection of neurons and data on the plane; on coordinates if the run lacks it."""
        from core.errors import InputError
        from core.observables.projection import Projection

        if self._projection is None:
            self.plane_problem, self._projected_at = "", self.run.frames
            try:
                self._projection = Projection(self.run, self.plane)
            except InputError as error:
                self.plane_problem = error.sentence
                self._projection = Projection(self.run, COORDINATES)
        return self._projection

    @property
    def coordinates(self) -> tuple[int, int]:
        """Two chosen coordinates, from 0, for views without other planes."""
        first, second = (self.plane if self.plane.kind == "coordinates" else COORDINATES).numbers
        return first, second

    def set_directions(self, directions: bool) -> None:
        """Set whether positions are v_j/|v_j| instead of |a_j| v_j; they are read again."""
        if directions != self.directions:
            self.directions = directions
            self._placed[:] = False

    # ------------------------------------------------------------------------------ the run

    @cached_property
    def has_inner(self) -> bool:
        """True if the neurons have inner weight vectors to draw."""
        from core.observables.spectrum import has_inner

        return has_inner(self.run)

    @property
    def has_nodes(self) -> bool:
        """True if the predictor has neurons; the kernel predictor has none."""
        return self.run.network.kind != "kernel_predictor"

    @property
    def description(self) -> str:
        """Network, loss, dynamics, sizes and engine of the run, in words."""
        return description_of(self.run, self.has_nodes)

    @cached_property
    def labels(self) -> Indices:
        """Class of each training example, (n,), numbered as in core.data.dataset."""
        return self.run.dataset.labels

    @property
    def planned_end(self) -> float:
        """log10 t of the planned end; of the last frame if that is unknown."""
        last = float(self.run.log10_time[-1]) if self.run.frames else -math.inf
        until = max(self.run.planned_end, last) if self.run.is_external else self.run.planned_end
        return until if math.isfinite(until) else 0.0

    # ---------------------------------------------------------------------------------- times

    @property
    def log10_time(self) -> Floats:
        """log10 t of each frame, (T,); -inf at t = 0."""
        return self.run.log10_time[: self.frames]

    @property
    def steps(self) -> Indices:
        """Steps taken up to each frame, (T,)."""
        return self.run.steps[: self.frames]

    @property
    def coordinate(self) -> Floats:
        """Increasing finite coordinates of log10 t, (T,) (core.problem.schedule.coordinate)."""
        if self._coordinate.size != self.frames:
            self._coordinate = with_finite_first(schedule_coordinate(self.log10_time))
        return self._coordinate

    def frame_at(self, coordinate: float) -> int:
        """Return the last frame not after this coordinate; the first one for all before it."""
        # The tolerance absorbs the rounding of coordinates converted to times and back.
        after = int(np.searchsorted(self.coordinate, coordinate + 1e-9, side="right"))
        return max(after - 1, 0)

    # ---------------------------------------------------------------------------------- neurons

    def log10_scale(self, frames: Any) -> Any:
        """Return log10 of the factor that makes stored positions physical; 0 for directions."""
        if self.directions:
            return np.zeros_like(self.run.rho[frames])
        return self.run.network.degree * self.run.rho[frames] / math.log(10.0)

    def positions(self, frames: Indices, power: int = 0) -> Singles:
        """Return |a_j| v_j, or v_j/|v_j| after `set_directions`, over 10^power, (frames, m, 2)."""
        self._find(frames)
        # Single precision ends at 3e38; larger values are off the screen in any case.
        exponent = np.clip(self.log10_scale(frames) - power, -37.0, 37.0)
        factor = (10.0**exponent).astype(np.float32)
        return np.asarray(self._flat[frames] * factor[:, None, None])

    def _find(self, frames: Indices) -> None:
        """Read missing positions of some frames."""
        missing = frames[~self._placed[frames]]
        if missing.size:
            with self.run.batch():
                for index in missing.tolist():
                    self._place(index)

    def log10_extents(self, frames: Indices) -> Floats:
        """Return log10 of the largest coordinate at some frames; -inf where all neurons are 0."""
        self._find(frames)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log10(self._reach[frames]) + self.log10_scale(frames))

    def log10_extent(self, frames: Indices) -> float:
        """Return log10 of the largest coordinate over some frames."""
        return float(self.log10_extents(frames).max(initial=-math.inf))

    def known_frames(self, frames: Indices) -> Indices:
        """Return some frames, and all others whose positions were read already."""
        # A frame that is not cached costs a read.
        return np.union1d(frames, np.flatnonzero(self._placed[: self.frames]))

    def signs(self, frame: int) -> NDArray[np.int8]:
        """Return the sign of each a_j, (m,): -1, 0 or 1."""
        return np.asarray(self._signs[frame])

    def kinds(self, frame: int) -> Indices:
        """Return the class that each neuron supports, (m,).

        Of two classes 0 is -1 and 1 is +1; of more it is that of the largest outer weight.
        Neurons with outer weights of 0 have the number of classes.
        """
        signs = self._signs[frame]
        classes = signs > 0 if self._class is None else self._class[frame]
        return np.asarray(np.where(signs == 0, self.classes, classes), dtype=np.int64)

    def values(self, kind: str, frame: int) -> Singles:
        """Return the rotation or relative_norm of each neuron, (m,); NaN for lengths of 0."""
        return np.asarray(self._node[kind][frame])

    def least_value(self, kind: str) -> float:
        """Return the least value of all neurons and frames read so far; 0 without any."""
        values = self._node[kind][: self.frames]
        # fmin ignores NaN, the value of neurons of length 0.
        least = float(np.fmin.reduce(values, axis=None, initial=np.inf))
        return least if math.isfinite(least) else 0.0

    def sorted_nodes(self, kind: str, frame: int) -> SortedNodes:
        """Return the rotations or relative norms of a frame in increasing order."""
        key = (kind, frame)
        if key not in self._sorted:
            values = self._node[kind][frame]
            # Stable, so that neurons of equal value keep their places, as all rotations at t = 0.
            order = np.argsort(values, kind="stable")
            place = np.empty(self.m, dtype=np.int64)
            place[order] = np.arange(self.m)
            self._sorted[key] = SortedNodes(values[order], order, place)
            if len(self._sorted) > MOST_SORTED:
                self._sorted.popitem(last=False)
        self._sorted.move_to_end(key)
        return self._sorted[key]

    def node(self, frame: int, j: int) -> NodeFacts:
        """Return all numbers of the neuron `j` at a frame; the angle is in degrees."""
        run = self.run
        # Late weights may overflow; the inspector then shows "infinite".
        with np.errstate(over="ignore"):
            flat = run.physical_parameters(frame)
            alpha = run.network.nodes(flat)[0]
            inner = float(np.linalg.norm(run.network.directions(flat)[j]))
            factor = np.exp(run.network.degree * run.rho[frame])
            point = factor * self.projection.weights(frame)[j]
        rotation = float(self._node["rotation"][frame, j])
        signs = self._signs[: frame + 1, j]
        signs = signs[signs != 0]
        return NodeFacts(
            index=j,
            outer_weight=float(alpha[j]),
            inner_norm=inner,
            angle=math.degrees(math.acos(np.clip(rotation, -1.0, 1.0))),  # NaN stays NaN
            rotation=rotation,
            relative_norm=float(self._node["relative_norm"][frame, j]),
            position=(float(point[0]), float(point[1])),
            sign_flips=int(np.count_nonzero(signs[1:] != signs[:-1])),
        )

    # -------------------------------------------------------------------------------- scalars

    @property
    def margins(self) -> Floats:
        """Hard, smoothed and l1 margin of each frame, (T, 3)."""
        return self._margins[: self.frames]

    @property
    def log10_norm_squared(self) -> Floats:
        """log10 |W|^2 of each frame, (T,), finite even if |W|^2 overflows."""
        return self._log10_norm[: self.frames]

    def scalars(self, frame: int) -> Mapping[str, float]:
        """Return the scalar observables that are quick to compute, by table name."""
        from core.observables.registry import OBSERVABLES

        return {name: float(OBSERVABLES[name].value_at(self.run, frame)) for name in SCALARS}


def _append_zeros(array: NDArray[Any], missing: int) -> NDArray[Any]:
    return np.concatenate([array, np.zeros((missing, *array.shape[1:]), array.dtype)])
