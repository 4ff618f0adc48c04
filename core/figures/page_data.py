"""Content of a page: the material of a figure at every moment, as plain JSON.

Numbers that change with time are arrays (core.figures.page_encoding), texts are pieces
(core.figures.page_encoding), and colours are pairs for the light and the dark palette.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.figures import page_panels
from core.figures.film import frames_shown
from core.figures.kernel_panel import KIND as KERNEL
from core.figures.labels import headings, titles
from core.figures.material import SORTED, PanelData, compute_panel_data
from core.figures.neurons import sizes
from core.figures.numbers import math_text
from core.figures.options import FigureOptions
from core.figures.page_encoding import (
    Piece,
    encode,
    encode_floats,
    encode_integers,
    encode_places,
    encode_trimmed,
    pieces,
    plain_words,
)
from core.figures.page_kernel import NUMBERS as KERNEL_NUMBERS
from core.figures.palette import DARK, LIGHT, Palette, css, dim_colours, kind_colours
from core.figures.primitives import plain
from core.figures.scene import footer, letter_of
from core.figures.sorted_panel import places_of
from core.figures.time_axis import time_axis
from core.figures.tracks import longest_trail
from core.figures.wave_panel import KINDS as WAVES
from core.figures.wave_panel import node_waves
from core.numbers import time_text
from core.observables.fourier import is_modular_addition
from core.observables.registry import OBSERVABLES
from core.runs import Run

Frames = NDArray[np.int64]
Json = dict[str, Any]
BOTH = (LIGHT, DARK)
SHADES = 64  # colours per class, by the square root of the norm
NODES = ("neurons", *SORTED)  # views that show single neurons
MEASURED = {
    "neurons": ("relative_norm",),
    "rotations": ("rotation",),
    "norms": ("relative_norm",),
    "margins": ("hard_margin", "smoothed_margin", "l1_margin"),
}
Watch = Callable[[int, int], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pages:
    """Material of a page in both palettes, and the frame of each run at each moment."""

    material: PanelData
    dark: PanelData
    frames: tuple[Frames, ...]  # of each run, at each moment
    kinds: tuple[str, ...]

    @property
    def both_themes(self) -> tuple[PanelData, PanelData]:
        """Light and dark material."""
        return self.material, self.dark

    def stops(self, row: int) -> Frames:
        """Return the frames of a run that are shown.

        Parameters
        ----------
        row : int
            Row of the run.

        Returns
        -------
        array (S,)
            Increasing frames, each once.
        """
        return np.unique(self.frames[row])

    def letter(self, row: int, kind: str) -> str:
        """Return the letter of a panel."""
        place = row * len(self.kinds) + self.kinds.index(kind)
        return letter_of(place, len(self.kinds) * len(self.material.runs))


def frames_of(runs: Sequence[Run], max_frames: int) -> tuple[Frames, ...]:
    """Return the frame of each run at each moment of a page.

    A single run shows its own frames, thinned. Several runs have moments that are evenly spaced on
    the axis of time, at which each shows its last frame so far.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    max_frames : int
        Most moments; the longest run may have fewer frames.

    Returns
    -------
    tuple of array (moments,)
        Frames of each run, which never decrease.
    """
    lasts = [run.frames - 1 for run in runs]
    count = min(max_frames, max(lasts) + 1)
    if len(runs) == 1:
        return (np.linspace(0, lasts[0], count).round().astype(np.int64),)
    axis = time_axis(runs, lasts)
    return tuple(frames_shown(run, axis, count, hold=0.0) for run in runs)


def in_colours(material: PanelData, palette: Palette) -> PanelData:
    """Return the same material in another palette."""
    traces = {kind: replace(one, palette=palette) for kind, one in material.traces.items()}
    return replace(material, shown=replace(material.shown, palette=palette), traces=traces)


def compute_pages(
    runs: Sequence[Run],
    kinds: Sequence[str],
    frames: tuple[Frames, ...],
    options: FigureOptions,
    watch: Watch,
) -> Pages:
    """Compute the material of a page.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    kinds : sequence of str
        Views of the page.
    frames : tuple of array (moments,)
        Frame of each run at each moment.
    options : FigureOptions
        Plane and contents; the palette is not used.
    watch : callable
        Gets the number of parts done, and that of all parts.

    Returns
    -------
    Pages
    """
    _measure(runs, kinds, frames, watch)
    lasts = [run.frames - 1 for run in runs]
    stops = [np.unique(some) for some in frames]
    material = compute_panel_data(runs, kinds, lasts, options, stops)
    light, dark = (in_colours(material, palette) for palette in BOTH)
    return Pages(light, dark, frames, tuple(kinds))


def _measure(
    runs: Sequence[Run], kinds: Sequence[str], frames: tuple[Frames, ...], watch: Watch
) -> None:
    """Compute the observables of each frame, which runs remember (core.observables).

    Frame by frame, so that `watch` can show the progress and cancel.
    """
    names = [name for kind in kinds for name in MEASURED.get(kind, ())]
    steps = [(run, int(i)) for run, some in zip(runs, frames, strict=True) for i in np.unique(some)]
    for n_done, (run, index) in enumerate(steps):
        watch(n_done, 2 * len(steps))
        for name in names:
            OBSERVABLES[name].value_at(run, index)


def content(pages: Pages, title: str, watch: Watch) -> Json:
    """Return the whole content of a page.

    Parameters
    ----------
    pages : Pages
        Material of the page.
    title : str
        Title, "" for the runs' own.
    watch : callable
        Gets the number of parts done, and that of all parts.

    Returns
    -------
    dict
        Plain JSON.
    """
    material, kinds = pages.material, pages.kinds
    runs = material.runs
    times = np.max(
        [run.log10_time[some] for run, some in zip(runs, pages.frames, strict=True)], axis=0
    )
    steps = material.time.steps
    rows, half = [], len(runs) * len(kinds)  # half of the work; measuring was the other half
    for row, heading in enumerate(headings(runs)):
        panels = {}
        for place, kind in enumerate(kinds):
            watch(half + row * len(kinds) + place, 2 * half)
            panels[kind] = page_panels.panel(pages.both_themes, row, kind, pages.letter(row, kind))
            panels[kind] |= page_panels.moving_part(material, row, kind, pages.frames[row])
        rows.append(_row(pages, row, heading) | {"panels": panels})
    watch(2 * half, 2 * half)
    return {
        "title": title_of(runs, title),
        "kinds": list(kinds),
        "moments": [
            pieces(math_text(time_text(one, steps, padded=True))) for one in times.tolist()
        ],
        "rows": rows,
        "themes": [_theme(palette) for palette in BOTH],
        "caption": [[pieces(text) for text in _caption(one, pages)] for one in pages.both_themes],
    }


def title_of(runs: Sequence[Run], title: str) -> list[Piece]:
    """Return the title of a page: the given one, or those of its runs."""
    return pieces(plain(title) if title else titles(runs)[0])


def _theme(palette: Palette) -> Json:
    names = ("background", "foreground", "muted", "grid")
    return {name: getattr(palette, name) for name in names} | {"accent": palette.positive}


def _caption(material: PanelData, pages: Pages) -> tuple[str, str]:
    rows = range(len(material.runs))
    by_kind = [(", ".join(pages.letter(row, kind) for row in rows), kind) for kind in pages.kinds]
    return footer(material, by_kind)


def _row(pages: Pages, row: int, heading: str) -> Json:
    """Return what all panels of a run share: the stop of each moment, and the neurons."""
    stops = pages.stops(row)
    run = pages.material.runs[row]
    result: Json = {
        "heading": pieces(heading),
        "name": plain_words(heading),
        "at": encode_integers(np.searchsorted(stops, pages.frames[row])),
        "stops": encode_floats(stops),
        "m": int(run.network.m),
        "pins": list(pages.material.shown.view.pins(row)),
    }
    if set(NODES) & set(pages.kinds):
        result["nodes"] = _nodes(pages, row)
    if set(WAVES) & set(pages.kinds) and is_modular_addition(run):
        result["waves"] = _waves(run, stops)
    return result


def _waves(run: Run, stops: Frames) -> Json:
    """Return the neurons as waves at each stop: amplitudes in 255 steps, of all frequencies."""
    waves = [node_waves(run, index) for index in stops.tolist()]
    strength = np.array([one.strength.clip(0.0, 1.0) for one in waves])
    return {
        "strength": encode(np.rint(255.0 * strength).astype(np.uint8)),
        "order": encode_integers([one.order for one in waves]),
        "frequency": encode_integers([one.frequency for one in waves]),
        "points": encode_trimmed(np.array([one.points for one in waves])),
        "size": encode_trimmed(np.array([one.size for one in waves])),
    }


def _nodes(pages: Pages, row: int) -> Json:
    """Return what the panels of a run's neurons need, encoded: values at each stop, and colours."""
    material, kinds, m = pages.material, pages.kinds, int(pages.material.runs[row].network.m)
    run, view, stops = material.runs[row], material.shown.view, pages.stops(row)

    def values(kind: str) -> NDArray[np.float64]:
        return np.array([places_of(run, kind, index)[1] for index in stops.tolist()])

    result: Json = {}
    if "rotations" in kinds:
        result["rotations"] = encode_trimmed(
            values("rotations"), _is_zoomed(view, row, "rotations")
        )
    if {"neurons", "norms"} & set(kinds):
        result["norms"] = encode_trimmed(values("norms"), _is_zoomed(view, row, "norms"))
    if "neurons" in kinds:
        track = material.tracks[row]
        exact = view.region(row, "neurons") is not None
        result["points"], result["reach"] = encode_places(track.points, exact)
        result["kinds"] = encode_integers(track.kinds)
        result["shades"] = [_shades(track.classes, palette, False) for palette in BOTH]
        result["trail"] = math.ceil(stops.size / longest_trail(m))
        ends = np.array([0.0, 1.0])
        result["widths"], result["areas"] = (part.tolist() for part in sizes(ends, m))
    chosen = material.chosen[row] if row < len(material.chosen) else None
    if chosen is not None:
        result["chosen"] = np.flatnonzero(chosen).tolist()
        if "neurons" in kinds:
            classes = material.tracks[row].classes
            result["dim"] = [_shades(classes, palette, True) for palette in BOTH]
    return result


def _is_zoomed(view: Any, row: int, kind: str) -> bool:
    """Return True if a view shows a part of its axis, so that every digit may be seen."""
    return view.region(row, kind) is not None


def _shades(classes: int, palette: Palette, dim: bool) -> list[list[str]]:
    """Return the colours of the neurons of each class, from a norm of 0 to 1."""
    norms = np.linspace(0.0, 1.0, SHADES + 1) ** 2
    result = []
    for kind in range(classes + 1):
        colours = kind_colours(np.full(norms.size, kind), norms, classes, palette)
        result.append(css(dim_colours(colours, palette) if dim else colours))
    return result


def numbers_in(runs: Sequence[Run], kinds: Sequence[str], frames: Sequence[Frames]) -> int:
    """Estimate how many numbers of neurons a page holds.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    kinds : sequence of str
        Views of the page.
    frames : sequence of array (moments,)
        Frame of each run at each moment.

    Returns
    -------
    int
    """
    each = 2 * ("neurons" in kinds) + len(set(NODES) & set(kinds))
    waved = bool(set(WAVES) & set(kinds))
    pairs = KERNEL_NUMBERS if KERNEL in kinds else 0
    return sum(
        ((each + _numbers_of_waves(run) * waved) * int(run.network.m) + pairs)
        * np.unique(some).size
        for run, some in zip(runs, frames, strict=True)
    )


def _numbers_of_waves(run: Run) -> int:
    """Return how many numbers a neuron has as a wave: an amplitude a frequency, and four more."""
    return (int(run.dataset.classes) + 1) // 2 + 4 if is_modular_addition(run) else 0
