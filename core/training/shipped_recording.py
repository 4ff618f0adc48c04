"""Recordings shipped with the program, which a new user sees while the kernels are compiled.

    python -m core.training.shipped_recording        (or: make recording)

trains Figure 1 and writes its recordings into resources/recorded, in about ten seconds; do so
whenever the flow's numbers change. A file is a line of JSON (settings and engine) and, compressed
by bzip2, an NPZ of log10 t, rho and step of each frame and of its parameters: whole multiples of
STEP, as second differences in time, because trajectories are smooth. Rounding moves a margin of
Figure 1 by 1e-6, a thirtieth of what the flow promises.
"""

from __future__ import annotations

import bz2
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from core.problem.problem import Problem, resolve_problem
from core.program import RESOURCES
from core.run_files.frame import Frame
from core.runs import Recorder
from core.studies.study import load_study
from core.study_file.experiment import Experiment
from core.training.control import FinishReason

if TYPE_CHECKING:  # loads numba, which reading a recording does not need
    from core.dynamics.integrator import Integrator

STUDY = "telgarsky22-figure-1"
FOLDER = "recorded"
SUFFIX = ".frames"
STEP = 2.0**-18  # components of unit vectors are rounded to multiples of it


@final
@dataclass(frozen=True, slots=True, eq=False)
class ShippedRecording:
    """Frames of one run, and its engine. `differences` (size, T) are of second order."""

    engine: str
    temperature_cap: float | None
    log10_time: NDArray[np.float64]
    rho: NDArray[np.float64]
    steps: NDArray[np.int64]
    differences: NDArray[np.int32]

    def frames(self) -> Iterator[Frame]:
        """Yield the frames, first to last."""
        parameters = np.cumsum(np.cumsum(self.differences, axis=1), axis=1).T * STEP
        for index, theta in enumerate(parameters):
            yield Frame(
                int(self.steps[index]),
                float(self.log10_time[index]),
                float(self.rho[index]),
                np.ascontiguousarray(theta),
            )


def _header(file: Traversable) -> dict[str, Any]:
    """Return the JSON values in a recording's first line."""
    with file.open("rb") as stream:
        header: dict[str, Any] = json.loads(stream.readline())
    return header


def file_of(experiment: Experiment) -> Traversable | None:
    """Return the shipped recording of exactly this experiment, or None."""
    folder = RESOURCES.joinpath(FOLDER)
    for file in folder.iterdir() if folder.is_dir() else ():
        # Parse as settings instead of comparing text: keys added later get their defaults.
        if file.name.endswith(SUFFIX):
            recorded = type(experiment).model_validate(_header(file)["experiment"])
            if recorded == experiment:
                return file
    return None


def read(file: Traversable) -> ShippedRecording:
    """Return the content of a shipped recording's file, decompressed."""
    header = _header(file)
    content = file.read_bytes().partition(b"\n")[2]
    with np.load(io.BytesIO(bz2.decompress(content)), allow_pickle=False) as arrays:
        planes = arrays["planes"].astype(np.uint32)
        folded = planes[0] | planes[1] << 8 | planes[2] << 16 | planes[3] << 24
        signed = (folded >> 1).astype(np.int32) ^ -(folded & 1).astype(np.int32)
        times, rho, steps = arrays["log10_time"], arrays["rho"], arrays["steps"]
    return ShippedRecording(header["engine"], header["temperature_cap"], times, rho, steps, signed)


def unpack(problem: Problem, path: Path) -> bool:
    """Write the shipped recording of a problem as a finished run file; False if none is shipped.

    Raises InputError if the file exists or cannot be made, DiskError on a full disk.
    """
    file = file_of(problem.experiment)
    if file is None:
        return False
    recording = read(file)
    sink = Recorder(
        path,
        problem,
        engine=recording.engine,
        planned=recording.log10_time.size,
        temperature_cap=recording.temperature_cap,
    )
    sink.append(tuple(recording.frames()))
    sink.finish(FinishReason.COMPLETED.value)
    return True


def encode_recording(experiment: Experiment, dynamics: Integrator) -> bytes:
    """Train to the end, and return the content of a recording's file.

    Parameters are rounded to multiples of STEP; `dynamics` has advanced to its end. Raises
    RuntimeError if the run ends otherwise than completed.
    """
    from core.dynamics.integrator import Outcome
    from core.training.trajectory import chunks

    frames: list[Frame] = []
    for chunk in chunks(dynamics):
        frames += chunk.frames
        if chunk.outcome not in (Outcome.GOING, Outcome.COMPLETED):
            raise RuntimeError(f"the run ended as {chunk.outcome.value}: it cannot be shipped")
    # Integers from here on: sums of their differences restore them exactly.
    rounded = np.rint(np.array([f.parameters for f in frames]) / STEP).astype(np.int32)
    start = np.zeros_like(rounded[:1])
    second = np.diff(np.diff(rounded, axis=0, prepend=start), axis=0, prepend=start).T
    # Small numbers of either sign become small unsigned ones.
    folded = ((second << 1) ^ (second >> 31)).astype(np.uint32)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        log10_time=np.array([f.log10_time for f in frames]),
        rho=np.array([f.rho for f in frames]),
        steps=np.array([f.step for f in frames], dtype=np.int64),
        # Bytes of one weight are stored together, which bzip2 packs 3 to 9 % smaller.
        planes=np.array([folded >> 8 * k & 255 for k in range(4)], dtype=np.uint8),
    )
    header = {
        "experiment": experiment.to_file_values(),
        "engine": dynamics.engine,
        "temperature_cap": dynamics.temperature_cap,
    }
    return json.dumps(header).encode() + b"\n" + bz2.compress(buffer.getvalue())


def main() -> int:
    """Record the study again, into the sources."""
    from core.dynamics.registry import make_integrator, prepare

    folder = RESOURCES / FOLDER
    folder.mkdir(exist_ok=True)
    study = load_study(STUDY)
    for cell in study.cells():
        problem = prepare(resolve_problem(cell.experiment, study.folder, study.title, study.source))
        content = encode_recording(cell.experiment, make_integrator(problem))
        path = folder / f"{study.id}__{cell.name}{SUFFIX}"
        path.write_bytes(content)
        print(f"{path.name}: {len(content) / 1e3:.0f} kB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
