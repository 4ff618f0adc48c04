"""List of pages at the left, in which only the reader's own branch is open.

The theme writes every branch into every page, and has them folded by style sheets; with a page for
each study and decision that is a quarter of the site's bytes. Of a long branch only the reader's
own page is listed: the page of the branch, above it, lists all.
"""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

AFTER_THE_THEME = 900  # handlers have 500 where they say nothing
TREE = "furo_navigation_tree"
LONGEST = 20  # pages of a branch that are listed on each of them


def pruned(tree: str) -> str:
    """Remove branches without the present page, and their switches, from a list of pages.

    >>> here = '<li class="current has-children"><a>A</a><ul><li>a</li></ul></li>'
    >>> pruned(f'<ul>{here}<li class="has-children"><a>B</a><input/><ul><li>b</li></ul></li></ul>')
    '<ul><li class="current has-children"><a>A</a><ul><li>a</li></ul></li><li><a>B</a></li></ul>'
    """
    soup = BeautifulSoup(tree, "html.parser")
    for item in soup.find_all("li", class_="has-children"):
        kinds = [kind for kind in item["class"] if kind != "has-children"]
        if "current" in kinds:
            continue
        for part in item.find_all(("ul", "input", "label"), recursive=False):
            part.decompose()
        if kinds:
            item["class"] = " ".join(kinds)
        else:
            del item["class"]
    for item in soup.find_all("li", class_="current-page"):
        others = item.find_next_siblings("li") + item.find_previous_siblings("li")
        if len(others) >= LONGEST:
            for other in others:
                other.decompose()
    return str(soup)


def _prune(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    if TREE in context:
        context[TREE] = pruned(context[TREE])


def setup(app: Sphinx) -> dict[str, Any]:
    """Come after the theme, which makes the tree."""
    app.connect("html-page-context", _prune, priority=AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
