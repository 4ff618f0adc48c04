"""Finished pages with fewer bytes, which look the same.

The theme writes all its icons into every page, and indents what it writes; the highlighter marks
every space and every name, without a colour of its own; and Sphinx adds classes for which the theme
has no style.
"""

from __future__ import annotations

import re
from pathlib import Path

# What is inside shows its spaces, or is code.
VERBATIM = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.DOTALL)
INDENT = re.compile(r"\s*\n\s*")
# Words of code in which no line breaks anyway.
WORD = re.compile(r'<span class="pre">([\w.()=,:]+)</span>')
CLASSES = {
    "docutils literal notranslate": "literal",
    "reference internal": "reference",
}
COLOURLESS = re.compile(r'<span class="[wnp]">([^<]*)</span>')
ICON = re.compile(r'<symbol id="([^"]+)".*?</symbol>', re.DOTALL)


def slim(page: str) -> str:
    r"""Return a page without unused icons, indentation, and marks that have no colour.

    >>> slim('<ul>\n   <li>a  b</li>\n\n</ul><pre><span class="w">  </span>x\n  y</pre>')
    '<ul>\n<li>a  b</li>\n</ul><pre>  x\n  y</pre>'
    >>> slim('<code class="docutils literal notranslate"><span class="pre">a.b</span></code>')
    '<code class="literal">a.b</code>'
    >>> slim('<symbol id="sun"><path/></symbol><symbol id="eye"/></symbol><use href="#sun">')
    '<symbol id="sun"><path/></symbol><use href="#sun">'
    """
    page = ICON.sub(lambda icon: icon[0] if f'href="#{icon[1]}"' in page else "", page)
    page = WORD.sub(r"\1", COLOURLESS.sub(r"\1", page))
    for usual, slim_classes in CLASSES.items():
        page = page.replace(f'class="{usual}"', f'class="{slim_classes}"')
    parts = VERBATIM.split(page)  # text, verbatim, its name, text, ...
    texts = [INDENT.sub("\n", text) for text in parts[::3]]
    verbatim = [*parts[1::3], ""]
    return "".join(text + code for text, code in zip(texts, verbatim, strict=True))


def slim_pages(folder: Path) -> None:
    """Slim the pages that Sphinx has written into a folder; other pages stay as they are."""
    for path in folder.rglob("*.html"):
        text = path.read_text("utf-8")
        if "Generated with Sphinx" in text[:2000]:
            path.write_text(slim(text), "utf-8")
