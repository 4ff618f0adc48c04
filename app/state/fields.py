"""A scene as names and texts, and back: what links, view files and sessions are written in.

A name may have several texts, as in the query of a link. What is as in a new window is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, final

from app.state.compared import Compared
from app.state.differences import PANELS
from app.state.intent import (
    MARGIN_AXES,
    MARGIN_UNITS,
    MOST_CURVES,
    NEURON_POINTS,
    NEURON_RANGES,
    PACES,
    PROPOSED,
    START,
    Mark,
)
from app.state.scene import Scene, Zoom
from app.state.views import VIEWS, known
from core.comparison.question import MOST_COMPARED, CompareQuestion
from core.errors import InputError, did_you_mean
from core.figures.palette import PALETTES
from core.figures.ticks import range_problem
from core.observables.node_sets import MOST_NODES, nodes_text, parse_nodes
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.problem.schedule import coordinate, inverse_coordinate, parse_time
from core.settings import Registry
from marginscope._numbers import whole_text

MOST_RUNS_NAMED = 10
MOST_TEXTS = 2000  # of one name
LONGEST_TEXT = 5000
MOST_DIGITS, LONGEST_NUMBER = 9, 40
RANGES_IN_TEXT = 200  # of pinned nodes
NONE = "none"
STUDY = "study"  # as the study has it
LIVE = "live"

Texts = Sequence[str]


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


def _wish(name: str, wish: str, titles: Iterable[str], proposed: bool = False) -> SceneField:
    """A wish that is one of some words; of what is `proposed`, STUDY stands for none."""
    allowed = (*titles, STUDY) if proposed else tuple(titles)

    def read_one(scene: Scene, texts: Texts) -> Scene:
        word = _one_of(texts, allowed)
        return _with(scene, **{wish: "" if word == STUDY else word})

    return SceneField(name, lambda scene: (getattr(scene.intent, wish) or STUDY,), read_one)


def _switch(name: str, wish: str = "") -> SceneField:
    wish = wish or name

    def read_one(scene: Scene, texts: Texts) -> Scene:
        return _with(scene, **{wish: _one_of(texts, ("yes", "no")) == "yes"})

    return SceneField(name, lambda s: ("yes" if getattr(s.intent, wish) else "no",), read_one)


def _names(name: str, wish: str, kind: Callable[[Iterable[str]], Any]) -> SceneField:
    """A wish that is a collection of names; `none` stands for an empty one."""

    def write(scene: Scene) -> Texts:
        value = getattr(scene.intent, wish)
        return tuple(value if isinstance(value, tuple) else sorted(value)) or (NONE,)

    def read_all(scene: Scene, texts: Texts) -> Scene:
        return _with(scene, **{wish: kind(text for text in texts if text not in ("", NONE))})

    return SceneField(name, write, read_all)


def _with(scene: Scene, **wishes: Any) -> Scene:
    return replace(scene, intent=replace(scene.intent, **wishes))


def _one(texts: Texts) -> str:
    if len(texts) != 1:
        raise ValueError("give it once")
    return texts[0]


def _one_of(texts: Texts, allowed: Sequence[str]) -> str:
    text = _one(texts)
    if text not in allowed:
        raise ValueError(f"it is {' or '.join(allowed)}")
    return text


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError("numbers of nodes, runs and coordinates are whole and not negative")
    return int(text)


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
    return (typed_time(_log10(intent.cursor)),)


def _log10(moment: float) -> float:
    return float(inverse_coordinate(moment)) if moment != START else -math.inf


def typed_time(log10_time: float) -> str:
    """A moment to the last digit, as `parse_time` reads it.

    >>> typed_time(2.5), typed_time(-math.inf)
    ('10^2.5', '0')
    """
    return f"10^{log10_time!r}" if math.isfinite(log10_time) else "0"


def moment_of(text: str) -> float:
    """A typed time as a moment. Raises ValueError for what is no time."""
    log10_time = parse_time(text)
    if log10_time is None:
        raise ValueError("a time is such as 10^2.5, 300 or 0")
    return float(coordinate(log10_time)) if math.isfinite(log10_time) else START


def _read_time(scene: Scene, texts: Texts) -> Scene:
    text = _one(texts)
    if text == LIVE:
        return _with(scene, follow=True, playing=False)
    return _with(scene, cursor=moment_of(text), follow=False)


def _write_interval(scene: Scene) -> Texts:
    interval = scene.intent.interval
    return () if interval is None else tuple(typed_time(_log10(moment)) for moment in interval)


def _read_interval(scene: Scene, texts: Texts) -> Scene:
    if len(texts) != 2:
        raise ValueError("give two times")
    first, last = (moment_of(text) for text in texts)
    if not first < last:
        raise ValueError("the first time is before the second")
    return _with(scene, interval=(first, last))


def _read_runs(scene: Scene, texts: Texts) -> Scene:
    if len(texts) > MOST_RUNS_NAMED:
        raise ValueError(f"at most {MOST_RUNS_NAMED} runs are named")
    if any("\0" in text or not text for text in texts):
        raise ValueError("a run is the path of a file")
    return replace(scene, runs=tuple(Path(text) for text in texts))


def _write_compared(scene: Scene) -> Texts:
    compared = scene.intent.compared
    return () if compared is None else compared.runs


def _read_compared(scene: Scene, texts: Texts) -> Scene:
    if not 2 <= len(texts) <= MOST_COMPARED or any("\0" in text or not text for text in texts):
        raise ValueError(f"two to {MOST_COMPARED} files of runs are compared")
    return _with(scene, compared=Compared(tuple(texts), CompareQuestion()))


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


def _write_plane(scene: Scene) -> Texts:
    plane = scene.intent.plane
    if plane is None:
        return ()
    numbers = ",".join(str(number) for number in plane.numbers)
    return (f"{plane.kind}:{numbers}" if numbers else plane.kind,)


def _read_plane(scene: Scene, texts: Texts) -> Scene:
    kind, _, numbers = _one(texts).partition(":")
    if kind not in PLANES:
        raise ValueError(f"a plane is {' or '.join(PLANES)}")
    given = tuple(_whole(text) for text in numbers.split(",")) if numbers else ()
    wanted = {COORDINATES.kind: 2, "nodes": 3}.get(kind, 0)
    if len(given) != wanted:
        raise ValueError(f"{kind} takes {wanted} numbers")
    return _with(scene, plane=NodePlane(kind, given))


def _write_pins(scene: Scene) -> Texts:
    texts: list[str] = []
    for place in sorted({place for place, _ in scene.intent.pinned}):
        ranges = nodes_text(node for other, node in scene.intent.pinned if other == place)
        parts = ranges.split(",")
        starts = range(0, len(parts), RANGES_IN_TEXT)
        texts += [f"{place}:{','.join(parts[k : k + RANGES_IN_TEXT])}" for k in starts]
    return tuple(texts)


def _read_pins(scene: Scene, texts: Texts) -> Scene:
    marks: set[Mark] = set()
    for text in texts:
        place, _, nodes = text.partition(":")
        run = _whole(place)
        marks.update((run, node) for node in parse_nodes(nodes))
        if len(marks) > MOST_NODES:
            raise ValueError(f"at most {whole_text(MOST_NODES)} nodes are pinned")
    return _with(scene, pinned=frozenset(marks))


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
        zooms.append(Zoom(_whole(place), view, *numbers))
    return replace(scene, zooms=tuple(zooms))


def _read_views(names: Iterable[str]) -> tuple[str, ...]:
    names = tuple(names)
    unknown = [name for name in names if name not in VIEWS]
    if unknown:
        raise ValueError(f"views are {', '.join(VIEWS)}")
    return known(names)


def _write_curves(scene: Scene) -> Texts:
    curves = scene.intent.curves
    return (STUDY,) if curves is None else curves or (NONE,)


def _read_curves(scene: Scene, texts: Texts) -> Scene:
    if tuple(texts) == (STUDY,):
        return _with(scene, curves=None)
    curves = tuple(dict.fromkeys(text for text in texts if text not in ("", NONE)))
    if len(curves) > MOST_CURVES:
        raise ValueError(f"at most {MOST_CURVES} curves are drawn")
    return _with(scene, curves=curves)


def _read_pace(scene: Scene, texts: Texts) -> Scene:
    return _with(scene, pace=float(_one_of(texts, [f"{pace:g}" for pace in PACES])))


def _read_panels(scene: Scene, texts: Texts) -> Scene:
    names = [text for text in texts if text != NONE]
    if any(name not in PANELS for name in names):
        raise ValueError(f"panels are {', '.join(PANELS)}")
    return replace(scene, panels=frozenset(names))


FIELDS: Registry[SceneField] = Registry(
    attrgetter("name"),
    SceneField("run", lambda scene: tuple(str(path) for path in scene.runs), _read_runs),
    SceneField("compare", _write_compared, _read_compared),
    SceneField("by", _write_question, _read_question),
    SceneField("t", _write_time, _read_time),
    SceneField("interval", _write_interval, _read_interval),
    _names("views", "views", _read_views),
    SceneField("curves", _write_curves, _read_curves),
    SceneField("plane", _write_plane, _read_plane),
    _wish("range", "neuron_range", NEURON_RANGES),
    _wish("points", "neuron_points", NEURON_POINTS, proposed=True),
    _wish("against", "margin_axis", MARGIN_AXES),
    _wish("unit", "margin_unit", MARGIN_UNITS),
    _names("hidden", "hidden_margins", frozenset),
    _names("bounds", "shown_bounds", frozenset),
    SceneField("pin", _write_pins, _read_pins),
    SceneField("zoom", _write_zooms, _read_zooms),
    _switch("log", "log_curves"),
    _switch("linked"),
    _switch("equal"),
    _wish("palette", "palette", PALETTES),
    _switch("loop"),
    SceneField("pace", lambda scene: (f"{scene.intent.pace:g}",), _read_pace),
    SceneField("panels", lambda scene: tuple(sorted(scene.panels)) or (NONE,), _read_panels),
)
# Where each wish is written, "" where it is not: a wish that is added is put here, or a test fails.
WISHES: Mapping[str, str] = {
    **dict.fromkeys(("cursor", "follow"), "t"),
    **dict.fromkeys(("playing", "hovered", *PROPOSED), ""),
    **{name: name for name in ("views", "curves", "plane", "linked", "equal", "loop", "pace")},
    **{"interval": "interval", "compared": "compare"},
    **{"neuron_range": "range", "neuron_points": "points", "margin_axis": "against"},
    **{"hidden_margins": "hidden", "shown_bounds": "bounds", "pinned": "pin"},
    **{"log_curves": "log", "palette": "palette", "margin_unit": "unit"},
}
OF_PICTURE = tuple(name for name in FIELDS if name not in ("loop", "pace", "panels"))
OF_SESSION = tuple(FIELDS)
