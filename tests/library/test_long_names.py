"""Runs whose file names have 250 bytes and more, and notes that two programs change at once."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError
from core.library import run_notes
from core.library.entry import RunNotes
from core.library.run_notes import change_about, locked_folder, read_about
from core.library.trash import Trash


def noted(said: RunNotes) -> RunNotes:
    return replace(said, note="mine")


def tagged(said: RunNotes, tag: str) -> RunNotes:
    return replace(said, tags=(*said.tags, tag))


def named(folder: Path, size: int) -> Path:
    """Make an empty file with a name of so many bytes; the trash does not open it."""
    path = folder / ("\N{GREEK SMALL LETTER ALPHA}" * 100 + "x" * (size - 206) + ".msrun")
    assert len(path.name.encode()) == size
    path.touch()
    return path


@pytest.mark.parametrize("size", [249, 250, 251, 255])
def test_a_run_with_a_long_name_is_thrown_away_and_restored(tmp_path: Path, size: int) -> None:
    path, trash = named(tmp_path, size), Trash(tmp_path)
    if size == 249:
        change_about(path, noted)
    else:
        assert read_about(path) == RunNotes()
        with pytest.raises(InputError, match=f"has {size} bytes, but a run with notes.* at most"):
            change_about(path, noted)
    thrown = trash.move_to_trash(path)
    assert thrown.is_file()
    assert not path.exists()
    trash.complete_moves()
    path.touch()  # another one, in the same place
    restored = trash.restore(thrown)
    assert restored.is_file()
    assert restored.name.endswith("x-2.msrun")
    assert len(restored.name.encode()) <= 249
    assert read_about(restored).note == ("mine" if size == 249 else "")
    path.unlink()
    change_about(restored, noted)
    assert trash.restore(trash.move_to_trash(restored)) == restored


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run whose notes two threads may change at once, as two programs do."""
    monkeypatch.setattr(run_notes, "WRITING", nullcontext())
    path = tmp_path / "a.msrun"
    path.touch()
    return path


def test_two_programs_that_change_one_file_of_notes_lose_nothing(run: Path) -> None:
    reading, other = (
        threading.Event(),
        threading.Thread(target=change_about, args=(run, lambda said: tagged(said, "second"))),
    )

    def first(said: RunNotes) -> RunNotes:
        other.start()
        reading.wait(0.05)  # in which the other one would read, and write, without a lock
        return tagged(said, "first")

    change_about(run, first)
    other.join()
    assert read_about(run).tags == ("first", "second")


def test_a_lock_that_is_held_for_long_is_said(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_notes, "WAIT_S", 0.02)
    with locked_folder(run.parent), pytest.raises(InputError, match="Another program has been"):
        change_about(run, noted)
    change_about(run, noted)
    assert read_about(run).note == "mine"


def test_without_locks_notes_are_changed_all_the_same(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(run_notes, "_lock", refuse)
    change_about(run, noted)
    assert read_about(run).note == "mine"
