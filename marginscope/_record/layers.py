"""Layers of other people's networks: where their weights and biases are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

from marginscope._errors import InputError

ASK = "give layers=(inner, outer)"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Weights (outputs, inputs) and biases (outputs,) of one layer, read whenever asked for.

    `source` is a module with `weight` and `bias` (PyTorch, Equinox), a mapping with `kernel` and
    `bias` (Flax), an array of weights, or a pair of arrays. `columns` says that a node is a column.
    """

    source: Any
    columns: bool = False

    @property
    def weight(self) -> Any:
        """Weights with a row for each output."""
        source = self.source
        if isinstance(source, Mapping):
            return source["kernel"].T if "kernel" in source else source["weight"]
        if isinstance(source, tuple):
            source = source[0]
        weight = getattr(source, "weight", source)
        return weight.T if self.columns else weight

    @property
    def bias(self) -> Any:
        """Biases, or None."""
        if isinstance(self.source, Mapping):
            return self.source.get("bias")
        if isinstance(self.source, tuple):
            return self.source[1]
        return getattr(self.source, "bias", None)

    @property
    def is_trained(self) -> bool:
        """False for a module whose weights require no gradient."""
        weight = getattr(self.source, "weight", None)
        return weight is None or bool(getattr(weight, "requires_grad", True))

    @property
    def is_live(self) -> bool:
        """True if the arrays change in place while they are trained, as those of JAX do not."""
        return not type(self.weight).__module__.startswith(("jax", "jaxlib"))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """Inner and outer layer of f(x) = sum_j a_j phi(<v_j, x> + b_j) + c."""

    inner: Layer
    outer: Layer

    @classmethod
    def from_user(cls, layers: Any) -> Self:
        """Two layers in the order of the network. Raises InputError for anything else."""
        if not isinstance(layers, Sequence) or len(layers) != 2:
            raise InputError(
                "layers are to be two: the inner and the outer one, as layers=(net.fc1, net.fc2)."
            )
        inner, outer = layers
        return cls(_as_layer(inner, "inner"), _as_layer(outer, "outer"))

    @classmethod
    def from_model(cls, model: Any, d: int) -> Self | None:
        """Find the two layers of a PyTorch module with d inputs; None for any other callable.

        Raises InputError for a module that is no network of two layers.
        """
        if not callable(getattr(model, "named_modules", None)):
            return None
        if type(model).__name__ in ("DataParallel", "DistributedDataParallel"):
            model = model.module
        linear, others = [], []
        for name, module in model.named_modules():
            own = list(module.parameters(recurse=False))
            if _is_linear(module):
                linear.append((name, module))
            elif own:
                others.append((name or "the model itself", module))
        if not linear and len(others) == 1:
            return cls._from_parameters(model, d)
        named = ", ".join(f"{name} ({type(module).__name__})" for name, module in linear + others)
        if others or len(linear) != 2:
            raise InputError(
                f"model has trained parameters in {named or 'no layer'}; a network of two linear "
                f"layers is recorded. If two of them are the network, {ASK}."
            )
        pairs = [linear, linear[::-1]]
        for (_, inner), (_, outer) in pairs:
            shapes = tuple(inner.weight.shape), tuple(outer.weight.shape)
            if shapes[0][1] == d and shapes[1][1] == shapes[0][0]:
                return cls(Layer(inner), Layer(outer))
        raise InputError(
            f"the layers of model, {named}, do not lead from x in R^{d} to outputs; {ASK}."
        )

    @classmethod
    def _from_parameters(cls, model: Any, d: int) -> Self:
        """Layers of a module that holds its arrays itself, told apart by their shapes."""
        shapes = {name: tuple(array.shape) for name, array in model.named_parameters()}
        names = _names_by_shape(shapes, d)
        if names is None:
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise InputError(
                f"which of model's parameters ({listed}) are V, a, b and c cannot be seen from "
                f"their shapes; {ASK}, or hand over V0 and a0."
            )
        inner, outer = _Arrays(model, names.V, names.b), _Arrays(model, names.a, names.c)
        return cls(Layer(inner, names.inner_columns), Layer(outer, names.outer_columns))

    @property
    def is_live(self) -> bool:
        """True if the arrays of both layers change in place."""
        return self.inner.is_live and self.outer.is_live

    def read(self) -> dict[str, Any]:
        """The arrays as `frame` takes them."""
        return {
            "V": self.inner.weight,
            "a": self.outer.weight,
            "b": self.inner.bias,
            "c": self.outer.bias,
        }


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    """Arrays of a module by their names, as a layer has them."""

    model: Any
    weight_name: str
    bias_name: str | None

    @property
    def weight(self) -> Any:
        return getattr(self.model, self.weight_name)

    @property
    def bias(self) -> Any:
        return None if self.bias_name is None else getattr(self.model, self.bias_name)


def _is_linear(module: Any) -> bool:
    """Whether a module is `torch.nn.Linear`, or a subclass; without importing PyTorch."""
    return any(kind.__name__ == "Linear" for kind in type(module).__mro__)


def _as_layer(layer: Any, which: str) -> Layer:
    if isinstance(layer, list):
        layer = tuple(layer)
    if isinstance(layer, Mapping):
        fits = "kernel" in layer or "weight" in layer
    elif isinstance(layer, tuple):
        fits = len(layer) == 2 and hasattr(layer[0], "shape")
    else:
        weight = getattr(layer, "weight", layer)
        fits = isinstance(getattr(weight, "shape", None), tuple) or hasattr(weight, "detach")
    if not fits:
        raise InputError(
            f"the {which} layer is {type(layer).__name__}, which has no weights; a layer of "
            "PyTorch or Equinox, a mapping with kernel and bias, an array, or a pair of arrays "
            "(weights with a row for each output, biases) is needed."
        )
    return Layer(layer)


@final
@dataclass(frozen=True, slots=True)
class _Names:
    """Names of V, a, b and c among a module's own arrays, and which of V and a has node columns."""

    V: str
    a: str
    b: str | None
    c: str | None
    inner_columns: bool
    outer_columns: bool


def _names_by_shape(shapes: Mapping[str, tuple[int, ...]], d: int) -> _Names | None:
    """Tell arrays apart by their shapes; None where none or several ways fit."""
    fits = [
        names
        for V, shape in shapes.items()
        if len(shape) == 2
        for columns in (False, True)
        if shape[0 if columns else 1] == d and not (columns and shape[0] == shape[1])
        if (names := _with_inner(shapes, V, columns)) is not None
    ]
    return fits[0] if len(fits) == 1 else None


def _with_inner(shapes: Mapping[str, tuple[int, ...]], V: str, columns: bool) -> _Names | None:
    m = shapes[V][1 if columns else 0]
    wide = [name for name, shape in shapes.items() if name != V and len(shape) == 2 and m in shape]
    flat = [name for name, shape in shapes.items() if shape == (m,)]
    if not wide and len(flat) == 1:
        a, b = flat[0], None
    elif len(wide) == 1 and len(flat) <= 1:
        a, b = wide[0], flat[0] if flat else None
    else:
        return None
    rest = [name for name in shapes if name not in {V, a, b}]
    if len(rest) > 1 or any(len(shapes[name]) > 1 for name in rest):
        return None
    outer_columns = len(shapes[a]) == 2 and shapes[a][0] == m and shapes[a][1] != m
    return _Names(V, a, b, rest[0] if rest else None, columns, outer_columns)
