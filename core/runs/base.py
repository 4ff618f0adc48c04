"""Abstract run: the interface of one file's run and of a run that reaches back to t = 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array, Dataset
from core.losses import LossFunction, loss_named
from core.network.parametrisation import Network
from core.problem.problem import Problem, Start, State
from core.problem.reduction import Reduction
from core.run_files.meta import printable
from core.run_files.schema import WHOLE
from core.runs.meta import Lineage, Reason, lineage_of
from core.runs.run_file import Event, Index, RunHeader
from core.study_file.dynamics import RecordedLoop
from core.study_file.experiment import Experiment

MAX_NOTE = 500


class Run(ABC):
    """Settings, data and frames: frame i contains the trained parameters at the i-th time.

    The physical parameters are e^rho[i] times `parameters(i)`. Arrays are read-only. `memo` caches
    results of other modules about the run.

    Every method that reads raises RunFileError for a file that is not exactly a run file.
    """

    path: Path
    memo: dict[Any, Any]
    _header: RunHeader

    # -------------------------------------------------------------------------------------- problem

    @property
    def experiment(self) -> Experiment:
        return self._header.experiment

    @property
    def dataset(self) -> Dataset:
        return self._header.dataset

    @property
    def network(self) -> Network:
        return self._header.network

    @property
    def loss(self) -> LossFunction:
        return loss_named(self.experiment.loss.kind)

    @property
    def reduction(self) -> Reduction | None:
        """Coordinates of a run in row-space form; None if frames contain whole vectors."""
        return self._header.reduction

    @property
    def inputs(self) -> Array:
        """Network inputs x~ (n, D) of the training data, in the run's coordinates."""
        return self.problem.inputs

    def as_network_inputs(self, x: Array) -> tuple[Array, Array | None]:
        """Return any points in the form that `network.outputs` takes.

        Parameters
        ----------
        x : array (N, d)
            Points of the input space.

        Returns
        -------
        array (N, D)
            Inputs in the run's coordinates.
        array or None
            Offset of a run in row-space form, for the part of x outside the row space; else None.
        """
        if self.reduction is None:
            return self.network.inputs(x), None
        return self.network.inputs(
            self.reduction.training(x)
        ), self.reduction.perpendicular_products(x)

    @property
    def title(self) -> str:
        """Title of the run."""
        return printable(self._header.meta.title)

    @property
    def name(self) -> str:
        """Random name by which other runs refer to this one; empty in files without one."""
        return printable(self._header.meta.name)

    @property
    def source(self) -> str:
        return printable(self._header.meta.source)

    @property
    def engine(self) -> str:
        """Engine that computed the run, in words."""
        return printable(self._header.meta.engine)

    @property
    def loop_factors(self) -> dict[str, float]:
        """Factors of a recorded loop's outputs and loss, by which its frames were multiplied."""
        return {str(name): value for name, value in self._header.meta.loop.items()}

    @property
    def is_external(self) -> bool:
        """True if another program took the steps, so that their rule is unknown."""
        return self._header.meta.recorded

    @property
    def optimizer(self) -> dict[str, Any]:
        """Settings of a recorded loop's optimizer; empty if none are known."""
        settings = self._header.meta.optimizer if self.is_external else {}
        return {
            name: printable(value) if isinstance(value, str) else value
            for name, value in settings.items()
        }

    @property
    def planned_end(self) -> float:
        """log10 t of the planned end; -inf if another program trains and did not give one."""
        until = float(self.experiment.dynamics.until_log10_time)
        # t = 1 is the placeholder for an unknown end (marginscope._record.options).
        return -np.inf if self.is_external and until == 0.0 else until

    @property
    def counts_steps(self) -> bool:
        """True if t counts steps, as in another program's loop that named no other time."""
        if not (self.is_external and isinstance(self.experiment.dynamics, RecordedLoop)):
            return False
        index = self.index
        later = index.steps > 0
        own = np.abs(index.log10_time[later] - np.log10(index.steps[later])) < 1e-12
        return bool(own.all() and np.isneginf(index.log10_time[~later]).all())

    @property
    def is_replaced(self) -> bool:
        """True if the file at the path is not the run's file any more."""
        return False

    @property
    def creation_time(self) -> str:
        """Start of the recording: UTC, ISO 8601."""
        return printable(self._header.meta.created)

    @property
    def program(self) -> str:
        """Version of the program that started the recording."""
        return printable(self._header.meta.program)

    @property
    def precision(self) -> str:
        """Type of the stored parameters: float64 or float32."""
        return self._header.meta.dtype

    @property
    def planned_frames(self) -> int:
        """Number of frames on the schedule, frame 0 included."""
        return self._header.meta.planned

    @property
    def temperature_cap(self) -> float | None:
        """E cap of the flow's dual weights; None if q has the true temperature."""
        return self._header.meta.temperature_cap

    # ---------------------------------------------------------------------------------------- start

    @property
    def origin(self) -> Array:
        """Flat parameters at t = 0, (size,); in a continued run those of the first run."""
        return self._header.origin

    @cached_property
    def start(self) -> Start:
        """Start of the run: parameters (flat), rho, step and log10 t, -inf at t = 0."""
        start, anew = self._header.meta.start, (self.continues or {}).get("anew", False)
        return Start(
            self._header.start,
            self.origin,
            start.rho,
            start.step,
            -np.inf if start.log10_time is None else start.log10_time,
            self.continues,
            same_dynamics=not anew,
        )

    @property
    def continues(self) -> dict[str, Any] | None:
        """Entry of a continued run about the one before it; None for a run from t = 0."""
        return self._header.meta.start.continues

    @property
    def lineage(self) -> Lineage | None:
        """Parent that this run continues, according to its file; None for others."""
        return lineage_of(self.continues)

    @property
    def has_changed_rule(self) -> bool:
        """True if loss or dynamics have changed since t = 0, in a run that continues others."""
        return bool((self.continues or {}).get("changed", False))

    @property
    def note(self) -> str:
        """Remark on how the run continues another one; may be empty."""
        # From the file, like all text here: control characters would act on a reader's terminal.
        return printable(str((self.continues or {}).get("note", "")))[:MAX_NOTE]

    @property
    def frames_before(self) -> int:
        """Number of frames before the file's own: 0 but for a `whole_run`."""
        return 0

    @property
    def complete(self) -> bool:
        """True if the frames reach back to t = 0 without a gap, as far as is known."""
        # Only `whole_run`, which reads earlier frames, covers a continued run from t = 0.
        return self.start.log10_time == -np.inf

    @property
    def state_version(self) -> int:
        """Version of the states stored with the run; 0 in files without states."""
        return self._header.meta.state

    @cached_property
    def problem(self) -> Problem:
        """Problem that was run, rebuilt from the file alone."""
        return Problem(
            self.experiment,
            self.dataset,
            self.network,
            self.start,
            self.title,
            self.source,
            self.reduction,
        )

    # ------------------------------------------------------------------------------------- progress

    @property
    @abstractmethod
    def status(self) -> str:
        """Recording (or left by a crash) or finished at `refresh`; Python's runs say the reason."""

    @property
    def is_recording(self) -> bool:
        """True for a run that is recording, or was left by a crash."""
        return self.reason is None

    @property
    @abstractmethod
    def reason(self) -> Reason | None:
        """Why the run ended; None while it is recording."""

    @property
    def is_complete(self) -> bool:
        """True if the run reached its end, and was not cut off."""
        return not self.is_recording and self.reason in WHOLE

    @property
    @abstractmethod
    def index(self) -> Index:
        """Steps, times and rho of one moment, equally long even while another thread refreshes."""

    @property
    def frames(self) -> int:
        """Number T of committed frames, as of the last `refresh`."""
        return int(self.index.steps.size)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Steps taken up to each frame, (T,)."""
        return self.index.steps

    @property
    def log10_time(self) -> Array:
        """log10 t of each frame, (T,); -inf at t = 0."""
        return self.index.log10_time

    @property
    def t(self) -> Array:
        """Time t of each frame, (T,); infinite beyond 10^308, where `log10_time` is not."""
        with np.errstate(over="ignore"):
            return np.asarray(10.0**self.log10_time)

    @property
    def rho(self) -> Array:
        """ln of the factor that makes each frame's parameters physical, (T,)."""
        return self.index.rho

    @property
    @abstractmethod
    def bytes_on_disk(self) -> int:
        """Size of the run's own file and of its `-wal`, if any, in bytes."""

    @abstractmethod
    def refresh(self) -> int:
        """Read which frames were committed since; return `frames`. Free for a finished run."""

    # ------------------------------------------------------------------------------- frames

    def history_bytes(self) -> int:
        """Return the bytes of earlier frames that the first use of `whole_run` reads."""
        return 0

    @property
    @abstractmethod
    def whole_run(self) -> Run:
        """The run from t = 0 on, with the frames before its start; itself if it starts there."""

    @abstractmethod
    def parameters(self, index: int) -> Array:
        """Return the parameters of a frame.

        Parameters
        ----------
        index : int
            Index of the frame, 0 <= index < frames.

        Returns
        -------
        array (size,)
            Flat, read-only float64; e^rho[index] times it is physical.

        Raises
        ------
        IndexError
            The run has no such frame.
        """

    def physical_parameters(self, index: int) -> Array:
        """Return the parameters of a frame at their physical scale.

        Returns
        -------
        array (size,)
            Flat; infinite where e^rho overflows.
        """
        return self.network.physical(self.parameters(index), float(self.rho[index]))

    @abstractmethod
    def dual(self, index: int) -> Array | None:
        """Return the dual weights stored with float32 parameters; None if q is computed from them.

        Parameters
        ----------
        index : int
            Index of the frame, 0 <= index < frames.

        Returns
        -------
        array (n,) or None
        """

    def last_state(self, index: int) -> tuple[int, State] | None:
        """Return the last stored state at or before a frame, and its frame; None without one."""
        return None

    @abstractmethod
    def diagnostics(self, index: int) -> dict[str, float]:
        """Return the numbers stored beside a frame by name: the integrator's, or a loop's."""

    @property
    def loop_names(self) -> tuple[str, ...]:
        """Names of the numbers that a recorded loop passed with its committed frames, sorted.

        At most `MAX_METRICS`, each a `NUMBER_NAME`; none where `diagnostics` are the integrator's.
        """
        return ()

    @abstractmethod
    def events(self) -> tuple[Event, ...]:
        """Read and return all committed events, (frame, kind, payload), in order."""

    @abstractmethod
    def batch(self) -> AbstractContextManager[None]:
        """Share one connection among reads: 0.1 ms each instead of 0.5 ms for a growing run.

        Other threads wait meanwhile, and the recorder cannot finish: use it for less than 0.1 s.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the file; harmless when repeated."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
