"""`python -m tests.tools.fuzz.window FIRST COUNT`: open hostile links and files in a window.

By turns these are links of absurd zooms and moments, damaged view files, and damaged run files.
Each is opened, or refused in a sentence, within SECONDS of the processor. In a window that hangs,
the watchdog writes where and ends the process; the next process starts behind that one. The memory
of each process is bounded.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from app.scenes.scene_texts import view_text
from tests.app.shell.absurd_links import HUNG_S, links, open_link, watchdog
from tests.app.shell.shared_window import trained, wait_until
from tests.support.mutations import damaged_text
from tests.tools.fuzz.formats import FinishedRun
from tests.tools.fuzz.opening import memory
from tests.tools.fuzz.texts import SCENE

COUNT = 1500
MOST_BYTES = 2 << 30  # of memory, with all that the window has loaded
CHILD_BYTES = "memory"  # starts the line on it


def hostile(paths: Sequence[Path], folder: Path) -> Iterator[str]:
    """Yield links and names of damaged files in turn, endlessly; files are made in `folder`."""
    kind = FinishedRun()
    run = kind.files(folder)
    view = view_text(replace(SCENE, runs=tuple(paths[:2])), folder).encode()
    for number, link in enumerate(links(paths)):
        chance = random.Random(f"window {number}")
        yield link
        place = folder / f"{number}.msview"
        place.write_bytes(damaged_text(view, chance))
        yield str(place)
        place = folder / f"{number}.msrun"
        place.write_bytes(kind.damage(run["a.msrun"], chance))
        yield str(place)


def main(first: int, count: int) -> int:
    """Open links and files from number `first` on in a window of this process, a line each."""
    import pytest
    from PySide6.QtWidgets import QApplication

    from tests.app.shell.conftest import FIGURE_1_STUDY, PACES, make_program

    application = QApplication([])
    errors: list[str] = []
    sys.excepthook = lambda kind, error, _: errors.append(f"{kind.__name__}: {error}")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, pace in PACES.items():
            patch.setattr(f"app.{name}", pace)
        study = Path(folder) / "small.toml"
        study.write_text(FIGURE_1_STUDY)
        program = make_program(Path(folder) / "user", [study])
        program.start()
        wait_until(lambda: trained(program), HUNG_S)
        paths = [Path(run.source) for run in program.session]
        damaged = Path(folder) / "damaged"
        damaged.mkdir()
        for number, link in enumerate(islice(hostile(paths, damaged), first, count), first):
            with watchdog():
                result = open_link(program, link)
            result = f"error: {errors.pop(0)}" if errors else result
            errors.clear()
            print(number, result, "" if result in ("opened", "refused") else link, flush=True)
        print(CHILD_BYTES, memory("VmHWM"), flush=True)
        program.window.close()
        program.worker.close()
    application.processEvents()
    return 0


def results(count: int = COUNT) -> tuple[Counter[str], list[str]]:
    """Open links and files in processes of their own.

    Returns counts of results, and a line for each fault.
    """
    first, outcomes, faults = 0, Counter[str](), []
    while first < count:
        command = [sys.executable, "-m", "tests.tools.fuzz.window", str(first), str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            if line.startswith(CHILD_BYTES):
                if int(line.split()[1]) > MOST_BYTES:
                    faults.append(f"{line} bytes")
                continue
            number, result, *rest = line.split(" ", 2)
            first = int(number) + 1
            result = result.rstrip(":")
            outcomes[result] += 1
            if result not in ("opened", "refused"):
                faults.append(f"number {number}: {result} {' '.join(rest)}")
        if done.returncode == 0:
            break
        outcomes["hung"] += 1
        faults.append(f"number {first}: ({done.returncode}) {done.stderr[-1500:]}")
        first += 1
    return outcomes, faults


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
