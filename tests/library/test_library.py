"""The library of a folder: what it says of runs, and what becomes of a lost or broken index."""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.library.entry import Entry, RunNotes, RunSummary
from core.library.index import Row, RunIndex
from core.library.library import Listing, surplus
from core.library.reading import heights, picture_of, read_facts
from core.library.run_notes import change_about, notes_file, read_about, tags_of
from core.observables.registry import OBSERVABLES, last_values
from core.reference.margin import SavedMargin, exact_bracket, save_margin, saved_margin_path
from core.reference.registry import REFERENCES
from core.runs import open_run
from tests.support.made_up_library import chosen, entry, library_of, with_headings
from tests.support.run_files import crash, frames_of, record, recorder_at, small_problem


def by_name(listing: Listing) -> dict[str, Entry]:
    return {one.path.name: one for one in listing.entries}


def only(listing: Listing) -> Entry:
    (one,) = listing.entries
    return one


def test_a_run_is_listed_with_what_its_file_says(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun", small_problem(m=4))
    (library.root / "studies").mkdir()
    record(library.root / "studies" / "b.msrun", small_problem(m=5))
    listed = by_name(library.refresh())
    library.close()
    assert set(listed) == {"a.msrun", "b.msrun"}
    one = listed["a.msrun"]
    with open_run(path) as run:
        values = last_values(run)
        for name in ("hard_margin", "smoothed_margin", "l1_margin", "risk", "norm_squared"):
            assert one.facts.results[name] == pytest.approx(values[name], rel=1e-12, nan_ok=True)
        assert one.facts.results["norm"] == pytest.approx(math.sqrt(values["norm_squared"]))
        assert one.facts.results["log10_time"] == run.log10_time[-1]
        assert (one.facts.frames, one.size, one.date) == (6, run.bytes_on_disk, run.creation_time)
    assert one.facts.settings["network.m"] == 4
    assert one.facts.settings["dynamics.kind"] == "flow"
    assert (one.state, one.facts.title, one.verdicts) == ("completed", "A title", None)
    assert one.heading.startswith("m = 4")
    assert listed["b.msrun"].heading.startswith("m = 5")


def test_margins_are_taken_from_the_cache_and_never_computed(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    before = only(library.refresh())
    assert not before.facts.margins
    assert math.isnan(before.share)
    with open_run(path) as run:
        file = saved_margin_path(REFERENCES["gamma_gl"], run.problem)
    save_margin(file, SavedMargin(exact_bracket(0.25, "by hand"), 1.0))
    # The run file is as it was; the margin is found all the same, and kept.
    for one in (only(library.refresh()), only(library_of(tmp_path).refresh())):
        assert one.facts.margins == {"gamma_gl": 0.25}
        assert one.share == pytest.approx(one.facts.results["hard_margin"] / 0.125)
    library.close()


def known_margin(path: Path, value: float) -> None:
    """Store gamma_gl of a run, as if it had been computed."""
    with open_run(path) as run:
        file = saved_margin_path(REFERENCES["gamma_gl"], run.problem)
    save_margin(file, SavedMargin(exact_bracket(value, "by hand"), 1.0))


def test_the_time_to_90_is_found_once_a_margin_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of runs listed long before, one file at a time, and not again at the next start."""
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun", count=12)
    record(library.root / "b.msrun", small_problem(m=5))
    before = by_name(library.refresh())["a.msrun"]
    assert math.isnan(before.log10_time_to_90)
    assert chosen([before], "time_to_90 < 1e9") == []
    # In closed form: shares are .2 a frame, and so .9 half way from the fifth to the sixth.
    monkeypatch.setattr(
        "core.observables.margins.hard_margin", lambda run, frame: 0.125 * 0.2 * frame
    )
    with open_run(path) as run:
        expected = float(np.mean(run.log10_time[4:6]))
    known_margin(path, 0.25)
    after = by_name(library.refresh())["a.msrun"]
    assert after.log10_time_to_90 == pytest.approx(expected, abs=1e-11)
    t = 10.0**expected
    assert chosen([after], f"time_to_90 < {t * 1.01:.17g}") == [after]
    assert chosen([after], f"time_to_90 < {t * 0.99:.17g}") == []
    library.close()
    looked = []
    monkeypatch.setattr("core.library.library.time_to_90", lambda *a: looked.append(a))
    again = by_name(library_of(tmp_path).refresh())["a.msrun"]
    assert again.log10_time_to_90 == after.log10_time_to_90
    assert not looked


def test_a_margin_never_reached_has_no_time_and_another_value_another(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    known_margin(path, 1e6)
    one = only(library.refresh())
    assert one.log10_time_to_90 == math.inf
    assert chosen([one], "time_to_90 > 0") == chosen([one], "time_to_90 < 1e300") == []
    # A value that was found since stands for no time until the run has been looked at again.
    other = replace(one, facts=replace(one.facts, margins={"gamma_gl": 1.0}))
    assert math.isnan(other.log10_time_to_90)
    library.close()


def test_looking_for_times_can_be_cut_short_and_goes_on(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    for name in "abc":
        record(library.root / f"{name}.msrun")
    library.refresh()
    known_margin(library.root / "a.msrun", 1e6)  # of the same data, and so of all three
    looks = 0

    def halt() -> None:
        nonlocal looks
        looks += 1
        if looks > 6 + 1 + 2:  # the frames of one run, its end, and two frames of the next
            raise InterruptedError

    with pytest.raises(InterruptedError):
        library.refresh(halt=halt)
    library.close()
    other = library_of(tmp_path)
    told: list[Listing] = []
    times = [one.log10_time_to_90 for one in other.refresh(told.append).entries]
    assert times == [math.inf] * 3
    assert sum(one.log10_time_to_90 == math.inf for one in told[0].entries) == 1
    other.close()


def test_what_is_no_run_is_listed_with_the_reason(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    (library.root / "text.msrun").write_text("no run")
    (library.root / "empty.msrun").touch()
    sqlite3.connect(library.root / "foreign.msrun").execute("CREATE TABLE a (b)").connection.close()
    good = record(library.root / "good.msrun")
    (library.root / "cut.msrun").write_bytes(good.read_bytes()[:9000])
    (library.root / "folder.msrun").mkdir()
    (library.root / "link.msrun").symlink_to(library.root / "nowhere.msrun")
    listed = by_name(library.refresh())
    assert set(listed) == {"text.msrun", "empty.msrun", "foreign.msrun", "cut.msrun", "good.msrun"}
    for name, one in listed.items():
        assert (one.state == "unreadable") is (name != "good.msrun")
        assert one.readable is (name == "good.msrun")
        assert not one.facts.wrong or one.facts.wrong.endswith(".")
    # A file that has become a run, or can be read now, is read anew.
    shutil.copy(good, library.root / "text.msrun")
    assert by_name(library.refresh())["text.msrun"].readable
    library.close()


def test_a_file_that_is_gone_between_two_looks_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_of(tmp_path)
    for name in ("a", "b"):
        record(library.root / f"{name}.msrun")

    def vanishing(path: Path) -> RunSummary | None:
        path.unlink(missing_ok=True)
        return read_facts(path)

    monkeypatch.setattr("core.library.library.read_facts", vanishing)
    assert library.refresh().entries == ()
    assert read_facts(library.root / "a.msrun") is None
    library.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no recorder is known by a lock")
def test_a_recording_grows_and_one_that_was_left_is_cut_off(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    problem = small_problem()
    recorder = recorder_at(library.root / "a.msrun", problem)
    recorder.append(frames_of(problem, 3))
    recorder.flush()
    growing = only(library.refresh())
    assert (growing.state, growing.facts.frames) == ("growing", 3)
    with pytest.raises(InputError, match="being recorded"):
        library.move_to_trash(growing)
    recorder.append(frames_of(problem, 5)[3:])
    recorder.flush()
    assert only(library.refresh()).facts.frames == 5
    recorder.finish("completed")
    assert only(library.refresh()).state == "completed"
    crash(library.root / "b.msrun")  # at this moment: no recorder has its -wal locked
    assert by_name(library.refresh())["b.msrun"].state == "cut off"
    rests = recorder_at(library.root / "c.msrun", problem)
    rests.append(frames_of(problem, 3))
    rests.flush()
    for suffix in ("", "-wal"):
        os.utime(f"{library.root / 'c.msrun'}{suffix}", (1.7e9, 1.7e9))
    assert by_name(library.refresh())["c.msrun"].state == "growing"
    rests.finish("completed")
    library.close()


@given(st.integers(0, 60_000), st.binary(min_size=1, max_size=40))
def test_a_damaged_file_is_listed_and_never_raises(begin: int, damage: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.msrun"
        content = whole_file()
        begin %= len(content)
        path.write_bytes(content[:begin] + damage + content[begin + len(damage) :])
        facts = read_facts(path)
        assert facts.readable is not bool(facts.wrong)
        assert isinstance(picture_of(path), bytes)
        assert through_the_index(facts) is not None


@cache
def whole_file() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        return record(Path(name) / "a.msrun").read_bytes()


def test_nothing_is_listed_anew_where_nothing_has_changed(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    first = library.refresh()
    assert library.refresh() is first
    library.set_verdicts(path, {"holds": 2, "holds although the hypotheses are not met": 1})
    one = only(library.refresh())
    assert (one.holds, one.n_violated) == (3.0, 0.0)
    assert math.isnan(replace(one, verdicts=None).holds)
    path.unlink()
    assert library.refresh().entries == ()
    library.close()


def test_verdicts_of_a_run_that_was_never_listed_are_kept(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    library.set_verdicts(path, {"violated": 1})
    library.set_verdicts(library.root / "b.msrun", {"violated": 1})
    assert only(library.refresh()).n_violated == 1.0
    library.close()


# ------------------------------------------------------------------------------------ the index


def test_an_index_spares_reading_and_a_changed_file_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = library_of(tmp_path)
    path = record(first.root / "a.msrun")
    record(first.root / "b.msrun")
    expected = first.refresh().entries
    first.set_verdicts(path, {"holds": 2})
    first.close()
    read: list[str] = []

    def noting(path: Path) -> RunSummary | None:
        read.append(path.name)
        return read_facts(path)

    monkeypatch.setattr("core.library.library.read_facts", noting)
    library = library_of(tmp_path)
    again = library.refresh()
    assert read == []
    unjudged = [replace(one, verdicts=None) for one in again.entries]
    assert repr(unjudged) == repr(list(expected))  # NaN equals nothing
    assert by_name(again)["a.msrun"].verdicts == {"holds": 2}
    record(path.with_name("c.msrun"), count=3).replace(path)
    changed = by_name(library.refresh())["a.msrun"]
    assert read == ["a.msrun"]
    assert (changed.facts.frames, changed.verdicts) == (3, None)
    library.close()


def change(index: Path, *statements: str) -> None:
    """Change a database; each call reads its schema again."""
    database = sqlite3.connect(index)
    for statement in ("PRAGMA writable_schema = ON", *statements):
        database.execute(statement)
    database.commit()
    database.close()


def set_null(index: Path) -> None:
    """Give all rows facts that the table forbids, as damaged bytes can."""
    schema = "UPDATE sqlite_schema SET sql = replace(sql, {}) WHERE name = 'run'"
    strict, loose = "'facts TEXT NOT NULL'", "'facts TEXT'"
    change(index, schema.format(f"{strict}, {loose}"))
    change(index, "UPDATE run SET facts = NULL", schema.format(f"{loose}, {strict}"))


@pytest.mark.parametrize(
    "what", ["lost", "text", "cut", "flipped", "foreign", "version", "rows", "nulls"]
)
def test_a_broken_index_is_made_anew_with_a_sentence(tmp_path: Path, what: str) -> None:
    library = library_of(tmp_path)
    for name in ("a", "b"):
        record(library.root / f"{name}.msrun")
    change_about(library.root / "a.msrun", lambda about: replace(about, note="mine"))
    expected = library.refresh().entries
    library.close()
    index = tmp_path / "library.sqlite"
    content = index.read_bytes()
    if what == "lost":
        index.unlink()
    elif what in ("text", "cut"):
        index.write_bytes(b"no database" * 500 if what == "text" else content[: len(content) // 2])
    elif what == "nulls":
        set_null(index)
    elif what == "flipped":
        index.write_bytes(content[:100] + b"\xff" * 200 + content[300:])
    else:
        database = sqlite3.connect(index)
        if what == "foreign":
            database.execute("DROP TABLE run")
            database.execute("CREATE TABLE run (other TEXT)")
        elif what == "version":
            database.execute("ALTER TABLE run ADD COLUMN more TEXT")
        else:
            database.execute("UPDATE run SET facts = '[]', about = 'null'")
        database.commit()
        database.close()
    library = library_of(tmp_path)
    listing = library.refresh()
    library.close()
    assert listing.entries == expected
    if what in ("lost", "rows", "nulls"):
        assert listing.messages == ()
    else:
        (sentence,) = listing.messages
        assert "rebuilds the list" in sentence
        assert sentence.endswith(".")
        assert (tmp_path / "library.sqlite.broken").exists()


def test_an_index_that_another_program_holds_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.library.index.WAIT_S", 0.01)
    library = library_of(tmp_path)
    record(library.root / "a.msrun")
    expected = library.refresh().entries
    library.close()
    holder = sqlite3.connect(tmp_path / "library.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    library = library_of(tmp_path)
    listing = library.refresh()
    holder.execute("ROLLBACK")
    holder.close()
    assert listing.entries == expected
    (sentence,) = listing.messages
    assert "locked by another program" in sentence
    library.close()
    again = library_of(tmp_path)
    assert again.refresh().messages == ()
    assert not (tmp_path / "library.sqlite.broken").exists()
    again.close()


def test_an_index_that_cannot_be_kept_is_made_in_memory(tmp_path: Path) -> None:
    (tmp_path / "library.sqlite").mkdir()
    (tmp_path / "library.sqlite.broken").mkdir()
    (tmp_path / "library.sqlite.broken" / "full").touch()
    library = library_of(tmp_path)
    record(library.root / "a.msrun")
    listing = library.refresh()
    library.close()
    assert only(listing).state == "completed"
    assert len(listing.messages) == 1


def through_the_index(facts: RunSummary) -> RunSummary | None:
    """Return facts as the next start has them; None where their file is read again."""
    with tempfile.TemporaryDirectory() as name:
        for index in (RunIndex(Path(name) / "index"), RunIndex(Path(name) / "index")):
            index.save_rows({"/a.msrun": Row("stamp", facts)})
            index.close()
        row = index.load().get("/a.msrun")
        index.close()
        return None if row is None else row.facts


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=5), some),
)


@settings(max_examples=30)
@given(JSON, st.sampled_from(["settings", "results", "frames", "title", "waiting"]))
def test_rows_of_others_are_no_facts(value: object, key: str) -> None:
    facts = through_the_index(replace(RunSummary(), **{key: value}))
    assert facts is None or type(getattr(facts, key)) is type(getattr(RunSummary(), key))


def test_facts_come_back_from_the_index_as_they_were() -> None:
    results = {"risk": 1e-300, "t": -math.inf, "norm": math.nan}
    facts = entry(3, {"dynamics.step": 0.1, "a.b": True, "c": 7, "d": "7"}, results).facts
    facts = replace(facts, parent=os.fsdecode(b"\xff.msrun"))
    again = through_the_index(facts)
    assert repr(again) == repr(facts)  # NaN equals nothing


# -------------------------------------------------------------------------------- names and notes


def test_names_notes_and_tags_lie_beside_the_run_and_outlive_the_index(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    content = path.read_bytes()
    library.refresh()
    said = RunNotes("The one", "for the talk", ("talk", "figure 1"))
    library.describe(path, lambda _: RunNotes(" The one ", "for the talk\n", ("talk", "figure 1")))
    assert only(library.refresh()).about == said
    library.close()
    (tmp_path / "library.sqlite").unlink()
    library = library_of(tmp_path)
    assert only(library.refresh()).about == said
    assert path.read_bytes() == content
    library.describe(path, lambda _: RunNotes())
    assert not notes_file(path).exists()
    assert only(library.refresh()).about == RunNotes()
    library.close()


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"tags": "a"}', b'{"note": 3}', b"\xff\xfe"])
def test_notes_that_cannot_be_read_are_said_and_set_aside(tmp_path: Path, content: bytes) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    notes_file(path).write_bytes(content)
    listing = library.refresh()
    assert only(listing).state == "completed"
    assert any(notes_file(path).name in sentence for sentence in listing.messages)
    library.describe(path, lambda about: replace(about, tags=("new",)))
    assert read_about(path).tags == ("new",)
    assert path.with_name(f"{path.name}.notes.broken").read_bytes() == content
    library.close()


@pytest.mark.parametrize(
    "wrong",
    [
        RunNotes(name="a" * 201),
        RunNotes(note="a" * 20_001),
        RunNotes(tags=("a" * 61,)),
        RunNotes(tags=tuple(map(str, range(51)))),
    ],
)
def test_too_much_is_refused(tmp_path: Path, wrong: RunNotes) -> None:
    path = record(tmp_path / "a.msrun")
    with pytest.raises(InputError, match="at most"):
        change_about(path, lambda _: wrong)
    with pytest.raises(InputError, match="no longer exists"):
        change_about(tmp_path / "b.msrun", lambda _: RunNotes("x"))


def test_tags_are_told_apart_by_commas() -> None:
    assert tags_of("a,, b  c ,a") == ("a", "b c")


# ---------------------------------------------------------------------------- headings, pictures


def test_headings_say_what_differs_within_a_study() -> None:
    entries = [
        entry(1, {"network.m": 4, "dynamics.step": 0.5, "recording.frames": 3}),
        entry(1, {"network.m": 8, "dynamics.step": 0.5, "recording.frames": 4}),
        entry(1, {"network.m": 8}, about=RunNotes("named")),
    ]
    assert [one.heading for one in with_headings(entries)] == ["m = 4", "m = 8", "m = 8"]


def test_headings_name_variants_and_factors_of_a_study() -> None:
    """Runs of a study with variants were all "diagonal linear network, m = 1, e...", cut off."""
    linear, deep = {"network.kind": "linear", "network.m": 1}, {"network.kind": "deep_linear"}
    names = (
        "factor.eta=0.2__variant=2-factors",
        "factor.eta=0.1__variant=2-factors",
        "factor.eta=0.1__variant=deep",
    )
    steps = ({**linear, "dynamics.step": 1.0}, {**linear, "dynamics.step": 0.5}, deep)
    runs = [
        replace(entry(1, settings), path=Path(f"/runs/a__{name}.msrun"))
        for name, settings in zip(names, steps, strict=True)
    ]
    assert [one.heading for one in with_headings(runs)] == [
        "\u03b7 = .2, 2 factors",
        "\u03b7 = .1, 2 factors",
        "\u03b7 = .1, deep",
    ]
    # Two runs that differ by more than the study's axes are named by all that differs.
    again = replace(runs[2], facts=replace(runs[2].facts, settings={**deep, "run.seed": 5}))
    texts = [one.heading for one in with_headings([*runs, again])]
    assert "seed 5" in texts[3] and len(set(texts)) == 4


def test_a_picture_is_kept_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    library.refresh()
    with open_run(path) as run:
        curve = [OBSERVABLES["hard_margin"].value_at(run, frame) for frame in range(run.frames)]
    drawn = library.picture(path)
    assert drawn == heights(curve)
    monkeypatch.setattr("core.library.library.picture_of", lambda _: b"")
    assert library.picture(path) == drawn
    record(path.with_name("b.msrun"), count=3).replace(path)
    library.refresh()
    assert library.picture(path) == b""
    monkeypatch.undo()
    assert len(library.picture(path)) == 3
    library.close()


def test_heights_are_shares_of_the_largest() -> None:
    assert list(heights([0.0, 1.0, 2.0])) == [0, 127, 254]
    assert list(heights([-2.0, 2.0])) == [0, 254]
    assert heights([math.nan]) == b""
    assert list(heights([3.0])) == [254]


# ---------------------------------------------------------------------------- first starts


def test_the_oldest_runs_of_first_starts_are_too_many() -> None:
    root = Path("/runs")
    plain = [entry(1).facts.settings]
    starts = [
        replace(entry(1), path=root / f"{day}.msrun", size=10, facts=_on(entry(1).facts, day))
        for day in range(1, 6)
    ]
    others = [
        replace(starts[0], path=root / "noted.msrun", about=RunNotes(note="keep")),
        replace(starts[0], path=root / "tagged.msrun", about=RunNotes(tags=("keep",))),
        replace(starts[0], path=root / "named.msrun", about=RunNotes("keep")),
        replace(starts[0], path=root / "restored.msrun", about=RunNotes(kept=True)),
        replace(starts[0], path=root / "growing.msrun", state="growing"),
        replace(starts[0], path=root / "left.msrun", state="cut off"),
        replace(starts[0], path=root / "studies" / "cell.msrun"),
        replace(starts[0], path=root / "gone.msrun", origin=root / "x.msrun"),
        replace(entry(2), path=root / "other.msrun", size=10_000),
    ]
    chosen = surplus([*others, *starts], plain, 30.0, root)
    assert [one.path.name for one in chosen] == ["2.msrun", "1.msrun"]
    assert surplus(starts, plain, 50.0, root) == ()
    assert surplus(starts, plain, math.nan, root) == ()
    assert len(surplus(starts, plain, 0.0, root)) == 5


def _on(facts: RunSummary, day: int) -> RunSummary:
    return replace(facts, created=f"2026-11-{day:02d}T10:00:00+00:00")
