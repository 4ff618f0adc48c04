"""Panel of trajectories: |a_j| v_j on two coordinates, with the data (telgarsky22, 1a, 1b)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.figures.camera import signed_root
from core.figures.numbers import linear_ticks, math_number
from core.figures.palette import (
    Palette,
    class_colours,
    dim_colours,
    kind_colours,
    mark_areas,
    mark_colour,
    rgba,
)
from core.figures.primitives import (
    Array,
    Axis,
    Box,
    Curves,
    Dots,
    KeyEntry,
    Label,
    Marker,
    Panel,
    PanelContent,
)
from core.figures.rays import include_rays, ray_curves, ray_dots, ray_entries, ray_words
from core.figures.ticks import with_range
from core.figures.tracks import Track, trail
from core.numbers import number_text
from core.observables.node_coordinates import unit_rows
from core.observables.projection import Projection

DATA_REACH = 0.84  # largest coordinate of the scaled data, as a fraction of that of the neurons


def data_factor(nodes: Track, projection: Projection) -> float:
    """Return the factor of the data that makes them reach DATA_REACH as far as the neurons.

    It is in units of 10^power of the track, with three digits. It is 1 beside directions, and if
    the data or the neurons have no extent.
    """
    # Corners are at +-1/sqrt(d) and late neurons at up to 28 (Figure 1): unscaled, the data are a
    # dot.
    if nodes.directed:
        return 1.0
    extent = float(np.abs(projection.inputs(projection.run.dataset.x)).max())
    if extent == 0.0 or nodes.extent == 0.0:
        return 1.0
    return float(f"{DATA_REACH * nodes.extent / extent:.3g}")


def factor_text(factor: float) -> str:
    r"""Return the factor of the data as mathtext.

    >>> factor_text(14.2), factor_text(6.6e5), factor_text(1e5)
    ('14.2', '6.6$\\times10^{5}$', '$10^{5}$')
    """
    text = number_text(factor)
    mantissa, _, power = text.partition(" 10^")
    return f"{mantissa}$\\times10^{{{power}}}$" if power else math_number(text)


def spread(values: Array, nodes: Track) -> Array:
    """Return coordinates as places on the axes of a track.

    Parameters
    ----------
    values : array
        Coordinates of any shape.
    nodes : Track
        Its `rooted` decides.

    Returns
    -------
    array
        Of the same shape: sign(x) sqrt |x| on axes of signed roots, otherwise the values.
    """
    return signed_root(values) if nodes.rooted else values


def data_dots(projection: Projection, factor: float, palette: Palette, nodes: Track) -> list[Dots]:
    """Return the data on the plane of the neurons.

    Parameters
    ----------
    projection : Projection
        Run and plane.
    factor : float
        Factor of the coordinates (`data_factor`).
    palette : Palette
        Colours.
    nodes : Track
        Track of the neurons. Beside directions the data are x/|x|; axes of signed roots show their
        signed roots.

    Returns
    -------
    list of Dots
        Dots of each class that has examples, a marker for each distinct place: a cross for the
        first of two classes, otherwise a plus. Areas grow with the root of the number of examples.
    """
    result, run = [], projection.run
    inputs = unit_rows(run.dataset.x)[0] if nodes.directed else run.dataset.x
    # Corners that differ by rounding are one position.
    points = np.round(projection.inputs(inputs), 9)
    two = run.dataset.classes == 2
    for number, colour in enumerate(class_colours(run.dataset.classes, palette)):
        marker = Marker.CROSS if two and number == 0 else Marker.PLUS
        places, counts = np.unique(points[run.dataset.labels == number], axis=0, return_counts=True)
        if places.size == 0:
            continue
        areas = mark_areas(counts)
        colours = np.tile(mark_colour(colour, palette), (counts.size, 1))
        words = run.dataset.words(number)
        name = f"data {words}" if run.dataset.real else f"data y = {words}"
        x, y = (spread(factor * places[:, axis], nodes) for axis in (0, 1))
        result.append(Dots(name, x, y, colours, areas, marker, palette.background))
    return result


def neurons_ink(nodes: Track, until: int, data: Sequence[Dots], palette: Palette) -> PanelContent:
    """Return trails and neurons up to a position of a track; the weakest are drawn first.

    Parameters
    ----------
    nodes : Track
        Neurons of the run.
    until : int
        Last position of the trails among the track's frames, where the neurons are.
    data : sequence of Dots
        Dots of the data, drawn between trails and neurons.
    palette : Palette
        Colours.

    Returns
    -------
    PanelContent
        Pinned neurons have a thin trail on top, and a ring with their number. A note says if all
        neurons are 0, or have no inner weights.
    """
    last, m = spread(nodes.points[until], nodes), nodes.points.shape[1]
    strength = np.nan_to_num(nodes.norms[until], nan=0.0)
    # Stable, so that equal neurons keep their order, and equal runs give equal bytes. Dim neurons
    # are below all others.
    below = 0.0 if nodes.chosen is None else -2.0 * ~nodes.chosen
    order = np.argsort(strength + below, kind="stable")
    colours = kind_colours(nodes.kinds[until], strength, nodes.classes, palette)
    if nodes.chosen is not None:
        colours[~nodes.chosen] = dim_colours(colours[~nodes.chosen], palette)
    colours = colours[order]
    rows = trail(nodes.frames.size, until, m)
    trails = spread(nodes.points[rows], nodes)[:, order]
    widths, areas = sizes(strength[order], m)
    curves = Curves("trails", trails[:, :, 0].T, trails[:, :, 1].T, colours, widths)
    dots = Dots("nodes", last[order, 0], last[order, 1], colours, areas, edge=palette.background)
    empty = "all neurons are 0" if nodes.inner else "this network has no inner weights"
    note = "" if nodes.extent > 0.0 else empty
    below_all: tuple[Curves, ...] = ()
    tips: tuple[Dots, ...] = ()
    words: tuple[Label, ...] = ()
    if nodes.rays is not None:
        below_all, tips = ray_curves(nodes.rays, palette), ray_dots(nodes.rays, palette)
        words = ray_words(nodes.rays, palette)
    pins = [node for node in nodes.pinned if node < m]
    if not pins:
        return PanelContent((*below_all, curves), (*tips, *data, dots), note, words=words)
    paths = spread(nodes.points[rows], nodes)[:, pins]
    ink = np.tile(rgba(palette.foreground), (len(pins), 1))
    own = Curves("pinned", paths[:, :, 0].T, paths[:, :, 1].T, ink, np.full(len(pins), 0.8))
    rings, names = rings_of(last[pins, 0], last[pins, 1], pins, palette)
    return PanelContent(
        (*below_all, curves, own), (*tips, *data, dots, rings), note, words=(*words, *names)
    )


def sizes(strength: Array, m: int) -> tuple[Array, Array]:
    """Return widths of trails and areas of neurons, linear in sqrt(strength).

    Parameters
    ----------
    strength : array (m,)
        Norms of the neurons relative to the largest, in [0, 1].
    m : int
        Number of neurons; beyond 16, widths and areas shrink as it grows.

    Returns
    -------
    widths : array (m,)
        In points.
    areas : array (m,)
        In square points.
    """
    # Up to 16 neurons at full width; beyond, the total ink grows only with sqrt(m).
    crowd = min(1.0, 4.0 / math.sqrt(m))
    root = np.sqrt(strength)
    return (0.45 + 0.55 * crowd) * (0.8 + 0.6 * root), (3.5 + 9.0 * crowd) * (0.5 + 0.9 * root)


def rings_of(
    x: Array, y: Array, nodes: Sequence[int], palette: Palette
) -> tuple[Dots, tuple[Label, ...]]:
    """Return a ring around each pinned neuron, and its number beside it.

    Parameters
    ----------
    x, y : array (k,)
        Places of the neurons on the axes.
    nodes : sequence of int
        Numbers of the k neurons, from 0.
    palette : Palette
        Rings and numbers have the colour of text.

    Returns
    -------
    rings : Dots
    names : tuple of Label
    """
    clear = np.tile(rgba(palette.foreground, 0.0), (len(nodes), 1))
    areas, ink = np.full(len(nodes), 34.0), palette.foreground
    rings = Dots("pinned", x, y, clear, areas, Marker.RING, ink)
    names = tuple(
        Label(float(a), float(b), f"  {node}", ink) for a, b, node in zip(x, y, nodes, strict=True)
    )
    return rings, names


def _axes(nodes: Track, data: Sequence[Dots], box: Box, labels: Sequence[str]) -> tuple[Axis, Axis]:
    reach = [nodes.extent, *(float(np.abs([dots.x, dots.y]).max()) for dots in data)]
    reach[0] = float(spread(np.array(nodes.extent), nodes))
    half = 1.1 * include_rays(nodes.rays, max(reach)) or 1.0
    aspect = box.width / box.height
    halves = (half * max(aspect, 1.0), half * max(1.0 / aspect, 1.0))
    unit = f" ({math_number(f'10^{nodes.power}')})" if nodes.power else ""
    if nodes.rooted:
        bare = [Axis(-half, half, (), label + unit, "roots") for label in labels]
        axes = [with_range(one, -end, end) for one, end in zip(bare, halves, strict=True)]
        return axes[0], axes[1]
    return (
        Axis(-halves[0], halves[0], linear_ticks(-halves[0], halves[0], 6), labels[0] + unit),
        Axis(-halves[1], halves[1], linear_ticks(-halves[1], halves[1], 6), labels[1] + unit),
    )


def neurons_panel(
    row: int,
    letter: str,
    box: Box,
    nodes: Track,
    projection: Projection,
    palette: Palette,
    position: int | None = None,
) -> tuple[Panel, tuple[Dots, ...]]:
    """Build the panel with the trails of a track up to a position, and the data's dots.

    Parameters
    ----------
    row, letter, box : int, str, Box
        Row of the run, letter, and box in millimetres.
    nodes, projection, palette
        Trails of the neurons, run and plane, and colours.
    position : int, optional
        Last position of the trails; by default that of the track.

    Returns
    -------
    panel : Panel
    data : tuple of Dots
        Dots of the data.
    """
    position = nodes.frames.size - 1 if position is None else position
    x, y, key, data = neurons_frame(box, nodes, projection, palette)
    title = "directions $v_j/|v_j|$" if nodes.directed else "neurons $|a_j|\\,v_j$"
    title += ", signed roots" if nodes.rooted else ""
    ink = neurons_ink(nodes, position, data, palette)
    keys = (key, *(() if nodes.rays is None else ray_entries(nodes.rays, palette)))
    panel = Panel("neurons", row, letter, title, box, x, y, ink, centre_lines=True, key=keys)
    return panel, data


def neurons_frame(
    box: Box,
    nodes: Track,
    projection: Projection,
    palette: Palette,
    unscaled: Sequence[Dots] | None = None,
) -> tuple[Axis, Axis, KeyEntry, tuple[Dots, ...]]:
    """Return the axes of the neurons' panel, the entry of its key, and the data's dots.

    Parameters
    ----------
    box : Box
        Box of the panel in millimetres: a unit is equally long on both axes.
    nodes : Track
        Neurons; its extent and the data's set the ranges, which are symmetric about 0.
    projection : Projection
        Run and plane.
    palette : Palette
        Colours.
    unscaled : sequence of Dots, optional
        Dots of the data at a factor of 1, made once for many frames; only for a track without
        signed roots.

    Returns
    -------
    x, y : Axis
        Axes in units of 10^power of the track, which their labels state.
    key : KeyEntry
        Markers of the data, and their factor in the run's own units.
    data : tuple of Dots
        Dots of the data, scaled by `data_factor`.
    """
    factor = data_factor(nodes, projection)
    if unscaled is None:
        data = tuple(data_dots(projection, factor, palette, nodes))
    else:
        data = tuple(replace(one, x=factor * one.x, y=factor * one.y) for one in unscaled)
    labels = [
        f"{label} ($d$ = 1)" if label.startswith("no ") else label for label in projection.labels
    ]
    x, y = _axes(nodes, data, box, labels)
    times = f"$\\times$ {factor_text(factor * 10.0**nodes.power)}"
    key = KeyEntry(
        "data / $|x|$" if nodes.directed else f"data {times}",
        tuple(f"#{bytes(dots.colours[0, :3]).hex()}" for dots in data),
        markers=tuple(dots.marker for dots in data),
    )
    return x, y, key, data
