"""The documents: links lead somewhere, citations name what is there, decisions have one form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.theorems.registry import MODULES
from tests.test_architecture import CODE, ROOT, lines_with, relative, tracked_files
from tests.tools.drawing import DRAWING, drawing, layers

PAGES = [path for path in tracked_files() if path.suffix == ".md"]
STUDIES = sorted((ROOT / "resources" / "studies").glob("*.toml"))
TEXTS = [path for path in (*CODE, *PAGES, *STUDIES) if path != Path(__file__)]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
FORM = ["Context", "Decision", "Consequences"]
STATEMENTS = [one for module in MODULES for one in module.STATEMENTS]
COMMITTED = DRAWING.read_text("utf-8")
PACKAGES = {
    f"{path.parent.parent.name}.{path.parent.name}"
    for part in ("core", "app")
    for path in (ROOT / part).glob("*/__init__.py")
}

LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"(?<![\w/.])docs/[\w./-]*\w")
DECISION = re.compile(r"(?:decisions?[ /]|\()(0\d{3})\b")
SECTION = re.compile(r"docs/theory\.md, (\d+(?:\.\d+)?)(?:(?: and|,| to) (\d+\.\d+))?")
MODULE = re.compile(r"(?<![\w./-])(?:core|app)(?:\.[a-z_]\w*)+(?:\.[A-Z]\w*)?")
PAGE_NAME = re.compile(r"(?<![\w-])[A-Z][A-Z_]+\.md\b")
# Documents that only whoever wrote a line had before them.
ELSEWHERE = re.compile(
    r"(?<![A-Za-z])(?:(?:of|by|in|from)[ _]the[ _]sheet|(?:theory|reference)[ _]sheet"
    r"|[Ii]ssues? #?\d|[Kk]nown (?:figures|facts))"
)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def headings(page: Path, level: str = "#+") -> list[str]:
    """Return the headings of a page, without what stands in blocks of code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(rf"^{level} (.+)$", text, flags=re.MULTILINE)


def cited(pattern: re.Pattern[str], paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield what a pattern's groups (or all of it) hold wherever it matches, with the place."""
    for place, match in lines_with(pattern, paths):
        for found in match.groups() or (match[0],):
            if found:
                yield place, found


def is_module(name: str) -> bool:
    """Return True if a dotted name leads to a module, or to a name that a module's source has."""
    path, parts = ROOT, name.split(".")
    while parts and (path / parts[0]).is_dir():
        path /= parts.pop(0)
    file = path / "__init__.py"
    if parts and (path / f"{parts[0]}.py").is_file():
        file = path / f"{parts.pop(0)}.py"
    source = file.read_text("utf-8")
    return all(re.search(rf"\b{part}\b", source) for part in parts)


# -------------------------------------------------------------------------------------- links


def test_links_lead_to_files_and_headings() -> None:
    wrong = []
    for page in PAGES:
        text = re.sub(r"`[^`]*`", "", page.read_text("utf-8"))
        for target in LINK.findall(text):
            name, _, anchor = target.partition("#")
            path = (page.parent / name) if name else page
            if "://" not in target and not path.exists():
                wrong.append(f"{relative(page)} {target}")
            elif anchor and anchor not in map(slug, headings(path)):
                wrong.append(f"{relative(page)} {target}: no such heading")
    assert not wrong, f"links that lead nowhere: {wrong}"


def test_cited_files_are_there() -> None:
    wrong = []
    for place, name in cited(PATH, TEXTS):
        there = (ROOT / name).exists() or list(ROOT.glob(f"{name}-*.md"))
        if not there:
            wrong.append(f"{place} {name}")
    assert not wrong, f"documents that are not in the repository: {wrong}"


def test_cited_modules_are_there() -> None:
    pages = [page for page in PAGES if page.name != "CHANGELOG.md"]  # which tells of old ones
    wrong = [f"{place} {name}" for place, name in cited(MODULE, pages) if not is_module(name)]
    wrong += [
        f"{place} {name}"
        for place, name in cited(re.compile(r"(?<![\w./-])(?:core|app)/[\w/]+\.py"), pages)
        if not (ROOT / name).is_file()
    ]
    assert not wrong, f"modules that have moved or gone: {wrong}"


def test_cited_sections_of_the_theory_are_there() -> None:
    numbers = {re.split(r"\.? ", title)[0] for title in headings(ROOT / "docs" / "theory.md")}
    wrong = [f"{place} {name}" for place, name in cited(SECTION, TEXTS) if name not in numbers]
    assert not wrong, f"sections that docs/theory.md does not have: {wrong}"


def test_nothing_cites_what_a_reader_does_not_have() -> None:
    here = {page.name for page in PAGES}
    named = [f"{place} {name}" for place, name in cited(PAGE_NAME, TEXTS) if name not in here]
    named += [f"{place} {name}" for place, name in cited(ELSEWHERE, TEXTS)]
    assert not named, f"documents that are not in the repository: {named}"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("margins of the sheet", True),
        ("def test_draws_of_the_sheet():", True),
        ("the theory sheet has", True),
        ("see issue 12", True),
        ("(issue #3)", True),
        ("Known figures: .06", True),
        ("the style sheet of the window", False),
        ("an issue of style", False),
    ],
)
def test_documents_from_elsewhere_are_found(text: str, wrong: bool) -> None:
    assert bool(ELSEWHERE.search(text)) is wrong


# ------------------------------------------------------------------------------------ drawing


def test_the_drawing_is_that_of_the_code() -> None:
    """Packages, sentences and imports; how many modules import (the widths) may have changed."""
    assert {name for layer in layers() for name in layer} >= PACKAGES
    now, then = (re.sub(r' stroke-width="[\d.]+"', "", text) for text in (drawing(), COMMITTED))
    assert now == then, "docs/images/architecture.svg is not that of the code: `make drawing`"


# ---------------------------------------------------------------------------------- decisions


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(page.name[:4]) for page in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))
    known = {page.name[:4] for page in DECISIONS}
    pages = [*CODE, *(page for page in PAGES if page.name != "CHANGELOG.md")]
    wrong = [f"{place} {name}" for place, name in cited(DECISION, pages) if name not in known]
    assert not wrong, f"decisions that are not there: {wrong}"


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.name[:4])
def test_a_decision_has_the_form(page: Path) -> None:
    assert headings(page, "#")[0].startswith(f"{int(page.name[:4])}. ")
    assert headings(page, "##") == FORM
    status = page.read_text("utf-8").splitlines()[2]
    assert re.fullmatch(r"Status: [a-z ]+, \d{4}-\d\d-\d\d.*\.", status), status


def test_the_list_of_decisions_is_complete() -> None:
    text = (ROOT / "docs" / "decisions" / "README.md").read_text("utf-8")
    for page in DECISIONS:
        title = headings(page, "#")[0].split(". ", 1)[1]
        assert f"| [{page.name[:4]}]({page.name}) | {title} |" in text


# ------------------------------------------------------------------------------------- theory


def test_the_theory_names_every_statement() -> None:
    """Under the heading of its paper; parts of a statement, in brackets, stand with it."""
    text = (ROOT / "docs" / "theory.md").read_text("utf-8")
    sections = dict(re.findall(r"^### 8\.\d (\w+)\n(.*?)(?=^##)", text, re.DOTALL | re.MULTILINE))
    missing = [
        f"{one.source}, {one.name}"
        for one in STATEMENTS
        if f"**{re.split(r' [(]|, item', one.name)[0]}**" not in sections[one.source]
    ]
    assert not missing, f"docs/theory.md, 8 leaves out: {missing}"
    slips = {one.source for one in STATEMENTS if one.slip}
    assert all("*Slip" in sections[source] for source in slips)
