"""The formats: what a whole file is like, how it is damaged, and how the program opens it."""

from __future__ import annotations

import csv
import gzip
import io
import pickle
import random
import struct
from functools import cache
from pathlib import Path
from typing import final

import numpy as np

from core.data.files import FileSource
from core.data.image_files import IMAGES, LABELS, read_cifar, read_mnist
from core.data.images import Choice, ImageFiles
from core.runs import code_of, open_run
from core.studies.cell_table import Row
from core.studies.code import codes_of
from core.studies.study import parse_study, shipped_ids
from core.sweep.plan import Ledger, ledger_rows, read_ledger
from tests.support.mutations import damaged_bytes, damaged_text
from tests.support.run_files import crash, frame_of, record, small_problem
from tests.tools.fuzz.format import Format, WrongError
from tests.tools.fuzz.texts import (
    FormulaText,
    LinkText,
    PastedPoints,
    SearchText,
    SessionFile,
    ViewFile,
)
from tests.tools.fuzz.user_files import (
    Checkpoint,
    LibraryIndex,
    NotesFile,
    RunWithCode,
    Safetensors,
    TrashOrigin,
)

FRAMES = 24
CHOICE = Choice((0, 1), 2, "unit_max")


@cache
def reference(index: int) -> bytes:
    return frame_of(small_problem(), index).parameters.tobytes()


@final
class FinishedRun(Format):
    """A finished run file: refused, or every frame is what it was."""

    name, count = "run file", 1200

    def files(self, folder: Path) -> dict[str, bytes]:
        return {"a.msrun": record(folder / "a.msrun", count=FRAMES).read_bytes()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        pages = len(data) // 8192
        if chance.random() < 0.25:  # pages that change places
            first, second = (8192 * page for page in chance.sample(range(pages), 2))
            changed = bytearray(data)
            changed[first : first + 8192] = data[second : second + 8192]
            if chance.random() < 0.7:
                changed[second : second + 8192] = data[first : first + 8192]
            return bytes(changed)
        if chance.random() < 0.2:  # the texts in it
            return damaged_text(data, chance)[: len(data)].ljust(len(data), b"\0")
        return super().damage(data, chance)

    def open(self, path: Path) -> None:
        code_of(path)
        with open_run(path) as run:
            for index in range(run.frames):
                if run.parameters(index).tobytes() != reference(index):
                    raise WrongError(f"frame {index}")
                run.diagnostics(index)
            run.events()
            assert run.problem.network.m == run.experiment.network.m
            if run.status == "finished" and run.frames < FRAMES:
                raise WrongError(f"{run.frames} of {FRAMES} frames")


@final
class CrashedRun(Format):
    """A run that a crash left, with the `-wal` beside it: refused, or a part of its frames."""

    name, count = "run file with -wal", 900

    def files(self, folder: Path) -> dict[str, bytes]:
        path = crash(folder / "a.msrun", count=FRAMES)
        other = crash(folder / "b.msrun", count=5)
        self.foreign = Path(f"{other}-wal").read_bytes()
        return {"a.msrun": path.read_bytes(), "a.msrun-wal": Path(f"{path}-wal").read_bytes()}

    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        if chance.random() < 0.1:
            mixed = files["a.msrun-wal"], self.foreign
            cut = chance.randrange(len(self.foreign))
            parts = (self.foreign, mixed[0][:cut] + mixed[1][cut:], mixed[1][:cut] + mixed[0][cut:])
            return files | {"a.msrun-wal": chance.choice(parts)}
        return super().damaged(files, chance)

    def open(self, path: Path) -> None:
        with open_run(path) as run:
            for index in range(run.frames):
                if run.parameters(index).tobytes() != reference(index):
                    raise WrongError(f"frame {index}")
                run.diagnostics(index)
            run.events()


@final
class StudyFile(Format):
    name, count = "study", 900

    def files(self, folder: Path) -> dict[str, bytes]:
        studies = Path(__file__).resolve().parents[3] / "resources" / "studies"
        return {f"{name}.toml": (studies / f"{name}.toml").read_bytes() for name in shipped_ids()}

    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        return {"mine.toml": damaged_text(files[chance.choice([*files])], chance)}

    def open(self, path: Path) -> None:
        from core.studies.study import load_study

        study = load_study(str(path))
        codes_of(study)
        for size in (None, "quick"):
            for _, cell in zip(range(3), study.at_size(size).iter_cells(), strict=False):
                assert cell.experiment.network.kind
        study.layout()
        assert len(study.claims) < 100
        parse_study(study.to_toml(), study.id)


@final
class NpzData(Format):
    name, count = "NPZ", 600

    def files(self, folder: Path) -> dict[str, bytes]:
        x, y = np.arange(30.0).reshape(10, 3), np.arange(10) % 2
        found = {}
        for save in (np.savez, np.savez_compressed):
            buffer = io.BytesIO()
            save(buffer, x=x, y=y, x_test=x.astype("f4"), y_test=y)
            found[f"{save.__name__}.npz"] = buffer.getvalue()
        return found

    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        data = files[chance.choice([*files])]
        make = damaged_text if chance.random() < 0.4 else damaged_bytes
        return {"a.npz": make(data, chance)}

    def open(self, path: Path) -> None:
        data = FileSource(path).sample(np.random.default_rng(0))
        # Checksums of the archive cover the arrays: what is read is what was written.
        if not np.array_equal(data.x, np.arange(30.0).reshape(10, 3)):
            raise WrongError("other coordinates than those of the archive")
        if not np.array_equal(data.y, 2.0 * (np.arange(10) % 2) - 1.0):
            raise WrongError("other labels than those of the archive")


@final
class CsvData(Format):
    name, count = "CSV", 600

    def files(self, folder: Path) -> dict[str, bytes]:
        rows = [f'{k / 7},{-k * 1e-3},{k % 2},"{k}"' for k in range(12)]
        return {"a.csv": "\n".join(["a,b,y,c", *rows]).encode()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_text(data, chance)

    def open(self, path: Path) -> None:
        data = FileSource(path).sample(np.random.default_rng(0))
        assert np.isfinite(data.x).all()
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = [row for row in csv.reader(file) if row]
        column = [name.strip() for name in header].index("y")
        wanted = np.array([[float(text) for text in row] for row in rows])
        if not np.array_equal(np.delete(wanted, column, axis=1), data.x):
            raise WrongError("other numbers than those of the file")


@final
class IdxImages(Format):
    """MNIST's files, plain and packed."""

    name, count = "idx", 500

    def files(self, folder: Path) -> dict[str, bytes]:
        pixels = struct.pack(">IIII", IMAGES, 12, 5, 4) + bytes(range(240))
        labels = struct.pack(">II", LABELS, 12) + bytes([0, 1] * 6)
        return {
            "train-images-idx3-ubyte": pixels,
            "train-labels-idx1-ubyte": labels,
            "t10k-images-idx3-ubyte.gz": gzip.compress(pixels, mtime=0),
            "t10k-labels-idx1-ubyte.gz": gzip.compress(labels, mtime=0),
        }

    def open(self, path: Path) -> None:
        ImageFiles(read_mnist, path.parent, CHOICE).sample(np.random.default_rng(0))


@final
class CifarBatches(Format):
    """CIFAR-10's batches, binary and pickled."""

    name, count = "CIFAR", 500

    def files(self, folder: Path) -> dict[str, bytes]:
        generator = np.random.default_rng(0)
        pixels = generator.integers(0, 255, (6, 3072), dtype=np.uint8)
        records = b"".join(bytes([k % 2]) + row.tobytes() for k, row in enumerate(pixels))
        found = {"data_batch_1.bin": records}
        for protocol in (0, 2, 4):
            batch = {"data": pixels, "labels": [0, 1] * 3, "batch_label": "one"}
            found[f"{protocol}/data_batch_1"] = pickle.dumps(batch, protocol)
        return found

    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        name = chance.choice([*files])
        make = damaged_text if chance.random() < 0.3 and "/0" in f"/{name}" else damaged_bytes
        return {name.rpartition("/")[2]: make(files[name], chance)}

    def open(self, path: Path) -> None:
        ImageFiles(read_cifar, path.parent, CHOICE).sample(np.random.default_rng(0))


@final
class SettingsFile(Format):
    """What the window remembers, which never stops it."""

    name, count = "settings", 300

    def files(self, folder: Path) -> dict[str, bytes]:
        from app.settings import Settings

        settings = Settings.model_validate({"recent": ("/tmp/a.msrun",), "geometry": "AAAA"})
        return {"settings.json": settings.model_dump_json(indent=2).encode()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_text(data, chance)

    def open(self, path: Path) -> None:
        from app.settings import load_settings

        settings, _ = load_settings(path)
        assert isinstance(settings.geometry_bytes, bytes)


@final
class LedgerFile(Format):
    """The ledger of a sweep."""

    name, count = "ledger", 500

    def files(self, folder: Path) -> dict[str, bytes]:
        study = parse_study('[network]\nm = 4\n[axes]\n"run.seed" = [0, 1, 2]\n', "a")
        ledger = Ledger(folder / "a.sweep.json", study, None)
        values = {"risk": 0.25, "test_error": float("nan")}
        for seed in range(3):
            row = Row(f"run.seed={seed}", "done", "completed", 1.5, "compiled", values, 4096, "a:1")
            ledger.set_row(row, "0" * 32)
        ledger.save()
        return {"a.sweep.json": ledger.path.read_bytes()}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_text(data, chance)

    def open(self, path: Path) -> None:
        ledger = read_ledger(path)
        for entry in ledger.entries.values():  # each with a checksum of its own
            if (entry.row.seconds, entry.row.bytes) != (1.5, 4096):
                raise WrongError("other numbers of a cell")
            if str(entry.row.values) != "{'risk': 0.25, 'test_error': nan}":
                raise WrongError("other results of a cell")
        if ledger.study.count < 100:
            ledger_rows(ledger.study, path.parent)


FORMATS: tuple[Format, ...] = (
    FinishedRun(),
    CrashedRun(),
    StudyFile(),
    NpzData(),
    CsvData(),
    IdxImages(),
    CifarBatches(),
    SettingsFile(),
    LedgerFile(),
    SessionFile(),
    LinkText(),
    ViewFile(),
    NotesFile(),
    LibraryIndex(),
    TrashOrigin(),
    Checkpoint(),
    RunWithCode(),
    PastedPoints(),
    SearchText(),
    FormulaText(),
    Safetensors(),
)
