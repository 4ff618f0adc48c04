"""The networks: a section for each parametrisation of the one two-layer network."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, Literal, final

from pydantic import model_validator

from core.study_file.settings import MAX_ELEMENTS, SEED_MEANING, Section, setting

FILE_MEANING = "file: from init_path"
NORMAL_MEANING = "normal: all N(0, 1); small: all N(0, .01^2)"


MAX_CODE = 100_000


class NetworkSection(Section):
    """What every kind of network has: a width, a start, and a generator."""

    shrinks: ClassVar[str] = "m"  # what to lower where there are too many parameters
    kind: str
    m: int | None = setting(None, meaning="width: number of nodes", ge=1, le=1_000_000)
    init: str = setting("paper", meaning="how the run starts")
    init_path: str | None = setting(
        None, meaning="NPZ with the parameters by name, relative to the study file"
    )
    content: str | None = setting(
        None, meaning="SHA-256 of the embedded parameters; set by the program", advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=2**63 - 1)

    def weights(self, d: int, k: int) -> int:
        """About how many parameters there are for inputs of d coordinates and k outputs."""
        return (self.m or 1) * (d + k)

    def too_large(self, d: int, k: int) -> str:
        """What is wrong where there are more than a run file holds; else empty."""
        size = self.weights(d, k)
        if size <= 2 * MAX_ELEMENTS:
            return ""
        return (
            f"it would have {size:.3g} parameters, more than {2 * MAX_ELEMENTS:.0e}, the most a "
            f"run file holds; choose a smaller {self.shrinks}"
        )

    @model_validator(mode="after")
    def _width_or_file(self) -> NetworkSection:
        if self.init != "file" and self.m is None:
            raise ValueError("m, the width, is missing; give a whole number such as m = 256")
        if self.init != "file" and self.init_path is not None:
            raise ValueError('init_path is only used with init = "file"; set init or drop the path')
        return self


@final
class StandardNetwork(NetworkSection):
    title: ClassVar[str] = "two-layer ReLU network f(x) = sum_j a_j relu(<v_j, x>), both trained"
    source: ClassVar[str] = "telgarsky22, section 1.2; wei19, section 2"

    kind: Literal["standard"] = "standard"
    init: Literal["paper", "normal", "small", "file"] = setting(
        "paper", meaning=f"paper: a ~ N(0, 1/m), V ~ N(0, I/d); {NORMAL_MEANING}; {FILE_MEANING}"
    )


@final
class ScalarNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j relu(b_j <v_j, x>), only a and b trained: no rotation"
    source: ClassVar[str] = "telgarsky22, section 3.2"

    kind: Literal["scalar"] = "scalar"
    init: Literal["paper", "file"] = setting(
        "paper",
        meaning=f"paper: a, b = +-m^(-1/4) uniformly, v uniform on the sphere; {FILE_MEANING}",
    )


@final
class NormalisedNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j b_j relu(<v_j/|v_j|, x>), all trained"
    source: ClassVar[str] = "homogeneity, equation 1 and section 4"

    kind: Literal["normalised"] = "normalised"
    init: Literal["paper", "file"] = setting(
        "paper",
        meaning=f"paper: a, b = +-1/sqrt(m) uniformly, v uniform on the sphere; {FILE_MEANING}",
    )


@final
class FixedOuterNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j phi(<v_j, x>), a_j = +-1/sqrt(m) fixed, phi leaky"
    source: ClassVar[str] = "frei23, section 2"

    kind: Literal["fixed_outer"] = "fixed_outer"
    slope: float = setting(0.1, meaning="gamma, slope of phi on the left", gt=0, le=1)
    smooth: bool = setting(
        False,
        meaning="false: phi(z) = max(gamma z, z); true: gamma z + (1 - gamma) ln((1 + e^z)/2)",
    )
    init: Literal["paper", "file"] = setting(
        "paper", meaning=f"paper: V ~ N(0, w^2), half of a positive; {FILE_MEANING}"
    )
    init_multiple: float = setting(
        1.0, meaning="w in multiples of w_TF = sqrt(2/(m + d))", gt=0, le=1e6
    )


@final
class BatchNormNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j relu(c_j <v_j, x - mu>/N(v_j)), whole-data statistics"
    source: ClassVar[str] = "batchnorm, section 1.3"

    kind: Literal["batch_norm"] = "batch_norm"
    eps: float = setting(0.0, meaning="eps in N(v) = sqrt(v' Sigma v + eps)", ge=0, le=1e6)
    normalise: bool = setting(
        True, meaning="false: N(v) = 1, the same network without batch norm, for comparison"
    )
    init: Literal["paper", "file"] = setting(
        "paper", meaning=f"paper: a ~ N(0, 1/m), V ~ N(0, I/d), c = 1; {FILE_MEANING}"
    )


@final
class BiasNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j relu(<v_j, x> + b_j), all trained"
    source: ClassVar[str] = "wei19, section F.4; frei23, section F.2"

    kind: Literal["bias"] = "bias"
    init: Literal["paper", "normal", "small", "file"] = setting(
        "paper",
        meaning=f"paper: a ~ N(0, 1/m), (v, b) ~ N(0, I/(d + 1)); {NORMAL_MEANING}; {FILE_MEANING}",
    )


@final
class MulticlassNetwork(NetworkSection):
    title: ClassVar[str] = "k outputs sum_j A_jc relu(<v_j, x> + b_j), one for each class"
    source: ClassVar[str] = "frei23, section F.2; wei19, Theorem C.1"

    kind: Literal["multiclass"] = "multiclass"
    biases: bool = setting(False, meaning="whether the nodes have biases b, which start at 0")
    init: Literal["paper", "normal", "small", "file"] = setting(
        "paper",
        meaning="paper: Glorot uniform, of variance 2/(m + k) for A and w^2 for V; "
        f"{NORMAL_MEANING}; {FILE_MEANING}",
    )
    init_multiple: float = setting(
        1.0, meaning="w in multiples of w_TF = sqrt(2/(m + d))", gt=0, le=1e6
    )


@final
class HeadNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = <a*b, F(x; V)>, F an MLP that ends in a normalisation layer"
    source: ClassVar[str] = "homogeneity, equation 2 and section 2"

    kind: Literal["head"] = "head"
    depth: int = setting(2, meaning="number of weight matrices of F", ge=1, le=16)
    hidden: int = setting(32, meaning="width of F's hidden layers", ge=1, le=10_000)
    normaliser: Literal["rms", "layer"] = setting(
        "rms", meaning="rms: RMSNorm; layer: LayerNorm (without trained gain and shift)"
    )
    init: Literal["paper", "file"] = setting(
        "paper",
        meaning="paper: a, b = +-1/sqrt(m) uniformly, V ~ N(0, 2/fan-in), the last N(0, 1/fan-in); "
        f"{FILE_MEANING}",
    )
    shrinks: ClassVar[str] = "hidden, depth or m"

    def weights(self, d: int, k: int) -> int:
        widths = [d, *[self.hidden] * (self.depth - 1), self.m or 1]
        return sum(a * b for a, b in pairwise(widths)) + 2 * (self.m or 1)


@final
class CustomNetwork(NetworkSection):
    title: ClassVar[str] = "a parametrisation of your own: a Python file, trained by autograd"
    source: ClassVar[str] = "the user's own"
    embedded: ClassVar[bool] = True

    kind: Literal["custom"] = "custom"
    path: str | None = setting(
        None, meaning="Python file with initial() and outputs(), relative to the study file"
    )
    code: str | None = setting(
        None, meaning="the file's text; set by the program", advanced=True, max_length=MAX_CODE
    )
    init: Literal["paper", "file"] = setting(
        "paper", meaning=f"paper: what initial() gives; {FILE_MEANING}"
    )

    @model_validator(mode="after")
    def _has_a_file(self) -> CustomNetwork:
        if self.path is None and self.code is None:
            raise ValueError('network.path is missing; with kind = "custom" name a Python file')
        return self
