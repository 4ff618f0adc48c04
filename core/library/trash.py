"""The trash: a folder beside the runs, with a folder for each deleted run.

    runs/.trash/2026-11-22T10-00-00-1f2e3d4c/
        origin.json      its old path, and the process that moves it
        NAME.msrun       and its -wal and notes, if it had any

Everything is moved by renaming, and the origin is written first. The run file is the first that
leaves its place and the last that comes back, so that a kill in between leaves a run that is
either in the trash or in its place, and `complete_moves` puts the other files beside it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, final

from core.comparison.own_name import SUFFIX as NOTES
from core.errors import InputError, MarginscopeError
from core.files import has_no_writer, is_there, read_text, remove_left, write_whole
from core.library.index import RUN, TRASH, WAL, FoundFile, in_folder, list_folder
from core.library.run_notes import LONGEST_FILE_NAME
from core.run_files.active_recorders import machine_name

ORIGIN, GOING = "origin.json", ".purged"
BESIDE = (WAL, NOTES)
# Errors caused by foreign JSON.
NOT_OURS = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
MOST_BYTES = 20_000
# One for all: moves in progress must not look like interrupted ones to `complete_moves`.
MOVING = threading.RLock()


@final
@dataclass(frozen=True, slots=True)
class Item:
    """Run in the trash: its file, and its old path."""

    found: FoundFile
    origin: Path


@final
class Trash:
    """Trash of one folder of runs. Thread-safe. Only `purge` removes runs."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / TRASH

    def items(self) -> list[Item]:
        """Return the runs in the trash; folders with other content are ignored."""
        items = []
        for name in list_folder(self.folder)[1]:
            folder = self.folder / name
            origin = _origin(folder)
            if origin is None or name.endswith(GOING):
                continue
            path = Path(origin["path"])
            items += [Item(one, path) for one in in_folder(folder, list_folder(folder)[0])]
        return items

    def move_to_trash(self, run: Path) -> Path:
        """Move a run to the trash and return its new path. Raises InputError if that fails."""
        with MOVING:
            if not run.is_file():
                raise InputError(f"The run file {run} no longer exists; refresh the library.")
            moment = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
            folder = self.folder / f"{moment}-{secrets.token_hex(4)}"
            try:
                folder.mkdir(parents=True)
                _write_origin(folder, run)
                run.rename(folder / run.name)
            except (OSError, MarginscopeError) as error:
                self._return_parts(folder, run)
                raise InputError(
                    f"{run} cannot be moved to the trash ({_reason(error)}); check write access "
                    "to its folder, and that it is on the same disk as the library."
                ) from error
            self._gather(folder, run)
            return folder / run.name

    def restore(self, run: Path) -> Path:
        """Move a run back to its old path, or beside an existing file; return the path.

        Raises InputError if that fails.
        """
        with MOVING:
            folder = run.parent
            origin = _origin(folder)
            if origin is None or folder.parent != self.folder or not run.is_file():
                raise InputError(f"{run} is no longer in the trash; refresh the library.")
            try:
                target = Path(origin["path"])
                target.parent.mkdir(parents=True, exist_ok=True)
                target = _unused_path(target)
                # Write the origin first: after a crash, `complete_moves` moves notes to the run's
                # future place.
                _write_origin(folder, target)
                for suffix in BESIDE:
                    _move(_path_with_suffix(run, suffix), _path_with_suffix(target, suffix))
                _move_alone(run, target)
            except (OSError, MarginscopeError) as error:
                with suppress(OSError):
                    self._gather(folder, target)
                raise InputError(f"{run.name} cannot be restored ({_reason(error)}).") from error
            shutil.rmtree(folder, ignore_errors=True)
            return target

    def purge(self, run: Path) -> None:
        """Remove a run from the trash and the disk, for good. Raises InputError."""
        with MOVING:
            folder = run.parent
            if folder.parent != self.folder or _origin(folder) is None:
                raise InputError(f"{run} is no longer in the trash; refresh the library.")
            # Rename first: a partial run must never be listed.
            going = folder.with_name(folder.name + GOING)
            try:
                folder.rename(going)
                shutil.rmtree(going)
            except OSError as error:
                raise InputError(f"{run.name} cannot be removed ({_reason(error)}).") from error

    def complete_moves(self) -> None:
        """Complete the moves of killed programs."""
        with MOVING:
            for name in list_folder(self.folder)[1]:
                folder = self.folder / name
                if name.endswith(GOING):
                    shutil.rmtree(folder, ignore_errors=True)
                    continue
                remove_left(folder)  # temporary files of an interrupted write of the origin
                origin = _origin(folder)
                if origin is None:
                    # Only if empty: the program was killed before it wrote the origin.
                    with suppress(OSError):
                        folder.rmdir()
                    continue
                mine = (origin["host"], origin["pid"]) == (machine_name(), os.getpid())
                if mine or has_no_writer(folder, origin["host"], origin["pid"]):
                    with suppress(OSError):
                        self._gather(folder, Path(origin["path"]))

    def _gather(self, folder: Path, origin: Path) -> None:
        """Move -wal and notes of a run to where its file is: in the trash, or at `origin`."""
        runs = [folder / name for name in list_folder(folder)[0] if name.endswith(RUN)]
        # Killed between the link and the deletion of a restore.
        if runs and _is_same_file(runs[0], origin):
            runs.pop().unlink()
        if not runs:
            self._return_parts(folder, origin)
        elif not origin.exists():  # otherwise another run with its own notes has that path
            for suffix in BESIDE:
                _move(_path_with_suffix(origin, suffix), _path_with_suffix(runs[0], suffix))

    def _return_parts(self, folder: Path, origin: Path) -> None:
        """Move -wal and notes of a run back beside its file at `origin`, and remove `folder`.

        The folder holds no run file. An OSError stops this; `complete_moves` tries again.
        """
        with suppress(OSError):
            for name in list_folder(folder)[0]:
                suffix = next(one for one in BESIDE if name.endswith(one))
                _move(folder / name, _path_with_suffix(origin, suffix))
            (folder / ORIGIN).unlink(missing_ok=True)
            folder.rmdir()


def _path_with_suffix(run: Path, suffix: str) -> Path:
    return run.with_name(run.name + suffix)


def _is_same_file(first: Path, second: Path) -> bool:
    """Return True if two paths are of one file."""
    try:
        return first.samefile(second)
    except OSError:
        return False


def _move(source: Path, target: Path) -> None:
    """Rename a file without replacing another one; do nothing if it is missing.

    If both paths are the same file, an interrupted move is completed: `source` is removed. Raises
    OSError, FileExistsError if `target` is another file.
    """
    if _is_same_file(source, target):
        source.unlink()
        return
    with suppress(FileNotFoundError):
        if os.path.lexists(source):  # False for names that are too long
            _move_alone(source, target)


def _move_alone(source: Path, target: Path) -> None:
    """Rename a file without replacing another one. Raises OSError."""
    try:
        target.hardlink_to(source)  # atomic, and fails if the target exists
        source.unlink()
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if not source.exists():
            raise FileNotFoundError(source) from None
        if target.exists():
            raise FileExistsError(target) from None
        source.rename(target)


def _unused_path(path: Path) -> Path:
    """Return an unused path: the path itself, or with a number."""
    number, free = 2, path
    while any(is_there(_path_with_suffix(free, suffix)) for suffix in ("", *BESIDE)):
        stem, end = path.stem, f"-{number}{path.suffix}"
        # Cut long names, so that the names of notes and -wal are not too long either.
        while stem and len(os.fsencode(stem + end)) > LONGEST_FILE_NAME - len(NOTES):
            stem = stem[:-1]
        free = path.with_name(stem + end)
        number += 1
    return free


def _write_origin(folder: Path, run: Path) -> None:
    """Write the path of a run, and this machine and process, into its folder in the trash."""
    fields = {"path": os.fsencode(run.absolute()).decode("latin-1")}
    content = json.dumps(fields | {"host": machine_name(), "pid": os.getpid()})
    write_whole(folder / ORIGIN, content.encode())


def _origin(folder: Path) -> dict[str, Any] | None:
    """Return a run's old path and the process that moved it; None for folders of other programs."""
    try:
        fields = json.loads(read_text(folder / ORIGIN, MOST_BYTES, "The trash"))
        path = os.fsdecode(fields["path"].encode("latin-1"))
        if "\0" in path or not Path(path).is_absolute() or not path.endswith(RUN):
            return None
        return {"path": path, "host": str(fields["host"]), "pid": int(fields["pid"])}
    except (MarginscopeError, *NOT_OURS):
        return None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error).rstrip(".")
