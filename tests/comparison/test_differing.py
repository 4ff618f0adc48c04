"""What runs are called by, and the table of what differs."""

from __future__ import annotations

from core.comparison.differing import ABSENT, differing


def test_only_what_differs_is_listed_and_names_the_runs() -> None:
    tables = [
        {"network.m": 16, "run.seed": 0, "data.seed": None, "loss.kind": "logistic"},
        {"network.m": 16, "run.seed": 1, "data.seed": None, "loss.kind": "logistic"},
        {"network.m": 256, "run.seed": 0, "data.seed": 7, "loss.kind": "logistic", "x.y": [1, 2]},
    ]
    found = differing(tables, ["a", "b", "c"])
    assert found.keys == ("network.m", "run.seed", "data.seed", "x.y")
    assert found.rows[0] == ("16", "0", ABSENT, ABSENT)
    assert found.rows[2] == ("256", "0", "7", "1+2")
    assert found.labels[0] == f"m = 16, run.seed = 0, data.seed = {ABSENT} and 1 more"
    assert found.families[0] == found.families[1] == f"m = 16, y = {ABSENT}"
    assert found.families[2] != found.families[0]


def test_runs_that_are_alike_are_called_by_their_files() -> None:
    found = differing([{"network.m": 4}] * 2, ["one", "two"])
    assert found.labels == ("one", "two")
    assert found.families == ("", "")
    assert found.keys == ()
    mixed = differing([{"network.m": 4}, {"network.m": 4}, {"network.m": 8}], ["a", "b", "c"])
    assert mixed.labels == ("m = 4, a", "m = 4, b", "m = 8")
