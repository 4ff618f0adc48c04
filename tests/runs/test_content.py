"""Meta and arrays with content that should not be there: each is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.runs import open_run, run_file
from tests.support.hostile_runs import ARRAYS, META
from tests.support.run_changes import Change, X, array, experiment, meta
from tests.support.run_files import refusal, small_problem, tamper


@pytest.mark.parametrize(
    "key",
    [
        "program",
        "created",
        "engine",
        "dtype",
        "layout",
        "network",
        "sizes",
        "experiment",
        "planned",
        "start",
        "status",
    ],
)
def test_missing_keys(run_path: Path, key: str) -> None:
    assert key in refusal(tamper(run_path, ("DELETE FROM meta WHERE key = ?", (key,))))
    # and of any other type
    tamper(run_path, ("INSERT INTO meta VALUES (?, '[[[3.5]]]')", (key,)))
    assert key in refusal(run_path)


@pytest.mark.parametrize("change", META)
def test_meta(run_path: Path, change: Change) -> None:
    refusal(tamper(run_path, change))


def test_sizes_far_beyond_the_limits(run_path: Path) -> None:
    """Consistent everywhere, but larger than any run may be: refused before memory is asked for."""
    for sizes in ({"n": 5, "d": 10**6, "m": 10**6}, {"n": 10**6, "d": 10**6, "m": 4}):
        m, d = sizes["m"], sizes["d"]
        tamper(
            run_path,
            meta("sizes", sizes),
            meta("layout", [["a", [m]], ["V", [m, d]]]),
            experiment(data={"d": d, "n": sizes["n"]}, network={"m": m}),
        )
        assert "5e+07" in refusal(run_path)


def test_an_experiment_that_names_a_file(run_path: Path) -> None:
    data = {"kind": "file", "path": "/etc/passwd", "n": 5, "d": 3}
    tables = small_problem().experiment.model_dump(mode="json") | {"data": data}
    assert "names a file" in refusal(tamper(run_path, meta("experiment", tables)))


def test_thousands_of_keys(run_path: Path) -> None:
    many = [("INSERT INTO meta VALUES (?, '1')", (f"key{i}",)) for i in range(1000)]
    refusal(tamper(run_path, "BEGIN", *many, "COMMIT"))
    tamper(run_path, "DELETE FROM meta WHERE key LIKE 'key%'", many[0])
    with open_run(run_path) as run:
        assert run.frames == 6


@pytest.mark.parametrize("change", ARRAYS)
def test_arrays(run_path: Path, change: Change) -> None:
    refusal(tamper(run_path, change))


def test_an_array_of_single_precision_is_widened(run_path: Path) -> None:
    tamper(run_path, array("x", X.astype("<f4"), dtype="float32"))
    with open_run(run_path) as run:
        assert np.array_equal(run.dataset.x, X.astype(np.float32).astype(np.float64))


def test_errors_are_cut_to_a_readable_length() -> None:
    assert run_file.short(ValueError("a\n b" * 200)).endswith(" ...")
    assert run_file.short(ValueError("One.")) == "One"
