"""Links and view files: a picture in one line, or in a small file beside the runs; or a study."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

import tomli_w

from app.desktop import SCHEME
from app.state.fields import OF_PICTURE, read, written
from app.state.scene import Scene
from core.errors import InputError, did_you_mean
from core.studies.study import shipped_ids
from core.study_file.validation import parse_toml

PREFIX = f"{SCHEME}://view?"
STUDY_PREFIX = f"{SCHEME}://study?name="
SUFFIX = ".msview"
MOST_LETTERS = 100_000
MOST_BYTES = 200_000


def is_link(text: str) -> bool:
    """Whether a text is meant as a link of ours."""
    return text.strip().lower().startswith(f"{SCHEME}:")


def link_of(scene: Scene) -> str:
    """The link that brings a picture back.

    >>> link_of(Scene(runs=(Path("/runs/a b.msrun"),)))
    'marginscope://view?run=/runs/a%20b.msrun'
    """
    pairs = [(name, text) for name, some in written(scene, OF_PICTURE).items() for text in some]
    # Names of files are bytes, and not all of them text: those come back as they are.
    errors = "surrogateescape"
    return PREFIX + urlencode(pairs, quote_via=quote, safe="/:,^", errors=errors)


def study_link(name: str) -> str:
    """The link to a shipped study.

    >>> study_link("telgarsky22-figure-1")
    'marginscope://study?name=telgarsky22-figure-1'
    """
    return STUDY_PREFIX + name


def study_in(text: str) -> str | None:
    """The shipped study that a link leads to; None for a link to a picture. Raises InputError."""
    head, name = text.strip()[: len(STUDY_PREFIX)], text.strip()[len(STUDY_PREFIX) :]
    if head.lower() != STUDY_PREFIX:
        return None
    if name not in shipped_ids():
        hint = did_you_mean(name[:60], shipped_ids())
        raise InputError(f"the link leads to a study {name[:60]!r}, which there is not; {hint}")
    return name


def parse_link(text: str, base: Scene) -> Scene:
    """The scene of a link; what it does not say is that of `base`. Raises InputError."""
    text = text.strip()
    if len(text) > MOST_LETTERS:
        raise InputError("the link is too long; it may have been joined with other text.")
    scheme, mark, query = text.partition("?")
    if scheme.lower().rstrip("/") != PREFIX.rstrip("?") or not mark:
        raise InputError(f"{text[:60]!r} is no link of this program; one begins with {PREFIX}")
    try:
        errors = "surrogateescape"
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True, errors=errors)
    except ValueError:
        raise InputError("the link is damaged; copy it whole, from marginscope: on.") from None
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        texts.setdefault(name, []).append(value)
    return read(texts, base, OF_PICTURE, "the link")


def view_text(scene: Scene, folder: Path) -> str:
    """The text of a view file; runs beside it or below are named from there, so that the folder
    can be moved. Raises InputError for a name that is no text, which no view file can hold."""
    scene = _with_files(scene, lambda path: _from(path, folder))
    texts = written(scene, OF_PICTURE)
    for name in (*texts.get("run", ()), *texts.get("compare", ())):
        if name != os.fsencode(name).decode("utf-8", "replace"):
            raise InputError(f"{name!a} has a name that is no text; rename it, or copy a link.")
    return "# A picture of Marginscope: open it with the program.\n" + tomli_w.dumps(
        {name: some[0] if len(some) == 1 else list(some) for name, some in texts.items()}
    )


def _from(path: Path, folder: Path) -> Path:
    path, folder = path.absolute(), folder.absolute()
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def parse_view(text: str, folder: Path, base: Scene, where: str) -> Scene:
    """The scene of a view file in a folder. Raises InputError."""
    texts: dict[str, list[str]] = {}
    for name, value in parse_toml(text, where).items():
        some = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in some):
            raise InputError(f"{name[:40]} is a text or a list of texts.", where=where)
        texts[name] = some
    return _with_files(read(texts, base, OF_PICTURE, where), lambda path: folder / path)


def absolute(scene: Scene) -> Scene:
    """A scene whose files are named from the root."""
    return _with_files(scene, Path.absolute)


def _with_files(scene: Scene, change: Callable[[Path], Path]) -> Scene:
    """A scene with other names of its files."""
    intent = scene.intent
    if intent.compared is not None:
        names = tuple(str(change(Path(name))) for name in intent.compared.runs)
        intent = replace(intent, compared=replace(intent.compared, runs=names))
    return replace(scene, runs=tuple(map(change, scene.runs)), intent=intent)
