"""Use the window for hours and compare: `python -m tests.tools.soak [--minutes 120] [--seed N]`."""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import astuple, fields
from pathlib import Path
from typing import final

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.errors import LOG_FILE, Reporter, open_log
from app.places import Places
from app.process import prepare
from app.shell.application import Marginscope
from tests.tools.soak.holdings import Holdings, grown, held, kinds, trim
from tests.tools.soak.log import errors_in
from tests.tools.soak.walk import Walk

LOOK_MS = 60_000
QUIET_MS, PATIENCE_S = 100, 120.0
RESTS = 8  # times in a row that nothing is open, before it is believed
# Of the looks: until then everything was opened that is kept; six, where there are few.
SETTLED, FEW = 0.25, 6
COMPARED = 3  # looks that are compared
FEW_MODULES = 20  # of which the names are told


@final
class Soak(QObject):
    """Walks, and looks every minute at what is held while nothing is open."""

    def __init__(self, walk: Walk, log: Path, minutes: float) -> None:
        super().__init__()
        self._walk, self._log = walk, log
        self._end = time.monotonic() + 60.0 * minutes
        self._begin, self._rests = time.monotonic(), 0
        self._quiet_by = 0.0
        self._modules = set(sys.modules)
        self.looks: list[Holdings] = []
        self.kinds: list[Counter[str]] = []
        self.wrong: list[str] = []
        self._loop = QEventLoop()
        self._look = QTimer(self, interval=LOOK_MS, singleShot=True)
        self._look.timeout.connect(self._on_look)
        self._calm = QTimer(self, interval=QUIET_MS)
        self._calm.timeout.connect(self._on_calm)

    def note(self, sentence: str) -> None:
        """An error that nobody caught."""
        print(f"        {sentence}", flush=True)
        with suppress(OSError):  # a traceback is what whoever mends it looks at
            print(self._log.read_text()[-1500:], flush=True)

    def run(self) -> None:
        """Until the time is over."""
        self._walk.go()
        self._look.start()
        self._loop.exec()

    def _on_look(self) -> None:
        self._walk.rest()
        self._rests, self._quiet_by = 0, time.monotonic() + PATIENCE_S
        self._calm.start()

    def _on_calm(self) -> None:
        self._rests = self._rests + 1 if self._walk.quiet() else 0
        if self._rests < RESTS and time.monotonic() < self._quiet_by:
            return
        if self._rests < RESTS:
            self.wrong.append("something would not come to rest")
        self._calm.stop()
        self._walk.tidy()
        trim()
        now = held()
        self.looks.append(now)
        self.kinds.append(kinds())
        minutes = (time.monotonic() - self._begin) / 60.0
        print(f"{minutes:7.1f}{row(now)}{sum(self._walk.done.values()):>9,}", flush=True)
        late, self._modules = set(sys.modules) - self._modules, set(sys.modules)
        if 0 < len(late) <= FEW_MODULES:
            print(f"        loaded: {', '.join(sorted(late))}", flush=True)
        if time.monotonic() > self._end:
            self._loop.quit()
            return
        self._walk.go()
        self._look.start()


HEAD = ("MB", "MB given", *(field.name for field in fields(Holdings)[2:]), "deeds")


def row(one: Holdings) -> str:
    """A line of the table."""
    memory, given, *counts = astuple(one)
    sizes = f"{memory / 1e6:>9.1f}{given / 1e6:>9.1f}"
    return sizes + "".join(f"{count:>9,}" for count in counts)


def main() -> int:
    """Walk, print a line a minute, and what has grown; 1 where anything has."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.soak")
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()  # where a crash came from
    prepare()
    with tempfile.TemporaryDirectory(prefix="marginscope-soak-") as name:
        folder = Path(name)
        os.environ["MARGINSCOPE_CACHE"] = str(folder / "cache")
        os.environ["XDG_DATA_HOME"] = str(folder / "data")
        application = QApplication(["marginscope"])
        application.setQuitOnLastWindowClosed(False)
        print(f"{QApplication.platformName()}, seed {options.seed}, {options.minutes:g} minutes")
        print(f"{'minutes':>7}" + "".join(f"{word:>9}" for word in HEAD), flush=True)
        places = Places.in_folder(folder / "user")
        open_log(places.logs)
        errors: list[str] = []
        program = Marginscope(places)
        reporter = Reporter(places.logs / LOG_FILE)
        reporter.message.connect(errors.append)
        reporter.install()
        walk = Walk(program, folder, options.seed)
        program.worker.run_started.connect(program.settle)
        program.start()
        soak = Soak(walk, places.logs / LOG_FILE, options.minutes)
        reporter.message.connect(soak.note)
        soak.run()
        return _ended(program, walk, soak, errors, places.logs / LOG_FILE)


def _ended(program: Marginscope, walk: Walk, soak: Soak, errors: list[str], log: Path) -> int:
    """Close the window, and say what was done, what has grown, and what is left."""
    count = len(soak.looks)
    first = max(round(SETTLED * count), min(FEW, count // 2))
    before, after = soak.looks[first:][:COMPARED], soak.looks[-COMPARED:]
    wrong = [*soak.wrong, *grown(before or soak.looks, after)]
    if wrong:
        print("more:", dict(soak.kinds[-1] - soak.kinds[min(first, len(before))]))
    program.shutdown.close_now()
    program.window.deleteLater()
    program.deleteLater()
    soak.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    trim()
    end = held()
    print(f"{'closed':>7}{row(end)}")
    wrong += [f"{end.timers} timers ran after the end"] * bool(end.timers)
    wrong += [f"{end.children} processes ran after the end"] * bool(end.children)
    wrong += [f"nobody caught: {one}" for one in errors]
    if log.exists():
        text = log.read_text()
        said = [line for line in text.splitlines() if " ERROR " in line]
        wrong += [f"in the log: {line}" for line in dict.fromkeys(said)]
        if said:  # whoever mends it looks at the tracebacks, and the log goes with its folder
            print("".join(f"{line}\n" for line in errors_in(text)))
    print(
        f"{sum(walk.done.values()):,} deeds: "
        + ", ".join(f"{name} {count}" for name, count in walk.done.most_common())
    )
    share = sum(one.memory for one in after) / sum(one.memory for one in before or after)
    print(
        f"memory: {100 * (share * len(before or after) / len(after) - 1):+.1f} % since it settled"
    )
    for one in wrong:
        print(one)
    print("nothing is left" if not wrong else f"{len(wrong)} things are wrong")
    sys.stdout.flush()
    return int(bool(wrong))


if __name__ == "__main__":
    code = main()
    os._exit(code)  # the interpreter's own end is not what is looked at
