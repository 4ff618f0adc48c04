"""Content of a run file, read piece by piece and checked before use.

Values are fetched only after SQLite has reported their type and length, so that a small file
cannot demand much memory. Any fault raises RunFileError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from core import trust
from core.data.dataset import Array, Dataset, Scaling
from core.data.section import AFFINE
from core.errors import InputError
from core.network.parametrisation import Network, Shape
from core.network.registry import NETWORKS
from core.problem.reduction import Reduction, mean_of
from core.run_files.meta import printable
from core.run_files.schema import (
    DTYPES,
    FIXED,
    MAX_BLOB_BYTES,
    MAX_EVENTS,
    MAX_META_ROWS,
    MAX_METRICS,
    MAX_NAME,
    MAX_RHO,
    MAX_TEXT_BYTES,
    MIN_RHO,
    SCALING,
    frame_crc,
    is_time,
)
from core.runs.arrays import Arrays, read_arrays, read_shaped, read_values
from core.runs.connection import Connection, typed_column
from core.runs.meta import Meta, parse_json
from core.settings import MAX_ELEMENTS, MAX_FRAMES
from core.study_file.experiment import Experiment
from core.study_file.validation import SECTIONS, build_experiment

LENGTHS = "typeof(parameters), length(parameters), typeof(dual), length(dual)"


@dataclass(frozen=True, slots=True, eq=False)
class RunHeader:
    """Constant content of a run file: everything but its frames, metrics and events."""

    meta: Meta
    experiment: Experiment
    network: Network
    dataset: Dataset
    reduction: Reduction | None
    origin: Array
    start: Array
    frame_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Numbers of all committed frames: step, log10 t and rho, each (T,)."""

    steps: NDArray[np.int64]
    log10_time: Array
    rho: Array


Event = tuple[int, str, Mapping[str, Any]]


def short(error: Exception) -> str:
    """Return an error about a file's content, cut to a readable length, without its final stop."""
    text = printable(" ".join(str(error).split())).rstrip(".")
    return text if len(text) <= 300 else f"{text[:300]} ..."


# ------------------------------------------------------------------------------------- header


def read_header(connection: Connection) -> RunHeader:
    """Read meta, experiment, network, data and start, and check that they are consistent."""
    values = meta_values(connection)
    try:
        meta = Meta.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = printable(".".join(map(str, first["loc"])))[:100]
        raise connection.fault(f"meta: {place}: {first['msg'].lower()}") from error
    experiment = _experiment(connection, meta)
    arrays = read_arrays(connection)
    dataset = _dataset(connection, meta, arrays, experiment.data.real)
    dataset = replace(dataset, scaling=_scaling(connection, experiment, arrays))
    reduction = _reduction(connection, meta, experiment, dataset, arrays)
    network = _network(connection, meta, experiment, dataset, reduction, arrays)
    origin = start = read_shaped(connection, arrays, "origin", (network.size,))
    if "start" in arrays:
        start = read_shaped(connection, arrays, "start", (network.size,))
    frame_bytes = network.size * np.dtype(DTYPES[meta.dtype]).itemsize
    return RunHeader(meta, experiment, network, dataset, reduction, origin, start, frame_bytes)


def meta_values(connection: Connection) -> dict[str, Any]:
    """Return the rows of meta, parsed but not yet checked."""
    sql = f"SELECT {typed_column('key', 'text')}, {typed_column('value', 'text')} FROM meta"
    values: dict[str, Any] = {}
    for key, text in connection.query(f"{sql} LIMIT {MAX_META_ROWS + 1}"):
        if key is None or text is None or len(values) == MAX_META_ROWS:
            raise connection.fault("meta holds something other than keys and JSON texts")
        try:
            values[key] = parse_json(text)
        except ValueError as error:
            problem = f"meta: {printable(key)[:50]} is not JSON ({short(error)})"
            raise connection.fault(problem) from error
    return values


def _experiment(connection: Connection, meta: Meta) -> Experiment:
    unknown = sorted(set(meta.experiment) - set(SECTIONS))
    if unknown:
        raise connection.fault(f"its experiment has the section {printable(unknown[0])[:50]}")
    try:
        experiment = build_experiment(meta.experiment, "experiment")
    except trust.UntrustedCodeError as error:
        raise trust.UntrustedRunError(
            f"{connection.shown}: {error.text}",
            code=error.code,
            file=error.file,
            package=error.package,
        ) from error
    except InputError as error:
        raise connection.fault(short(error)) from error
    data, network, sizes = experiment.data, experiment.network, meta.sizes
    kind = experiment.dynamics.recorded_kind(network)
    if (data.n, data.d, network.m) != (sizes.n, sizes.d, sizes.m) or kind != meta.network:
        raise connection.fault("its experiment and its sizes contradict each other")
    if experiment.run.precision != meta.dtype:
        raise connection.fault("its experiment and its dtype contradict each other")
    for section in (data, network):
        has_path = section.embedded and getattr(section, "path", None) is not None
        if has_path or getattr(section, "init_path", None) is not None:
            raise connection.fault("its experiment names a file; a run holds the content instead")
    # Before arrays of that size are allocated (decision 0012).
    for name, size in (("n * d", sizes.n * sizes.d), ("m * d", sizes.m * sizes.d)):
        if size > MAX_ELEMENTS:
            raise connection.fault(f"{name} = {size:.3g}, and at most {MAX_ELEMENTS:.0e} is read")
    return experiment


def _dataset(connection: Connection, meta: Meta, arrays: Arrays, real: bool) -> Dataset:
    """Return the data of a file; labels are checked unless targets are `real`."""
    n, d, k = meta.sizes.n, meta.sizes.d, meta.sizes.k
    x, y = read_shaped(connection, arrays, "x", (n, d)), read_shaped(connection, arrays, "y", (n,))
    x_test = y_test = None
    if "x_test" in arrays or "y_test" in arrays:
        tests = arrays["x_test"].shape[0] if "x_test" in arrays else 0
        x_test = read_shaped(connection, arrays, "x_test", (tests, d))
        y_test = read_shaped(connection, arrays, "y_test", (tests,))
    allowed = (-1.0, 1.0) if k == 1 else np.arange(float(k))
    for name, labels in () if real else (("y", y), ("y_test", y_test)):
        if labels is not None and not np.isin(labels, allowed).all():
            words = "-1 and +1" if k == 1 else f"0 to {k - 1}"
            raise connection.fault(f"its array {name} has labels other than {words}")
    return Dataset(x, y, x_test, y_test, classes=2 if k == 1 else k, real=real)


def _scaling(connection: Connection, experiment: Experiment, arrays: Arrays) -> Scaling | None:
    """Return the scaling by `data.scale` of the columns, which a run of scaled data stores."""
    if getattr(experiment.data, "scale", "none") not in AFFINE:
        if any(name in arrays for name in SCALING):
            raise connection.fault("it holds the scaling of data that are not scaled")
        return None
    assert experiment.data.d is not None  # equal to that of the sizes
    shape = (experiment.data.d,)
    shift, divisor = (read_shaped(connection, arrays, name, shape) for name in SCALING)
    if not (divisor > 0.0).all():
        raise connection.fault("its array scale_divisor has a value that is not positive")
    return Scaling(shift, divisor)


def _reduction(
    connection: Connection,
    meta: Meta,
    experiment: Experiment,
    dataset: Dataset,
    arrays: Arrays,
) -> Reduction | None:
    if "basis" not in arrays:
        return None
    rank = arrays["basis"].shape[0]
    if rank > min(meta.sizes.n, meta.sizes.d):
        raise connection.fault("its array basis has more rows than there are examples")
    basis = read_shaped(connection, arrays, "basis", (rank, meta.sizes.d))
    outside = read_shaped(connection, arrays, "perpendicular", (meta.sizes.m, meta.sizes.d))
    centred = NETWORKS[experiment.network.kind].centred
    return Reduction(basis, outside, mean_of(dataset.x, centred))


def _check_trust(connection: Connection, experiment: Experiment) -> None:
    """Raise UntrustedRunError for a network in Python that this user has not run or trusted."""
    code = getattr(experiment.network, "code", None)
    if code is not None and not trust.is_trusted(code):
        command = trust.trust_command(str(connection.shown))
        sentence = (
            f"{connection.shown} contains a network written in Python, which opening it would "
            f"run; `{command}` shows the code and explains how to trust it."
        )
        raise trust.UntrustedRunError(sentence, code=code, file=connection.shown)


def _network(
    connection: Connection,
    meta: Meta,
    experiment: Experiment,
    dataset: Dataset,
    reduction: Reduction | None,
    arrays: Arrays,
) -> Network:
    x = dataset.x if reduction is None else reduction.training(dataset.x)
    fixed = {name.removeprefix(FIXED): arrays[name] for name in arrays if name.startswith(FIXED)}
    shape = Shape(meta.sizes.m, x, meta.sizes.k)
    _check_trust(connection, experiment)
    try:
        network = experiment.dynamics.recorded_network(experiment.network, shape, fixed)
    except (InputError, KeyError, ValueError) as error:
        raise connection.fault(f"its network cannot be made ({short(error)})") from error
    if meta.layout != [[block.name, list(block.shape)] for block in network.layout]:
        raise connection.fault("its layout is not that of its network")
    for name, expected in network.fixed_shapes(shape).items():
        read_shaped(connection, arrays, f"{FIXED}{name}", expected)
    if set(fixed) != set(network.fixed):
        raise connection.fault("it holds an array of an unknown name")
    return network


# ------------------------------------------------------------------------------------- frames


def read_index(connection: Connection, header: RunHeader, previous: Index | None = None) -> Index:
    """Read and check the index of all frames, lengths of their arrays included.

    Parameters
    ----------
    connection : Connection
        Open file.
    header : RunHeader
        Header of the file.
    previous : Index, optional
        Index read before; only later frames are read.

    Returns
    -------
    Index

    Raises
    ------
    RunFileError
        Frames are not numbered in order, not increasing in time, or have wrong lengths.
    """
    steps = [] if previous is None else previous.steps.tolist()
    times = [] if previous is None else previous.log10_time.tolist()
    rhos = [] if previous is None else previous.rho.tolist()
    typed = (("step", "integer"), ("log10_time", "real"), ("rho", "real"))
    numbers = ", ".join(["idx", *(typed_column(*pair) for pair in typed)])
    sql = f"SELECT {numbers}, {LENGTHS} FROM frame WHERE idx >= ? ORDER BY idx LIMIT ?"
    # From the smallest possible index, so that negative ones are seen and rejected.
    first, limit = (-(2**63) if previous is None else len(steps)), MAX_FRAMES + 1 - len(steps)
    size, n = header.frame_bytes, header.meta.sizes.n
    dual = ("blob", 8 * n) if header.meta.dtype == "float32" else ("null", None)
    for row in connection.query(sql, (first, limit), longest=MAX_BLOB_BYTES):
        index, step, time, rho = row[:4]
        if index != len(steps) or index >= MAX_FRAMES:
            raise connection.fault(
                f"its frames are not numbered 0, 1, 2, ... up to at most {MAX_FRAMES - 1}"
            )
        if row[4:6] != ("blob", size) or row[6:8] not in (("null", None), dual):
            raise connection.fault(f"frame {index} does not have the length of the parameters")
        if step is None or step < 0 or rho is None or not MIN_RHO <= rho <= MAX_RHO:
            raise connection.fault(f"frame {index} has a step or rho that is not allowed")
        if time is None or not is_time(index, time):
            raise connection.fault(f"frame {index} has a log10 t that is not allowed")
        if times and not time > times[-1]:
            raise connection.fault(f"frame {index} is not later than the frame before it")
        steps.append(step)
        times.append(time)
        rhos.append(rho)
    return Index(
        _frozen(np.array(steps, dtype=np.int64)),
        _frozen(np.array(times, dtype=np.float64)),
        _frozen(np.array(rhos, dtype=np.float64)),
    )


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def read_frame(connection: Connection, header: RunHeader, index: int) -> tuple[Any, ...]:
    """Read the row of a frame, unchecked, for `checked_frame`.

    Parameters
    ----------
    connection, header, index : Connection, RunHeader, int
        Open file, its header, and index of the frame; RunFileError if it cannot be read.

    Returns
    -------
    tuple
        Step, time, log10_time, rho, crc32, dual (8 n bytes, or None) and parameters (bytes).
    """
    size, n = header.frame_bytes, header.meta.sizes.n
    sql = (
        "SELECT step, time, log10_time, rho, crc32, "
        "CASE WHEN typeof(dual) = 'blob' AND length(dual) = ? THEN dual END, "
        "CASE WHEN typeof(parameters) = 'blob' AND length(parameters) = ? THEN parameters END "
        "FROM frame WHERE idx = ?"
    )
    rows = list(connection.query(sql, (8 * n, size, index), longest=MAX_BLOB_BYTES))
    if len(rows) != 1 or not isinstance(rows[0][6], bytes):
        raise connection.fault(f"frame {index} cannot be read")
    return tuple(rows[0])


def checked_frame(
    connection: Connection, header: RunHeader, index: int, row: tuple[Any, ...]
) -> tuple[Array, Array | None]:
    """Check and decode the row of a frame. Reads nothing: safe beside a thread that reads.

    Parameters
    ----------
    connection, header : Connection, RunHeader
        Open file, for the error, and its header.
    index : int
        Index of the frame.
    row : tuple
        Result of `read_frame`.

    Returns
    -------
    array (size,)
        Parameters, read-only float64.
    array (n,) or None
        Stored q, read-only float64.

    Raises
    ------
    RunFileError
        The checksum does not match, or a value is not finite.
    """
    step, time, log10_time, rho, crc, dual, parameters = row
    numbers = (log10_time, rho, 0.0 if time is None else time)
    # By type, not isinstance: SQLite may return an integer for a float, which the checksum's format
    # accepts too.
    if type(step) is not int or not all(type(number) is float for number in numbers):
        raise connection.fault(f"frame {index} holds something other than numbers")
    if frame_crc(index, step, time, log10_time, rho, parameters, dual) != crc:
        raise connection.fault(f"the checksum of frame {index} does not match")
    subject = f"frame {index}"
    q = None if dual is None else read_values(connection, dual, "float64", subject)
    return read_values(connection, parameters, header.meta.dtype, subject), q


def read_metrics(connection: Connection, index: int) -> dict[str, float]:
    """Return the integrator's numbers of a frame by name; NaN for a value that is no number."""
    columns = f"{typed_column('name', 'text')}, {typed_column('value', 'real')}"
    sql = f"SELECT {columns} FROM metric WHERE idx = ?"
    metrics: dict[str, float] = {}
    for name, value in connection.query(f"{sql} LIMIT {MAX_METRICS + 1}", (index,)):
        if name is None or len(name) > MAX_NAME or len(metrics) == MAX_METRICS:
            raise connection.fault(f"the diagnostics of frame {index} cannot be read")
        metrics[printable(name)] = float("nan") if value is None else value
    return metrics


def read_events(connection: Connection) -> tuple[Event, ...]:
    """Return all events in their order: (frame, kind, payload)."""
    typed = (("frame", "integer"), ("kind", "text"), ("payload", "text"))
    columns = ", ".join(typed_column(*pair) for pair in typed)
    sql = f"SELECT {columns} FROM event ORDER BY idx LIMIT {MAX_EVENTS}"
    events: list[Event] = []
    total = 0
    for frame, kind, text in connection.query(sql):
        # In total: each may have the maximal length, and 100,000 of them would fill the memory.
        total += len(text or "")
        if frame is None or kind is None or text is None or total > MAX_TEXT_BYTES:
            raise connection.fault("its events cannot be read")
        try:
            payload = parse_json(text)
        except ValueError as error:
            raise connection.fault(f"an event is not JSON ({short(error)})") from error
        if not isinstance(payload, dict):
            raise connection.fault("an event is not a JSON object")
        events.append((frame, printable(kind)[:MAX_NAME], payload))
    return tuple(events)
