"""Content of a run file of a recording, before its frames."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.run_files.frame import Frame
from core.run_files.meta import Description
from core.run_files.networks import Form
from core.run_files.schema import FIXED
from marginscope._record.arrays import Examples
from marginscope._record.options import Options

# Libraries that a recorded loop runs on.


def describe_engine() -> str:
    """Name the libraries that the process has loaded, with their versions."""
    known = ("torch", "jax", "tensorflow", "numpy")
    parts = [f"Python {platform.python_version()}"]
    for name in known:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            parts.append(f"{name} {version[:40]}")
    return f"recorded from {', '.join(parts)}"


Floats = NDArray[np.float64]


def describe_file(
    examples: Examples,
    options: Options,
    title: str,
    form: Form,
    dtype: str,
    fixed: Mapping[str, Floats],
    start: Frame,
) -> tuple[Description, dict[str, Floats]]:
    """Describe a file that begins with a frame.

    Parameters
    ----------
    examples : Examples
        Examples that the loop learns from.
    options : Options
        Arguments of `marginscope.record`.
    title : str
        Title of the run.
    form : Form
        Network of the loop.
    dtype : str
        Type of the frames.
    fixed : Mapping[str, Floats]
        Arrays that are not trained, by their names in the file.
    start : Frame
        First frame; its parameters are the origin.

    Returns
    -------
    tuple[Description, dict[str, Floats]]
        Rows of `meta`, and the arrays by name.
    """
    origin = start.parameters.astype(np.float64)
    description = Description(
        engine=describe_engine(),
        dtype=dtype,
        layout=form.layout,
        network=form.kind,
        sizes={"n": form.n, "d": form.d, "m": form.m, "k": form.k},
        experiment=_experiment(examples, options, form, origin, fixed, dtype),
        planned=options.frames,
        title=title,
        source=options.source,
        step=start.step,
        log10_time=start.log10_time,
        recorded=True,
        optimizer=None if options.optimizer is None else options.optimizer.settings,
        loop=options.factors or None,
    )
    kept = {**examples.arrays, "origin": origin}
    kept |= {f"{FIXED}{name}": array for name, array in fixed.items()}
    return description, {name: np.ascontiguousarray(one, "<f8") for name, one in kept.items()}


def _experiment(
    examples: Examples,
    options: Options,
    form: Form,
    start: Floats,
    fixed: Mapping[str, Floats],
    precision: str,
) -> dict[str, Any]:
    made = hashlib.sha256(start.astype("<f8").tobytes())
    for name in sorted(fixed):
        made.update(fixed[name].astype("<f8").tobytes())
    data = {"kind": "file", "n": form.n, "d": form.d, "content": examples.content}
    if examples.real:
        data["targets"] = "real"
    return {
        "data": data,
        "network": form.section(made.hexdigest()),
        "loss": {"kind": options.loss},
        "dynamics": options.dynamics_section(),
        "recording": {"frames": options.frames},
        "run": {"precision": precision},
    }


def with_end(experiment: Mapping[str, Any], log10_time: float) -> dict[str, Any]:
    """Return an experiment whose training ended at this time."""
    until = min(max(log10_time, -8.0), 15.0)
    return {**experiment, "dynamics": {**experiment["dynamics"], "until_log10_time": until}}
