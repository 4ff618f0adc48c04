"""Networks of other programs: which of this program's kinds one is, or what a recording says of it.

The names are here, since a recorder may have nothing but NumPy; core.network.recorded computes the
networks, and a test compares both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final, get_args

Layout = tuple[tuple[str, tuple[int, ...]], ...]
# phi by name. A leaky ReLU has a slope g on the left, and g z + (1 - g) ln((1 + e^z)/2) is the
# smooth one (frei23, section F.1); gelu is that of the normal distribution itself, gelu_tanh the
# usual approximation of it.
ActivationName = Literal[
    "relu",
    "leaky_relu",
    "smooth_leaky_relu",
    "linear",
    "quadratic",
    "tanh",
    "sigmoid",
    "softplus",
    "gelu",
    "gelu_tanh",
    "silu",
    "elu",
    "erf",
    "hardtanh",
]
ACTIVATIONS: tuple[str, ...] = get_args(ActivationName)
LEAKY = ("leaky_relu", "smooth_leaky_relu")
UNKNOWN = "unknown"  # an activation without a name
DEFAULT_SLOPE = 0.01  # that of PyTorch's LeakyReLU


@final
@dataclass(frozen=True, slots=True)
class Form:
    """f(x) = sum_j a_j phi(<v_j, x> + b_j) + c: which of its arrays are there, and trained.

    k outputs, 1 for two classes, else at least 3. `slope` is that of a leaky ReLU on the left.
    `outer` says that the outer weights are trained, `alike` that all are +-1/sqrt(m).
    """

    n: int
    d: int
    m: int
    k: int = 1
    activation: str = "relu"
    slope: float = DEFAULT_SLOPE
    biases: bool = False
    offset: bool = False
    outer: bool = True
    alike: bool = False

    @property
    def kind(self) -> str:
        """Kind of the network in this program: one of the papers', or "recorded"."""
        plain = self.k == 1 and not self.biases and not self.offset
        if plain and self.alike and self.activation in LEAKY and 0.0 < self.slope <= 1.0:
            return "fixed_outer"
        bare = self.outer and not self.biases and not self.offset
        if self.activation == "quadratic" and self.k > 1 and bare:
            return "quadratic"
        if self.activation != "relu" or self.offset or not self.outer:
            return "recorded"
        if self.k > 1:
            return "multiclass"
        return "bias" if self.biases else "standard"

    @property
    def layout(self) -> Layout:
        """Trained arrays in the order of a frame, (name, shape); A (m, k) for k outputs."""
        several = self.k > 1
        outer = (("A", (self.m, self.k)) if several else ("a", (self.m,)),) if self.outer else ()
        parts: Layout = (*outer, ("V", (self.m, self.d)))
        if self.biases:
            parts = (*parts, ("b", (self.m,)))
        return (*parts, ("c", (self.k,))) if self.offset else parts

    @property
    def fixed(self) -> Layout:
        """Arrays that are not trained."""
        if self.outer:
            return ()
        return (("A", (self.m, self.k)),) if self.k > 1 else (("a", (self.m,)),)

    def section(self, content: str) -> dict[str, Any]:
        """Return the section `network` of the experiment; `content` is the SHA-256 of the start."""
        section: dict[str, Any] = {"kind": self.kind, "m": self.m, "init": "file"}
        section["content"] = content
        if self.kind == "multiclass":
            section["biases"] = self.biases
        if self.kind == "fixed_outer":
            section |= {"slope": self.slope, "smooth": self.activation != "leaky_relu"}
        if self.kind == "recorded":
            section |= {"activation": self.activation, "biases": self.biases}
            section |= {"offset": self.offset, "outer": self.outer}
            if self.activation in LEAKY:
                section["slope"] = self.slope
        return section
