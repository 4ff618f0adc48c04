"""A program killed before each single change that it makes on the disk while it keeps the library.

The next program finds each run once, with its frames and its notes, and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.library.entry import MomentNote
from core.library.index import TRASH
from core.library.run_notes import RunNotes, change_about, notes_file, read_about
from core.library.trash import Trash

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied")
CHANGES = {"os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}
CONTENT, WAL = b"frames", b"the last frames"
KILLED, DONE, FAILED = 9, 0, 1
MOST_CHANGES = 60
NOTES = (MomentNote(1.0, "here"), MomentNote(2.0, "there", "risk", 0.5))


def kill_before(number: int) -> None:
    """End this process, without any clean-up, before its change of this number."""
    left = [number]

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int)
        writes = writes and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if event in CHANGES or writes:
            left[0] -= 1
            if left[0] < 0:
                os._exit(KILLED)

    sys.addaudithook(count)


def run_killed(work: Callable[[], object], number: int) -> int:
    """Do some work in a copy of this process that is killed before a change; its exit status."""
    child = os.fork()
    if not child:
        status = FAILED
        try:
            kill_before(number)
            work()
            status = DONE
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    run = folder / "a.msrun"
    run.write_bytes(CONTENT)
    run.with_name("a.msrun-wal").write_bytes(WAL)
    change_about(run, lambda about: RunNotes(name="first", tags=("old",), moments=NOTES))
    return run


def thrown(root: Path) -> list[Path]:
    return [Path(item.found.path) for item in Trash(root).items()]


def check_whole(run: Path, names: tuple[str, ...]) -> None:
    """Check that a run has all its frames and notes."""
    assert run.read_bytes() == CONTENT
    assert run.with_name("a.msrun-wal").read_bytes() == WAL
    assert read_about(run).name in names
    assert read_about(run).moments in ((), NOTES)
    allowed = {"a.msrun", "a.msrun-wal", "a.msrun.notes", "origin.json", TRASH}
    assert {path.name for path in run.parent.iterdir()} <= allowed


def check_once(root: Path, names: tuple[str, ...] = ("first",)) -> None:
    """Check that a run is in its place or in the trash, not in both, after the next start."""
    Trash(root).complete_moves()
    run, trashed = root / "a.msrun", thrown(root)
    assert len(trashed) + run.exists() == 1
    check_whole(trashed[0] if trashed else run, names)
    assert len(list((root / TRASH).iterdir()) if (root / TRASH).exists() else []) == len(trashed)


def for_each_kill(
    folder: Path, prepare: Callable[[Path], object], work: Callable[[Path], object]
) -> list[Path]:
    """Kill some work before its first change, its second and so on; the folder of each kill."""
    roots = []
    for number in range(MOST_CHANGES):
        root = folder / str(number)
        made(root)
        prepare(root)
        status = run_killed(lambda root=root: work(root), number)
        assert status in (KILLED, DONE)
        roots.append(root)
        if status == DONE:
            return roots
    raise AssertionError("more changes than any work makes")


def throw(root: Path) -> Path:
    return Trash(root).move_to_trash(root / "a.msrun")


def test_throwing_away(tmp_path: Path) -> None:
    roots = for_each_kill(tmp_path, lambda root: None, throw)
    assert len(roots) > 6
    for root in roots:
        check_once(root)
    assert thrown(roots[-1]) and not (roots[-1] / "a.msrun").exists()


def test_restoring(tmp_path: Path) -> None:
    roots = for_each_kill(tmp_path, throw, lambda root: Trash(root).restore(*thrown(root)))
    assert len(roots) > 6
    for root in roots:
        check_once(root)
    assert (roots[-1] / "a.msrun").exists()


def test_removing_for_good(tmp_path: Path) -> None:
    """Half of a run is never listed, and its end is what the next program brings about."""
    roots = for_each_kill(tmp_path, throw, lambda root: Trash(root).purge(*thrown(root)))
    assert len(roots) > 3
    for root in roots[1:]:
        Trash(root).complete_moves()
        assert thrown(root) == [] and not (root / "a.msrun").exists()
        assert list((root / TRASH).iterdir()) == []
    check_once(roots[0])


def rename(root: Path) -> RunNotes:
    return change_about(
        root / "a.msrun", lambda about: replace(about, name="second", note="x", tags=("new",))
    )


def clear(root: Path) -> RunNotes:
    return change_about(root / "a.msrun", lambda about: RunNotes())


@pytest.mark.parametrize(
    ("change", "names"), [(rename, ("first", "second")), (clear, ("first", ""))]
)
def test_names_notes_and_tags(
    tmp_path: Path, change: Callable[[Path], object], names: tuple[str, ...]
) -> None:
    """The notes before, or those after; what is left beside them goes with the next change."""
    for root in for_each_kill(tmp_path, lambda root: None, change):
        before = read_about(root / "a.msrun")
        assert before.name in names
        change_about(root / "a.msrun", lambda about: replace(about, note="later"))
        check_whole(root / "a.msrun", names)
        assert notes_file(root / "a.msrun").exists()


def test_while_another_program_mends(tmp_path: Path) -> None:
    """What a kill has left is mended by a program that is killed itself, and by a third one."""
    roots = for_each_kill(tmp_path, lambda root: None, throw)
    for number, root in enumerate(roots):
        run_killed(Trash(root).complete_moves, number % 4)
        check_once(root)
