"""Networks by the kind named in study files."""

from __future__ import annotations

from operator import attrgetter

from numpy.random import Generator

from core.network.bias import Bias, Multiclass
from core.network.custom import Custom
from core.network.head import Head
from core.network.normalised import BatchNorm, Normalised
from core.network.parametrisation import Array, Arrays, Network, Shape
from core.network.quadratic import Quadratic
from core.network.recorded import Recorded
from core.network.section import NetworkSection
from core.network.standard import FixedOuter, Scalar, Standard
from core.settings import Registry

NETWORKS: Registry[type[Network]] = Registry(
    attrgetter("kind"),
    Standard,
    Scalar,
    Normalised,
    FixedOuter,
    BatchNorm,
    Bias,
    Multiclass,
    Quadratic,
    Head,
    Custom,
)
NETWORKS.aside[Recorded.kind] = Recorded  # what `marginscope.record` was told of another's network


def build_network(section: NetworkSection, shape: Shape, fixed: Arrays) -> Network:
    """The network of a section; `fixed` holds at least its untrained arrays by name."""
    return NETWORKS[section.kind](section, shape, fixed)


def initial_arrays(section: NetworkSection, shape: Shape, generator: Generator) -> dict[str, Array]:
    """All arrays of the paper's start by name, trained and untrained."""
    return NETWORKS[section.kind].initial(section, shape, generator)
