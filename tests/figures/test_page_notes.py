"""Notes at moments in pages: listed, typeset as texts, and links to their moments."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core.cli.main import main
from core.figures.page import PageOptions, page_html
from core.library.entry import MomentNote
from core.library.run_notes import change_about
from core.runs import open_run
from core.runs.settings import left_words
from tests.recording import recorded
from tests.support.browser import browser, browser_path
from tests.support.made_up_figures import two_runs
from tests.support.pages import HOSTILE, data_of, page_of

ONE_LINE = HOSTILE.replace("\u2028", " ")
NOTES = (
    MomentNote(0.5, "10^2 examples", "risk", 0.1),
    MomentNote(-math.inf, "start"),
    MomentNote(99.0, HOSTILE),
)


def words(pieces: list[list[str]]) -> str:
    return "".join(text for text, _ in pieces)


def test_notes_are_listed_in_the_order_of_time() -> None:
    """Each at its own frame, also where a page has few; one after the end is at the end."""
    runs = two_runs()
    data = page_of(runs, ("norms",), frames=2, notes=(NOTES, NOTES[:1]))
    notes, times = data["notes"], [words(moment) for moment in data["moments"]]
    assert [words(one["text"]) for one in notes][:2] == ["start", "102 examples"]
    assert ["^" in style for _, style in notes[1]["text"]] == [False, True, False]
    assert [one["row"] for one in notes] == [0, 0, 1, 0]
    assert [one["at"] for one in notes] == sorted(one["at"] for one in notes)
    assert notes[0]["at"] == 0 and notes[-1]["at"] == len(times) - 1
    assert words(notes[-1]["text"]) == ONE_LINE
    # The frame shown is the last one at the note's time or before.
    run = runs[0]
    frame = int(np.flatnonzero(run.log10_time <= 0.5)[-1])
    whole = page_of(runs, ("norms",), frames=400)
    assert times[notes[1]["at"]] == words(whole["moments"][frame])


def test_notes_of_a_run_that_counts_steps_name_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the moments of its page do; of a flow they name times."""
    path, generator = tmp_path / "a.msrun", np.random.default_rng(0)
    x, y = generator.standard_normal((12, 3)), np.where(np.arange(12) % 3, 1.0, -1.0)
    V, a = generator.standard_normal((5, 3)), generator.standard_normal(5)
    with ms.record(path, x, y, V0=V, a0=a, loss="logistic") as recording:
        for step in range(1, 6):
            recording.frame(step, V=V + 0.1 * step, a=a)
    with open_run(path) as run:
        assert run.counts_steps and not two_runs()[0].counts_steps
        for one, word in ((run, "step"), (two_runs()[0], "t =")):
            data = page_of([one], ("norms",), notes=(NOTES[:1],))
            assert words(data["notes"][0]["time"]).startswith(word)
            assert words(data["moments"][-1]).startswith(word)
        assert left_words(run).endswith("; frames up to step 5 are safe")
    change_about(path, lambda about: replace(about, moments=NOTES[:1]))
    assert main(["info", str(path)]) == 0
    assert "  note at step 3: 10^2 examples" in capsys.readouterr().out


def test_a_page_without_notes_has_no_list() -> None:
    data = page_of(two_runs(), ("norms",), notes=((), ()))
    assert "notes" not in data and "notes" not in page_of(two_runs(), ("norms",))


def test_the_command_asks_for_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "a.msrun", tmp_path / "p.html"
    recorded(path, "dynamics.until_log10_time=0.5")
    command = ["page", str(path), "--out", str(out), "--margins", "none", "--quiet"]
    change_about(path, lambda about: replace(about, moments=NOTES[:2]))
    assert main(command) == 0
    assert "notes" not in data_of(out.read_text("utf-8"))
    assert main([*command, "--notes"]) == 0
    assert [words(one["text"]) for one in data_of(out.read_text("utf-8"))["notes"]] == [
        "start",
        "102 examples",
    ]
    capsys.readouterr()


PROGRAM = browser_path()


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here, in which pages are tested")
def test_a_note_leads_to_its_moment(tmp_path: Path) -> None:
    """By a click; it is marked there, and its text stays a text."""
    runs, path = two_runs(), tmp_path / "figure.html"
    options = PageOptions(notes=(NOTES, NOTES[:1]))
    path.write_text(page_html(runs, ("norms",), None, options), "utf-8")
    assert PROGRAM is not None
    with browser(PROGRAM) as page:
        page.resize(1280, 800)
        page.open(path, "document.querySelector('main')?.dataset.ready === 'true'", "")
        entries = "[...document.querySelectorAll('.notes button')]"
        marked = f"{entries}.map((one) => one.getAttribute('aria-current') === 'true')"
        assert page.value(marked) == [False, False, False, True]  # at the end
        assert page.value(f"{entries}[3].lastElementChild.textContent") == ONE_LINE
        page.value(f"{entries}[0].click()")
        assert page.value(marked) == [True, False, False, False]
        assert page.value("document.querySelector('input[type=range]').value") == "0"
        page.value(f"{entries}[2].click()")
        assert page.value(marked) == [False, True, True, False]
        names = page.value("[...document.querySelectorAll('.notes .of')].map((s) => s.textContent)")
        assert len(names) == 4 and len(set(names)) == 2
        assert page.log == []
        assert all(one.startswith("file:") for one in page.requests)
