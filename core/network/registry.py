"""Networks by the kind named in study files."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.network.batch_norm import BatchNorm
from core.network.bias import Bias
from core.network.custom import Custom
from core.network.fixed_outer import FixedOuter
from core.network.head import Head
from core.network.kernel_predictor import PREDICTOR, KernelNetwork
from core.network.multiclass import Multiclass
from core.network.normalised import Normalised
from core.network.parametrisation import Array, Arrays, Network, Shape
from core.network.scalar import Scalar
from core.network.standard import Standard
from core.study_file.sections.dynamics import DynamicsSection, KernelPredictor
from core.study_file.sections.network import NetworkSection

NETWORKS: dict[str, Any] = {
    cls.kind: cls
    for cls in (Standard, Scalar, Normalised, FixedOuter, BatchNorm, Bias, Multiclass, Head, Custom)
}


def build_network(section: NetworkSection, shape: Shape, fixed: Arrays) -> Network:
    """The network of a section; `fixed` holds at least its untrained arrays by name."""
    network: Network = NETWORKS[section.kind](section, shape, fixed)
    return network


def recorded_kind(section: NetworkSection, dynamics: DynamicsSection) -> str:
    """The kind of network that a run's frames hold: a kernel predictor is no trained network."""
    return PREDICTOR if isinstance(dynamics, KernelPredictor) else section.kind


def recorded_network(
    section: NetworkSection, dynamics: DynamicsSection, shape: Shape, fixed: Arrays
) -> Network:
    """The network that a run's frames hold."""
    if isinstance(dynamics, KernelPredictor):
        return KernelNetwork(shape, dynamics)
    return build_network(section, shape, fixed)


def initial_arrays(
    section: NetworkSection, shape: Shape, generator: np.random.Generator
) -> dict[str, Array]:
    """All arrays of the paper's start by name, trained and untrained."""
    arrays: dict[str, Array] = NETWORKS[section.kind].initial(section, shape, generator)
    return arrays
