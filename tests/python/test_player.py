"""A figure that plays, for notebooks: the bytes of the command line, in a frame that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import marginscope as ms
from core.figures.names import PAGE_COLOURS, PAGE_PANELS
from core.runs import Recorder
from tests.python.small import FIGURE_1, NOT_SHOWN, WIDTHS, command, trained, typed, written
from tests.support.browser import Browser, browser, browser_path
from tests.support.pages import HOSTILE, data_of, flat

pytestmark = [pytest.mark.same_margins, pytest.mark.usefixtures("few_directions")]
TITLE = """ a "quoted" &amp; 'odd' <b> & $5 """


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ms.Run]:
    with trained(path=tmp_path_factory.mktemp("run") / "a.msrun") as one:
        yield one


class Frames(HTMLParser):
    """The elements of a page with their attributes, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def frame_of(player: ms.Player) -> dict[str, str | None]:
    seen = Frames(player._repr_html_())
    ((tag, attributes),) = seen.found
    assert (tag, seen.text) == ("iframe", "")
    return attributes


# ------------------------------------------------------------------------------------- the bytes


def test_a_player_is_the_page_of_the_command_line(run: ms.Run, tmp_path: Path) -> None:
    out = tmp_path / "a.html"
    assert command("page", run.path, "--out", out, "--quiet") == 0
    page = run.player()
    assert page.save(tmp_path / "b.html") == tmp_path / "b.html"
    assert (tmp_path / "b.html").read_bytes() == out.read_bytes() == page.html.encode()
    assert ms.player(run.path).html == ms.player([run]).html == page.html
    assert page.title == run.title


def test_options_are_those_of_the_command_line(run: ms.Run, tmp_path: Path) -> None:
    told = ["--views", "margins,curves", "--frames", 7, "--title", TITLE, "--dark", "--margins"]
    told += ["gamma_gl", "--curves", "log10_risk,distance", "--against", "step"]
    out = tmp_path / "a.html"
    assert command("page", run.path, "--out", out, "--quiet", *told) == 0
    page = run.player(
        views=("margins", "curves"),
        frames=7,
        title=TITLE,
        colours="dark",
        margins="gamma_gl",
        curves=["log10_risk", "distance"],
        against="step",
    )
    assert page.html.encode() == out.read_bytes()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"views": "norms", "margins": None}, ["--views", "norms", "--margins", "none"]),
        ({"colours": "light", "margins": "none"}, ["--light", "--margins", "none"]),
        ({"margins": (), "plane": "motion"}, ["--margins", "none", "--plane", "motion"]),
        ({"margins": ["gamma_gl"], "frames": 3}, ["--margins", "gamma_gl", "--frames", 3]),
    ],
)
def test_other_options_too(
    options: dict[str, Any], told: list[Any], run: ms.Run, tmp_path: Path
) -> None:
    out = tmp_path / "a.html"
    assert command("page", run.path, "--out", out, "--quiet", *told) == 0
    assert ms.player(run, **options).html.encode() == out.read_bytes()


def test_several_runs_stand_side_by_side(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "a.html"
    assert command("run", FIGURE_1, "--out", runs, "--quiet", *typed(WIDTHS)) == 0
    assert command("page", runs, "--out", out, "--quiet") == 0
    wanted = out.read_text("utf-8")
    both = [ms.open(path) for path in sorted(runs.glob("*.msrun"))]
    assert ms.player(both).html == ms.player(runs).html == wanted
    assert [flat(row["heading"]) for row in data_of(wanted)["rows"]] == ["m = 4", "m = 8"]
    sweep = ms.sweep(FIGURE_1, out=runs, workers=1, **WIDTHS)
    assert ms.player(sweep).html == ms.player(sweep.runs).html == wanted
    assert ms.player(ms.study(FIGURE_1, **WIDTHS)).html == wanted


def test_a_study_is_trained_for_its_player(tmp_path: Path) -> None:
    file, out = written(tmp_path / "mine.toml"), tmp_path / "a.html"
    assert command("page", file, "--out", out, "--quiet") == 0
    assert ms.player(file).html == out.read_text("utf-8")


def test_frames_make_a_page_lighter(run: ms.Run) -> None:
    whole, few = run.player(margins=()), run.player(margins=(), frames=3)
    assert len(data_of(whole.html)["moments"]) == len(run)
    assert len(data_of(few.html)["moments"]) == 3
    assert len(few.html) < len(whole.html)


# ------------------------------------------------------------------------------------- the frame


@pytest.mark.parametrize("title", [TITLE, HOSTILE, '"></iframe><script>', ""])
def test_the_frame_holds_the_page_whatever_its_title(title: str, run: ms.Run) -> None:
    page = run.player(title=title, margins="none", frames=2)
    frame = frame_of(page)
    assert frame["srcdoc"] == page.html
    assert frame["title"] == f"A figure that plays: {page.title}"
    assert page.title == (" ".join(title.split()) or run.title)


def test_the_frame_may_run_scripts_and_no_more(run: ms.Run) -> None:
    frame = frame_of(run.player(margins=(), frames=2))
    assert str(frame["sandbox"]).split() == ["allow-scripts", "allow-downloads"]
    assert not {"src", "allow", "name"} & set(frame)


def test_the_frame_is_as_high_as_the_runs_need(run: ms.Run) -> None:
    def height(shown: Any = run, **options: Any) -> int:
        page = ms.player(shown, margins=(), frames=2, **options)
        assert f"height: {page.height}px" in str(frame_of(page)["style"])
        return page.height

    assert height() == height(views="norms")
    assert height() < height([run, run]) <= height([run] * 6) <= 1000
    assert height(views=PAGE_PANELS) > height()
    assert height(height=321) == 321


def test_a_player_says_what_it_weighs(run: ms.Run) -> None:
    page = run.player(title="Mine", margins=())
    assert repr(page) == f"<Player 'Mine': {len(page.html) / 1e6:.2f} MB; save writes it to a file>"


# ------------------------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"views": "predictor"}, "cannot show the predictor"),
        ({"views": ["nodes"]}, "The views nodes: choose one or more of neurons"),
        ({"views": ["norms", "norms"]}, "each once"),
        ({"views": []}, "The views none"),
        ({"frames": 1}, "choose 2 to 2000"),
        ({"frames": 2.5}, "frames = 2.5; give a whole number"),
        ({"frames": "many"}, "frames = 'many'; give a whole number"),
        ({"colours": "pink"}, "'pink': allowed are system, light, dark"),
        ({"curves": ["rsk"]}, "The curve 'rsk' does not exist; did you mean 'risk'"),
        ({"against": "x"}, "The axis of curves is one of"),
        ({"margins": ["x"]}, "'x' is not a reference margin"),
        ({"limit": 0}, "limit = 0; give a positive number"),
        ({"plane": "x"}, "is not a plane"),
        ({"height": 5}, "height = 5 pixels; give 200 to 4000"),
        ({"height": "5cm"}, "height = '5cm'; give a whole number"),
        ({"frame": 3}, "player has no option 'frame'; did you mean 'frames'"),
    ],
)
def test_what_is_wrong_with_a_player_is_a_sentence(
    options: dict[str, Any], sentence: str, run: ms.Run
) -> None:
    with pytest.raises(ms.InputError, match=sentence) as caught:
        run.player(**options)
    assert "--" not in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


@pytest.mark.parametrize(("shown", "sentence"), NOT_SHOWN)
def test_what_cannot_be_played_is_a_sentence(shown: Any, sentence: str) -> None:
    with pytest.raises(ms.InputError, match=sentence):
        ms.player(shown)


def test_too_many_runs_are_a_sentence(run: ms.Run) -> None:
    with pytest.raises(ms.InputError, match="at most 10 runs"):
        ms.player([run] * 11)


def test_a_run_without_frames_is_a_sentence(run: ms.Run, tmp_path: Path) -> None:
    problem = run.problem
    recorder = Recorder(tmp_path / "a.msrun", problem, engine="x", planned=2, temperature_cap=None)
    with ms.open(recorder.path) as begun, pytest.raises(ms.InputError, match="has no frames yet"):
        begun.player()
    recorder.finish("cancelled")


def test_a_player_is_saved_as_a_page_only(run: ms.Run, tmp_path: Path) -> None:
    page = run.player(margins=(), frames=2)
    with pytest.raises(ms.InputError, match=r"must end in \.html"):
        page.save(tmp_path / "a.htm")
    (tmp_path / "file").write_text("")
    with pytest.raises(ms.InputError, match=r"a\.html"):
        page.save(tmp_path / "file" / "a.html")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_names_of_options_are_those_of_the_command(run: ms.Run) -> None:
    assert PAGE_COLOURS == ("system", "light", "dark")
    for colours in PAGE_COLOURS:
        assert data_of(run.player(colours=colours, margins=(), frames=2).html)["start"] == colours


# ------------------------------------------------------------------------------------- a browser

PROGRAM = browser_path()
in_browser = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium here, in which players are tested; install chromium"
)
READY = "document.querySelector('main')?.dataset.ready === 'true'"
CLOCK = "document.querySelector('.clock').textContent"
# What the notebook views of editors allow: inline scripts and styles, pictures, and no frames.
STRICT = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data:; connect-src https:; child-src https: data:"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        yield one


def held(chromium: Browser, path: Path, player: ms.Player, policy: str = "") -> Browser:
    """Return a page such as a notebook is, which shows a player below a line of its own."""
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
    path.write_text(
        f'<!doctype html><meta charset="utf-8">{meta}<title>kept</title>'
        f"<p>cell</p><div>{player._repr_html_()}</div>",
        encoding="utf-8",
    )
    chromium.resize(900, 700)
    chromium.open(path, "document.querySelector('iframe')")
    return chromium


def click(chromium: Browser, x: float, y: float) -> None:
    for kind in ("mousePressed", "mouseReleased"):
        chromium.mouse(kind, x, y, button="left", clickCount=1)


@in_browser
@pytest.mark.parametrize("policy", ["", STRICT], ids=["plain", "strict"])
def test_a_player_plays_in_a_notebook(
    policy: str, chromium: Browser, run: ms.Run, tmp_path: Path
) -> None:
    notebook = held(chromium, tmp_path / "a.html", run.player(title=TITLE, margins=()), policy)
    with notebook.within():
        notebook.wait(READY)
        assert notebook.value("document.title") == TITLE.strip()
        assert notebook.value(CLOCK) == "t = 10.0"
        # It fits: nothing has to be scrolled in a frame of this width.
        assert notebook.value("document.documentElement.scrollHeight <= innerHeight + 1")
    click(notebook, 450.0, 75.0)  # beside its title, so that keys are the frame's
    with notebook.within():
        notebook.wait("document.hasFocus()")  # the frame is another process's on a busy machine
    notebook.press("Home", number=36)
    with notebook.within():
        notebook.wait(f"{CLOCK} === 't = 0'")
    notebook.press("ArrowRight", number=39)
    with notebook.within():
        notebook.wait(f"document.querySelector('.number').textContent === '2 / {len(run)}'")
    notebook.press("9", text="9", number=57)
    notebook.press(" ", "Space", " ", 32)
    with notebook.within():
        notebook.wait(f"{CLOCK} === 't = 10.0'")  # played to the end
        notebook.wait("document.querySelector('[aria-label=\"play (space)\"]')")
    assert notebook.value("document.title") == "kept"
    assert notebook.log == []
    assert [address for address in notebook.requests if not address.startswith("file:")] == []


@in_browser
def test_a_player_reaches_nothing_of_the_notebook(
    chromium: Browser, run: ms.Run, tmp_path: Path
) -> None:
    notebook = held(chromium, tmp_path / "a.html", run.player(title=HOSTILE, margins=()))
    with notebook.within():
        notebook.wait(READY)
        for reached in ("parent.document", "top.location.href", "localStorage", "document.cookie"):
            tried = f"try {{ return [{reached}] }} catch (error) {{ return error.name }}"
            assert notebook.value(f"(() => {{ {tried} }})()") == "SecurityError", reached
        assert notebook.value("document.images.length") == 0
        assert notebook.value("self.origin") == "null"
    assert notebook.value("document.querySelector('iframe').contentDocument") is None
    assert notebook.value("document.title") == "kept"
