"""Figure in one page: HTML that plays the panels of some runs, without a network or a server.

`page_html` is the page as text, to be kept in a file or shown in a frame of another page. Its
content comes from the same material as figures and films (core.figures.material); resources/page
has the code that draws it, as small modules that become one script here. The page allows that
script and that style by their hashes, and nothing else (docs/decisions/0023).
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, final

import core
from core.errors import InputError
from core.figures.names import (
    FEWEST_FRAMES,
    MOST_FRAMES,
    PAGE_COLOURS,
    PAGE_FRAMES,
    PAGE_PANELS,
    PANELS,
)
from core.figures.options import FigureOptions, Notes, check_view_options
from core.figures.page_data import Frames, compute_pages, content, frames_of, numbers_in
from core.figures.page_notes import note_content, note_times
from core.figures.palette import LIGHT
from core.figures.scene import check_runs, choose_panels
from core.figures.story_page import add_frames_at, story_content, story_panels
from core.files import write_whole
from core.observables.spectrum import has_inner
from core.program import RESOURCES
from core.runs import Run
from core.stories.story import Story

SUFFIX = ".html"
MOST_NUMBERS = 20_000_000  # numbers of neurons: 80 MB before packing, about 45 MB of text
# In order of use: each module is used only by later ones.
MODULES = (
    "numbers.js",
    "decode.js",
    "text.js",
    "plot.js",
    "neurons.js",
    "sorted.js",
    "traces.js",
    "waves.js",
    "kernel.js",
    "panel.js",
    "layout.js",
    "player.js",
    "story.js",
    "notes.js",
    "book.js",
    "main.js",
)
IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


@final
@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options of a page.

    `frames` is the most moments, beside those of a story and of notes. `title` replaces the runs'
    own. `colours` are those of the reader's system, or light or dark at first (PAGE_COLOURS). A
    page with a `story` steps through its moments. `notes` are those of each run, if any.
    """

    frames: int = PAGE_FRAMES
    title: str = ""
    colours: str = "system"
    story: Story | None = None
    notes: Notes = ()


USUAL = PageOptions()


@final
class CancelledPageError(Exception):
    """Cancellation of a page while it was made."""


def views_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the usual views of a page: those of the papers' figure that some run has.

    Without inner weights neurons have neither a place nor a direction.
    """
    panels = choose_panels(PANELS, runs)
    if any(has_inner(run) for run in runs):
        return panels
    return tuple(name for name in panels if name not in ("neurons", "rotations"))


def check_page(runs: Sequence[Run], panels: Sequence[str], options: PageOptions) -> None:
    """Raise InputError for panels, runs or options of which no page can be made.

    Parameters
    ----------
    runs : sequence of Run
        One to ten runs, each with a frame.
    panels : sequence of str
        Names of PAGE_PANELS, each once.
    options : PageOptions
        Frames are limited by MOST_NUMBERS of all neurons.
    """
    chosen, allowed = ", ".join(panels) or "none", ", ".join(PAGE_PANELS)
    if "predictor" in panels:
        raise InputError(
            "A page cannot show the predictor, which would be recomputed at every frame; choose "
            f"among {allowed}, or make a film."
        )
    if not panels or not set(panels) <= set(PAGE_PANELS) or len(set(panels)) < len(panels):
        raise InputError(f"The views {chosen[:200]}: choose one or more of {allowed}, each once.")
    check_runs(runs)
    if not FEWEST_FRAMES <= options.frames <= MOST_FRAMES:
        raise InputError(
            f"A page cannot have {options.frames} frames; choose {FEWEST_FRAMES} to "
            f"{MOST_FRAMES}, usually {PAGE_FRAMES}."
        )
    if options.colours not in PAGE_COLOURS:
        allowed = ", ".join(PAGE_COLOURS)
        raise InputError(f"The colours {options.colours[:40]!r}: allowed are {allowed}.")
    count = numbers_in(runs, panels, frames_of(runs, options.frames))
    if count > MOST_NUMBERS:
        max_frames = max(options.frames * MOST_NUMBERS // count, FEWEST_FRAMES)
        raise InputError(
            f"These runs have too many neurons for a page of {options.frames} frames, which would "
            f"hold {count / 1e6:.3g} million numbers, more than {MOST_NUMBERS / 1e6:.3g} million",
            remedy=f"choose at most {max_frames} frames, or fewer runs or views",
            typed=f"give --frames {max_frames}, or fewer runs or --views",
        )


def page_html(
    runs: Sequence[Run],
    panels: Sequence[str] | None = None,
    figure_options: FigureOptions | None = None,
    options: PageOptions = USUAL,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> str:
    """Return the page of some runs, side by side, as HTML.

    A page in a frame needs only scripts: it requests nothing, and stores nothing outside its frame.

    Parameters
    ----------
    runs : sequence of Run
        One to ten runs, each with a frame.
    panels : sequence of str, optional
        Views; by default `views_of`.
    figure_options : FigureOptions, optional
        Plane, reference margins, selected neurons, ranges and pins; a page has both palettes.
    options : PageOptions
        Moments, title and colours.
    progress : callable, optional
        Gets the number of parts done, and that of all parts.
    cancelled : callable, optional
        Called between two parts.

    Returns
    -------
    str

    Raises
    ------
    InputError
        Runs, panels or options of which no page can be made.
    CancelledPageError
        `cancelled` returned True.
    """
    figure_options = FigureOptions(LIGHT) if figure_options is None else figure_options
    panels = views_of(runs) if panels is None else choose_panels(panels, runs)
    usual, story = panels, options.story
    panels = usual if story is None else story_panels(story, runs, usual)
    check_page(runs, panels, options)
    check_view_options(figure_options.view, runs)
    frames = _all_frames(runs, options)

    def watch(n_done: int, total: int) -> None:
        if cancelled is not None and cancelled():
            raise CancelledPageError
        if progress is not None:
            progress(n_done, total)

    pages = compute_pages(runs, panels, frames, figure_options, watch)
    data = content(pages, options.title or (story.title if story else ""), watch)
    data |= {"story": story_content(story, runs, frames, usual)} if story else {}
    notes = note_content(options.notes, runs, frames) if options.notes else []
    data |= {"notes": notes} if notes else {}
    data |= {"start": options.colours, "program": f"Marginscope {core.__version__}"}
    return assemble_page(data)


def _all_frames(runs: Sequence[Run], options: PageOptions) -> tuple[Frames, ...]:
    """Return the frame of each run at each moment of a page, with those of story and notes."""
    times = [] if options.story is None else [one.log10_time for one in options.story.moments]
    return add_frames_at(
        (*times, *note_times(options.notes)), runs, frames_of(runs, options.frames)
    )


def save_page(
    runs: Sequence[Run],
    path: Path,
    panels: Sequence[str] | None = None,
    figure_options: FigureOptions | None = None,
    options: PageOptions = USUAL,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> bool:
    """Write the page of some runs, completely or not at all.

    Parameters
    ----------
    path : Path
        File to write (.html).
    runs, panels, figure_options, options, progress, cancelled
        As of `page_html`.

    Returns
    -------
    bool
        False if it was cancelled.

    Raises
    ------
    InputError
        As of `page_html`, and for a path that cannot be written.
    DiskError
        The disk is full.
    """
    check_page_path(path)
    try:
        text = page_html(runs, panels, figure_options, options, progress, cancelled)
    except CancelledPageError:
        return False
    write_whole(path, text.encode())
    return True


def check_page_path(path: Path) -> None:
    """Raise InputError unless the path ends in .html."""
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"{path} must end in {SUFFIX}.")


# ------------------------------------------------------------------------------------ the page


def assemble_page(data: dict[str, Any]) -> str:
    """Return the page around its data. All texts of runs are in the data, and in the title."""
    title = "".join(text for text, _ in data["title"]) or "Marginscope"
    style, script = _part("page.css"), bundle()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "style": style,
        "data": script_json(data),
        "script": script,
    }
    # Not str.format: styles and scripts contain braces.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _part("page.html"))


def script_json(data: Any) -> str:
    r"""Return JSON that remains data within a script element, whatever texts it has.

    >>> print(script_json(["</script>", "\u2028", "&"]))
    ["\u003c/script\u003e","\u2028","\u0026"]
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def bundle() -> str:
    """Join the modules of resources/page to one script, without imports and exports."""
    return "\n".join(bare_module(_part(name)) for name in MODULES)


def bare_module(text: str) -> str:
    """Return a module's text without its imports and exports, for one script of many."""
    return EXPORT.sub("", IMPORT.sub("", text)).strip()


@cache
def _part(name: str) -> str:
    return RESOURCES.joinpath("page", name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """Return the hash by which a policy allows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
