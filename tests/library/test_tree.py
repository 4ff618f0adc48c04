"""Runs that go on from others: what the library says of them, finds, and where they stand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.library.columns import lineage_text, name_of
from core.library.entry import (
    Bookmark,
    Entry,
    RunNotes,
    arrange_by_parent,
    find_unprotected,
)
from core.library.library import surplus
from core.library.reading import read_facts
from core.runs.meta import lineage_of
from tests.continuation.test_branches import PARENTS, branched_at
from tests.problems import problem
from tests.support.continued_runs import continued_at, recorded_at
from tests.support.made_up_library import chosen, entry, library_of, many_entries, with_headings


def child_of(parent: Entry, number: int, **facts: object) -> Entry:
    one = entry(number)
    said = {
        "run": f"name-{number}",
        "parent": parent.path.name,
        "parent_run": parent.facts.run,
        "left": 2.5,
        "changes": "dynamics.step = 0.1",
        **facts,
    }
    return replace(one, facts=replace(one.facts, **said))


def named(number: int) -> Entry:
    one = entry(number)
    return replace(one, facts=replace(one.facts, run=f"name-{number}"))


# ---------------------------------------------------------------------------------- from the files


def test_what_files_say(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    recorded_at(folder / "a.msrun", problem(*PARENTS["gd"]))
    branched_at(folder / "b.msrun", folder / "a.msrun", 20, "dynamics.step=0.125")
    continued_at(folder / "c.msrun", folder / "b.msrun", "dynamics.until_log10_time=1.6")
    a, b, c = (read_facts(folder / f"{name}.msrun") for name in "abc")
    assert (a.lineage, a.parent_run) == ("", "")
    assert a.run == b.parent_run != b.run == c.parent_run
    moment = 10.0**b.left
    assert b.lineage == f"branched from a.msrun at t = {moment:.3g}: dynamics.step = 0.125"
    assert c.lineage == f"continued from b.msrun at t = {10.0**c.left:.3g}"
    library = library_of(tmp_path)
    listing = library.refresh()
    by_name = {one.path.name: one for one in listing.entries}
    assert f"branched at t = {moment:.3g}" in by_name["b.msrun"].heading
    assert "step .125" in by_name["b.msrun"].heading
    assert by_name["c.msrun"].heading.endswith("continued")
    rows = [(one.path.stem, depth) for one, depth in arrange_by_parent(listing.entries)]
    assert rows == [("a", 0), ("b", 1), ("c", 2)]
    # The name goes with the file, so that the tree outlives other names of files.
    (folder / "a.msrun").rename(folder / "z.msrun")
    rows = [(one.path.stem, depth) for one, depth in arrange_by_parent(library.refresh().entries)]
    assert rows == [("z", 0), ("b", 1), ("c", 2)]
    (folder / "z.msrun").unlink()  # a parent that is gone leaves its children
    rows = [(one.path.stem, depth) for one, depth in arrange_by_parent(library.refresh().entries)]
    assert rows == [("b", 0), ("c", 1)]
    library.close()


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"file": 3, "run": [], "frame": "x", "log10_time": "2", "changes": 4},
        {"file": "a\x1b[2J", "run": "b" * 9999, "frame": -1, "log10_time": 1e300, "changes": []},
        {
            "file": "a",
            "frame": True,
            "log10_time": True,
            "changes": {"a": 1, "b": [1], "c": [1, 2]},
        },
        {"file": "a\nb", "changes": {str(k): [0, k] for k in range(9999)}},
        {"file": "a", "changes": {"k": [None, "x" * 9999], "\x1b": [{}, {}]}},
    ],
    ids=range(6),
)
def test_what_a_strangers_file_says(told: dict[str, object]) -> None:
    lineage = lineage_of(told)
    assert lineage.words.isprintable()
    assert len(lineage.words) < 1500
    assert lineage.frame >= 0


# ---------------------------------------------------------------------------------------- the tree


def test_children_stand_below_their_parents() -> None:
    """In the order that was given otherwise, whichever of them comes first."""
    one, two = named(1), named(2)
    three, four, five = child_of(one, 3), child_of(one, 4), child_of(two, 5)
    six = child_of(three, 6)
    rows = arrange_by_parent([six, five, four, three, two, one])
    assert [(row.path.stem[4:], depth) for row, depth in rows] == [
        ("2", 0),
        ("5", 1),
        ("1", 0),
        ("4", 1),
        ("3", 1),
        ("6", 2),
    ]
    assert arrange_by_parent([one, two]) == [(one, 0), (two, 0)]
    assert arrange_by_parent([six, one]) == [(six, 0), (one, 0)]  # its parent is not among them


def test_parents_that_cannot_be() -> None:
    """Runs that are their own ancestors, copies, and another run under the parent's name."""
    one = named(1)
    circle = [
        child_of(named(8), 7, parent_run="name-8"),
        child_of(named(7), 8, parent_run="name-7"),
    ]
    assert sorted(row.path.stem for row, _ in arrange_by_parent(circle)) == ["run-7", "run-8"]
    assert arrange_by_parent([child_of(named(3), 3, parent_run="name-3")])[0][1] == 0
    copy = replace(one, path=Path("/other/run-1.msrun"))
    there = replace(child_of(one, 2), path=Path("/other/run-2.msrun"))
    rows = [
        (row.path, depth) for row, depth in arrange_by_parent([one, copy, there, child_of(one, 3)])
    ]
    assert rows == [
        (one.path, 0),
        (Path("/runs/run-3.msrun"), 1),
        (copy.path, 0),
        (there.path, 1),
    ]
    foreign = child_of(one, 4, parent_run="another")
    assert [depth for _, depth in arrange_by_parent([one, foreign])] == [0, 0]
    older = child_of(entry(1), 5, parent_run="")  # of files without names: by the file's own
    assert [depth for _, depth in arrange_by_parent([entry(1), older])] == [0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_any_parents_at_all(seed: int) -> None:
    """Every run stands in one row, one step right of its parent, after it."""
    chance = np.random.default_rng(seed)
    entries = []
    for number in range(60):
        one = named(number)
        if chance.random() < 0.7:
            one = child_of(named(int(chance.integers(60))), number)
        entries.append(one)
    rows = arrange_by_parent(entries)
    assert sorted(row.path for row, _ in rows) == sorted(one.path for one in entries)
    above: list[str] = []
    for row, depth in rows:
        assert depth <= len(above)
        above = [*above[:depth], row.facts.run]
        if depth:
            assert above[depth - 1] == row.facts.parent_run


def test_thousands_in_a_chain() -> None:
    entries = [named(0)]
    for number in range(1, 3000):
        entries.append(child_of(entries[-1], number % 60, run=f"name-{number}"))
        entries[-1] = replace(entries[-1], path=Path(f"/runs/chain-{number}.msrun"))
    assert [depth for _, depth in arrange_by_parent(entries[::-1])] == list(range(3000))


# ------------------------------------------------------------------------------------ and searches


def test_searches_for_children() -> None:
    one = named(1)
    two, three = child_of(one, 2), child_of(one, 3, changes="")
    runs = [one, two, three]
    for text, found in (
        ('parent == "run-1.msrun"', [two, three]),
        ('parent == "other.msrun"', []),
        ('parent != "other.msrun"', [two, three]),
        ("branched == 1", [two]),
        ("continued > 0", [two, three]),
        ("branched_at > 300 and branched_at < 320", [two]),
        ('changes == "dynamics.step = 0.1"', [two]),
        ('"branched from run-1"', [two]),
        ("dynamics.step = 0.1 and branched = 1", []),  # a setting, which these runs do not have
    ):
        assert chosen(runs, text) == found, text
    assert math.isnan(one.facts.left)


def test_headings_of_branches() -> None:
    one = named(1)
    two = child_of(one, 2)
    early = child_of(one, 2, left=-math.inf)
    assert with_headings([one, two])[1].heading.endswith("branched at t = 316")
    assert with_headings([one, early])[1].heading.endswith("branched at t = 0")


def test_a_first_start_that_others_go_on_from_stays() -> None:
    starts = [named(number) for number in range(1, 5)]
    shapes = [one.facts.settings for one in starts]
    everything = surplus(starts, shapes, 0.0, Path("/runs"))
    assert {one.path.stem for one in everything} == {f"run-{number}" for number in range(1, 5)}
    kept = surplus([*starts, child_of(starts[1], 30)], shapes, 0.0, Path("/runs"))
    assert {one.path.stem for one in kept} == {"run-1", "run-3", "run-4"}


def test_runs_of_their_own_stay_in_their_order() -> None:
    entries = many_entries(500)
    assert [row for row, _ in arrange_by_parent(entries)] == list(entries)


def test_what_somebody_has_kept_is_missed(tmp_path: Path) -> None:
    """A name, a note, a tag, a bookmark, a set, a child, or that it grows or is in the trash."""
    plain = entry(1)
    marks = (RunNotes(name="a"), RunNotes(note="a"), RunNotes(tags=("a",)), RunNotes(kept=True))
    kept = [entry(2 + k, about=about) for k, about in enumerate(marks)]
    kept += [entry(10, about=RunNotes(bookmarks=(Bookmark("a", 0.0),)))]
    kept += [entry(11, state="growing"), entry(12, origin=tmp_path)]
    parent = entry(13)
    child = entry(14)
    child = replace(child, facts=replace(child.facts, parent=parent.path.name, parent_run="x"))
    every = [plain, *kept, parent, child]
    assert find_unprotected(every, {one.path for one in every} - {child.path}) == (plain,)
    assert find_unprotected(every, ()) == ()


def test_settings_in_names_and_origins_are_in_words() -> None:
    """The library listed "until log10 time = 4.5", where chips say "to t = ..."."""
    until = "dynamics.until_log10_time"
    one = named(1)
    one = replace(one, facts=replace(one.facts, settings={**one.facts.settings, until: 4.0}))
    two = child_of(one, 2, changes=f"{until} = 4.5, loss.l2 = 0.001")
    two = replace(two, facts=replace(two.facts, settings={**one.facts.settings, until: 4.5}))
    first, second = (run.heading for run in with_headings([one, two]))
    assert first == "to t = 10^4"
    assert second == "to t = 3.16 10^4, branched at t = 316"
    assert name_of(replace(two, heading=second)) == (
        "to t = 3.16 \u00d7 10\u2074, branched at t = 316"
    )
    assert lineage_text(two) == (
        f"branched from {one.path.name} at t = 316: to t = 3.16 \u00d7 10\u2074, \u03bb = .001"
    )
    assert lineage_text(one) == ""


def test_a_run_alone_in_its_study_is_named_by_words_and_not_by_its_file() -> None:
    """Drawn points were listed as "telgarsky22-figure-1__network.m-16-modified__data.kind=..."."""
    drawn = named(1)
    stem = "a-modified__data.kind=points__data.points=21-rows-0ab270ec__2026-11-28T14-30-03"
    settings = {"data.kind": "points", "data.points": [[0.0, 1.0, 1.0]] * 21, "network.m": 16}
    drawn = replace(
        drawn,
        path=drawn.path.with_name(f"{stem}.msrun"),
        facts=replace(drawn.facts, title="Alone", settings=settings),
    )
    plain = replace(named(2), facts=replace(drawn.facts, title="Also alone"))
    first, second = (name_of(run) for run in with_headings([drawn, plain]))
    assert (first, second) == ("21 drawn points", "m = 16")
