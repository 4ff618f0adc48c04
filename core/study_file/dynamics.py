"""Dynamics of the parameters: a section for each."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

from pydantic import model_validator

from core.errors import RuleError
from core.network.kernel_predictor import KernelNetwork
from core.network.parametrisation import Arrays, Network, Shape
from core.network.registry import NETWORKS
from core.network.section import NetworkSection
from core.settings import Registry, kind_of, setting
from core.study_file.descent import Adam, GradientDescent, StochasticGradientDescent
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection
from core.study_file.label_noise import LabelNoise
from core.study_file.momentum import HeavyBall, Nesterov
from core.study_file.population import PopulationFlow
from core.study_file.sam import SharpnessAware
from core.study_file.steepest import SteepestDescent

FLOW_STEP = 1e4  # multiply-adds equivalent to the fixed 59 us of a flow's step (6 ns each)
# `work` per second of a flow, calibrated without the number of steps in a unit of log10 t.
FLOW_RATE = 3e4
KERNEL_TESTS = 4096.0  # approximate number of test points of a kernel predictor
FLOW_ANEW = (
    "the flow's steps restart there and agree with an uninterrupted run within the integration "
    "error"
)


def log_time_work(n: float, m: float, until: float) -> float:
    """Return n m + 1e4 a step, with the number of steps that measured cells took.

    Parameters
    ----------
    n, m : float
        Examples and neurons.
    until : float
        log10 t of the end.

    Returns
    -------
    float
    """
    return (n * m + FLOW_STEP) * max(1.0, until)


@final
class PlainFlow(DynamicsSection):
    title: ClassVar[str] = "gradient flow in plain time, in small steps that keep what it conserves"
    words: ClassVar[str] = "gradient flow in plain time"
    source: ClassVar[str] = "Boursier and Flammarion 2025 (the flow); docs/theory.md (the steps)"
    full_gradient: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("balanced",)
    fits_targets: ClassVar[bool] = True

    kind: Literal["plain_flow"] = "plain_flow"
    step: float | None = setting(
        None,
        meaning="step length, shortened where too long; default .01/((1/n) sum_i |l'_i| |x_i|) "
        "at f = 0, a hundredth of the time in which a small neuron turns",
        gt=0,
    )
    until_log10_time: float = setting(2.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def check(self, experiment: Any) -> None:
        self._needs_standard(
            experiment, "is for ReLU networks and for those without activation", linear=True
        )
        self._needs_float64(experiment)
        if experiment.loss.l2 > 0.0:
            raise RuleError(
                f'dynamics.kind = "{self.kind}" follows the risk alone, and a penalty breaks its '
                'conservation law; use loss.l2 = 0 or dynamics.kind = "gd"',
                keys=("loss.l2", "dynamics.kind"),
            )

    def work(self, n: float, m: float, d: float) -> float:
        return 2.0 * self.steps() * n * m * d


@final
class RecordedLoop(DynamicsSection):
    title: ClassVar[str] = "recorded steps of another program; not trained here"
    words: ClassVar[str] = "a recorded loop"
    source: ClassVar[str] = "the user's own"
    fits_targets: ClassVar[bool] = True

    kind: Literal["recorded"] = "recorded"
    until_log10_time: float = setting(
        0.0, meaning="end of the recording, if stated", unit="log10 t", ge=-8, le=15
    )


@final
class GradientFlow(DynamicsSection):
    title: ClassVar[str] = "gradient flow dW/dt = -grad R(W), followed in log time"
    words: ClassVar[str] = "gradient flow"
    source: ClassVar[str] = "telgarsky22, section 1.2"
    furthest: ClassVar[float] = 1e200
    full_gradient: ClassVar[bool] = True
    log_time: ClassVar[bool] = True
    rate: ClassVar[float] = FLOW_RATE
    long_state: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("flow",)
    kernels_without_twin: ClassVar[tuple[str, ...]] = ("heads",)

    kind: Literal["flow"] = "flow"
    until_log10_time: float = setting(4.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=1e200)
    accuracy: Literal["figures", "numbers"] = setting(
        "figures",
        meaning="figures: late hard margins to 5e-5; numbers: to 3e-5, by smaller late steps",
    )
    scheme: Literal["chebyshev", "euler"] = setting(
        "chebyshev",
        meaning="chebyshev: stabilised stages; euler: the slow reference scheme",
        advanced=True,
    )

    def in_row_space(self) -> bool:
        return True

    def check(self, experiment: Any) -> None:
        # Only flow is rejected: descent to t = 1e4 is as accurate in float32 (docs/theory.md, 9).
        if experiment.run.precision == "float32":
            raise RuleError(
                'run.precision = "float32" cannot follow gradient flow, whose margins depend on '
                'the last digits; use "float64", or dynamics.kind = "gd"',
                keys=("run.precision", "dynamics.kind"),
            )
        if experiment.loss.l2 > 0.0:
            raise RuleError(
                f"loss.l2 = {experiment.loss.l2:g} cannot be followed in log time, where the "
                'penalised flow comes to rest; use dynamics.kind = "gd", or l2 = 0',
                keys=("loss.l2", "dynamics.kind"),
            )
        if not experiment.loss.vanishes:
            raise RuleError(
                f'loss.kind = "{experiment.loss.kind}" has no log time, which needs a loss that '
                'goes to zero; use dynamics.kind = "gd", or the exponential or logistic loss',
                keys=("loss.kind", "dynamics.kind"),
            )
        reason = experiment.network.not_homogeneous()
        if reason:
            has_choice = "smooth" in type(experiment.network).model_fields
            raise RuleError(
                f"{reason}, so its flow cannot be followed in log time; use "
                f'dynamics.kind = "gd"{", or smooth = false" if has_choice else ""}',
                keys=("network.smooth" if has_choice else "network.kind", "dynamics.kind"),
            )

    def work(self, n: float, m: float, d: float) -> float:
        return log_time_work(n, m, self.until_log10_time)

    def describe_restart(self, fixed_features: bool) -> str:
        return FLOW_ANEW


@final
class MirrorFlow(DynamicsSection):
    title: ClassVar[str] = "mirror flow d ln u/dt = -2 dR/du for u = |a b|, from a balanced start"
    words: ClassVar[str] = "mirror flow"
    source: ClassVar[str] = "homogeneity, Lemma 3.2; telgarsky22, section 3.2"
    furthest: ClassVar[float] = 1e200
    log_time: ClassVar[bool] = True
    rate: ClassVar[float] = FLOW_RATE
    long_state: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("mirror",)
    frame_is_all: ClassVar[bool] = True

    kind: Literal["mirror"] = "mirror"
    step: float | None = setting(
        None,
        meaning="normalised and head: explicit steps u <- u exp(-2 eta dR/du), with V by gradient "
        "descent, t = eta * steps; default 1/lambda_0. scalar needs none: u = u(0) exp(2 Z'lambda) "
        "with d lambda/ds = q in R^n, followed in log time",
        gt=0,
    )
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=1e200)

    def check(self, experiment: Any) -> None:
        network, loss = experiment.network, experiment.loss
        network_class = NETWORKS[network.kind]
        if not network_class.factored:
            *kinds, last = (f'"{kind}"' for kind, cls in NETWORKS.items() if cls.factored)
            raise RuleError(
                'dynamics.kind = "mirror" needs outer weights a_j b_j, but network.kind = '
                f'"{network.kind}" has none; use network.kind = {", ".join(kinds)} or {last}',
                keys=("dynamics.kind", "network.kind"),
            )
        if not loss.exp_tailed:
            raise RuleError(
                'dynamics.kind = "mirror" needs the exponential or logistic loss, not '
                f'"{loss.kind}"',
                keys=("dynamics.kind", "loss.kind"),
            )
        if loss.l2 > 0.0:
            raise RuleError(
                'dynamics.kind = "mirror" has no penalty; set loss.l2 = 0',
                keys=("loss.l2", "dynamics.kind"),
            )
        self._needs_float64(experiment)
        if network_class.fixed_features and self.step is not None:
            raise RuleError(
                f'dynamics.step is not used by the mirror flow of network.kind = "{network.kind}", '
                "which chooses its own steps; leave it out",
                keys=("dynamics.step", "network.kind"),
            )
        if not network_class.fixed_features and self.until_log10_time > 15.0:
            raise RuleError(
                f"dynamics.until_log10_time = {self.until_log10_time:g} cannot be reached by "
                'steps; choose at most 15, or network.kind = "scalar", which is followed in log '
                "time",
                keys=("dynamics.until_log10_time", "network.kind"),
            )

    def work(self, n: float, m: float, d: float) -> float:
        return log_time_work(n, m, self.until_log10_time)

    def describe_restart(self, fixed_features: bool) -> str:
        return FLOW_ANEW if fixed_features else ""


@final
class PerturbedFlow(DynamicsSection):
    title: ClassVar[str] = (
        "perturbed Wasserstein flow: descent of m particles, some redrawn at each step"
    )
    words: ClassVar[str] = "perturbed Wasserstein flow"
    source: ClassVar[str] = "wei19, section 3 (equation 3.2) and section E.3; lambda is loss.l2"
    kernels: ClassVar[tuple[str, ...]] = ("stochastic",)
    count_is_all: ClassVar[bool] = True
    # The step determines how many particles are replaced.
    fixed_by: ClassVar[frozenset[str]] = frozenset({"step"})

    kind: Literal["perturbed"] = "perturbed"
    sigma: float = setting(
        1e-3,
        meaning="noise sigma: in each step a particle is replaced with probability eta * sigma by "
        "one uniform on the sphere",
        ge=0,
        le=1e3,
    )
    particles: Literal["sphere", "atom", "network"] = setting(
        "sphere",
        meaning="initial particles: sphere: uniform on it, theta_j = sqrt(m) (a_j, v_j) of norm "
        "1; atom: all at one random point of it; network: the network's own start",
    )
    step: float | None = setting(
        None,
        meaning="step size eta; default the smaller of 1/max |x_i|^2 and 1/lambda_0 at the start",
        gt=0,
    )
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def check(self, experiment: Any) -> None:
        self._needs_standard(experiment, "moves particles (a_j, v_j)")


@final
class TwoPhase(DynamicsSection):
    title: ClassVar[str] = "two phases: one large-batch step on V, then the convex outer layer"
    words: ClassVar[str] = "two-phase training"
    source: ClassVar[str] = "telgarsky22, Table 1 (its row 2-phase SGD)"
    kernels: ClassVar[tuple[str, ...]] = ("two_phase",)
    count_is_all: ClassVar[bool] = True

    kind: Literal["two_phase"] = "two_phase"
    first_batch: int = setting(
        0,
        meaning="examples of the first step, drawn fresh from the distribution; 0: the training "
        "examples, which the second phase uses in any case",
        ge=0,
        le=10_000_000,
    )
    step: float | None = setting(
        None,
        meaning="step size of the second phase, t = step * steps; default 1/lambda_0 of the outer "
        "layer alone",
        gt=0,
    )
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def check(self, experiment: Any) -> None:
        self._needs_standard(experiment, "trains V in its first phase and a in its second")
        self._needs_float64(experiment)
        if self.first_batch > 0 and not experiment.data.known_law:
            raise RuleError(
                f"dynamics.first_batch = {self.first_batch} needs a distribution to draw from, "
                f'but data.kind = "{experiment.data.kind}" has none; use first_batch = 0',
                keys=("dynamics.first_batch", "data.kind"),
            )

    def work(self, n: float, m: float, d: float) -> float:
        return (self.first_batch + n) * m * d


@final
class KernelPredictor(DynamicsSection):
    title: ClassVar[str] = "kernel predictor of infinite width, fitted at once: no training"
    words: ClassVar[str] = "kernel predictor"
    source: ClassVar[str] = "telgarsky22, Assumption 1.3; wei19, section 2"
    count_is_all: ClassVar[bool] = True
    rate: ClassVar[float] = 1e9  # its work is in nanoseconds

    kind: Literal["kernel"] = "kernel"
    weights: Literal["both", "first", "second"] = setting(
        "both",
        meaning="part of the tangent kernel, a ~ N(0, 1), v ~ N(0, s I): both: K1 + s K2; first: "
        "of V only, K1 = <x, x'> (pi - t)/(2 pi); second: of a only, s K2, K2 = |x| |x'| "
        "(sin t + (pi - t) cos t)/(2 pi); t is the angle of x and x'",
    )
    variance: float | None = setting(
        None, meaning="s, variance of the entries of v; default 1/d; wei19 has 1", gt=0, le=1e12
    )
    hard: bool = setting(
        False, meaning="true: the hard-margin SVM without intercept; false: ridge regression"
    )
    ridge: float = setting(1e-8, meaning="coefficients (K + ridge I)^-1 y", ge=0, le=1e12)

    @property
    def until_log10_time(self) -> float:
        """End of a run: frame 1, the fitted predictor, is at t = 1."""
        return 0.0

    def check(self, experiment: Any) -> None:
        self._needs_standard(experiment, "is the infinite width of the standard network")
        self._needs_relu(experiment)
        self._needs_float64(experiment)
        if experiment.loss.l2 > 0.0:
            raise RuleError(
                'dynamics.kind = "kernel" has a ridge of its own; set loss.l2 = 0',
                keys=("loss.l2", "dynamics.kind"),
            )

    def recorded_kind(self, network: NetworkSection) -> str:
        return KernelNetwork.kind

    def recorded_network(self, network: NetworkSection, shape: Shape, fixed: Arrays) -> Network:
        return KernelNetwork(shape, self.weights, self.variance)

    @model_validator(mode="after")
    def _check_ridge(self) -> KernelPredictor:
        """Raise RuleError for a ridge of the hard margin."""
        # The default value is accepted, since run files state every key.
        if self.hard and "ridge" in self.model_fields_set and self.ridge != 1e-8:
            raise RuleError(
                "dynamics.hard = true has no ridge; leave dynamics.ridge out, or set hard = false",
                keys=("hard", "ridge"),
            )
        return self

    def work(self, n: float, m: float, d: float) -> float:
        """Return the time of a fit: 80 ns for each entry of a kernel, and n^3 / 3 at 60 GFLOP/s.

        Parameters
        ----------
        n, m, d : float
            Examples, neurons and dimension; only n counts.

        Returns
        -------
        float
            80 (n^2 + 4096 n) + n^3 / 180, in ns.
        """
        return 80.0 * (n * n + KERNEL_TESTS * n) + n**3 / 3.0 / 60.0

    def count_stored(self, n: float) -> float:
        return 2.0 * n * n + KERNEL_TESTS * n


DYNAMICS: Registry[type[DynamicsSection]] = Registry(
    kind_of,
    GradientFlow,
    GradientDescent,
    StochasticGradientDescent,
    LabelNoise,
    Adam,
    HeavyBall,
    Nesterov,
    SharpnessAware,
    SteepestDescent,
    PlainFlow,
    PopulationFlow,
    MirrorFlow,
    PerturbedFlow,
    TwoPhase,
    KernelPredictor,
)
DYNAMICS.aside["recorded"] = RecordedLoop
