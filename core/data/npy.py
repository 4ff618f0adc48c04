"""Arrays in .npy files side by side: X_train.npy with y_train.npy, and perhaps X_test, y_test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import final

from core.data.dataset import Array
from core.data.npz import DAMAGED, Header, check_header, read_header, read_values
from core.errors import InputError

PARTNERS = {
    "x": ("y",),
    "data": ("labels", "label", "targets", "target"),
    "features": ("labels", "label", "targets", "target"),
    "inputs": ("labels", "label", "targets", "target"),
}
LABELS = frozenset(("y", "labels", "label", "targets", "target"))
WORD = re.compile(r"[^_\-. ]+")
TRAIN = re.compile(r"train(?:ing)?", re.IGNORECASE)


@final
class NpyFiles(AbstractContextManager["NpyFiles"]):
    """The arrays x and y, perhaps x_test and y_test, of a .npy file and those beside it.

    `shapes` are read at once, values when they are asked for. A table without a file of labels
    beside it has the name `table`. Raises InputError for missing and damaged files.
    """

    def __init__(self, path: Path, what: str, alone: bool) -> None:
        self._what = what
        self._paths = _arrays_beside(path, what, alone)
        self._headers = {name: self._header(one) for name, one in self._paths.items()}
        self.note = ", ".join(
            f"{name} is {one.name}" for name, one in self._paths.items() if one != path
        )

    def __exit__(self, *_: object) -> None:
        return None  # files are open only while they are read

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each array by its name."""
        return {name: header.shape for name, header in self._headers.items()}

    def read(self, name: str) -> Array:
        """Return the values of an array in float64."""
        path = self._paths[name]
        try:
            with path.open("rb") as file:
                return read_values(file)
        except DAMAGED as error:
            raise self._unreadable(path, error) from error

    def _header(self, path: Path) -> Header:
        try:
            with path.open("rb") as file:
                header = read_header(file)
        except DAMAGED as error:
            raise self._unreadable(path, error) from error
        check_header(header, f"{self._what}: the array in {path}")
        if path.stat().st_size != header.start + header.size * header.dtype.itemsize:
            raise InputError(
                f"{self._what}: {path} is not as long as its shape {header.shape} says; it is "
                "damaged."
            )
        return header

    def _unreadable(self, path: Path, error: Exception) -> InputError:
        return InputError(
            f"{self._what}: {path} is not a readable .npy file ({type(error).__name__}); write it "
            "with numpy.save."
        )


def _arrays_beside(path: Path, what: str, alone: bool) -> dict[str, Path]:
    """Return the files of x, y and perhaps x_test, y_test by these names."""
    if not path.is_file():
        raise InputError(f"{what}: there is no file {path}; check the path.")
    if alone:  # the setting says which column has the labels
        return {"table": path}
    words = WORD.findall(path.stem)
    if not any(word.lower() in PARTNERS for word in words):
        if any(word.lower() in LABELS for word in words):
            raise InputError(
                f"{what}: {path} has labels by its name; name the file of the inputs, such as "
                "X.npy beside y.npy."
            )
        raise _lonely(path, what, "its name has no X for which a y could stand")
    wanted = _partner_names(path.stem)
    found = [one for one in (path.with_name(f"{name}.npy") for name in wanted) if one.is_file()]
    # One file where letters of both sizes are the same to the file system.
    found = [one for k, one in enumerate(found) if not any(map(one.samefile, found[:k]))]
    if len(found) != 1:
        reason = f"{wanted[0]}.npy is not beside it"
        if found:
            reason = f"{' and '.join(one.name for one in found)} are beside it"
        raise _lonely(path, what, reason)
    pair = {"x": path, "y": found[0]}
    tests = {"x_test": _test_of(path), "y_test": _test_of(found[0])}
    beside = {name: one for name, one in tests.items() if one.is_file()}
    if len(beside) == 1:
        lonely, lacking = next(iter(beside.values())), "y" if "x_test" in beside else "x"
        raise InputError(
            f"{what}: {lonely} is beside {path.name} and has no {lacking}; add it, or move the "
            "file."
        )
    return pair | beside


def _lonely(path: Path, what: str, reason: str) -> InputError:
    return InputError(
        f"{what}: {path} needs a file of labels beside it, as X.npy needs y.npy and X_train.npy "
        f'y_train.npy; {reason}. If a column of it has the labels, set data.label = "last", '
        '"first" or its number from 1.'
    )


def _partner_names(stem: str) -> list[str]:
    """Return the names of label files that may belong to a file of inputs.

    >>> _partner_names("X_train"), _partner_names("iris-x")
    (['y_train', 'Y_train'], ['iris-y', 'iris-Y'])
    """
    matches = [match for match in WORD.finditer(stem) if match[0].lower() in PARTNERS]
    if not matches:
        return []
    match = matches[-1]
    labels = PARTNERS[match[0].lower()]
    words = (*labels, *(label.upper() for label in labels if label == "y"))
    return [stem[: match.start()] + word + stem[match.end() :] for word in words]


def _test_of(path: Path) -> Path:
    """Return the file of test points beside a file of training points."""
    stem, count = TRAIN.subn("test", path.stem)
    return path.with_name(f"{stem if count else path.stem + '_test'}.npy")
