"""A run as seen from Python: frames as arrays in the paper's names, observables by theirs."""

from __future__ import annotations

import operator
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.data.files import FileData
from core.data.scaling import scale_points
from core.errors import InputError, did_you_mean
from core.observables.registry import OBSERVABLES, find_observable, numbers_of
from core.runs import RecordedRun
from core.runs import open_run as opened
from core.runs.left import was_left
from core.runs.settings import known_settings
from marginscope._engine.border import public
from marginscope._show.api import Time, show

if TYPE_CHECKING:
    from marginscope._engine.margins import Margins
    from marginscope._engine.player import Player, PlayerOptions
    from marginscope._engine.theorems import Verdict

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One frame: where it stands, and the weights at the physical scale, in the original R^d.

    `weights` has every array of the network by its name, trained or not (V, a, b, ...); `numbers`
    are those that were kept beside the frame.
    """

    index: int
    t: float
    log10_t: float
    step: int
    weights: Mapping[str, Floats]
    numbers: Mapping[str, float]

    @property
    def V(self) -> Floats:
        """Inner weights v_j, (m, d). KeyError for networks without them."""
        return self.weights["V"]

    @property
    def a(self) -> Floats:
        """Outer weights a_j, (m,), or (m, k) for k classes. KeyError for networks without them."""
        return self.weights["a" if "a" in self.weights else "A"]


@final
class Run:
    """A run file that is open for reading; a recording that grows is seen anew by `refresh`.

    `run["hard_margin"]` is an observable at every frame: (T,), or (T, m) for one of the nodes and
    (T, n) for one of the examples. `run.V` (T, m, d) and `run.a` (T, m) are the weights of all
    frames at the physical scale, those of a run in row-space form back in R^d.

    Raises InputError for names and frames that are not there, and where a file is no run.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._run = opened(Path(path))
        self._kept: object = None  # what must stay as long as the run is used
        self._still: tuple[int, bytes] | None = None  # drawn of so many frames
        weakref.finalize(self, self._run.close)  # also where nobody closes it

    # ------------------------------------------------------------------------------ what it is

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return self._run.path

    @property
    def title(self) -> str:
        """What the run is called."""
        return self._run.title

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The sections of the study file that describe the run: settings["network"]["m"].

        Of a recorded loop, what it did not say is "not recorded", and `settings["optimizer"]` is
        what its optimizer said, if it was given.
        """
        return known_settings(self._run)

    @property
    def status(self) -> str:
        """ "recording", or why the run ended: "completed", "cancelled", "diverged", ..."""
        return str(self._run.reason or self._run.status)

    @property
    def is_left(self) -> bool:
        """True if the recording stopped without being finished: its process is gone.

        False for finished runs, and where the system does not tell (Windows).
        """
        return was_left(self._run)

    @property
    def x(self) -> Floats:
        """The training inputs, (n, d)."""
        return self._run.dataset.x

    @property
    def y(self) -> Floats:
        """The labels, (n,): -1 and +1, or class numbers."""
        return self._run.dataset.y

    @public
    def scale_points(self, raw: ArrayLike) -> Floats:
        """Apply the scaling of the run's data (`data.scale` of a file) to further points.

        Parameters
        ----------
        raw : array_like, shape (N, d)
            Points in the units of the file.

        Returns
        -------
        ndarray, shape (N, d)
            Points in the units of `x`: what the network of the run was trained on.

        Raises
        ------
        InputError
            For another number of columns, and with "unit" for a point that is 0.
        """
        points = np.asarray(raw, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.x.shape[1]:
            raise InputError(
                f"The points have shape {points.shape}; the run needs (N, {self.x.shape[1]})."
            )
        section = self._run.experiment.data
        scale = section.scale if isinstance(section, FileData) else "none"
        return scale_points(self._run.dataset, scale, points)

    # --------------------------------------------------------------------------------- frames

    def __len__(self) -> int:
        return self._run.frames

    @property
    def log10_t(self) -> Floats:
        """log10 t of each frame, (T,); -inf at t = 0."""
        return self._run.log10_time

    @property
    def t(self) -> Floats:
        """t of each frame, (T,); infinite beyond 10^308, where `log10_t` is not."""
        with np.errstate(over="ignore"):
            return np.asarray(10.0**self._run.log10_time)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Steps taken up to each frame, (T,)."""
        return self._run.steps

    def frame(self, index: int) -> State:
        """One frame; those before 0 count from the end."""
        count, index = len(self), operator.index(index)  # of NumPy, too
        at = index + count if index < 0 else index
        if not 0 <= at < count:
            raise InputError(f"There is no frame {index}; {self.path} has 0 to {count - 1}.")
        log10_t = float(self._run.log10_time[at])
        with np.errstate(over="ignore"):
            t = float(np.power(10.0, log10_t))
        numbers = MappingProxyType(self._run.diagnostics(at))
        return State(at, t, log10_t, int(self._run.steps[at]), self._weights(at), numbers)

    def __iter__(self) -> Iterator[State]:
        return (self.frame(index) for index in range(len(self)))

    @property
    def V(self) -> Floats:
        """Inner weights of all frames, (T, m, d)."""
        return self.weights("V")

    @property
    def a(self) -> Floats:
        """Outer weights of all frames, (T, m), or (T, m, k) for k classes."""
        return self.weights("A" if "A" in self._names() else "a")

    def weights(self, name: str) -> Floats:
        """An array of the network at all frames, the frame axis first."""
        names = self._names()
        if name not in names:
            raise InputError(f"The network has no {name!r}; {did_you_mean(name, names)}")
        return np.array([self._weights(index)[name] for index in range(len(self))])

    def _names(self) -> tuple[str, ...]:
        network = self._run.network
        return (*(block.name for block in network.layout), *network.fixed)

    def _weights(self, index: int) -> Mapping[str, Floats]:
        """At the physical scale; those that e^rho makes too large are infinite."""
        run = self._run
        flat = run.network.physical(run.parameters(index), float(run.rho[index]))
        parts = {**run.network.fixed, **run.network.unpack(flat)}
        if run.reduction is not None and "V" in parts:
            with np.errstate(invalid="ignore"):
                parts["V"] = run.reduction.full(parts["V"])
        return MappingProxyType(parts)

    # ---------------------------------------------------------------------------- observables

    @property
    def observables(self) -> tuple[str, ...]:
        """The names of what `run[name]` gives, for this run.

        Numbers that a recorded loop passed to `frame` come last: NAME, or `loop.NAME` where an
        observable or a column of tables is called NAME.
        """
        registered = (item for item in OBSERVABLES.values() if item.applies(self._run))
        return tuple(item.name for item in (*registered, *numbers_of(self._run)))

    def __getitem__(self, name: str) -> Floats:
        found = find_observable(str(name))
        if found is None or not found.applies(self._run):
            hint = did_you_mean(str(name), self.observables)
            raise InputError(f"This run has no {str(name)[:60]!r}; {hint}")
        return found.trace(self._run)

    @public
    def to_pandas(self, names: Iterable[str] | None = None) -> Any:
        """A pandas.DataFrame with a row for each frame: t, log10_t, step and observables.

        `names` are those of observables with one number a frame; without it all that take no long
        time are there. Raises InputError for others, and where pandas is not installed.
        """
        from marginscope._engine.tables import frame_of

        return frame_of(self, names)

    @public
    def to_xarray(self, names: Iterable[str] | None = None) -> Any:
        """An xarray.Dataset: the weights of all frames, and observables, over the dimensions frame,
        node, coordinate and example.

        `names` are those of observables; without it all that take no long time are there. Raises
        InputError for others, and where xarray is not installed.
        """
        from marginscope._engine.tables import dataset_of

        return dataset_of(self, names)

    # ----------------------------------------------------------------------------- and theory

    def margins(self, which: Iterable[str] | None = None, *, limit: float = 120.0) -> Margins:
        """The margins that theory promises for the data of the run: `marginscope.margins`."""
        from marginscope._engine.margins import margins

        return margins(self, which=which, limit=limit)

    def theorems(
        self,
        margins: Margins | Iterable[str] | None = None,
        *,
        delta: float = 0.05,
        limit: float = 120.0,
    ) -> list[Verdict]:
        """What the papers' statements say of the run: `marginscope.theorems`."""
        from marginscope._engine.theorems import theorems

        return theorems(self, margins, delta=delta, limit=limit)

    def figure(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Path | bytes:
        """A figure of the run, written to `path` or as bytes: `marginscope.figure`."""
        from marginscope._engine.figures import figure

        return figure(self, path, **options)

    def player(self, **options: Unpack[PlayerOptions]) -> Player:
        """The run as a page that plays, for a notebook or a file: `marginscope.player`."""
        from marginscope._engine.player import player

        return player(self, **options)

    def _repr_png_(self) -> bytes | None:
        from marginscope._engine.display import still

        if self._still is None or self._still[0] != len(self):
            png = still(self)
            if png is None:
                return None
            self._still = (len(self), png)
        return self._still[1]

    def _repr_html_(self) -> str:
        from marginscope._engine.display import html

        return html(self)

    # ------------------------------------------------------------------------------- the file

    def refresh(self) -> int:
        """Look for frames that came since; returns how many there are."""
        return self._run.refresh()

    def show(self, at: Time | None = None, views: str | Sequence[str] | None = None) -> None:
        """Open a window on the run; see `marginscope.show`."""
        show(self, at=at, views=views)

    def close(self) -> None:
        """Let go of the file."""
        self._run.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        network = self._run.network
        return (
            f"<Run {self.path.name!r}: {network.kind}, m = {network.m}, n = {self.x.shape[0]}, "
            f"d = {self.x.shape[1]}, {len(self)} frames, {self.status}"
            f"{', its process is gone' if self.is_left else ''}>"
        )


def core_run(run: Run) -> RecordedRun:
    """The program's own run behind one of these."""
    return run._run


def keep(run: Run, what: object) -> Run:
    """The run, with what must stay as long as it is used: a temporary folder."""
    run._kept = what
    return run


@public
def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a run file, whoever wrote it; a file from a stranger runs nothing.

    Raises InputError, a sentence that names the file, for everything that is not exactly a run.
    """
    return Run(path)
