"""Scenes as texts: named fields, links, view files and layouts.

A field may have several texts, as in the query of a link. Fields as in a new window are left out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, final
from urllib.parse import parse_qsl, quote, urlencode

import tomli_w

from app.desktop import SCHEME
from app.scenes.scene import PANELS, Scene, Zoom
from app.settings import MOST_LAYOUTS
from app.state.comparison import MOST_OBSERVABLES
from app.state.intent import VIEW_OPTIONS
from app.state.view_options import (
    NONE,
    Texts,
    ViewOption,
    moment_of,
    moment_text,
    parse_only,
    parse_whole,
)
from app.state.views import VIEWS
from core.comparison.question import MOST_COMPARED, CompareQuestion
from core.errors import InputError, did_you_mean, nearest_names
from core.figures.ticks import range_problem
from core.settings import Registry
from core.studies.study import shipped_ids
from core.study_file.validation import parse_toml

MOST_RUNS_NAMED = 10
MOST_TEXTS = 2000  # values of one name
LONGEST_TEXT = 5000
LONGEST_NUMBER = 40
MOST_SLOTS = 2 * MOST_COMPARED  # of colours: runs that were added take the first free ones
LIVE = "live"


@final
@dataclass(frozen=True, slots=True)
class SceneField:
    """Part of a scene by name, with its writer and reader.

    `read` raises ValueError with what is allowed instead.
    """

    name: str
    write: Callable[[Scene], Texts]
    read: Callable[[Scene, Texts], Scene]


def write_fields(
    scene: Scene, names: Collection[str], always: bool = False
) -> dict[str, tuple[str, ...]]:
    """Return the texts of some fields, except those as in a new window unless `always`."""
    new = Scene()
    texts = {name: tuple(FIELDS[name].write(scene)) for name in FIELDS if name in names}
    if always:
        return texts
    return {name: some for name, some in texts.items() if some != tuple(FIELDS[name].write(new))}


def read_fields(
    texts: Mapping[str, Texts], base: Scene, names: Collection[str], where: str
) -> Scene:
    """Return a scene from texts; other fields are those of `base`.

    Raises InputError for a name that is not among `names`, and for an invalid text.
    """
    scene = base
    for name in texts:
        if name not in names:
            hint = did_you_mean(name[:40], tuple(names))
            raise InputError(f"unknown part {name[:40]!r}; {hint}", where=where)
    for name in FIELDS:  # in the table's order, since some fields depend on earlier ones
        if name not in texts:
            continue
        some = texts[name]
        if len(some) > MOST_TEXTS or any(len(text) > LONGEST_TEXT for text in some):
            raise InputError(f"{name} is too long.", where=where)
        try:
            scene = FIELDS[name].read(scene, some)
        except ValueError as error:
            listed = ", ".join(some)[:60]
            raise InputError(f"{name} = {listed!r} is not valid: {error}.", where=where) from None
    return scene


# ------------------------------------------------------------------------------------------- parts


def _of_option(option: ViewOption) -> SceneField:
    def write(scene: Scene) -> Texts:
        return option.kind.format(getattr(scene.intent, option.name))

    def read_one(scene: Scene, texts: Texts) -> Scene:
        return _replace_intent(scene, **{option.name: option.kind.parse(texts)})

    return SceneField(option.text, write, read_one)


def _replace_intent(scene: Scene, **wishes: Any) -> Scene:
    return replace(scene, intent=replace(scene.intent, **wishes))


def _real(text: str) -> float:
    plain = text.isascii() and len(text) <= LONGEST_NUMBER and "_" not in text
    try:
        return float(text) if plain else math.nan
    except ValueError:
        return math.nan


def _write_time(scene: Scene) -> Texts:
    intent = scene.intent
    if intent.follow:
        return (LIVE,)
    return (moment_text(intent.cursor),)


def _read_time(scene: Scene, texts: Texts) -> Scene:
    text = parse_only(texts)
    if text == LIVE:
        return _replace_intent(scene, follow=True, playing=False)
    return _replace_intent(scene, cursor=moment_of(text), follow=False)


def _write_current(scene: Scene) -> Texts:
    current = scene.intent.current
    return () if current is None else (str(current),)


def _read_current(scene: Scene, texts: Texts) -> Scene:
    return _replace_intent(scene, current=parse_whole(parse_only(texts)))


def _read_runs(scene: Scene, texts: Texts) -> Scene:
    if len(texts) > MOST_RUNS_NAMED:
        raise ValueError(f"at most {MOST_RUNS_NAMED} runs are allowed")
    if any("\0" in text or not text for text in texts):
        raise ValueError("expected the path of a run file")
    return replace(scene, runs=tuple(Path(text) for text in texts))


def _write_question(scene: Scene) -> Texts:
    """Return what the comparison compares: observable, axis, kind and band."""
    compared = scene.intent.compared
    if compared is None:
        return ()
    question = compared.question
    return (question.observable, question.against, question.kind, question.band, *compared.several)


def _read_question(scene: Scene, texts: Texts) -> Scene:
    compared = scene.intent.compared
    if compared is None or not 4 <= len(texts) <= 4 + MOST_OBSERVABLES:
        raise ValueError("expected observable, against, kind, band of a comparison")
    try:
        compared = replace(compared, question=CompareQuestion(*texts[:4]))
    except InputError as error:
        raise ValueError(error.text.rstrip(".")) from error
    several = tuple(dict.fromkeys(texts[4:]))
    return _replace_intent(
        scene, compared=compared.with_observables(several) if several else compared
    )


def _write_hidden_runs(scene: Scene) -> Texts:
    compared = scene.intent.compared
    runs = compared.runs if compared is not None else ()
    return tuple(str(k) for k, name in enumerate(runs) if compared and name in compared.hidden)


def _read_hidden_runs(scene: Scene, texts: Texts) -> Scene:
    compared, places = scene.intent.compared, {parse_whole(text) for text in texts}
    if compared is None or not places <= set(range(len(compared.runs))):
        raise ValueError("expected numbers of compared runs, starting at 0")
    hidden_runs = frozenset(compared.runs[place] for place in places)
    return _replace_intent(scene, compared=replace(compared, hidden=hidden_runs))


def _write_colours(scene: Scene) -> Texts:
    compared = scene.intent.compared
    return tuple(map(str, compared.slots)) if compared is not None else ()


def _read_colours(scene: Scene, texts: Texts) -> Scene:
    compared, slots = scene.intent.compared, tuple(map(parse_whole, texts))
    if compared is None or len({*slots}) != len(compared.runs) or max(slots) >= MOST_SLOTS:
        raise ValueError(f"it has a colour below {MOST_SLOTS} for each compared run")
    return _replace_intent(scene, compared=replace(compared, slots=slots))


def _write_zooms(scene: Scene) -> Texts:
    return tuple(
        f"{zoom.place}:{zoom.view}:{zoom.left!r},{zoom.right!r},{zoom.bottom!r},{zoom.top!r}"
        for zoom in scene.zooms
    )


def _read_zooms(scene: Scene, texts: Texts) -> Scene:
    zooms = []
    for text in texts:
        place, _, numbers_text = text.partition(":")
        view, _, bounds = numbers_text.partition(":")
        numbers = [_real(part) for part in bounds.split(",")]
        if view not in VIEWS or len(numbers) != 4:
            raise ValueError("expected run:view:left,right,bottom,top")
        left, right, bottom, top = numbers
        if problem := range_problem(left, right) or range_problem(bottom, top):
            raise ValueError(problem)
        zooms.append(Zoom(parse_whole(place), view, *numbers))
    return replace(scene, zooms=tuple(zooms))


def _read_panels(scene: Scene, texts: Texts) -> Scene:
    names = [text for text in texts if text != NONE]
    if any(name not in PANELS for name in names):
        raise ValueError(f"expected panels among {', '.join(PANELS)}")
    return replace(scene, panels=frozenset(names))


FIELDS: Registry[SceneField] = Registry(
    attrgetter("name"),
    SceneField("run", lambda scene: tuple(str(path) for path in scene.runs), _read_runs),
    SceneField("current", _write_current, _read_current),
    SceneField("t", _write_time, _read_time),
    *map(_of_option, VIEW_OPTIONS.values()),
    SceneField("by", _write_question, _read_question),
    SceneField("hide", _write_hidden_runs, _read_hidden_runs),
    SceneField("colours", _write_colours, _read_colours),
    SceneField("zoom", _write_zooms, _read_zooms),
    SceneField("panels", lambda scene: tuple(sorted(scene.panels)) or (NONE,), _read_panels),
)
OF_OPTIONS = tuple(option.text for option in VIEW_OPTIONS.values() if option.in_link)
OF_PICTURE = ("run", "current", "t", *OF_OPTIONS, "by", "hide", "colours", "zoom")
OF_SESSION = tuple(FIELDS)
# Layouts hold no runs, times, neurons or zooms.
OF_LAYOUT = (*(one.text for one in VIEW_OPTIONS.values() if one.in_layout), "panels")


PREFIX = f"{SCHEME}://view?"
STUDY_PREFIX = f"{SCHEME}://study?name="
MOST_LETTERS = 100_000
MOST_BYTES = 200_000


def link_of(scene: Scene) -> str:
    """Return the link to a scene.

    >>> link_of(Scene(runs=(Path("/runs/a b.msrun"),)))
    'marginscope://view?run=/runs/a%20b.msrun'
    """
    pairs = [
        (name, text) for name, some in write_fields(scene, OF_PICTURE).items() for text in some
    ]
    # File names are bytes; those that are not UTF-8 must survive the round trip.
    errors = "surrogateescape"
    return PREFIX + urlencode(pairs, quote_via=quote, safe="/:,^", errors=errors)


def study_link(name: str) -> str:
    """Return the link to a shipped study.

    >>> study_link("telgarsky22-figure-1")
    'marginscope://study?name=telgarsky22-figure-1'
    """
    return STUDY_PREFIX + name


def study_in(text: str) -> str | None:
    """Return the shipped study named by a link; None for a link to a scene. Raises InputError."""
    head, name = text.strip()[: len(STUDY_PREFIX)], text.strip()[len(STUDY_PREFIX) :]
    if head.lower() != STUDY_PREFIX:
        return None
    if name not in shipped_ids():
        hint = nearest_names(name[:60], shipped_ids())
        raise InputError(f"the link names the unknown study {name[:60]!r}; {hint}")
    return name


def parse_link(text: str, base: Scene) -> Scene:
    """Return the scene of a link; other fields are those of `base`. Raises InputError."""
    text = text.strip()
    if len(text) > MOST_LETTERS:
        raise InputError("the link is too long; it may contain other text.")
    scheme, mark, query = text.partition("?")
    if scheme.lower().rstrip("/") != PREFIX.rstrip("?") or not mark:
        raise InputError(f"{text[:60]!r} is not a Marginscope link; links start with {PREFIX}")
    try:
        errors = "surrogateescape"
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True, errors=errors)
    except ValueError:
        raise InputError(
            "the link is incomplete; copy all of it, starting at marginscope:."
        ) from None
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        texts.setdefault(name, []).append(value)
    return read_fields(texts, base, OF_PICTURE, "the link")


def view_text(scene: Scene, folder: Path) -> str:
    """Return the text of a view file; runs below `folder` have relative paths.

    Raises InputError for a name that is no text, which no view file can hold.
    """
    scene = _with_files(scene, lambda path: _relative_path(path, folder))
    texts = write_fields(scene, OF_PICTURE)
    for name in (*texts.get("run", ()), *texts.get("compare", ())):
        if name != os.fsencode(name).decode("utf-8", "replace"):
            raise InputError(
                f"the name of {name!a} is not valid text; rename the file, or copy a link."
            )
    return "# View of Marginscope runs: open this file in Marginscope.\n" + tomli_w.dumps(
        {name: some[0] if len(some) == 1 else list(some) for name, some in texts.items()}
    )


def _relative_path(path: Path, folder: Path) -> Path:
    path, folder = path.absolute(), folder.absolute()
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def parse_view(text: str, folder: Path, base: Scene, where: str) -> Scene:
    """Return the scene of a view file in a folder. Raises InputError."""
    texts: dict[str, list[str]] = {}
    for name, value in parse_toml(text, where).items():
        some = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in some):
            raise InputError(f"{name[:40]} must be a text or a list of texts.", where=where)
        texts[name] = some
    return _with_files(read_fields(texts, base, OF_PICTURE, where), lambda path: folder / path)


def with_absolute_paths(scene: Scene) -> Scene:
    return _with_files(scene, Path.absolute)


def _with_files(scene: Scene, change: Callable[[Path], Path]) -> Scene:
    """Return a scene with changed paths."""
    intent = scene.intent
    if intent.compared is not None:
        before = intent.compared
        names = {name: str(change(Path(name))) for name in before.runs}
        hidden_runs = frozenset(names[name] for name in before.hidden)
        compared = replace(
            before, runs=tuple(names[name] for name in before.runs), hidden=hidden_runs
        )
        intent = replace(intent, compared=compared)
    return replace(scene, runs=tuple(map(change, scene.runs)), intent=intent)


LONGEST_NAME = 60

Layout = Mapping[str, Sequence[str]]

LAYOUTS: Mapping[str, Layout] = {
    "Paper": {
        "views": ("neurons", "rotations", "norms", "margins"),
        "panels": ("inspector",),
    },
    "Lecture": {"views": ("neurons", "margins"), "panels": ("lecture",)},
    "Four-up": {"views": ("neurons",), "panels": ("none",)},
}


def layout_of(scene: Scene) -> dict[str, tuple[str, ...]]:
    # All fields, defaults too, since a layout is applied over any other.
    return write_fields(scene, OF_LAYOUT, always=True)


def apply_layout(scene: Scene, layout: Layout) -> Scene:
    """Return a scene in a layout. Raises InputError for an invalid layout."""
    return read_fields(layout, scene, OF_LAYOUT, "the layout")


def check_layout_name(name: str, layouts: Mapping[str, Layout]) -> str:
    """Return the name for a layout of the user, stripped. Raises InputError."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        raise InputError(f"Enter a layout name of 1 to {LONGEST_NAME} letters.")
    if name in LAYOUTS:
        raise InputError(f"{name} is a built-in layout. Choose another name.")
    if len(layouts) >= MOST_LAYOUTS and name not in layouts:
        raise InputError(f"At most {MOST_LAYOUTS} layouts can be saved. Remove one first.")
    return name
