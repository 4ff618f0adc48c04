"""Command palette: its entries, and the effect of a choice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.actions import MENUS, TIPS, disabled_reason
from app.library.librarian import Librarian
from app.playback.inspector import definition
from app.shell.curve_choice import CurveChoiceController
from app.shell.main_window import MainWindow
from app.state.text_search import SearchEntry, make_entry
from core.studies.summaries import shipped_summaries

if TYPE_CHECKING:
    from app.shell.command_palette import CommandPalette
    from core.library.entry import Entry as RunEntry
    from core.library.library import Listing

MOST_USED = 50
MADE_AT_ONCE = 400  # entries of runs made per turn of the event loop, in 3 ms
ACTION, STUDY, CURVE, RUN = "action", "study", "curve", "run"
OWN = "palette"  # key of the palette's own action
NO_RUN = "No run is open."
NOT_OF_THESE = "Not available for the open runs: only for {where}."
OFFERED = "Settings now show the study. Press Run to train it."
EMPHASIS = re.compile(r"(\*\*|\*|`)(?=\S)(.+?)(?<=\S)\1")  # Markdown emphasis
SEPARATED = " \u00b7 "


@final
class CommandController(QObject):
    """Palette of commands; `used`: keys of the entries chosen before, latest first.

    study_chosen(id): a shipped study to train. study_offered(id): one to put into the form.
    open_requested(names, add): runs to open; `add` leaves the open runs open.
    """

    study_chosen = Signal(str)
    study_offered = Signal(str)
    open_requested = Signal(list, bool)

    def __init__(
        self,
        window: MainWindow,
        curves: CurveChoiceController,
        librarian: Librarian,
        used_keys: Sequence[str],
    ) -> None:
        super().__init__(window)
        self._window, self._curve_choice, self._librarian = window, curves, librarian
        self.used = tuple(used_keys)
        self.palette: CommandPalette | None = None
        self._actions: Mapping[str, QAction] = {}
        self._listing: Listing | None = None
        self._runs: list[SearchEntry] = []
        self._coming: list[SearchEntry] = []
        self._waiting: Sequence[RunEntry] = ()  # runs without entries so far
        self._stale = self._ready = False
        self._rest = QTimer(self, interval=0)
        self._rest.setObjectName("palette")
        self._rest.timeout.connect(self._take_some)
        librarian.runs_listed.connect(self._on_listed)

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Set the actions of the table."""
        self._actions = actions

    def ready(self) -> None:
        """Allow observables and runs: the numerical libraries are loaded."""
        self._ready = True

    def show(self) -> None:
        """Open the palette."""
        if self.palette is None:
            from app.shell.command_palette import CommandPalette

            self.palette = CommandPalette(self._window)
            self.palette.chosen.connect(self._on_chosen)
        if self._ready:
            self._librarian.list()  # until it answers, the palette lists the runs known before
        if self._stale:
            self._take_runs()
        # The menu fills itself when it is about to be shown.
        self._window.margin_choice.aboutToShow.emit()
        self.palette.open(self._entries(), self.used)

    # ------------------------------------------------------------------------------------- entries

    def _on_listed(self, listing: Listing) -> None:
        if listing is self._listing:
            return
        self._listing, self._stale = listing, True
        is_visible = self.palette is not None and self.palette.isVisible()
        # While thousands of runs are read a listing arrives each second; skip it if the palette is
        # hidden.
        if is_visible or not listing.left:
            self._take_runs()

    def _take_runs(self) -> None:
        """Make the entries of the runs, some in each turn of the event loop.

        Those of the listing before are found until all are made.
        """
        self._stale, self._coming = False, []
        self._waiting = self._listing.entries if self._listing is not None else ()
        self._take_some()

    def _take_some(self) -> None:
        self._coming += run_entries(self._waiting[:MADE_AT_ONCE])
        self._waiting = self._waiting[MADE_AT_ONCE:]
        if self._waiting:
            self._rest.start()
            return
        self._rest.stop()
        self._runs, self._coming = self._coming, []
        if self.palette is not None and self.palette.isVisible():
            self.palette.set_entries(self._entries())

    def _entries(self) -> list[SearchEntry]:
        return [
            *self._of_actions(),
            *(
                make_entry(
                    f"{STUDY}:{one.id}",
                    "Study",
                    one.title,
                    EMPHASIS.sub(r"\2", " ".join(one.note.split())),
                    words=f"{one.id} {one.source}",
                )
                for one in shipped_summaries()
            ),
            *(
                make_entry(
                    key,
                    kind,
                    plain(action.text()),
                    "" if (reason := _disabled_text(action)) else _detail(action),
                    reason=reason,
                    words=data if isinstance(data := action.data(), str) else "",
                )
                for key, kind, action in self._in_menus()
            ),
            *(self._curves() if self._ready else ()),
            *self._runs,
        ]

    def _of_actions(self) -> Iterator[SearchEntry]:
        for menu, rows in MENUS.items():
            for row in rows:
                if row is None or row.key == OWN or not self._actions[row.key].isVisible():
                    continue
                action = self._actions[row.key]
                yield make_entry(
                    f"{ACTION}:{row.key}",
                    plain(menu),
                    plain(action.text()),
                    SEPARATED.join(filter(None, (_state(action), TIPS.get(row.key, "")))),
                    shortcut=action.shortcut().toString(
                        action.shortcut().SequenceFormat.NativeText
                    ),
                    reason="" if action.isEnabled() else disabled_reason(row.key),
                )

    def _in_menus(self) -> Iterator[tuple[str, str, QAction]]:
        """Return key, kind and action of each menu entry outside the table."""
        window = self._window
        for kind, menu in (
            ("View", window.view_choice),
            ("Layout", window.layouts),
            ("Bookmark", window.bookmarks),
            ("Note", window.notes),
            ("Story", window.stories),
            ("Neurons", window.neuron_choice),
            ("Curves against", window.margin_axes),
            ("Reference margin", window.margin_choice),
            ("Recent file", window.recent),
        ):
            yield from _menu_entries(kind, menu)

    def _curves(self) -> Iterator[SearchEntry]:
        from core.observables.observable import Shape
        from core.observables.registry import is_loop_number, of_shape

        observables = self._curve_choice.observables()
        run = self._curve_choice.any_run
        for one in of_shape(Shape.SCALAR):
            reason = NOT_OF_THESE.format(where=one.where or "others") if run else NO_RUN
            yield make_entry(
                f"{CURVE}:{one.name}",
                "Curve",
                one.title,
                one.formula,
                reason="" if one.name in observables else reason,
                words=one.name,
            )
        for name, item in observables.items():
            if is_loop_number(name):
                yield make_entry(f"{CURVE}:{name}", "Curve", *definition(item), words=name)

    # -------------------------------------------------------------------------------------- choice

    def _on_chosen(self, key: str, add: bool, runs: bool) -> None:
        self.used = (key, *(one for one in self.used if one != key))[:MOST_USED]
        sort, _, name = key.partition(":")
        if sort == ACTION:
            self._actions[name].trigger()
        elif sort == STUDY and runs:
            self.study_chosen.emit(name)
        elif sort == STUDY:
            self.study_offered.emit(name)
            self._window.bar.show_notice(OFFERED)
        elif sort == CURVE:
            self._curve_choice.show_curve(name)
        elif sort == RUN:
            self.open_requested.emit([name], add)
        else:  # search again: a menu may have been refilled while the palette was open
            action = next(
                (one for action_key, _, one in self._in_menus() if action_key == key), None
            )
            if action is not None:
                action.trigger()


def _menu_entries(kind: str, menu: QMenu) -> Iterator[tuple[str, str, QAction]]:
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from _menu_entries(plain(action.text()), inner)
        elif not action.isSeparator() and action.data() is not None:
            yield f"{kind}:{plain(action.text())}", kind, action


def _detail(action: QAction) -> str:
    """Return the checked state, and the tip if it differs from the text."""
    tip = action.toolTip()
    parts = (_state(action), "" if plain(tip) == plain(action.text()).rstrip(" .") else tip)
    return SEPARATED.join(filter(None, parts))


def _state(action: QAction) -> str:
    return ("on" if action.isChecked() else "off") if action.isCheckable() else ""


def _disabled_text(action: QAction) -> str:
    if action.isEnabled():
        return ""
    tip = action.toolTip()
    return tip if tip != plain(action.text()) else "Not available right now."


def plain(text: str) -> str:
    r"""Return the text of a menu entry without mnemonic and ellipsis marks.

    >>> plain("&Open ..."), plain("Runs && &figures"), plain("end\tt = 10")
    ('Open ...', 'Runs & figures', 'end, t = 10')
    """
    text_without_marks = text.replace("&&", "\0").replace("&", "").replace("\0", "&")
    return text_without_marks.replace("\t", ", ")


def run_entries(runs: Sequence[RunEntry]) -> list[SearchEntry]:
    """Return the entries of recorded runs: name or heading, study, tags, file and date."""
    from app.library.columns import name_of

    entries = []
    for one in runs:
        if one.is_trashed:
            continue
        tags = ", ".join(one.about.tags)
        parts = (one.facts.title, tags, one.date[:10], one.path.name)
        entries.append(
            make_entry(
                f"{RUN}:{one.path}",
                "Run",
                name_of(one),
                SEPARATED.join(filter(None, parts)),
                reason=one.facts.wrong,
                words=f"{one.heading} {one.about.note}",
            )
        )
    return entries
