"""A Problem: an experiment made concrete, with its data and initial parameters as arrays.

Randomness is NumPy's PCG64. One `default_rng(run.seed)` draws the data and then the parameters;
`data.seed` and `network.seed`, when given, use generators of their own. Test points come from
`default_rng([run.seed, 1])` (or [data.seed, 1]).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from core.data.dataset import Array, Dataset, TestSet
from core.data.files import read_npz
from core.data.registry import distribution
from core.errors import InputError
from core.experiment import Experiment
from core.losses import LOSSES, LossFunction
from core.network.parametrisation import Parametrisation
from core.network.registry import parametrisation
from core.sections.network import StandardNetwork
from core.settings import MAX_ELEMENTS, Section


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where a run begins: at t = 0, or at the last frame of the run that it continues.

    The physical parameters are e^rho * `parameters`. `origin` are the parameters at t = 0, from
    which rotation and distance are measured.
    """

    parameters: Array
    origin: Array
    rho: float = 0.0
    step: int = 0
    log10_time: float = -np.inf
    continues: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Everything a dynamics needs: experiment, data, network and start."""

    experiment: Experiment
    dataset: Dataset
    network: Parametrisation
    start: Start
    title: str = ""
    source: str = ""

    @property
    def loss(self) -> LossFunction:
        return LOSSES[self.experiment.loss.kind]

    def margins(self, flat: Array) -> Array:
        """p_i = y_i f(x_i) at flat parameters, shape (n,)."""
        from core.network.kernel import margins

        alpha, U = self.network.effective(flat)
        return margins(alpha, U, self.dataset.x, self.dataset.y)


def with_dynamics(problem: Problem, dynamics: Section) -> Problem:
    """The problem with another dynamics section."""
    experiment = problem.experiment.model_copy(update={"dynamics": dynamics})
    return replace(problem, experiment=experiment)


def resolve(
    experiment: Experiment, folder: Path | None = None, title: str = "", source: str = ""
) -> Problem:
    """Draw or read data and parameters; d, n and m become explicit, paths become content hashes.

    Raises InputError when a file is missing, malformed or in conflict with the experiment.
    """
    shared = np.random.default_rng(experiment.run.seed)
    data_seed, network_seed = experiment.data.seed, experiment.network.seed
    data_generator = shared if data_seed is None else np.random.default_rng(data_seed)
    dataset = distribution(experiment.data, folder).sample(data_generator)
    network_generator = shared if network_seed is None else np.random.default_rng(network_seed)
    flat, width = _parameters(experiment, folder, dataset.d, network_generator)
    experiment = _concrete(experiment, dataset, flat, width)
    network = parametrisation(experiment.network.kind, width, dataset.d)
    return Problem(experiment, dataset, network, Start(flat, flat), title, source)


def _concrete(experiment: Experiment, dataset: Dataset, flat: Array, width: int) -> Experiment:
    for name, size in (("n * d", dataset.n * dataset.d), ("m * d", width * dataset.d)):
        if size > MAX_ELEMENTS:
            raise InputError(f"{name} = {size:.3g} is larger than {MAX_ELEMENTS:.0e}, the most.")
    data = experiment.data
    if data.embedded:
        changes = {"path": None, "d": dataset.d, "n": dataset.n, "content": dataset.digest()}
        data = data.model_copy(update=changes)
    network = experiment.network
    if network.init == "file":
        content = hashlib.sha256(flat.astype("<f8").tobytes()).hexdigest()
        changes = {"init_path": None, "m": width, "content": content}
        network = network.model_copy(update=changes)
    return experiment.model_copy(update={"data": data, "network": network})


def _parameters(
    experiment: Experiment, folder: Path | None, d: int, generator: np.random.Generator
) -> tuple[Array, int]:
    settings = experiment.network
    if settings.init == "paper":
        assert settings.m is not None  # the section's validator sees to it
        return parametrisation(settings.kind, settings.m, d).initialise(generator), settings.m
    return _parameters_from_file(settings, folder, d)


def _parameters_from_file(
    settings: StandardNetwork, folder: Path | None, d: int
) -> tuple[Array, int]:
    if settings.init_path is None:
        raise InputError('network.init_path is missing; with network.init = "file" name an NPZ.')
    path = Path(settings.init_path) if folder is None else folder / settings.init_path
    arrays = read_npz(path, "network.init_path")
    widths = {array.shape[0] for array in arrays.values() if array.ndim}
    width = settings.m if settings.m is not None else min(widths, default=1)
    network = parametrisation(settings.kind, width, d)
    for block in network.layout:
        if block.name not in arrays:
            found = ", ".join(sorted(arrays)) or "nothing"
            raise InputError(f"network.init_path: {path} has no array {block.name}; found {found}.")
        array = arrays[block.name]
        if array.shape != block.shape:
            raise InputError(
                f"network.init_path: {block.name} in {path} has shape {array.shape}; with "
                f"m = {width} and d = {d} it must be {block.shape}."
            )
        if not np.isfinite(array).all():
            raise InputError(
                f"network.init_path: {block.name} in {path} has a value that is not finite."
            )
    return network.pack(arrays), width


def points_for_test(problem: Problem) -> TestSet | None:
    """The points of the test error: the file's own, all corners, or a fixed sample; else None."""
    data = problem.dataset
    if data.x_test is not None and data.y_test is not None:
        return TestSet(data.x_test, data.y_test, exact=False)
    section = problem.experiment.data
    if section.embedded:
        return None
    seed = problem.experiment.run.seed if section.seed is None else section.seed
    source = distribution(section, None)
    if not data.directions:  # a data set read from a run file does not know its teacher
        data = source.sample(np.random.default_rng(seed))
    return source.test_set(np.random.default_rng([seed, 1]), data)
