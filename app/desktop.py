"""Desktop entries, file types and icons of this program. No Qt, no side effects.

The files follow the Desktop Entry, Shared MIME-info and Icon Theme specifications. They are values
(`files`) below a user's data folder, so that they can be compared with existing files, and removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from core.program import RESOURCES
from core.run_files.schema import APPLICATION_ID

SCHEME = "marginscope"
VIEW_SUFFIX = ".msview"
LINKS, FILES = "marginscope-links.desktop", "marginscope.desktop"
LINK_KIND = f"x-scheme-handler/{SCHEME}"
RUN_KIND, VIEW_KIND = "application/vnd.marginscope.run", "application/vnd.marginscope.view"
# File and link types for which each desktop entry becomes the default program.
KINDS: Mapping[str, tuple[str, ...]] = {LINKS: (LINK_KIND,), FILES: (RUN_KIND, VIEW_KIND)}
SIZES = (16, 32, 48, 64, 128, 256)
FOLDER = RESOURCES / "desktop"


def is_link(text: str) -> bool:
    """Return True for a text with the scheme of links of this program."""
    return text.strip().lower().startswith(f"{SCHEME}:")


def desktop_entry(start: Sequence[str], folder: Path, name: str = LINKS) -> str:
    """Return the desktop entry of the program for links, or that for files.

    >>> [line for line in desktop_entry(["/opt/a b/run", "-m"], Path("/opt")).splitlines()
    ...  if "Exec" in line]
    ['Exec="/opt/a b/run" "-m" %u']
    """
    words = " ".join(_quote(word) for word in start)
    return Template((FOLDER / name).read_text("utf-8")).substitute(
        start=words, folder=_escape(str(folder))
    )


def files(start: Sequence[str], folder: Path) -> dict[str, bytes]:
    """Return all files for desktops, by paths below the folder of a user's data.

    `start` starts the program, from `folder`.
    """
    contents = {
        f"applications/{name}": desktop_entry(start, folder, name).encode() for name in KINDS
    }
    kinds = Template((FOLDER / "marginscope.xml").read_text("utf-8"))
    contents["mime/packages/marginscope.xml"] = kinds.substitute(
        id=f"0x{APPLICATION_ID:08x}"
    ).encode()
    for size in SIZES:
        picture = (FOLDER / f"marginscope-{size}.png").read_bytes()
        for place in _icons(f"{size}x{size}"):
            contents[f"{place}.png"] = picture
    for place in _icons("scalable"):
        contents[f"{place}.svg"] = (FOLDER / "marginscope.svg").read_bytes()
    return contents


def _icons(size: str) -> tuple[str, ...]:
    """Return the icons of the program and of its files."""
    names = ("apps/marginscope", *(f"mimetypes/{kind.replace('/', '-')}" for kind in KINDS[FILES]))
    return tuple(f"icons/hicolor/{size}/{name}" for name in names)


def without_defaults(text: str) -> str:
    r"""Return a user's mimeapps.list without these entries, and otherwise unchanged.

    >>> without_defaults("x-scheme-handler/marginscope=other.desktop;marginscope-links.desktop;\n")
    'x-scheme-handler/marginscope=other.desktop;\n'
    """
    lines = []
    for line in text.splitlines(keepends=True):
        kind, equals, value = line.partition("=")
        names = [name for name in value.strip().split(";") if name]
        remaining = [name for name in names if name not in KINDS]
        if not equals or remaining == names:
            lines.append(line)
        elif remaining:
            lines.append(f"{kind}={';'.join(remaining)};\n")
    return "".join(lines)


def _quote(word: str) -> str:
    """Quote an argument by the Desktop Entry Specification, then escape it as a string."""
    for letter in '\\"`$':
        word = word.replace(letter, f"\\{letter}")
    return '"' + _escape(word).replace("%", "%%") + '"'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
