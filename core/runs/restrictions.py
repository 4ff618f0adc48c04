"""Restrictions of SQLite for a file that may come from a stranger: what it may do, and how much."""

from __future__ import annotations

import sqlite3

# Just enough for our own statements, as SQLite's authors recommend for untrusted files ("Defense
# Against The Dark Arts").
LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 32,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 32,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 2,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 10_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 16,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
# Not memory-mapped: truncation of a mapped file kills the process by a signal.
PRAGMAS = ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0")
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
ALLOWED_FUNCTIONS = {"count", "length", "typeof"}


def authorise(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Allow SELECT, the reading of columns, and ALLOWED_FUNCTIONS; nothing else.

    Parameters
    ----------
    action : int
        Code of SQLite for what a statement is about to do.
    first, second : str or None
        Objects of the action; `second` is a function's name.
    *_ : str or None
        Database and trigger, unused.

    Returns
    -------
    int
        SQLITE_OK or SQLITE_DENY.
    """
    if action in ALLOWED or (action == sqlite3.SQLITE_FUNCTION and second in ALLOWED_FUNCTIONS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
