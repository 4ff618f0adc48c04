"""Layers of other people's networks: where their weights and biases are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

from core.errors import InputError

ORDER = ("inner", "outer")
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
    def from_user(cls, layers: Any, d: int) -> Self:
        """Two layers in the order of the network, for d inputs. Raises InputError otherwise."""
        if not isinstance(layers, Sequence) or len(layers) != 2:
            raise InputError(
                "layers are to be two: the inner and the outer one, as layers=(net.fc1, net.fc2)."
            )
        inner, outer = (_as_layer(layer, at) for layer, at in zip(layers, ORDER, strict=True))
        widths = [tuple(getattr(one.weight, "shape", ()))[-1:] for one in (inner, outer)]
        if widths[0] != (d,) and widths[1] == (d,):
            raise InputError("the layers are in the wrong order; give the inner one first.")
        return cls(inner, outer)

    @property
    def are_trained(self) -> bool:
        """False if inner weights or biases of modules require no gradient."""
        given = (self.inner.weight, self.inner.bias, self.outer.bias)
        found = [getattr(one, "requires_grad", True) for one in given if one is not None]
        return not hasattr(self.inner.source, "weight") or all(found)

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


def find_layers(model: Any, d: int) -> tuple[Layers, ...]:
    """Find the two layers of a PyTorch module with d inputs, in each way that shapes allow.

    () for any other callable. Raises InputError for a module that is no network of two layers.
    """
    if not callable(getattr(model, "named_modules", None)):
        return ()
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
        return _from_parameters(model, d)
    named = ", ".join(f"{name} ({type(module).__name__})" for name, module in linear + others)
    if others or len(linear) != 2:
        raise InputError(
            f"model has trained parameters in {named or 'no layer'}; a network of two linear "
            f"layers is recorded. If two of them are the network, {ASK}."
        )
    found = tuple(
        Layers(_as_layer(inner, "inner"), _as_layer(outer, "outer"))
        for (_, inner), (_, outer) in (linear, linear[::-1])
        if inner.weight.shape[1] == d and outer.weight.shape[1] == inner.weight.shape[0]
    )
    if not found:
        raise InputError(
            f"the layers of model, {named}, do not lead from x in R^{d} to outputs; {ASK}."
        )
    return found


def _from_parameters(model: Any, d: int) -> tuple[Layers, ...]:
    """Layers of a module that holds its arrays itself, told apart by their shapes."""
    shapes = {name: tuple(array.shape) for name, array in model.named_parameters()}
    found = tuple(
        Layers(
            Layer(_Arrays(model, names.V, names.b), names.inner_columns),
            Layer(_Arrays(model, names.a, names.c), names.outer_columns),
        )
        for names in _names_by_shape(shapes, d)
    )
    if not found:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(
            f"which of model's parameters ({listed}) are V, a, b and c cannot be seen from "
            f"their shapes; {ASK}, or hand over V0 and a0."
        )
    return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    """Arrays of a module by their names, as a layer has them."""

    model: Any
    weight_name: str
    bias_name: str | None

    @property
    def weight(self) -> Any:
        return self.model.get_parameter(self.weight_name)

    @property
    def bias(self) -> Any:
        return None if self.bias_name is None else self.model.get_parameter(self.bias_name)


def _is_linear(module: Any) -> bool:
    """Return True if a module is `torch.nn.Linear`, or a subclass; without importing PyTorch."""
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
    for old in ("weight_g", "weight_orig"):
        if hasattr(layer, old):  # of which `weight` is that of the last forward pass
            raise InputError(
                f"the {which} layer has {old}, of torch.nn.utils.weight_norm or spectral_norm, "
                "whose weights are one step old; use torch.nn.utils.parametrizations instead."
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


def _names_by_shape(shapes: Mapping[str, tuple[int, ...]], d: int) -> list[_Names]:
    """Every way to tell arrays apart by their shapes, nodes in rows first."""
    return [
        names
        for columns in (False, True)
        for V, shape in shapes.items()
        if len(shape) == 2 and shape[0 if columns else 1] == d
        for names in _with_inner(shapes, V, columns)
    ]


def _with_inner(shapes: Mapping[str, tuple[int, ...]], V: str, columns: bool) -> Iterator[_Names]:
    m = shapes[V][1 if columns else 0]
    wide = [name for name, shape in shapes.items() if name != V and len(shape) == 2 and m in shape]
    flat = [name for name, shape in shapes.items() if shape == (m,)]
    ways: list[tuple[str, str | None]] = []
    if not wide and len(flat) <= 2:
        ways = [(a, next((b for b in flat if b != a), None)) for a in flat]
    elif len(wide) == 1 and len(flat) <= 1:
        ways = [(wide[0], flat[0] if flat else None)]
    for a, b in ways:
        rest = [name for name in shapes if name not in {V, a, b}]
        if len(rest) > 1 or any(len(shapes[name]) > 1 for name in rest):
            continue
        turned = len(shapes[a]) == 2 and shapes[a][0] == m and shapes[a][1] != m
        yield _Names(V, a, b, rest[0] if rest else None, columns, turned)
