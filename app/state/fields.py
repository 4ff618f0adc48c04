"""A scene as names and texts, and back: what links, view files and sessions are written in.

A name may have several texts, as in the query of a link. What is as in a new window is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, final

from app.state.differences import PANELS
from app.state.intent import VIEW_OPTIONS
from app.state.scene import Scene, Zoom
from app.state.value_kinds import NONE, moment_of, moment_text, parse_whole
from app.state.view_options import Texts, ViewOption, parse_only
from app.state.views import VIEWS
from core.comparison.question import CompareQuestion
from core.errors import InputError, did_you_mean
from core.figures.ticks import range_problem
from core.settings import Registry

MOST_RUNS_NAMED = 10
MOST_TEXTS = 2000  # of one name
LONGEST_TEXT = 5000
LONGEST_NUMBER = 40
LIVE = "live"


@final
@dataclass(frozen=True, slots=True)
class SceneField:
    """A part of a scene by name: how it is written, and how it is read into a scene.

    `read` raises ValueError with what is allowed instead.
    """

    name: str
    write: Callable[[Scene], Texts]
    read: Callable[[Scene, Texts], Scene]


def written(
    scene: Scene, names: Collection[str], always: bool = False
) -> dict[str, tuple[str, ...]]:
    """The texts of some parts, where they are not as in a new window, or all of them `always`."""
    new = Scene()
    texts = {name: tuple(FIELDS[name].write(scene)) for name in FIELDS if name in names}
    if always:
        return texts
    return {name: some for name, some in texts.items() if some != tuple(FIELDS[name].write(new))}


def read(texts: Mapping[str, Texts], base: Scene, names: Collection[str], where: str) -> Scene:
    """A scene from texts; parts that are not there are those of `base`.

    Raises InputError for a name that is not among `names`, and for a text that is not understood.
    """
    scene = base
    for name in texts:
        if name not in names:
            hint = did_you_mean(name[:40], tuple(names))
            raise InputError(f"there is no part {name[:40]!r}; {hint}", where=where)
    for name in FIELDS:  # in the order of the table: some go on from what others say
        if name not in texts:
            continue
        some = texts[name]
        if len(some) > MOST_TEXTS or any(len(text) > LONGEST_TEXT for text in some):
            raise InputError(f"{name} is too long.", where=where)
        try:
            scene = FIELDS[name].read(scene, some)
        except ValueError as error:
            shown = ", ".join(some)[:60]
            raise InputError(
                f"{name} = {shown!r} is not understood; {error}.", where=where
            ) from None
    return scene


# ------------------------------------------------------------------------------- the parts


def _of_option(option: ViewOption) -> SceneField:
    def write(scene: Scene) -> Texts:
        return option.kind.format(getattr(scene.intent, option.name))

    def read_one(scene: Scene, texts: Texts) -> Scene:
        return _with(scene, **{option.name: option.kind.parse(texts)})

    return SceneField(option.text, write, read_one)


def _with(scene: Scene, **wishes: Any) -> Scene:
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
        return _with(scene, follow=True, playing=False)
    return _with(scene, cursor=moment_of(text), follow=False)


def _read_runs(scene: Scene, texts: Texts) -> Scene:
    if len(texts) > MOST_RUNS_NAMED:
        raise ValueError(f"at most {MOST_RUNS_NAMED} runs are named")
    if any("\0" in text or not text for text in texts):
        raise ValueError("a run is the path of a file")
    return replace(scene, runs=tuple(Path(text) for text in texts))


def _write_question(scene: Scene) -> Texts:
    compared = scene.intent.compared
    if compared is None:
        return ()
    asked = compared.question
    return (asked.observable, asked.against, asked.kind, asked.band)


def _read_question(scene: Scene, texts: Texts) -> Scene:
    compared = scene.intent.compared
    if compared is None or len(texts) != 4:
        raise ValueError("it says by what runs are compared: observable, against, kind, band")
    try:
        question = CompareQuestion(*texts)
    except InputError as error:
        raise ValueError(error.text.rstrip(".")) from error
    return _with(scene, compared=replace(compared, question=question))


def _write_zooms(scene: Scene) -> Texts:
    return tuple(
        f"{zoom.place}:{zoom.view}:{zoom.left!r},{zoom.right!r},{zoom.bottom!r},{zoom.top!r}"
        for zoom in scene.zooms
    )


def _read_zooms(scene: Scene, texts: Texts) -> Scene:
    zooms = []
    for text in texts:
        place, _, rest = text.partition(":")
        view, _, bounds = rest.partition(":")
        numbers = [_real(part) for part in bounds.split(",")]
        if view not in VIEWS or len(numbers) != 4:
            raise ValueError("a zoom is run:view:left,right,bottom,top")
        left, right, bottom, top = numbers
        if problem := range_problem(left, right) or range_problem(bottom, top):
            raise ValueError(problem)
        zooms.append(Zoom(parse_whole(place), view, *numbers))
    return replace(scene, zooms=tuple(zooms))


def _read_panels(scene: Scene, texts: Texts) -> Scene:
    names = [text for text in texts if text != NONE]
    if any(name not in PANELS for name in names):
        raise ValueError(f"panels are {', '.join(PANELS)}")
    return replace(scene, panels=frozenset(names))


FIELDS: Registry[SceneField] = Registry(
    attrgetter("name"),
    SceneField("run", lambda scene: tuple(str(path) for path in scene.runs), _read_runs),
    SceneField("t", _write_time, _read_time),
    *map(_of_option, VIEW_OPTIONS.values()),
    SceneField("by", _write_question, _read_question),
    SceneField("zoom", _write_zooms, _read_zooms),
    SceneField("panels", lambda scene: tuple(sorted(scene.panels)) or (NONE,), _read_panels),
)
OF_OPTIONS = tuple(option.text for option in VIEW_OPTIONS.values() if option.in_link)
OF_PICTURE = ("run", "t", *OF_OPTIONS, "by", "zoom")
OF_SESSION = tuple(FIELDS)
# Runs, times, nodes and zooms are not a matter of layouts.
OF_LAYOUT = (*(one.text for one in VIEW_OPTIONS.values() if one.in_layout), "panels")
