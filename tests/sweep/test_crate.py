"""RO-Crates: files with true hashes, every reference with its entity, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.runs import open_run
from core.studies.study import load_study
from core.sweep import crate
from tests.support.run_files import record

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("one", "two"):
        record(folder / f"{name}.msrun")
    return folder


def references(value: Any) -> list[str]:
    """Return identifiers that an entity refers to."""
    if isinstance(value, dict):
        if set(value) == {"@id"}:
            return [value["@id"]]
        return [one for part in value.values() for one in references(part)]
    return [one for part in value for one in references(part)] if isinstance(value, list) else []


def test_a_crate_has_its_files_and_what_made_them(runs: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "new" / "crate"
    status, printed, _ = call("crate", runs, "--out", out, "--license", "CC-BY-4.0")
    assert status == 0 and printed == f"{out}\n"
    graph = json.loads((out / crate.METADATA).read_text("utf-8"))["@graph"]
    entities = {one["@id"]: one for one in graph}
    assert len(entities) == len(graph)
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    listed = {name for name, one in entities.items() if one["@type"] == "File"}
    assert files == listed | {crate.METADATA}
    assert {part["@id"] for part in entities["./"]["hasPart"]} == listed
    for name in listed:
        content = (out / name).read_bytes()
        assert entities[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert entities[name]["contentSize"] == str(len(content))
    outside = {crate.SPECIFICATION}
    for one in graph:
        assert set(references([*one.values()])) <= set(entities) | outside
    assert entities["./"]["license"] == "CC-BY-4.0"
    actions = [one for one in graph if one["@type"] == "CreateAction"]
    assert [one["@id"] for one in actions] == ["#train-one", "#train-two"]
    with open_run(runs / "one.msrun") as run:
        (study,) = actions[0]["object"]
        assert load_study(str(out / study["@id"])).cells()[0].experiment == run.experiment
        assert entities[actions[0]["instrument"]["@id"]]["softwareVersion"] == run.program
    (again,) = [tmp_path / "again"]
    assert call("crate", runs, "--out", again, "--license", "CC-BY-4.0")[0] == 0
    for name in files:
        assert (again / name).read_bytes() == (out / name).read_bytes()


def test_what_cannot_be_a_crate_leaves_nothing(
    runs: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    record(other / "one.msrun")
    (tmp_path / "there").mkdir()
    (tmp_path / "empty").mkdir()
    for words, sentence in {
        (runs / "one.msrun", other / "one.msrun"): "Two runs are called one.msrun",
        (runs, other): "Name one folder, or run files.",
        (tmp_path / "empty",): "holds no run files",
        (tmp_path / "gone.msrun",): "gone.msrun",
    }.items():
        status, _, err = call("crate", *words, "--out", tmp_path / "out")
        assert status == 2 and sentence in err, words
    status, _, err = call("crate", runs, "--out", tmp_path / "there")
    assert status == 2 and "there exists; name a new folder" in err

    def refuse(*arguments: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(crate, "save_figure", refuse)
    status, _, err = call("crate", runs, "--out", tmp_path / "out")
    assert status == 1 and "cannot be written (No space left on device)" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "other", "runs", "there"]
