"""What runs are called by, and the table of what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.comparison.names import ABSENT, RunDescription
from core.comparison.setting_differences import Differing
from core.comparison.setting_differences import find_differences as differing_between


def differing(tables: Sequence[Mapping[str, Any]], titles: Sequence[str] = ()) -> Differing:
    named = titles or [""] * len(tables)
    return differing_between(list(map(RunDescription, tables, named)))


def test_only_what_differs_is_listed_and_names_the_runs() -> None:
    tables = [
        {"network.m": 16, "run.seed": 0, "data.seed": None, "loss.kind": "logistic"},
        {"network.m": 16, "run.seed": 1, "data.seed": None, "loss.kind": "logistic"},
        {"network.m": 256, "run.seed": 0, "data.seed": 7, "loss.kind": "logistic", "x.y": [1, 2]},
    ]
    found = differing(tables)
    assert found.keys == ("network.m", "run.seed", "data.seed", "x.y")
    assert found.rows[0] == ("16", "0", ABSENT, ABSENT)
    assert found.rows[2] == ("256", "0", "7", "1+2")
    assert (
        found.labels[0] == "m = 16, seed 0"
    )  # the absent data seed is not needed to tell them apart
    assert found.families[0] == found.families[1] == "m = 16"
    assert found.families[2] != found.families[0]


def test_runs_that_are_alike_are_numbered() -> None:
    found = differing([{"network.m": 4}] * 2, ["A study"] * 2)
    assert found.labels == ("A study", "A study (2)")
    assert found.families == ("", "")
    assert found.keys == ()
    mixed = differing([{"network.m": 4}, {"network.m": 4}, {"network.m": 8}])
    assert mixed.labels == ("m = 4", "m = 4 (2)", "m = 8")


def given(content: str, **more: object) -> dict[str, object]:
    start = {"network.content": content[::-1], "dynamics.until_log10_time": float(len(content))}
    return {"data.content": content, **start, **more}


def test_no_run_is_called_by_a_checksum() -> None:
    tables = [given("c9e3" * 16), given("e83c" * 16, seed=1), given("c9e3" * 15)]
    found = differing(tables, ["With Adam", "With SGD", "With Muon"])
    assert found.labels == ("With Adam", "With SGD", "With Muon")
    assert len(set(found.families)) == 3
    assert [row[0] for row in found.rows] == ["no. 1", "no. 2", "no. 3"]
    for titles in ([], ["one"] * 3, ["one", "", "two"]):
        found = differing([given("c9e3"), given("e83c"), given("e83d")], titles)
        assert found.labels == ("run", "run (2)", "run (3)")
    text = str(differing(tables))
    assert "c9e3" not in text and "e83c" not in text


def test_only_runs_that_differ_in_seeds_are_a_family() -> None:
    """The fourth setting and those behind it tell runs apart, too."""
    tables = [
        {"x.a": k // 2, "x.b": k // 2, "x.c": k // 2, "x.d": k, "run.seed": k} for k in (0, 1, 2)
    ]
    found = differing(tables)
    assert len(set(found.families)) == 3
    tables.append(tables[0] | {"run.seed": 7})
    found = differing(tables)
    assert found.families[0] == found.families[3]
    assert len(set(found.families)) == 3


def test_the_horizon_names_runs_that_nothing_else_tells_apart() -> None:
    key = "dynamics.until_log10_time"
    assert differing([{key: 1.0}, {key: 2.0}]).labels == ("to t = 10", "to t = 100")
    found = differing([{key: 1.0, "network.m": 4}, {key: 2.0, "network.m": 8}])
    assert found.labels == ("m = 4", "m = 8")
    assert found.keys == (key, "network.m")


def test_settings_are_named_in_words() -> None:
    tables = [{"network.m": 8, "loss.kind": kind} for kind in ("logistic", "least_squares")]
    assert differing(tables).labels == ("logistic loss", "least-squares loss")
