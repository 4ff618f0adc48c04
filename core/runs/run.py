"""A run, read-only: finished, still growing, or left by a crash."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array, Dataset
from core.errors import RunFileError
from core.experiment import Experiment
from core.losses import LOSSES, LossFunction
from core.network.parametrisation import Network
from core.problem import Problem, Start
from core.reduction import Reduction
from core.runs.connection import Connection, check_wal, connect
from core.runs.ending import check_counts, read_ending
from core.runs.frame_cache import FrameCache
from core.runs.looking import beside, identity, steadily
from core.runs.meta import Reason, Status, printable
from core.runs.run_file import (
    Event,
    Index,
    read_events,
    read_frame,
    read_header,
    read_index,
    read_metrics,
)

CACHE_BYTES = 128 << 20


@final
class Run:
    """The content of one run file. Threads may use it in turn; `refresh` sees new frames.

    Frame i holds the trained parameters at the i-th time of the schedule; the physical ones are
    e^rho[i] times `parameters(i)`. Arrays are read-only. A file that is still being recorded is
    opened anew for every look at it, because its recorder needs it alone for a moment at the end.

    Raises RunFileError, in the constructor and in every method that reads, for a file that is not
    exactly a run file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.memo: dict[Any, Any] = {}
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._closed = False
        self._depth = 0
        self._cache = FrameCache(CACHE_BYTES)
        self._identity: tuple[int, int] | None = None
        steadily(self.path, self._look)

    def _look(self) -> None:
        """Read everything but the frames themselves."""
        self._identity = None
        with self._reading() as connection:
            self._header = read_header(connection)
            self._status, self._reason = self._header.meta.status, self._header.meta.reason
            self._index = read_index(connection, self._header)
            check_counts(connection, self._header.meta.counts)

    # ---------------------------------------------------------------------------- what was run

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
        return LOSSES[self.experiment.loss.kind]

    @property
    def reduction(self) -> Reduction | None:
        """The coordinates of a run in row-space form; None where frames hold whole vectors."""
        return self._header.reduction

    @property
    def inputs(self) -> Array:
        """x~ (n, D), what the network sees of the training data, in the run's coordinates."""
        return self.problem.inputs

    def seen(self, x: Array) -> tuple[Array, Array | None]:
        """(inputs, offset) of any points x (N, d), as `network.outputs` takes them."""
        if self.reduction is None:
            return self.network.inputs(x), None
        return self.network.inputs(self.reduction.training(x)), self.reduction.outside(x)

    @property
    def title(self) -> str:
        return printable(self._header.meta.title)

    @property
    def source(self) -> str:
        return printable(self._header.meta.source)

    @property
    def engine(self) -> str:
        """What computed the run, in words."""
        return printable(self._header.meta.engine)

    @property
    def program(self) -> str:
        """Version of the program that recorded the run."""
        return printable(self._header.meta.program)

    @property
    def created(self) -> str:
        """When the recording began: UTC, ISO 8601."""
        return printable(self._header.meta.created)

    @property
    def precision(self) -> str:
        """What the parameters are stored as: float64 or float32."""
        return self._header.meta.dtype

    @property
    def planned(self) -> int:
        """Number of frames on the schedule, frame 0 included."""
        return self._header.meta.planned

    @property
    def temperature_cap(self) -> float | None:
        """E cap of the flow's dual weights; None where q has the true temperature."""
        return self._header.meta.temperature_cap

    # ------------------------------------------------------------------------- where it began

    @property
    def origin(self) -> Array:
        """Parameters at t = 0, flat; those of the first run where this one continues another."""
        return self._header.origin

    @property
    def start_parameters(self) -> Array:
        """Parameters the run began with, flat; the physical ones are e^start_rho times these."""
        return self._header.start

    @property
    def start_rho(self) -> float:
        return self._header.meta.start.rho

    @property
    def start_step(self) -> int:
        return self._header.meta.start.step

    @property
    def start_log10_time(self) -> float:
        """log10 t at the start, -inf at t = 0."""
        time = self._header.meta.start.log10_time
        return -np.inf if time is None else time

    @property
    def continues(self) -> dict[str, Any] | None:
        """What a continued run says about the one before it; None for a run from t = 0."""
        return self._header.meta.start.continues

    @cached_property
    def problem(self) -> Problem:
        """The problem that was run, rebuilt from the file alone."""
        start = Start(
            self.start_parameters, self.origin, self.start_rho, self.start_step,
            self.start_log10_time, self.continues,
        )  # fmt: skip
        return Problem(
            self.experiment, self.dataset, self.network, start, self.title, self.source,
            self.reduction,
        )  # fmt: skip

    # ----------------------------------------------------------------------- how far it came

    @property
    def status(self) -> Status:
        """recording (or left by a crash) or finished, as of the last `refresh`."""
        return self._status

    @property
    def reason(self) -> Reason | None:
        """Why the run ended; None while it is recording."""
        return self._reason

    @property
    def frames(self) -> int:
        """Number T of committed frames, as of the last `refresh`."""
        return int(self._index.steps.size)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Steps taken up to each frame, (T,)."""
        return self._index.steps

    @property
    def log10_time(self) -> Array:
        """log10 t of each frame, (T,); -inf at t = 0."""
        return self._index.log10_time

    @property
    def rho(self) -> Array:
        """ln of the factor that makes each frame's parameters physical, (T,)."""
        return self._index.rho

    @property
    def index(self) -> Index:
        """Steps, times and rho of one moment: equally long also while another thread refreshes."""
        return self._index

    @property
    def bytes_on_disk(self) -> int:
        """Size of the file and of the `-wal` that may lie beside it."""
        total = 0
        for path in (self.path, beside(self.path.resolve(), "-wal")):
            with suppress(FileNotFoundError):  # a recorder may take its -wal away at any moment
                total += path.stat().st_size
        return total

    def refresh(self) -> int:
        """Look for frames committed since; returns `frames`. Costs nothing for a finished run."""
        with self._lock:
            if self._status != "finished":
                steadily(self.path, self._look_again)
            return self.frames

    def _look_again(self) -> None:
        with self._reading() as connection:
            # The ending first: frames that came before "finished" are then all seen.
            ending = read_ending(connection)
            self._index = read_index(connection, self._header, self._index)
            check_counts(connection, ending.counts)
            self._status, self._reason = ending.status, ending.reason

    # ------------------------------------------------------------------------------- frames

    def parameters(self, index: int) -> Array:
        """Parameters of a frame, flat, read-only float64; IndexError beyond 0 <= index < frames."""
        return self._frame(index)[0]

    def dual(self, index: int) -> Array | None:
        """The stored q (n,) of a frame with float32 parameters; None where it is computed."""
        return self._frame(index)[1]

    def diagnostics(self, index: int) -> dict[str, float]:
        """The integrator's numbers since the frame before, by name."""
        self._check(index)
        with self._reading() as connection:
            return read_metrics(connection, index)

    def events(self) -> tuple[Event, ...]:
        """What happened: (frame, kind, payload) in order."""
        with self._reading() as connection:
            return read_events(connection)

    def _frame(self, index: int) -> tuple[Array, Array | None]:
        self._check(index)
        with self._lock:
            frame = self._cache.get(index)
            if frame is None:
                with self._reading() as connection:
                    frame = read_frame(connection, self._header, index)
                self._cache.put(index, frame)
            return frame

    def _check(self, index: int) -> None:
        if not 0 <= index < self.frames:
            raise IndexError(f"frame {index} of {self.path}, which has {self.frames}")

    # ---------------------------------------------------------------------------- connection

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Several reads with one connection: of a growing run each costs 0.1 ms instead of 0.5 ms.

        Other threads wait meanwhile, and the recorder cannot finish: keep it under 0.1 s.
        """
        with self._reading():
            yield

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """The connection, kept for the next time unless a recorder may be at work or it failed."""
        with self._lock:
            if self._closed:
                raise ValueError(f"the run {self.path} is closed")
            if self._connection is None:
                self._connection = self._connected()
            connection = self._connection
            self._depth += 1
            try:
                yield connection
            except BaseException:
                self._drop(connection)
                raise
            finally:
                self._depth -= 1
            if self._depth == 0:
                self._make_way()

    def _make_way(self) -> None:
        if self._connection is not None and self._connection.to_be_reopened():
            self._drop(self._connection)

    def _drop(self, connection: Connection) -> None:
        self._connection = None
        connection.close()

    def _connected(self) -> Connection:
        before = self._identity
        connection = connect(self.path)
        try:
            found = identity(self.path)
            if before is None:
                check_wal(connection)
                before = connection.identity
            if found != before:
                raise RunFileError(
                    f"{self.path} was replaced by another file while it was open; open it again."
                )
        except BaseException:
            connection.close()
            raise
        self._identity = found
        return connection

    def close(self) -> None:
        """Let go of the file; harmless when repeated."""
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_run(path: Path | str) -> Run:
    """Open a run file, whoever wrote it.

    Raises RunFileError, a sentence that names the file, for everything that is not exactly a run.
    """
    return Run(path)
