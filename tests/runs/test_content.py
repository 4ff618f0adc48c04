"""Meta and arrays with content that should not be there: each is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.runs import open_run, run_file
from tests.support.run_changes import NAN, Change, X, Y, array, experiment, meta, raw_meta
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


@pytest.mark.parametrize(
    "change",
    [
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
    ],
)
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


@pytest.mark.parametrize(
    "change",
    [
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
    ],
)
def test_arrays(run_path: Path, change: Change) -> None:
    refusal(tamper(run_path, change))


def test_an_array_of_single_precision_is_widened(run_path: Path) -> None:
    tamper(run_path, array("x", X.astype("<f4"), dtype="float32"))
    with open_run(run_path) as run:
        assert np.array_equal(run.dataset.x, X.astype(np.float32).astype(np.float64))


def test_errors_are_cut_to_a_readable_length() -> None:
    assert run_file.short(ValueError("a\n b" * 200)).endswith(" ...")
    assert run_file.short(ValueError("One.")) == "One"
