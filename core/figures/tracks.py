"""Tracks: the neurons of a run on a plane at some of its frames, and the trails through them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.camera import sample_frames, smooth_reach, unit_power
from core.figures.primitives import Array
from core.figures.rays import Rays, rays_of
from core.observables.nodes import outer_classes, outer_signs
from core.observables.projection import Projection
from core.observables.registry import OBSERVABLES

LONGEST_TRAIL = 128
# Points of all trails together, so that a PDF of thousands of neurons opens quickly.
MOST_POINTS = 100_000
SHORTEST_TRAIL = 12


@final
@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Neurons at some frames of a run: frames (F,), points (F, m, 2), kinds and norms (F, m).

    A neuron's kind is its class, 1 where alpha_j > 0 of two, and `classes` where its outer weights
    are 0; its norm is relative to the largest of the frame. Points and `extent`, the largest
    coordinate of all frames, are in units of 10^power, so that late runs need no long tick texts.
    `extents` (F,) are log10 of the largest coordinate of each frame, in the run's own units.
    """

    frames: NDArray[np.int64]
    points: Array
    kinds: NDArray[np.int64]
    norms: Array
    power: int
    extent: float
    extents: Array
    classes: int = 2
    inner: bool = True  # neurons have inner weights
    chosen: NDArray[np.bool_] | None = None  # selected neurons, (m,); the others are dim
    pinned: tuple[int, ...] = ()
    directed: bool = False  # points are v_j/|v_j|
    rooted: bool = False  # axes show signed roots; `points` does not
    rays: Rays | None = None  # for directions: the extremal vectors, if any


def longest_trail(m: int) -> int:
    """Return the most points of a trail: LONGEST_TRAIL, and fewer for many neurons."""
    return int(np.clip(MOST_POINTS // max(m, 1), SHORTEST_TRAIL, LONGEST_TRAIL))


def trail_frames(last: int, m: int) -> NDArray[np.int64]:
    """Return evenly spaced frames from 0 to `last`, as many as a trail of m neurons has points.

    Parameters
    ----------
    last : int
        Last frame.
    m : int
        Number of neurons.

    Returns
    -------
    array (F,)
        Increasing frames, F = min(longest_trail(m), last + 1).
    """
    count = min(longest_trail(m), last + 1)
    return np.unique(np.linspace(0, last, count).round().astype(np.int64))


def trail(size: int, until: int, m: int) -> NDArray[np.int64]:
    """Return the positions of a track's frames that make a trail.

    The stride depends on the whole track only, so that a growing trail keeps its points.

    Parameters
    ----------
    size : int
        Number of the track's frames.
    until : int
        Last position of the trail.
    m : int
        Number of neurons.

    Returns
    -------
    array (k,)
        Increasing positions, `until` the last.
    """
    stride = math.ceil(size / longest_trail(m))
    return np.append(np.arange(0, until, stride, dtype=np.int64), until)


def track(
    projection: Projection,
    frames: NDArray[np.int64],
    directed: bool = False,
    rooted: bool = False,
) -> Track:
    """Compute the neurons of a run on a plane.

    Parameters
    ----------
    projection, frames : Projection, array (F,)
        Run and plane, and increasing frames.
    directed, rooted : bool
        True for v_j/|v_j| in place of |a_j| v_j; True for axes that show signed roots.

    Returns
    -------
    Track
    """
    run = projection.run
    points, kinds, norms, classes = [], [], [], int(run.dataset.classes)
    for index in frames.tolist():
        if directed:
            points.append(np.asarray(projection.directions(index), dtype=np.float64))
        else:
            with np.errstate(over="ignore"):
                factor = np.exp(run.network.degree * run.rho[index])
                points.append(factor * projection.weights(index))
        # The present sign, not the first one: up to 43 % of the neurons of Figure 1 have changed
        # theirs by t = 1000 (docs/theory.md, 3.6).
        kinds.append(np.where(outer_signs(run, index) == 0, classes, outer_classes(run, index)))
        norms.append(OBSERVABLES["relative_norm"].value_at(run, index))
    # The abstract head and kernel predictors have no inner weights: their positions are NaN.
    inner = not np.isnan(np.array(points)).all()
    if directed:  # a neuron of length 0 has no direction, and a gap in its trail
        kind, norm = np.array(kinds, dtype=np.int64), np.array(norms)
        one = np.ones(frames.size)
        places = np.array(points)
        track = Track(frames, places, kind, norm, 0, 1.0, 0.0 * one, classes, inner, directed=True)
        return replace(track, rays=rays_of(projection))
    # Late neurons exceed float64: show them at the rim instead of nowhere.
    finite = np.nan_to_num(np.array(points), posinf=1e300, neginf=-1e300)
    extents = np.abs(finite).max(axis=(1, 2))
    extent = float(extents.max())
    with np.errstate(divide="ignore"):
        logs = np.log10(extents)
    power = unit_power(float(logs.max()))
    scale = 10.0**-power
    kind, norm = np.array(kinds, dtype=np.int64), np.array(norms)
    scaled_points, reach = finite * scale, extent * scale
    return Track(
        frames, scaled_points, kind, norm, power, reach, logs, classes, inner, rooted=rooted
    )


def follow_nodes(nodes: Track, position: int) -> Track:
    """Return a track in the units and extent of the camera at a position among its frames.

    The camera follows weights on linear axes; other tracks are returned unchanged.
    """
    if nodes.directed or nodes.rooted:  # with ranges of the whole run
        return nodes
    log10_extent = smooth_reach(
        nodes.extents[sample_frames(position, nodes.frames.size, nodes.frames.size)],
        float(nodes.extents[position]),
    )
    if not math.isfinite(log10_extent):
        return nodes
    power = unit_power(log10_extent)
    scale, extent = 10.0 ** (nodes.power - power), 10.0 ** (log10_extent - power)
    return replace(nodes, points=nodes.points * scale, power=power, extent=extent)
