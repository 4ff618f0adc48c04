"""Networks with plain neurons: standard, with a fixed outer layer, and with fixed directions."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.activation import FIXED_OUTER, LEAKY, PLAIN, SCALAR, SMOOTH, Activation
from core.network.parametrisation import (
    Array,
    Arrays,
    Block,
    Shape,
    TwoLayer,
    join_flat,
    squared_norms,
)
from core.network.section import FILE_MEANING, NORMAL_MEANING, NetworkSection
from core.settings import setting


def signs(generator: Generator, m: int) -> Array:
    """Draw independent uniform signs.

    Parameters
    ----------
    generator : Generator
        Source of randomness.
    m : int
        Number of signs.

    Returns
    -------
    array (m,)
        Numbers +-1.
    """
    return np.asarray(generator.choice([-1.0, 1.0], m))


def draw_on_sphere(generator: Generator, m: int, d: int) -> Array:
    """Draw independent vectors, uniform on the unit sphere.

    Parameters
    ----------
    generator : Generator
        Source of randomness.
    m : int
        Number of vectors.
    d : int
        Dimension.

    Returns
    -------
    array (m, d)
        Unit rows.
    """
    V = generator.standard_normal((m, d))
    return np.asarray(V / np.linalg.norm(V, axis=1, keepdims=True))


def glorot_uniform(generator: Generator, shape: tuple[int, int], sd: float) -> Array:
    """Draw a matrix of uniform entries with a given standard deviation.

    Parameters
    ----------
    generator : Generator
        Source of randomness.
    shape : tuple of int
        Rows and columns.
    sd : float
        Standard deviation of an entry.

    Returns
    -------
    array
        Entries uniform on [-sqrt(3) sd, sqrt(3) sd].
    """
    limit = np.sqrt(3.0) * sd
    return np.asarray(generator.uniform(-limit, limit, shape))


# -------------------------------------------------------------------------------------- standard
#
# Source: telgarsky22, section 1.2; wei19, section 2; the leaky ReLU: Boursier and Flammarion 2025,
# section 2. 2-homogeneous; a_j^2 - |v_j|^2 is constant along gradient flow for every neuron.

# wei19 states N(0, 1) for F.1, and no start for MNIST (docs/theory.md, 2.3).
INIT_SCALES = {"normal": 1.0, "small": 0.01}  # wei19, sections F.1 and F.2


SMALL = ("balanced", "dominated")


@final
class StandardNetwork(NetworkSection):
    title: ClassVar[str] = "two-layer ReLU network f(x) = sum_j a_j relu(<v_j, x>), both trained"
    source: ClassVar[str] = "telgarsky22, section 1.2; wei19, section 2"
    known_teacher: ClassVar[str] = "relu"

    kind: Literal["standard"] = "standard"
    init: Literal["paper", "normal", "small", "balanced", "dominated", "file"] = setting(
        "paper",
        meaning=f"paper: a ~ N(0, 1/m), V ~ N(0, I/d); {NORMAL_MEANING}; balanced: v_j ~ "
        "N(0, scale^2/m I), a_j = +-|v_j|; dominated: v_j uniform on [-1, 1]^d scale/sqrt(m), a_j "
        f"= +-scale sqrt(d/m) >= |v_j|, signs fair; {FILE_MEANING}",
    )
    slope: float = setting(
        0.0,
        meaning="alpha, slope of phi(z) = max(z, alpha z); 0: ReLU, which the papers' theorems "
        "and margins are about",
        source="Boursier and Flammarion 2025, section 2",
        ge=0,
        lt=1,
        advanced=True,
        added=True,
    )
    scale: float = setting(
        1e-3,
        meaning="scale lambda of a balanced or dominated start",
        source="Boursier and Flammarion 2025, section 2",
        gt=0,
        le=1e6,
        added=True,
    )

    @property
    def small_start(self) -> bool:
        return self.init in SMALL


def draw_normal(init: str, shape: Shape, generator: Generator) -> dict[str, Array]:
    """Draw a and then V, independent normal entries.

    Parameters
    ----------
    init : str
        A key of INIT_SCALES, for the deviation of all entries; else a ~ N(0, 1/m), V ~ N(0, I/d).
    shape : Shape
        Width and dimension.
    generator : Generator
        Source of randomness.

    Returns
    -------
    dict of str to array
        "a" (m,) and "V" (m, d).
    """
    a = generator.standard_normal(shape.m)
    V = generator.standard_normal((shape.m, shape.d))
    if init in INIT_SCALES:
        return {"a": INIT_SCALES[init] * a, "V": INIT_SCALES[init] * V}
    return {"a": a / np.sqrt(shape.m), "V": V / np.sqrt(shape.d)}


def _of_scale(section: StandardNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
    """Draw "V" and then "a" of a start of `scale`: balanced, or dominated by the outer layer."""
    m, size = shape.m, section.scale / np.sqrt(shape.m)
    if section.init == "balanced":
        V = size * generator.standard_normal((m, shape.d))
        lengths = np.linalg.norm(V, axis=1)
    else:
        V = size * generator.uniform(-1.0, 1.0, (m, shape.d))
        lengths = np.full(m, size * np.sqrt(shape.d))
    return {"a": generator.choice((-1.0, 1.0), m) * lengths, "V": V}


@final
class Standard(TwoLayer):
    """Standard network: alpha_j = a_j, u_j = v_j; phi(z) = max(z, slope z).

    >>> net = Standard(StandardNetwork(m=2), Shape(2, np.zeros((5, 3))), {})
    >>> [(block.name, block.shape) for block in net.layout], net.size
    ([('a', (2,)), ('V', (2, 3))], 8)
    """

    kind = "standard"
    section = StandardNetwork
    compiled = True
    row_space = True
    direct = True
    plain_relu = True
    code = PLAIN

    def __init__(self, section: StandardNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (self.m,)), Block("V", (self.m, self.d)))
        self.scaled = self.size
        if section.slope > 0.0:
            self.activation = Activation(LEAKY, section.slope)
            self.plain_relu = False

    @staticmethod
    def initial(section: StandardNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a ~ N(0, 1/m), V ~ N(0, I/d), in this order (telgarsky22, section 1.2).

        Starts with a scale draw V first and then the signs of a.

        Parameters
        ----------
        section : StandardNetwork
            Settings. An `init` in INIT_SCALES makes all entries N(0, scale^2). "balanced" draws V ~
            N(0, scale^2/m) with |a_j| = |v_j|, and "dominated" V uniform with |a_j| >= |v_j|.
        shape, generator : Shape, Generator
            Width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "a" (m,) and "V" (m, d).
        """
        if section.init in SMALL:
            return _of_scale(section, shape, generator)
        return draw_normal(section.init, shape, generator)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m], flat[self.m :].reshape(self.m, self.d)

    def imbalance(self, flat: Array) -> Array:
        a, V = self.effective(flat)
        return np.asarray(a**2 - squared_norms(V))


# ----------------------------------------------------------------------------- fixed outer layer
#
# Source: frei23, sections 2 and F.1. a_j = +-1/sqrt(m), the first half positive. 1-homogeneous for
# the leaky ReLU; the smoothed leaky ReLU is not homogeneous.


@final
class FixedOuterNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j phi(<v_j, x>), a_j = +-1/sqrt(m) fixed, phi leaky"
    source: ClassVar[str] = "frei23, section 2"

    words: ClassVar[str] = "network with fixed outer layer"
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

    def not_homogeneous(self) -> str:
        smooth = "network.smooth = true: the smoothed leaky ReLU is not homogeneous"
        return smooth if self.smooth else ""


@final
class FixedOuter(TwoLayer):
    """Network with fixed outer layer: alpha_j = a_j, u_j = v_j; a is not trained."""

    kind = "fixed_outer"
    section = FixedOuterNetwork
    compiled = True
    row_space = True
    direct = True
    code = FIXED_OUTER
    degree = 1

    def __init__(self, section: FixedOuterNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("V", (self.m, self.d)),)
        self.fixed = {"a": np.ascontiguousarray(fixed["a"], dtype=np.float64)}
        self.scaled = self.size
        self.homogeneous = not section.smooth
        self.activation = Activation(SMOOTH if section.smooth else LEAKY, section.slope)

    @staticmethod
    def initial(section: FixedOuterNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw V ~ N(0, w^2), w = init_multiple * sqrt(2/(m + d)); the first half of a is positive.

        Parameters
        ----------
        section : FixedOuterNetwork
            Settings, with `init_multiple`.
        shape, generator : Shape, Generator
            Width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "V" (m, d), and "a" (m,), untrained: ceil(m/2) entries 1/sqrt(m), then -1/sqrt(m).
        """
        m, d = shape.m, shape.d
        a = np.where(np.arange(m) < (m + 1) // 2, 1.0, -1.0) / np.sqrt(m)
        # w_TF is Glorot's deviation, and "1/50" in frei23 multiplies it (docs/theory.md, 2.3).
        w = section.init_multiple * np.sqrt(2.0 / (m + d))
        return {"a": a, "V": w * generator.standard_normal((m, d))}

    def _a(self, reference: Any) -> Any:
        return self.constant(self.fixed["a"], reference)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return self._a(flat), flat.reshape(self.m, self.d)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return 0.0 * self._a(flat), direction.reshape(self.m, self.d)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return d_U.reshape(-1)

    def compiled_constants(self) -> tuple[Array, float]:
        return self.fixed["a"][None], 0.0


# ------------------------------------------------------------------------------ fixed directions
#
# Source: telgarsky22, section 3.2. 2-homogeneous in (a, b); a_j^2 - b_j^2 is constant along
# gradient flow for every neuron.


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
class Scalar(TwoLayer):
    """Network with fixed directions: alpha_j = a_j, u_j = b_j v_j; V is not trained."""

    kind = "scalar"
    section = ScalarNetwork
    compiled = True
    row_space = True
    factored = True
    fixed_features = True
    plain_relu = True
    code = SCALAR

    def __init__(self, section: ScalarNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (self.m,)), Block("b", (self.m,)))
        self.fixed = {"V": np.ascontiguousarray(fixed["V"], dtype=np.float64)}
        self.scaled = self.size

    @staticmethod
    def initial(section: ScalarNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a, b = +-m^(-1/4) uniformly, then v uniformly on the sphere.

        Parameters
        ----------
        section, shape, generator : ScalarNetwork, Shape, Generator
            Settings, not used; width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "a" and "b" (m,), and "V" (m, d) with |v_j| = 1, untrained.
        """
        # Balanced like the normalised network, at another size: |a_j b_j| = 1/sqrt(m).
        scale = shape.m**-0.25
        a, b = scale * signs(generator, shape.m), scale * signs(generator, shape.m)
        return {"a": a, "b": b, "V": draw_on_sphere(generator, shape.m, shape.d)}

    def _V(self, reference: Any) -> Any:
        """Return V, (m, d), with the type and device of `reference`."""
        return self.constant(self.fixed["V"], reference)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m], flat[self.m :, None] * self._V(flat)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return join_flat([d_alpha, (d_U * self._V(flat)).sum(axis=1)])

    def gram(self, flat: Array, inputs: Array) -> Array:
        alpha, U = self.effective(flat)
        z = U @ inputs.T
        h = self.activation(z)
        w = alpha[:, None] * self.activation.slopes(z) * (self.fixed["V"] @ inputs.T)
        return np.asarray(h.T @ h + w.T @ w)

    def compiled_constants(self) -> tuple[Array, float]:
        return self.fixed["V"], 0.0
