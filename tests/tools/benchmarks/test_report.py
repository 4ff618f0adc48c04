"""The page of the benchmarks, from lines and curves that were kept; nothing is timed here."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.tools.benchmarks import cost, report
from tests.tools.benchmarks.__main__ import PARTS
from tests.tools.benchmarks.cost import Curve
from tests.tools.benchmarks.measure import CURVES, KEPT, heading, row, spread

HERE = {"date": "2026-01-02", "machine": "one"}
CURVE = Curve("n", "ours", "us", (1.0, 10.0), (2.0, 3.0), (1.5, 2.5), (2.5, 4.0))


def kept(
    part: str, folder: Path, monkeypatch: pytest.MonkeyPatch, known: dict[str, str], ours: str
) -> None:
    monkeypatch.setattr(report, "machine", lambda: known)
    for name, place in report.environment(part).items():
        monkeypatch.setenv(name, place)
    heading(f"{part} here", "ours", "theirs", "theirs / ours")
    row("a | b", ours, "4 s", "2 x", asked="3 s", spread=spread((1, 3), "{:.0f}"), words="why")
    report.done(part)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report, "KEPT_IN", tmp_path / "kept")
    monkeypatch.setattr(report, "PAGE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(report, "PICTURE", tmp_path / "cost.svg")
    return tmp_path


def test_every_line_is_on_the_page(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept("flow", places, monkeypatch, HERE, "2 s")
    report.write(["engines", "flow"])
    page = (places / "benchmarks.md").read_text("utf-8")
    assert (
        "## Flow here\n\n|  | measured | least to most | theirs | theirs / ours | asked |" in page
    )
    assert "| a \\| b | 2 s | 1 to 3 | 4 s | 2 x | 3 s | why |\n" in page
    assert "| date | machine |\n|---|---|\n| 2026-01-02 | one |\n" in page
    assert "cost.svg" not in page


def test_a_part_measured_anew_leaves_the_others(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept("flow", places, monkeypatch, HERE, "2 s")
    kept("far", places, monkeypatch, HERE, "3 s")
    kept("flow", places, monkeypatch, HERE | {"date": "2026-01-03"}, "1 s")
    report.write(["flow", "far"])
    page = (places / "benchmarks.md").read_text("utf-8")
    assert "| 1 s |" in page and "| 3 s |" in page and "| 2 s |" not in page
    assert "## Flow here (2026-01-03)" in page
    assert "## Far here (2026-01-02)" in page


def test_two_machines_of_one_day_are_told_apart(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept("flow", places, monkeypatch, HERE, "2 s")
    kept("far", places, monkeypatch, HERE | {"machine": "two"}, "3 s")
    report.write(["flow", "far"])
    page = (places / "benchmarks.md").read_text("utf-8")
    assert "## Flow here (2026-01-02, one)" in page and "## Far here (2026-01-02, two)" in page


def test_a_part_that_was_stopped_leaves_its_older_lines(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept("flow", places, monkeypatch, HERE, "2 s")
    for name, place in report.environment("flow").items():
        monkeypatch.setenv(name, place)
    heading("flow here")
    report.write(["flow"])
    assert "| 2 s |" in (places / "benchmarks.md").read_text("utf-8")


def test_curves_come_back_and_are_drawn(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    four = [
        Curve(axis, name, "us", CURVE.at, CURVE.median, CURVE.least, CURVE.most)
        for axis in (*cost.AXES, "frames")
        for name in ("ours", "theirs")
    ]
    monkeypatch.setattr(cost, "along", lambda axis, rounds: [c for c in four if c.axis == axis])
    monkeypatch.setattr(cost, "frames", lambda rounds: [c for c in four if c.axis == "frames"])
    for name, place in report.environment("cost").items():
        monkeypatch.setenv(name, place)
    cost.main(1)
    (text,) = (path.read_text("utf-8") for path in (places / "kept").glob("*.curves.json"))
    assert cost.curves_of(text) == four
    report.done("cost")
    report.write(["cost"])
    assert ElementTree.parse(places / "cost.svg").getroot().tag.endswith("svg")
    assert "images/cost.svg" in (places / "benchmarks.md").read_text("utf-8")


def test_nothing_is_kept_unless_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (KEPT, CURVES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    row("a", "1 s")
    assert capsys.readouterr().out.split() == ["a", "1", "s"]
    assert not [*tmp_path.iterdir()]


def test_the_machine_is_named() -> None:
    known = report.machine()
    assert {"date", "machine", "system", "versions"} == {*known}
    assert all(known.values())
    assert json.loads(json.dumps(known)) == known


def test_the_page_in_the_documents_is_of_the_figures_beside_it() -> None:
    """Of every part, each figure as it was measured: nothing on the page was written by hand."""
    assert {path.stem for path in report.KEPT_IN.glob("*.jsonl")} == {*PARTS}
    page = report.PAGE.read_text("utf-8")
    assert page == report.as_kept(PARTS)
    assert page.startswith(report.INTRODUCTION)
    assert page.count("\n## ") >= len(PARTS)
