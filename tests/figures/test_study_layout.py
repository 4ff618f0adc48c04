"""The `[figure]` table of a study."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import InputError
from core.studies.layout import Mark, parse_layout
from core.studies.study import parse_study

PANEL = {"kind": "sweep", "x": "data.d", "y": "risk"}


def test_a_layout_with_everything() -> None:
    table = {
        "columns": 3,
        "note": "words",
        "panels": [
            PANEL
            | {
                "y": ["risk", "1 - test_error"],
                "names": ["a", "b"],
                "limits": [0, 1],
                "levels": [{"value": 0.85, "text": "best"}],
                "slopes": {"value": 2, "at": [10, 0.5]},
                "where": {"network.m": [16, 64]},
                "spread": "2se",
                "y_scale": "log",
                "exclude_unfit": True,
            }
        ],
    }
    layout = parse_layout(table, "study")
    panel = layout.panels[0]
    assert (layout.columns, layout.note, panel.y) == (3, "words", ("risk", "1 - test_error"))
    assert panel.limits == (0.0, 1.0)
    assert panel.levels == (Mark(value=0.85, text="best"),)
    assert panel.slopes == (Mark(value=2.0, at=(10.0, 0.5)),)
    assert panel.where == (("network.m", (16, 64)),)
    assert panel.exclude_unfit


def panels(*changes: dict[str, Any]) -> dict[str, Any]:
    return {"panels": [PANEL | change for change in changes]}


WRONG: dict[str, tuple[Any, str]] = {
    "no table": ([], "figure must be a table"),
    "no panels": ({"columns": 2}, "needs 1 to 16"),
    "too many": (panels(*[{}] * 17), "needs 1 to 16"),
    "columns": (panels({}) | {"columns": 5}, "must be 1 to 4"),
    "key": (panels({}) | {"colums": 2}, "colums does not exist"),
    "note": (panels({}) | {"note": 2}, "must be text"),
    "panel key": (panels({"xlabel": "t"}), "panel 1: xlabel does not exist"),
    "kind": (panels({"kind": "pie"}), "allowed: traces, sweep, crossing, activation"),
    "no kind": ({"panels": [{"x": "t"}]}, "kind is missing"),
    "scale": (panels({"x_scale": "cubic"}), "allowed: log, linear"),
    "no y": ({"panels": [{"kind": "traces", "x": "t"}]}, "needs y"),
    "no along": (panels({"kind": "crossing"}), "needs along"),
    "two ways": (panels({"lines": "data.d", "steps": [1, 2]}), "three ways"),
    "names": (panels({"names": ["a", "b"]}), "must name each"),
    "limits": (panels({"limits": [1, 0]}), "the smaller first"),
    "level": (panels({"levels": [{"text": "best"}]}), "value is missing"),
    "number": (panels({"level": True}), "must be a number"),
    "flag": (panels({"exclude_unfit": 1}), "true or false"),
    "where": (panels({"where": "all"}), "must be a table"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str) -> None:
    table, words = WRONG[name]
    with pytest.raises(InputError, match=words):
        parse_layout(table, "study")


def test_a_study_keeps_its_layout() -> None:
    text = """
title = "T"
[data]
kind = "parity"
[network]
kind = "standard"
m = 4
[figure]
columns = 1
[[figure.panels]]
kind = "traces"
x = "t"
y = "risk"
"""
    study = parse_study(text, "t")
    again = parse_study(study.to_toml(), "t")
    assert again.layout() == study.layout()
    assert study.layout() is not None
    with pytest.raises(InputError, match="t: figure panel 1: kind"):
        parse_study(text.replace("traces", "tracks"), "t")
