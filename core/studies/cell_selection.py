"""Cells of a study that are worth seeing side by side, where the screen has no room for all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from core.errors import InputError
from core.studies.formulas import VARIANT
from core.studies.study import Study
from core.studies.tables import Cell, Place, name_of

MOST_EXAMINED = 100_000  # largest number of cells that are examined


def worth_seeing(study: Study, count: int, names: Collection[str] = ()) -> tuple[Cell, ...]:
    """Return cells of a study to show side by side, in the order of the grid.

    These are the cells of `names`, or else those that the study says (core.studies.layout), or else
    the first and the next ones that differ from all before in more than a seed; then the first ones
    of the grid.

    Parameters
    ----------
    study : Study
        Study with its grid.
    count : int
        Most cells.
    names : collection of str
        Names of cells to prefer.

    Returns
    -------
    tuple of Cell
        At most `count`.

    Raises
    ------
    InputError
        The study says a cell that it does not have, or a value is not allowed.
    """
    places: list[Place] = []
    for number, settings in enumerate(study.opens_with.cells):
        place = next((place for place in _first_places(study) if _has(place, settings)), None)
        if place is None:
            raise InputError(f"window.cells[{number}] is not a cell of the study.", where=study.id)
        places.append(place)
    if names:
        places = [place for place in _first_places(study) if name_of(place) in names]
    elif not places:
        places = _choose_places(study, count)
    for place in islice(study.places(), count):
        if len(places) < count and place not in places:
            places.append(place)
    return tuple(study.cell(place) for place in places[:count])


def restrict_study(study: Study, cells: Sequence[Cell]) -> Study:
    """Return the study with only those values of its axes and variants that some cells have."""
    values = {key: tuple(dict.fromkeys(cell.values[key] for cell in cells)) for key in study.axes}
    if study.variants:
        study = study.with_value(VARIANT, list(dict.fromkeys(c.values[VARIANT] for c in cells)))
    return replace(study, axes=values)


def _first_places(study: Study) -> islice[Place]:
    """Return the first `MOST_EXAMINED` cells of a study, as values by axis."""
    return islice(study.places(), MOST_EXAMINED)


def _has(place: Place, settings: Mapping[str, Any]) -> bool:
    return all(key in place and place[key] == value for key, value in settings.items())


def _choose_places(study: Study, count: int) -> list[Place]:
    """Return the first cells that differ in more than seeds, at most `count`."""
    chosen: list[Place] = []
    for place in _first_places(study):
        if all(_differ_beyond_seed(place, place_) for place_ in chosen):
            chosen.append(place)
        if len(chosen) == count:
            break
    return chosen


def _differ_beyond_seed(first: Place, second: Place) -> bool:
    """Return True if two places differ in more than a seed."""
    return any(first[key] != second[key] for key in first if not key.endswith(".seed"))
