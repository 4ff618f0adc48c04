"""First forward pass of a PyTorch loop: which biases and which activation its layers have."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.run_files.networks import ACTIVATIONS, LEAKY, UNKNOWN, activation_value
from marginscope._record.arrays import as_numpy
from marginscope._record.network import NetworkOptions

Floats = NDArray[np.float64]
MOST_ROWS = 64  # of a batch
ENOUGH = 20  # values that dropout left, by which activations are told apart
CLOSE = 1e-3  # relative to the largest value
BIASES = (
    "the weights are those of layers with biases, and {biases} not given: the file holds another "
    "network than the loop trains. Give model=net or layers=(net.fc1, net.fc2), the layers "
    "themselves, or the biases with every frame"
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
        found: list[tuple[str, str]] = []
        with suppress(Exception):  # the loop is another's, and goes on whatever is wrong here
            self._modules[place] = module
            if place == 0:
                self._z = _rows(output)
            elif self._modules[0] is not None:
                self.stop()
                found = self._findings(_rows(inputs[0]))
        for topic, sentence in found:
            self._warn(topic, sentence)

    def _findings(self, hidden: Floats) -> list[tuple[str, str]]:
        """Topics and sentences on what differs from the file."""
        found = []
        pairs = zip(("b0", "c0"), self._modules, self._has_biases, strict=True)
        missing = [
            name
            for name, module, given in pairs
            if not given and getattr(module, "bias", None) is not None
        ]
        if missing:
            verb = "are" if len(missing) > 1 else "is"
            found.append(("biases", BIASES.format(biases=f"{' and '.join(missing)} {verb}")))
        network = self._network()
        if self._z is None or network.activation == UNKNOWN or self._z.shape != hidden.shape:
            return found
        own = activation_value(network.activation, network.slope, self._z)
        if _agrees(own, hidden) or _agrees(network.scale * own, hidden):
            return found
        others = [name for name in ACTIVATIONS if name not in LEAKY]
        fits = [name for name in others if _agrees(activation_value(name, 0.0, self._z), hidden)]
        advice = f"give activation={fits[0]!r}" if fits else "give model=net, which finds it"
        sentence = (
            f"between its layers the loop computes another function than {network.activation}, "
            f"which the file has: {advice}"
        )
        return [*found, ("activation", sentence)]


def _rows(tensor: Any) -> Floats:
    """Some rows, copied: an activation may change them in place."""
    return np.array(as_numpy(tensor[:MOST_ROWS], "output"), dtype=np.float64)


def _agrees(own: Floats, seen: Floats) -> bool:
    """Return True if a layer computes phi, perhaps with dropout behind it."""
    size = float(np.abs(seen).max(initial=0.0))
    dropped = (seen == 0.0) & (np.abs(own) > CLOSE * size)
    factor = 1.0
    if dropped.any():
        left = (seen != 0.0) & (own != 0.0)
        if np.count_nonzero(left) < ENOUGH:
            return True
        factor = max(float(np.median(seen[left] / own[left])), 1.0)
    gap = np.abs(factor * own - seen)[~dropped].max(initial=0.0)
    return bool(gap <= CLOSE * max(factor * size, 1e-300))
