"""The trash: thrown away, restored, purged, and killed in the middle."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError
from core.library.entry import Entry
from core.library.library import Library
from core.library.run_notes import change_about, notes_file, read_about
from core.library.trash import ORIGIN, Trash
from core.runs import open_run
from tests.support.made_up_library import library_of
from tests.support.run_files import crash, record


def with_note(run: Path) -> Path:
    change_about(run, lambda about: replace(about, note="mine"))
    return run


def only(library: Library) -> Entry:
    (one,) = library.refresh().entries
    return one


def test_a_run_goes_into_the_trash_and_comes_back_with_its_notes(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = with_note(record(library.root / "a.msrun"))
    content = path.read_bytes()
    before = only(library)
    library.move_to_trash(before)
    thrown = only(library)
    assert (thrown.is_trashed, thrown.origin, thrown.about.note) == (True, path, "mine")
    assert thrown.facts == before.facts
    assert [one.name for one in library.root.iterdir()] == [".trash"]
    listing = library.refresh()
    assert (listing.total(trashed=False), listing.total(trashed=True)) == (0, len(content))
    assert library.restore(thrown) == path
    assert path.read_bytes() == content
    restored = only(library)
    assert (restored.is_trashed, restored.about.note, restored.about.kept) == (False, "mine", True)
    assert not any((library.root / ".trash").iterdir())
    library.close()


def test_a_run_that_a_crash_has_left_takes_its_last_frames_along(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = crash(library.root / "a.msrun")
    for suffix in ("", "-wal"):
        os.utime(f"{path}{suffix}", (1.7e9, 1.7e9))
    library.move_to_trash(only(library))
    thrown = only(library)
    with open_run(thrown.path) as run:
        assert run.frames == 6
    library.restore(thrown)
    with open_run(path) as run:
        assert run.frames == 6
    library.close()


def test_nothing_is_restored_over_what_is_there(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = with_note(record(library.root / "a.msrun", count=3))
    library.move_to_trash(only(library))
    new = record(path, count=5).read_bytes()
    thrown = next(one for one in library.refresh().entries if one.is_trashed)
    target = library.restore(thrown)
    assert target.name == "a-2.msrun"
    assert path.read_bytes() == new
    assert not notes_file(path).exists()
    assert read_about(target).note == "mine"
    with open_run(target) as run:
        assert run.frames == 3
    library.close()


def test_purging_frees_the_disk_and_is_for_the_trash_only(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = with_note(record(library.root / "a.msrun"))
    with pytest.raises(InputError, match="no longer in the trash"):
        library.purge(only(library))
    assert path.exists()
    library.move_to_trash(only(library))
    library.purge(only(library))
    assert library.refresh().entries == ()
    assert [one for one in library.root.rglob("*") if one.is_file()] == []
    library.close()


def test_what_is_gone_meanwhile_is_a_sentence(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = record(library.root / "a.msrun")
    listed = only(library)
    path.unlink()
    with pytest.raises(InputError, match="no longer exists"):
        library.move_to_trash(listed)
    record(path)
    library.move_to_trash(only(library))
    thrown = only(library)
    shutil.rmtree(thrown.path.parent)
    for act in (library.restore, library.purge):
        with pytest.raises(InputError, match="no longer in the trash"):
            act(thrown)
    assert library.refresh().entries == ()
    library.close()


def test_a_trash_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    path = with_note(record(library.root / "a.msrun"))
    (library.root / ".trash").touch()
    with pytest.raises(InputError, match="cannot be moved"):
        library.move_to_trash(only(library))
    assert path.exists()
    assert read_about(path).note == "mine"
    library.close()


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "{",
        "[]",
        '{"path": "a.msrun"}',
        '{"path": "/a.txt", "host": "h", "pid": 1}',
        '{"path": 3, "host": "h", "pid": 1}',
        '{"path": "/a.msrun", "host": "h", "pid": "x"}',
        '{"path": "/a.msrun", "host": "h", "pid": 1e999}',
    ],
)
def test_folders_of_others_in_the_trash_are_left_alone(tmp_path: Path, origin: str) -> None:
    library = library_of(tmp_path)
    folder = library.root / ".trash" / "mine"
    folder.mkdir(parents=True)
    (folder / ORIGIN).write_text(origin)
    path = record(folder / "a.msrun")
    assert library.refresh().entries == ()
    assert path.exists()
    library.close()


# One process starts another for each line that it reads, and prints how that ended. Each of them is
# killed after so many of the calls named below: those that change the disk.
KILLED = """
import json, os, signal, sys
from pathlib import Path
from core.library.trash import Trash

left = 0

def counted(name):
    done = getattr(Path, name)
    def call(self, *arguments, **options):
        global left
        result = done(self, *arguments, **options)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(Path, name, call)

for name in ("rename", "replace", "unlink", "hardlink_to", "mkdir", "rmdir"):
    counted(name)
for line in sys.stdin:
    root, act, left, run = json.loads(line)
    child = os.fork()
    if not child:
        getattr(Trash(Path(root)), act)(Path(run))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def killer() -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.stdin.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("act", ["move_to_trash", "restore"])
def test_killed_at_any_moment_nothing_is_lost(
    tmp_path: Path, act: str, killer: subprocess.Popen[str]
) -> None:
    template = tmp_path / "template"
    path = with_note(crash(_made(template) / "a.msrun"))
    expected = {p.name: p.read_bytes() for p in template.iterdir()}
    assert set(expected) == {"a.msrun", "a.msrun-wal", "a.msrun.notes"}
    assert path.exists()
    moments = 0
    for moment in range(1, 40):
        root = tmp_path / f"runs-{moment}"
        shutil.copytree(template, root)
        run = root / "a.msrun"
        if act == "restore":
            run = Trash(root).move_to_trash(run)
        assert killer.stdin is not None and killer.stdout is not None
        print(json.dumps([str(root), act, moment, str(run)]), file=killer.stdin, flush=True)
        ended = int(killer.stdout.readline())
        trash = Trash(root)
        trash.complete_moves()
        items = trash.items()
        home = Path(items[0].found.path).parent if items else root
        found = {p.name: p.read_bytes() for p in home.iterdir() if p.is_file()}
        found.pop(ORIGIN, None)
        assert found == expected, (moment, sorted(found))
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        moments += 1
    assert moments >= 4


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_what_another_program_is_moving_is_not_mended(tmp_path: Path) -> None:
    root = _made(tmp_path / "runs")
    run = with_note(record(root / "a.msrun"))
    thrown = Trash(root).move_to_trash(run)
    notes_file(thrown).replace(notes_file(run))  # as between two steps of another program
    origin = json.loads((thrown.parent / ORIGIN).read_text())
    (thrown.parent / ORIGIN).write_text(json.dumps(origin | {"pid": os.getppid()}))
    Trash(root).complete_moves()
    assert notes_file(run).exists()
    (thrown.parent / ORIGIN).write_text(json.dumps(origin))
    Trash(root).complete_moves()
    assert not notes_file(run).exists()
    assert notes_file(thrown).exists()
