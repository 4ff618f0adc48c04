"""Weights of a recorded loop, as its frames, layers and model give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from marginscope._errors import InputError
from marginscope._files.forms import UNKNOWN
from marginscope._record import arrays
from marginscope._record.arrays import Examples
from marginscope._record.first_pass import FirstPass
from marginscope._record.layers import Layers
from marginscope._record.model_check import identify
from marginscope._record.network import NetworkArrays, NetworkOptions, Weights, describe_scale
from marginscope._record.number_check import NumberCheck
from marginscope._record.options import Options

CHECKED_FRAMES = (2, 3, 5, 9)  # at which the model is called again, counted from 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Layers from which frames are read, and the model that is compared with them."""

    layers: Layers | None = None
    model: Any = None
    search: bool = False  # for the activation


@final
class NetworkReader:
    """Reads the network of each frame, and compares it with what the loop says of it.

    `warn` takes a topic and a sentence.
    """

    def __init__(
        self,
        examples: Examples,
        options: Options,
        source: Source,
        warn: Callable[[str, str], None],
    ) -> None:
        self.options = options
        self._examples, self._source, self._warn = examples, source, warn
        self._check = NumberCheck(examples, options)
        self._count = 0
        self._pass: FirstPass | None = None

    @property
    def is_live(self) -> bool:
        """True if the weights of now can be read at any time."""
        return self._source.layers is not None and self._source.layers.is_live

    def read(self, weights: Weights, layers: Any) -> Weights:
        """Return the arrays of a frame: as handed over, or read from layers."""
        if layers is not None:
            return self._read_layers(Layers.from_user(layers))
        if any(value is not None for value in weights.values()) or self._source.layers is None:
            return weights
        if not self._source.layers.is_live:
            raise InputError(
                "arrays of JAX never change in place; give the layers of this step with the "
                "frame, as frame(t, layers=(inner, outer))."
            )
        return self._read_layers(self._source.layers)

    def read_start(self, given: Weights) -> Weights | None:
        """Return the arrays before the first step, if any: the given ones, or the layers' own.

        Raises InputError for outer weights or biases without inner weights.
        """
        layers = self._source.layers
        if layers is not None:
            weights: Weights = self._read_layers(layers)
        elif given["V"] is not None:
            weights = given
        elif any(array is not None for array in given.values()):
            raise InputError("V0, the inner weights before the first step, is missing beside a0.")
        else:
            return None
        if self._source.model is None:
            arrays_seen = weights if layers is None else layers.read()
            self._pass = FirstPass(
                (arrays_seen["V"], arrays_seen["a"]),
                (weights["b"] is not None, weights["c"] is not None),
                self._get_network,
                self._warn,
            )
        return weights

    def stop(self) -> None:
        """Let go of the loop's modules."""
        if self._pass is not None:
            self._pass.stop()

    def _get_network(self) -> NetworkOptions:
        return self.options.network

    def _read_layers(self, layers: Layers) -> Weights:
        weights = layers.read()
        if layers.outer.is_trained:
            return weights
        fixed = arrays.as_numpy(weights["a"], "a")
        if self.options.a_fixed is None:
            self.options = replace(self.options, a_fixed=np.array(fixed))
        elif not np.array_equal(fixed, arrays.as_numpy(self.options.a_fixed, "a")):
            raise InputError(
                "the outer weights require no gradient and have changed all the same; hand over V "
                "and a with each frame instead of layers."
            )
        return {**weights, "a": None}

    def arrange(self, weights: Weights) -> NetworkArrays:
        """Name the arrays of a frame as in a run file. Raises InputError for wrong shapes."""
        return self.options.network.arrange(weights, self.options.a_fixed, self._examples)

    def start(self, weights: Weights) -> NetworkArrays:
        """Find activation and scale by the user's model, and return the network of the start."""
        options = self.options
        if self._source.model is not None:
            found, sentence = self._identify(weights, self._source.search)
            if sentence:
                self._warn("model", sentence)
            options = replace(options, network=found)
        network = options.network
        factor = network.step_factor(weights["a"] is not None, weights["c"] is not None)
        if options.dynamics == "adam" and network.scale != 1.0:
            factor = None
        if factor is None and options.dynamics:
            self._warn(
                "dynamics",
                f"with scale = {network.scale:.4g} the recorded weights do not follow dynamics = "
                f'"{options.dynamics}", and what rests on it is not decided',
            )
            options = replace(options, dynamics="")
        self.options = replace(options, step_factor=factor or 1.0)
        start = self.arrange(weights)
        own = start.with_values(start.flatten(np.dtype(np.float64)))
        self._check = NumberCheck(self._examples, self.options, own)
        return start

    def compare(
        self,
        t: float,
        weights: Weights,
        network: NetworkArrays,
        numbers: Mapping[str, float],
        outputs: Any,
    ) -> None:
        """Compare the loop's own numbers, and at a few frames its model, with the network.

        `network` must own its arrays.
        """
        self._count += 1
        sentence = self._check.compare(t, network, numbers, outputs)
        if sentence:
            self._warn("numbers", sentence)
        own = self.options.network
        unchecked = self._source.model is None or own.activation == UNKNOWN
        if unchecked or self._count + 1 not in CHECKED_FRAMES:
            return
        found, sentence = self._identify(weights, False)
        if not sentence and found.scale != own.scale:
            m = network.form.m
            needed = describe_scale(found.scale, m)
            sentence = (
                f"model has scale = {needed} and the file {describe_scale(own.scale, m)}; give "
                f"scale={needed}"
            )
        if sentence:
            self._warn("model", f"at t = {t:g} {sentence}")

    def _identify(self, weights: Weights, search: bool) -> Any:
        options = self.options
        return identify(
            self._source.model, weights, options.a_fixed, self._examples, options.network, search
        )
