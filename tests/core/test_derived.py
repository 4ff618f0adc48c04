"""Formulas of derived settings: values against Python's own arithmetic, and refusals."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.studies.formulas import evaluate
from core.studies.study import load_study, parse_study

VALUES = {"d": 20.0, "m": 64.0, "c": 0.5}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("2 * d^2", 800.0),
        ("2d", None),
        ("2 d", 40.0),
        ("c d", None),
        ("-d + m", 44.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("max(d, m, 3) / min(d, m)", 3.2),
        ("sqrt(m) * ln(d)", 8.0 * math.log(20.0)),
        ("ceil(c * d / 3)", 4.0),
    ],
)
def test_formulas(formula: str, value: float | None) -> None:
    if value is None:
        with pytest.raises(InputError):
            evaluate(formula, VALUES)
    else:
        assert evaluate(formula, VALUES) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "d +",
        "__import__('os')",
        "d.real",
        "[d]",
        "lambda: 1",
        "d if d else m",
        "9**9**9",
        "d^1000",
        "1 / 0",
        "ln(0)",
        "sqrt(-1)",
        "x",
        "exp(d)",
        "min()",
        "True",
        "'2'",
        "1e308 * 10",
        "(" * 150 + "1" + ")" * 150,
        "1" * 300,
        "d and m",
        "d == m",
        "min(d, default=3)",
        "(-8)^.5",
    ],
)
def test_anything_else_is_refused_in_a_sentence(formula: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(formula, VALUES)
    assert str(caught.value).endswith((".", "?"))


@given(st.floats(0.1, 1e3), st.floats(0.1, 1e3))
def test_arithmetic_is_that_of_floats(d: float, m: float) -> None:
    found = evaluate("3.2 * d / (m + d) - d^2 * m", {"d": d, "m": m})
    assert found == pytest.approx(3.2 * d / (m + d) - d**2 * m, rel=1e-14)


STUDY = """
title = "A grid"
[data]
kind = "parity"
[network]
kind = "standard"
[axes]
"data.d" = [4, 6]
"factor.c" = [2.0, 3.5]
[derived]
"data.n" = "round(c * d)"
"network.m" = "2 * n"
[variants.descent]
"dynamics.kind" = "gd"
"dynamics.step" = 0.1
[variants.flow]
"loss.kind" = "logistic"
"derived.network.m" = "3 * n"
[sizes.quick]
"factor.c" = [2.0]
variant = "flow"
"""


def test_cells_are_derived_from_their_axes() -> None:
    cells = parse_study(STUDY, "grid").cells()
    assert len(cells) == 8
    names = [cell.name for cell in cells]
    assert names[:2] == [f"data.d=4__factor.c=2__variant={v}" for v in ("descent", "flow")]
    assert [c.experiment.network.m for c in cells[:2]] == [16, 24]
    sizes = [(c.experiment.data.d, c.experiment.data.n, c.experiment.network.m) for c in cells[::2]]
    assert sizes == [(4, 8, 16), (4, 14, 28), (6, 12, 24), (6, 21, 42)]
    assert [c.experiment.dynamics.kind for c in cells[:2]] == ["gd", "flow"]
    assert [c.experiment.loss.kind for c in cells[:2]] == ["exponential", "logistic"]


def test_sizes_and_settings_change_factors_variants_and_derived_keys() -> None:
    study = parse_study(STUDY, "grid")
    quick = study.at_size("quick").cells()
    assert [cell.name for cell in quick] == [
        f"data.d={d}__factor.c=2__variant=flow" for d in (4, 6)
    ]
    fixed = study.with_settings(["network.m=7"]).cells()
    assert {cell.experiment.network.m for cell in fixed} == {7}
    assert parse_study(study.to_toml(), "grid") == study


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2 * n", "2 * q", "q is not known"),
        ('"network.m" = "2 * n"', '"network.m" = 4', "must hold formulas"),
        ('"network.m" = "2 * n"', '"factor.c" = "4"', "is a factor"),
        ("round(c * d)", "c * d / 3", "data.n"),
        ('"dynamics.step" = 0.1', '"data.d" = 3', "sets an axis"),
        ("variant = ", "variants = ", "variants"),
    ],
)
def test_wrong_grids_are_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_study(STUDY.replace(old, new), "grid").cells()


def test_unknown_variants_are_refused() -> None:
    with pytest.raises(InputError, match="has no variant flaw"):
        parse_study(STUDY, "grid").with_settings(["variant=flaw"])


def test_a_key_that_only_a_variants_kind_has_is_set_there() -> None:
    study = load_study("telgarsky22-table-1").at_size("quick")
    changed = study.with_settings(["dynamics.ridge=0.5"])
    kinds = set()
    for cell in changed.cells():
        dynamics = cell.experiment.dynamics
        kinds.add(dynamics.kind)
        if dynamics.kind == "kernel":
            assert dynamics.ridge == 0.5
    assert len(kinds) > 1
    assert changed.axes == study.axes
    with pytest.raises(InputError, match="fridge"):
        study.with_settings(["dynamics.fridge=0.5"])
    with pytest.raises(InputError, match="ridge"):
        study.with_settings(["dynamics.ridge=-1.0"])
