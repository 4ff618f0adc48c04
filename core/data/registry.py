"""Distributions by the kind named in study files."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.data.cifar import Cifar
from core.data.cones import Cones, TwoCones
from core.data.constructions import Dyadic, Intervals, NearOrthogonal, ThreePoint, Wei19
from core.data.dataset import Dataset, Distribution
from core.data.digits import Digits
from core.data.files import FileSource
from core.data.images import Choice
from core.data.mixtures import GaussianMixture, Xor
from core.data.mnist import Mnist
from core.data.parity import Parity
from core.data.teacher import Teacher
from core.errors import InputError
from core.study_file.sections.clusters import (
    ConesData,
    MixtureData,
    NearOrthogonalData,
    TwoConesData,
    XorData,
)
from core.study_file.sections.constructions import (
    DyadicData,
    IntervalsData,
    TeacherData,
    ThreePointData,
    Wei19Data,
)
from core.study_file.sections.data import (
    CifarData,
    DigitsData,
    FileData,
    MnistData,
    ParityData,
    one_class,
)
from core.study_file.settings import Section

NEEDED_PATHS = {
    "file": 'data.path is missing; with data.kind = "file" name an NPZ or CSV file.',
    "mnist": 'data.path is missing; with data.kind = "mnist" name the folder of its idx files.',
    "cifar10": 'data.path is missing; with data.kind = "cifar10" name the folder of its batches.',
}


def _parity(section: ParityData) -> Parity:
    s = section
    return Parity(s.d, s.n, s.k, s.law, s.bias, s.freeze)


def _mixture(section: MixtureData) -> GaussianMixture:
    return GaussianMixture(section.d, section.n, section.mean_exponent, section.flips)


def _xor(section: XorData) -> Xor:
    return Xor(section.d, section.n, section.mean_exponent)


def _near_orthogonal(section: NearOrthogonalData) -> NearOrthogonal:
    return NearOrthogonal(section.d, section.n, section.coherence)


def _cones(section: ConesData) -> Cones:
    s = section
    return Cones(s.d, s.n, s.r, s.gamma_nc, s.offset, s.labels == "mixed")


def _two_cones(section: TwoConesData) -> TwoCones:
    separation, spread = math.radians(section.separation), math.radians(section.spread)
    return TwoCones(section.d, section.n, section.alpha, separation, spread)


def _wei19(section: Wei19Data) -> Wei19:
    return Wei19(section.d, section.n, section.scaled)


def _three_point(section: ThreePointData) -> ThreePoint:
    return ThreePoint(section.eps)


def _teacher(section: TeacherData) -> Teacher:
    return Teacher(section.d, section.n, section.units, section.margin)


def _intervals(section: IntervalsData) -> Intervals:
    return Intervals(section.n, tuple(section.pieces()))


def _dyadic(section: DyadicData) -> Dyadic:
    return Dyadic(section.d)


def _digits(section: DigitsData) -> Digits:
    return Digits(Choice(section.classes, section.n, section.scale))


MADE: dict[type[Section], Callable[[Any], Distribution]] = {
    ParityData: _parity,
    MixtureData: _mixture,
    XorData: _xor,
    NearOrthogonalData: _near_orthogonal,
    ConesData: _cones,
    TwoConesData: _two_cones,
    Wei19Data: _wei19,
    ThreePointData: _three_point,
    TeacherData: _teacher,
    IntervalsData: _intervals,
    DyadicData: _dyadic,
    DigitsData: _digits,
}


def distribution(section: Any, folder: Path | None) -> Distribution:
    """The distribution that a data section names; paths in it are relative to `folder`.

    Raises InputError for a section of files without its path.
    """
    if type(section) in MADE:
        return MADE[type(section)](section)
    if section.path is None:
        raise InputError(NEEDED_PATHS[section.kind])
    path = Path(section.path) if folder is None else folder / section.path
    if isinstance(section, FileData):
        return FileSource(path, section.d, section.n)
    choice = Choice(section.classes, section.n, section.scale)
    if isinstance(section, MnistData):
        return Mnist(path, choice, section.d)
    assert isinstance(section, CifarData)
    return Cifar(path, choice, section.d)


def draw(section: Any, generator: np.random.Generator, folder: Path | None) -> Dataset:
    """The training examples of a data section, drawn or read.

    Raises InputError for what the distribution refuses, and for a draw with a single class, which
    teaches nothing, unless the distribution is made so.
    """
    dataset = distribution(section, folder).sample(generator)
    if one_class(section) or np.unique(dataset.y).size > 1:
        return dataset
    raise InputError(
        f"With data.n = {dataset.n} only the label {dataset.y[0]:g} was drawn, and both classes "
        "are needed; choose a larger data.n, or another seed."
    )
