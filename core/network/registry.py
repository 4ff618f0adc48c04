"""Networks by the kind named in study files."""

from __future__ import annotations

from operator import attrgetter

from numpy.random import Generator

from core.network.bias import Bias, Multiclass
from core.network.committee import Committee
from core.network.custom import Custom
from core.network.deep_linear import DeepLinear
from core.network.diagonal import DiagonalLinear
from core.network.head import Head
from core.network.linear import Linear
from core.network.normalised_network import BatchNorm, Normalised
from core.network.parametrisation import Array, Arrays, Network, Shape
from core.network.quadratic import Quadratic
from core.network.recorded_network import Recorded
from core.network.section import NetworkSection
from core.network.single_index import SingleIndex
from core.network.standard import FixedOuter, Scalar, Standard
from core.network.tanh import Tanh
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
    Linear,
    DiagonalLinear,
    DeepLinear,
    Committee,
    SingleIndex,
    Tanh,
    Head,
    Custom,
)
NETWORKS.aside[Recorded.kind] = Recorded  # a foreign network, as described to `marginscope.record`


def build_network(section: NetworkSection, shape: Shape, fixed: Arrays) -> Network:
    """Return the network of a section.

    Parameters
    ----------
    section : NetworkSection
        Section of the study file.
    shape : Shape
        Width, training inputs (n, d) and number of outputs.
    fixed : mapping of str to array
        Arrays by name, at least the untrained ones.

    Returns
    -------
    Network
        Network of the section's kind.
    """
    return NETWORKS[section.kind](section, shape, fixed)


def initial_arrays(section: NetworkSection, shape: Shape, generator: Generator) -> dict[str, Array]:
    """Draw the start that the paper of a network prescribes.

    Parameters
    ----------
    section : NetworkSection
        Section of the study file.
    shape : Shape
        Width, training inputs (n, d) and number of outputs.
    generator : Generator
        Source of randomness; its state advances.

    Returns
    -------
    dict of str to array
        Trained and untrained arrays by name.
    """
    return NETWORKS[section.kind].initial(section, shape, generator)
