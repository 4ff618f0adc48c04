"""Lines, differences and bands of made-up runs, by other ways than the program's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.comparison.alignment import (
    RankedNodes,
    RunTraces,
    first_passages,
    interpolate,
    keys_of,
    to_axis_numbers,
    turns_back,
)
from core.comparison.comparison import compare_over_time, compared_nodes
from core.comparison.question import (
    AGAINST,
    MOST_COMPARED,
    NEEDED,
    RANK,
    SORTED,
    CompareQuestion,
    check_count,
)
from core.errors import InputError

RNG = np.random.default_rng(5)


def run(
    name: str, times: np.ndarray, values: np.ndarray, family: str = "", **more: np.ndarray
) -> RunTraces:
    """Return a run with t = 0 before its other frames."""
    return RunTraces(
        name,
        family,
        np.append(-np.inf, times),
        np.arange(times.size + 1, dtype=float) ** 2,
        {"hard_margin": np.append(values[0], values), **more},
        most=2.0,
    )


@pytest.fixture
def two() -> tuple[RunTraces, RunTraces]:
    """Return two runs with other cadences, that have three moments in common."""
    first, other = np.array([-1.0, 0.0, 1.0, 2.0, 3.0]), np.array([-0.5, 0.0, 1.0, 1.7, 2.0, 2.5])
    return run("A", first, np.sin(first)), run("B", other, np.cos(other))


def test_a_run_less_itself_is_nothing(two: tuple[RunTraces, RunTraces]) -> None:
    first = two[0]
    for against in ("log10_time", "time", "step"):
        question = CompareQuestion(against=against, kind="differences")
        (line,) = compare_over_time(question, (first, replace(first, label="again"))).lines
        assert line.values.size > 0
        np.testing.assert_array_equal(line.values, 0.0)


def test_differences_are_exact_at_common_moments_and_straight_in_log_t_between(
    two: tuple[RunTraces, RunTraces],
) -> None:
    for against in ("log10_time", "time"):
        question = CompareQuestion(against=against, kind="differences")
        (line,) = compare_over_time(question, two).lines
        found = dict(zip(line.places.tolist(), line.values.tolist(), strict=True))
        for moment in (0.0, 1.0, 2.0):
            assert found[moment] == np.cos(moment) - np.sin(moment)
        # A second way: numpy's own interpolation over log10 t, in the part that both have.
        assert min(found) == -0.5
        assert max(found) == 2.5
        for place, value in found.items():
            mine = [
                np.interp(place, one.log10_time[1:], one.values["hard_margin"][1:]) for one in two
            ]
            assert value == pytest.approx(mine[1] - mine[0], abs=1e-15)
    assert to_axis_numbers(np.array([0.0, 2.0]), "time").tolist() == [1.0, 100.0]


@pytest.mark.parametrize("seed", range(8))
def test_a_place_that_is_reached_often_is_that_of_the_first_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = np.cumsum(rng.normal(0.3, 1.0, 60))
    values = rng.normal(size=60)
    places, found = first_passages(keys, values)
    assert (np.diff(places) >= 0.0).all()
    # The slow way: walk along the polygon in steps, and note where a place is first passed.
    fine = np.linspace(0.0, 59.0, 59 * 400 + 1)
    walked, seen = np.interp(fine, np.arange(60), keys), np.interp(fine, np.arange(60), values)
    for where in np.linspace(keys[0], keys.max(), 40)[1:-1]:
        first = int(np.argmax(walked >= where))
        near = interpolate(places, found, np.array([where]))[0]
        slope = np.abs(np.diff(values)).max() / 400.0
        assert near == pytest.approx(seen[first], abs=1.01 * slope)
    assert np.isnan(interpolate(places, found, np.array([keys[0] - 1.0, keys.max() + 1.0]))).all()


def test_a_risk_that_rises_is_said_and_falls_along_the_axis() -> None:
    times = np.arange(5.0)
    risk = np.array([0.0, 0.0, -1.0, -0.5, -2.0, -3.0])
    one = run("A", times, times, log10_risk=risk)
    other = run("B", times, times, log10_risk=-np.arange(6.0))
    answer = compare_over_time(CompareQuestion(against="risk"), (one, other))
    assert [note for note in answer.notes if "is not monotone" in note and " A " in note]
    for line in answer.lines:
        assert (np.diff(to_axis_numbers(line.places, "risk")) <= 0.0).all()
    assert turns_back(keys_of(one, "risk"))
    assert not turns_back(keys_of(other, "risk"))
    # At log10 risk -1.5: a third of the way from the frame at -0.5 to the one at -2.
    (place,) = interpolate(answer.lines[0].places, answer.lines[0].values, np.array([1.5]))
    assert place == pytest.approx(2.0 + (1.5 - 0.5) / 1.5)


def test_shares_and_norms_are_places() -> None:
    times = np.arange(4.0)
    one = run("A", times, np.array([0.2, 0.4, 0.6, 1.0]), norm_squared=10.0 ** np.arange(5.0))
    np.testing.assert_array_equal(keys_of(one, "share"), [0.1, 0.1, 0.2, 0.3, 0.5])
    np.testing.assert_allclose(keys_of(one, "norm_squared"), np.arange(5.0))
    np.testing.assert_allclose(keys_of(one, "step")[1:], 2.0 * np.log10([1.0, 2.0, 3.0, 4.0]))
    assert np.isnan(keys_of(one, "step")[0])
    unknown = compare_over_time(CompareQuestion(against="share"), (one, replace(one, most=np.nan)))
    assert unknown.lines[1].places.size == 0
    assert any("has no" in note for note in unknown.notes)


@pytest.mark.parametrize("band", ["range", "deviation"])
def test_bands_of_equal_runs_have_no_width_and_of_others_that_of_numpy(band: str) -> None:
    times = np.linspace(-1.0, 2.0, 7)
    question = CompareQuestion(kind="bands", band=band)
    same = [run(f"{k}", times, times**2, "m = 4") for k in range(3)]
    (line,) = compare_over_time(question, same).lines
    np.testing.assert_allclose(line.high - line.low, 0.0, atol=1e-15)
    np.testing.assert_allclose(line.values, times**2, atol=1e-15)
    table = RNG.normal(size=(4, 7))
    runs = [run(f"{k}", times, row, "m = 4") for k, row in enumerate(table)]
    line, alone = compare_over_time(question, [*runs, run("5", times, times, "m = 8")]).lines
    assert line.members == (0, 1, 2, 3)
    assert alone.members == (4,)
    np.testing.assert_array_equal(alone.low, alone.high)
    if band == "range":
        np.testing.assert_array_equal(line.values, np.median(table, axis=0))
        np.testing.assert_array_equal([line.low, line.high], [table.min(0), table.max(0)])
    else:
        mean = table.sum(axis=0) / 4
        spread = np.sqrt(((table - mean) ** 2).sum(axis=0) / 3)
        np.testing.assert_allclose(line.values, mean)
        np.testing.assert_allclose([line.low, line.high], [mean - spread, mean + spread])


def test_runs_without_a_common_moment_are_said_so() -> None:
    early, late = np.array([-2.0, -1.0]), np.array([3.0, 4.0])
    for kind in ("differences", "bands"):
        answer = compare_over_time(
            CompareQuestion(kind=kind), (run("A", early, early), run("B", late, late))
        )
        assert all(line.values.size == 0 for line in answer.lines)
        assert any("in common" in note or "do not overlap" in note for note in answer.notes)


def test_what_cannot_be_asked_is_one_sentence() -> None:
    for wrong in ({"against": "space"}, {"kind": "sum"}, {"band": "box"}):
        with pytest.raises(InputError, match="allowed are"):
            CompareQuestion(**wrong)
    for count in (0, 1, MOST_COMPARED + 1):
        with pytest.raises(InputError):
            check_count(count)
    check_count(MOST_COMPARED)
    for name in AGAINST:
        of = SORTED if name == RANK else ("hard_margin", "distance")
        for one in of:
            assert set(CompareQuestion(one, name).names) == {one, *NEEDED.get(name, ())}
    for wrong in ({"against": RANK}, {"observable": "rotation"}):
        with pytest.raises(InputError, match="compare it against"):
            CompareQuestion(**wrong)


def test_nodes_stand_at_their_ranks() -> None:
    narrow = RankedNodes("A", "", np.array([0.2, 0.6]), 2)
    wide = RankedNodes("B", "", np.array([0.1, 0.3, 0.5]), 4)  # one node has no direction
    question = CompareQuestion("rotation", RANK)
    answer = compared_nodes(question, (narrow, wide), 2.0)
    assert [line.places.tolist() for line in answer.lines] == [[0.5, 1.0], [0.25, 0.5, 0.75]]
    assert answer.notes == ("B has 1 neuron without a rotation.",)
    assert answer.moment == "t = 100"
    assert compared_nodes(question, (narrow, wide)).moment == "the end"
    # Where both have ranks, the wide one less the narrow one: .3 - .2 and .5 - .4.
    difference = compared_nodes(CompareQuestion("rotation", RANK, "differences"), (narrow, wide))
    (line,) = difference.lines
    assert line.places.tolist() == [0.5, 0.75]
    assert line.values == pytest.approx([0.1, 0.1])
    bands = compared_nodes(CompareQuestion("rotation", RANK, "bands"), (narrow, narrow))
    assert bands.lines[0].members == (0, 1)
    assert np.array_equal(bands.lines[0].low, narrow.values)
