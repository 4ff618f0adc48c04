"""Who reaches the edge of stability, and how often a risk rises: on numbers made up for it."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from core.errors import InputError
from core.studies.claims import Claim
from core.studies.measures.measurement import edge, share_of_rises
from core.studies.trials import Trial


def trial(eta: float, seed: int, *q: float) -> Trial:
    made = SimpleNamespace(
        seeds=(seed,), setting=lambda name: eta, trace=lambda formula: np.array(q)
    )
    return cast(Trial, made)


def claim(**options: Any) -> Claim:
    given = {"along": "factor.eta", **options}
    return Claim(text="", measure="edge", compare=">=", value=1.0, options=given)


# S_end = 1.25 with the step .5, and 1.6 for the second seed: the edge is at 1.6 and at 1.25.
SMALL = [trial(0.5, 0, 0.1, 0.3125), trial(0.5, 1, 0.1, 0.4)]


def test_the_edge_is_where_the_smallest_step_ends() -> None:
    """A run at 1.4 comes to it of the second seed alone."""
    rest = [trial(1.4, 0, 0.3, 0.87), trial(1.4, 1, 0.3, 1.2, 0.99), trial(2.0, 0, 0.5, 1.0)]
    assert edge([*SMALL, *rest], claim()).value == 1.0
    wrong = [trial(1.4, 0, 0.3, 1.0), trial(1.4, 1, 0.3, 0.9), *rest[2:]]
    assert edge([*SMALL, *wrong], claim()).value == pytest.approx(1.0 / 3.0)
    assert edge([*SMALL, *rest], claim(by="difference")).value == pytest.approx(0.01)


def test_runs_next_to_it_are_left_out_where_that_is_said() -> None:
    near = [*SMALL, trial(1.62, 0, 0.4, 0.99), trial(2.0, 1, 0.5, 1.0)]
    assert edge(near, claim()).value == 0.5
    found = edge(near, claim(apart=0.03))
    assert (found.value, found.count) == (1.0, 1)
    assert np.isnan(edge(SMALL, claim()).value)
    with pytest.raises(InputError, match="share or difference"):
        edge(near, claim(by="mean"))


def test_rises_are_counted_by_intervals() -> None:
    values = np.random.default_rng(0).standard_normal(1001)
    by_hand = sum(b > a for a, b in itertools.pairwise(values)) / 1000
    assert share_of_rises(values) == by_hand
    assert np.isnan(share_of_rises(values[:1]))
