"""Sphinx's settings of the site, which asks for no network when it is built and when it is read."""

from __future__ import annotations

from typing import Any

from core.figures.palette import DARK, LIGHT, Palette
from core.program.version import __version__
from docs.site.films import EXTRA
from docs.site.places import OWN

project = "Marginscope"
copyright = "Marginscope authors, MIT licence"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.site.mathml",
    "docs.site.python_module",
    "docs.site.sidebar",
]
default_role = "code"  # of single backticks in docstrings, which are Markdown's
autodoc_typehints, autodoc_member_order = "none", "bysource"
napoleon_google_docstring = napoleon_use_param = napoleon_use_rtype = False
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence"]
myst_heading_anchors = 4  # as GitHub and the window name headings
exclude_patterns = [EXTRA]
suppress_warnings = ["myst.header"]  # decisions of one page begin at any level
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"Marginscope {release}"
html_extra_path: list[str] = []  # set by the command line, since it lies in the folder of sources
html_static_path = [str(OWN / "static")]
html_css_files = ["site.css"]
html_js_files = ["phrase.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False
highlight_language, smartquotes = "text", False  # options begin with two hyphens
pygments_style, pygments_dark_style = "friendly", "monokai"


def _colours(palette: Palette) -> dict[str, Any]:
    """Return the accents of the window as variables of the theme."""
    accent = palette.lines[1]
    return {
        "color-brand-primary": accent,
        "color-brand-content": accent,
        "confirmed": palette.references[0],
        "refuted": palette.lines[4],
        "open": palette.muted,
    }


html_theme_options = {
    "light_css_variables": _colours(LIGHT),
    "dark_css_variables": _colours(DARK),
    "top_of_page_buttons": [],
}
