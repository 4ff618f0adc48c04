"""The viewer's folder: what it holds, what it asks for, and how it is written."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.cli.main import main
from core.errors import InputError
from core.figures import viewer
from core.figures.page import MODULES
from core.program import RESOURCES
from tests.support.browser import Browser, browser, browser_path
from tests.support.made_up_runs import run_file
from tests.support.viewer import READY, STATE, WORDS, choose_file

PROGRAM = browser_path()
in_browser = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
MOST_BYTES = 1_000_000
LOCAL, ELSEWHERE = "127.0.0.1", "https://" + "somewhere.invalid/a.msrun"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("viewer")
    viewer.save_viewer(place)
    run_file(place / "a run.msrun")
    return place


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        one.resize(1280, 800)
        yield one


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """Serve the folder on this computer."""

    class Handler(SimpleHTTPRequestHandler):
        timeout = 0.5  # seconds of a connection that a browser opens in advance

        def log_message(self, format: str, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        server.daemon_threads = False  # they end with the server
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield "http:" + f"//{LOCAL}:{server.server_port}"
        server.shutdown()
        thread.join()


# ------------------------------------------------------------------------------------- the files


def test_sqlite_is_the_package_that_its_note_names() -> None:
    note = RESOURCES.joinpath("sqlite", "LICENCES.txt").read_text(encoding="utf-8")
    stated = dict(re.findall(r"sha256 of ([\w.]+): +(\w{64})", note))
    assert set(stated) == {"sqlite3.wasm", "index.mjs"}
    for name, digest in stated.items():
        content = RESOURCES.joinpath("sqlite", name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest
    (version,) = re.findall(r"version ([\d.]+)-build\d", note)
    assert f'SQLITE_VERSION "{version}"' in RESOURCES.joinpath("sqlite", "index.mjs").read_text(
        "utf-8"
    )


def test_it_is_small_and_names_whose_code_it_holds(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.suffix != ".msrun"]
    assert sorted(path.name for path in files) == ["LICENCES.txt", "index.html"]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    words = (folder / "LICENCES.txt").read_text("utf-8")
    assert "sqlite-wasm" in words and "Emscripten" in words
    assert "Apache License" in words and "TERMS AND CONDITIONS" in words


def test_modules_have_no_name_twice_and_use_only_earlier_ones() -> None:
    own = [f"page/{name}" for name in MODULES if name not in ("main.js", "decode.js")]
    folder = RESOURCES.joinpath("viewer")
    assert {f"viewer/{one.name}" for one in folder.iterdir() if one.name.endswith(".js")} == {
        name for name in (*viewer.READER, "viewer/viewer.js") if name.startswith("viewer/")
    }
    for names in (viewer.READER, (*own, "viewer/viewer.js")):
        script = viewer._join(names)
        assert not re.search(r"^(export|import)\b", script, re.MULTILINE)
        found = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script, re.MULTILINE)
        assert [name for name, count in Counter(found).items() if count > 1] == []
        known: set[str] = set()
        for name in names:
            source = viewer._text(name)
            assert len(source.splitlines()) < 400
            used = re.findall(r'^import \{[^}]*\} from "\./(.*?)";', source, re.MULTILINE)
            assert set(used) <= known, name
            known.add(name.partition("/")[2])


def test_equal_programs_write_equal_viewers(folder: Path, tmp_path: Path) -> None:
    assert main(["viewer", "--out", str(tmp_path / "deep" / "viewer")]) == 0
    again = tmp_path / "deep" / "viewer" / "index.html"
    assert again.read_bytes() == (folder / "index.html").read_bytes()
    assert main(["viewer", "--out", str(again.parent)]) == 0  # in place of itself


@pytest.mark.parametrize("kind", ["file", "page", "below a file"])
def test_other_peoples_files_are_not_replaced(kind: str, tmp_path: Path) -> None:
    target, sentence = tmp_path / "out", "is a file; name a folder"
    if kind == "page":
        target.mkdir()
        (target / "index.html").write_text("mine")
        sentence = "exists and is not a viewer; name another folder"
    else:
        target.write_text("mine")
    if kind == "below a file":
        target, sentence = target / "below", "cannot be created"
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=sentence):
        viewer.save_viewer(target)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


# ---------------------------------------------------------------------------------- in a browser


@in_browser
def test_a_run_opens_from_a_disk_and_nothing_is_requested(folder: Path, page: Browser) -> None:
    page.open(folder / "index.html", READY)
    assert choose_file(page, folder / "a run.msrun") == "shown"
    # Its reader is a text within the page.
    asked = [one for one in page.requests if not one.startswith("blob:null/")]
    assert asked == [(folder / "index.html").as_uri()]
    assert page.log == []
    assert "hard" in page.value("document.querySelector('h2').innerText")
    titles = page.value("[...document.querySelectorAll('.title')].map((one) => one.innerText)")
    assert [one.partition(" ")[0] for one in titles] == list("abcde") and titles[-1] == "e curves"
    label = page.value("[...document.querySelectorAll('canvas[role=img]')].at(-1).ariaLabel")
    assert label == "curves of m = 6: log10 risk, norm squared, train error over time t"
    facts = page.value("document.querySelector('#facts').innerText")
    for words in (
        "n = 64, d = 4, m = 6",
        "kind = parity",
        "completed",
        "are no part of a run file",
    ):
        assert words in facts
    blank = page.picture()
    page.press("Home")
    assert page.picture() != blank
    assert page.value("document.querySelector('.number').textContent") == "1 / 12"
    # Another run takes the place of the first, with one set of keys.
    assert choose_file(page, folder / "a run.msrun") == "shown"
    page.press("ArrowLeft")
    assert page.value("document.querySelector('.number').textContent") == "11 / 12"
    assert page.value("document.querySelectorAll('.controls').length") == 1


@in_browser
def test_a_file_is_dropped(folder: Path, page: Browser) -> None:
    page.open(folder / "index.html", READY)
    point = {"x": 300, "y": 300}
    data = {"items": [], "files": [str(folder / "a run.msrun")], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        page.call("Input.dispatchDragEvent", type=kind, data=data, **point)
    page.wait(f"{STATE} === 'shown'")
    assert page.value(WORDS) == "a run.msrun"


@in_browser
def test_the_policy_lets_nothing_else_in(folder: Path, page: Browser) -> None:
    page.open(folder / "index.html", READY)
    refused = page.value(f"fetch('{ELSEWHERE}').then(() => false, () => true)")
    page.value(
        "(() => { const one = document.createElement('script'); one.textContent = "
        "'document.body.dataset.ran = 1'; document.body.append(one); })()"
    )
    assert refused and page.value("document.body.dataset.ran === undefined")
    assert sum("Content Security Policy" in words for words in page.log) >= 2


@in_browser
def test_a_link_names_a_run_of_the_same_server(address: str, folder: Path, page: Browser) -> None:
    own = (address, "about:", f"blob:{address}/")

    def follow(link: str) -> str:
        page.call("Page.navigate", url="about:blank")
        page.call("Page.navigate", url=f"{address}/index.html#{link}")
        page.wait(f"['shown', 'refused'].includes(document.body?.dataset.state) && {WORDS}")
        return str(page.value(WORDS))

    assert follow("run=a%20run.msrun&frame=3") == "a run.msrun"
    assert page.value("document.querySelector('.number').textContent") == "3 / 12"
    assert follow(f"run={address}/a%20run.msrun") == "a run.msrun"
    assert "the server answers 404" in follow("run=missing.msrun")
    for other in (
        "http:" + f"//{LOCAL}:1/a.msrun",
        ELSEWHERE,
        ELSEWHERE.removeprefix("https:"),
        "file:///etc/passwd",
        "data:,x",
        "javascript:alert(1)",
        "blob:null/x",
        "http:" + f"//me:secret@{LOCAL}/a.msrun",
    ):
        page.requests.clear()
        assert "another server, or no address" in follow(f"run={other}")
        assert not [one for one in page.requests if not one.startswith(own)]


@in_browser
def test_from_a_disk_a_link_says_what_is_needed(folder: Path, page: Browser) -> None:
    page.open(
        folder / "index.html", "document.body?.dataset.state === 'refused'", "#run=a%20run.msrun"
    )
    assert "may not read other files by a link; drop a run file" in page.value(WORDS)


@in_browser
def test_it_fits_a_phone(folder: Path, page: Browser) -> None:
    page.resize(390, 844)
    try:
        page.open(folder / "index.html", READY)
        assert choose_file(page, folder / "a run.msrun") == "shown"
        assert page.value("document.documentElement.scrollWidth") == 390
    finally:
        page.resize(1280, 800)
