"""Figures and films rendered by another process, which leaves the interpreter to the caller.

matplotlib holds the interpreter's lock while it draws, and makes hundreds of thousands of objects
for a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from core.files import remove_left, scratch
from core.processes import KillableProcess, run_in_process
from core.program import package
from core.reference.watch import CancelledError

if TYPE_CHECKING:
    from core.figures.options import FigureOptions
    from core.figures.primitives import FigureScene

IDLE_SECONDS = 30.0  # an idle process takes as much memory as a small window


def _never() -> bool:
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
        cancelled: Callable[[], bool] = _never,
    ) -> bytes:
        """Return the bytes that `core.figures.export.figure_bytes` returns.

        Raises CancelledError, and MarginscopeError where the process cannot be started, or died.
        """
        from core.figures.export import figure_bytes

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
    """Save a film of some run files by a process of its own, as `core.figures.film.save_film` does.

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
    with scratch("film") as folder:
        counter = folder / "frames"

        def report() -> bool:
            with suppress(OSError):
                if numbers := counter.read_text().split():
                    progress(int(numbers[0]), int(numbers[1]))
            return cancelled()

        try:
            given = (_save_film, tuple(runs), path, options, counter, film)
            return bool(run_in_process("The film was not written", report, *given))
        finally:
            remove_left(path.parent)  # what a killed process has written


def _save_film(
    runs: Sequence[Path], path: Path, options: FigureOptions, counter: Path, film: dict[str, Any]
) -> bool:
    from core.figures.film import save_film
    from core.runs import open_run

    with ExitStack() as stack:
        opened = [stack.enter_context(open_run(run)) for run in runs]
        return save_film(opened, path, options, progress=partial(_write_progress, counter), **film)


def _write_progress(counter: Path, done: int, total: int) -> None:
    with suppress(OSError):  # a full disk is met by the film itself
        counter.write_text(f"{done} {total}")
