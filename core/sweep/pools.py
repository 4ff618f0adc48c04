"""Workers of a sweep: this process, processes of joblib's loky, or a Dask cluster.

All are `concurrent.futures` executors of `run_batch`, so that the loop is the same for all.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from typing import Any, final
from urllib.parse import SplitResult, urlsplit

from core.errors import InputError, MarginscopeError
from core.processes import make_executor
from core.studies.cell_table import Row
from core.sweep.cell import Task, run_batch, run_cell
from core.training.control import Control

Rows = Future[list[Row]]
PROTOCOLS = ("tcp", "tls")  # of scheduler addresses
WORKERS_SECONDS = 2.0  # seconds between two queries of a cluster's workers
RETRIES = 3  # restarts of a cell whose worker dies


class Pool(ABC):
    """Workers for batches of cells, `workers` at a time. Close it at the end."""

    workers: int
    shared: bool = False  # workers access the folder of runs through a network

    @abstractmethod
    def submit(self, tasks: Sequence[Task]) -> Rows:
        """Start a batch of cells.

        Parameters
        ----------
        tasks : sequence of Task
            Cells of the batch, which one worker trains one after another.

        Returns
        -------
        Rows
            Future of the rows; of an exception if a worker died or the disk is full.
        """

    @abstractmethod
    def renew(self) -> None:
        """Replace dead workers after a batch has failed with their end."""

    @abstractmethod
    def close(self, at_once: bool = False) -> None:
        """Stop the workers; some pools let submitted cells finish unless `at_once`."""

    def has_workers(self) -> bool:
        """Return False while batches wait for a worker and none is left. Cheap enough to poll."""
        return True

    def lost_workers_error(self) -> MarginscopeError:
        """Return the error for batches that have lost their workers."""
        return MarginscopeError(
            "The workers ended before their cells; run the remaining cells again."
        )


@final
class InProcessPool(Pool):
    """Pool of this process; `control` stops and pauses it within a cell."""

    workers = 1

    def __init__(self, control: Control) -> None:
        self._control = control

    def submit(self, tasks: Sequence[Task]) -> Rows:
        """Run the batch now."""
        future: Rows = Future()
        try:
            future.set_result([run_cell(task, self._control) for task in tasks])
        except Exception as error:
            future.set_exception(error)
        return future

    def renew(self) -> None:
        """Do nothing: no worker has died."""

    def close(self, at_once: bool = False) -> None:
        """Do nothing: no worker is left."""


@final
class ProcessPool(Pool):
    """`jobs` processes of loky on this machine, one numerical thread each."""

    def __init__(self, jobs: int) -> None:
        self.workers = jobs
        self._executor = make_executor(self.workers)

    def submit(self, tasks: Sequence[Task]) -> Rows:
        """Send the batch to the next free process."""
        future: Rows = self._executor.submit(run_batch, tuple(tasks))
        return future

    def renew(self) -> None:
        """Kill all processes and start new ones: an executor that lost one takes no more work."""
        self._executor.shutdown(wait=True, kill_workers=True)
        self._executor = make_executor(self.workers)

    def close(self, at_once: bool = False) -> None:
        """Kill the processes, and wait until they are gone.

        Idle ones would take half a second to unload libraries.
        """
        self._executor.shutdown(wait=True, kill_workers=True)


@final
class ClusterPool(Pool):
    """Workers of a Dask scheduler at `address`, which must share the folder of runs.

    Raises InputError if Dask is not installed, if its configuration does not allow the address, or
    if no scheduler answers.
    """

    shared = True

    def __init__(self, address: str, patience: float = 10.0) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError as error:
            raise InputError(
                "Clusters need Dask; install it with: pip install 'marginscope[cluster]'."
            ) from error
        _check_protocol(distributed, address)
        try:
            _reach(address, patience)  # an unconnected client leaves threads behind
            self._client = distributed.Client(address, timeout=patience, set_as_default=False)
            self._client.wait_for_workers(1, timeout=patience)
        except (OSError, TimeoutError, ValueError) as error:
            if hasattr(self, "_client"):
                self._client.close()
            raise _unreachable(
                address,
                "no Dask scheduler with workers answers there; start `dask scheduler` and "
                "`dask worker ADDRESS`, or check the address.",
            ) from error
        threads = self._client.nthreads()
        self.workers = max(1, sum(threads.values()))
        # Not pure: a repeated cell must run again, not return a cached result.
        self._executor = self._client.get_executor(pure=False, retries=RETRIES)
        self._address = address
        self._has_workers, self._next_check = True, 0.0
        # Our own sentence reports a lost scheduler; its log would repeat it.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)

    def submit(self, tasks: Sequence[Task]) -> Rows:
        """Send the batch to the scheduler, which passes it to another worker if one dies."""
        try:
            future: Rows = self._executor.submit(run_batch, tuple(tasks))
        except Exception as error:
            if self._client.status in ("closing", "closed"):
                raise self.lost_workers_error() from error
            raise
        return future

    def has_workers(self) -> bool:
        """Return False while no worker is connected to the scheduler."""
        now = time.monotonic()
        if now >= self._next_check and self._client.status == "running":
            self._next_check = now + WORKERS_SECONDS
            # An unresponsive scheduler is handled elsewhere: its client closes by itself.
            with suppress(OSError, TimeoutError, ValueError):
                get_cores, patience = self._client.scheduler.ncores, WORKERS_SECONDS
                self._has_workers = bool(self._client.sync(get_cores, callback_timeout=patience))
        return self._has_workers

    def lost_workers_error(self) -> MarginscopeError:
        """Return the error for a scheduler that is gone."""
        return MarginscopeError(
            "the Dask scheduler no longer answers; finished cells are kept",
            where=self._address,
            remedy="start it and its workers, then continue the study",
            typed="start it and its workers, then repeat the command",
        )

    def renew(self) -> None:
        """Do nothing: the scheduler replaces its workers."""

    def close(self, at_once: bool = False) -> None:
        """Leave the cluster, when all submitted cells are done; `at_once` withdraws them."""
        self._executor.shutdown(wait=not at_once)
        self._client.close()


def _check_protocol(distributed: Any, address: str) -> None:
    """Raise InputError for a protocol that does not fit Dask's configuration and certificates.

    A client that is refused for one of these leaves threads behind, and a traceback at the end.
    """
    protocol = _place(address).scheme
    if protocol not in PROTOCOLS:
        raise _unreachable(address, "write tcp://HOST:PORT, or tls://HOST:PORT.")
    try:
        security = distributed.Security().get_connection_args("client")
    except (OSError, ValueError) as error:
        raise _unreachable(
            address,
            f"the certificates that Dask's configuration names cannot be read ({error}); "
            "docs/sweeps.md says how they are named.",
        ) from error
    if protocol == "tls" and security.get("ssl_context") is None:
        raise _unreachable(
            address,
            "Dask's configuration does not name the ca-file and the client's cert that TLS needs; "
            "docs/sweeps.md says how.",
        )
    if protocol == "tcp" and security.get("require_encryption"):
        raise _unreachable(
            address,
            "Dask's configuration asks for encryption; start the scheduler with --protocol tls, "
            "and give its address as tls://HOST:PORT.",
        )


def _unreachable(address: str, text: str) -> InputError:
    return InputError(text, where=address, option="--cluster")


def _place(address: str) -> SplitResult:
    """Return the parts of PROTOCOL://HOST:PORT, or of HOST:PORT, which is tcp."""
    return urlsplit(address if "//" in address else f"tcp://{address}")


def _reach(address: str, patience: float) -> None:
    """Raise OSError or ValueError unless a program listens at PROTOCOL://HOST:PORT."""
    place = _place(address)
    if place.hostname is None or place.port is None:
        raise ValueError(address)
    socket.create_connection((place.hostname, place.port), timeout=patience).close()


def pool_for(
    tasks: Sequence[Task], jobs: int | None, cluster: str | None, control: Control
) -> Pool:
    """Return the pool for some cells.

    Parameters
    ----------
    tasks : sequence of Task
        Cells.
    jobs : int or None
        Number of processes, by default one for each core; 1 is this process.
    cluster : str or None
        Address of a scheduler, which replaces processes.
    control : Control
        Stops and pauses cells in this process.

    Returns
    -------
    Pool

    Raises
    ------
    InputError
        Fewer than one job, or the cluster cannot be reached.
    """
    if cluster is not None:
        return ClusterPool(cluster)
    if jobs is not None and jobs < 1:
        raise InputError("give 1 or more.", where=jobs, option="--jobs")
    processes = min(jobs or cores(), max(1, len(tasks)))
    return ProcessPool(processes) if processes > 1 else InProcessPool(control)


def cores() -> int:
    """Return the number of processors that this process may use."""
    # A Slurm job or container may be limited to fewer cores than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
