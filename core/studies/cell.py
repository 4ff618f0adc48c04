"""A cell of a study: where it stands in the grid, its name, and its experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.studies.tables import value_text
from core.study_file.experiment import Experiment

Place = Mapping[str, Any]  # the values of a study's axes, by their keys


@dataclass(frozen=True, slots=True)
class Cell:
    """One experiment of a study: `name` is `network.m=16` or empty where there are no axes.

    `values` are those of the axes, factors among them, and `variant`.
    """

    name: str
    experiment: Experiment
    values: Mapping[str, Any] = field(default_factory=dict)


def name_of(place: Place) -> str:
    """The name of the cell at a place.

    >>> name_of({"network.m": 16, "run.seed": 0})
    'network.m=16__run.seed=0'
    """
    return "__".join(f"{key}={value_text(value)}" for key, value in place.items())
