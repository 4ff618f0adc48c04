"""Saved session, which the next start restores.

The file is saved every few seconds while anything changes, by the first of several windows.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QLockFile, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.places import Places
from app.playback.display import DisplayController
from app.scenes.controller import SceneController
from app.scenes.scene import Scene
from app.scenes.scene_texts import OF_SESSION, read_fields, write_fields
from app.training.study_edits import Edits, Pairs
from app.widgets.dialogs import Question, Role
from core.errors import InputError, MarginscopeError
from core.files import is_plain, read_text, set_aside, write_whole
from core.studies.study import parse_study
from core.studies.summaries import shipped_summaries

VERSION = 1
MOST_BYTES = 5_000_000
MOST_PAIRS, LONGEST = 500, 500_000
NOT_OURS = "not a Marginscope session"


@final
@dataclass(frozen=True, slots=True)
class LastSession:
    """Saved session. `ended`: the window was closed, not killed."""

    scene: Scene
    ended: bool = True


def session_text(session: LastSession) -> str:
    """Return a session as JSON."""
    form = session.scene.form
    return json.dumps(
        {
            "version": VERSION,
            "ended": session.ended,
            "scene": write_fields(session.scene, OF_SESSION),
            "form": None if form is None else _form_table(form),
        },
        indent=1,
    )


def _form_table(form: Edits) -> dict[str, Any]:
    base = form.base
    return {
        "study": base.id,
        "folder": str(base.folder) if base.folder is not None else None,
        "text": base.to_toml(),
        "kinds": form.kinds,
        "texts": form.texts,
        "latest": form.latest,
        # Of a recorded run; study files have no key for unknown settings.
        "unknown": sorted(base.unknown),
        "optimizer": base.optimizer,
    }


def parse_session(text: str) -> LastSession:
    """Return a session. Raises InputError for a text not written by `session_text`."""
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("version") != VERSION:
            raise TypeError
        scene, form = document["scene"], document["form"]
        if not isinstance(scene, dict) or not isinstance(document["ended"], bool):
            raise TypeError
        for texts in scene.values():
            if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
                raise TypeError
        edits = None if form is None else _edits_of(form)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(NOT_OURS) from error
    return LastSession(
        read_fields(scene, Scene(form=edits), OF_SESSION, "session"), document["ended"]
    )


def _edits_of(table: dict[str, Any]) -> Edits:
    name, folder, text = table["study"], table["folder"], table["text"]
    if not isinstance(name, str) or not isinstance(text, str):
        raise TypeError
    if folder is not None and not isinstance(folder, str):
        raise TypeError
    base = parse_study(text, name, None if folder is None else Path(folder))
    unknown, optimizer = table.get("unknown", []), table.get("optimizer", "")
    if not _are_texts(unknown) or not isinstance(optimizer, str) or len(optimizer) > LONGEST:
        raise TypeError
    base = replace(base, unknown=frozenset(unknown), optimizer=optimizer)
    latest = table["latest"]
    if not _are_texts(latest):
        raise TypeError
    return Edits(base, _pairs(table["kinds"]), _pairs(table["texts"]), tuple(latest[:MOST_PAIRS]))


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) for one in values)


def _pairs(values: Any) -> Pairs:
    if not isinstance(values, list) or len(values) > MOST_PAIRS:
        raise TypeError
    pairs = []
    for key, value in values:
        if not isinstance(key, str) or not isinstance(value, str) or len(value) > LONGEST:
            raise TypeError
        pairs.append((key, value))
    return tuple(pairs)


SAVE_MS = 5000
LOCK_BYTES = 10_000  # bytes; a process and host name need fewer
WRITTEN_S = 10.0  # seconds within which another window writes its lock
CRASHED = "Marginscope closed unexpectedly."
LOST_RUNS = "Reopen {runs}? Nothing is lost: all recorded runs are in the library."
RESTORE, FRESH = "Reopen", "Start fresh"
ANSWERS = {RESTORE: Role.AcceptRole, FRESH: Role.RejectRole}


def name_runs(paths: Sequence[Path]) -> str:
    """Name the runs of some files by their number and their studies.

    >>> name_runs([Path(f"wei19-figure-5__network.m={m}.msrun") for m in (8, 16)])
    'the 2 runs of Wei et al. 2019, Figure 5'
    """
    titles = {study.id: study.title for study in shipped_summaries()}
    ids = [path.stem.partition("__")[0] for path in paths]
    studies = ", ".join(dict.fromkeys(titles.get(one, one) for one in ids))
    return f"the {len(paths)} runs of {studies}" if len(paths) > 1 else f"the run of {studies}"


def try_lock(lock: QLockFile) -> bool:
    """Lock a session; set aside a file that is not a program's lock and would never be released.

    A power cut can leave an empty lock. Qt would wait for a pipe, and read a device for ever.
    """
    place = Path(lock.fileName())
    if not _may_be_lock(place) and set_aside(place) is None:
        return False
    if lock.tryLock(0):
        return True
    with contextlib.suppress(OSError):
        if lock.getLockInfo()[0] or time.time() - place.lstat().st_mtime < WRITTEN_S:
            return False
        if set_aside(place) is not None:
            return lock.tryLock(0)
    return False


def _may_be_lock(place: Path) -> bool:
    if not is_plain(place):
        return False
    try:
        return place.stat().st_size <= LOCK_BYTES
    except OSError:  # no lock file
        return True


@final
class SessionKeeper(QObject):
    """Saved session: `previous`, if any; `warning` describes a fault of its file."""

    restore_answered = Signal(bool)  # True: restore the session saved before a crash
    restored = Signal()  # the runs are open and the study is in the form
    message = Signal(str)

    def __init__(
        self,
        places: Places,
        window: QWidget,
        display: DisplayController,
        scenes: SceneController,
    ) -> None:
        super().__init__(window)
        self._scenes = scenes
        self._path = places.session
        self._lock = QLockFile(f"{self._path}.lock")
        # Never by age: only a dead process gives up its lock.
        self._lock.setStaleLockTime(0)
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        self.owns_lock = try_lock(self._lock)
        self.warning = ""
        self.previous = self._read() if self.owns_lock else None
        self._question = Question(window, "restore")
        self._question.answer_given.connect(self._on_answer)
        self._written = ""
        self._started = False
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._save_timer.setObjectName("session")
        self._save_timer.timeout.connect(self.save)
        scenes.changed.connect(self._schedule)
        display.changed.connect(self._schedule)

    def _read(self) -> LastSession | None:
        if not os.path.lexists(self._path):
            return None
        try:
            return parse_session(read_text(self._path, MOST_BYTES, "session"))
        except (MarginscopeError, OSError):
            backup = set_aside(self._path)
            where = f"could not be read; it was moved to {backup}"
            if backup is None:
                where = f"in {self._path} could not be read; this session will not be saved"
                self.owns_lock = False  # the session file would be overwritten
            self.warning = f"The last session {where}."
            return None

    # ------------------------------------------------------------------------------------ question

    def open_question(self) -> None:
        """Ask whether to restore the session before a crash; the window can be used meanwhile."""
        assert self.previous is not None
        runs = name_runs(self.previous.scene.runs)
        self._question.show(CRASHED, LOST_RUNS.format(runs=runs), ANSWERS, default=RESTORE)

    def _on_answer(self, answer: str) -> None:
        self.restore_answered.emit(answer == RESTORE)

    def restore(self) -> bool:
        """Show the last session as far as its files exist; return True if any does."""
        if self.previous is None:
            return False
        scene = self.previous.scene
        missing = [path for path in scene.runs if not path.exists()]
        present = tuple(path for path in scene.runs if path not in missing)
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            names = ", ".join(path.name for path in missing)
            self.message.emit(f"{names} {verb} missing and could not be reopened.")
        if not present:
            return False
        if not self._scenes.show(replace(self._with_palette(scene), runs=present)):
            return False
        self.restored.emit()
        return True

    def restore_previous(self) -> None:
        """Show the last session, as a step that can be undone."""
        if self.previous is not None and self._scenes.restore(
            self._with_palette(self.previous.scene), "Reopen last session"
        ):
            self.restored.emit()

    def _with_palette(self, scene: Scene) -> Scene:
        """Return a scene in the present colours, of the settings or of the system."""
        palette = self._scenes.scene.intent.palette
        return replace(scene, intent=replace(scene.intent, palette=palette))

    # ------------------------------------------------------------------------------- writing

    def start(self) -> None:
        """Save the session from now on."""
        self._started = True
        self._schedule()  # so that a kill right after the start loses nothing

    def _schedule(self) -> None:
        if self.owns_lock and self._started and not self._save_timer.isActive():
            self._save_timer.start()

    def save(self, ended: bool = False) -> None:
        """Save the session; a folder that cannot be written is no error."""
        if not (self.owns_lock and self._started):
            return
        text = session_text(LastSession(self._scenes.shareable_scene(with_names=False), ended))
        if text != self._written:
            with contextlib.suppress(MarginscopeError, OSError):
                write_whole(self._path, text.encode())
                self._written = text

    def stop(self) -> None:
        """Save the session as ended, and release its lock."""
        self._save_timer.stop()
        self._question.withdraw()  # the next start asks
        self.save(ended=True)
        self.owns_lock = False
        self._lock.unlock()
