"""Films of runs: the same panels as figures, growing with time.

The range of the neurons follows them, unless a film shows that of the whole run; all other axes are
fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.figures.film_scene import film_scene, film_size
from core.figures.material import PanelData, compute_panel_data
from core.figures.names import LEAST_SIZE, MOST_SIZE, kinds_of
from core.figures.numbers import math_text
from core.figures.options import USUAL, FigureOptions, check_view_options
from core.figures.primitives import Dots, FigureScene, Panel, PanelContent, Text
from core.figures.scene import check_runs, choose_panels, last_frame
from core.figures.time_axis import TimeAxis, time_axis
from core.figures.tracks import trail_frames
from core.figures.writers import Pixels, check_film_path, film_writer, frame_durations
from core.files import replace_file
from core.numbers import time_text
from core.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLD = 0.12  # fraction of the film for which the last picture is held
LONGEST_SECONDS, MOST_FRAMES = 600.0, 6000
# Frames per second; GIF players slow down delays below 20 ms.
FASTEST = {".gif": 50, ".webp": 60, ".mp4": 60}
Frames = NDArray[np.int64]
Interval = tuple[float, float]  # in log10 t; -inf is t = 0


def frames_shown(
    run: Run, axis: TimeAxis, count: int, since: float = -math.inf, hold: float = HOLD
) -> Frames:
    """Return the frame of a run that each picture of a film shows.

    Time passes evenly on the axis, and then rests. A picture shows the last frame at or before its
    moment.

    Parameters
    ----------
    run : Run
        Open run.
    axis : TimeAxis
        Axis of all runs, whose end is that of the film.
    count : int
        Number of pictures.
    since : float
        log10 t of the first picture; -inf for t = 0.
    hold : float
        Share of the pictures at which time rests, 0 <= hold < 1.

    Returns
    -------
    array (count,)
        Frames that never decrease; 0 before the first one.
    """
    moving = max(round(count * (1.0 - hold)), 1)
    places = axis.place(run.log10_time)
    places = np.where(np.isnan(places), -np.inf, places)
    low = max(axis.low, since)
    ends = axis.place(np.array([low, axis.high]))
    moments = np.linspace(ends[0], ends[1], moving)
    if moving > 1 and since == -math.inf:
        # A logarithmic axis has no t = 0, where the film still starts.
        moments[0] = -np.inf
    # 1e-9 covers rounding, at the end and at moments that equal a frame's time.
    moments[-1] = ends[1] + 1e-9
    frames = np.searchsorted(places, moments + 1e-9, side="right") - 1
    frames = np.concatenate([frames, np.full(count - moving, frames[-1])])
    return np.maximum(frames, 0).astype(np.int64)


@final
class Drawer:
    """Renderer of a film's pictures: axes and texts once, and over their pixels only what moves.

    `scene`, `data`, `dpi` and `clock` are those of `film_scene`. With `follow` the axes of the
    neurons move, too.
    """

    def __init__(
        self,
        scene: FigureScene,
        material: PanelData,
        data: Sequence[Sequence[Dots]],
        dpi: float,
        clock: Text | None,
        follow: bool,
    ) -> None:
        from core.figures.draw import draw_panel, draw_texts, matplotlib_style, new_figure

        self._scene, self._material, self._data, self._clock = scene, material, data, clock
        with matplotlib_style():
            figure, pixels = new_figure(scene, dpi)
            canvas: Any = pixels  # its drawing methods are untyped
            self._axes = [
                None if follow and panel.kind == "neurons" else draw_panel(figure, scene, panel)
                for panel in scene.panels
            ]
            draw_texts(figure, scene)
            canvas.draw()
        self._figure = figure
        self._canvas = canvas
        # Axes and texts never change in a film: drawn once, then copied.
        self._background = canvas.copy_from_bbox(figure.bbox)

    def draw(self, frames: Sequence[int], log10_time: float) -> Pixels:
        """Draw one picture.

        Parameters
        ----------
        frames : sequence of int
            Frame of each run.
        log10_time : float
            Time of the clock as log10 t; -inf for t = 0.

        Returns
        -------
        array (height, width, 3) of uint8
            RGB.
        """
        from core.figures.draw import figure_text, ink_artists, matplotlib_style

        scene = self._scene
        self._canvas.restore_region(self._background)
        with matplotlib_style():
            for panel, axes, data in zip(scene.panels, self._axes, self._data, strict=True):
                place, ink = self._place(panel, axes, data, frames[panel.row])
                for artist in ink_artists(place, ink, scene.palette, scene.points):
                    place.add_artist(artist)
                    place.draw_artist(artist)
                    # Its only use is in the pixels: otherwise every frame would add an image to the
                    # axes.
                    artist.remove()
                if axes is None:
                    place.remove()
            if self._clock is not None:
                text = math_text(time_text(log10_time, self._material.time.steps, padded=True))
                clock = figure_text(self._figure, scene, replace(self._clock, text=text))
                self._figure.draw_artist(clock)
                clock.remove()
        # A copy, since the next frame overwrites these pixels.
        pixels = np.asarray(self._canvas.buffer_rgba())
        return np.ascontiguousarray(pixels[..., :3])

    def _place(
        self, panel: Panel, axes: Axes | None, data: Sequence[Dots], index: int
    ) -> tuple[Axes, PanelContent]:
        """Return the axes and the content of a panel; draw axes that move."""
        from core.figures.draw import draw_panel

        if axes is not None:
            return axes, self._material.ink(panel, index, data)
        now = replace(self._material.follow_nodes(panel.row, index, panel.box), title=panel.title)
        moving = draw_panel(self._figure, self._scene, now)
        self._figure.draw_artist(moving)
        return moving, now.ink


def _check(path: Path, seconds: float, fps: float, size: tuple[int, int]) -> int:
    """Return the number of pictures. Raises InputError for a film that cannot be made."""
    check_film_path(path)
    fastest = FASTEST[path.suffix.lower()]
    if not 1.0 <= fps <= fastest:
        raise InputError(
            f"{fps:g} frames per second: choose 1 to {fastest} for {path.suffix} films, usually 20."
        )
    if not 0.0 < seconds <= LONGEST_SECONDS or not math.isfinite(seconds):
        raise InputError(
            f"A film cannot last {seconds:g} seconds; choose a length above 0 and up to 600 "
            "seconds."
        )
    count = max(1, round(seconds * fps))
    if count > MOST_FRAMES:
        raise InputError(
            f"{count} frames are too many for a film; at most {MOST_FRAMES} are allowed: shorten "
            "it, or lower the frames per second."
        )
    (least_width, least_height), (most_width, most_height) = LEAST_SIZE, MOST_SIZE
    if not (least_width <= size[0] <= most_width and least_height <= size[1] <= most_height):
        raise InputError(
            f"A film cannot have {size[0]} x {size[1]} pixels; choose a width of 160 to 3840 and "
            "a height of 120 to 2160."
        )
    return count


def film_frames(
    runs: Sequence[Run],
    panel: str,
    count: int,
    size: tuple[int, int],
    options: FigureOptions,
    follow: bool = True,
    interval: Interval | None = None,
    captions: bool = True,
) -> Iterator[Pixels]:
    """Yield the pictures of a film.

    Parameters
    ----------
    runs, panel, options, follow, interval, captions
        As of `save_film`.
    count : int
        Number of pictures.
    size : (int, int)
        Width and height in pixels.

    Yields
    ------
    array (height, width, 3) of uint8
        RGB. Equal pictures that follow each other are one array.
    """
    kinds = choose_panels(kinds_of(panel), runs)
    since, until = (-math.inf, None) if interval is None else interval
    lasts = [last_frame(run, until) for run in runs]
    axis = time_axis(runs, lasts)
    frames = [frames_shown(run, axis, count, since) for run in runs]
    # Include the last frame: the scene's axes cover everything shown later.
    stops = [np.unique(np.append(some, last)) for some, last in zip(frames, lasts, strict=True)]
    if interval is not None:  # trails start with the run
        stops = [
            np.unique(np.append(trail_frames(last, run.network.m), some))
            for run, last, some in zip(runs, lasts, stops, strict=True)
        ]
    material = compute_panel_data(runs, kinds, lasts, options, stops)
    scene, data, dpi, clock = film_scene(material, kinds, size, captions)
    zoomed = any(options.view.region(row, "neurons") for row in range(len(runs)))
    drawer = Drawer(scene, material, data, dpi, clock, follow and not zoomed)
    before: tuple[int, ...] | None = None
    picture: Pixels | None = None
    for position in range(count):
        indices = tuple(int(some[position]) for some in frames)
        # A run with fewer frames than the film repeats pictures.
        if picture is None or indices != before:
            times = [float(run.log10_time[i]) for run, i in zip(runs, indices, strict=True)]
            picture = drawer.draw(indices, max(times))
        before = indices
        yield picture


def check_interval(runs: Sequence[Run], interval: Interval) -> None:
    """Raise InputError for an interval of log10 t that is empty, or starts after all runs."""
    since, until = interval
    if math.isnan(since) or math.isnan(until) or not since < until:
        raise InputError("The film's interval is empty; choose a start before its end.")
    ends = [float(run.log10_time[run.frames - 1]) for run in runs]
    if since >= max(ends):
        raise InputError(
            f"The film's interval starts after the end of the runs at t = 10^{max(ends):.4g}."
        )


@final
class _CancelledError(Exception):
    """Cancellation of a film by the user."""


def save_film(
    runs: Sequence[Run],
    path: Path,
    options: FigureOptions = USUAL,
    *,
    panel: str = "neurons",
    seconds: float = 8.0,
    frames_per_second: float = 20,
    size: tuple[int, int] | None = None,
    follow: bool = True,
    interval: Interval | None = None,
    captions: bool = True,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> bool:
    """Write a film of one to ten runs.

    Time passes evenly on the axis of the figures; the last picture stays for the last 12 %.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    path : Path
        File to write: .gif, .webp or .mp4.
    options : FigureOptions
        Colours, plane, contents, and options of each run.
    panel : str
        One panel, up to four with commas between them, or "all", the four of the papers' figure.
    seconds, frames_per_second : float
        Length, and pictures a second; the film has round(seconds * frames_per_second) pictures.
    size : (int, int), optional
        Width and height in pixels, made even; by default fitted to the panels (`film_size`).
    follow : bool
        Fit the neurons' axes to each moment, unless the options have a range for these. If false,
        fit them to the whole run.
    interval : (float, float), optional
        First and last log10 t, -inf for t = 0; by default all of the runs.
    captions : bool
        Draw a line with heading and clock.
    progress : callable, optional
        Gets the number of pictures done, and that of all pictures.
    cancelled : callable, optional
        Called before each picture; returns True to stop.

    Returns
    -------
    bool
        True if the file is written, False if cancelled.

    Raises
    ------
    InputError
        Settings or a path that cannot be used.
    DiskError
        The disk is full.
    """
    check_runs(runs)
    check_view_options(options.view, runs)
    if interval is not None:
        check_interval(runs, interval)
    kinds = choose_panels(kinds_of(panel), runs)
    requested = size or film_size(len(runs), len(kinds))
    count = _check(path, seconds, frames_per_second, requested)
    # H.264 in its most compatible form stores colours for blocks of two by two pixels.
    pixels = (requested[0] & ~1, requested[1] & ~1)
    durations = frame_durations(count, frames_per_second, path)
    pictures = film_frames(runs, panel, count, pixels, options, follow, interval, captions)
    try:
        with (
            replace_file(path) as (temporary, file),
            film_writer(temporary, file, pixels, frames_per_second, options.palette) as writer,
        ):
            for n_frames, milliseconds in enumerate(durations, 1):
                if cancelled is not None and cancelled():
                    raise _CancelledError
                writer.add(next(pictures), milliseconds)
                if progress is not None:
                    progress(n_frames, count)
    except _CancelledError:
        return False
    return True
