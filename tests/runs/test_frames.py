"""Frames, metrics and events with content that should not be there: each is refused."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from core.runs import open_run
from tests.support.hostile_runs import EVENTS, FRAMES, TYPES, tamper_loosely
from tests.support.run_changes import SIZE, Change, X, array, frame, meta
from tests.support.run_files import FLOAT32, frame_of, record, refusal, small_problem, tamper


@pytest.mark.parametrize("change", FRAMES)
def test_frames(run_path: Path, change: Change) -> None:
    refusal(tamper(run_path, change))


def test_frames_may_be_replaced_by_valid_ones(run_path: Path) -> None:
    """The statements above fail for what they change, not for how they are written."""
    tamper(run_path, frame(5, np.ones(SIZE)), frame(6, np.ones(SIZE)), array("x", -X))
    with open_run(run_path) as run:
        assert run.frames == 7
        assert (run.parameters(5) == 1.0).all()


def test_more_frames_than_a_run_has(run_path: Path) -> None:
    values = np.ones(SIZE)
    more = [frame(index, values, log10_time=float(index)) for index in range(6, 2000)]
    tamper(run_path, "BEGIN", *more, "COMMIT")
    with open_run(run_path) as run:
        assert run.frames == 2000
    tamper(run_path, frame(2000, values, log10_time=2000.0))
    assert "1999" in refusal(run_path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE frame SET dual = zeroblob(41) WHERE idx = 5",
        "UPDATE frame SET dual = zeroblob(40) WHERE idx = 5",
        "UPDATE frame SET dual = NULL WHERE idx = 5",
        "UPDATE frame SET parameters = zeroblob(128) WHERE idx = 5",
    ],
)
def test_frames_of_single_precision(tmp_path: Path, change: str) -> None:
    path = record(tmp_path / "a.msrun", small_problem(settings=FLOAT32))
    refusal(tamper(path, change))


@pytest.mark.parametrize("change", EVENTS)
def test_metrics_and_events(run_path: Path, change: Change) -> None:
    refusal(tamper(run_path, change))


def test_thousands_of_metrics(run_path: Path) -> None:
    many = [("INSERT INTO metric VALUES (1, ?, 1.0)", (f"m{i}",)) for i in range(1000)]
    assert "diagnostics of frame 1" in refusal(tamper(run_path, "BEGIN", *many, "COMMIT"))


def test_text_does_not_steer_a_terminal(run_path: Path) -> None:
    tamper(run_path, meta("title", "a\x1b]0;b\x07"), meta("engine", "\x9b2J"))
    tamper(run_path, ("UPDATE event SET kind = ?", ("\x1b[2J",)))
    with open_run(run_path) as run:
        assert run.title == "a ]0;b "
        assert run.engine == " 2J"
        assert run.events()[0][1] == " [2J"


def test_a_nan_where_a_number_must_be(run_path: Path) -> None:
    data = bytearray(run_path.read_bytes())
    place = data.rfind(struct.pack(">d", frame_of(small_problem(), 5).rho))
    assert place > 0
    data[place : place + 8] = struct.pack(">Q", 0x7FF8000000000001)  # NaN, which SQLite calls NULL
    run_path.write_bytes(data)
    assert "frame 5 has a step or rho" in refusal(run_path)


@pytest.mark.parametrize(("table", "change"), TYPES)
def test_types_that_the_tables_forbid(run_path: Path, table: str, change: str) -> None:
    """STRICT and NOT NULL hold while SQLite writes; a page may have been written without them."""
    refusal(tamper_loosely(run_path, table, change))
