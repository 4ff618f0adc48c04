"""An error's fields make the sentences: one for the command line, and one without its options."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import LONGEST, Clause, DiskError, InputError, MarginscopeError, RuleError
from core.files import write_whole
from core.run_files.held_file import CUT, FileLostError, Loss
from core.studies.cell_table import check_table
from core.study_file.validation import build_experiment
from core.sweep.cell import Task
from core.sweep.control import SweepControl
from core.sweep.pools import pool_for

NO_TASKS: list[Task] = []


def too_few_jobs(folder: Path) -> None:
    pool_for(NO_TASKS, 0, None, SweepControl().cell)


def odd_address(folder: Path) -> None:
    pool_for(NO_TASKS, None, "ftp://host:1", SweepControl().cell)


def odd_table(folder: Path) -> None:
    check_table(folder / "x.txt")


def no_folder(folder: Path) -> None:
    (folder / "plain").touch()
    write_whole(folder / "plain" / "x.csv", b"")


@pytest.mark.parametrize(
    ("wrong", "typed", "sentence"),
    [
        (too_few_jobs, "--jobs 0: give 1 or more.", "0: give 1 or more."),
        (
            odd_address,
            "--cluster ftp://host:1: write tcp://HOST:PORT, or tls://HOST:PORT.",
            "ftp://host:1: write tcp://HOST:PORT, or tls://HOST:PORT.",
        ),
        (
            odd_table,
            "--table {0}/x.txt: write a name that ends in .csv, .npz or .parquet.",
            "{0}/x.txt: write a name that ends in .csv, .npz or .parquet.",
        ),
        (
            no_folder,
            "{0}/plain/x.csv cannot be written (File exists); choose another place with --out.",
            "{0}/plain/x.csv cannot be written (File exists); choose another place.",
        ),
    ],
)
def test_options_are_named_at_the_command_line_only(
    tmp_path: Path, wrong: Callable[[Path], None], typed: str, sentence: str
) -> None:
    with pytest.raises(MarginscopeError) as raised:
        wrong(tmp_path)
    assert str(raised.value) == typed.format(tmp_path)
    assert raised.value.sentence == sentence.format(tmp_path)


def test_an_error_from_another_process_has_its_fields() -> None:
    sent = InputError("it is odd", where="x", option="--y", remedy="do", clauses=[Clause("a")])
    come = pickle.loads(pickle.dumps(sent))
    assert (str(come), come.sentence) == ("--y x: it is odd; do.", "x: it is odd; do.")
    assert (type(come), come.clauses) == (InputError, sent.clauses)


def test_errors_with_arguments_of_their_own_leave_a_process() -> None:
    lost = FileLostError("it was cut short", Loss(CUT, of_journal=True), remedy="record it again")
    come = pickle.loads(pickle.dumps(lost))
    assert (type(come), come.loss, str(come)) == (FileLostError, lost.loss, str(lost))
    rule = pickle.loads(pickle.dumps(RuleError("n is too large", keys=("data.n", "data.d"))))
    assert (type(rule), rule.keys, str(rule)) == (RuleError, ("data.n", "data.d"), "n is too large")


def test_sentences_have_an_end() -> None:
    error = DiskError("w" * 10 * LONGEST, remedy="make room")
    for text in (str(error), error.sentence):
        assert len(text) < LONGEST and text.endswith("w; make room.")


@pytest.mark.parametrize(
    ("data", "bound"),
    [
        ({"kind": "two_cones", "alpha": 0.9}, f"equal to {math.sqrt(0.5)}"),
        ({"seed": 10**30}, "equal to 9.22337e+18"),
    ],
)
def test_bounds_are_readable_numbers(data: dict[str, object], bound: str) -> None:
    """Digits after a point were shortened like whole numbers: 0.7.07107e+15."""
    with pytest.raises(InputError) as raised:
        build_experiment({"data": data}, "test")
    assert bound in str(raised.value)
