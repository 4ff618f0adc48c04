"""Description of a run: what its file says of it before the first frame, which never changes."""

from __future__ import annotations

from abc import ABC
from functools import cached_property
from typing import Any

import numpy as np

from core.data.dataset import Array, Dataset
from core.losses import LossFunction, loss_named
from core.network.parametrisation import Network
from core.problem.problem import Problem, Start
from core.problem.reduction import Reduction
from core.run_files.meta import printable
from core.runs.meta import Lineage, lineage_of
from core.runs.run_file import RunHeader
from core.study_file.experiment import Experiment

MAX_NOTE = 500


class RunDescription(ABC):
    """Settings, data, start and origin of a run, from the header of its file."""

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
        inputs = self.network.inputs(self.reduction.training(x))
        return inputs, self.reduction.perpendicular_products(x)

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
