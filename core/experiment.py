"""An experiment: one data set, network, loss and dynamics, what is recorded, and the seed.

Every section is a frozen value (pydantic), so experiments are hashable and can be replaced field by
field. Kinds and keys are those of study files; the paper and section that a value comes from stand
beside it, and `python -m core describe` and the window's form print them from here.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from core.settings import Section, setting

MAX_FRAMES = 2_000
MAX_ELEMENTS = 50_000_000
SEED_MEANING = "seed of a generator of its own for this part; without it run.seed draws it"


class ParityData(Section):
    title: ClassVar[str] = "k-sparse parity: x uniform on {+-1/sqrt(d)}^d, y = d^(k/2) x_1...x_k"
    source: ClassVar[str] = "telgarsky22, section 1.3 and Figure 1"

    kind: Literal["parity"] = "parity"
    d: int = setting(20, meaning="dimension of the inputs", ge=1, le=1_000_000)
    n: int = setting(64, meaning="number of training examples", ge=1, le=1_000_000)
    k: int = setting(2, meaning="number of coordinates whose parity is the label", ge=1)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=2**63 - 1)

    @model_validator(mode="after")
    def _k_fits_d(self) -> ParityData:
        if self.k > self.d:
            raise ValueError(f"k = {self.k} is larger than d = {self.d}; k may be 1 to d")
        return self


class FileData(Section):
    title: ClassVar[str] = "data from a file: NPZ (x, y, optional x_test, y_test) or CSV (label y)"
    source: ClassVar[str] = "the user's own"

    kind: Literal["file"] = "file"
    path: str | None = setting(None, meaning="NPZ or CSV file, relative to the study file")
    d: int | None = setting(None, meaning="dimension of the inputs, if it should be checked", ge=1)
    n: int | None = setting(None, meaning="number of examples, if it should be checked", ge=1)
    content: str | None = setting(
        None, meaning="SHA-256 of the embedded data; set by the program", advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=2**63 - 1)


class StandardNetwork(Section):
    title: ClassVar[str] = "two-layer ReLU network f(x) = sum_j a_j relu(<v_j, x>), both trained"
    source: ClassVar[str] = "telgarsky22, section 1.2; wei19, section 2"

    kind: Literal["standard"] = "standard"
    m: int | None = setting(None, meaning="width: number of nodes", ge=1, le=1_000_000)
    init: Literal["paper", "file"] = setting(
        "paper", meaning="paper: a ~ N(0, 1/m), V ~ N(0, I/d); file: from init_path"
    )
    init_path: str | None = setting(
        None, meaning="NPZ with the arrays a (m,) and V (m, d), relative to the study file"
    )
    content: str | None = setting(
        None, meaning="SHA-256 of the embedded parameters; set by the program", advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=2**63 - 1)

    @model_validator(mode="after")
    def _width_or_file(self) -> StandardNetwork:
        if self.init == "paper" and self.m is None:
            raise ValueError("m, the width, is missing; give a whole number such as m = 256")
        if self.init == "paper" and self.init_path is not None:
            raise ValueError('init_path is only used with init = "file"; set init or drop the path')
        return self


L2_MEANING = "lambda of the penalty lambda |Theta|^2 on all trained parameters (descent only)"


class ExponentialLoss(Section):
    title: ClassVar[str] = "exponential loss l(z) = exp(-z); risk R = (1/n) sum_i l(p_i)"
    source: ClassVar[str] = "telgarsky22, section 1.2"

    kind: Literal["exponential"] = "exponential"
    l2: float = setting(0.0, meaning=L2_MEANING, source="wei19, section 2", ge=0)


class LogisticLoss(Section):
    title: ClassVar[str] = "logistic loss l(z) = ln(1 + exp(-z)); risk R = (1/n) sum_i l(p_i)"
    source: ClassVar[str] = "telgarsky22, section 1.2"

    kind: Literal["logistic"] = "logistic"
    l2: float = setting(0.0, meaning=L2_MEANING, source="wei19, section 2", ge=0)


class GradientDescent(Section):
    title: ClassVar[str] = "full-batch gradient descent with constant step; t = step * steps"
    source: ClassVar[str] = "telgarsky22, Figure 1"

    kind: Literal["gd"] = "gd"
    step: float | None = setting(
        None, meaning="step size eta; default 1/lambda_0 at the start, safe below 2/lambda_0", gt=0
    )
    until_log10_time: float = setting(
        3.0, meaning="stop at t = 10^this", unit="log10 t", ge=-8, le=15
    )


class GradientFlow(Section):
    title: ClassVar[str] = "gradient flow dW/dt = -grad R(W), followed in log time"
    source: ClassVar[str] = "telgarsky22, section 1.2"

    kind: Literal["flow"] = "flow"
    until_log10_time: float = setting(
        4.0, meaning="stop at t = 10^this", unit="log10 t", ge=-8, le=1e200
    )
    accuracy: Literal["figures", "numbers"] = setting(
        "figures", meaning="figures: hard margins to 3e-5; numbers: slower, smaller late steps"
    )
    scheme: Literal["chebyshev", "euler"] = setting(
        "chebyshev",
        meaning="chebyshev: stabilised stages; euler: the slow reference scheme",
        advanced=True,
    )


class Recording(Section):
    title: ClassVar[str] = "what is kept of a run: frames on a schedule fixed before it starts"

    frames: int = setting(
        400, meaning="upper bound on the number of frames, t = 0 included", ge=2, le=MAX_FRAMES
    )
    log10_times: tuple[float, ...] = setting(
        (), meaning="extra marks: times t = 10^this that get a frame of their own", unit="log10 t"
    )

    @field_validator("log10_times", mode="before")
    @classmethod
    def _tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _marks_fit(self) -> Recording:
        if len(set(self.log10_times)) > self.frames - 2:
            raise ValueError(
                f"{len(set(self.log10_times))} marks do not fit into frames = {self.frames}; "
                "raise frames or give fewer log10_times"
            )
        return self


class RunSettings(Section):
    title: ClassVar[str] = "the seed, and how numbers are held"

    seed: int = setting(0, meaning="seed of data and parameters (NumPy PCG64)", ge=0, le=2**63 - 1)
    precision: Literal["float64", "float32"] = setting(
        "float64", meaning="float64, or float32 for gradient descent up to t = 1e4"
    )
    device: Literal["auto", "cpu"] = setting("auto", meaning="where the run computes")


Data = Annotated[ParityData | FileData, Field(discriminator="kind")]
Network = StandardNetwork
Loss = Annotated[ExponentialLoss | LogisticLoss, Field(discriminator="kind")]
Dynamics = Annotated[GradientDescent | GradientFlow, Field(discriminator="kind")]

KINDS: dict[str, dict[str, type[Section]]] = {
    "data": {"parity": ParityData, "file": FileData},
    "network": {"standard": StandardNetwork},
    "loss": {"exponential": ExponentialLoss, "logistic": LogisticLoss},
    "dynamics": {"flow": GradientFlow, "gd": GradientDescent},
}
PLAIN_SECTIONS: dict[str, type[Section]] = {"recording": Recording, "run": RunSettings}


class Experiment(Section):
    """Everything that determines one run, as a value; core.problem makes it concrete."""

    data: Data = setting(ParityData(), meaning="the distribution the examples come from")
    network: Network = setting(StandardNetwork(m=256), meaning="the network and its start")
    loss: Loss = setting(ExponentialLoss(), meaning="the loss")
    dynamics: Dynamics = setting(GradientFlow(), meaning="how the parameters move")
    recording: Recording = setting(Recording(), meaning="what is kept")
    run: RunSettings = setting(RunSettings(), meaning="seed and precision")

    @model_validator(mode="after")
    def _sizes_and_precision(self) -> Experiment:
        if self.dynamics.kind == "flow" and self.run.precision == "float32":
            raise ValueError(
                'run.precision = "float32" cannot follow gradient flow, whose margins live in '
                'the last digits; use "float64", or dynamics.kind = "gd"'
            )
        if self.dynamics.kind == "flow" and self.loss.l2 > 0.0:
            raise ValueError(
                f"loss.l2 = {self.loss.l2:g} cannot be followed in log time, where the penalised "
                'flow comes to rest; use dynamics.kind = "gd", or l2 = 0'
            )
        d, n, m = self.data.d, self.data.n, self.network.m
        for name, size, other, value in (("n", n, "d", d), ("m", m, "d", d)):
            if size is not None and value is not None and size * value > MAX_ELEMENTS:
                raise ValueError(
                    f"{name} * {other} = {size * value:.3g} is larger than {MAX_ELEMENTS:.0e}, "
                    f"the most a run file holds; choose a smaller {name} or {other}"
                )
        return self
