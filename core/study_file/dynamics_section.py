"""Common base of all dynamics: their properties for the rest of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import RuleError
from core.network.deep_linear import DeepLinearNetwork
from core.network.diagonal import DiagonalLinearNetwork
from core.network.linear import LinearNetwork
from core.network.parametrisation import Arrays, Network, Shape
from core.network.registry import build_network
from core.network.section import NetworkSection
from core.network.standard import StandardNetwork
from core.settings import Section

UNTIL_MEANING = "stop at t = 10^this"
LINEAR = (LinearNetwork, DiagonalLinearNetwork, DeepLinearNetwork)


class DynamicsSection(Section):
    """Dynamics of an experiment; the defaults are right for any.

    `words` is its name in figures, `furthest` the largest log10 t that a run may have.
    """

    words: ClassVar[str] = ""
    furthest: ClassVar[float] = 15.0
    fits_targets: ClassVar[bool] = False
    takes_group_penalty: ClassVar[bool] = False  # accepts loss.l23
    full_gradient: ClassVar[bool] = False  # W follows -grad R, by flow or full-batch descent
    # W follows the gradient of the exact risk over all inputs, by flow
    follows_population: ClassVar[bool] = False
    log_time: ClassVar[bool] = False  # integrates in ln t, so that steps grow with t
    # Groups of kernels (core.compiled.kernel_groups) of its engines, and those for networks without
    # compiled kernels.
    kernels: ClassVar[tuple[str, ...]] = ()
    kernels_without_twin: ClassVar[tuple[str, ...]] = ()
    # True if a frame, or a frame and the number of steps since t = 0, is enough to continue.
    # Otherwise the state is saved, and training since the last saved state is repeated.
    frame_is_all: ClassVar[bool] = False
    count_is_all: ClassVar[bool] = False
    fixed_by: ClassVar[frozenset[str]] = frozenset()  # keys that a continued run may not change
    long_state: ClassVar[bool] = False  # its state has arrays as long as the parameters
    rate: ClassVar[float] = 2e9  # `work` per second on one core: 1.2e9 to 2.2e9 were measured
    if TYPE_CHECKING:
        kind: str

        @property
        def until_log10_time(self) -> float:
            """log10 t at which a run ends."""

    def in_row_space(self) -> bool:
        """Return True if no v_j leaves the span of the training data's rows and of v_j(0)."""
        return False

    def steps(self) -> float:
        """Return the number of equal steps to the end, at least 1; 1 without a known `step`.

        For estimates: an end after t = 10^12 counts as 10^12.
        """
        step = getattr(self, "step", None)
        return max(1.0, 10.0 ** min(self.until_log10_time, 12.0) / step) if step else 1.0

    def work(self, n: float, m: float, d: float) -> float:
        """Return the multiply-adds of a run, up to a factor common to all runs of this dynamics.

        Parameters
        ----------
        n, m, d : float
            Examples, neurons and dimension.

        Returns
        -------
        float
            `rate` of them take a second on one core.
        """
        return self.steps() * n * m * d

    def count_stored(self, n: float) -> float:
        """Return how many numbers memory holds beside data, parameters and activations."""
        return 0.0

    def describe_restart(self, fixed_features: bool) -> str:
        """Return a clause about what restarts if only a frame is known; empty for nothing."""
        return ""

    def check(self, experiment: Any) -> None:
        """Raise RuleError if it does not go with the other sections of an experiment."""

    def _needs_standard(self, experiment: Any, reason: str, linear: bool = False) -> None:
        """Raise RuleError, with the reason, unless the network is standard (or `linear`)."""
        allowed = (StandardNetwork, *LINEAR) if linear else StandardNetwork
        kinds = '"standard", "linear", "diagonal_linear" or "deep_linear"'
        kinds = kinds if linear else '"standard"'
        if not isinstance(experiment.network, allowed):
            raise RuleError(
                f'dynamics.kind = "{self.kind}" {reason}, so it does not go with network.kind = '
                f'"{experiment.network.kind}"; use network.kind = {kinds}',
                keys=("dynamics.kind", "network.kind"),
            )

    def _needs_relu(self, experiment: Any) -> None:
        """Raise RuleError for a leaky slope."""
        if experiment.network.slope > 0.0:
            raise RuleError(
                f'dynamics.kind = "{self.kind}" needs the ReLU; use network.slope = 0',
                keys=("network.slope", "dynamics.kind"),
            )

    def _needs_float64(self, experiment: Any) -> None:
        """Raise RuleError for single precision."""
        if experiment.run.precision == "float32":
            raise RuleError(
                f'dynamics.kind = "{self.kind}" needs run.precision = "float64"',
                keys=("run.precision", "dynamics.kind"),
            )

    def recorded_kind(self, network: NetworkSection) -> str:
        """Return the kind of network in a run's frames: the experiment's, or the predictor's."""
        return network.kind

    def recorded_network(self, network: NetworkSection, shape: Shape, fixed: Arrays) -> Network:
        """Return the network in a run's frames.

        Parameters
        ----------
        network : NetworkSection
            Settings of the experiment's network.
        shape : Shape
            m, inputs and number of outputs.
        fixed : dict of str to array
            Untrained arrays by name.

        Returns
        -------
        Network
        """
        return build_network(network, shape, fixed)


def check_batch(batch: int, n: int | None) -> None:
    """Raise RuleError for steps of more than n examples."""
    if n is not None and batch > n:
        raise RuleError(
            f"dynamics.batch = {batch} is larger than n = {n}; choose at most {n}",
            keys=("dynamics.batch", "data.n"),
        )
