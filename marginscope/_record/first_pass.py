"""First forward pass of a PyTorch loop: which biases and which activation its layers have."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from marginscope._files.activations import activation_value
from marginscope._files.forms import ACTIVATIONS, LEAKY, UNKNOWN
from marginscope._record.arrays import as_numpy
from marginscope._record.network import NetworkOptions

Floats = NDArray[np.float64]
MOST_ROWS = 64  # of a batch
CLOSE = 1e-3  # relative to the largest value
BIASES = (
    "{names} of a layer with a bias, and {biases} not given: the file holds another network than "
    "the loop trains. Give model=net or layers=(inner, outer) in their place, or the biases with "
    "every frame"
)


@final
class FirstPass:
    """Hook on the modules of V0 and a0, which goes with the first forward pass through both.

    `warn` takes a topic and a sentence. Modules whose weights are not V0 and a0 themselves are not
    seen, and neither are libraries other than PyTorch.
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
        with suppress(Exception):  # the loop is another's, and goes on whatever is wrong here
            self._modules[place] = module
            if place == 0:
                self._z = _rows(output)
            elif self._modules[0] is not None:
                self.stop()
                self._report(_rows(inputs[0]))

    def _report(self, hidden: Floats) -> None:
        pairs = zip(("V0", "a0"), ("b0", "c0"), self._modules, self._has_biases, strict=True)
        missing = [
            (weight, bias)
            for weight, bias, module, given in pairs
            if not given and getattr(module, "bias", None) is not None
        ]
        if missing:
            names, biases = (" and ".join(part) for part in zip(*missing, strict=True))
            verb = "are weights" if len(missing) > 1 else "is the weight"
            self._warn("biases", BIASES.format(names=f"{names} {verb}", biases=biases))
        network = self._network()
        if self._z is None or network.activation == UNKNOWN or self._z.shape != hidden.shape:
            return
        if _agrees(activation_value(network.activation, network.slope, self._z), hidden):
            return
        others = [name for name in ACTIVATIONS if name not in LEAKY]
        fits = [name for name in others if _agrees(activation_value(name, 0.0, self._z), hidden)]
        advice = f"give activation={fits[0]!r}" if fits else "give model=net, which finds it"
        self._warn(
            "activation",
            f"between its layers the loop computes another function than {network.activation}, "
            f"which the file has: {advice}",
        )


def _rows(tensor: Any) -> Floats:
    return np.asarray(as_numpy(tensor[:MOST_ROWS], "output"), dtype=np.float64)


def _agrees(own: Floats, seen: Floats) -> bool:
    """Whether a layer computes phi, perhaps followed by dropout: zeros, and the rest enlarged."""
    size = float(np.abs(seen).max(initial=0.0))
    if np.abs(own - seen).max(initial=0.0) <= CLOSE * max(size, 1e-300):
        return True
    passed = seen != 0.0
    if passed.all() or not passed.any():
        return False
    ratio = float(np.median(seen[passed] / np.where(own[passed] == 0.0, np.inf, own[passed])))
    zeros = np.count_nonzero(~passed & (np.abs(own) > CLOSE * size))
    return bool(
        zeros and ratio > 1.0 and np.abs(ratio * own - seen)[passed].max() <= CLOSE * ratio * size
    )
