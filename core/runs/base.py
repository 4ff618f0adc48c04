"""Abstract run: the interface of one file's run and of a run that reaches back to t = 0."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.problem.problem import State
from core.run_files.schema import WHOLE
from core.runs.description import RunDescription
from core.runs.meta import Reason
from core.runs.run_file import Event, Index
from core.study_file.dynamics import RecordedLoop


class Run(RunDescription):
    """Settings, data and frames: frame i contains the trained parameters at the i-th time.

    The physical parameters are e^rho[i] times `parameters(i)`. Arrays are read-only. `memo` caches
    results of other modules about the run.

    Every method that reads raises RunFileError for a file that is not exactly a run file.
    """

    path: Path
    memo: dict[Any, Any]

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
    def counts_steps(self) -> bool:
        """True if t counts steps, as in another program's loop that named no other time."""
        if not (self.is_external and isinstance(self.experiment.dynamics, RecordedLoop)):
            return False
        index = self.index
        later = index.steps > 0
        own = np.abs(index.log10_time[later] - np.log10(index.steps[later])) < 1e-12
        return bool(own.all() and np.isneginf(index.log10_time[~later]).all())

    @property
    @abstractmethod
    def bytes_on_disk(self) -> int:
        """Size of the run's own file and of its `-wal`, if any, in bytes."""

    @property
    def is_replaced(self) -> bool:
        """True if the file at the path is not the run's file any more."""
        return False

    @abstractmethod
    def refresh(self) -> int:
        """Read which frames were committed since; return `frames`. Free for a finished run."""

    # ------------------------------------------------------------------------------- frames

    def history_bytes(self) -> int:
        """Return the bytes of earlier frames that the first use of `whole_run` reads."""
        return 0

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

        Parameters
        ----------
        index : int
            Index of the frame, 0 <= index < frames.

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
