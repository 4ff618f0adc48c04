"""Notes from strangers: what no program of ours has written is said and set aside."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.mathtext import MathTextParser

from core.cli.main import main
from core.comparison.own_name import own_name_of
from core.comparison.setting_differences import differing_of
from core.errors import InputError
from core.figures.labels import headings, settings_line
from core.figures.page_encoding import plain_words
from core.figures.primitives import NO_BREAK
from core.figures.scene import build_scene
from core.library.entry import MomentNote
from core.library.library import Library
from core.library.run_notes import (
    MOST_BOOKMARKS,
    MOST_MOMENTS,
    change_about,
    notes_file,
    read_about,
)
from core.runs import open_run
from tests.support.run_files import record, small_problem

HUGE = "1" + "0" * 400  # an integer that is no float
WRONG: dict[str, dict[str, object]] = {
    "a table of bookmarks": {"bookmarks": {"a": 1}},
    "a short row": {"bookmarks": [["a", 0.5]]},
    "numbers for names": {"bookmarks": [[1, 0.5, ""]]},
    "truth for a time": {"bookmarks": [["a", True, ""]]},
    "no number": {"bookmarks": [["a", float("nan"), ""]]},
    "infinity": {"bookmarks": [["a", float("inf"), ""]]},
    "an integer that is no float": {"bookmarks": [["a", "HUGE", ""]]},
    "a time without a frame": {"bookmarks": [["a", 1e300, ""]]},
    "a blank name": {"bookmarks": [[" ", 0.5, ""]]},
    "too many": {"bookmarks": [[f"b{number}", 0.5, ""] for number in range(MOST_BOOKMARKS + 1)]},
    "a million": {"bookmarks": [[f"b{number}", 0.5, ""] for number in range(1_000_000)]},
    "a long tag": {"tags": ["a" * 61]},
    "a blank set": {"sets": [[" ", "1-3"]]},
    "a set of all numbers": {"sets": [["a", "0-99999999999"]]},
    "a set of none": {"sets": [["a", ""]]},
    "a table of moments": {"moments": {"a": 1}},
    "a short moment": {"moments": [[0.5, "a"]]},
    "a number for a note": {"moments": [[0.5, 1, "", None]]},
    "no number of a note": {"moments": [[float("nan"), "a", "", None]]},
    "an infinite value": {"moments": [[0.5, "a", "risk", float("inf")]]},
    "a note without a frame": {"moments": [[1e300, "a", "", None]]},
    "a blank note": {"moments": [[0.5, " ", "", None]]},
    "a long note": {"moments": [[0.5, "a" * 501, "", None]]},
    "a long quantity": {"moments": [[0.5, "a", "b" * 101, 1.0]]},
    "many notes": {"moments": [[0.5, f"n{k}", "", None] for k in range(MOST_MOMENTS + 1)]},
    "no number in an unknown part": {"later": [float("nan")]},
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return record(tmp_path / "runs" / "a.msrun")


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_notes_are_set_aside(run: Path, tmp_path: Path, wrong: str) -> None:
    content = json.dumps({"version": 1, **WRONG[wrong]}).replace('"HUGE"', HUGE).encode()
    notes_file(run).write_bytes(content)
    with pytest.raises(InputError, match=r"a\.msrun\.notes"):
        read_about(run)
    library = Library(run.parent, tmp_path / "index.db")
    listing = library.refresh()
    library.close()
    assert [entry.state for entry in listing.entries] == ["completed"]
    assert any("a.msrun.notes" in sentence for sentence in listing.messages)
    assert change_about(run, lambda about: replace(about, note="mine")).note == "mine"
    assert run.with_name("a.msrun.notes.broken").read_bytes() == content


def test_an_own_name_is_one_short_line_without_control_characters(run: Path) -> None:
    assert own_name_of(run) == ""
    notes_file(run).write_text(json.dumps({"name": " a\n\tb\x1b]0;c\u202e\ud800 " + "x" * 200}))
    name = own_name_of(run)
    assert name.startswith("a b]0;c") and name.isprintable() and len(name) <= 60
    name.encode()
    notes_file(run).write_text("[1]")
    assert own_name_of(run) == ""
    notes_file(run).write_text('{"name": 1}')
    assert own_name_of(run) == ""
    notes_file(run).write_text('{"name": "a", ')
    assert own_name_of(run) == ""


def test_figures_and_comparisons_have_the_own_names(tmp_path: Path) -> None:
    paths = [record(tmp_path / f"{m}.msrun", small_problem(m=m)) for m in (3, 4)]
    named = r"cost $5, <b>10^}\frac{</b>"
    change_about(paths[1], lambda about: replace(about, name=named))
    runs = [open_run(path) for path in paths]
    assert headings(runs)[0] == "$m$ = 3"
    assert plain_words(headings(runs)[1]) == named
    assert differing_of(runs).labels == ("m = 3", named)
    scene = build_scene(runs, ("margins",))
    assert headings(runs)[1] in "\n".join(text.text for text in scene.texts)
    for text in headings(runs):
        MathTextParser("path").parse(text)
    # The settings that named the run stay in the line below.
    assert "$m$ = 4" in settings_line(runs[1:], [0]).replace(NO_BREAK, " ")
    for run in runs:
        run.close()


def test_texts_are_kept_as_they_are(run: Path) -> None:
    """They are shown as plain texts, and printed with their control characters as escapes."""
    text = "<img src=x>\x1b]0;title\x07\u202e"
    fields = {"name": text, "note": text, "bookmarks": [[text, -3.0, "marginscope://view?"]]}
    notes_file(run).write_text(json.dumps(fields))
    about = read_about(run)
    assert (about.name, about.note, about.bookmarks[0].name) == (text, text, text)
    assert change_about(run, lambda about: replace(about, kept=True)).bookmarks == about.bookmarks


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_set_aside(run: Path, kind: str) -> None:
    notes = notes_file(run)
    if kind == "pipe":
        os.mkfifo(notes)
    elif kind == "device":
        notes.symlink_to("/dev/zero")
    else:
        notes.mkdir()
    with pytest.raises(InputError, match=r"a\.msrun\.notes"):
        read_about(run)
    change_about(run, lambda about: replace(about, note="mine"))
    assert read_about(run).note == "mine"


def test_notes_at_moments_are_read_as_they_were_written(run: Path) -> None:
    notes = (
        MomentNote(float("-inf"), "<b>start</b>"),
        MomentNote(0.5, "here", "hard_margin", -0.25),
        MomentNote(0.5, "there"),
    )
    change_about(run, lambda about: replace(about, moments=(notes[2], *notes, notes[1])))
    assert read_about(run).moments == (notes[0], notes[2], notes[1])
    assert json.loads(notes_file(run).read_text())["moments"][0] == [None, "<b>start</b>", "", None]


def test_parts_of_a_later_version_stay_in_the_file(run: Path) -> None:
    """A file of an earlier version, without notes at moments, is read too."""
    later = {"version": 3, "name": "a", "drawings": [{"deep": [1, 2.5, None]}], "mood": "<b>"}
    notes_file(run).write_text(json.dumps(later))
    about = read_about(run)
    assert (about.name, about.moments) == ("a", ())
    change_about(run, lambda about: replace(about, moments=(MomentNote(1.0, "new"),)))
    fields = json.loads(notes_file(run).read_text())
    assert {key: fields[key] for key in ("drawings", "mood")} == {
        key: later[key] for key in ("drawings", "mood")
    }
    change_about(run, lambda about: replace(about, name="", moments=()))
    assert json.loads(notes_file(run).read_text())["mood"] == "<b>"


def test_info_prints_the_notes_at_moments(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = (
        MomentNote(float("-inf"), "start\x1b[2J"),
        MomentNote(0.5, "here", "hard_margin", 0.25),
    )
    change_about(run, lambda about: replace(about, moments=notes))
    assert main(["info", str(run)]) == 0
    lines = capsys.readouterr().out
    assert "note at t = 0: start\\u001b[2J" in lines
    assert "note at t = 3.16: here" in lines
    assert main(["info", str(run), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["notes"]
    assert first["log10_time"] is None or first["log10_time"] == "-inf"
    assert second == {"log10_time": 0.5, "text": "here", "quantity": "hard_margin", "value": 0.25}
    notes_file(run).write_text('{"moments": [1]}')
    assert main(["info", str(run)]) == 0  # the run itself is intact
    captured = capsys.readouterr()
    assert "note at" not in captured.out
    assert "cannot be read" in captured.err
