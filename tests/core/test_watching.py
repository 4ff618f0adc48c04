"""Which cells of a study the window trains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import InputError
from core.studies.cell_selection import restrict_study, worth_seeing
from core.studies.layout import parse_window
from core.studies.study import Study, load_study, shipped_ids
from core.studies.tables import name_of


def test_what_studies_show_are_cells_of_them(subtests: pytest.Subtests) -> None:
    names = shipped_ids()
    assert names
    for name in names:
        with subtests.test(study=name):
            check_that_cells_shown_are_cells(load_study(name), name)


def check_that_cells_shown_are_cells(study: Study, name: str) -> None:
    """Compare the cells that the window shows first with those of the whole study."""
    some = list(zip(range(60), study.places(), study.iter_cells(), strict=False))
    assert all(name_of(place) == cell.name for _, place, cell in some)
    cells = worth_seeing(study, 2)
    assert len(cells) == min(2, study.count)
    assert len({cell.name for cell in cells}) == len(cells)
    for cell, wanted in zip(cells, parse_window(study.window, name).cells, strict=False):
        assert wanted.items() <= cell.values.items()
        # As the whole study has it, too.
        assert study.cell(cell.values).experiment == cell.experiment
    axes = [key for key in study.axes if not key.endswith(".seed")]
    if axes or study.variants:  # two seeds of one experiment look alike
        one, two = (
            {key: value for key, value in cell.values.items() if not key.endswith(".seed")}
            for cell in cells
        )
        assert one != two


def grid(**window: object) -> Study:
    study = load_study("telgarsky22-figure-1")
    axes = {"data.d": (6, 8, 10), "network.m": (4, 8), "run.seed": (0, 1)}
    return replace(study, axes=axes, window=window)


def test_without_a_word_they_differ_in_more_than_a_seed() -> None:
    cells = worth_seeing(grid(), 4)
    values = [(cell.values["data.d"], cell.values["network.m"]) for cell in cells]
    assert values == [(6, 4), (6, 8), (8, 4), (8, 8)]
    assert {cell.values["run.seed"] for cell in cells} == {0}


def test_cells_are_said_by_the_study_or_chosen_by_name() -> None:
    study = grid(cells=[{"data.d": 10, "run.seed": 1}, {"network.m": 8}])
    names = [cell.name for cell in worth_seeing(study, 2)]
    assert names == [
        "data.d=10__network.m=4__run.seed=1",
        "data.d=6__network.m=8__run.seed=0",
    ]
    chosen = ["data.d=8__network.m=8__run.seed=1", "data.d=6__network.m=4__run.seed=1"]
    assert {cell.name for cell in worth_seeing(study, 2, chosen)} == set(chosen)
    # Of another study: they mean nothing, and the first ones are taken.
    assert len(worth_seeing(study, 2, ["nobody"])) == 2


def test_a_study_of_some_cells_alone_has_them(subtests: pytest.Subtests) -> None:
    names = shipped_ids()
    assert names
    for name in names:
        with subtests.test(study=name):
            study = load_study(name)
            cells = worth_seeing(study, 2)
            assert cells
            few = restrict_study(study, cells)
            assert few.count <= 4
            alone = {cell.name: cell.experiment for cell in few.cells()}
            assert all(alone[cell.name] == cell.experiment for cell in cells)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([{"data.d": 7}], "not a cell"),
        ([{"data.law": "uniform"}], "not a cell"),
        ("all", "list of tables"),
        ([1], "list of tables"),
        ([{}] * 5, "cells"),
    ],
)
def test_what_is_no_cell_is_refused(cells: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        worth_seeing(grid(cells=cells), 2)
    assert words in caught.value.sentence
