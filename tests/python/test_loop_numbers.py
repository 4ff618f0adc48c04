"""Numbers that a loop passes beside its frames come out wherever observables do."""

from __future__ import annotations

import csv
import json
import math
import sqlite3
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.cli.main import main
from core.figures.options import FigureOptions, ViewOptions
from core.figures.scene import build_scene
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from tests.python.test_shown import stand_in
from tests.support.loops import loop, record_loop

pytestmark = pytest.mark.usefixtures("few_directions")

STEPS = 12
NAMES = ("eta", "lr", "loop.risk", "train/loss", "val_acc")


def with_numbers(path: Path, scale: float = 1.0, **settings: Any) -> Path:
    """Return a recording with a wrong risk, and an accuracy at every second frame."""
    one = loop()
    start = {"loss": "logistic", "V0": one.V, "a0": one.a, "until": STEPS}
    told = pytest.warns(ms.RecordingWarning, match="at t = 1 the loop has risk = 7")
    with told, ms.record(path, one.x, one.y, **(start | settings)) as r:
        for t in range(1, STEPS + 1):
            one.step()
            numbers = {"train/loss": scale / t, "risk": 7.0, "lr": 0.1, "eta": np.array([0.5])}
            if t % 2 == 0:
                numbers["val_acc"] = np.float32(scale * t / STEPS)
            r.frame(t, V=one.V, a=one.a, **numbers)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_numbers(tmp_path_factory.mktemp("numbers") / "one.msrun")


def test_they_are_observables_of_their_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    t = np.arange(STEPS + 1.0)
    accuracy = np.where((t % 2 == 0) & (t > 0), np.float32(t / STEPS), np.nan)
    with ms.open(path) as run:
        assert run.observables[-len(NAMES) :] == NAMES
        for name in ("val_acc", "loop.val_acc"):
            assert np.array_equal(run[name], accuracy, equal_nan=True)
        assert run["loop.risk"].tolist()[1:] == [7.0] * STEPS
        assert math.isnan(run["loop.risk"][0])  # the start, which has no numbers
        assert run["risk"].max() < 1.0  # the computed one
        for wrong in ("val_ac", "loop.val_ac", "loop.", "loop.hard_margin", "V", "<b>"):
            with pytest.raises(ms.InputError, match="This run has no"):
                run[wrong]
        for library in ("pandas", "xarray"):
            stand_in(monkeypatch, library)
        columns = run.to_pandas()["columns"]
        assert set(NAMES) < set(columns)
        assert np.array_equal(columns["val_acc"], accuracy, equal_nan=True)
        assert list(run.to_pandas("loop.lr")["columns"])[3:] == ["loop.lr"]
        assert run.to_xarray()["v"]["loop.risk"][0] == ("frame",)
        for name in NAMES:  # the registry is of all runs, and stays as it is
            assert name not in OBSERVABLES
    record_loop(tmp_path / "other.msrun", STEPS)
    with ms.open(tmp_path / "other.msrun") as other:
        assert other.observables[-1] == "eta" and "lr" not in other.observables


def test_they_are_columns_of_tables_and_lines_of_info(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "t.csv"
    assert main(["table", str(path), "--out", str(out), "--quiet"]) == 0
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert set(NAMES) < set(rows[0])
    assert [row["val_acc"] for row in rows[1:3]] == ["nan", repr(float(np.float32(2 / STEPS)))]
    assert {row["loop.risk"] for row in rows[1:]} == {"7.0"}
    arrays = tmp_path / "t.npz"
    chosen = ["--columns", "loop.val_acc,train/loss,risk"]
    assert main(["table", str(path), "--out", str(arrays), "--quiet", *chosen]) == 0
    with np.load(arrays) as table:
        assert {"loop.val_acc", "train/loss", "risk"} < set(table)
        assert table["train/loss"][-1] == 1.0 / STEPS
        assert table["risk"][-1] < 1.0
    wrong = ["--columns", "val_ac"]
    assert main(["table", str(path), "--out", str(out), "--quiet", *wrong]) == 2
    capsys.readouterr()
    assert main(["info", str(path), "--json"]) == 0
    scalars = json.loads(capsys.readouterr().out)["scalars"]
    assert (scalars["val_acc"], scalars["loop.risk"]) == (1.0, 7.0)


def test_they_are_curves_of_figures_and_are_compared(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = with_numbers(tmp_path / "other.msrun", scale=0.5)
    svg, table = tmp_path / "f.svg", tmp_path / "c.csv"
    drawn = ["figure", str(path), "--panels", "curves", "--out", str(svg)]
    assert main([*drawn, "--curves", "val_acc,loop.risk,train/loss"]) == 0
    assert main([*drawn, "--curves", "val_ac"]) == 2
    assert "'val_ac' is not one of the scalar observables" in capsys.readouterr().err
    with open_run(path) as run:
        scene = build_scene(
            [run], ["curves"], options=FigureOptions(view=ViewOptions(("val_acc",)))
        )
        (curve,) = scene.panels[0].ink.curves
        assert np.isfinite(curve.y[0]).tolist() == [False, False, *[True] * (STEPS - 1)]
    with ms.open(path) as run:
        options = {"kind": "svg", "panels": ["curves"]}
        assert b"<svg" in bytes(ms.figure(run, curves=["val_acc", "loop.lr"], **options))
        assert "val acc" in ms.player(run, views=["curves"], curves="val_acc").html
        with pytest.raises(ms.InputError, match="did you mean 'val_acc'"):
            ms.figure(run, curves=["val_ac"], **options)
    compared = ["compare", str(path), str(other), "--out"]
    assert main([*compared, str(table), "--observable", "val_acc", "--quiet"]) == 0
    with table.open() as file:
        ends = {row["line"]: float(row["value"]) for row in csv.DictReader(file)}
    assert sorted(ends.values()) == [0.5, 1.0]
    less = [str(table), "--observable", "val_acc", "--kind", "differences", "--quiet"]
    assert main([*compared, *less]) == 0
    with table.open() as file:  # of every second frame, which have the number
        rows = [float(row["value"]) for row in csv.DictReader(file)]
    assert len(rows) == STEPS // 2 and rows[-1] == -0.5
    assert main([*compared, str(svg), "--observable", "loop.risk", "--quiet"]) == 0
    capsys.readouterr()
    record_loop(tmp_path / "plain.msrun", STEPS)
    both = ["compare", str(path), str(tmp_path / "plain.msrun"), "--out", str(svg), "--quiet"]
    assert main([*both, "--observable", "val_acc"]) == 2
    assert "This run has no val_acc" in capsys.readouterr().err
    assert main([*both, "--observable", "val_ac"]) == 2
    assert "val_acc" in capsys.readouterr().err


ODD = ("val acc", "$x$", "<b>x</b>", "x" * 100_000, "", "a/../b", "a\n", "x^2", "../a", "a\\b")


def test_names_that_no_column_can_have_are_refused(tmp_path: Path, subtests: Any) -> None:
    one = loop()
    for odd in ODD:
        with subtests.test(name=odd[:20]):
            settings = {"loss": "logistic", "V0": one.V, "a0": one.a, "overwrite": True}
            with ms.record(tmp_path / "a.msrun", one.x, one.y, **settings) as r:
                with pytest.warns(ms.RecordingWarning, match="not a valid name") as told:
                    r.frame(1, V=one.V, a=one.a, **{odd: 1.0})
                assert len(str(told[0].message)) < 500
                r.frame(2, V=one.V, a=one.a, fine=1.0)
            with ms.open(tmp_path / "a.msrun") as run:
                assert (len(run), run.observables[-1]) == (2, "fine")
    with subtests.test("too many"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with ms.record(tmp_path / "b.msrun", one.x, one.y, strict=True, **settings) as r:
            r.frame(1, V=one.V, a=one.a, **{f"n{k}": float(k) for k in range(64)})
            with pytest.raises(ms.InputError, match="at most 64 names of numbers"):
                r.frame(2, V=one.V, a=one.a, another=1.0)


def test_names_in_a_file_that_were_never_allowed_are_no_columns(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "odd.msrun"
    copy.write_bytes(path.read_bytes())
    connection = sqlite3.connect(copy)
    rows = [(k + 1, name, 1.0) for k, name in enumerate(("<b>x</b>", "$\\frac{1}{0}$", "a b"))]
    connection.executemany("INSERT INTO metric VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    with ms.open(copy) as run:
        assert run.observables[-len(NAMES) :] == NAMES
        assert run.frame(1).numbers["<b>x</b>"] == 1.0


def test_numbers_of_the_first_frame_are_kept_and_later_names_are_seen(tmp_path: Path) -> None:
    one, path = loop(), tmp_path / "a.msrun"
    with ms.record(path, one.x, one.y, loss="logistic", strict=True) as r:
        r.frame(1, V=one.V, a=one.a, lr=0.5)
        while r._started is None or r._started.saver.committed < 0:
            pass
        with ms.open(path) as run:
            assert run["lr"].tolist() == [0.5]
            assert run.observables[-1] == "lr"
            r.frame(2, V=one.V, a=one.a, val_acc=0.25)
            while run.refresh() < 2:
                pass
            assert run.observables[-2:] == ("lr", "val_acc")
            assert run["val_acc"].tolist()[1:] == [0.25]


def test_numbers_named_as_those_of_the_program_are_not_taken_for_them(tmp_path: Path) -> None:
    one, path = loop(), tmp_path / "a.msrun"
    settings = {"loss": "exponential", "dynamics": "flow", "time": "t", "V0": one.V, "a0": one.a}
    with ms.record(path, one.x, one.y, strict=True, **settings) as r:
        r.frame(0.5, V=2 * one.V, a=one.a, margin_error=1e-3, h=0.1, steps=3, frame=9, y=1.0)
    with open_run(path) as run:
        error = OBSERVABLES["integration_error"]
        assert not error.applies(run) or np.isnan(error.trace(run)).all()
    with ms.open(path) as mine:
        assert mine["loop.margin_error"][-1] == mine["margin_error"][-1] == 1e-3
        assert mine.observables[-4:] == ("loop.frame", "h", "margin_error", "loop.y")
