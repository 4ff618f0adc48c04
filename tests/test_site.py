"""The web site of the documents: complete, without dead links, and without a network."""

from __future__ import annotations

import inspect
import re
import runpy
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from PIL import Image

import marginscope as ms
from app.shell.documents import PARTS
from core.observables.registry import OBSERVABLES
from core.reference.registry import REFERENCES
from core.stories.shipped_stories import story_of_study
from core.studies.study import load_study, shipped_ids
from core.study_file.experiment import KINDS, PLAIN_SECTIONS
from core.theorems.registry import STATEMENTS
from core.theorems.statement import Verdict
from docs.site import python_module, sources
from docs.site.__main__ import built
from docs.site.contents import MORE, pages_of
from docs.site.markup import plain
from docs.site.quantities import MEANT
from docs.site.results import result_of
from docs.site.stories import story_page
from tests.support.browser import browser, browser_path
from tests.support.pages import data_of, flat
from tests.test_architecture import ROOT

SMALL = "telgarsky22-theorem-3-2"  # four short runs
TOLD = "saxe14-modes"  # has a story
PROGRAM = browser_path()
# Click a link, and return the address that it leads to.
FOLLOWED = """(() => {
  const link = document.querySelector("%s");
  link.addEventListener("click", (event) => event.preventDefault());
  link.click();
  return link.href;
})()"""
# What a browser fetches by itself; a link that a reader follows is another matter.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "link": "href"}


class Page(HTMLParser):
    """What a page fetches, where its links lead, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.text = path, path.read_text("utf-8")
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        if FETCHED.get(tag) in given:
            self.fetched.append(given[FETCHED[tag]])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sources, with the figure and verdicts of one study, and the story of another."""
    folder = tmp_path_factory.mktemp("site")
    result = result_of(SMALL, jobs=1, kept=folder / "kept")
    stories = {TOLD: story_page(TOLD, folder / "kept")}
    sources.write(folder / "source", {SMALL: result}, None, stories)
    return folder


@pytest.fixture(scope="module")
def site(work: Path) -> dict[Path, Page]:
    """Return the pages as Sphinx builds them: a warning would fail it."""
    assert built(work / "source", work / "html") == 0
    return {path: Page(path) for path in (work / "html").rglob("*.html")}


def headings(path: Path) -> list[str]:
    return re.findall(r"^## (.+)$", path.read_text("utf-8"), re.MULTILINE)


# ------------------------------------------------------------------------------- what is there


@pytest.mark.slow
def test_every_study_has_a_page(work: Path) -> None:
    gallery = (work / "source" / "studies" / "index.md").read_text("utf-8")
    for name in shipped_ids():
        page = (work / "source" / "studies" / f"{name}.md").read_text("utf-8")
        study = load_study(name)
        assert page.startswith(f"# {plain(study.title)}\n") and f"]({name}.md)" in gallery
        assert all(plain(claim.text) in page for claim in study.claims)
        assert (ROOT / "resources" / "studies" / f"{name}.toml").read_text("utf-8").strip() in page


@pytest.mark.slow
@pytest.mark.parametrize("section", KINDS)
def test_every_kind_is_told_with_its_keys(work: Path, section: str) -> None:
    page = work / "source" / "reference" / f"{section}.md"
    assert headings(page) == list(KINDS[section])
    text = page.read_text("utf-8")
    keys = {key for kind in KINDS[section].values() for key in kind.model_fields} - {"kind"}
    assert all(f"| `{key}` |" in text for key in keys)


@pytest.mark.slow
def test_sections_without_kinds_are_told(work: Path) -> None:
    assert headings(work / "source" / "reference" / "settings.md") == list(PLAIN_SECTIONS)


@pytest.mark.slow
def test_every_quantity_and_every_statement_is_told(work: Path) -> None:
    reference = work / "source" / "reference"
    named = headings(reference / "observables.md")
    assert named == [*OBSERVABLES, "What views show"]
    assert headings(reference / "margins.md") == list(REFERENCES)
    for one in STATEMENTS.values():
        text = (reference / f"theorems-{one.source}.md").read_text("utf-8")
        assert f"## {plain(one.name)}\n\n{plain(one.text)}" in text
        assert one.formula.strip() in text and plain(one.slip) in text
    assert set(MEANT) == set(Verdict)


@pytest.mark.slow
def test_every_public_name_has_its_place_in_the_reference(site: dict[Path, Page]) -> None:
    page = next(page for path, page in site.items() if path.match("reference/python.html"))
    for name in python_module.NAMES:
        value = getattr(ms, name)
        places = {f"marginscope.{name}", f"{value.__module__}.{value.__name__}"}
        assert page.anchors & places, name
    assert "marginscope.record" in page.anchors


def test_every_public_name_is_described() -> None:
    assert set(python_module.NAMES) == {name for name in ms.__all__ if name != "__version__"}
    text = python_module.reference()
    for name in python_module.NAMES:
        assert f"### {name}\n" in text
        assert inspect.getdoc(getattr(ms, name)), name


def test_a_settable_property_is_described_once() -> None:
    assert python_module.directive_of("Player").endswith("   :members:\n   :exclude-members: time")
    assert "time : float" in (ms.Player.__doc__ or "")
    assert python_module.directive_of("Bracket").endswith("   :members:")


def test_every_document_stands_in_a_part() -> None:
    assert pages_of(MORE) == ()
    placed = [name for part in PARTS for name in pages_of(part)]
    assert len(placed) == len(set(placed)) == len(list((ROOT / "docs").glob("*.md")))


@pytest.mark.slow
def test_a_study_shows_its_figure_and_its_verdicts(work: Path) -> None:
    page = (work / "source" / "studies" / f"{SMALL}.md").read_text("utf-8")
    verdicts = re.findall(r"^\| \[(.+?)\]\{\.", page, re.MULTILINE)
    assert len(verdicts) == len(load_study(SMALL).claims)
    assert set(verdicts) <= {"confirmed", "not at this size"} and "confirmed" in verdicts
    for shade in ("light", "dark"):
        assert f"pictures/{SMALL}-{shade}.webp" in page
        picture = work / "source" / "studies" / "pictures" / f"{SMALL}-{shade}.webp"
        assert picture.read_bytes()[8:12] == b"WEBP" and picture.stat().st_size < 300_000


@pytest.mark.slow
def test_a_result_is_kept_by_content(work: Path) -> None:
    kept = work / "kept"
    told = next(kept.rglob("result.json"))
    told.write_text(told.read_text("utf-8").replace('"cells": ', '"cells": 10'), "utf-8")
    again = result_of(SMALL, kept=kept)
    assert again.cells > 100  # read, and not trained anew
    assert {path.parent for path in again.pictures.values()} == {told.parent}


@pytest.mark.slow
def test_a_study_with_a_story_shows_its_page(site: dict[Path, Page], work: Path) -> None:
    html = work / "html"
    page = site[html / "studies" / f"{TOLD}.html"]
    address = f"../stories/{TOLD}.html"
    assert address in page.links and address in page.fetched
    story = data_of((html / "stories" / f"{TOLD}.html").read_text("utf-8"))["story"]
    assert "106 degrees" in flat(story[0]["text"])
    assert len(story) == len(story_of_study(TOLD).moments)
    assert (html / "stories" / f"{TOLD}.html").stat().st_size < 250_000
    assert not re.search("stories/", site[html / "studies" / f"{SMALL}.html"].text)


@pytest.mark.slow
def test_a_story_is_kept_by_content(work: Path) -> None:
    path = story_page(TOLD, work / "kept")
    before = path.stat().st_mtime_ns
    assert story_page(TOLD, work / "kept") == path and path.stat().st_mtime_ns == before


# ----------------------------------------------------------------------------------- as pages


@pytest.mark.slow
def test_links_lead_to_pages_and_places(site: dict[Path, Page]) -> None:
    wrong, checked = [], 0
    for path, page in site.items():
        for link in page.links:
            name, _, place = unquote(link).partition("#")
            target = (path.parent / name).resolve() if name else path
            if "://" in link or (target.name == sources.PLAYED and not target.exists()):
                continue
            checked += 1
            there = site[target].anchors if target in site else {place} if target.exists() else ()
            if place not in there and (place or not target.exists()):
                wrong.append(f"{path.name}: {link}")
    assert not wrong and checked > 1000


@pytest.mark.slow
def test_the_list_of_pages_is_open_where_the_reader_is(site: dict[Path, Page], work: Path) -> None:
    """Every page leads to every part, and the first page of a part to all that is in it."""
    html = work / "html"
    studies = set(shipped_ids())
    opens = {"window": False, "studies/index": True, f"studies/{SMALL}": True}
    for name, is_open in opens.items():
        page = site[html / f"{name}.html"]
        listed = {Path(link).stem for link in page.links if "#" not in link}
        assert {"install", "theory", "changelog"} <= listed
        own = re.search(r'class="sidebar-tree">.*?</div>', page.text, re.DOTALL)
        assert own is not None
        entries = re.findall(r'href="([^"]*)"', own[0])
        assert (len(entries) > len(studies)) is (name == "studies/index")
        assert ("toctree-checkbox" in own[0]) is is_open
        assert "#" in entries  # the page itself


@pytest.mark.slow
def test_pictures_of_the_documents_are_small(work: Path) -> None:
    pictures = {path.stem: path for path in (ROOT / "docs" / "images").glob("*.png")}
    for name, path in pictures.items():
        smaller = work / "source" / "images" / f"{name}.webp"
        assert smaller.stat().st_size < path.stat().st_size
        with Image.open(path) as one, Image.open(smaller) as other:
            assert np.array_equal(one.convert("RGB"), other.convert("RGB"))
    assert not list((work / "html" / "_images").glob("*.png"))


@pytest.mark.slow
def test_no_page_asks_for_a_network(site: dict[Path, Page], work: Path) -> None:
    wrong = [
        f"{path.name}: {one}"
        for path, page in site.items()
        for one in page.fetched
        if "//" in one or not (path.parent / one.partition("?")[0].partition("#")[0]).exists()
    ]
    assert not wrong
    styles = (work / "html").rglob("*.css")
    assert not [
        path for path in styles if re.search(r"(url\(|@import)\W*\w+:?//", path.read_text())
    ]


@pytest.mark.slow
def test_formulas_are_drawn_without_a_script(site: dict[Path, Page], work: Path) -> None:
    page = site[work / "html" / "reference" / "observables.html"]
    told = sum(bool(one.tex) for one in OBSERVABLES.values())
    assert page.text.count("<math ") >= told and "<mfrac>" in page.text
    assert "\\frac" not in page.text


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here; install chromium")
def test_a_search_result_opens_at_the_phrase(site: dict[Path, Page], work: Path) -> None:
    assert PROGRAM is not None
    phrase, link = "the smallest of n numbers", "#search-results a[href^='questions.html']"
    with browser(PROGRAM) as page:
        page.resize(1280, 800)
        query = f"?q={phrase.replace(' ', '+')}"
        page.open(work / "html" / "search.html", f'document.querySelector("{link}")', query)
        page.call("Page.navigate", url=page.value(FOLLOWED % link))
        page.wait("document.querySelector('article .found')")
        assert phrase in page.value("document.querySelector('.found').textContent").lower()
        top = page.value("document.querySelector('.found').getBoundingClientRect().top")
        assert 100 < top < 700


# --------------------------------------------------------------------- what the documents say


def test_the_first_page_is_short_and_moves() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 110
    film = ROOT / re.findall(r"!\[.*?\]\((\S+\.gif)\)", text)[0]
    with Image.open(film) as picture:
        assert getattr(picture, "n_frames", 1) > 50
    assert film.stat().st_size < 1_200_000


def code_blocks(name: str) -> Iterator[str]:
    text = (ROOT / "docs" / name).read_text("utf-8")
    yield from re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_a_run_file_is_read_as_the_documents_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"network.m": 8, "dynamics.until_log10_time": 1, "recording.frames": 5}
    run = ms.train("telgarsky22-figure-1", path=tmp_path / "mine.msrun", **settings)
    (block,) = code_blocks("run-files.md")
    (tmp_path / "read.py").write_text(block)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("read.py")
    said = capsys.readouterr().out.rpartition(" ")[2]
    with run:
        np.testing.assert_allclose(float(said), run["hard_margin"][-1], rtol=1e-9)
