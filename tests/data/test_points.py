"""Points of the study file itself: what is refused, ways there and back, the text of others."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.numbers import NOTHING
from core.data.points import (
    ISLAND,
    MAX_POINTS,
    NAMES,
    fault_of,
    parse_points,
    points_csv,
    shape,
)
from core.errors import InputError
from core.library.reading import facts_of
from core.problem.problem import points_for_test, resolve_problem
from core.runs import Recorder, open_run
from core.studies.changes import origin_of, retitle
from core.studies.study import Study, load_study, parse_study
from core.theorems.common import known_law
from core.training.branching import plan_branch
from core.training.trajectory import run as train
from tests.data.drawing import problem_of

STUDY = """
title = "Points of mine"
[data]
kind = "points"
points = [[0.5, 0.25, 1], [0.1, -0.7, -1], [-0.3, 0.30000000000000004, -1], [1e-3, 0.2, 1]]
[network]
kind = "bias"
m = 5
[loss]
kind = "logistic"
[dynamics]
kind = "gd"
step = 0.5
until_log10_time = 1.0
"""
ROWS = ((0.5, 0.25, 1.0), (0.1, -0.7, -1.0), (-0.3, 0.1 + 0.2, -1.0), (1e-3, 0.2, 1.0))


def study() -> Study:
    return parse_study(STUDY, "mine")


def trained(path: Path, what: Study) -> Path:
    train(resolve_problem(next(what.iter_cells()).experiment, what.folder), partial(Recorder, path))
    return path


def frames_of(path: Path) -> list[list[float]]:
    with open_run(path) as run:
        assert run.frames > 3
        return [run.parameters(index).tolist() for index in range(run.frames)]


def test_the_data_are_the_points_and_nothing_is_rescaled() -> None:
    data = resolve_problem(next(study().iter_cells()).experiment).dataset
    assert np.array_equal(data.x, [row[:2] for row in ROWS])
    assert data.y.tolist() == [1.0, -1.0, -1.0, 1.0]
    section = next(study().iter_cells()).experiment.data
    assert (section.n, section.d) == (4, 2)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"points": [[0.0, 1]]}, "1 point is given; give 2 to 2000"),
        ({"points": [[0.0, 1]] * 2001}, "2001 points are given; give 2 to 2000"),
        ({"points": [[0.0, 1], [1, 1]]}, "all points have the label \\+1.*give one of them"),
        ({"points": [[0.0, 1], [1, 2]]}, "point 2 has the label 2; labels are -1 and \\+1"),
        ({"points": [[0.0, 1], [1, 2, -1]]}, "point 2 has 3 numbers and point 1 has 2 numbers"),
        ({"points": [[1], [-1]]}, "point 1 has 1 number; give it its coordinates"),
        ({"points": [[1e7, 1], [0, -1]]}, "point 1 has the coordinate 1e\\+07"),
        ({"points": [[0.0] * 20 + [1], [0.0] * 20 + [-1]] * 300}, "more than 10000 numbers"),
        ({"points": [["a", 1], [0, -1]]}, "data.points.0.0 = 'a'"),
        ({"points": 3}, "data.points = 3"),
        ({"n": 5}, "n = 5, but the points have n = 12; leave n out"),
        ({"d": 3}, "d = 3, but the points have d = 2; leave d out"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(keys: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        problem_of("points", **keys)


def test_a_study_is_written_and_read_back() -> None:
    again = parse_study(study().to_toml(), "mine")
    assert [cell.experiment for cell in again.cells()] == [c.experiment for c in study().cells()]


def test_rows_are_a_value_and_lists_of_rows_an_axis() -> None:
    one = study().with_settings(["data.points=[[0.5, 1], [0.25, -1]]"])
    assert not one.axes
    two = one.with_settings(["data.points=[[[0.5, 1], [0.25, -1]], [[0.5, -1], [0.25, 1]]]"])
    assert two.count == 2
    first, second = (cell.name for cell in two.cells())
    assert first.startswith("data.points=2-rows-")
    assert first != second
    with pytest.raises(InputError, match="twice"):
        one.with_settings(["data.points=[[[0.5, 1], [1, -1]], [[0.5, 1.0], [1.0, -1]]]"])


def test_titles_say_how_many_rows_there_are() -> None:
    base = load_study("telgarsky22-figure-1")
    changed = base.with_value("data.kind", "points").with_value(
        "data.points", [list(row) for row in ROWS]
    )
    title = retitle(changed, origin_of(changed)).title
    assert title == "4 drawn points \u00b7 after Telgarsky 2022, Figure 1"


def test_a_run_holds_them_and_goes_on_from_them(tmp_path: Path) -> None:
    with open_run(trained(tmp_path / "a.msrun", study())) as run:
        assert run.experiment.data == next(study().iter_cells()).experiment.data
        assert np.array_equal(run.dataset.x, [row[:2] for row in ROWS])
        settings = facts_of(run).settings
        assert (settings["data.n"], settings["data.d"]) == (4, 2)
        assert str(settings["data.points"]).startswith("4-rows-")
        # A branch may have other labels, and no other places.
        flipped = study().with_value("data.points", [[*row[:2], -row[2]] for row in ROWS])
        experiment, changes = plan_branch(run, 0, next(flipped.iter_cells()).experiment)
        assert set(changes) == {"data.points"}
        assert experiment.data != run.experiment.data


def test_a_file_of_the_same_points_is_trained_alike(tmp_path: Path) -> None:
    x, y = np.array([row[:2] for row in ROWS]), np.array([row[2] for row in ROWS])
    np.savez(tmp_path / "mine.npz", x=x, y=y)
    (tmp_path / "mine.csv").write_text(points_csv(ROWS))
    drawn = frames_of(trained(tmp_path / "drawn.msrun", study()))
    for name in ("mine.npz", "mine.csv"):
        read = replace(study(), folder=tmp_path).with_value("data.kind", "file")
        path = trained(tmp_path / f"{name}.msrun", read.with_value("data.path", name))
        assert frames_of(path) == drawn


def test_nobody_knows_their_law(tmp_path: Path) -> None:
    assert points_for_test(resolve_problem(next(study().iter_cells()).experiment)) is None
    with open_run(trained(tmp_path / "a.msrun", study())) as run:
        found = known_law(run, "independent examples")
    assert found.met is None
    assert found.present == "points of the study file: the law is not known"
    fresh = ["dynamics.kind=sgd", "dynamics.batch=1", "dynamics.fresh=true"]
    with pytest.raises(InputError, match="needs a distribution to draw from"):
        study().with_settings(fresh)


# ------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize("name", NAMES)
def test_shapes_are_data(name: str) -> None:
    points = shape(name)
    assert not fault_of(points)
    assert points == shape(name, 0)
    assert (points == shape(name, 1)) is (name == "island")
    assert all(round(value, 3) == value for row in points for value in row)


def test_shapes_are_what_they_are_called() -> None:
    for u, v, y in shape("XOR"):
        assert np.sign(u * v) == y
    for u, v, y in shape("circle"):
        assert bool(np.hypot(u, v) < 0.65) is (y > 0)
    assert sum(np.sign(x) != y for x, y in shape("intervals")) == 10


def test_no_line_separates_the_island() -> None:
    from scipy.optimize import linprog

    rows = np.array(ISLAND)
    signed = rows[:, 2:] * np.column_stack([rows[:, :2], np.ones(len(rows))])
    found = linprog(np.zeros(3), A_ub=-signed, b_ub=-np.ones(len(rows)), bounds=(None, None))
    assert not found.success


# ------------------------------------------------------------------------------------- pasted


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("0.5,1\n0.25,-1", ((0.5, 1.0), (0.25, -1.0))),
        ("x1\tx2\ty\n0,5\t1\t1\n2\t-3e-1\t0\n", ((0.5, 1.0, 1.0), (2.0, -0.3, -1.0))),
        ("  1 2 +\n\n# of mine\n 3  4 -\n", ((1.0, 2.0, 1.0), (3.0, 4.0, -1.0))),
        ("y;u;v\n1;2;3\n0;4;5", ((2.0, 3.0, 1.0), (4.0, 5.0, -1.0))),
        ('"0.5","\u22121","1"\n"1","1","-1"', ((0.5, -1.0, 1.0), (1.0, 1.0, -1.0))),
        ("\ufeff1,2,1.0\r\n3,4,-1.00\r\n", ((1.0, 2.0, 1.0), (3.0, 4.0, -1.0))),
    ],
)
def test_text_is_read(text: str, points: tuple[tuple[float, ...], ...]) -> None:
    assert parse_points(text).points == points


def test_words_are_told_what_they_stand_for() -> None:
    assert parse_points("1,2,yes\n3,4,no\n").note.endswith("no is \u22121, yes is +1.")
    assert parse_points("1,2,10\n3,4,9\n").note.endswith("9 is \u22121, 10 is +1.")
    assert parse_points("1,2,10\n3,4,9\n").points[0][-1] == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The clipboard contains no points"),
        ("# nothing\n\n", "The clipboard contains no points"),
        ("x,y\n", "The header has no points"),
        ("1,2,1\n\n3,4,5,-1", "Line 3 has 4 values, and the lines before it have 3"),
        ("1,2,1\n3,1", "Line 2 has 2 values, and the lines before it have 3"),
        ("5", "Line 1 has 1 value; give 2 or more"),
        ("1,2,1\n3,a,-1", "Line 2 has 'a' where a coordinate is needed"),
        ("1,2,1\n3,1_0,-1", "Line 2 has '1_0' where"),
        ("1,nan,1\n", "Line 1 has no value (nan) in column 2"),
        ("1,2e9,1\n", "Line 1 has 2e+09, but coordinates are at most 1e+06"),
        ("1,2,a\n3,4,b\n5,6,c", "Line 3 has the label 'c' after 'a' and 'b'"),
        ("1,2,a\n3,4,a", "has only the label 'a'"),
        ("1,2,\n", "Line 1 has no label"),
        ("1,1\n" * (MAX_POINTS + 1), f"Line {MAX_POINTS + 1} exceeds the limit of {MAX_POINTS}"),
        ("9" * 1_000_001, "more than 1\u202f000\u202f000 characters"),
    ],
)
def test_a_wrong_line_is_named(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_points(text)
    assert words in caught.value.sentence
    assert caught.value.sentence.endswith(NOTHING)


@given(st.text(alphabet="019.,;-+e \t\n\r#xyn\u2212\u0660_\"'/", max_size=60))
def test_whatever_is_pasted_is_points_or_a_sentence(text: str) -> None:
    try:
        points = parse_points(text).points
    except InputError as error:
        assert error.sentence.endswith(NOTHING)
    else:
        both = (*points, (*points[0][:-1], -points[0][-1]))
        assert not fault_of(both)


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from([-1.0, 1.0])),
        min_size=1,
        max_size=20,
    )
)
def test_what_is_copied_is_pasted_to_the_last_digit(points: list[tuple[float, ...]]) -> None:
    assert parse_points(points_csv(points)).points == tuple(points)
