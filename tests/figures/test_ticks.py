"""Ticks of ranges that no axis should have: few at any ends, and soon."""

from __future__ import annotations

import math
from itertools import product

import pytest

from core.errors import InputError
from core.figures.options import Region, ViewOptions, check_view_options
from core.figures.ticks import FARTHEST, MAKERS, TickMaker, range_problem, whole_numbers

LARGEST = 1.7976931348623157e308
ENDS = (
    *(sign * end for end in (0.0, 1.0, 1e5, 1e16, 1e100, 1e300, LARGEST) for sign in (1.0, -1.0)),
    *(5e-324, 1e-310, 1e-200, 308.0, -308.0, 710.0, 1.0 + 2.0**-52, 1e16 + 2.0),
    *(math.inf, -math.inf, math.nan),
)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_no_range_has_many_ticks(maker: TickMaker) -> None:
    for low, high in product(ENDS, ENDS):
        ticks = maker(low, high, 5)
        assert len(ticks) <= 10
        assert all(math.isfinite(place) and text for place, text in ticks)


def test_a_range_of_one_whole_number_has_its_tick() -> None:
    assert list(whole_numbers(2.0, 2.0, 5)) == [2]
    assert list(whole_numbers(2.5, 2.5, 5)) == list(whole_numbers(3.0, 2.0, 5)) == []


@pytest.mark.parametrize("shows", ["plain", "powers", "roots", "whole", "log"])
def test_a_wide_range_has_ticks(shows: str) -> None:
    assert len(MAKERS[shows](0.0, 1e90, 5)) >= 3
    assert len(MAKERS[shows](-1e90, 1e90, 5)) >= 3


WRONG = [
    (math.nan, 1.0, "finite"),
    (0.0, math.inf, "finite"),
    (1.0, 1.0, "left must be less than right"),
    (2.0, 1.0, "left must be less than right"),
    (0.0, 1e300, "between -10^100 and 10^100"),
    (-LARGEST, LARGEST, "between -10^100 and 10^100"),
    (0.0, 5e-324, "at least 10^-100"),
    (1.0, 1.0 + 2.0**-52, "10^-12 of the larger"),
]


@pytest.mark.parametrize(("low", "high", "words"), WRONG)
def test_a_range_of_a_figure_that_cannot_be_shown_is_a_sentence(
    low: float, high: float, words: str
) -> None:
    for ends in ((low, high, 0.0, 1.0), (0.0, 1.0, low, high)):
        with pytest.raises(InputError) as caught:
            check_view_options(ViewOptions(regions=(Region(0, "margins", *ends),)))
        assert words in caught.value.sentence and "margins" in caught.value.sentence


def test_ranges_up_to_the_limits_are_shown() -> None:
    for low, high in ((-FARTHEST, FARTHEST), (0.0, 1e-100), (-1e-99, 0.0), (1.0, 1.0 + 2e-12)):
        assert range_problem(low, high) == ""


@pytest.mark.parametrize(
    ("maker", "low", "high"),
    [
        ("plain", 0.9999, 1.0001),
        ("plain", 1.2341e7, 1.2349e7),
        ("plain", 1.0 - 1e-11, 1.0),
        ("roots", 10.0, 10.01),
        ("log", 300.0001, 300.0002),
    ],
)
def test_no_two_ticks_have_the_same_text(maker: str, low: float, high: float) -> None:
    """Ticks of the strip of a quantity that hardly moved were "1", "1" and "1"."""
    texts = [text for _, text in MAKERS[maker](low, high, 5)]
    assert texts
    assert len({*texts}) == len(texts)
