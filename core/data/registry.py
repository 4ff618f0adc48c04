"""Registry of the kinds of data, by their names in study files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.random import Generator

from core.data.cones import ConesData, TwoConesData
from core.data.constructions import (
    DyadicData,
    IntervalsData,
    NearOrthogonalData,
    ThreePointData,
    Wei19Data,
)
from core.data.dataset import Dataset
from core.data.files import FileData
from core.data.image_files import CifarData, MnistData
from core.data.images import DigitsData
from core.data.matrix import MatrixData
from core.data.modular import ModularData
from core.data.parity import MixtureData, ParityData, XorData
from core.data.points import PointsData
from core.data.regression import OrthonormalData, RegressionData, SpuriousData, TeacherData
from core.data.section import DataSection, range_fault
from core.errors import InputError
from core.settings import Registry, kind_of

DATA: Registry[type[DataSection]] = Registry(
    kind_of,
    ParityData,
    Wei19Data,
    MixtureData,
    XorData,
    NearOrthogonalData,
    ThreePointData,
    ConesData,
    TwoConesData,
    TeacherData,
    IntervalsData,
    DyadicData,
    RegressionData,
    SpuriousData,
    OrthonormalData,
    MatrixData,
    ModularData,
    DigitsData,
    PointsData,
    FileData,
    MnistData,
    CifarData,
)


def draw(section: DataSection, generator: Generator, folder: Path | None) -> Dataset:
    """Draw or read the training examples of a data section.

    Parameters
    ----------
    section : DataSection
        Settings of the data.
    generator : Generator
        Source of randomness.
    folder : Path or None
        Folder of the study file, to which relative paths refer.

    Returns
    -------
    Dataset
        Examples with squares within float64.

    Raises
    ------
    InputError
        The distribution refuses its settings, numbers are out of range, or a draw has a single
        class where both are needed.
    """
    dataset = section.distribution(folder).sample(generator)
    if fault := range_fault(dataset, section.rescaling):
        raise InputError(f"data: {fault}")
    if section.single or dataset.real or np.unique(dataset.y).size > 1:
        return dataset
    raise InputError(
        f"With data.n = {dataset.n} only the label {dataset.y[0]:g} was drawn, but a study needs "
        "both classes; choose a larger data.n, or another seed."
    )
