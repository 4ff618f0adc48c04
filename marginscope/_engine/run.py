"""A run as seen from Python: frames as arrays in the paper's names, observables by theirs."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.data.files import FileData
from core.data.section import scale_points
from core.errors import InputError
from core.observables.table import weights_at
from core.runs import RunFile
from core.runs.settings import known_settings, was_left
from marginscope._engine.boundary import public
from marginscope._engine.tables import (
    array_names,
    dataset_of,
    frame_of,
    names_of,
    order_parameters,
    predict,
    values_of,
    weights_of,
)
from marginscope._show import Time, show

if TYPE_CHECKING:  # each is loaded only on use
    from core.theorems.report import Report
    from marginscope._engine.figures import Kind, PlayerOptions
    from marginscope._engine.margins import Margins
    from marginscope._engine.player import Player

Floats = NDArray[np.float64]
DPI = 110.0  # of a static image in a notebook


@final
@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One frame of a run, with weights at the physical scale in the original R^d.

    Attributes
    ----------
    index : int
        Number of the frame, from 0.
    t : float
        Time; infinite beyond 10^308.
    log10_t : float
        log10 t; -inf at t = 0.
    step : int
        Number of steps.
    weights : mapping of str to array
        Every array of the network by its name, trained or not: V, a, b, ...
    numbers : mapping of str to float
        Numbers that were recorded beside the frame.
    """

    index: int
    t: float
    log10_t: float
    step: int
    weights: Mapping[str, Floats]
    numbers: Mapping[str, float]

    @property
    def V(self) -> Floats:
        """Inner weights v_j, (m, d). Raises KeyError for networks without them."""
        return self.weights["V"]

    @property
    def a(self) -> Floats:
        """Outer weights a_j, (m,), or (m, k) for k classes. Raises KeyError without them."""
        return self.weights["a" if "a" in self.weights else "A"]


@final
class Run(RunFile):
    """Run file that is open for reading; made by `open`, `train` and `load`.

    `run["hard_margin"]` is an observable at every frame: (T,), or (T, m) for one of the neurons and
    (T, n) for one of the examples. `run.V` (T, m, d) and `run.a` (T, m) are the weights of all
    frames at the physical scale, those of a run in row-space form back in R^d. `len(run)` is T;
    iteration gives a State for each frame. `refresh` reads the frames that a growing recording has
    added.

    Parameters
    ----------
    path : path
        Run file.

    Raises
    ------
    InputError
        The file is no run. Frames and names that do not exist raise InputError too.
    """

    _temporary: object = None  # keeps a temporary folder alive as long as the run is used
    _still: tuple[int, bytes] | None = None  # number of frames, and the image of a figure

    # ---------------------------------------------------------------------------------- description

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The sections of the study file that describe the run: settings["network"]["m"].

        Of a recorded loop, what it did not say is "not recorded", and `settings["optimizer"]` is
        what its optimizer said, if it was given.
        """
        return known_settings(self)

    @property
    def status(self) -> str:
        """Status "recording", or why the run ended: "completed", "cancelled", "diverged", ..."""
        return str(self.reason or ("recording" if self.is_recording else "finished"))

    @property
    def is_left(self) -> bool:
        """True if the recording stopped without being finished: its process is gone.

        False for finished runs, and where the system does not report it (Windows).
        """
        return was_left(self)

    @property
    def x(self) -> Floats:
        """The training inputs, (n, d)."""
        return self.dataset.x

    @property
    def y(self) -> Floats:
        """The labels, (n,): -1 and +1, or class numbers."""
        return self.dataset.y

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
        section = self.experiment.data
        scale = section.scale if isinstance(section, FileData) else "none"
        return scale_points(self.dataset, scale, points)

    # --------------------------------------------------------------------------------- frames

    def __len__(self) -> int:
        return self.frames

    @property
    def log10_t(self) -> Floats:
        """log10 t of each frame, (T,); -inf at t = 0."""
        return self.log10_time

    def frame(self, index: int) -> State:
        """Return one frame.

        Parameters
        ----------
        index : int
            -T <= index < T; frames below 0 count from the end.

        Returns
        -------
        State

        Raises
        ------
        InputError
            No such frame.
        """
        count, index = len(self), operator.index(index)  # accepts NumPy integers
        place = index + count if index < 0 else index
        if not 0 <= place < count:
            raise InputError(
                f"Frame {index} does not exist; {self.path} has frames 0 to {count - 1}."
            )
        log10_t, numbers = float(self.log10_time[place]), MappingProxyType(self.diagnostics(place))
        weights = MappingProxyType(weights_at(self, place))
        return State(place, float(self.t[place]), log10_t, int(self.steps[place]), weights, numbers)

    def __iter__(self) -> Iterator[State]:
        return (self.frame(index) for index in range(len(self)))

    @property
    def V(self) -> Floats:
        """Inner weights of all frames, (T, m, d)."""
        return self.weights("V")

    @property
    def a(self) -> Floats:
        """Outer weights of all frames, (T, m), or (T, m, k) for k classes."""
        return self.weights("A" if "A" in array_names(self) else "a")

    def weights(self, name: str) -> Floats:
        """Return an array of the network at all frames.

        Parameters
        ----------
        name : str
            Name such as "V" or "b".

        Returns
        -------
        array (T, ...)
            The frame axis first, at the physical scale.

        Raises
        ------
        InputError
            The network has no such array.
        """
        return np.asarray(weights_of(self, name))

    def __dir__(self) -> list[str]:
        return [*vars(Run), "close", "path", "refresh", "steps", "t", "title"]  # documented

    # ---------------------------------------------------------------------------- observables

    @property
    def observables(self) -> tuple[str, ...]:
        """Names that `run[name]` takes, for this run.

        Numbers that a recorded loop passed to `frame` come last: NAME, or `loop.NAME` where an
        observable or a column of tables is called NAME.
        """
        return names_of(self)

    def __getitem__(self, name: str) -> Floats:
        return np.asarray(values_of(self, name))

    @public
    def to_pandas(self, names: Iterable[str] | None = None) -> Any:
        """Return a table with a row for each frame: t, log10_t, step and observables.

        Parameters
        ----------
        names : iterable of str, optional
            Observables with one number a frame; by default all that are fast to compute.

        Returns
        -------
        pandas.DataFrame
            Its index is the number of the frame.

        Raises
        ------
        InputError
            An unknown name, or pandas is not installed.
        """
        return frame_of(self, names)

    @public
    def to_xarray(self, names: Iterable[str] | None = None) -> Any:
        """Return the weights of all frames, data and observables with named dimensions.

        Parameters
        ----------
        names : iterable of str, optional
            Observables; by default all that are fast to compute.

        Returns
        -------
        xarray.Dataset
            Dimensions frame, neuron, coordinate and example.

        Raises
        ------
        InputError
            An unknown name, xarray is not installed, or a run without frames.
        """
        return dataset_of(self, names)

    # ----------------------------------------------------------------------------- and theory

    @public
    def margins(self, which: Iterable[str] | None = None, *, limit: float = 120.0) -> Margins:
        """Return the margins that theory promises for the run's data; see `marginscope.margins`."""
        from marginscope._engine.margins import Margins

        return Margins(self.problem, which, limit)

    predict = public(predict)
    order_parameters = public(order_parameters)

    def theorems(
        self,
        margins: Margins | Iterable[str] | None = None,
        *,
        delta: float = 0.05,
        limit: float = 120.0,
    ) -> list[Report]:
        """Judge the papers' statements on the run; see `marginscope.theorems`."""
        from marginscope._engine.margins import theorems

        return theorems(self, margins, delta=delta, limit=limit)

    @public
    def figure(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        kind: Kind = "png",
        dark: bool = False,
        dpi: float = 300.0,
        **options: Any,
    ) -> Path | bytes:
        """Draw the run into a file, or return the bytes; see `marginscope.figure`."""
        from marginscope._engine.figures import draw, options_of, scene_of

        return draw(partial(scene_of, [self], options_of(options), dark), path, kind, dpi)

    @public
    def player(self, **options: Unpack[PlayerOptions]) -> Player:
        """Make a page that plays the run; see `marginscope.player`."""
        from marginscope._engine.figures import play

        return play(lambda: [self], options)

    def _repr_png_(self) -> bytes | None:
        if not self.frames:
            return None  # `_repr_html_` prints the facts
        if self._still is None or self._still[0] != self.frames:
            self._still = (self.frames, bytes(self.figure(dpi=DPI, caption=False)))
        return self._still[1]

    def _repr_html_(self) -> str:
        from marginscope._engine.tables import html

        return html(self, self._repr_png_())

    def show(self, at: Time | None = None, views: str | Sequence[str] | None = None) -> None:
        """Open a window on the run; see `marginscope.show`."""
        show(self, at=at, views=views)

    def __del__(self) -> None:
        if hasattr(self, "_connection"):  # missing if opening failed
            self.close()

    def __repr__(self) -> str:
        network = self.network
        return (
            f"<Run {self.path.name!r}: {network.kind}, m = {network.m}, n = {self.x.shape[0]}, "
            f"d = {self.x.shape[1]}, {len(self)} frames, {self.status}"
            f"{', its process is gone' if self.is_left else ''}>"
        )


def hold_object(run: Run, held_object: object) -> Run:
    """Return the run, which from now on holds an object such as its temporary folder."""
    run._temporary = held_object
    return run


@public
def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a run file of any program; opening a file runs no code.

    Parameters
    ----------
    path : path
        Run file (.msrun).

    Returns
    -------
    Run

    Raises
    ------
    InputError
        The file is not exactly a run; the sentence names it.
    """
    return Run(path)
