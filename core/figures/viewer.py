"""Viewer: one page that opens run files in a browser, without a server or an installation.

The page holds SQLite for WebAssembly (resources/sqlite), the reader of run files in JavaScript
(resources/viewer), and the figure that plays (resources/page). All of it is in one file, which
opens from a disk too (docs/decisions/0062).
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from core.data.registry import DATA
from core.data.section import AFFINE
from core.errors import InputError
from core.figures.captions import REAL, SEVERAL, TWO_CLASSES, captions
from core.figures.names import PANELS
from core.figures.numbers import math_words
from core.figures.page import MODULES, bare_module, script_json
from core.figures.page_encoding import pieces
from core.figures.palette import DARK, LIGHT, VIRIDIS
from core.figures.primitives import plain
from core.figures.trace_panels import words_of
from core.files import write_whole
from core.network.registry import NETWORKS
from core.observables.registry import title_with_unit
from core.program import RESOURCES
from core.run_files import schema
from core.settings import Section
from core.study_file.dynamics import KernelPredictor
from core.study_file.experiment import KINDS, PLAIN_SECTIONS

PAGE, LICENCES = "index.html", "LICENCES.txt"
MARK = b"<title>Marginscope viewer</title>"
READ_FIRST = 4000  # bytes of a page that contain its title
# In order of use: each module is used only by later ones.
READER = (
    "viewer/text.js",
    "page/numbers.js",
    "viewer/checksum.js",
    "viewer/database.js",
    "viewer/meta.js",
    "viewer/run_file.js",
    "viewer/losses.js",
    "viewer/networks.js",
    "viewer/colours.js",
    "viewer/axes.js",
    "viewer/margins.js",
    "viewer/curves.js",
    "viewer/content.js",
    "viewer/facts.js",
    "viewer/worker.js",
)
# Views of the page, and the observables that it computes of a file and draws as curves.
VIEWS = (*PANELS, "curves")
QUANTITIES = ("log10_risk", "norm_squared", "train_error")
GLUE_END = re.compile(r"^export \{ (\w+) as default,[^}]*\};?\s*\Z", re.MULTILINE)
# What the page checks of a setting, of all that JSON schemas say.
CHECKED = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const")


def save_viewer(folder: Path) -> Path:
    """Write the viewer into a folder, which may hold an earlier one and run files.

    Raises
    ------
    InputError
        The folder is a file, holds another page, or cannot be written.
    DiskError
        The disk is full.
    """
    page = folder / PAGE
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the viewer.")
    if page.exists() and not _is_viewer(page):
        raise InputError(
            f"{page} exists and is not a viewer; name another folder, which need not exist yet."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be created ({error.strerror}); name a folder that you may "
            "write to."
        ) from error
    write_whole(page, viewer_html().encode())
    write_whole(folder / LICENCES, licence_text().encode())
    return page


def _is_viewer(page: Path) -> bool:
    try:
        with page.open("rb") as file:
            return MARK in file.read(READ_FIRST)
    except OSError:
        return False


@cache
def viewer_html() -> str:
    """Return the viewer as HTML."""
    style = f"{_text('page/page.css')}\n{_text('viewer/viewer.css')}"
    names = [f"page/{name}" for name in MODULES if name not in ("main.js", "decode.js")]
    script = _join([*names, "viewer/viewer.js"])
    # 'self' for runs on the viewer's own server; workers are made of texts within the page.
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}' 'wasm-unsafe-eval'; "
        f"style-src '{_digest(style)}'; worker-src blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "style": style,
        "sqlite": pack_sqlite(),
        "reader": _pack(reader_script().encode()),
        "rules": script_json(rules()),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _text("viewer/viewer.html"))


def pack_sqlite() -> str:
    """Return SQLite for WebAssembly, deflated, in base64."""
    return _pack(_resource("sqlite/sqlite3.wasm").read_bytes())


@cache
def reader_script() -> str:
    """Return the worker's script: SQLite's own JavaScript in a scope of its own, and the reader.

    A classic script: from a page on a disk, Chromium does not start workers that are modules.
    """
    glue = _text("sqlite/index.mjs")
    export = GLUE_END.search(glue)
    assert export is not None
    scope = f"{glue[: export.start()]}\nreturn {export[1]};".replace(
        "import.meta.url", "globalThis.location.href"
    )
    first, last = '"use strict";\nconst sqlite3InitModule = (() => {\n', "\n})();\n"
    return f"{first}{scope}{last}{_join(READER)}"


def licence_text() -> str:
    """Return whose code the viewer holds, and the text of its licences."""
    return (
        f"{_text('sqlite/LICENCES.txt')}\n\n{_resource('sqlite/Apache-2.0.txt').read_text('utf-8')}"
    )


def rules() -> dict[str, Any]:
    """Return what the reader must know of the program: format, limits, kinds, and colours."""
    return {
        "application": schema.APPLICATION_ID,
        "version": schema.SCHEMA_VERSION,
        "schema": sorted(
            [list(row) for row in schema.expected_schema(schema.SCHEMA_VERSION)], key=str
        ),
        "arrays": [*schema.ARRAYS, *schema.SCALING],
        "scaling": schema.SCALING,
        "affine": AFFINE,
        "later": schema.LATER.pattern,
        "fixed": schema.FIXED,
        "most": {
            "arrays": schema.MAX_ARRAYS,
            "elements": schema.MAX_ELEMENTS,
            "frames": schema.MAX_FRAMES,
            "metrics": schema.MAX_METRICS,
            "name": schema.MAX_NAME,
        },
        "time": [schema.MIN_LOG10_TIME, schema.MAX_LOG10_TIME],
        "rho": [schema.MIN_RHO, schema.MAX_RHO],
        "reasons": schema.REASONS,
        "real": [name for name, kind in DATA.items() if _is_real(kind)],
        "predictors": [KernelPredictor.model_fields["kind"].default],
        "sections": _sections(),
        "palettes": {palette.name: asdict(palette) for palette in (LIGHT, DARK)},
        "viridis": VIRIDIS.tolist(),
        "captions": _captions(),
        "curves": [_describe_quantity(name) for name in QUANTITIES],
    }


def _is_real(kind: Any) -> bool:
    """Return True for data whose targets are always real numbers."""
    if "targets" in kind.model_fields:
        return False  # a setting says so
    return bool(kind.model_construct().real)


def _sections() -> dict[str, dict[str, Any]]:
    """Return what each kind of each section allows; "" stands for sections of one kind."""
    sections: dict[str, dict[str, Any]] = {
        name: {"": _describe_section(section)} for name, section in PLAIN_SECTIONS.items()
    }
    for name, registry in KINDS.items():
        sections[name] = {kind: _describe_section(registry[kind]) for kind in _list_kinds(name)}
    return sections


def _list_kinds(section: str) -> list[str]:
    """Return the kinds of a section, with those that only run files name."""
    registry = NETWORKS if section == "network" else KINDS[section]
    return [*registry, *getattr(registry, "aside", ())]


def _describe_section(section: type[Section]) -> dict[str, Any]:
    properties: Mapping[str, Any] = section.model_json_schema()["properties"]
    return {name: _describe_setting(one) for name, one in properties.items()}


def _describe_setting(described: Mapping[str, Any]) -> dict[str, Any]:
    checks = {name: described[name] for name in CHECKED if name in described}
    for name in ("anyOf", "items"):
        inner = described.get(name)
        if isinstance(inner, list):
            checks[name] = [_describe_setting(one) for one in inner]
        elif isinstance(inner, dict):
            checks[name] = _describe_setting(inner)
    return checks


def _captions() -> dict[str, list[Any]]:
    """Return the caption of the panels for each sort of data, light and dark."""
    sorts = {"two": TWO_CLASSES, "several": SEVERAL, "real": REAL}
    return {name: _caption(words, name == "real") for name, words in sorts.items()}


def _caption(words: str, is_real: bool) -> list[Any]:
    """Return a caption, light and dark; real targets have no margins."""
    views = [name for name in VIEWS if name != "margins" or not is_real]
    letters = list(zip("abcde", views, strict=False))
    return [pieces(captions(letters, palette, words, norms=["NORM"])) for palette in (LIGHT, DARK)]


def _describe_quantity(name: str) -> dict[str, Any]:
    """Return the key of an observable, its name at a curve, and the title of its strip."""
    title = math_words(plain(title_with_unit(name)))
    return {"key": name, "name": pieces(words_of(name)), "title": pieces(title)}


# ------------------------------------------------------------------------------------ the parts


def _resource(name: str) -> Any:
    return RESOURCES.joinpath(*name.split("/"))


def _text(name: str) -> str:
    text: str = _resource(name).read_text(encoding="utf-8")
    return text.strip()


def _join(names: Iterable[str]) -> str:
    return "\n".join(bare_module(_text(name)) for name in names)


def _pack(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
