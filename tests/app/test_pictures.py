"""The window as it was approved by eye, compared coarsely: fonts differ, the layout must not.

`python -m tests.app.test_pictures` takes the pictures anew, to be looked at before they are kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.places import Places
from app.shell.application import Marginscope

KEPT = Path(__file__).parent / "pictures"
SIZE = (1280, 800)
COARSE = (80, 50)  # each cell is 16 x 16 pixels: text becomes its grey, curves stay where they are
NAMES = ("light", "dark")
FOOTER = 48  # the status line names a file that is new each time


def wait(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    for _ in range(round(seconds / 0.05)):
        if true():
            return
        wait(50)
    raise TimeoutError("the window did not get there")


def trained(program: Marginscope) -> bool:
    runs = list(program.session)
    return len(runs) == 2 and all(
        run.data is not None and not run.live and not run.behind for run in runs
    )


def judged(program: Marginscope) -> bool:
    """Whether both runs were judged by all of their reference margins."""
    known = [program.theory.results(run.key) for run in program.session]
    return not program.theory.busy and all(
        one.planned
        and one.judgement is not None
        and one.judged[1] == len(one.margins) == len(one.references)
        for one in known
    )


def pictures(program: Marginscope) -> Iterator[tuple[str, Image.Image]]:
    program.window.resize(*SIZE)
    program.start()
    wait_until(lambda: trained(program))
    wait_until(lambda: judged(program), 60.0)
    program.playback.to_end()
    for name in NAMES:
        if name == "dark":
            program.actions["dark"].trigger()
        program.display.update_intent(playing=False)
        wait(400)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "window.png"
            assert program.window.grab().save(str(path))
            with Image.open(path) as image:
                yield name, image.convert("RGB")


def coarse(image: Image.Image) -> np.ndarray:
    """The mean colour of each cell of the picture above the status line."""
    top = image.crop((0, 0, SIZE[0], SIZE[1] - FOOTER))
    return np.asarray(top.resize(COARSE, Image.Resampling.BOX), dtype=np.float64)


@pytest.mark.slow
def test_the_window_looks_as_approved(qtbot: QtBot, tmp_path: Path) -> None:
    program = Marginscope(Places.under(tmp_path), ())
    # It would ask whether to stop what is being trained where the test has failed before.
    qtbot.addWidget(program.window, before_close_func=lambda _: program.shutdown.close_now())
    found = {name: coarse(image) for name, image in pictures(program)}
    program.window.close()
    assert program.worker.close()
    for name in NAMES:
        with Image.open(KEPT / f"{name}.png") as image:
            kept = coarse(image.convert("RGB"))
        apart = np.abs(found[name] - kept).max(axis=2)
        assert apart.mean() < 4.0, name
        assert np.mean(apart > 60.0) < 0.02, name


def take_anew() -> None:
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        program = Marginscope(Places.under(Path(folder)), ())
        for name, image in pictures(program):
            image.crop((0, 0, SIZE[0], SIZE[1] - FOOTER)).save(KEPT / f"{name}.png", optimize=True)
        program.window.close()
        program.worker.close()
    application.quit()


if __name__ == "__main__":
    take_anew()
