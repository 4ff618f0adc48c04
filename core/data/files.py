"""Data of the user: tables of text and files of arrays, checked before anything runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import field_validator

from core.data.arrays import (
    CALLED,
    ArrayFile,
    LabelReader,
    check_finite,
    check_shapes,
    class_numbers_of,
    find_roles,
)
from core.data.dataset import Dataset, Distribution
from core.data.labels import coding_of
from core.data.mat import MatFile
from core.data.numpy_files import NpyFiles, NpzFile
from core.data.section import (
    CONTENT_MEANING,
    SCALE_MEANING,
    TARGETS,
    FileSection,
    Scale,
    ScaledSource,
    check_sizes,
    check_stated,
)
from core.data.text_lines import TableChoices
from core.data.text_table import read_text, sentence_of
from core.errors import InputError
from core.settings import MAX_SEED, SEED_MEANING, setting

KEY = "data.path"
TEXTS = (".csv", ".tsv", ".txt", ".dat", ".data")
ARRAYS = (".npz", ".npy", ".mat")
DATA_PATTERNS = " ".join(f"*{suffix}" for suffix in (*TEXTS, *ARRAYS))
DATA_FILTER = f"Arrays and tables ({DATA_PATTERNS})"


def is_data_file(name: str) -> bool:
    """Return True for the name of a file of data.

    >>> is_data_file("a.CSV"), is_data_file("a.msrun")
    (True, False)
    """
    return PurePath(name).suffix.lower() in (*TEXTS, *ARRAYS)


@final
@dataclass(frozen=True, slots=True)
class FileSource(Distribution):
    """Data file; d and n, when given, must agree with it. `label`, `header`: as in FileData."""

    path: Path
    d: int | None = None
    n: int | None = None
    real: bool = False
    label: str | None = None
    header: bool | None = None

    def sample(self, generator: Generator) -> Dataset:
        suffix = self.path.suffix.lower()
        if suffix in TEXTS:
            dataset = self._read_text()
        elif suffix in ARRAYS:
            dataset = self._read_file(suffix)
        else:
            raise InputError(
                f"{KEY}: {self.path} has the suffix {suffix or 'none'}; save the data as .npz, "
                ".csv, .tsv, .txt, .npy or .mat."
            )
        check_sizes(dataset, self.path, self.d, self.n)
        return dataset

    def _read_text(self) -> Dataset:
        table = read_text(self.path, KEY, TableChoices(self.label, self.header, self.real))
        classes = 2 if self.real else table.coding.classes
        return Dataset(
            table.x,
            table.y,
            classes=classes,
            real=self.real,
            note=table.note,
            is_guess=table.is_guess,
        )

    def _read_file(self, suffix: str) -> Dataset:
        if suffix == ".npz":
            with NpzFile(self.path, KEY, lenient=True) as npz:
                self._check_others(npz.others)
                return self._read_arrays(npz, self.label)
        if suffix == ".mat":
            with MatFile(self.path, KEY) as mat:
                self._check_others(mat.others)
                return self._read_arrays(mat, self.label)
        with NpyFiles(self.path, KEY, alone=self.label is not None) as npy:
            return self._read_arrays(npy, None) if self.label is None else self._read_column(npy)

    def _check_others(self, faults: Mapping[str, InputError]) -> None:
        """Raise the error of a needed array that does not hold numbers."""
        needed = {name for called in CALLED.values() for name in called} | {self.label}
        for name, error in faults.items():
            if name in needed:
                raise error

    def _read_arrays(self, file: ArrayFile, label: str | None) -> Dataset:
        """Return the data of named arrays, once the shapes that the file states are right."""
        shapes = file.shapes
        roles = find_roles(shapes, self.path, label)
        names = roles.names
        # Check all sizes stated in headers before reading any value (decision 0012).
        check_shapes(shapes, roles, self.path, self.real)
        n, d = shapes[names["x"]]
        check_stated(self.path, (("d", self.d, d), ("n", self.n, n)))
        arrays = {role: file.read(name) for role, name in names.items()}
        for role, array in arrays.items():
            check_finite(array, names[role], self.path)
        notes = [roles.note, getattr(file, "note", "")]
        x, x_test, y_test = arrays["x"], arrays.get("x_test"), arrays.get("y_test")
        where = {role: f"{KEY}: {name} in {self.path}" for role, name in names.items()}
        if self.real:
            y, classes = arrays["y"].reshape(-1), 2
            y_test = None if y_test is None else y_test.reshape(-1)
        else:
            labels = LabelReader(arrays["y"], n, where["y"])
            y, classes = labels.y, labels.coding.classes
            notes.append(labels.note)
            if y_test is not None and x_test is not None:
                y_test = labels.test_labels(y_test, x_test.shape[0], where["y_test"])
        notes_ = [note for note in notes if note]
        return Dataset(
            x,
            y,
            x_test,
            y_test,
            classes,
            real=self.real,
            note=sentence_of([*notes_, *filter(None, [roles.others_note])]),
            is_guess=bool(notes_),
        )

    def _read_column(self, file: NpyFiles) -> Dataset:
        """Return the data of one table, a column of which has the labels."""
        (rows, *axes) = file.shapes["table"] or (0,)
        if len(axes) != 1 or rows < 1 or axes[0] < 2:
            raise InputError(
                f"{KEY}: {self.path} has shape {file.shapes['table']}; give a table (n, d + 1) "
                "with the labels."
            )
        width, text = axes[0], self.label or ""
        column = {"first": 0, "last": width - 1}.get(text, -1)
        if text.isascii() and text.isdigit():
            column = int(text[:9]) - 1
        if not 0 <= column < width:
            raise InputError(
                f"{KEY}: data.label = {text[:40]!r} is not a column of {self.path}, which has "
                f'{width} without names; allowed are "first", "last" and numbers from 1.'
            )
        table = file.read("table")
        check_finite(table, "the array", self.path)
        x, y = np.delete(table, column, axis=1), np.ascontiguousarray(table[:, column])
        note = f"label column {column + 1} of {width}"
        if self.real:
            return Dataset(x, y, real=True, note=sentence_of([note]))
        where = f"{KEY}: column {column + 1} of {self.path}"
        coding = coding_of(class_numbers_of(y, rows, where)[0], lambda value: where)
        note = sentence_of([note, *([coding.note] if coding.note else [])])
        return Dataset(x, coding.encode(y, where), classes=coding.classes, note=note, is_guess=True)


def stated_size(path: Path) -> int:
    """Return the number of values that headers state for x; 0 for other than files of arrays."""
    suffix = path.suffix.lower()
    if suffix not in (".npz", ".mat"):
        return 0
    with NpzFile(path, KEY, lenient=True) if suffix == ".npz" else MatFile(path, KEY) as file:
        return max((math.prod(file.shapes.get(name, (0,))) for name in CALLED["x"]), default=0)


@final
class FileData(FileSection):
    title: ClassVar[str] = (
        "data from a file: a table of text (.csv, .tsv, .txt) or arrays (.npz, .npy, .mat)"
    )
    source: ClassVar[str] = "the user's own"
    names: ClassVar[str] = "an NPZ or CSV file"
    own: ClassVar[tuple[str, ...]] = ("d", "n", "path")
    rescaling: ClassVar[str] = (
        'set data.scale = "standard", "unit" or "max_norm", or change the units of the columns'
    )

    words: ClassVar[str] = "own data"
    kind: Literal["file"] = "file"
    path: str | None = setting(
        None,
        meaning="CSV, TSV or text file, NPZ, .mat, or .npy next to its labels, relative to the "
        "study file; labels -1 and +1, 0 and 1, class numbers 0, 1, ..., k - 1, or "
        "words, unless targets are real",
    )
    targets: Literal["labels", "real"] = setting(
        "labels", meaning=f"kind of y: {TARGETS}", added=True
    )
    label: str | None = setting(
        None,
        meaning="label column of a table (its name, number from 1, first or last) or name of the "
        "array y; default: y, label, target or class",
        added=True,
    )
    header: bool | None = setting(
        None,
        meaning="true if the first line of a table has names; default: detected",
        advanced=True,
        added=True,
    )
    scale: Scale = setting("none", meaning=SCALE_MEANING, added=True)
    d: int | None = setting(None, meaning="expected dimension of the inputs", ge=1)
    n: int | None = setting(None, meaning="expected number of examples", ge=1)
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    understood: str | None = setting(
        None,
        meaning="choices made in reading the file; set by Marginscope",
        advanced=True,
        added=True,
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @field_validator("label", mode="before")
    @classmethod
    def _number_as_text(cls, value: Any) -> Any:
        return str(value) if type(value) is int else value

    def read_from(self, path: Path) -> Distribution:
        source = FileSource(path, self.d, self.n, self.real, self.label, self.header)
        return source if self.scale == "none" else ScaledSource(source, self.scale, path)

    @property
    def real(self) -> bool:
        return self.targets == "real"
