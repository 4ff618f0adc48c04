"""The section of a study file that says where examples come from, and the words sections share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from core.data.dataset import Dataset, Distribution
from core.errors import InputError
from core.settings import Section

D_MEANING, N_MEANING = "dimension of the inputs", "number of training examples"
MAX_D = MAX_N = 1_000_000
TARGETS = '"labels" of classes, or "real" numbers that are fitted with loss.kind = "least_squares"'
CONTENT_MEANING = "SHA-256 of the embedded data; set by the program"


class DataSection(Section):
    """What every kind of data has: a dimension d, n examples, and a seed of its own.

    d and n are None where a file will say them. A law that can be drawn from is a `Distribution`
    itself; data that are read are those of the file that `path` names (`FileSection`).
    """

    plane: ClassVar[str] = "coordinates"  # on which nodes are drawn first (core.observables.planes)
    known_law: ClassVar[bool] = True  # False where there are examples, and no more is known

    if TYPE_CHECKING:  # each kind lists its keys in its own order
        kind: str
        d: int | None
        n: int | None
        seed: int | None

    @property
    def real(self) -> bool:
        """Whether y are real targets, and no labels of classes."""
        return False

    @property
    def single(self) -> bool:
        """Whether examples of one class only are meant."""
        return False

    def distribution(self, folder: Path | None) -> Distribution:
        """Where the examples come from; paths are relative to `folder`.

        Raises InputError where files are needed and none is named.
        """
        assert isinstance(self, Distribution)
        return self

    def picture_shape(self, d: int) -> tuple[int, ...]:
        """(h, w) or (3, h, w) of examples that are pictures of d pixels; else empty."""
        return ()


class FileSection(DataSection):
    """Data that are read from files; a run holds the content, never the path."""

    embedded: ClassVar[bool] = True
    known_law: ClassVar[bool] = False
    names: ClassVar[str]  # what to name as `path`
    if TYPE_CHECKING:
        path: str | None

    def with_read(self, dataset: Dataset) -> FileSection:
        """Return the section as a run holds it after the data were read.

        A path means nothing on the machine where the run is opened; what was read does.
        """
        changes: dict[str, object] = {"path": None, "d": dataset.d, "n": dataset.n}
        changes["content"] = dataset.digest()
        if "understood" in type(self).model_fields and dataset.note:
            changes["understood"] = dataset.note if dataset.is_guess else None
        return self.model_copy(update=changes)

    @abstractmethod
    def read_from(self, path: Path) -> Distribution:
        """The examples at a path."""

    def distribution(self, folder: Path | None) -> Distribution:
        if self.path is None:
            raise InputError(
                f'data.path is missing; with data.kind = "{self.kind}" name {self.names}.'
            )
        return self.read_from(Path(self.path) if folder is None else folder / self.path)


def check_sizes(dataset: Dataset, path: Path, d: int | None, n: int | None) -> None:
    """Raise InputError where a stated d or n is not that of the data; None states nothing."""
    check_stated(path, (("d", d, dataset.d), ("n", n, dataset.n)))


def check_stated(path: Path, sizes: Iterable[tuple[str, int | None, int]]) -> None:
    """The same for sizes (name, stated, there) that are known before the data are read."""
    for name, stated, there in sizes:
        if stated is not None and stated != there:
            raise InputError(
                f"data.{name} = {stated} conflicts with {path}, which has "
                f"{name} = {there}; leave data.{name} out or correct it."
            )
