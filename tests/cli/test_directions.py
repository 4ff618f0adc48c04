"""`directions`: the table, its JSON, and what is said where there is nothing to tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.cli.main import main

STUDY = """title = "small"
[data]
kind = "regression"
seed = 0
[network]
m = 4
[loss]
kind = "least_squares"
[dynamics]
kind = "plain_flow"
"""
# By ascent and descent of G from many starts, to six digits.
KNOWN = [("minimum", -0.175937), ("minimum", -0.037673), ("saddle", -0.032461)]
KNOWN += [("maximum", 0.344489)]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["directions", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_json(capsys: pytest.CaptureFixture[str], study: Path) -> None:
    status, out, err = answer(capsys, study, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert [one["kind"] for one in found] == [kind for kind, _ in KNOWN]
    assert [one["G"] for one in found] == pytest.approx([G for _, G in KNOWN], abs=1e-6)
    for one in found:
        assert one["D"] == pytest.approx([one["G"] * value for value in one["u"]])
        assert one["length"] == pytest.approx(sum(value**2 for value in one["D"]) ** 0.5)
        assert (one["active"], one["border"]) == (one["signs"].count(1), one["signs"].count(0))


def test_text(capsys: pytest.CaptureFixture[str], study: Path) -> None:
    status, out, _ = answer(capsys, study)
    head, names, *rows = out.splitlines()
    assert status == 0
    assert head == "small: 4 extremal vectors of 6 points in 3 dimensions, slope 0"
    assert names.split() == ["kind", "G", "|D|", "active", "border", "u"]
    assert [row.split()[0] for row in rows] == [kind for kind, _ in KNOWN]
    assert "-0.03246" in rows[2] and "0.344489" in rows[3]


def test_every_distinct_problem_of_a_grid_is_told_once(
    capsys: pytest.CaptureFixture[str], study: Path
) -> None:
    """Widths share their data; slopes do not share their vectors."""
    settings = ["--set", "network.m=[4, 8]", "--set", "network.slope=[0.0, 0.3]"]
    _, out, _ = answer(capsys, study, *settings, "--json")
    found = json.loads(out)
    assert len({one["cell"] for one in found}) == 2
    G = [one["G"] for one in found if "0.3" in one["cell"]]
    assert pytest.approx([-0.220169, -0.135258, -0.13519, 0.353991], abs=1e-6) == G


@pytest.mark.parametrize(
    ("target", "settings", "words"),
    [
        ("telgarsky22-figure-1", (), 'has labels, and .* choose a study with data.kind = "regr'),
        ("", ("network.kind=multiclass",), r"use network\.kind"),
        ("", ("data.n=200", "data.d=9"), "The extremal vectors of 200 points in 9 dimensions"),
        ("", ("data.kind=orthonorml",), "orthonormal"),
        ("nothing", (), "nothing"),
    ],
)
def test_what_cannot_be_told_is_a_sentence(
    capsys: pytest.CaptureFixture[str],
    study: Path,
    target: str,
    settings: tuple[str, ...],
    words: str,
) -> None:
    asked = [part for one in settings for part in ("--set", one)]
    status, out, err = answer(capsys, target or study, *asked)
    assert (status, out) == (2, "")
    assert re.search(words, err), err
    assert err.count("\n") == 1 and "Traceback" not in err


def test_a_network_whose_outer_layer_is_fixed_has_none(
    capsys: pytest.CaptureFixture[str], study: Path
) -> None:
    settings = ["network.kind=fixed_outer", "dynamics.kind=gd", "dynamics.step=0.1"]
    asked = [part for one in settings for part in ("--set", one)]
    status, _, err = answer(capsys, study, *asked)
    assert status == 2 and "which train both layers" in err
