"""Figures that another process draws: what is handed over, and every way in which it may end."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.compiled import beside
from core.errors import InputError, MarginscopeError
from core.figures.export import figure_bytes, save_figure
from core.figures.figure_beside import COMMAND, FigureDrawer
from core.figures.look import Look
from core.figures.names import EVERY_PANEL
from core.figures.palette import DARK
from core.figures.primitives import FigureScene, Raster, TimeKey
from core.figures.scene import build_scene
from core.figures.scene_archive import PARTS, archive_of, scene_in
from core.reference.watch import CancelledError
from core.runs import open_run
from tests.processes import never, posix, runs_still, starts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def started(monkeypatch) -> list[subprocess.Popen[str]]:
    """Every process that was started."""
    return starts(monkeypatch)


@pytest.fixture(scope="module")
def scene(runs) -> FigureScene:
    """Every panel that two runs have, in other colours than usual."""
    with open_run(runs[0]) as one, open_run(runs[1]) as two:
        panels = [name for name in EVERY_PANEL if name not in ("waves", "phases")]
        return build_scene([one, two], panels, palette=DARK, look=Look(pinned=(frozenset({1}),)))


@pytest.fixture
def drawer() -> Iterator[FigureDrawer]:
    """One that is ended."""
    drawer = FigureDrawer()
    yield drawer
    drawer.end()
    assert not drawer.started


def same(one: Any, other: Any) -> bool:
    """Whether two parts of scenes are the same, kinds of numbers and all."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype == float)
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in names
        )
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or (one != one and other != other))


# ----------------------------------------------------------------------------- what is handed over


def test_a_scene_is_the_same_when_it_is_read(scene: FigureScene) -> None:
    again = scene_in(archive_of(scene))
    assert same(again, scene) and not same(again, replace(scene, title="another"))
    kinds = {type(part).__name__ for part in parts(scene)}
    assert kinds >= {"FigureScene", "Panel", "Curves", "Dots", "Level", "KeyEntry", "TimeKey"}
    assert any(isinstance(panel.key, TimeKey) for panel in again.panels)
    assert any(isinstance(part, Raster) for part in parts(again))


def parts(value: Any) -> Iterator[Any]:
    """A value and all that it is made of."""
    yield value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from parts(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from parts(one)


def test_every_kind_of_part_can_be_handed_over() -> None:
    made = {kind for kind in PARTS.values() if kind.__module__ == "core.figures.primitives"}
    assert len(PARTS) == len(made) + 1 and len(made) >= 14


def test_numbers_of_numpy_are_the_numbers(scene: FigureScene) -> None:
    points = np.float64(1.0) / 3.0
    again = scene_in(archive_of(replace(scene, points=points)))
    assert type(again.points) is float and again.points == points


def test_an_archive_that_is_spoilt_is_refused(small: bytes, subtests: pytest.Subtests) -> None:
    whole, refused = scene_in(small), 0
    for seed in range(300):
        with subtests.test(seed=seed):
            try:
                read = scene_in(spoilt(small, seed))
            except InputError:
                refused += 1
                continue
            # A date in the zip, for one, is nobody's.
            assert same(read, whole)
    assert refused > 100


def spoilt(content: bytes, seed: int) -> bytes:
    """Cut an archive off, flip one of its bits, or replace a part of it."""
    chance, damaged = random.Random(seed), bytearray(content)
    if seed % 3 == 0:
        del damaged[chance.randrange(len(damaged)) :]
    elif seed % 3 == 1:
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    else:
        place = chance.randrange(len(damaged))
        damaged[place : place + chance.randrange(1, 40)] = chance.randbytes(chance.randrange(40))
    return bytes(damaged)


@pytest.fixture(scope="module")
def small(scene: FigureScene) -> bytes:
    """An archive without most of its points, so that what is spoilt is seldom only a number."""
    return archive_of(replace(scene, panels=(replace(scene.panels[0], key=()),)))


@pytest.mark.parametrize(
    "tree",
    [
        "1",
        '{"is": "Palette"}',
        '{"is": "Popen", "args": ["touch", "spoilt"]}',
        '{"is": "FigureScene", "more": 1}',
        '{"array": 7}',
        '{"marker": "STAR"}',
        "{}",
        "[" * 100_000,
        "no json",
    ],
)
def test_another_tree_is_refused(tree: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, scene=np.frombuffer(tree.encode(), np.uint8))
    with pytest.raises(InputError, match="A scene is not as this program writes it"):
        scene_in(path.read_bytes())


# ----------------------------------------------------------------------------- what is drawn


def test_another_process_draws_the_same_bytes(drawer, scene, started, tmp_path: Path) -> None:
    """Draw in each format, and have three threads take turns.

    The process may be started before a figure is there, and is the same until it ends.
    """
    drawer.begin()
    drawer.begin()
    assert drawer.started
    save_figure(tiny(), tmp_path / "a.PDF", draw=partial(drawer.draw, cancelled=never))
    assert (tmp_path / "a.PDF").read_bytes() == figure_bytes(tiny(), ".pdf")
    kinds = ("rotations", "predictor")  # a key of moments, and a raster
    two = tuple(panel for panel in scene.panels if panel.row == 0 and panel.kind in kinds)
    assert [panel.kind for panel in two] == list(kinds)
    some = replace(scene, panels=two, texts=())
    assert drawer.draw(some, ".png", 70.0) == figure_bytes(some, ".png", 70.0)
    drawn: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: drawn.append(drawer.draw(tiny(), ".svg"))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert drawn == [figure_bytes(tiny(), ".svg")] * 3
    (process,) = started
    assert process.poll() is None and drawer.started
    assert drawer.end() and process.poll() is not None and not drawer.started


@pytest.mark.slow
def test_a_bundled_window_starts_itself(drawer, monkeypatch) -> None:
    with monkeypatch.context() as bundled:
        bundled.setattr(sys, "frozen", True, raising=False)
        program, *words = beside.headless(COMMAND)
    assert program == sys.executable
    # As the bundle does: the script of the window, with these words.
    monkeypatch.setattr(beside, "headless", lambda command: [sys.executable, "-m", "app", *words])
    assert drawer.draw(tiny(), ".svg") == figure_bytes(tiny(), ".svg")


# ----------------------------------------------------------------------------- how it may end


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("print('{\"memory\": true}')", MemoryError, "^$"),
        ("print(json.dumps({'bug': 'Traceback of a bug'}))", RuntimeError, "Traceback of a bug"),
        ("print(json.dumps({'error': 'It is wrong.'}))", MarginscopeError, r"^It is wrong\.$"),
        ("print('hello'); print([]); os._exit(3)", MarginscopeError, "drew it ended with 3; try"),
        ("print('no!', file=sys.stderr)", MarginscopeError, r"ended with 0 \(no!\); try again"),
        ("print('{\"bytes\": 9}'); print('short')", MarginscopeError, "The figure was not written"),
        pytest.param(
            "os.kill(os.getpid(), 9)", MarginscopeError, "was ended by signal 9; try", marks=posix
        ),
    ],
)
def test_how_a_process_ends_is_told(drawer, scene, answering, code, error, said) -> None:
    answering(f"sys.stdin.buffer.read({len(archive_of(scene))}); {code}")
    with pytest.raises(error, match=said):
        drawer.draw(scene, ".svg")
    assert not drawer.started


def test_an_answer_is_heard_that_comes_before_the_request_is_taken(drawer, scene, answering):
    """Where a pipe takes no more, as the process that has answered is gone."""
    answering("print(json.dumps({'error': 'It is wrong.'}))")
    many = replace(scene, panels=scene.panels * 20)
    with pytest.raises(MarginscopeError, match=r"^It is wrong\.$"):
        drawer.draw(many, ".svg")


def test_a_process_that_cannot_be_started_is_a_sentence(drawer, monkeypatch, tmp_path):
    monkeypatch.setattr(beside, "headless", lambda name: [str(tmp_path / "no program")])
    drawer.begin()
    with pytest.raises(MarginscopeError, match=r"draws figures cannot be started .*; close other"):
        drawer.draw(tiny(), ".svg")
    assert not drawer.started


def test_a_process_that_has_ended_is_started_again(
    drawer, scene, monkeypatch, tmp_path, started
) -> None:
    """Start one where none could be started, where one has ended, after an error, and a kill."""
    with monkeypatch.context() as without:
        without.setattr(beside, "headless", lambda name: [str(tmp_path / "no program")])
        with pytest.raises(MarginscopeError):
            drawer.draw(tiny(), ".svg")
        without.setattr(beside, "headless", lambda name: [sys.executable, "-S", "-c", ""])
        drawer.begin()
        started[0].wait()
    # Errors are the same sentences, and the process goes on no longer than its error.
    wrong = replace(tiny(), width_mm=-1.0)
    with pytest.raises(ValueError, match="figure size must be") as here:
        figure_bytes(wrong, ".svg")
    with pytest.raises(RuntimeError, match=str(here.value)[:20]):
        drawer.draw(wrong, ".svg")
    assert len(started) == 2 and started[1].poll() is not None and not drawer.started
    assert drawer.draw(tiny(), ".svg") == figure_bytes(tiny(), ".svg") and len(started) == 3

    def kill() -> bool:
        started[2].kill()
        return False

    with pytest.raises(MarginscopeError, match=r"; try again, with fewer"):
        drawer.draw(scene, ".png", 600.0, kill)
    assert not drawer.started


@pytest.mark.parametrize("command", ["import time; time.sleep(1000)", None])
def test_what_is_cancelled_ends_at_once(drawer, scene, started, monkeypatch, command) -> None:
    """Also where a process takes nothing, and a pipe not all of a scene."""
    if command:
        words = [sys.executable, "-S", "-c", command]
        monkeypatch.setattr(beside, "headless", lambda name: words)
    many = replace(scene, panels=scene.panels * 20)
    asked = iter((False, False, False))
    with pytest.raises(CancelledError):
        drawer.draw(many, ".png", 600.0, lambda: next(asked, True))
    assert started[0].poll() is not None and not drawer.started


def test_what_waits_for_its_turn_may_be_cancelled(drawer, scene) -> None:
    stop = threading.Event()
    many = replace(scene, panels=scene.panels * 20)

    def draw() -> None:
        with pytest.raises(CancelledError):
            drawer.draw(many, ".png", 600.0, stop.is_set)

    thread = threading.Thread(target=draw)
    thread.start()
    while not drawer.started:
        time.sleep(0.01)
    assert not drawer.end()  # nobody ends it while it draws
    with pytest.raises(CancelledError):
        drawer.draw(scene, ".svg", 72.0, lambda: True)
    stop.set()
    thread.join()


# ----------------------------------------------------------------------------- the command


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    """The command, as a drawer starts it."""
    with beside.start(beside.headless(COMMAND)) as process:
        yield process
        process.kill()


def answer_to(process: subprocess.Popen[str], request: bytes) -> dict[str, Any]:
    """What it says first."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.buffer.write(request)
    process.stdin.buffer.flush()
    return dict(json.loads(process.stdout.buffer.readline()))


WRONG = (
    (b"hello\n", "A request for a figure is a line of JSON, and a scene."),
    (b"[]\n", "A request for a figure is a line of JSON, and a scene."),
    (b'{"suffix": ".svg", "dpi": "x", "bytes": 3}\n', "is a line of JSON, and a scene."),
    (b'{"suffix": ".svg", "dpi": 72, "bytes": -1}\n', "of -1 bytes is larger than any"),
    (b'{"suffix": ".svg", "dpi": 72, "bytes": 99999999999}\n', "is larger than any figure's."),
    (
        b'{"suffix": ".svg", "dpi": 72, "bytes": 3}\nabc',
        "A scene is not as this program writes",
    ),
)


def test_a_wrong_request_is_a_sentence(process, subtests: pytest.Subtests) -> None:
    """And the next one is answered."""
    for request, said in WRONG:
        with subtests.test(request=request):
            assert said in answer_to(process, request)["error"]
    assert "error" in answer_to(process, b"hello\n")
    process.stdin.close()
    assert process.wait() != 0 and process.stderr.read() == ""


def test_a_large_size_is_not_believed_before_it_is_there(process) -> None:
    """The input ends in the middle of a scene: there is an answer, or an end, and no waiting."""
    process.stdin.buffer.write(b'{"suffix": ".svg", "dpi": 72, "bytes": 4000000000}\nabc')
    process.stdin.close()
    process.wait()
    assert process.stderr.read() == ""


@posix
@pytest.mark.parametrize("streams", ["<&-", "< /dev/null", "<&- >&- 2>&-"])
def test_without_an_input_it_ends(streams: str) -> None:
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", *beside.headless(COMMAND)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert done.returncode != 0 and done.stdout == b"" and b"Traceback" not in done.stderr


@posix
def test_it_ends_with_the_program_that_asked(tmp_path: Path) -> None:
    """In the middle of a figure that takes longer than a test."""
    code = (
        "import sys\n"
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from core.compiled import beside\n"
        "from core.figures.figure_beside import FigureDrawer\n"
        "from core.figures.scene_archive import scene_in\n"
        "begin, found = beside.start, []\n"
        "beside.start = lambda *given: found.append(begin(*given)) or found[-1]\n"
        "scene = scene_in(Path(sys.argv[1]).read_bytes())\n"
        "drawer = FigureDrawer()\n"
        "drawer.draw(scene, '.svg')\n"
        "print(found[0].pid, flush=True)\n"
        "drawer.draw(replace(scene, panels=scene.panels * 2000), '.png', 2000.0)\n"
    )
    (tmp_path / "scene").write_bytes(archive_of(tiny()))
    command = [sys.executable, "-c", code, str(tmp_path / "scene")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        number = int(other.stdout.readline())
        assert runs_still(number)
        other.kill()
        other.wait()
        while runs_still(number):
            time.sleep(0.01)


def tiny() -> FigureScene:
    """A scene that is drawn at once."""
    from tests.figures.test_export import small_scene

    return small_scene()
