"""Films that another process draws: what is handed over, and every way in which it may end."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.compiled import beside
from core.errors import InputError, MarginscopeError
from core.figures.film_beside import COMMAND, draw_beside
from core.figures.film_request import FilmRequest
from core.figures.look import BoundCurve, Look, Region
from core.observables.node_sets import NodeSet
from core.observables.planes import NodePlane
from core.reference.margin import Bracket, ReferenceMargin
from core.reference.registry import REFERENCES
from core.reference.share import Promise
from tests.processes import never, posix, runs_still, starts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def started(monkeypatch) -> list[subprocess.Popen[str]]:
    """Every process that was started."""
    return starts(monkeypatch)


def whole(runs: tuple[Path, ...], path: Path) -> FilmRequest:
    """A request with all there is, of which no option of the command line could say the half."""
    margin = ReferenceMargin(
        REFERENCES["gamma_gl"], Bracket(0.08, 0.1 + 0.2, 1.0 / 3.0, True, "branch and bound"), 0.25
    )
    unknown = replace(
        margin, reference=REFERENCES["gamma_ntk"],
        bracket=Bracket(math.nan, math.inf, math.nan, False, "not computed"), drawn=False,
    )  # fmt: skip
    values = np.array([math.nan, -math.inf, *np.linspace(1e-3, 0.2, 10) / 3.0])
    bound = BoundCurve("lemma", "Lemma 2.3", "margins", values)
    look = Look(
        ("hard_margin",), True, "step", "directions", True,
        (Region(0, "margins", 0.1, 7.0 / 3.0, -0.01, 0.9),),
        (frozenset({0, 3}), frozenset()), ((bound,), ()),
    )  # fmt: skip
    return FilmRequest.of(
        runs, path, references=((margin, unknown), ()), look=look,
        promises=(Promise(margin), None), panel="margins,curves", seconds=0.3,
        frames_per_second=10.0, palette="dark", plane=NodePlane("coordinates", (1, 2)),
        follow=False, selected=(None, NodeSet("mine", frozenset({1, 5}))),
        interval=(-0.5, math.inf), size=(320, 240), captions=False,
    )  # fmt: skip


# ----------------------------------------------------------------------------- what is handed over


def test_a_request_is_the_same_when_it_is_read(runs, tmp_path: Path) -> None:
    request = whole(runs, tmp_path / "film.gif")
    text = request.text()
    assert "\n" not in text and text.isascii()
    again = FilmRequest.read(text)
    assert again.text() == text
    bound = again.look.made().bounds[0][0]
    first, *others = bound.values[2:]
    assert math.isnan(bound.values[0]) and bound.values[1] == -math.inf
    assert first == 1e-3 / 3.0 and others[-1] == 0.2 / 3.0
    (margin, unknown), none = [[one.made() for one in some] for some in again.references]
    assert margin.reference is REFERENCES["gamma_gl"] and margin.bracket.upper == 0.1 + 0.2
    assert not unknown.drawn and math.isnan(unknown.bracket.value) and none == []


def test_paths_that_are_no_text_are_handed_over() -> None:
    path = Path(os.fsdecode(b"/no/\xff\xfe.gif"))
    assert FilmRequest.read(FilmRequest.of([path], path).text()).path == path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"more": 1}, "more: "),
        ({"seconds": "long"}, "seconds: "),
        ({"palette": "rainbow"}, "light or dark"),
        ({"plane": {"kind": "os.system", "numbers": []}}, "no plane"),
        ({"path": "film.gif"}, "absolute"),
        ({"runs": [3]}, "absolute"),
        ({"look": {"regions": [{"row": "x"}]}}, "regions"),
        ({"references": [[{"name": "nobody's"}]]}, "references.0.0"),
    ],
)
def test_what_is_no_request_is_refused_in_a_sentence(runs, tmp_path, change, said) -> None:
    text = json.dumps(json.loads(whole(runs, tmp_path / "film.gif").text()) | change)
    with pytest.raises(InputError, match=said) as error:
        FilmRequest.read(text)
    assert error.value.sentence.endswith(".")


@pytest.mark.parametrize(
    "line", ["no JSON", "[" * 100_000, "[]", ""], ids=["text", "brackets", "list", "nothing"]
)
def test_garbage_is_no_request(line: str) -> None:
    with pytest.raises(InputError) as error:
        FilmRequest.read(line)
    assert error.value.sentence.endswith(".")


def test_the_command_answers_no_request_in_a_sentence() -> None:
    pipe = subprocess.PIPE
    words = beside.headless(COMMAND)
    done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
    assert json.loads(done.stdout)["error"].endswith(".") and not done.stderr
    assert done.returncode == 0


# ----------------------------------------------------------------------------- how it may end


def test_another_process_draws_the_same_bytes(runs, tmp_path: Path, started) -> None:
    request, seen = whole(runs, tmp_path / "a.webp"), []
    assert draw_beside(request, lambda *done: seen.append(done), never)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    (process,) = started
    assert process.poll() is not None
    here = request.model_copy(update={"path": tmp_path / "b.webp"})
    assert here.save(lambda done, total: None, never)
    assert (tmp_path / "a.webp").read_bytes() == (tmp_path / "b.webp").read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.webp", "b.webp"]


@pytest.mark.slow
def test_a_bundled_window_starts_itself(runs, tmp_path: Path, monkeypatch) -> None:
    with monkeypatch.context() as bundled:
        bundled.setattr(sys, "frozen", True, raising=False)
        program, *words = beside.headless(COMMAND)
    assert program == sys.executable
    # As the bundle does: the script of the window, with these words.
    monkeypatch.setattr(beside, "headless", lambda command: [sys.executable, "-m", "app", *words])
    assert draw_beside(whole(runs, tmp_path / "a.webp"), lambda done, total: None, never)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.webp"]


def test_errors_are_the_same_sentences(runs, tmp_path: Path) -> None:
    request = whole((tmp_path / "none.msrun",), tmp_path / "a.webp")
    with pytest.raises(InputError) as here:
        request.save(lambda done, total: None, never)
    with pytest.raises(MarginscopeError) as there:
        draw_beside(request, lambda done, total: None, never)
    assert there.value.sentence == here.value.sentence


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("print('{\"memory\": true}')", MemoryError, "^$"),
        ("print(json.dumps({'bug': 'Traceback of a bug'}))", RuntimeError, "Traceback of a bug"),
        ("print('hello'); print([]); os._exit(3)", MarginscopeError, "drew it ended with 3; try"),
        ("print('no!', file=sys.stderr)", MarginscopeError, r"ended with 0 \(no!\); try again"),
        pytest.param(
            "os.kill(os.getpid(), 9)", MarginscopeError, "was ended by signal 9; try", marks=posix
        ),
    ],
)
def test_how_a_process_ends_is_told(runs, tmp_path, answering, code, error, said) -> None:
    answering(code)
    with pytest.raises(error, match=said):
        draw_beside(whole(runs, tmp_path / "a.webp"), lambda done, total: None, never)
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_cannot_be_started_is_a_sentence(runs, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(beside, "headless", lambda name: [str(tmp_path / "no program")])
    with pytest.raises(MarginscopeError, match=r"cannot be started .*; close other programs"):
        draw_beside(whole(runs, tmp_path / "a.webp"), lambda done, total: None, never)


def test_one_that_neither_reads_nor_ends_is_ended(runs, tmp_path, monkeypatch, started) -> None:
    """More than a pipe takes is told to a process that sleeps."""
    command = [sys.executable, "-S", "-c", "import time; time.sleep(1000)"]
    monkeypatch.setattr(beside, "headless", lambda name: command)
    request = whole(runs, tmp_path / "a.webp")
    request = request.model_copy(update={"panel": "x" * 1_000_000})
    asked = iter((False, False, False))
    assert not draw_beside(request, lambda done, total: None, lambda: next(asked, True))
    assert started[0].poll() is not None


def long(runs: tuple[Path, ...], path: Path) -> FilmRequest:
    """A film that takes far longer than a test."""
    return FilmRequest.of(
        runs, path, panel="norms", seconds=300.0, frames_per_second=20.0, size=(200, 160)
    )


@pytest.mark.parametrize("suffix", [".webp", pytest.param(".gif", marks=pytest.mark.slow)])
def test_a_cancelled_film_leaves_nothing(runs, tmp_path: Path, started, suffix: str) -> None:
    seen: list[int] = []
    request = long(runs, tmp_path / f"a{suffix}")
    assert not draw_beside(request, lambda done, total: seen.append(done), lambda: bool(seen))
    assert started[0].poll() is not None and list(tmp_path.iterdir()) == []


@posix
def test_a_film_whose_process_is_killed_leaves_nothing(runs, tmp_path: Path, started) -> None:
    def kill(done: int, total: int) -> None:
        started[0].send_signal(signal.SIGKILL)

    with pytest.raises(MarginscopeError, match="was ended by signal 9; try again, with fewer"):
        draw_beside(long(runs, tmp_path / "a.webp"), kill, never)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def other(runs, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program that has such a film drawn, and says the number of the process."""
    code = (
        "import sys\n"
        "from core.compiled import beside\n"
        "from core.figures.film_beside import draw_beside\n"
        "from core.figures.film_request import FilmRequest\n"
        "begin, found = beside.start, []\n"
        "beside.start = lambda *given: found.append(begin(*given)) or found[-1]\n"
        "say = lambda done, total: print(found[0].pid, flush=True)\n"
        "draw_beside(FilmRequest.read(sys.argv[1]), say, lambda: False)\n"
    )
    command = [sys.executable, "-c", code, long(runs, tmp_path / "a.webp").text()]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@posix
def test_it_ends_with_the_program_that_asked(other, tmp_path: Path) -> None:
    assert other.stdout is not None
    number = int(other.stdout.readline())
    assert [entry.suffix for entry in tmp_path.iterdir()] == [".webp"]
    other.kill()
    other.wait()
    while runs_still(number) or list(tmp_path.iterdir()):
        time.sleep(0.01)
