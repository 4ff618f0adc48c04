"""Files that are not run files, or pretend to be: each is refused with one sentence."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import RunFileError
from core.run_files.schema import APPLICATION_ID, TABLES, expected_schema
from core.runs import connection as connection_module
from core.runs import open_run
from core.settings import MAX_FRAMES
from tests.support.hostile_runs import SCHEMAS
from tests.support.run_files import (
    content,
    crash,
    read_all,
    record,
    refusal,
    small_problem,
    tamper,
)

# ------------------------------------------------------------------------------ not a run file


def test_what_is_not_there(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "a.msrun")
    assert "is a folder" in refusal(tmp_path)
    with pytest.raises(RunFileError, match="cannot be opened"):
        open_run("a\0b")
    with pytest.raises(RunFileError, match=r"cannot be opened|does not exist"):
        open_run(tmp_path / ("x" * 300))


def test_loops_of_links_and_pipes(tmp_path: Path) -> None:
    loop = tmp_path / "loop.msrun"
    loop.symlink_to(loop)
    assert "loop.msrun" in refusal(loop)
    pipe = tmp_path / "pipe.msrun"
    os.mkfifo(pipe)
    with pytest.raises(RunFileError, match="not a regular file"):
        open_run(pipe)


def test_a_pipe_beside_the_file(run_path: Path) -> None:
    os.mkfifo(f"{run_path}-wal")
    with pytest.raises(RunFileError, match=r"a\.msrun-wal next to it is not a regular file"):
        open_run(run_path)


@pytest.mark.parametrize(
    "data", [b"", b"SQLite format 3\0", b"title = 'x'\n" * 500, b"\0" * 9000, b"PK\3\4" * 4000]
)
def test_other_files(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.msrun"
    path.write_bytes(data)
    refusal(path)


def test_a_file_that_a_kill_has_left_empty_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "a.msrun").touch()
    assert "is empty: its recording ended before the first frame" in refusal(tmp_path / "a.msrun")


def test_a_link_to_a_run_is_followed(run_path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.msrun"
    link.symlink_to(run_path)
    assert read_all(link) == 6


def test_a_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    tamper(path, "CREATE TABLE meta (key, value)")
    assert "database of another program" in refusal(path)


# ------------------------------------------------------------------------------ header, schema


def test_versions(run_path: Path) -> None:
    tamper(run_path, "PRAGMA user_version=2")
    text = refusal(run_path)
    assert "newer version" in text
    assert "update the program" in text
    for version in (0, -1):
        assert "run format" in refusal(tamper(run_path, f"PRAGMA user_version={version}"))
    tamper(run_path, f"PRAGMA application_id={APPLICATION_ID + 1}")
    assert "another program" in refusal(run_path)


@pytest.mark.parametrize("statement", SCHEMAS)
def test_any_other_schema(run_path: Path, statement: str | tuple[str, tuple[object, ...]]) -> None:
    refusal(tamper(run_path, statement))


def test_a_schema_that_unfolds_without_end(run_path: Path) -> None:
    views = ["CREATE VIEW v0 AS SELECT 1 AS a UNION ALL SELECT 2"]
    views += [f"CREATE VIEW v{i} AS SELECT * FROM v{i - 1}, v{i - 1}" for i in range(1, 9)]
    refusal(tamper(run_path, *views))


def test_thousands_of_tables(run_path: Path) -> None:
    refusal(tamper(run_path, "BEGIN", *(f"CREATE TABLE t{i} (a)" for i in range(1000)), "COMMIT"))


def test_the_schema_is_that_of_the_decision_page() -> None:
    tables = {row[3] for row in expected_schema(1) if row[0] == "table"}
    assert tables == set(TABLES)
    with pytest.raises(KeyError):
        expected_schema(2)


# ------------------------------------------------------------------------------ bounded work


def test_only_select_is_let_through(run_path: Path) -> None:
    connection = connection_module.connect(run_path)
    try:
        for sql in (
            "DELETE FROM frame",
            "UPDATE meta SET value = '1'",
            "CREATE TEMP TABLE extra (a)",
            "ATTACH ':memory:' AS other",
            "PRAGMA query_only=OFF",
            "SELECT load_extension('x')",
            "SELECT randomblob(10)",
            "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c",
        ):
            with pytest.raises(RunFileError):
                list(connection.query(sql))
    finally:
        connection.close()


def test_work_is_bounded(run_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "MAX_TICKS", 3)
    connection = connection_module.connect(run_path)
    product = ", ".join(f"frame f{i}" for i in range(9))
    try:
        with pytest.raises(RunFileError, match="longer than for any run file"):
            list(connection.query(f"SELECT f0.idx FROM {product} WHERE f0.idx + f8.idx < 0"))
        assert list(connection.query("SELECT idx FROM frame WHERE idx = 1")) == [(1,)]
    finally:
        connection.close()


def test_the_longest_run_is_within_bounds(tmp_path: Path) -> None:
    path = record(tmp_path / "a.msrun", count=MAX_FRAMES)
    with open_run(path) as run:
        assert run.frames == MAX_FRAMES


def test_a_file_locked_by_another_program(run_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another process: in this one, a look at the file's header takes SQLite's locks away."""
    monkeypatch.setattr(connection_module, "WAIT_S", 0.05)
    code = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN EXCLUSIVE")
print(flush=True)
input()
"""
    command = [sys.executable, "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*command, str(run_path)], **pipes) as other:
        assert other.stdout is not None and other.stdin is not None
        other.stdout.readline()
        with pytest.raises(RunFileError, match="locked by another program"):
            open_run(run_path)
        other.stdin.write(b"\n")


def test_a_file_replaced_while_it_is_open(tmp_path: Path) -> None:
    path = crash(tmp_path / "a.msrun")
    with open_run(path) as run:
        shutil.copy(path, tmp_path / "new")
        (tmp_path / "new").replace(path)
        with pytest.raises(RunFileError, match="replaced"):
            run.refresh()


# ---------------------------------------------------------------------- what lies beside a file


@pytest.mark.parametrize("data", [b"", b"garbage" * 5000, b"\x37\x7f\x06\x82" + b"\xff" * 20000])
def test_garbage_as_wal_is_passed_over(run_path: Path, tmp_path: Path, data: bytes) -> None:
    for wal_mode in (False, True):
        if wal_mode:
            changed = bytearray(run_path.read_bytes())
            changed[18:20] = b"\2\2"
            run_path.write_bytes(changed)
        Path(f"{run_path}-wal").write_bytes(data)
        before = content(tmp_path)
        assert read_all(run_path) == 6
        assert content(tmp_path) == before


def foreign_wal(folder: Path, statement: str, page_size: int = 8192) -> bytes:
    folder.mkdir()
    connection = sqlite3.connect(folder / "other", isolation_level=None)
    for sql in (f"PRAGMA page_size={page_size}", "PRAGMA journal_mode=WAL", *TABLES, statement):
        connection.execute(sql)
    data = (folder / "other-wal").read_bytes()
    connection.close()
    return data


@pytest.mark.parametrize("page_size", [512, 8192, 65536])
def test_a_wal_of_another_database(tmp_path: Path, page_size: int) -> None:
    path = crash(tmp_path / "a.msrun")
    data = foreign_wal(tmp_path / "other", "CREATE VIEW v AS SELECT 1", page_size)
    shutil.rmtree(tmp_path / "other")
    Path(f"{path}-wal").write_bytes(data)
    refusal(path)


def test_a_wal_that_adds_a_view(tmp_path: Path) -> None:
    path = crash(tmp_path / "a.msrun")
    copy = tmp_path / "copy" / "a.msrun"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute("CREATE VIEW v AS SELECT * FROM frame")
    shutil.copy(f"{copy}-wal", f"{path}-wal")
    connection.close()
    shutil.rmtree(copy.parent)
    assert "tables are not exactly" in refusal(path)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_wal_cut_off_loses_only_its_end(tmp_path: Path, part: float) -> None:
    path = crash(tmp_path / "a.msrun", small_problem(), count=40)
    wal = Path(f"{path}-wal")
    data = wal.read_bytes()
    wal.write_bytes(data[: int(part * len(data))])
    before = content(tmp_path)
    assert 0 <= read_all(path) <= 32
    assert content(tmp_path) == before


def test_a_journal_of_another_program(run_path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(run_path, copy)
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute("PRAGMA cache_spill=ON")
    connection.execute("PRAGMA cache_size=1")
    connection.execute("BEGIN")
    connection.execute("UPDATE frame SET rho = rho + 1")
    journal = (tmp_path / "copy.db-journal").read_bytes()
    connection.execute("ROLLBACK")
    connection.close()
    copy.unlink()
    assert journal
    Path(f"{run_path}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + journal[8:])
    assert "journal of another program" in refusal(run_path)
