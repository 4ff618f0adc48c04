"""Files stored for the user, checkpoints, and runs that carry code."""

from __future__ import annotations

import io
import json
import math
import random
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, final

import numpy as np

from app.scenes.scene_texts import link_of
from core.errors import MarginscopeError
from core.library.entry import Bookmark, RunNotes, RunSummary
from core.library.index import Row, RunIndex
from core.library.run_notes import change_about, notes_file, read_about
from core.library.trash import ORIGIN, Trash
from core.observables.node_sets import NodeSet
from core.runs import code_of, open_run
from marginscope._record.state_files import open_state
from tests.support.mutations import damaged_bytes, damaged_text
from tests.support.run_changes import experiment
from tests.support.run_files import record, tamper
from tests.tools.fuzz.format import Format, WrongError
from tests.tools.fuzz.texts import SCENE, refused

RUNS = 5


@final
class NotesFile(Format):
    """Name, tags, bookmarks and sets of a run: a file that opens survives writing and reading."""

    name, count = "notes", 400

    def files(self, folder: Path) -> dict[str, bytes]:
        run = folder / "a.msrun"
        run.touch()
        marks = (Bookmark("zero", -math.inf), Bookmark("b", 2.5, link_of(SCENE)))
        sets = (NodeSet("late movers", (1, 2, 3, 9)),)
        about = RunNotes("a name", "a note\nof two lines", ("talk", "x"), True, marks, sets)
        change_about(run, lambda _: about)
        return {"a.msrun.notes": notes_file(run).read_bytes()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_text(data, chance)

    def open(self, path: Path) -> None:
        run = path.with_name("a.msrun")
        run.touch()
        about = read_about(run)
        for mark in about.bookmarks:
            refused(mark.picture)
        other = path.with_name("b.msrun")
        other.touch()
        kept = change_about(other, lambda _: about)
        if read_about(other) != kept:
            raise WrongError("other notes when they are written")


def _facts(number: int) -> RunSummary:
    return RunSummary(
        title=f"Run {number}",
        created="2026-11-02T10:00:00+00:00",
        status="finished",
        reason="completed",
        settings={"network.m": 2**number, "dynamics.step": 0.125},
        results={"hard_margin": 0.0625 * number, "risk": math.nan, "t": math.inf},
        margins={"gamma_gl": 0.08125},
        frames=10 + number,
    )


@final
class LibraryIndex(Format):
    """Index of the library: read or rebuilt; new rows are as stored."""

    name, count = "library", 500

    def files(self, folder: Path) -> dict[str, bytes]:
        path = folder / "library.sqlite"
        index = RunIndex(path)
        about = RunNotes("n", "", ("talk",), bookmarks=(Bookmark("b", 1.5),))
        index.save_rows(
            {
                f"/r/{k}.msrun": Row(f"stamp {k}", _facts(k), f"noted {k}", about)
                for k in range(RUNS)
            }
        )
        index.set_verdicts("/r/1.msrun", {"holds": 3, "violated": 0})
        index.save_picture("/r/1.msrun", bytes(range(64)))
        index.close()
        return {path.name: path.read_bytes()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return (damaged_text if chance.random() < 0.4 else damaged_bytes)(data, chance)

    def open(self, path: Path) -> None:
        index = RunIndex(path)
        try:
            index.load()
            index.picture("/r/1.msrun")
            index.set_verdicts("/r/2.msrun", {"holds": 1})
            index.save_rows({"/r/new.msrun": Row("stamp", _facts(9))})
            index.move("/r/2.msrun", "/r/moved.msrun")
            index.forget(["/r/3.msrun"])
            # NaN is no number that equals itself, and its words do.
            new = index.load().get("/r/new.msrun")
            if not index.messages and repr(new and new.facts) != repr(_facts(9)):
                raise WrongError("other facts of a new row")
        finally:
            index.close()
        assert all(said.endswith(".") for said in index.messages)


@final
class TrashOrigin(Format):
    """Original place of a run in the trash, which is only listed and moves nothing."""

    name, count = "trash", 150

    def files(self, folder: Path) -> dict[str, bytes]:
        fields = {"path": "/runs/a.msrun", "host": "here", "pid": 1234}
        return {ORIGIN: json.dumps(fields).encode()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_text(data, chance)

    def open(self, path: Path) -> None:
        root = path.parent / "runs"
        thrown = root / ".trash" / "2026-11-22T10-00-00-1f2e3d4c"
        thrown.mkdir(parents=True, exist_ok=True)
        (thrown / ORIGIN).write_bytes(path.read_bytes())
        (thrown / "a.msrun").touch()
        for item in Trash(root).items():
            assert item.origin.is_absolute() and item.origin.suffix == ".msrun"


def _state() -> dict[str, np.ndarray[Any, Any]]:
    generator = np.random.default_rng(5)
    return {
        "fc1.weight": generator.standard_normal((6, 4)),
        "fc2.weight": generator.standard_normal((1, 6)).astype(np.float32),
    }


@final
class Checkpoint(Format):
    """Checkpoints of PyTorch and NumPy: refused, or every array is correct."""

    name, count = "checkpoint", 600

    def files(self, folder: Path) -> dict[str, bytes]:
        import torch

        found = {}
        tensors = {name: torch.from_numpy(array) for name, array in _state().items()}
        for name, zipped in (("new.pt", True), ("old.pth", False)):
            buffer = io.BytesIO()
            torch.save(tensors, buffer, _use_new_zipfile_serialization=zipped)
            found[name] = buffer.getvalue()
        for save in (np.savez, np.savez_compressed):
            buffer = io.BytesIO()
            save(buffer, **_state())
            found[f"{save.__name__}.npz"] = buffer.getvalue()
        return found

    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        name = chance.choice([*files])
        make = damaged_text if chance.random() < 0.2 else damaged_bytes
        return {name: make(files[name], chance)}

    def each(self, files: dict[str, bytes]) -> list[str]:
        return [*files]

    def open(self, path: Path) -> None:
        with open_state(path) as state:
            if not isinstance(state, Mapping) or path.name == "old.pth":
                return  # of the old format, which has no checksums; whoever uses it looks at names
            for name, array in _state().items():
                if name in state and not np.array_equal(np.asarray(state[name]), array):
                    raise WrongError(f"another {name}")


@final
class Safetensors(Format):
    """Checkpoints of safetensors: refused, or every array has its shape; no checksums exist."""

    name, count = "safetensors", 300

    def files(self, folder: Path) -> dict[str, bytes]:
        header, values = dict[str, Any](), b""
        for name, array in _state().items():
            place = [len(values), len(values) + array.nbytes]
            kind = f"F{8 * array.itemsize}"
            header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": place}
            values += array.tobytes()
        text = json.dumps(header).encode()
        return {"a.safetensors": struct.pack("<Q", len(text)) + text + values}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        if chance.random() < 0.4:
            return damaged_bytes(data, chance)
        size = int.from_bytes(data[:8], "little")
        header = damaged_text(data[8 : 8 + size], chance)
        return struct.pack("<Q", len(header)) + header + data[8 + size :]

    def open(self, path: Path) -> None:
        with open_state(path) as state:
            for name in state:
                array, shape = state[name], state.float_shape(name)
                if shape is not None and array.shape != shape:
                    raise WrongError(f"another shape of {name}")


CODE = """import torch

def initial(generator, m, d, k):
    return {"V": generator.standard_normal((m, d)), "w": generator.standard_normal(m)}

def outputs(parameters, x):
    return torch.tanh(x @ parameters["V"].T) @ parameters["w"]
"""


@final
class RunWithCode(Format):
    """Stranger's run with code, which never runs, whatever the file says."""

    name, count = "run with code", 300

    def files(self, folder: Path) -> dict[str, bytes]:
        path = record(folder / "a.msrun")
        network = {"kind": "custom", "m": 4, "code": CODE}
        return {path.name: tamper(path, experiment(network=network)).read_bytes()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        if chance.random() < 0.5:
            return damaged_text(data, chance)[: len(data)].ljust(len(data), b"\0")
        return damaged_bytes(data, chance)

    def open(self, path: Path) -> None:
        code = code_of(path)
        if code is not None and code != CODE:
            raise WrongError("other code than that of the run")
        with suppress(MarginscopeError):  # that the code is to be looked at first
            open_run(path).close()
