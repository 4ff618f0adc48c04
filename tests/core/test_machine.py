"""Whose unfinished files may be removed: machines, containers with one host name, and locks."""

from __future__ import annotations

import errno
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest

import marginscope as ms
from core import files
from core.errors import DiskError
from core.files import open_beside, remove_left, replace_file, temporary_folder, write_whole
from core.library.trash import Trash
from core.run_files import active_recorders
from core.run_files.active_recorders import WriterLock, is_locked, machine_name
from core.runs import connection
from core.runs.changing_files import retry_while_changing
from core.studies.study import parse_study
from core.sweep import cell
from core.sweep.plan import plan
from tests.core.test_stopping import dead
from tests.support.foreign_loop import LoopProcess
from tests.support.loops import loop
from tests.support.small_studies import QUICK

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has containers")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of folders")
ROOT = Path(__file__).resolve().parents[2]
IN_CONTAINER = """
import sys
from pathlib import Path
from core.files import write_whole
write_whole(Path(sys.argv[1]), b"1")
"""


@pytest.fixture
def other_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a container on this machine, with the same host name."""
    link = tmp_path / "namespace"
    link.symlink_to("pid:[1]")
    with monkeypatch.context() as patched:
        patched.setattr(active_recorders, "NAMESPACE", link)
        name = machine_name()
    link.unlink()
    return name


@linux
def test_containers_with_one_host_name_have_two_names(other_container: str) -> None:
    assert other_container != machine_name()
    assert other_container.rpartition("-")[0] == machine_name().rpartition("-")[0]


@linux
def test_a_process_of_another_container_is_not_called_dead(
    other_container: str, tmp_path: Path
) -> None:
    gone = dead()
    file = tmp_path / f".a.pdf.{other_container}-{gone}-01234567.part.pdf"
    folder = tmp_path / f"marginscope-cell-{other_container}-{gone}-abcdefgh"
    file.touch()
    folder.mkdir()
    remove_left(tmp_path)
    remove_left(tmp_path, files.FOLDER)
    assert file.exists() and folder.exists()
    old = time.time() - 2 * files.DAY
    os.utime(file, (old, old))
    os.utime(folder, (old, old))
    remove_left(tmp_path)
    remove_left(tmp_path, files.FOLDER)
    assert not file.exists() and not folder.exists()


@linux
@pytest.mark.skipif(
    shutil.which("unshare") is None or os.geteuid() != 0, reason="containers need root here"
)
def test_a_real_container_leaves_the_files_of_this_process(tmp_path: Path) -> None:
    with open_beside(tmp_path / "a.csv") as (ours, descriptor):
        os.close(descriptor)
        other = tmp_path / re.sub(rf"-{os.getpid()}-", f"-{dead()}-", ours.name)
        other.touch()  # of a process that ends in this container, and has no lock
        command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", IN_CONTAINER]
        subprocess.run([*command, str(tmp_path / "b.csv")], cwd=ROOT, check=True, timeout=60)
        assert ours.exists() and other.exists()
        write_whole(tmp_path / "c.csv", b"1")
        assert ours.exists() and not other.exists()


@posix
def test_what_is_locked_is_never_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    old = time.time() - 2 * files.DAY
    with open_beside(tmp_path / "a.csv") as (ours, descriptor), temporary_folder("cell") as folder:
        os.close(descriptor)
        for made, kind in ((ours, files.LEFT), (folder, files.FOLDER)):
            for name in (machine_name(), "elsewhere"):  # as a dead process, and as one long silent
                renamed = made.with_name(
                    made.name.replace(f"{machine_name()}-{os.getpid()}", f"{name}-{dead()}")
                )
                made.rename(renamed)
                os.utime(renamed, (old, old))
                remove_left(tmp_path, kind)
                assert renamed.exists()
                renamed.rename(made)
    assert list(tmp_path.iterdir()) == []


def test_host_names_with_dots_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active_recorders.socket, "gethostname", lambda: "node-7.example.site")
    with open_beside(tmp_path / "a.b.pdf") as (ours, descriptor):
        os.close(descriptor)
        left = tmp_path / ours.name.replace(f"-{os.getpid()}-", f"-{dead()}-")
        left.touch()
        remove_left(tmp_path)
        assert ours.exists() and not left.exists()


def test_what_is_left_is_known_by_any_suffix(tmp_path: Path) -> None:
    for name in ("a.msrun", "a.json-1", "a.json~", "a.b c", "a.\u00e9", "a", "a.tar.gz"):
        with open_beside(tmp_path / name) as (ours, descriptor):
            os.close(descriptor)
            left = tmp_path / ours.name.replace(f"-{os.getpid()}-", f"-{dead()}-")
            left.touch()
            remove_left(tmp_path)
            assert ours.exists() and not left.exists(), name


def test_copies_of_killed_readers_go_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with LoopProcess(tmp_path / "a.msrun") as other:
        copied = partial(connection._connected_to_copy, other.path, other.path)
        first = retry_while_changing(
            other.path, copied
        )  # the recorder may still be writing its first lines
        (ours,) = temporary.iterdir()
        left = temporary / ours.name.replace(f"-{os.getpid()}-", f"-{dead()}-")
        left.mkdir()
        second = retry_while_changing(other.path, copied)
        assert ours.exists() and not left.exists()
        for one in (first, second):
            one.close()
        assert list(temporary.iterdir()) == []


def test_long_names_of_any_letters_can_be_written(tmp_path: Path) -> None:
    for name in ("\u00e9" * 120 + ".csv", "\u65e5" * 80 + ".csv", "a." + "\U0001f600" * 60):
        write_whole(tmp_path / name, b"1")
        assert (tmp_path / name).read_bytes() == b"1"


# ------------------------------------------------------------------------------------- locks


@posix
def test_a_lock_ends_with_its_release_and_not_with_a_copy_of_the_process(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert not is_locked(path)
    path.touch()
    lock = WriterLock(path)
    assert is_locked(path)
    child = os.fork()
    if not child:
        lock.release()
        os._exit(0)
    os.waitpid(child, 0)
    assert is_locked(path)
    lock.release()
    lock.release()
    assert not is_locked(path)


@linux
def test_what_another_container_records_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, locks = loop(), tmp_path / "locks"
    locks.touch()  # which lists no locks of other containers
    monkeypatch.setattr(active_recorders, "LOCKS", locks)
    with LoopProcess(tmp_path / "a.msrun") as other:
        assert active_recorders.held_elsewhere(other.path) is True
        with pytest.raises(ms.InputError, match=r"a\.msrun is being recorded; wait"):
            ms.record(other.path, one.x, one.y, loss="logistic", V0=one.V, a0=one.a, overwrite=True)
        other.frames(2)
        other.stop()
        assert active_recorders.held_elsewhere(other.path) is False
        assert len(ms.open(other.path)) == 3


# ------------------------------------------------------------------------- cells and the trash


def test_a_cell_that_is_moved_is_no_cell_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = tmp_path / "local.msrun"
    local.write_bytes(b"run")
    folder, seen = tmp_path / "shared", []

    def copy(source: BinaryIO, target: BinaryIO, _: int) -> None:
        seen.extend(path.name for path in folder.iterdir())
        target.write(source.read())

    monkeypatch.setattr(cell.shutil, "copyfileobj", copy)
    cell.publish(local, folder / "a.msrun")
    assert (folder / "a.msrun").read_bytes() == b"run"
    (name,) = seen
    assert files.LEFT.fullmatch(name)  # so that it is removed where its worker is killed
    assert not name.endswith(".msrun")


def test_a_staged_cell_names_its_worker_on_systems_without_uname(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Windows is; the row had no machine there."""
    for name in ("uname", "nice", "sched_getaffinity", "getloadavg"):
        monkeypatch.delattr(os, name, raising=False)
    (task,) = plan(parse_study(QUICK, "a"), tmp_path, shared=True).tasks[:1]
    assert task.stage
    row = cell.run_cell(task)
    assert (row.state, row.worker) == ("done", f"{socket.gethostname()}:{os.getpid()}")
    assert [path.name for path in tmp_path.iterdir()] == [Path(task.path).name]


def test_a_full_disk_of_the_shared_folder_ends_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "local.msrun").write_bytes(b"run")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cell.shutil, "copyfileobj", refuse)
    with pytest.raises(DiskError, match=r"a\.msrun was not written; free some space"):
        cell.publish(tmp_path / "local.msrun", tmp_path / "shared" / "a.msrun")
    assert list((tmp_path / "shared").iterdir()) == []


@linux
def test_the_trash_leaves_what_another_container_is_moving(
    other_container: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "a.msrun"
    run.touch()
    (tmp_path / "a.msrun.notes").touch()
    trash = Trash(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("core.library.trash.machine_name", lambda: other_container)
        patched.setattr(Trash, "_gather", lambda *_: None)  # which is still to be done there
        thrown = trash.move_to_trash(run)
    trash.complete_moves()
    assert [path.name for path in thrown.parent.iterdir() if path.name != "origin.json"] == [
        "a.msrun"
    ]


def test_replacing_keeps_the_old_file_where_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    path.write_bytes(b"old")
    with (
        pytest.raises(ZeroDivisionError),
        replace_file(path, path.with_suffix(".cell")) as (_, file),
    ):
        file.write(b"new")
        raise ZeroDivisionError
    assert [one.name for one in tmp_path.iterdir()] == ["a.msrun"]
    assert path.read_bytes() == b"old"
