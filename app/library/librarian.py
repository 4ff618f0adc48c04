"""Worker that lists the library, draws its runs and changes them, in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Signal

from app.worker import Request, Worker
from core.errors import MarginscopeError

if TYPE_CHECKING:
    from core.library.library import Library, Listing


LIST, PICTURES = "list", "pictures"


@final
@dataclass(frozen=True, slots=True)
class StoredPicture:
    """Picture of a run: heights from core.library.reading."""

    path: Path
    heights: bytes


@final
@dataclass(frozen=True, slots=True)
class OperationResult:
    """Notes of operations that succeeded, and error sentences of those that failed."""

    notes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


LibraryOperation = Callable[["Library"], str]  # a note for the user, or ""


@final
class Librarian(QObject):
    """Worker of one library. Signals arrive in the window's thread."""

    runs_listed = Signal(object)  # Listing
    picture_drawn = Signal(object)  # Picture
    operations_finished = Signal(object)  # OperationResult

    def __init__(self, root: Path, index: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root, self._index = root, index
        self._library: Library | None = None
        self.worker = Worker("librarian", self._answer, self, one_core=True)
        self.worker.result.connect(self._on_answer)
        self.worker.progress.connect(self._on_answer)
        self._n_runs = 0

    @property
    def busy(self) -> bool:
        return self.worker.busy

    def list(self, again: bool = False) -> None:
        """List the runs; `again` retries those that could not be read."""
        self.worker.request(_list, again, key=LIST)

    def draw(self, paths: Sequence[Path]) -> None:
        """Draw runs, and cancel the runs requested before."""
        self.worker.request(_draw, tuple(paths), key=PICTURES)

    def run(self, operations: Iterable[LibraryOperation]) -> None:
        """Run operations one after another, and list the runs again."""
        self._n_runs += 1
        # The first listing may take minutes: run operations before the rest of it.
        self.worker.request(_run, tuple(operations), key=("run", self._n_runs))
        self.worker.cancel(except_keys=_AllBut(LIST))
        self.list()

    def set_verdicts(self, path: Path, verdicts: Mapping[str, int]) -> None:
        """Store the verdicts on a run."""
        self.worker.request(_set_verdicts, path, verdicts, key=("verdicts", path))

    def close(self) -> None:
        """Cancel all work, and wait for the thread."""
        self.worker.close()
        if self._library is not None:
            self._library.close()

    def _on_answer(self, answer: Any) -> None:
        if isinstance(answer, StoredPicture):
            self.picture_drawn.emit(answer)
        elif isinstance(answer, OperationResult):
            self.operations_finished.emit(answer)
        elif answer is not None:
            self.runs_listed.emit(answer)

    # ------------------------------------------------------------------------------- worker thread

    def _answer(self, request: Request, task: Callable[..., object], *values: Any) -> object:
        from core.library.library import Library

        if self._library is None:
            self._library = Library(self._root, self._index)
        return task(request, self._library, *values)


def _list(request: Request, library: Library, again: bool) -> Listing:
    return library.refresh(request.progress, request.watch.check, again)


def _draw(request: Request, library: Library, paths: tuple[Path, ...]) -> None:
    for path in paths:
        request.watch.check()
        request.progress(StoredPicture(path, library.picture(path)))


def _set_verdicts(
    _request: Request, library: Library, path: Path, verdicts: Mapping[str, int]
) -> None:
    library.set_verdicts(path, verdicts)


def _run(
    _request: Request, library: Library, operations: tuple[LibraryOperation, ...]
) -> OperationResult:
    notes, errors = [], []
    for operation in operations:
        try:
            notes.append(operation(library))
        except MarginscopeError as error:
            errors.append(error.sentence)
    return OperationResult(tuple(filter(None, notes)), tuple(errors))


@final
class _AllBut:
    """All keys but one."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __contains__(self, key: object) -> bool:
        return key != self._key
