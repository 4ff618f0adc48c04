"""Options of a recording, and the content of its run file before the frames."""

from __future__ import annotations

import difflib
import hashlib
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.numbers import whole_text
from core.run_files.frame import Frame
from core.run_files.meta import Description
from core.run_files.networks import ACTIVATIONS, UNKNOWN, Form
from core.run_files.schema import FIXED
from marginscope._record.arrays import Examples, NetworkOptions
from marginscope._record.optimizer import DYNAMICS, STEPPED, Optimizer

LOSSES = ("logistic", "exponential", "squared", "least_squares", "mse", "cross_entropy")
OF_TARGETS = ("least_squares", "mse", UNKNOWN)
TIMES = ("step", "t")
TARGETS = ("labels", "real")
MOST_STEPS = 2**63 - 1


@final
@dataclass(frozen=True, slots=True)
class Options:
    """Options of `marginscope.record`. Raises InputError for values that are not allowed."""

    loss: str
    network: NetworkOptions
    classes: int = 1
    targets: str = "labels"
    a_fixed: Any = None
    time: str = "step"
    dynamics: str = ""
    eta: float | None = None
    batch: int | None = None
    until: float | None = None
    frames: int = 400
    marks: tuple[float, ...] = ()
    title: str = ""
    source: str = ""
    overwrite: bool = False
    strict: bool = False
    loss_factor: float = 1.0  # the loop's loss over R: n for a sum
    step_factor: float = 1.0  # step size on the file's weights over that of the loop
    optimizer: Optimizer | None = None

    @property
    def real(self) -> bool:
        """True if y are real targets, and no labels."""
        return self.targets == "real"

    def __post_init__(self) -> None:
        if self.loss != UNKNOWN:
            _one_of("loss", self.loss, LOSSES, ", and None for any other")
        if self.network.activation != UNKNOWN:
            _one_of("activation", self.network.activation, ACTIVATIONS, ", and None for any other")
        _one_of("time", self.time, TIMES)
        _one_of("targets", self.targets, TARGETS)
        if self.real and self.loss not in OF_TARGETS:
            raise InputError(
                f'loss = "{self.loss}" needs labels, but targets = "real"; give "least_squares", '
                '"mse", or None for any other.'
            )
        if self.dynamics:
            _one_of("dynamics", self.dynamics, DYNAMICS)
        several = self.loss == "cross_entropy"
        if self.loss != UNKNOWN and several != (self.classes > 1):
            have = f"{self.classes} classes" if self.classes > 1 else "two classes"
            allowed = (
                "cross_entropy"
                if self.classes > 1
                else "logistic, exponential, squared, least_squares or mse"
            )
            raise InputError(f'loss = "{self.loss}" does not go with y of {have}; use {allowed}.')
        if self.dynamics in STEPPED and self.eta is None:
            raise InputError(
                f'dynamics = "{self.dynamics}" needs its step size eta; give it, or leave '
                "dynamics out; statements that need it then stay undecided."
            )
        for name, value in (("eta", self.eta), ("until", self.until)):
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} = {value}; give a number above 0.")
        for name, value in (("slope", self.network.slope), ("scale", self.network.scale)):
            if not math.isfinite(value) or (name == "scale" and value == 0.0):
                raise InputError(
                    f"{name} = {value}; give a finite number, and a scale other than 0."
                )
        if self.batch is not None and not 1 <= self.batch <= 1_000_000:
            raise InputError(
                f"batch = {self.batch}; from 1 to {whole_text(1_000_000)} are allowed."
            )

    @property
    def factors(self) -> dict[str, float]:
        """Factors of the loop's outputs and of its loss, those of 1 left out."""
        factors = {"scale": self.network.scale, "loss_factor": self.loss_factor}
        return {name: value for name, value in factors.items() if value != 1.0}

    @property
    def first(self) -> float:
        """Time from which frames are equally spaced in log t."""
        return 1.0 if self.time == "step" else 0.01

    @property
    def step(self) -> float | None:
        """Step size on R and on the file's weights; None where the loop named none.

        The loop's own step size times the factors of its loss and of its outputs, by which
        gradients are longer. Adam divides them out.
        """
        if self.eta is None or self.dynamics not in STEPPED:
            return None
        return self.eta if self.dynamics == "adam" else self.eta * self._time_factor

    @property
    def time_per_t(self) -> float:
        """Time of the run for each unit of the loop's t, which are steps with time = "step"."""
        if self.time == "step":
            return 1.0 if self.step is None else self.step
        return self._time_factor if self.dynamics in (*STEPPED, "flow") else 1.0

    @property
    def _time_factor(self) -> float:
        """Factor of the loop's loss and step size over those of the run."""
        return self.loss_factor * self.step_factor

    def moment(self, t: float, steps: int | None) -> tuple[int, float]:
        """Return the number of steps and log10 of the run's time for the loop's t.

        With time = "step", t is the number of steps, and InputError is raised for other numbers.
        Else `steps` is that number, None counting as 0. log10 is -inf at t = 0.
        """
        if self.time == "step":
            if t != math.floor(t) or t > MOST_STEPS:
                raise InputError(
                    f't = {t:g} is not a number of steps; with time = "t" it is a time.'
                )
            time, step = t * self.time_per_t, int(t)
        else:
            time, step = t * self.time_per_t, 0 if steps is None else int(steps)
        # NumPy's logarithm, as in all runs: Python's may differ in the last digit.
        return step, float(np.log10(time)) if time > 0.0 else -math.inf

    def dynamics_section(self) -> dict[str, Any]:
        """Return the section `dynamics` of the experiment; the end of training is in [-8, 15]."""
        section: dict[str, Any] = {"kind": self.dynamics or "recorded"}
        if self.dynamics in STEPPED:
            section["step"] = self.step
            if self.batch is not None and self.dynamics != "gd":
                section["batch"] = self.batch
            if self.optimizer is not None:
                section |= self.optimizer.section
        until = 1.0 if self.until is None else self.until * self.time_per_t
        section["until_log10_time"] = min(max(math.log10(until), -8.0), 15.0)
        return section


def _one_of(name: str, value: object, allowed: Sequence[str], also_allowed: str = "") -> None:
    """Raise InputError for a value that is not allowed, with the nearest one as a hint."""
    if value in allowed:
        return
    near = difflib.get_close_matches(str(value)[:50].lower(), allowed, n=1)
    hint = (
        f"did you mean {near[0]!r}?"
        if near
        else f"allowed are: {', '.join(allowed)}{also_allowed}."
    )
    raise InputError(f"{name} = {value!r:.60} does not exist; {hint}")


# --------------------------------------------------------------------------- content of the file

# Libraries of recorded loops.


def describe_engine() -> str:
    """Return "recorded from Python 3.11.9, torch 2.4, ...", for `engine` in a run file.

    Named are PyTorch, JAX, TensorFlow and NumPy, if the process has loaded them.
    """
    frameworks = ("torch", "jax", "tensorflow", "numpy")
    parts = [f"Python {platform.python_version()}"]
    for name in frameworks:
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
    """Describe a file that starts with a frame.

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
    arrays_of_file = {**examples.arrays, "origin": origin}
    arrays_of_file |= {f"{FIXED}{name}": array for name, array in fixed.items()}
    return description, {
        name: np.ascontiguousarray(one, "<f8") for name, one in arrays_of_file.items()
    }


def _experiment(
    examples: Examples,
    options: Options,
    form: Form,
    start: Floats,
    fixed: Mapping[str, Floats],
    precision: str,
) -> dict[str, Any]:
    """Return the experiment as in a study file, with a SHA-256 for the start's arrays."""
    hasher = hashlib.sha256(start.astype("<f8").tobytes())
    for name in sorted(fixed):
        hasher.update(fixed[name].astype("<f8").tobytes())
    data = {"kind": "file", "n": form.n, "d": form.d, "content": examples.content}
    if examples.real:
        data["targets"] = "real"
    return {
        "data": data,
        "network": form.section(hasher.hexdigest()),
        "loss": {"kind": options.loss},
        "dynamics": options.dynamics_section(),
        "recording": {"frames": options.frames},
        "run": {"precision": precision},
    }


def with_end(experiment: Mapping[str, Any], log10_time: float) -> dict[str, Any]:
    """Return a copy of an experiment that ends at `log10_time`, clipped to [-8, 15].

    The time is that of the run, not the loop's t.
    """
    until = min(max(log10_time, -8.0), 15.0)
    return {**experiment, "dynamics": {**experiment["dynamics"], "until_log10_time": until}}
