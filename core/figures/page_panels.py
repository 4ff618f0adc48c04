"""The panels of a page: axes, keys, curves and levels of a figure's panels as plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.figures.curve_scale import CurveScale
from core.figures.margin_curves import CURVES
from core.figures.material import SORTED, Material
from core.figures.neurons import data_dots, data_factor, followed, neurons_frame
from core.figures.numbers import number_text
from core.figures.page_codec import numbers, whole
from core.figures.page_text import pieces
from core.figures.palette import DARK, LIGHT, dimmed
from core.figures.primitives import (
    Axis,
    Box,
    Dots,
    KeyEntry,
    Level,
    Panel,
    TimeKey,
    plain,
)
from core.figures.rays import Rays, ray_curves, ray_words
from core.figures.trace_panels import words_of
from core.figures.waves import KINDS as WAVES
from core.figures.waves import wave_inks
from core.observables.fourier import adds

Frames = NDArray[np.int64]
Json = dict[str, Any]
Both = tuple[Material, Material]
NAMES = {name: text for name, text, _, _ in CURVES}
DIGITS = 4  # of reference margins, whose brackets are narrow


def panel(both: Both, row: int, kind: str, letter: str) -> Json:
    """What a panel shows at every moment alike."""
    material = both[0]
    box = _box(material, row, kind)
    drawn = [one.panel(row, kind, letter, box) for one in both]
    panels = (drawn[0][0], drawn[1][0])
    first = panels[0]
    result: Json = {
        "letter": letter,
        "title": pieces(first.title),
        "x": _axis(first.x),
        "y": _axis(first.y),
        "centred": first.centre_lines,
        "key": _key(panels),
        "note": first.ink.note,
    }
    if kind == "neurons":
        return result | _neurons(both, row, drawn[0][1], drawn[1][1])
    if kind in WAVES:
        return result | _waves(both, row)
    if kind in SORTED:
        return result | _sorted(both, row, panels)
    return result | _traces(material, row, panels)


def _box(material: Material, row: int, kind: str) -> Box:
    """A box in the proportions of a chosen range, so that none of it is widened; else a square."""
    region = material.shown.look.region(row, kind)
    if region is None or kind != "neurons":
        return Box(0.0, 0.0, 100.0, 100.0)
    return Box(0.0, 0.0, 100.0, 100.0 * (region.top - region.bottom) / (region.right - region.left))


def over_time(material: Material, row: int, kind: str, frames: Frames) -> Json:
    """What changes with the moment, beside the nodes: ranges, counts of points, and notes."""
    stops = np.unique(frames)
    if kind == "neurons":
        return _views(material, row, stops)
    if kind in WAVES:
        return {}
    if kind in SORTED:
        return _colours(material, row, stops)
    ends = _frames_of(material, row, kind)
    counts = np.searchsorted(ends, stops, side="right")
    drawn = material.panel(row, kind, "", _box(material, row, kind))[0]
    notes = [material.ink(drawn, index, ()).note for index in stops.tolist()]
    states, state = _distinct(notes, str)
    return {"counts": whole(counts), "notes": states, "state": state}


def _distinct(
    values: Sequence[Any], key: Callable[[Any], Hashable]
) -> tuple[list[Any], dict[str, Any]]:
    """The values that there are, each once, and the place of each among them."""
    found: dict[Hashable, int] = {}
    kept: list[Any] = []
    at: list[int] = []
    for value in values:
        name = key(value)
        if name not in found:
            found[name] = len(kept)
            kept.append(value)
        at.append(found[name])
    return kept, whole(at)


# ------------------------------------------------------------------------------ axes and keys


def _axis(axis: Axis) -> Json:
    return {
        "low": axis.low,
        "high": axis.high,
        "ticks": [[place, pieces(text)] for place, text in axis.ticks],
        "label": pieces(axis.label),
        "shows": axis.shows,
    }


def _key(panels: tuple[Panel, Panel]) -> Json | list[Json]:
    light, dark = (one.key for one in panels)
    if isinstance(light, TimeKey) and isinstance(dark, TimeKey):
        return {
            "name": pieces(light.name),
            "texts": [pieces(text) for text in light.texts],
            "colours": [_hex(light.colours), _hex(dark.colours)],
        }
    assert not isinstance(light, TimeKey) and not isinstance(dark, TimeKey)
    return [_entry(a, b) for a, b in zip(light, dark, strict=True)]


def _entry(light: KeyEntry, dark: KeyEntry) -> Json:
    return {
        "text": pieces(light.text),
        "colours": [list(light.colours), list(dark.colours)],
        "dash": light.dash,
        "markers": [marker.name.lower() for marker in light.markers],
    }


def _hex(colours: NDArray[np.uint8]) -> str:
    """The colours of a table, one after the other."""
    return colours[:, :3].tobytes().hex()


# ----------------------------------------------------------------------------- the kinds


def _neurons(both: Both, row: int, light: Sequence[Dots], dark: Sequence[Dots]) -> Json:
    track = both[0].tracks[row]
    data = [
        {
            "x": numbers(a.x),
            "y": numbers(a.y),
            "colours": [_hex(a.colours[:1]), _hex(b.colours[:1])],
            "alpha": float(a.colours[0, 3]) / 255.0,
            "areas": numbers(a.areas),
            "marker": a.marker.name.lower(),
            "name": a.name,
        }
        for a, b in zip(light, dark, strict=True)
    ]
    known = {"power": track.power, "rooted": track.rooted, "directed": track.directed}
    return known | {"data": data} | ({} if track.rays is None else {"rays": _rays(track.rays)})


def _waves(both: Both, row: int) -> Json:
    """The colours of the frequencies 0, 1, ..., for those runs that have frequencies."""
    if not adds(both[0].runs[row]):
        return {}
    count = (int(both[0].runs[row].dataset.classes) - 1) // 2
    return {"inks": [_hex(wave_inks(count, palette)) for palette in (LIGHT, DARK)]}


def _rays(rays: Rays) -> Json:
    """Lines below the trails, and discs at the tips of those that are rays."""
    both = [ray_curves(rays, palette) for palette in (LIGHT, DARK)]
    lines = [
        {
            "x": numbers(light.x[k]),
            "y": numbers(light.y[k]),
            "colours": [_hex(light.colours[k : k + 1]), _hex(dark.colours[k : k + 1])],
            "alpha": float(light.colours[k, 3]) / 255.0,
            "width": float(light.widths[k]),
            "dash": light.dash,
            "tip": light.name != "borders",
        }
        for light, dark in zip(*both, strict=True)
        for k in range(len(light.x))
    ]
    words = [
        {"x": one.x, "y": one.y, "text": pieces(one.text.strip()), "align": one.align}
        | {"below": one.below}
        for one in ray_words(rays, LIGHT)
    ]
    return {"lines": lines, "words": words}


def _views(material: Material, row: int, stops: Frames) -> Json:
    """The range of the nodes at each stop, which follows them unless one was chosen: its ends,
    what the data are multiplied by beside the last moment, and the texts that say so."""
    track, projection = material.tracks[row], material.projections[row]
    last = data_factor(track, projection)
    zoomed = material.shown.look.region(row, "neurons") is not None
    box = _box(material, row, "neurons")
    whole = material.panel(row, "neurons", "", box)[0]
    # Scaled at every stop; ranges need no node, of which all frames would be scaled each time.
    bare = replace(track, points=track.points[:, :0])
    dots = data_dots(projection, 1.0, material.palette, bare)
    texts, views, scales = [], [], []
    for place in range(stops.size):
        seen = bare if zoomed else followed(bare, place)
        if seen is bare:
            x, y, scale = whole.x, whole.y, 1.0
            key = whole.key
        else:
            x, y, entry, _ = neurons_frame(box, seen, projection, material.palette, dots)
            scale, key = data_factor(seen, projection) / last, (entry,)
        assert not isinstance(key, TimeKey)
        texts.append((seen.power, x.label, y.label, key[0].text))
        views.append((x.low, x.high, y.low, y.high))
        scales.append(scale)
    kept, state = _distinct(texts, tuple)
    states = [
        {"power": power, "x": pieces(x), "y": pieces(y), "data": pieces(data)}
        for power, x, y, data in kept
    ]
    return {
        "states": states,
        "state": state,
        "view": numbers(np.array(views)),
        "scale": numbers(np.array(scales)),
    }


def _sorted(both: Both, row: int, panels: tuple[Panel, Panel]) -> Json:
    """The curves of the moments; that of the moment shown is made of the nodes."""
    light, dark = (one.ink.curves[0] for one in panels)
    return {
        "frames": list(both[0].moment_frames[row]),
        "values": numbers(light.y),
        "colours": [_hex(light.colours), _hex(dark.colours)],
    }


def _colours(material: Material, row: int, stops: Frames) -> Json:
    """The colour of the moment shown, at each stop, and how it is dimmed."""
    times = [float(material.runs[row].log10_time[index]) for index in stops.tolist()]
    both = [material.moments.colours(times, palette) for palette in (LIGHT, DARK)]
    result: Json = {"now": [_hex(colours) for colours in both]}
    if row < len(material.chosen) and material.chosen[row] is not None:
        pairs = zip(both, (LIGHT, DARK), strict=True)
        result["dim"] = [_hex(dimmed(colours, palette)) for colours, palette in pairs]
    return result


def _frames_of(material: Material, row: int, kind: str) -> NDArray[Any]:
    if kind == "margins":
        return material.margins[row].frames
    return material.traces[kind].traces[row].frames


def _keys_of(material: Material, row: int, kind: str) -> NDArray[np.float64]:
    traces = material.margins[row] if kind == "margins" else material.traces[kind].traces[row]
    return traces.keys


def _traces(material: Material, row: int, panels: tuple[Panel, Panel]) -> Json:
    kind = panels[0].kind
    keys, against = _keys_of(material, row, kind), material.shown.look.against
    if against == "log10_time" and material.time.steps:
        against = "step"  # of which t is the number
    result: Json = {
        "along": numbers(material.across.place(keys)),
        "keys": numbers(keys),
        "against": against,
        "curves": [_curve(material, panels, place) for place in range(len(panels[0].ink.curves))],
        "levels": [
            _level(*pair, _reads(material, kind))
            for pair in zip(panels[0].levels, panels[1].levels, strict=True)
        ],
        "feet": kind == "margins",  # a triangle shows where a curve comes from below the frame
    }
    if kind == "margins":
        reach = material.margins[row].reach
        rings = [dots for dots in panels[0].ink.dots if dots.name == "90 %"]
        if reach is not None and rings:
            result["ring"] = [float(rings[0].x[0]), float(rings[0].y[0]), reach.frame]
    return result


def _reads(material: Material, kind: str) -> str:
    """What heights on a panel's axis are: values, their log10, or shares of a curve's range."""
    if kind == "margins":
        return "value"
    trace = material.traces[kind]
    if trace.scale is CurveScale.OWN:
        return "none"
    return "power" if trace.y.shows == "log" else "value"


def _curve(material: Material, panels: tuple[Panel, Panel], place: int) -> Json:
    """A curve; `reads` says what its heights are: values, their log10, or shares of a range."""
    kind, row = panels[0].kind, panels[0].row
    light, dark = (one.ink.curves[place] for one in panels)
    result: Json = {
        "name": pieces(NAMES.get(light.name, plain(words_of(light.name)))),
        "y": numbers(light.y[0]),
        "colours": [_hex(light.colours), _hex(dark.colours)],
        "width": float(light.widths[0]),
        "dash": light.dash,
        "reads": "value",
    }
    ends = [one.text for one in panels[0].ink.words if one.text == plain(light.name)]
    if ends:  # the bound of a statement, named where it ends
        result |= {"name": pieces(ends[0]), "ends": pieces(ends[0])}
    if kind == "margins":
        return result
    trace = material.traces[kind]
    known = trace.traces[row].names
    if kind == "curves" and light.name in known and not ends:
        result["values"] = numbers(trace.traces[row].values[known.index(light.name)])
    else:
        result["reads"] = _reads(material, kind)
    return result


def _level(light: Level, dark: Level, reads: str) -> Json:
    """A line across the panel, and what is read of it."""
    value = 10.0**light.value if reads == "power" else light.value
    reading = "" if reads == "none" else number_text(value, DIGITS)
    ends = [number_text(end, DIGITS) for end in (light.low, light.high)]
    if light.low < light.high and ends[0] != ends[1]:
        reading += f" [{ends[0]}, {ends[1]}]"
    return {
        "value": light.value,
        "band": [light.low, light.high] if light.low < light.high else [],
        "label": pieces(light.label),
        "reading": reading,
        "colours": [light.colour, dark.colour],
        "dash": light.dash,
    }
