"""Changes that make a run file hostile: the program refuses each, and so does the viewer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from tests.support.run_changes import (
    NAN,
    SIZE,
    Change,
    X,
    Y,
    array,
    experiment,
    frame,
    meta,
    raw_meta,
)
from tests.support.run_files import tamper

REPLACE = "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?"
META: tuple[Change, ...] = (
    raw_meta("title", "not JSON"),
    raw_meta("title", ""),
    raw_meta("title", "NaN"),
    raw_meta("title", '"\\ud800"'),
    raw_meta("start", '{"rho": Infinity, "step": 0, "log10_time": null}'),
    raw_meta("start", '{"rho": 1e999, "step": 0, "log10_time": null}'),
    raw_meta("planned", "9" * 5000),
    raw_meta("experiment", "[" * 100_000 + "]" * 100_000),
    raw_meta("experiment", '{"a":' * 50_000 + "1" + "}" * 50_000),
    raw_meta("title", '"' + "x" * (9 << 20) + '"'),
    ("UPDATE meta SET value = CAST(x'ff00ff' AS TEXT) WHERE key = 'title'", ()),
    meta("planned", 2001),
    meta("planned", -1),
    meta("planned", True),
    meta("planned", 1.5),
    meta("dtype", "float16"),
    meta("dtype", "object"),
    meta("dtype", "float32"),
    meta("status", "sleeping"),
    meta("reason", "bored"),
    meta("network", "head"),
    meta("temperature_cap", -1.0),
    meta("temperature_cap", "1e5"),
    meta("layout", [["a", [4]], ["V", [4, 4]]]),
    meta("layout", [["V", [4, 3]], ["a", [4]]]),
    meta("layout", []),
    meta("sizes", {"n": 5, "d": 3}),
    meta("sizes", {"n": 5, "d": 3, "m": 5}),
    meta("sizes", {"n": -5, "d": 3, "m": 4}),
    meta("sizes", {"n": 10**30, "d": 3, "m": 4}),
    meta("start", {"rho": 0.0, "step": -1, "log10_time": None}),
    meta("start", {"rho": 0.0, "step": 0, "log10_time": "x"}),
    meta("start", {"rho": 0.0, "step": 0, "log10_time": None, "continues": [1]}),
    experiment(data={"kind": "spiral"}),
    experiment(data={"kind": {"$ref": "x"}}),
    experiment(network={"kind": "__import__"}),
    experiment(loss={"kind": "hinge"}),
    experiment(dynamics={"kind": "newton"}),
    experiment(dynamics={"speed": 3}),
    experiment(surprise={"kind": "x"}),
    experiment(data={"n": 6}),
    experiment(run={"precision": "float32"}),
    experiment(recording={"frames": 10**9}),
    experiment(network={"init": "file", "init_path": "/etc/passwd"}),
    experiment(**{"da\x1b[2Jta": {"x": 1}}),
    meta("experiment", {"data": 3}),
    meta("experiment", []),
)
ARRAYS: tuple[Change, ...] = (
    "DELETE FROM array WHERE name = 'x'",
    "DELETE FROM array WHERE name = 'origin'",
    "UPDATE array SET crc32 = crc32 + 1 WHERE name = 'y'",
    "UPDATE array SET data = x'00' WHERE name = 'x'",
    "UPDATE array SET data = zeroblob(100000000) WHERE name = 'x'",
    "UPDATE array SET name = 'z' WHERE name = 'x'",
    array("x", X, dtype="object"),
    array("x", X, dtype="O"),
    array("x", X, dtype="float16"),
    array("x", X, shape=[3, 5]),
    array("x", X, shape=[15]),
    array("x", X, shape=[10**9, 10**9]),
    array("x", X, shape=[-5, -3]),
    array("x", X, shape=[5, 3.0]),
    array("x", X, shape=[True] * 4),
    array("x", X, shape={"n": 5}),
    array("x", X, shape=[1] * 3000),
    array("x", X, shape=10**400),
    array("x", np.full((5, 3), np.inf)),
    array("y", 0.5 * Y),
    array("origin", NAN),
    array("start", NAN[1:]),
    array("x_test", X),
    array("y_test", Y),
    array("pickle", X),
)
FRAMES: tuple[Change, ...] = (
    "UPDATE frame SET idx = 100 WHERE idx = 5",
    "UPDATE frame SET idx = -1 WHERE idx = 0",
    "UPDATE frame SET idx = 9223372036854775807 WHERE idx = 2",
    "DELETE FROM frame WHERE idx = 2",
    "UPDATE frame SET log10_time = -1.0 WHERE idx = 3",
    "UPDATE frame SET log10_time = 9e999 WHERE idx = 5",
    "UPDATE frame SET log10_time = -9e999 WHERE idx = 5",
    "UPDATE frame SET rho = 9e999 WHERE idx = 5",
    "UPDATE frame SET step = -3 WHERE idx = 5",
    "UPDATE frame SET step = step + 1 WHERE idx = 5",
    "UPDATE frame SET time = time + 1 WHERE idx = 5",
    "UPDATE frame SET time = NULL WHERE idx = 5",
    "UPDATE frame SET rho = rho + 1 WHERE idx = 5",
    "UPDATE frame SET crc32 = crc32 + 1 WHERE idx = 5",
    "UPDATE frame SET parameters = x'00' WHERE idx = 5",
    "UPDATE frame SET parameters = zeroblob(100000000) WHERE idx = 5",
    "UPDATE frame SET parameters = zeroblob(length(parameters)) WHERE idx = 5",
    "UPDATE frame SET dual = zeroblob(40) WHERE idx = 5",
    frame(5, NAN),
    frame(5, np.full(SIZE, np.inf)),
    frame(5, np.zeros(SIZE + 1)),
    frame(5, np.zeros(SIZE, dtype=np.float32)),
    frame(7, np.zeros(SIZE)),
)
EVENTS: tuple[Change, ...] = (
    ("INSERT INTO metric VALUES (1, ?, 1.0)", ("x" * 65,)),
    ("UPDATE event SET payload = 'x'", ()),
    ("UPDATE event SET payload = '[1]'", ()),
    ("UPDATE event SET payload = ?", ('{"a":' * 5000,)),
    ("UPDATE event SET payload = ?", ('"' + "x" * (9 << 20) + '"',)),
)
TYPES: tuple[tuple[str, str], ...] = (
    ("frame", "UPDATE frame SET step = 'x' WHERE idx = 5"),
    ("frame", "UPDATE frame SET step = zeroblob(50000000) WHERE idx = 5"),
    ("frame", "UPDATE frame SET step = 1.5 WHERE idx = 5"),
    ("frame", "UPDATE frame SET time = 'x' WHERE idx = 5"),
    ("frame", "UPDATE frame SET log10_time = zeroblob(8) WHERE idx = 5"),
    ("frame", "UPDATE frame SET rho = NULL WHERE idx = 5"),
    ("frame", "UPDATE frame SET crc32 = 'x' WHERE idx = 5"),
    ("frame", "UPDATE frame SET parameters = NULL WHERE idx = 5"),
    ("frame", f"UPDATE frame SET parameters = '{'x' * 8 * SIZE}' WHERE idx = 5"),
    ("meta", "UPDATE meta SET value = x'31' WHERE key = 'title'"),
    ("meta", "UPDATE meta SET value = 1 WHERE key = 'status'"),
    ("meta", "UPDATE meta SET key = x'31' WHERE key = 'title'"),
    ("array", "UPDATE array SET name = x'31' WHERE name = 'x'"),
    ("array", "UPDATE array SET shape = 5 WHERE name = 'x'"),
    ("array", "UPDATE array SET crc32 = NULL WHERE name = 'x'"),
    ("array", f"UPDATE array SET data = '{'x' * X.nbytes}' WHERE name = 'x'"),
    ("metric", "UPDATE metric SET name = x'31' WHERE idx = 1 AND name = 'stages'"),
    ("event", "UPDATE event SET payload = 1"),
    ("event", "UPDATE event SET kind = x'31'"),
    ("event", "UPDATE event SET frame = 'x'"),
)
SCHEMAS: tuple[Change, ...] = (
    "CREATE VIEW extra AS SELECT * FROM meta",
    "CREATE TRIGGER extra AFTER INSERT ON meta BEGIN DELETE FROM frame; END",
    "CREATE TABLE extra (a)",
    "CREATE INDEX extra ON frame (step)",
    "CREATE VIRTUAL TABLE extra USING fts5(a)",
    "CREATE VIRTUAL TABLE extra USING rtree(a, b, c)",
    "ALTER TABLE frame ADD COLUMN extra TEXT",
    "DROP TABLE event",
    "ANALYZE",
    (REPLACE, ("rho REAL", "rho  REAL", "frame")),
    (REPLACE, ("STRICT", "", "frame")),
    (REPLACE, ("BLOB", "BLOB DEFAULT (randomblob(1000000000))", "frame")),
    (REPLACE, ("CREATE TABLE meta", "CREATE TEMP TABLE meta", "meta")),
    (REPLACE, ("CREATE", "nonsense", "meta")),
    "UPDATE sqlite_schema SET sql = NULL WHERE name = 'frame'",
    "UPDATE sqlite_schema SET name = 'Frame' WHERE name = 'frame'",
    "UPDATE sqlite_schema SET type = 'view', rootpage = 0, "
    "sql = 'CREATE VIEW frame AS SELECT 1' WHERE name = 'frame'",
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
    "WHERE name = 'event') WHERE name = 'frame'",
    "UPDATE sqlite_schema SET rootpage = 100000 WHERE name = 'frame'",
    "DELETE FROM sqlite_schema WHERE name = 'event'",
)


def tamper_loosely(path: Path, table: str, change: str) -> Path:
    """Change a file as if its table had neither types nor constraints."""
    connection = sqlite3.connect(path)
    sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    connection.close()
    loose = sql.replace("STRICT, ", "").replace("STRICT", "").replace("NOT NULL", "")
    for kind in ("INTEGER,", "REAL", "TEXT", "BLOB"):  # types change what is stored
        loose = loose.replace(kind, "," if kind.endswith(",") else "")
    rename = "UPDATE sqlite_schema SET sql = ? WHERE name = ?"
    tamper(path, (rename, (loose, table)))
    return tamper(path, change, (rename, (sql, table)))
