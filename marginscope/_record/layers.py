"""Layers of other people's networks: their weights and biases, and their first forward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.networks import ACTIVATIONS, LEAKY, UNKNOWN, activation_value
from marginscope._record.arrays import NetworkOptions, as_numpy

ORDER = ("inner", "outer")
LAYERS_REMEDY = "give layers=(inner, outer)"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Weights (outputs, inputs) and biases (outputs,) of one layer, read on each access.

    `source` is a module with `weight` and `bias` (PyTorch, Equinox), a mapping with `kernel` and
    `bias` (Flax), an array of weights, or a pair of arrays. `columns`: neurons are columns.
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
        """Return two layers for d inputs in the network's order. Raises InputError otherwise."""
        if not isinstance(layers, Sequence) or len(layers) != 2:
            raise InputError(
                "give two layers, the inner and the outer one, as layers=(net.fc1, net.fc2)."
            )
        inner, outer = (_as_layer(layer, at) for layer, at in zip(layers, ORDER, strict=True))
        widths = [tuple(getattr(one.weight, "shape", ()))[-1:] for one in (inner, outer)]
        if widths[0] != (d,) and widths[1] == (d,):
            raise InputError("the layers are in the wrong order; give the inner one first.")
        return cls(inner, outer)

    @property
    def are_trained(self) -> bool:
        """False if inner weights or biases of modules require no gradient."""
        tensors = (self.inner.weight, self.inner.bias, self.outer.bias)
        flags = [getattr(one, "requires_grad", True) for one in tensors if one is not None]
        return not hasattr(self.inner.source, "weight") or all(flags)

    @property
    def is_live(self) -> bool:
        """True if the arrays of both layers change in place."""
        return self.inner.is_live and self.outer.is_live

    def read(self) -> dict[str, Any]:
        """Return the arrays as `frame` takes them."""
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
    linear, unsupported = [], []
    for name, module in model.named_modules():
        own = list(module.parameters(recurse=False))
        if _is_linear(module):
            linear.append((name, module))
        elif own:
            unsupported.append((name or "the model itself", module))
    if not linear and len(unsupported) == 1:
        return _from_parameters(model, d)
    names_text = ", ".join(
        f"{name} ({type(module).__name__})" for name, module in linear + unsupported
    )
    if unsupported or len(linear) != 2:
        raise InputError(
            f"model has trained parameters in {names_text or 'no layer'}; a recorded network has "
            f"two linear layers. If two of these form the network, {LAYERS_REMEDY}."
        )
    layers = tuple(
        Layers(_as_layer(inner, "inner"), _as_layer(outer, "outer"))
        for (_, inner), (_, outer) in (linear, linear[::-1])
        if inner.weight.shape[1] == d and outer.weight.shape[1] == inner.weight.shape[0]
    )
    if not layers:
        raise InputError(
            f"the layers of model, {names_text}, do not lead from x in R^{d} to outputs; "
            f"{LAYERS_REMEDY}."
        )
    return layers


def _from_parameters(model: Any, d: int) -> tuple[Layers, ...]:
    """Return the layers of a module with its own arrays, identified by their shapes."""
    shapes = {name: tuple(array.shape) for name, array in model.named_parameters()}
    layers = tuple(
        Layers(
            Layer(_Arrays(model, names.V, names.b), names.inner_columns),
            Layer(_Arrays(model, names.a, names.c), names.outer_columns),
        )
        for names in _names_by_shape(shapes, d)
    )
    if not layers:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(
            f"the shapes of model's parameters ({listed}) do not identify V, a, b and c; "
            f"{LAYERS_REMEDY}, or pass V0 and a0."
        )
    return layers


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


def _as_layer(layer: Any, part: str) -> Layer:
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
            f"the {part} layer is {type(layer).__name__}, which has no weights; give a layer of "
            "PyTorch or Equinox, a mapping with kernel and bias, an array, or a pair of arrays "
            "(weights with a row for each output, biases)."
        )
    for old_name in ("weight_g", "weight_orig"):
        if hasattr(layer, old_name):  # weight norm: `weight` is that of the last forward pass
            raise InputError(
                f"the {part} layer has {old_name}, of torch.nn.utils.weight_norm or spectral_norm, "
                "whose weights are one step old; use torch.nn.utils.parametrizations instead."
            )
    return Layer(layer)


@final
@dataclass(frozen=True, slots=True)
class _Names:
    """Names of V, a, b, c among a module's own arrays, and which of V and a has neuron columns."""

    V: str
    a: str
    b: str | None
    c: str | None
    inner_columns: bool
    outer_columns: bool


def _names_by_shape(shapes: Mapping[str, tuple[int, ...]], d: int) -> list[_Names]:
    """Return every assignment of arrays by their shapes, neurons in rows first."""
    return [
        names
        for columns in (False, True)
        for V, shape in shapes.items()
        if len(shape) == 2 and shape[0 if columns else 1] == d
        for names in _with_inner(shapes, V, columns)
    ]


def _with_inner(shapes: Mapping[str, tuple[int, ...]], V: str, columns: bool) -> Iterator[_Names]:
    """Yield the ways to read the other arrays as a, b and c if V is the inner layer.

    `shapes` are those of all arrays; with `columns` V is (d, m), a column for each neuron.
    """
    m = shapes[V][1 if columns else 0]
    wide = [name for name, shape in shapes.items() if name != V and len(shape) == 2 and m in shape]
    flat = [name for name, shape in shapes.items() if shape == (m,)]
    ways: list[tuple[str, str | None]] = []
    if not wide and len(flat) <= 2:
        ways = [(a, next((b for b in flat if b != a), None)) for a in flat]
    elif len(wide) == 1 and len(flat) <= 1:
        ways = [(wide[0], flat[0] if flat else None)]
    for a, b in ways:
        remaining = [name for name in shapes if name not in {V, a, b}]
        if len(remaining) > 1 or any(len(shapes[name]) > 1 for name in remaining):
            continue
        is_transposed = len(shapes[a]) == 2 and shapes[a][0] == m and shapes[a][1] != m
        yield _Names(V, a, b, remaining[0] if remaining else None, columns, is_transposed)


# ---------------------------------------------------------------------------- first forward pass

Floats = NDArray[np.float64]
MOST_ROWS = 64  # rows of a batch
ENOUGH = 20  # values kept by dropout that identify the activation
CLOSE = 1e-3  # relative to the largest value
BIASES = (
    "the weights belong to layers with biases, but {biases} not given: the network in the file "
    "differs from the one that the loop trains. Give model=net or layers=(net.fc1, net.fc2), the "
    "layers themselves, or the biases with every frame"
)


@final
class FirstPass:
    """Hook on the modules of V0 and a0, removed after the first forward pass through both.

    `warn` takes a topic and a sentence. The hook sees only PyTorch modules whose weights are V0
    and a0 themselves.
    """

    def __init__(
        self,
        weights: tuple[Any, Any],
        has_biases: tuple[bool, bool],
        network: Callable[[], NetworkOptions],
        warn: Callable[[str, str], None],
    ) -> None:
        self._weights, self._has_biases = weights, has_biases
        self._network, self._warn = network, warn
        self._modules: list[Any] = [None, None]
        self._z: Floats | None = None
        self._handle: Any = None
        if all(type(weight).__name__ == "Parameter" for weight in weights):
            from torch.nn.modules.module import register_module_forward_hook

            self._handle = register_module_forward_hook(self._on_forward)

    def stop(self) -> None:
        """Remove the hook; harmless when repeated."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def _on_forward(self, module: Any, inputs: tuple[Any, ...], output: Any) -> None:
        weight = getattr(module, "weight", None)
        place = next((i for i, own in enumerate(self._weights) if own is weight), None)
        if place is None or weight is None:
            return
        findings: list[tuple[str, str]] = []
        with suppress(Exception):  # an error here must not stop the user's loop
            self._modules[place] = module
            if place == 0:
                self._z = _rows(output)
            elif self._modules[0] is not None:
                self.stop()
                findings = self._findings(_rows(inputs[0]))
        for topic, sentence in findings:
            self._warn(topic, sentence)

    def _findings(self, hidden_values: Floats) -> list[tuple[str, str]]:
        """Return (topic, sentence) of what differs between the loop's network and the file.

        Biases of the modules that were not given, and the activation, by the inputs of the outer
        layer, `hidden_values` (rows, m).
        """
        findings = []
        pairs = zip(("b0", "c0"), self._modules, self._has_biases, strict=True)
        missing = [
            name
            for name, module, bias in pairs
            if not bias and getattr(module, "bias", None) is not None
        ]
        if missing:
            verb = "are" if len(missing) > 1 else "is"
            findings.append(("biases", BIASES.format(biases=f"{' and '.join(missing)} {verb}")))
        network = self._network()
        if self._z is None or network.activation == UNKNOWN or self._z.shape != hidden_values.shape:
            return findings
        own = activation_value(network.activation, network.slope, self._z)
        if _agrees(own, hidden_values) or _agrees(network.scale * own, hidden_values):
            return findings
        activations = [name for name in ACTIVATIONS if name not in LEAKY]
        fits = [
            name
            for name in activations
            if _agrees(activation_value(name, 0.0, self._z), hidden_values)
        ]
        advice = f"give activation={fits[0]!r}" if fits else "give model=net, which finds it"
        sentence = (
            f"the loop's activation is not {network.activation}, which the file has: {advice}"
        )
        return [*findings, ("activation", sentence)]


def _rows(tensor: Any) -> Floats:
    """Copy some rows: an activation may change them in place."""
    return np.array(as_numpy(tensor[:MOST_ROWS], "output"), dtype=np.float64)


def _agrees(own: Floats, observed: Floats) -> bool:
    """Return True if a layer computes phi, perhaps with dropout behind it."""
    size = float(np.abs(observed).max(initial=0.0))
    dropped = (observed == 0.0) & (np.abs(own) > CLOSE * size)
    factor = 1.0
    if dropped.any():
        nonzero = (observed != 0.0) & (own != 0.0)
        if np.count_nonzero(nonzero) < ENOUGH:
            return True
        factor = max(float(np.median(observed[nonzero] / own[nonzero])), 1.0)
    gap = np.abs(factor * own - observed)[~dropped].max(initial=0.0)
    return bool(gap <= CLOSE * max(factor * size, 1e-300))
