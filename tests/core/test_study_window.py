"""The table [window] of a study file: read, checked, written."""

from __future__ import annotations

import pytest

import app.state.view_options
import core.figures.options
from app.state.views import VIEWS
from core.errors import InputError
from core.studies.layout import MOST_CURVES, MOST_VIEWS
from core.studies.study import load_study, parse_study, shipped_ids

STUDY = 'title = "A"\n[data]\nd = 4\nn = 8\n[network]\nm = 4\n'


def test_it_is_optional_and_comes_back() -> None:
    assert parse_study(STUDY, "a").opens_with.views == ()
    study = parse_study(STUDY + '[window]\nviews = ["predictor", "margins"]\n', "a")
    assert study.opens_with.views == ("predictor", "margins")
    again = parse_study(study.to_toml(), "a")
    assert again == study
    assert (
        study.with_settings(["network.m=8"]).at_size("quick").opens_with.views
        == study.opens_with.views
    )


def test_curves_and_points_come_back() -> None:
    plain = parse_study(STUDY, "a").opens_with
    assert (plain.curves, plain.points) == ((), "weights")
    table = '[window]\ncurves = ["sharpness", "log10_risk"]\npoints = "directions"\n'
    study = parse_study(STUDY + table, "a")
    first = study.opens_with
    assert (first.curves, first.points) == (("sharpness", "log10_risk"), "directions")
    assert parse_study(study.to_toml(), "a") == study


def test_as_many_curves_as_the_window_and_figures_draw() -> None:
    assert MOST_CURVES == app.state.view_options.MOST_CURVES == core.figures.options.MOST_CURVES


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('[window]\nview = ["margins"]', "view does not exist; did you mean 'views'?"),
        ("[window]\nviews = 3", "a: window.views must be a list of names of views"),
        ('[window]\nviews = ["a b"]', "views must be a list of names of views"),
        ('[window]\nviews = [""]', "views must be a list of names of views"),
        ('[window]\nplane = "sideways"', "plane must be one of coordinates, motion"),
        ('[window]\npoints = "stars"', 'points must be "weights", |a_j| v_j, or "directions"'),
        ("[window]\ncurves = 3", "a: window.curves must be a list of observables, such as"),
        (
            '[window]\ncurves = ["sharpnes"]',
            "curves names sharpnes, which is not a scalar observable; did you mean 'sharpness'?",
        ),
        (
            '[window]\ncurves = ["rotation"]',
            "curves names rotation, which is not a scalar observable",
        ),
        ('[window]\ncurves = ["risk", "risk"]', "curves names risk twice"),
        (f"[window]\ncurves = {['risk'] * (MOST_CURVES + 1)}", "window.curves must be a list"),
        ("[window]\nviews = [1]", "a: window.views must be a list of names of views"),
        ('[window]\nviews = ["margins", "margins"]', "views names margins twice"),
        (
            f"[window]\nviews = {[f'v{k}' for k in range(MOST_VIEWS + 1)]}",
            f"views may name at most {MOST_VIEWS} views",
        ),
    ],
)
def test_what_is_wrong_is_said(table: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_study(f"{STUDY}{table}\n", "a")
    assert words in caught.value.sentence


def test_window_must_be_a_table() -> None:
    with pytest.raises(InputError) as caught:
        parse_study(f"window = 3\n{STUDY}", "a")
    assert caught.value.sentence.startswith("a: window must be a table")


def test_shipped_studies_name_views_that_there_are() -> None:
    named = [load_study(name).opens_with.views for name in shipped_ids()]
    assert any(named)
    assert {view for views in named for view in views} <= set(VIEWS)
