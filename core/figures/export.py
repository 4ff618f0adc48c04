"""Files of figures at their physical size, rendered here or in another process.

Equal scenes give equal bytes of PDF, SVG and PNG. matplotlib holds the interpreter's lock while it
draws, and makes hundreds of thousands of objects for a figure: a process of its own leaves the
interpreter to the window.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import core
from core.errors import InputError
from core.figures.primitives import FigureScene
from core.files import remove_left, temporary_folder, write_whole
from core.processes import KillableProcess, run_in_process
from core.program import package
from core.reference.cancel_token import CancelledError

if TYPE_CHECKING:
    from core.figures.options import FigureOptions
    from core.figures.primitives import FigureScene

# --------------------------------------------------------------------------------- files of figures

SUFFIXES = (".pdf", ".svg", ".png")
LEAST_DPI, MOST_DPI = 20, 2400
# 4 bytes each: 1.6 GB of memory.
MOST_PIXELS = 400_000_000
Draw = Callable[[FigureScene, str, float], bytes]


def check_figure_path(path: Path) -> None:
    """Raise InputError unless the path ends in one of the formats of figures."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}; figures are written "
            "as one of these."
        )


def figure_bytes(scene: FigureScene, suffix: str, dpi: float = 300.0) -> bytes:
    """Render a scene; equal scenes give equal bytes.

    Parameters
    ----------
    scene : FigureScene
        Figure at its physical size.
    suffix : str
        ".pdf", ".svg" or ".png".
    dpi : float
        Resolution of a PNG in dots per inch.

    Returns
    -------
    bytes
        Content of the file.
    """
    from core.figures.draw import draw_scene, matplotlib_style

    creator = f"Marginscope {core.__version__}"
    # None suppresses matplotlib's own entries, such as the date: equal scenes give equal bytes.
    metadata: dict[str, dict[str, Any]] = {
        ".pdf": {"Creator": creator, "Producer": None, "CreationDate": None},
        ".svg": {"Creator": creator, "Date": None},
        ".png": {"Software": creator},
    }
    if scene.title:  # matplotlib rejects an empty title
        metadata[suffix]["Title"] = scene.title
    buffer = io.BytesIO()
    with matplotlib_style(scene.family):
        # PDF and SVG use points, 72 per inch.
        figure = draw_scene(scene, dpi if suffix == ".png" else 72.0)
        figure.savefig(
            buffer,
            format=suffix.removeprefix("."),
            dpi=dpi if suffix == ".png" else 72.0,
            metadata=metadata[suffix],
        )
    return buffer.getvalue()


def save_figure(
    scene: FigureScene, path: Path, dpi: float = 300.0, draw: Draw = figure_bytes
) -> None:
    """Write a scene as .pdf, .svg or .png, completely or not at all.

    Parameters
    ----------
    scene : FigureScene
        Figure at its physical size.
    path : Path
        File to write.
    dpi : float
        Resolution of a PNG, 20 to 2400 dots per inch.
    draw : callable
        Renders (scene, suffix, dpi) to bytes.

    Raises
    ------
    InputError
        Another suffix, a resolution out of range, or a folder that cannot be written.
    DiskError
        The disk is full.
    """
    check_figure_path(path)
    suffix = path.suffix.lower()
    check_resolution(scene, suffix, dpi)
    write_whole(path, draw(scene, suffix, dpi))


def check_resolution(scene: FigureScene, suffix: str, dpi: float) -> None:
    """Raise InputError for a resolution out of range, or too many pixels.

    Parameters
    ----------
    scene : FigureScene
        Figure at its physical size.
    suffix : str
        Pixels count for ".png" alone, at most MOST_PIXELS.
    dpi : float
        Dots per inch, LEAST_DPI to MOST_DPI.
    """
    if not LEAST_DPI <= dpi <= MOST_DPI:
        raise InputError(
            f"The resolution cannot be {dpi:g} dots per inch; choose {LEAST_DPI} to {MOST_DPI}, "
            "usually 300."
        )
    pixels = scene.width_mm * scene.height_mm * (dpi / 25.4) ** 2
    if suffix == ".png" and pixels > MOST_PIXELS:
        raise InputError(
            f"At {dpi:g} dots per inch the figure has {pixels / 1e6:.0f} million pixels, more than "
            f"{MOST_PIXELS / 1e6:.0f} million",
            remedy="lower the resolution or write a .pdf",
            typed="lower --dpi or write a .pdf",
        )


# ---------------------------------------------------------------------------------- another process

IDLE_SECONDS = 30.0  # an idle process uses as much memory as a small window


def _is_never_cancelled() -> bool:
    return False


@final
class FigureProcess:
    """A process that renders figures, one after another, for any thread."""

    def __init__(self) -> None:
        self._process = KillableProcess("The figure was not written", IDLE_SECONDS)

    def prestart(self) -> None:
        """Start the process and load matplotlib in it, for a figure that is requested soon."""
        self._process.prestart(import_module, package("core.figures.draw"))

    def draw(
        self,
        scene: FigureScene,
        suffix: str,
        dpi: float = 300.0,
        cancelled: Callable[[], bool] = _is_never_cancelled,
    ) -> bytes:
        """Render a scene in the process, as `figure_bytes` does.

        Parameters
        ----------
        scene, suffix, dpi
            As of `figure_bytes`.
        cancelled : callable
            Polled while the process works.

        Returns
        -------
        bytes
            Content of the file.

        Raises
        ------
        CancelledError
            `cancelled` returned True.
        MarginscopeError
            The process could not be started, or died.
        """
        content = self._process.run(cancelled, figure_bytes, scene, suffix, dpi)
        if content is None:
            raise CancelledError
        return content

    def stop(self) -> None:
        """Kill the process. Call it when no thread draws any more."""
        self._process.stop()


def render_film(
    runs: Sequence[Path],
    path: Path,
    options: FigureOptions,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    **film: Any,
) -> bool:
    """Render a film of run files in a separate process, by `core.figures.film.save_film`.

    Parameters
    ----------
    runs, path, options
        Run files, the file of the film, and how the runs are drawn.
    progress
        Receives the number of finished frames and of all frames, at most 20 times a second.
    cancelled
        Checked as often; the process is killed once it returns True.
    film
        Further arguments of `save_film`.

    Returns
    -------
    bool
        False if the film was cancelled, which leaves no file.

    Raises
    ------
    MarginscopeError
        If the process cannot be started, or died.
    """
    with temporary_folder("film") as folder:
        counter = folder / "frames"

        def report() -> bool:
            with suppress(OSError):
                if numbers := counter.read_text().split():
                    progress(int(numbers[0]), int(numbers[1]))
            return cancelled()

        try:
            arguments = (_save_film, tuple(runs), path, options, counter, film)
            return bool(run_in_process("The film was not written", report, *arguments))
        finally:
            remove_left(path.parent)  # partial files of a killed process


def _save_film(
    runs: Sequence[Path], path: Path, options: FigureOptions, counter: Path, film: dict[str, Any]
) -> bool:
    from core.figures.film import save_film
    from core.runs import open_with_history

    with ExitStack() as stack:
        opened = [stack.enter_context(open_with_history(run)) for run in runs]
        return save_film(opened, path, options, progress=partial(_write_progress, counter), **film)


def _write_progress(counter: Path, n_done: int, total: int) -> None:
    with suppress(OSError):  # the film itself reports a full disk
        counter.write_text(f"{n_done} {total}")
