"""Lists the library and does what is asked of its runs, beside the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, Signal

from app.worker import Request, Worker

if TYPE_CHECKING:
    from core.library.entry import Entry
    from core.library.library import Library, Listing

LIST, PICTURES = "list", "pictures"


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of a run: heights, as core.library.reading has them."""

    path: Path
    heights: bytes


@final
@dataclass(frozen=True, slots=True)
class Done:
    """What came of a deed: the runs that it was done to, what is to be said of them, and the
    sentences of those that it could not be done to.
    """

    deed: str
    paths: tuple[Path, ...]
    said: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


Deed = Callable[["Library", "Entry"], str]  # what is to be said, or nothing


@final
class Librarian(QObject):
    """listed(Listing), drawn(Picture), done(Done) and error(sentence) arrive in the window."""

    listed = Signal(object)
    drawn = Signal(object)
    done = Signal(object)
    error = Signal(str)

    def __init__(self, root: Path, index: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root, self._index = root, index
        self._library: Library | None = None
        self._worker = Worker("librarian", self._answer, self, one_core=True)
        self._worker.result.connect(self._tell)
        self._worker.progress.connect(self._tell)
        self._worker.error.connect(self.error)
        self._deeds = 0

    @property
    def busy(self) -> bool:
        return self._worker.busy

    def set_cpu_share(self, share: Callable[[], float]) -> None:
        """Limit the thread to `share()` of a core (core.reference.watch)."""
        self._worker.share = share

    def list(self, again: bool = False) -> None:
        """List the runs, and with `again` read anew those that could not be read."""
        self._worker.ask(LIST, again, key=LIST)

    def draw(self, paths: Sequence[Path]) -> None:
        """Draw runs; what was asked for before is wanted no more."""
        self._worker.ask(PICTURES, tuple(paths), key=PICTURES)

    def do(self, name: str, deed: Deed, entries: Sequence[Entry]) -> None:
        """Do something to each of some runs, and list them anew."""
        self._deeds += 1
        # A list may take minutes, the first time: what is asked for comes before the rest of it.
        key = ("deed", self._deeds)
        self._worker.ask(name, deed, tuple(entries), key=key)
        self._worker.cancel(keep=_AllBut(LIST))
        self.list()

    def judged(self, path: Path, verdicts: Mapping[str, int]) -> None:
        """Keep what statements say of a run."""
        self._worker.ask("judged", path, verdicts, key=("judged", path))

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._worker.close()
        if self._library is not None:
            self._library.close()

    def _tell(self, answer: Any) -> None:
        if isinstance(answer, Picture):
            self.drawn.emit(answer)
        elif isinstance(answer, Done):
            self.done.emit(answer)
        elif answer is not None:
            self.listed.emit(answer)

    # ------------------------------------------------------------------------- in the thread

    def _answer(self, request: Request, what: str, *values: Any) -> object:
        from core.library.library import Library

        if self._library is None:
            self._library = Library(self._root, self._index)
        if what == LIST:
            return self._listing(self._library, request, *values)
        if what == PICTURES:
            for path in values[0]:
                request.watch.look()
                request.progress(Picture(path, self._library.picture(path)))
            return None
        if what == "judged":
            self._library.judged(*values)
            return None
        return self._did(self._library, what, *values)

    def _listing(self, library: Library, request: Request, again: bool) -> Listing:
        return library.refresh(request.progress, request.watch.look, again)

    def _did(self, library: Library, name: str, deed: Deed, entries: Sequence[Entry]) -> Done:
        from core.errors import MarginscopeError

        paths, said, wrong = [], [], []
        for entry in entries:
            try:
                said.append(deed(library, entry))
                paths.append(entry.path)
            except MarginscopeError as error:
                wrong.append(error.sentence)
        return Done(name, tuple(paths), tuple(filter(None, said)), tuple(wrong))


@final
class _AllBut:
    """All keys but one."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __contains__(self, key: object) -> bool:
        return key != self._key
