"""Library of recorded runs, in a drawer that is made when first shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QMainWindow

from app.library.actions import LibraryActions
from app.library.compare import CompareController
from app.library.librarian import Librarian, StoredPicture
from app.places import Places
from app.playback.live_files import LiveFileController
from app.state.session import Session
from app.theory.controller import TheoryController
from app.training.files import FileController
from app.training.first_start import first_settings
from app.training.run_worker import RunWorker
from app.widgets.drawers import DrawerSplitter
from core.errors import InputError
from core.figures.palette import PALETTES, Palette

if TYPE_CHECKING:
    from app.library.panel import LibraryPanel
    from app.theory.judge import Judgement
    from core.library.library import Listing
    from core.library.query import Condition

TYPING_MS, SEEN_MS = 150, 60
DRAWER_WIDTH = 560  # pixels, for the columns of a table
AGAIN_MS = 30_000  # ms between listings while the drawer is open, since other programs record too
STARTS_MS = 20_000  # ms after the start until runs of first starts are counted


@final
class LibraryController(QObject):
    """Lists, searches and tidies the runs of a folder."""

    message = Signal(str)  # sentence for the bar
    status = Signal(str)  # result of an action that the program started
    run_requested = Signal()
    open_requested = Signal()

    def __init__(
        self,
        window: QMainWindow,
        drawers: DrawerSplitter,
        session: Session,
        places: Places,
        files: FileController,
        compare: CompareController,
        theory: TheoryController,
        worker: RunWorker,
        following: LiveFileController,
        columns: Sequence[str],
        limit: float,
    ) -> None:
        """Move runs of first starts beyond `limit` bytes in all to the trash."""
        super().__init__(window)
        self._window, self._session, self._places = window, session, places
        self._drawers = drawers
        self._columns, self._limit = tuple(columns), limit
        self._palette = PALETTES["light"]
        self.librarian = librarian = Librarian(places.runs, places.library, self)
        librarian.worker.share = theory.cpu_share
        librarian.runs_listed.connect(self._on_listed)
        librarian.picture_drawn.connect(self._on_drawn)
        librarian.worker.error.connect(self.message)
        report = self.message.emit
        self.actions = LibraryActions(window, session, librarian, files, compare, report)
        theory.judge.worker.result.connect(self._on_judged)
        for changed in (worker.run_started, worker.finished, following.recording_finished):
            changed.connect(self.refresh)
        self.panel: LibraryPanel | None = None
        self._listing: Listing | None = None
        self._condition: Condition | None = None
        self._undrawn: dict[Path, None] = {}  # visible runs without a picture
        self._reported: tuple[str, ...] = ()
        self._stopped = False
        self._typing = self._timer(TYPING_MS, self._search, single=True)
        self._seen = self._timer(SEEN_MS, self._draw, single=True)
        self._again = self._timer(AGAIN_MS, self.refresh, single=False)
        self._starts = self._timer(STARTS_MS, self._find_starts, single=True)
        self._tidying = self._shown = False

    def _timer(self, interval: int, slot: Callable[[], object], single: bool) -> QTimer:
        timer = QTimer(self, singleShot=single, interval=interval)
        timer.timeout.connect(slot)
        return timer

    # ------------------------------------------------------------------------------- the drawer

    def set_shown(self, is_shown: bool) -> None:
        """Fill the drawer when it opens."""
        if is_shown and self.panel is None:
            self._make()
        self._shown = is_shown
        if is_shown:
            self._again.start()
            self.refresh()
        else:
            self._again.stop()

    def focus_search(self, is_shown: bool) -> None:
        """Focus the search line after the user opened the drawer."""
        if is_shown and self.panel is not None:
            self.panel.search.setFocus()

    def _make(self) -> None:
        from app.library.panel import LibraryPanel

        self.panel = panel = LibraryPanel(self._palette, self._window)
        panel.set_columns(self._columns)
        panel.can_undo = self.actions.can_undo
        self._drawers.add("library", panel, DRAWER_WIDTH)
        panel.search.textChanged.connect(self._on_typed)
        panel.trash.toggled.connect(self._show)
        panel.action_requested.connect(self._on_action)
        panel.empty.run_requested.connect(self.run_requested)
        panel.empty.open_requested.connect(self.open_requested)
        panel.model.picture_requested.connect(self._on_picture_requested)

    @property
    def columns(self) -> tuple[str, ...]:
        """Shown columns, for the settings."""
        return self._columns if self.panel is None else self.panel.shown_columns

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        if self.panel is not None:
            self.panel.set_colours(palette)

    # --------------------------------------------------------------------------------- the runs

    def start(self) -> None:
        """List the runs if the drawer is open, and schedule the tidying of first starts.

        The libraries that read runs must be loaded.
        """
        self._starts.start()
        if self._shown:
            self.refresh()

    def refresh(self) -> None:
        """List the runs if the drawer is open."""
        if not self._stopped and self._shown:
            self.librarian.list()

    def _on_listed(self, listing: Listing) -> None:
        if self._stopped:
            return
        is_same, before = listing is self._listing, self._listing
        self._listing = listing
        new = tuple(sentence for sentence in listing.messages if sentence not in self._reported)
        self._reported += new
        if new:
            self.message.emit(" ".join(new))
        if self.panel is not None and before is not None and not is_same:
            model = self.panel.model
            with_pictures = {
                one.path: one.modified
                for one in before.entries
                if one.path in model.paths_with_picture
            }
            now = {one.path: one.modified for one in listing.entries if one.path in with_pictures}
            model.forget_pictures(
                path for path in with_pictures if now.get(path) != with_pictures[path]
            )
        if not is_same:
            self._show()
        if self._tidying and not listing.left:
            self._tidying = False
            self._tidy(listing)

    def _on_typed(self, _text: str) -> None:
        self._typing.start()

    def _search(self) -> None:
        """Show the runs that match the search, or the error in its text."""
        if self.panel is None:
            return
        from core.library.query import query

        try:
            self._condition = query(self.panel.search.text())
        except InputError as error:
            self.panel.show_problem(error.sentence)
            return
        self.panel.show_problem("")
        self._show()

    def _show(self) -> None:
        panel, listing = self.panel, self._listing
        if panel is None or listing is None or self._stopped:
            return
        from core.numbers import size_text

        trashed, condition = panel.trash.isChecked(), self._condition
        entries = [entry for entry in listing.entries if entry.is_trashed == trashed]
        matches = entries if condition is None else [one for one in entries if condition(one)]
        panel.show_entries(matches, fit=not listing.left)
        if not matches and not listing.left:
            panel.show_empty(searching=bool(entries))
        count = "1 run" if len(entries) == 1 else f"{len(entries)} runs"
        if len(matches) < len(entries):
            count = f"{len(matches)} of {len(entries)} runs"
        words = f"{count}, {size_text(sum(one.size for one in matches))}"
        words += f"; all runs take {size_text(listing.total(trashed=False))}"
        thrown = listing.total(trashed=True)
        words += f", the trash {size_text(thrown)}" if thrown else ", the trash is empty"
        words += f"; reading {listing.left} ..." if listing.left else ""
        panel.show_total(words)

    def _on_picture_requested(self, path: Path) -> None:
        self._undrawn[path] = None
        if not self._seen.isActive():
            self._seen.start()

    def _draw(self) -> None:
        """Draw the missing pictures of visible runs."""
        if not self._stopped and self._undrawn:
            self.librarian.draw(tuple(self._undrawn))
            self._undrawn = {}

    def _on_drawn(self, picture: StoredPicture) -> None:
        if self.panel is not None:
            self.panel.model.set_picture(picture.path, picture.heights)

    def _on_judged(self, judgement: Judgement) -> None:
        """Store the verdicts on a finished run in the user's folder."""
        run = self._session.get(judgement.key)
        if run is None or run.data is None or run.grows or run.stands_in or judgement.failed:
            return
        path = run.path.absolute()
        own = run.data.run.frames - run.data.run.frames_before
        is_complete = judgement.frames and judgement.frames == own
        if is_complete and path.is_relative_to(self._places.runs.absolute()):
            words = [one.verdict.value for one in judgement.assessments]
            self.librarian.set_verdicts(path, {word: words.count(word) for word in words})
            self.refresh()

    def _on_action(self, action: str) -> None:
        assert self.panel is not None
        chosen = self.panel.selected_entries
        if action == "empty" and self._listing is not None:
            action, chosen = "purge", tuple(one for one in self._listing.entries if one.is_trashed)
        self.actions.start(action, chosen)

    # --------------------------------------------------------------------- runs of first starts

    def _find_starts(self) -> None:
        """List the runs once to find those of first starts; try again later while a run trains."""
        if self._session.live:
            self._starts.start()
            return
        self._tidying = True
        self.librarian.list()

    def _tidy(self, listing: Listing) -> None:
        from core.library.library import surplus
        from core.numbers import size_text

        root = self._places.runs.absolute()
        open_paths = self.actions.open_paths()
        surplus_entries = surplus(listing.entries, first_settings(), self._limit, root)
        closed = [entry for entry in surplus_entries if entry.path not in open_paths]
        if closed:
            self.actions.trash(closed)
            size = size_text(sum(entry.size for entry in closed))
            words = f"{len(closed)} old runs from first starts ({size})"
            self.status.emit(f"Moved {words} to the trash of the library.")

    def close(self) -> None:
        """Stop all work, and wait for it."""
        self._stopped = True
        for timer in (self._typing, self._seen, self._again, self._starts):
            timer.stop()
        self.librarian.close()
