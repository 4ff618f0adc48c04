"""Notes at moments in figures: marked on curves, listed below, and never markup."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import marginscope as ms
from core.cli.main import main
from core.figures.export import figure_bytes
from core.figures.names import PageSize
from core.figures.options import FigureOptions, Notes, Region, ViewOptions
from core.figures.primitives import FigureScene, Panel
from core.figures.scene import build_scene
from core.library.entry import MomentNote
from core.library.run_notes import change_about
from tests.recording import recorded
from tests.support.made_up_figures import two_runs
from tests.support.pages import HOSTILE

NOTES = (
    MomentNote(3.0, "late"),
    MomentNote(0.5, "10^2 examples", "risk", 0.1),
    MomentNote(-math.inf, "start"),
    MomentNote(99.0, "after the end"),
)
PANELS = ("norms", "margins", "curves")


def drawn(
    notes: Notes, until: float | None = None, view: ViewOptions | None = None, caption: bool = True
) -> FigureScene:
    options = FigureOptions(
        notes=notes, view=view or ViewOptions(), sheet=PageSize(caption=caption)
    )
    return build_scene(two_runs(), PANELS, until, options)


def places_of(panel: Panel) -> list[float]:
    """Return where the marks of a panel are on its horizontal axis."""
    return [float(x) for one in panel.ink.curves if one.name == "notes" for x in one.x[:, 0]]


def numbers_of(panel: Panel) -> list[str]:
    return [one.text for one in panel.ink.words if one.y == panel.y.low]


def lines_of(scene: FigureScene) -> list[str]:
    return [one.text for one in scene.texts if not one.muted and one.text[:1].isdigit()]


def test_notes_are_marked_at_their_moments_and_listed_run_by_run() -> None:
    scene = drawn((NOTES, NOTES[:1]))
    for panel in scene.panels:
        places, numbers = places_of(panel), numbers_of(panel)
        if panel.kind == "norms":
            assert not places
            continue
        if panel.row == 1:
            assert places == [3.0] and numbers == ["5"]
            continue
        # t = 0 has no place on a logarithmic axis; the last note is at the end of the run.
        assert places == [panel.x.low, 0.5, 3.0, 4.0] and numbers == ["1", "2", "3", "4"]
        for one in panel.ink.curves:
            if one.name == "notes":
                assert np.ptp(one.x, axis=1).max() == 0.0
                assert {*one.y.ravel().tolist()} == {panel.y.low, panel.y.high}
    assert lines_of(scene) == [
        "1. $t$ = 0: start",
        "2. $t$ = 3.16: $10^{2}$ examples",
        "3. $t$ = 1000: late",
        "4. $t$ = $10^{4}$: after the end",
        "5. $t$ = 1000: late",
    ]


def test_without_notes_a_figure_is_as_before() -> None:
    bare, empty = drawn(()), drawn(((), ()))
    assert lines_of(bare) == [] and not any(places_of(panel) for panel in bare.panels)
    assert figure_bytes(bare, ".svg") == figure_bytes(empty, ".svg")
    assert figure_bytes(bare, ".svg") != figure_bytes(drawn((NOTES, ())), ".svg")


def test_notes_after_the_last_moment_are_left_out() -> None:
    scene = drawn((NOTES, ()), until=1.0)
    assert [line.partition(": ")[2] for line in lines_of(scene)] == ["start", "$10^{2}$ examples"]
    whole = drawn((NOTES, ()), until=1.0, view=ViewOptions(rest=True))
    assert len(lines_of(whole)) == 4
    assert places_of(whole.panels[1])[-1] == 4.0


def test_a_range_shows_the_marks_within_it() -> None:
    view = ViewOptions(regions=(Region(0, "margins", 0.0, 2.0, -1.0, 1.0),))
    scene = drawn((NOTES, ()), view=view)
    margins, curves = scene.panels[1:3]
    assert places_of(margins) == [0.5] and numbers_of(margins) == ["2"]
    assert len(places_of(curves)) == 4


def test_a_figure_without_a_caption_lists_its_notes() -> None:
    scene = drawn((NOTES, ()), caption=False)
    assert len(lines_of(scene)) == 4
    assert not any(one.muted for one in scene.texts)


@pytest.mark.parametrize("against", ["step", "norm_squared"])
def test_on_another_axis_a_mark_is_at_the_frame_of_its_moment(against: str) -> None:
    run = two_runs()[0]
    scene = drawn(((MomentNote(0.6, "a"),), ()), view=ViewOptions(against=against))
    frame = int(np.flatnonzero(run.log10_time <= 0.6)[-1])
    value = float(run.steps[frame])
    if against == "norm_squared":
        value = float(np.exp(2.0 * run.rho[frame]) * run.network.norm(run.parameters(frame)) ** 2)
    (place,) = places_of(scene.panels[1])
    assert place == pytest.approx(math.log10(value)) or place == pytest.approx(value)


def test_numbers_of_near_notes_share_a_label() -> None:
    near = tuple(MomentNote(2.0 + 1e-3 * k, f"{k}") for k in range(4))
    panel = drawn((near, ())).panels[1]
    assert numbers_of(panel) == ["1\u20134"] and len(places_of(panel)) == 4
    pair = drawn((near[:2], ())).panels[1]
    assert numbers_of(pair) == ["1, 2"]


SVG_NAMES = {
    *("svg", "g", "defs", "path", "use", "clipPath", "rect", "style", "metadata", "RDF", "Work"),
    *("type", "date", "format", "creator", "Agent", "title"),
}
HARMFUL = (
    *(HOSTILE, "$x$ \\$ $", "\\frac{1}{2} x^(\\foo)", "a & b < c > d", "one\ntwo\0", "^(}) _{"),
    *("=cmd|' /C calc'!A0", "10^1.5 \\10^2 \\foo \\10^3", "$" * 51, "\u2028\u202e"),
)


def test_texts_of_notes_are_drawn_as_they_are() -> None:
    """Every figure is written, and its list has the letters of the texts."""
    notes = tuple(MomentNote(0.1 * k, text) for k, text in enumerate(HARMFUL))
    scene = drawn((notes, ()))
    for suffix in (".svg", ".pdf", ".png"):
        written = figure_bytes(scene, suffix, 40.0)
        if suffix == ".svg":  # matplotlib writes texts as outlines, with a comment
            names = {
                element.tag.rpartition("}")[2] for element in ElementTree.fromstring(written).iter()
            }
            assert names <= SVG_NAMES
    words = "".join(one.text for one in scene.texts).replace(" ", "")
    for text in ("onerror=", "\\frac{1}{2}", "a&b<c>d", "onetwo", "\\$x\\$"):
        assert text in words


def test_the_commands_ask_for_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.msrun"
    recorded(path, "dynamics.until_log10_time=0.5")
    change_about(path, lambda about: replace(about, moments=(*NOTES[1:3], MomentNote(0.2, "=1+1"))))
    written = []
    for number, option in enumerate(([], ["--notes"])):
        out = tmp_path / f"{number}.svg"
        command = ["figure", str(path), "--panels", "margins", "--out", str(out), "--quiet"]
        assert main([*command, *option]) == 0
        written.append(out.read_bytes())
    assert written[0] != written[1]
    with ms.open(path) as run:
        assert run.figure(panels=("margins",), kind="svg", notes=True) == written[1]
        frame = int(np.flatnonzero(run.log10_time <= 0.2)[-1])
        step = int(run.steps[frame])
        last = run.frames - 1, int(run.steps[-1])
    table = tmp_path / "notes.csv"
    assert main(["table", str(path), "--notes", "--out", str(table)]) == 0
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert [row["text"] for row in rows] == ["start", "'=1+1", "10^2 examples"]
    assert [float(row["log10_time"]) for row in rows] == [-math.inf, 0.2, 0.5]
    places = [(int(row["frame"]), int(row["step"])) for row in rows]
    assert places == [(0, 0), (frame, step), last]
    assert (rows[2]["quantity"], rows[2]["value"]) == ("risk", "0.1")
    for wrong in (["--all"], ["--columns", "risk"], ["--parameters"], ["--means"]):
        assert main(["table", str(path), "--notes", "--out", str(table), *wrong]) == 2
    assert main(["table", str(path), "--notes", "--out", str(tmp_path / "a.npz")]) == 2
    assert "notes are written as CSV" in capsys.readouterr().err
