"""Which runs belong together: by a setting, by their seeds, or by everything but their seeds.

A run is whatever has settings: a cell of a figure, a trial of a claim, a row of a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from core.studies.statistics import first_below
from core.studies.tables import value_text

SEEDS = ("run.seed", "data.seed", "network.seed")
Key = tuple[tuple[str, Any], ...]


class HasSettings(Protocol):
    """A run of a study."""

    @property
    def seeds(self) -> tuple[Any, ...]:
        """The values of SEEDS: what tells repetitions apart."""

    def setting(self, formula: str) -> Any:
        """A setting, the variant, or a formula over d, n, m, k and factors."""


T = TypeVar("T")
R = TypeVar("R", bound=HasSettings)


def grouped(items: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    """Items by a key (lists as tuples), the keys in the order in which they come first."""
    groups: dict[Any, list[T]] = {}
    for item in items:
        groups.setdefault(_hashable(key(item)), []).append(item)
    return groups


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def by_setting(runs: Iterable[R], formula: str) -> list[tuple[Any, list[R]]]:
    """Runs by a setting or formula, numbers in increasing order, words as they come."""
    groups = grouped(runs, lambda run: run.setting(formula))
    if all(isinstance(value, int | float) for value in groups):
        # Keys differ, so that no lists of runs are compared.
        return sorted(groups.items())
    return list(groups.items())


def crossings(
    runs: Iterable[R], x: str, along: str, level: float, y: Callable[[R], float]
) -> list[tuple[float, dict[Any, float]]]:
    """For every x, n* by seed: where y first falls to a level as the setting `along` grows, its
    logarithm interpolated. NaN where the level was not crossed on the grid.
    """
    table = []
    for place, some in by_setting(runs, x):
        by_seed = {}
        for seeds, members in grouped(some, lambda run: run.seeds).items():
            pairs = sorted((float(run.setting(along)), y(run)) for run in members)
            grid, values = np.array(pairs).T
            # A curve for each seed: n* of a mean curve is not the mean of n*.
            by_seed[seeds] = first_below(grid, values, level)
        table.append((float(place), by_seed))
    return table


def same(one: Any, other: Any) -> bool:
    """Whether two settings are the same, numbers to one part in 1e9."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        # Values of formulas and of file names come by different ways to the same number.
        return math.isclose(one, other, rel_tol=1e-9)
    return value_text(one) == value_text(other)


def matches(run: HasSettings, where: Iterable[tuple[str, Any]]) -> bool:
    """Whether a run has all of these settings; a tuple allows several values of one."""
    return all(
        any(same(run.setting(key), value) for value in (v if isinstance(v, tuple) else (v,)))
        for key, v in where
    )


def is_seed(key: str) -> bool:
    """Whether a setting only tells repetitions apart."""
    return key.endswith(".seed")


def apart_from_seeds(settings: Mapping[str, Any], axis: str | None = None) -> Key:
    """All settings but the seeds, unless a seed is itself the axis that is shown."""
    return tuple((key, value) for key, value in settings.items() if key == axis or not is_seed(key))


def fits(train_error: float) -> bool | None:
    """Whether a run ends without training errors; None where that is not known."""
    return None if math.isnan(train_error) else train_error == 0.0
