"""Texts of the window: they use the words of docs/glossary.md, and no stilted ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.test_architecture import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
SECTION = re.compile(r"^## The window$(.*?)^## ", flags=re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", flags=re.MULTILINE)
STILTED = (
    *("nobody", "somebody", "whoever", "anew", "no more", "as it is", "stands", "lies", "tells"),
    *("is told", "is asked for", "looked at", "kept with", "goes by", "gives way", "look"),
    *("takes the place", "took the place", "cannot be had", "once more", "the log says", "mend"),
)
HEADLESS = re.compile(r"(Whether|Which|Where|Who|How many|How often|How long|Of which)\b")
HIDDEN_CALLS = ("getattr", "setattr", "hasattr", "setObjectName", "setProperty", "getLogger")
SHOWN = re.compile(r"\S\s\S|^&?[A-Z].*[a-z]", flags=re.DOTALL)
STYLE_SHEET = "QPushButton"


def unused_terms() -> dict[str, str]:
    """Return the glossary's words that the window does not use: word -> the word in its place."""
    (section,) = SECTION.findall(GLOSSARY.read_text("utf-8"))
    rows = [row for row in ROW.findall(section) if row[0] not in ("word", "---")]
    return {word.strip(): row[0] for row in rows for word in row[2].split(",")}


def _ignored(tree: ast.Module) -> set[int]:
    """Return the ids of strings that are docstrings, annotations, parts, or names of Qt objects."""
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            found.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            found += node.values
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            found += node.args if name in HIDDEN_CALLS else []
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            found += ast.walk(node.annotation)
    return set(map(id, found))


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string that can be shown; `{}` replaces computed parts."""
    tree = ast.parse(source)
    ignored = _ignored(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if id(node) not in ignored and SHOWN.search(text) and STYLE_SHEET not in text:
            yield node.lineno, text


def offences(source: str, words: dict[str, str]) -> list[str]:
    """Return the texts of a module that use one of some words, or that begin headlessly."""
    terms = re.compile(rf"\b({'|'.join(map(re.escape, words))})s?\b", flags=re.IGNORECASE)
    found = []
    for line, text in texts_of(source):
        if match := terms.search(text.replace("&", "")):
            instead = words.get(match[1].lower(), "")
            found.append(f"{line}: {match[0]!r} in {text[:80]!r}; {instead or 'reword'}")
        elif HEADLESS.match(text):
            found.append(f"{line}: headless: {text[:80]!r}")
    return found


WORDS = {word.lower(): term for word, term in unused_terms().items()} | dict.fromkeys(STILTED, "")
MODULES = sorted((ROOT / "app").rglob("*.py"))


def test_the_window_uses_the_words_of_the_glossary() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{offence}"
        for path in MODULES
        for offence in offences(path.read_text("utf-8"), WORDS)
    ]
    assert not wrong, "\n".join(wrong)


# What is read outside the window: help, errors and captions, studies, and the pages for users.
NODE = re.compile(r"\b[Nn]odes?\b")
OTHER_NODES = (
    "proved over the subsets of",  # those of a search tree
    "a node, or the end",  # kinds of markers, by which the code knows them
    "a pinned node,",
)
MACHINES = ("clusters.md", "sweeps.md")  # nodes there are computers
KEYS = re.compile(r"^(measure|options) = .*$|^#.*$", flags=re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`]+`|node, hidden unit|node set", flags=re.DOTALL | re.MULTILINE)


def test_other_texts_say_neuron_too() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text[:80]!r}"
        for package in ("core", "marginscope")
        for path in sorted((ROOT / package).rglob("*.py"))
        if NODE.search(source := path.read_text("utf-8"))
        for line, text in texts_of(source)
        if NODE.search(text.replace("{nodes}", "")) and not text.strip().startswith(OTHER_NODES)
    ]
    for folder, suffix, hidden in (
        (ROOT / "resources" / "studies", ".toml", KEYS),
        (ROOT / "resources" / "results", ".json", re.compile("^$")),
        (ROOT / "docs", ".md", CODE),
    ):
        for path in sorted(folder.glob(f"*{suffix}")):
            text = hidden.sub("", path.read_text("utf-8"))
            if path.name not in MACHINES and (found := NODE.search(text)):
                wrong.append(f"{path.relative_to(ROOT)}: {text[: found.end()][-60:]!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ('TIP = "Pin a node"', True),
        ('TIP = f"All {count} cells finished."', True),
        ('TIP = "&Cells"', True),
        ('TIP = "Whether runs are linked"', True),
        ('TIP = "The run is trained anew."', True),
        ('label.setToolTip("The drawer " + name)', True),
        ('TIP = "Pin a neuron"', False),
        ('KEY = "nodes"', False),
        ('widget.setObjectName("the drawer")', False),
        ('"""Return a node."""', False),
        ('TIP = f"{run.node(1)} is pinned"', False),
    ],
)
def test_a_wrong_word_is_found(source: str, wrong: bool) -> None:
    assert bool(offences(source, WORDS)) is wrong


def test_the_glossary_does_not_refuse_its_own_words() -> None:
    (section,) = SECTION.findall(GLOSSARY.read_text("utf-8"))
    terms = {row[0] for row in ROW.findall(section)}
    assert len(terms) > 30 and not terms & set(unused_terms())
