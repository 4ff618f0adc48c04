"""Weights of a recorded loop, as its frames, layers and model give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from core.errors import InputError
from core.run_files.networks import UNKNOWN
from marginscope._record import arrays
from marginscope._record.arrays import (
    Examples,
    NetworkArrays,
    NetworkOptions,
    Weights,
    describe_scale,
)
from marginscope._record.layers import FirstPass, Layers
from marginscope._record.losses import ANY, NumberCheck
from marginscope._record.model_check import identify
from marginscope._record.optimizer import learning_rates
from marginscope._record.options import Options

FRAMES_AT_START = 3  # frames of unchanged weights before a warning
CHECKED_FRAMES = (2, 3, 5, 9)  # frames, counted from 1, at which the model is called again


@final
@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Layers from which frames are read, and the model that is compared with them."""

    layers: Layers | None = None
    model: Any = None
    search: bool = False  # search for the activation
    scale: float | None = None  # given by the user
    outputs: str = ANY  # outputs of the model, by the loss: logits, probabilities, or either
    optimizer: Any = None


@final
class NetworkReader:
    """Reader of each frame's network, which compares it with the loop's numbers and model.

    `warn` is called with a topic and a sentence where they differ. `options` are updated by what
    the reader finds.
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
        self._origin: NetworkArrays | None = None  # until the weights of layers have moved
        layers = source.layers
        self._reads_layers = layers is not None and layers.is_live
        self._rates = learning_rates(source.optimizer)

    @property
    def is_live(self) -> bool:
        """True if the weights of now can be read at any time: frames come from the layers alone."""
        return self._reads_layers

    def read(self, weights: Weights, layers: Any) -> Weights:
        """Return the arrays of a frame: as handed over, or read from layers."""
        if layers is not None or any(value is not None for value in weights.values()):
            self._reads_layers, self._origin = False, None
            own_layers = None if layers is None else Layers.from_user(layers, self._examples.d)
            return weights if own_layers is None else self._read_layers(own_layers)
        if self._source.layers is None:
            raise InputError(
                "no weights were given; pass V and a, or layers=(inner, outer), with the frame."
            )
        if not self._source.layers.is_live:
            raise InputError(
                "arrays of JAX never change in place; give the layers of this step with the "
                "frame, as frame(t, layers=(inner, outer))."
            )
        return self._read_layers(self._source.layers)

    def read_start(self, start: Weights) -> Weights | None:
        """Return the arrays before the first step, if any: the given ones, or the layers' own.

        Raises InputError for outer weights or biases without inner weights.
        """
        layers = self._source.layers
        if layers is not None:
            weights: Weights = self._read_layers(layers)
        elif start["V"] is not None:
            weights = start
        elif any(array is not None for array in start.values()):
            raise InputError(
                "V0, the inner weights before the first step, is missing; give it with a0."
            )
        else:
            return None
        if self._source.model is None:
            arrays_seen = weights if layers is None else layers.read()
            self._pass = FirstPass(
                (arrays_seen["V"], arrays_seen["a"]),
                (weights["b"] is not None, weights["c"] is not None),
                lambda: self.options.network,
                self._warn,
            )
        return weights

    def prefer(self, network: NetworkOptions) -> None:
        """Start the search of a model's activation and scale from those of a network."""
        if self._source.model is not None:
            self.options = replace(self.options, network=network)

    def stop(self) -> None:
        """Release the loop's modules and model: no layers are read or compared any longer."""
        if self._pass is not None:
            self._pass.stop()
        self._pass, self._source, self._reads_layers = None, Source(), False

    def _read_layers(self, layers: Layers) -> Weights:
        weights = layers.read()
        if layers.outer.is_trained:
            if self.options.a_fixed is not None:
                raise InputError("a_fixed was given, but the outer layer is trained; leave it out.")
            return weights
        fixed = arrays.as_numpy(weights["a"], "a")
        if self.options.a_fixed is None:
            self.options = replace(self.options, a_fixed=np.array(fixed))
        elif not np.array_equal(fixed, arrays.as_numpy(self.options.a_fixed, "a")):
            raise InputError(
                "the outer weights require no gradient but have changed; pass V and a with each "
                "frame instead of layers."
            )
        return {**weights, "a": None}

    def dtype_of(self, network: NetworkArrays) -> np.dtype[Any]:
        """Return the type of frames: that of the weights, or float64 of a flow."""
        return np.dtype(np.float64) if self.options.dynamics == "flow" else network.dtype

    def arrange(self, weights: Weights) -> NetworkArrays:
        """Name the arrays of a frame as in a run file. Raises InputError for wrong shapes."""
        return self.options.network.arrange(weights, self.options.a_fixed, self._examples)

    def start(self, weights: Weights) -> NetworkArrays:
        """Find activation and scale by the user's model, and return the network of the start."""
        options = self.options
        if self._source.model is not None:
            identified, sentence = self._identify(weights, self._source.search)
            if sentence:
                self._warn(
                    "model",
                    f"{sentence}. The weights are recorded with an unknown activation, so "
                    "neither risk nor margins are available",
                )
            options = replace(options, network=identified)
        network = options.network
        factor = network.step_factor(weights["a"] is not None, weights["c"] is not None)
        reason = f"with scale = {network.scale:.4g}"
        if options.dynamics == "adam" and network.scale != 1.0:
            factor = None
        if self._source.layers is not None and not self._source.layers.are_trained:
            factor, reason = None, "where some of them are not trained"
        if factor is None and options.dynamics:
            self._warn(
                "dynamics",
                f'{reason} the recorded weights do not follow dynamics = "{options.dynamics}", so '
                "statements that need it stay undecided",
            )
            options = replace(options, dynamics="")
        self.options = replace(options, step_factor=factor or 1.0)
        start = self.arrange(weights)
        own = start.with_values(start.flatten(np.dtype(np.float64)))
        half = any("float16" in str(getattr(one, "dtype", "")) for one in weights.values())
        self._check = NumberCheck(self._examples, self.options, own, half)
        self._origin = own if self._reads_layers else None
        self._check_scale()
        return start

    def _check_scale(self) -> None:
        scale, network = self._source.scale, self.options.network
        if self._source.model is None or scale is None or network.activation == UNKNOWN:
            return
        if not np.isclose(scale, network.scale, rtol=1e-6, atol=0.0):
            self._warn(
                "scale",
                f"scale = {scale:.6g} was given, but model has {network.scale:.6g}, which the file "
                "now has; leave scale out",
            )

    def compare(
        self,
        t: float,
        weights: Weights,
        network: NetworkArrays,
        numbers: Mapping[str, float],
        outputs: Any,
    ) -> None:
        """Compare the loop's own numbers, and at a few frames its model, with the network.

        Differences are warnings, once of each topic.

        Parameters
        ----------
        t : float
            Steps or time of the frame, in the unit of the loop.
        weights : mapping
            V, a, b and c as the loop has them.
        network : NetworkArrays
            Recorded network, which must own its arrays.
        numbers : mapping of str to float
            Numbers beside the frame.
        outputs : array (n,) or (n, k), or None
            The loop's f(x).
        """
        self._count += 1
        self._check_progress(t, network)
        sentence = self._check.compare(t, network, numbers, outputs)
        if sentence:
            self._warn("numbers", sentence)
        own = self.options.network
        unchecked = self._source.model is None or own.activation == UNKNOWN
        if unchecked or self._count + 1 not in CHECKED_FRAMES:
            return
        identified, sentence = self._identify(weights, False)
        if not sentence and identified.scale != own.scale:
            m = network.form.m
            needed = describe_scale(identified.scale, m)
            sentence = (
                f"model has scale = {needed}, but the file {describe_scale(own.scale, m)}; give "
                f"scale={needed}"
            )
        if sentence:
            self._warn("model", f"at t = {t:g} {sentence}")

    def _check_progress(self, t: float, network: NetworkArrays) -> None:
        """Warn of layers that stay at their start, and of an optimizer that changes its steps."""
        if self._origin is not None:
            parts = self._origin.parts
            if not all(np.array_equal(part, parts[name]) for name, part in network.parts.items()):
                self._origin = None
            elif self._count == FRAMES_AT_START:
                self._warn(
                    "unchanged",
                    f"the weights at t = {t:g} are still those of the start: if the loop "
                    "replaces its arrays, or trains a copy, pass them with each frame, as "
                    "frame(t, layers=(inner, outer))",
                )
        if (
            self._rates
            and self.options.dynamics
            and self._rates != (now := learning_rates(self._source.optimizer))
        ):
            self._warn(
                "optimizer",
                f"the optimizer has lr = {now[0]:.6g} at t = {t:g} but had {self._rates[0]:.6g} "
                "at the start, which times and statements use; leave out optimizer and dynamics "
                "if the learning rate changes",
            )

    def _identify(self, weights: Weights, search: bool) -> Any:
        """Identify the network of some weights from the model's outputs on the examples."""
        options = self.options
        return identify(
            self._source.model,
            weights,
            options.a_fixed,
            self._examples,
            options.network,
            search,
            self._source.outputs,
        )


def choose_layers(
    candidates: tuple[Layers, ...],
    model: Any,
    examples: Examples,
    options: Options,
    outputs: str,
) -> Layers | None:
    """Return the first layers that give a model's outputs, or else the first.

    Parameters
    ----------
    candidates : tuple of Layers
        Layers that a module may consist of.
    model : callable or None
        Network of the loop.
    examples : Examples
        Points of the comparison.
    options : Options
        Activation and slope that the user named.
    outputs : str
        Outputs that the loop's loss takes, a key of `HEADS`.

    Returns
    -------
    Layers or None
        None without candidates.
    """
    search = options.network.activation == "relu"
    for layers in candidates if len(candidates) > 1 else ():
        with suppress(InputError):
            network, fixed = options.network, options.a_fixed
            weights = layers.read()
            if not identify(model, weights, fixed, examples, network, search, outputs)[1]:
                return layers
    return candidates[0] if candidates else None
