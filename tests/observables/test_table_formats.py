"""Tables of runs as tensors and as Parquet, read back by other means."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.observables.table_formats import tensor_bytes
from core.runs import open_run
from tests.support.run_files import record

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    return record(tmp_path / "one.msrun")


def read_tensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return arrays and metadata, by the description of the format alone."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    assert (8 + size) % 8 == 0
    types = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "BOOL": "?"}
    notes = header.pop("__metadata__")
    arrays, end = {}, 0
    for name, one in header.items():
        first, last = one["data_offsets"]
        assert first == end  # no byte is left out or used twice
        end = last
        values = np.frombuffer(content[8 + size + first : 8 + size + last], types[one["dtype"]])
        arrays[name] = values.reshape(one["shape"])
    assert 8 + size + end == len(content)
    return arrays, notes


def test_states_come_back_from_tensors(run_file: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "states.safetensors"
    assert call("table", run_file, "--out", out)[0] == 0
    arrays, notes = read_tensors(out)
    run = ms.open(run_file)
    for name, values in (("V", run.V), ("a", run.a), ("x", run.x), ("y", run.y)):
        assert np.array_equal(arrays[name], values)
    assert np.array_equal(arrays["log10_time"], run.log10_t)
    assert notes["title"] == run.title and json.loads(notes["experiment"])["network"]["m"]
    again = ms.load(out, np.arange(len(run)), run.x, run.y, loss="exponential")
    assert np.array_equal(again.V, run.V) and np.array_equal(again.a, run.a)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.bool_, ">f8"])
def test_arrays_of_every_type_and_of_no_size(tmp_path: Path, dtype: Any) -> None:
    generator = np.random.default_rng(0)
    given = {
        "one": (100 * generator.standard_normal((3, 0, 2))).astype(dtype),
        "two": (100 * generator.standard_normal((4, 5))).astype(dtype).T,
        "three": np.asarray(7.0).astype(dtype),
    }
    path = tmp_path / "x.safetensors"
    path.write_bytes(tensor_bytes(given, {"a note": "\u03b3"}))
    found, notes = read_tensors(path)
    assert notes == {"a note": "\u03b3"}
    for name, values in given.items():
        assert np.array_equal(found[name], values) and found[name].shape == values.shape


def test_parquet_has_the_columns_of_the_csv(
    run_file: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, Any] = {}

    class Table:
        def __init__(self, columns: dict[str, Any]) -> None:
            written["columns"] = columns

        def replace_schema_metadata(self, notes: dict[str, str]) -> Table:
            written["notes"] = notes
            return self

    arrow = ModuleType("pyarrow")
    arrow.table = Table
    parquet = SimpleNamespace(write_table=lambda table, buffer: buffer.write(b"PAR1"))
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    out = tmp_path / "x.parquet"
    assert call("table", run_file, "--out", out, "--columns", "risk,hard_margin")[0] == 0
    assert out.read_bytes() == b"PAR1"
    assert list(written["columns"]) == ["frame", "step", "log10_time", "risk", "hard_margin"]
    with open_run(run_file) as run:
        assert np.array_equal(written["columns"]["log10_time"], run.log10_time[: run.frames])
    assert written["notes"]["program"].startswith("marginscope ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("x.txt",), "must end in .npz, .csv, .parquet or .safetensors"),
        (("x.parquet", "--parameters"), "a .parquet file holds scalars only; write an .npz"),
        (("x.safetensors", "--columns", "risk"), "holds data and parameters only; leave the"),
        (("x.parquet",), "Parquet needs pyarrow (pip install pyarrow)"),
    ],
)
def test_what_cannot_be_written_is_refused(
    run_file: Path,
    tmp_path: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    name, *more = words
    status, _, err = call("table", run_file, "--out", tmp_path / name, *more)
    assert status == 2 and sentence in err
    assert not (tmp_path / name).exists()
