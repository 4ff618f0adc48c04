"""Panels of a page: axes, keys, curves and levels of a figure's panels as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.figures.bounds import bound_at_frames
from core.figures.kernel_panel import KIND as KERNEL
from core.figures.margin_curves import CURVES, MarginTraces
from core.figures.material import SORTED, PanelData
from core.figures.neurons import data_dots, data_factor, neurons_frame
from core.figures.page_encoding import encode_floats, encode_integers, pieces
from core.figures.page_kernel import describe_cosines, describe_matrix, page_kernel
from core.figures.palette import DARK, LIGHT, Palette, css, dim_colours
from core.figures.primitives import Axis, Box, Curves, Dots, Level, Panel, TimeKey, plain
from core.figures.rays import Rays, ray_curves, ray_words
from core.figures.trace_panels import Traces, words_of
from core.figures.tracks import follow_nodes
from core.figures.wave_panel import KINDS as WAVES
from core.figures.wave_panel import wave_inks
from core.numbers import number_text
from core.observables.fourier import is_modular_addition

Frames = NDArray[np.int64]
Json = dict[str, Any]
Both = tuple[PanelData, PanelData]
T = TypeVar("T", bound=Hashable)
NAMES = {name: text for name, text, _, _ in CURVES}
DIGITS = 4  # digits of reference margins, whose brackets are narrow


def panel(data_pair: Both, row: int, kind: str, letter: str) -> Json:
    """Return the part of a panel that is the same at every moment.

    Parameters
    ----------
    data_pair : pair of PanelData
        In the light and the dark palette.
    row : int
        Row of the run.
    kind : str
        View of the page.
    letter : str
        Letter, "" for none.

    Returns
    -------
    dict
        Plain JSON; colours are pairs.
    """
    described: Json = _pair_palettes(*(_panel(one, row, kind, letter) for one in data_pair))
    return described


def _pair_palettes(light: Any, dark: Any) -> Any:
    """Merge the descriptions of a panel in two palettes: its colours become pairs."""
    if isinstance(light, dict):
        return {
            key: [value, dark[key]] if key == "colours" else _pair_palettes(value, dark[key])
            for key, value in light.items()
        }
    if isinstance(light, list):
        return [_pair_palettes(*parts) for parts in zip(light, dark, strict=True)]
    return light


def _panel(material: PanelData, row: int, kind: str, letter: str) -> Json:
    box = _box(material, row, kind)
    panel, dots = material.panel(row, kind, letter, box)
    if kind == KERNEL:
        panel = page_kernel(material.kernel(row)).panel(row, letter, box)
    result: Json = {
        "letter": letter,
        "title": pieces(panel.title),
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "centred": panel.centre_lines,
        "key": _key(panel),
        "note": panel.ink.note,
    }
    if kind == "neurons":
        return result | _neurons(material, row, dots)
    if kind in WAVES:
        return result | _waves(material, row)
    if kind == KERNEL:
        return result | describe_matrix(page_kernel(material.kernel(row)))
    if kind in SORTED:
        return result | _sorted_curves(material, row, panel)
    return result | _traces(material, row, panel)


def _box(material: PanelData, row: int, kind: str) -> Box:
    """Return a box in the proportions of a chosen range, so that none is widened; else a square."""
    region = material.shown.view.region(row, kind)
    if region is None or kind != "neurons":
        return Box(0.0, 0.0, 100.0, 100.0)
    return Box(0.0, 0.0, 100.0, 100.0 * (region.top - region.bottom) / (region.right - region.left))


def moving_part(material: PanelData, row: int, kind: str, frames: Frames) -> Json:
    """Return the part of a panel that changes with the moment, except the neurons.

    Parameters
    ----------
    material : PanelData
        Material in one palette.
    row : int
        Row of the run.
    kind : str
        View of the page.
    frames : array (moments,)
        Frame of the run at each moment.

    Returns
    -------
    dict
        Plain JSON: ranges, counts of points, and notes.
    """
    stops = np.unique(frames)
    if kind == "neurons":
        return _views(material, row, stops)
    if kind in WAVES:
        return {}
    if kind == KERNEL:
        return describe_cosines(page_kernel(material.kernel(row)), stops)
    if kind in SORTED:
        return _colours(material, row, stops)
    ends = _recorded_curves(material, row, kind).frames
    counts = np.searchsorted(ends, stops, side="right")
    panel = material.panel(row, kind, "", _box(material, row, kind))[0]
    notes = [material.ink(panel, index, ()).note for index in stops.tolist()]
    states, state = _index_distinct(notes)
    return {"counts": encode_integers(counts), "notes": states, "state": state}


def _index_distinct(values: Sequence[T]) -> tuple[list[T], Json]:
    """Return the distinct values, and the position of each value among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), encode_integers([places[value] for value in values])


# ------------------------------------------------------------------------------ axes and keys


def _axis(axis: Axis) -> Json:
    return {
        "low": axis.low,
        "high": axis.high,
        "ticks": [[place, pieces(text)] for place, text in axis.ticks],
        "label": pieces(axis.label),
        "shows": axis.shows,
    }


def _key(panel: Panel) -> Json | list[Json]:
    key = panel.key
    if isinstance(key, TimeKey):
        texts = [pieces(text) for text in key.texts]
        return {"name": pieces(key.name), "texts": texts, "colours": css(key.colours)}
    return [
        {
            "text": pieces(entry.text),
            "colours": list(entry.colours),
            "dash": entry.dash,
            "markers": [marker.name.lower() for marker in entry.markers],
        }
        for entry in key
    ]


# ----------------------------------------------------------------------------- the kinds


def _neurons(material: PanelData, row: int, dots: Sequence[Dots]) -> Json:
    track = material.tracks[row]
    data = [
        {
            "x": encode_floats(one.x),
            "y": encode_floats(one.y),
            "colours": css(one.colours)[0],
            "alpha": float(one.colours[0, 3]) / 255.0,
            "areas": encode_floats(one.areas),
            "marker": one.marker.name.lower(),
            "name": one.name,
        }
        for one in dots
    ]
    described: Json = {"power": track.power, "rooted": track.rooted, "directed": track.directed}
    if track.rays is not None:
        described["rays"] = _rays(track.rays, material.palette)
    return described | {"data": data}


def _waves(material: PanelData, row: int) -> Json:
    """Return the colours of the frequencies 0, 1, ..., for runs that have frequencies."""
    run = material.runs[row]
    if not is_modular_addition(run):
        return {}
    return {"colours": css(wave_inks((int(run.dataset.classes) - 1) // 2, material.palette))}


def _rays(rays: Rays, palette: Palette) -> Json:
    """Return lines below the trails, and discs at the tips of those that are rays."""
    lines = [
        {
            "x": encode_floats(curves.x[k]),
            "y": encode_floats(curves.y[k]),
            "colours": colour,
            "alpha": float(curves.colours[k, 3]) / 255.0,
            "width": float(curves.widths[k]),
            "dash": curves.dash,
            "tip": curves.name != "borders",
        }
        for curves in ray_curves(rays, palette)
        for k, colour in enumerate(css(curves.colours))
    ]
    words = [
        {"x": one.x, "y": one.y, "text": pieces(one.text.strip()), "align": one.align}
        | {"below": one.below}
        for one in ray_words(rays, palette)
    ]
    return {"lines": lines, "words": words}


def _views(material: PanelData, row: int, stops: Frames) -> Json:
    """Return the range of the neurons at each stop, which follows them unless one was chosen.

    That is its ends, the factor of the data relative to the last moment, and the texts that name
    it.
    """
    track, projection = material.tracks[row], material.projections[row]
    last = data_factor(track, projection)
    zoomed = material.shown.view.region(row, "neurons") is not None
    box = _box(material, row, "neurons")
    panel = material.panel(row, "neurons", "", box)[0]
    # Scaled at every stop; ranges need no neurons, whose frames would all be scaled each time.
    bare = replace(track, points=track.points[:, :0])
    dots = data_dots(projection, 1.0, material.palette, bare)
    texts, views, scales = [], [], []
    for place in range(stops.size):
        view = bare if zoomed else follow_nodes(bare, place)
        if view is bare:
            x, y, scale = panel.x, panel.y, 1.0
            key = panel.key
        else:
            x, y, entry, _ = neurons_frame(box, view, projection, material.palette, dots)
            scale, key = data_factor(view, projection) / last, (entry,)
        assert not isinstance(key, TimeKey)
        texts.append((view.power, x.label, y.label, key[0].text))
        views.append((x.low, x.high, y.low, y.high))
        scales.append(scale)
    distinct, state = _index_distinct(texts)
    states = [
        {"power": power, "x": pieces(x), "y": pieces(y), "data": pieces(data)}
        for power, x, y, data in distinct
    ]
    return {
        "states": states,
        "state": state,
        "view": encode_floats(np.array(views)),
        "scale": encode_floats(np.array(scales)),
    }


def _sorted_curves(material: PanelData, row: int, panel: Panel) -> Json:
    """Return the curves of the moments; the page makes that of the neurons' present moment."""
    past = panel.ink.curves[0]
    frames = list(material.moment_frames[row])
    return {"frames": frames, "values": encode_floats(past.y), "colours": css(past.colours)}


def _colours(material: PanelData, row: int, stops: Frames) -> Json:
    """Return the colour of the present moment's curve at each stop, and its dimmed one."""
    times = [float(material.runs[row].log10_time[index]) for index in stops.tolist()]
    palettes = [(material.moments.colours(times, one), one) for one in (LIGHT, DARK)]
    result: Json = {"now": [css(colours) for colours, _ in palettes]}
    if row < len(material.chosen) and material.chosen[row] is not None:
        result["dim"] = [css(dim_colours(*one)) for one in palettes]
    return result


def _recorded_curves(material: PanelData, row: int, kind: str) -> MarginTraces | Traces:
    """Return the curves of a panel with their frames and keys."""
    return material.margins[row] if kind == "margins" else material.traces[kind].traces[row]


def _traces(material: PanelData, row: int, panel: Panel) -> Json:
    kind = panel.kind
    keys, against = _recorded_curves(material, row, kind).keys, material.shown.view.against
    if against == "log10_time" and material.time.steps:
        against = "step"  # on which t counts steps
    result: Json = {
        "along": encode_floats(material.across.place(keys)),
        "keys": encode_floats(keys),
        "against": against,
        "curves": [_curve(material, panel, curve) for curve in panel.ink.curves],
        "levels": [_level(level, _reads(material, kind)) for level in panel.levels],
        "feet": kind == "margins",  # a triangle marks a curve that enters the frame from below
    }
    if kind == "margins":
        reach = material.margins[row].reach
        rings = [dots for dots in panel.ink.dots if dots.name == "90 %"]
        if reach is not None and rings:
            result["ring"] = [float(rings[0].x[0]), float(rings[0].y[0]), reach.frame]
    return result


def _reads(material: PanelData, kind: str) -> str:
    """Return what heights on a panel's axis are: values, their log10, or those of strips."""
    if kind == "margins":
        return "value"
    return "power" if kind == "spectrum" else "none"


def _curve(material: PanelData, panel: Panel, curve: Curves) -> Json:
    """Return a curve; `reads` says what its heights are, as `_reads`."""
    kind, row = panel.kind, panel.row
    every = material.traces[kind].bounds if kind in material.traces else ()
    bound = next((one for one in (every[row] if every else ()) if one.key == curve.name), None)
    name = curve.name if bound is None else bound.name
    result: Json = {
        "name": pieces(NAMES.get(name, words_of(plain(name)))),
        "y": encode_floats(curve.y[0]),
        "colours": css(curve.colours)[0],
        "width": float(curve.widths[0]),
        "dash": curve.dash,
        "reads": "value",
    }
    ends = [one.text for one in panel.ink.words if one.text == plain(name)]
    if ends:  # a bound or a prediction, named where it ends
        result |= {"name": pieces(ends[0]), "ends": pieces(ends[0])}
    if kind == "margins":
        return result
    traces = material.traces[kind].traces[row]
    if kind == "spectrum":
        result["reads"] = _reads(material, kind)
    elif bound is not None:
        result["values"] = encode_floats(bound_at_frames(bound, traces.frames))
    else:
        result["values"] = encode_floats(traces.values[traces.names.index(curve.name)])
    return result


def _level(level: Level, reads: str) -> Json:
    """Return a line across the panel, and the number that is read off it."""
    value = 10.0**level.value if reads == "power" else level.value
    value = level.meaning if reads == "none" else value
    reading = number_text(value, DIGITS) if math.isfinite(value) else ""
    ends = [number_text(end, DIGITS) for end in (level.low, level.high)]
    if level.low < level.high and ends[0] != ends[1]:
        reading += f" [{ends[0]}, {ends[1]}]"
    return {
        "value": level.value if math.isfinite(level.value) else None,
        "foot": level.label_at if math.isfinite(level.label_at) else None,
        "align": level.align,
        "band": [level.low, level.high] if level.low < level.high else [],
        "label": pieces(level.label),
        "reading": reading,
        "colours": level.colour,
        "dash": level.dash,
    }
