"""Faults of a window: kills, two at once, missing files, damaged files of its own."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from app.errors import LOG_FILE
from core.library.run_notes import read_about
from core.runs import open_run
from tests.support.run_files import record
from tests.tools.faults.fault import Tally
from tests.tools.faults.kills import (
    CELLS,
    GD,
    SMALL,
    command,
    differing,
    lost_frames,
    study_in,
    wait_for,
    whole,
)
from tests.tools.faults.mounting import disk
from tests.tools.faults.processes import Program, core, crashed, is_sentence, marked
from tests.tools.faults.window import Window

SLOW = GD.replace("4e-3", "1e-4")


def _ended(window: Window) -> Tally:
    """Return how a window ends on request."""
    status, err = window.close()
    log = window.user / "logs" / LOG_FILE
    said = log.read_text().count(" ERROR ") if log.is_file() else 0
    return Tally(crashes=int(status != 0 or crashed(status, err)) + max(len(window.errors), said))


def killed(folder: Path, number: int) -> Tally:
    """Kill a window that trains: every announced frame is there; the next one offers to restore."""
    chance = random.Random(f"window {number}")
    study, user = study_in(folder, SLOW), folder / "user"
    window = Window(folder, user, study)
    with window.program as program:
        window.until(lambda now: now["live"])
        wait_for(program, chance, 300)
        # The session is written every few seconds: half of them are killed before that.
        if chance.random() < 0.5:
            program.wait_until((user / "session.json").exists)
        left = program.kill()
        told = program.told()
    lost = 0
    for path, last in told.items():
        with open_run(path) as run:
            lost += max(0, last + 1 - run.frames)
    again = Window(folder, user)
    with again.program:
        if (user / "session.json").exists():
            now = again.until(lambda now: now["asks"])
            unsaid = "closed unexpectedly" not in now["asks"]
        else:
            unsaid = not again.until(lambda now: now["visible"])["visible"]
        tally = _ended(again)
    return tally + Tally(sum(last + 1 for last in told.values()), lost, unsaid=unsaid, left=left)


def twice(folder: Path, number: int) -> Tally:
    """Open two windows of one user on one file: both show it, keep bookmarks with it, and close."""
    run = folder / "small.msrun"
    shutil.copy(whole(SMALL, "small") / "small.msrun", run)
    before, user, tally = run.read_bytes(), folder / "user", Tally()
    one, two = Window(folder, user, run), Window(folder, user, run)
    with one.program, two.program:
        for window in (one, two):
            window.until(lambda now: now["frames"] == [60] or now["frames"] == [61])
        for k, window in enumerate((one, two, one, two)):
            window.ask(f"at {k / 4}")
            window.ask(f"bookmark moment {k}")
        time.sleep(0.3)
        for window in (one, two):
            window.until(lambda now: now["visible"])
        for window in (one, two):
            tally += _ended(window)
    names = {mark.name for mark in read_about(run).bookmarks}
    lost = len({f"moment {k}" for k in range(4)} - names) + (run.read_bytes() != before)
    return tally + Tally(told=5, lost=lost)


def _gone(path: Path, kind: str, other: Path) -> None:
    """Change a file that is open elsewhere."""
    if kind == "removed":
        path.unlink()
    elif kind == "cut short":
        os.truncate(path, path.stat().st_size // 2)
    elif kind == "emptied":
        os.truncate(path, 0)
    elif kind == "replaced":
        shutil.copy(other, path.with_name("new"))
        path.with_name("new").replace(path)
    elif kind == "written over":  # the same file with another content
        path.write_bytes(other.read_bytes())
    elif kind == "garbage":
        path.write_bytes(random.Random(0).randbytes(path.stat().st_size))
    elif kind == "a folder":
        path.unlink()
        path.mkdir()
    else:  # one byte, somewhere
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 255
        path.write_bytes(content)


KINDS = (
    "removed",
    "replaced",
    "cut short",
    "garbage",
    "emptied",
    "written over",
    "a folder",
    "one byte",
)


def taken(folder: Path, number: int) -> Tally:
    """Remove, replace or damage the shown file: the window remains usable, and reports it."""
    run, other = folder / "small.msrun", record(folder / "other.msrun")
    shutil.copy(whole(SMALL, "small") / "small.msrun", run)
    window = Window(folder, folder / "user", run)
    with window.program:
        now = window.until(lambda now: now["frames"] and now["frames"][0] >= 60)
        frames = now["frames"]
        _gone(run, KINDS[number % len(KINDS)], other)
        for line in ("at 0.3", "do end", "do start forward", "do compare", "do compare"):
            window.ask(line)
        window.ask("do copy_figure")
        window.ask("bookmark here")
        window.ask("do times library library undo redo")
        for _ in range(10):
            now = window.ask("at 0.8")
        lost = now["runs"] == [str(run)] and now["frames"] != frames
        unsaid = bool(now["bar"]) and not is_sentence(f"{now['bar']}\n")
        window.ask("do further")
        window.ask("do close")
        tally = _ended(window)
    return tally + Tally(told=frames[0], lost=int(lost), unsaid=int(unsaid))


def garbage(folder: Path, number: int) -> Tally:
    """Damage settings, session and library: the window opens, reports it, and sets them aside."""
    chance = random.Random(f"garbage {number}")
    user = folder / "user"
    user.mkdir()
    run = folder / "small.msrun"
    shutil.copy(whole(SMALL, "small") / "small.msrun", run)
    kinds = (
        lambda: chance.randbytes(chance.randrange(1, 5000)),
        lambda: b"[" * 5000,
        lambda: b'{"views": 3, "scene": {"run": [["x"]]}, "version": 1, "form": 7, "ended": 1}',
        lambda: b"SQLite format 3\0" + chance.randbytes(3000),
    )
    names = ("settings.json", "session.json", "library.sqlite", "runs", "logs")
    for name in names[: 3 + 2 * (number % 5 == 4)]:  # at times also files in place of folders
        (user / name).write_bytes(chance.choice(kinds)())
    window = Window(folder, user, run)
    with window.program:
        window.until(lambda now: now["frames"] and now["frames"][0] >= 60)
        window.ask("do library")
        now = window.until(lambda now: now["bar"])
        unsaid = not is_sentence(f"{now['bar']}\n")
        window.ask("do library")
        tally = _ended(window)
    again = Window(folder, user, run)
    with again.program:
        now = again.until(lambda now: now["frames"] and now["frames"][0] >= 60)
        tally += _ended(again)
    return tally + Tally(told=3, unsaid=unsaid)


def full(folder: Path, number: int) -> Tally:
    """Fill the disk during training in a window: it reports it and remains; with room it trains."""
    chance = random.Random(f"full window {number}")
    study, tally = study_in(folder, SLOW), Tally()
    with disk(folder, 30_000) as place:
        window = Window(folder, place.place / "user", study)
        with window.program as program:
            window.until(lambda now: now["live"])
            wait_for(program, chance, 300)
            place.fill()
            now = window.until(lambda now: not now["live"] and now["bar"])
            unsaid = not is_sentence(f"{now['bar']}\n")
            window.ask("at 0.5")
            told = program.told()
            lost = 0
            for path, last in told.items():
                with open_run(path) as run:
                    lost += max(0, last + 1 - run.frames)
            place.empty()
            window.until(lambda now: now["live"], "do restart")
            window.ask("do stop")
            window.until(lambda now: not now["live"])
            tally += _ended(window)
    return tally + Tally(sum(last + 1 for last in told.values()), lost, unsaid=int(unsaid))


def locked(folder: Path, number: int) -> Tally:
    """Lock the user's folder: the window opens, shows runs, and reports what is impossible."""
    run = whole(SMALL, "small") / "small.msrun"
    with disk(folder, 4000) as place:
        shutil.copy(run, place.place / "small.msrun")
        study = study_in(place.place, SMALL, "small")
        place.lock()
        names = [place.place / "small.msrun", study]
        window = Window(folder, place.place / "user", names[number % 2])
        with window.program:
            if number % 2:
                now = window.until(lambda now: now["bar"])
            else:
                window.until(lambda now: now["frames"] and now["frames"][0] >= 60)
                window.ask("bookmark here")
                now = window.until(lambda now: now["bar"])
            unsaid = not is_sentence(f"{now['bar']}\n")
            tally = _ended(window)
    return tally + Tally(told=1, unsaid=int(unsaid))


def worker(folder: Path, number: int) -> Tally:
    """Kill a worker of a sweep once or twice: the sweep ends with the usual files."""
    chance = random.Random(f"worker {number}")
    study, out = study_in(folder, CELLS, "cells"), folder / "out"
    reference = whole(CELLS, "cells")
    with Program(core("run", study, "--out", out, "--quiet", "--jobs", "2"), folder) as program:
        for _ in range(1 + number % 2):
            wait_for(program, chance, 4 * 300)
            others = [pid for pid in marked(program.mark) if pid != program.process.pid]
            workers = [pid for pid in others if b"popen_loky" in _line(pid)]
            for pid in workers[: 1 + number % 3]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        code, _, err = program.ended()
        told = program.told()
    assert code == 0 or crashed(code, err), (code, err)
    lost = sum(differing(out / path.name, path) for path in reference.glob("*.msrun"))
    lost += sum(lost_frames(path, -1, reference / path.name) for path in told)
    command("table", out, "--out", folder / "a.csv", "--quiet")
    return Tally(sum(last + 1 for last in told.values()), lost, crashes=crashed(code, err))


def _line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
