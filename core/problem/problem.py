"""Problem: an experiment with its data and initial parameters as arrays.

Randomness is NumPy's PCG64. One `default_rng(run.seed)` draws the data and then the parameters;
`data.seed` and `network.seed`, when given, use generators of their own. Test points come from
`default_rng([run.seed, 1])` (or [data.seed, 1]).
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Dataset, TestSet
from core.data.registry import draw
from core.data.section import FileSection
from core.errors import InputError
from core.losses import LossFunction, loss_named
from core.network.custom import CustomNetwork, with_code
from core.network.parametrisation import Network, Shape
from core.network.registry import NETWORKS, build_network, initial_arrays
from core.problem.parameter_file import read_arrays
from core.problem.reduction import Reduction
from core.settings import MAX_ELEMENTS, Section
from core.study_file.experiment import Experiment

Array = NDArray[np.float64]
# Solver state besides the parameters: arrays by name.
State = Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Frames of the previous runs in the order of time.

    The H frames have `steps`, `log10_time` and `rho` (H,), and flat `parameters` (H, size). The
    frame at t = 0 is not among them: it is the origin. `complete` is False if frames of some
    previous run are missing. `errors` (H + 1,) are the `margin_error` of these frames, and of the
    frame with which the run starts, infinite where unknown; None if no step was checked.
    """

    steps: NDArray[np.int64]
    log10_time: Array
    rho: Array
    parameters: NDArray[np.floating]
    complete: bool = True
    errors: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Start of a run: t = 0, or a frame of the run that it continues.

    The physical parameters are `network.physical(parameters, rho)`. `origin` are the parameters at
    t = 0, from which rotation and distance are measured. `continues` names the previous run.

    `same_dynamics` is True if the previous run's dynamics continues unchanged; with its `state` at
    the start the continuation is exact. If that state is only known at an `earlier` start, a replay
    from there to the start comes first (core.dynamics.replay), which records nothing. It passes the
    frames at `replay_times`, increasing log10 t whose last is the start's own. Its dynamics is
    `replay_dynamics`; None for the run's own. `history` are the frames before the start.

    Within a replay the dynamics ends at the start. Its own start has `replay_dynamics` with the
    original end, up to which a schedule of learning rates counts the steps.
    """

    parameters: Array
    origin: Array
    rho: float = 0.0
    step: int = 0
    log10_time: float = -np.inf
    continues: Mapping[str, object] | None = None
    same_dynamics: bool = True
    state: State | None = None
    earlier: Start | None = None
    replay_times: tuple[float, ...] = ()
    replay_dynamics: Section | None = None
    history: History | None = None


@final
class LastValue:
    """Cache of the last value of a function of some objects and a point. Thread-safe."""

    def __init__(self) -> None:
        self._last: tuple[tuple[object, ...], Array, float] = (), np.zeros(0), np.nan

    def value(self, key: tuple[object, ...], flat: Array, compute: Callable[[], float]) -> float:
        """Return the cached value of these very objects at a point, or `compute` it.

        Parameters
        ----------
        key : tuple
            Objects on which the value depends, compared by identity.
        flat : array (size,)
            Point, compared by its values. A copy is kept.
        compute : callable
            Computes the value, which replaces the cached one.

        Returns
        -------
        float
        """
        before, point, value = self._last
        is_same = len(key) == len(before) and all(map(operator.is_, key, before))
        if not (is_same and np.array_equal(flat, point)):
            value = compute()
            self._last = key, flat.copy(), value
        return value


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Input of a dynamics: experiment, data, network and start.

    `inputs` x~ (n, D) are what the network sees of the training data. With a `reduction` (row-space
    form) network, start and inputs are in its coordinates, and the data set is unchanged. `notes`
    are sentences about chosen defaults, which the run reports. Copies by `replace` share
    `last_lambda_0`.
    """

    experiment: Experiment
    dataset: Dataset
    network: Network
    start: Start
    title: str = ""
    source: str = ""
    reduction: Reduction | None = None
    notes: tuple[str, ...] = ()
    last_lambda_0: LastValue = field(default_factory=LastValue)
    inputs: Array = field(init=False)

    def __post_init__(self) -> None:
        x = self.dataset.x if self.reduction is None else self.reduction.training(self.dataset.x)
        object.__setattr__(self, "inputs", self.network.inputs(x))

    @property
    def loss(self) -> LossFunction:
        return loss_named(self.experiment.loss.kind)

    def physical_start(self) -> Array:
        """Return the physical parameters at the start.

        Returns
        -------
        array (size,)
            Flat, the homogeneous ones times e^rho; infinite where e^rho overflows. For rho = 0 the
            array of the start itself, not a copy.
        """
        return self.network.physical(self.start.parameters, self.start.rho)

    def outputs(self, flat: Array) -> Array:
        """Return the outputs on the training data.

        Parameters
        ----------
        flat : array (size,)
            Flat parameters.

        Returns
        -------
        array (n,) or (n, k)
            f(x_i).
        """
        return np.asarray(self.network.outputs(flat, self.inputs))

    def margins(self, flat: Array) -> Array:
        """Return the margins of the training examples, not normalised.

        Parameters
        ----------
        flat : array (size,)
            Flat parameters.

        Returns
        -------
        array (n,)
            p_i = y_i f(x_i); for k classes the own logit less the largest other one.
        """
        return self.network.margins(flat, self.inputs, self.dataset.y)

    def scores(self, flat: Array) -> Array:
        """Return the arguments of the loss on the training data.

        Parameters
        ----------
        flat : array (size,)
            Flat parameters.

        Returns
        -------
        array (n,), or (n, k - 1) for k classes
            Margins p_i; for least squares the residuals f(x_i) - y_i; for cross-entropy the gaps
            from the own logit of each example to the other logits.
        """
        return self.loss.scores(self.outputs(flat), self.dataset.y)

    def dual(self, flat: Array) -> Array | None:
        """Return the dual weights of the training examples.

        Parameters
        ----------
        flat : array (size,)
            Flat parameters; their norm sets the temperature of the weights.

        Returns
        -------
        array (n,) or None
            q_i = l'(p_i)/l'(l^-1(sum_k l(p_k))), with k classes summed over the other classes of
            each example. None if the loss is not monotone, as those that fit targets.
        """
        if not self.loss.monotone:
            return None
        q = self.loss.dual(self.scores(flat))
        return q if q.ndim == 1 else np.asarray(q.sum(axis=1))


def with_dynamics(problem: Problem, dynamics: Section) -> Problem:
    experiment = problem.experiment.model_copy(update={"dynamics": dynamics})
    return replace(problem, experiment=experiment)


def resolve_problem(
    experiment: Experiment,
    folder: Path | None = None,
    title: str = "",
    source: str = "",
    dataset: Dataset | None = None,
) -> Problem:
    """Draw or read the data and initial parameters of an experiment.

    d, n and m become explicit, and paths become content hashes.

    Parameters
    ----------
    experiment : Experiment
        Settings of the run.
    folder : Path, optional
        Folder of the study file, to which relative paths refer.
    title, source : str
        Title and source of the study, for the run's header.
    dataset : Dataset, optional
        Data of the experiment, as a run file holds them; drawn if None.

    Returns
    -------
    Problem
        Problem with the start at t = 0.

    Raises
    ------
    InputError
        A file is missing, malformed or in conflict with the experiment.
    """
    shared = np.random.default_rng(experiment.run.seed)
    data_seed, network_seed = experiment.data.seed, experiment.network.seed
    # Draw data first: figures of single seeds depend on this order (docs/theory.md, 2.3).
    data_generator = shared if data_seed is None else np.random.default_rng(data_seed)
    if dataset is None:
        dataset = draw(experiment.data, data_generator, folder)
    _check_classes(experiment, dataset)
    network_generator = shared if network_seed is None else np.random.default_rng(network_seed)
    section: Any = experiment.network
    if isinstance(section, CustomNetwork):
        section = with_code(section, folder)
    experiment = experiment.model_copy(update={"network": section})
    if section.init == "file":
        arrays, width = read_arrays(section, folder, dataset.x, _outputs(dataset))
    else:
        assert section.m is not None  # ensured by the section's validator
        width = section.m
        section.check_sizes(dataset.d, _outputs(dataset))
        shape = Shape(width, dataset.x, _outputs(dataset), dataset.y)
        arrays = initial_arrays(section, shape, network_generator)
    network = build_network(section, Shape(width, dataset.x, _outputs(dataset)), arrays)
    flat = network.pack(arrays)
    experiment = _concrete(experiment, dataset, network, flat, width)
    return Problem(experiment, dataset, network, Start(flat, flat), title, source)


def _outputs(dataset: Dataset) -> int:
    return 1 if dataset.classes == 2 else dataset.classes


def _check_classes(experiment: Experiment, dataset: Dataset) -> None:
    has_many, kind = dataset.classes > 2, experiment.network.kind
    classes = NETWORKS[kind].classes
    if has_many and classes == "two":
        raise InputError(
            f'The data have {dataset.classes} classes, but network.kind = "{kind}" has one '
            'output; use network.kind = "multiclass" or "quadratic" with loss.kind = '
            '"cross_entropy", or two classes.'
        )
    if not has_many and classes == "several":
        raise InputError(
            f'network.kind = "{kind}" needs data of three or more classes, but these have two; '
            'use network.kind = "standard" or "bias" with loss.kind = "logistic".'
        )


def _concrete(
    experiment: Experiment, dataset: Dataset, network: Network, flat: Array, width: int
) -> Experiment:
    for name, size in (("n * d", dataset.n * dataset.d), ("m * d", width * dataset.d)):
        if size > MAX_ELEMENTS:
            raise InputError(f"{name} = {size:.3g} is larger than the limit of {MAX_ELEMENTS:.0e}.")
    data = experiment.data
    if isinstance(data, FileSection):
        data = data.with_read(dataset)
    section = experiment.network
    if section.init == "file":
        digest = hashlib.sha256(flat.astype("<f8").tobytes())
        # Sorted by name, since runs store the hash and the network may list its arrays in any
        # order.
        for name in sorted(network.fixed):
            digest.update(network.fixed[name].astype("<f8").tobytes())
        changes: dict[str, Any] = {"init_path": None, "m": width, "content": digest.hexdigest()}
        section = section.model_copy(update=changes)
    return experiment.model_copy(update={"data": data, "network": section})


def points_for_test(problem: Problem) -> TestSet | None:
    """Return the test points: the file's own, all corners, or a fixed sample; else None."""
    data = problem.dataset
    if data.x_test is not None and data.y_test is not None:
        return TestSet(data.x_test, data.y_test, exact=False)
    section = problem.experiment.data
    if section.embedded:
        return None
    # A separate stream: from the seed alone the test points would equal the training examples.
    generator = np.random.default_rng([_data_seed(problem), 1])
    return section.distribution(None).test_set(generator, with_directions(problem))


def with_directions(problem: Problem) -> Dataset:
    """Return the data set, sampled again if it comes from a run file, which lacks its law."""
    data = problem.dataset
    if data.directions:
        return data
    source = problem.experiment.data.distribution(None)
    return source.sample(np.random.default_rng(_data_seed(problem)))


def _data_seed(problem: Problem) -> int:
    seed: int | None = problem.experiment.data.seed
    return problem.experiment.run.seed if seed is None else seed
