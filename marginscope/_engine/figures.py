"""`marginscope.figure`: runs and studies as figures for papers."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final, overload

from core.cli.drawing import natural, results_in
from core.figures.export import (
    SUFFIXES,
    check_figure_path,
    check_resolution,
    figure_bytes,
    save_figure,
)
from core.figures.look import FIRST_CURVES, Look
from core.figures.names import ACROSS, PANELS
from core.figures.options import FigureOptions
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import FigureScene
from core.figures.scene import build_scene
from core.figures.sheet import Sheet
from core.figures.study_figure import figure_of_runs, layout_of
from core.observables.observable import Shape
from core.observables.planes import COORDINATES, parse_plane
from core.observables.registry import numbers_of, observable_in, of_shape
from core.problem.schedule import parse_time
from core.reference.margin import ReferenceMargin
from core.runs import Run as CoreRun
from core.studies.cells import runs_of
from core.studies.study import shipped_ids
from core.sweep.folder import sweeps_in
from marginscope._engine.border import Folder, public
from marginscope._engine.margins import LIMIT_S, Margins
from marginscope._engine.run import Run, core_run, open_run
from marginscope._engine.studies import Study, core_study, found
from marginscope._engine.sweeping import Sweep
from marginscope._engine.training import train
from marginscope._errors import InputError, did_you_mean

Kind = Literal["png", "svg", "pdf"]
RUN = ".msrun"
Shown = Run | Sweep | Study | str | os.PathLike[str] | Sequence[Run]


@final
@dataclass(frozen=True, slots=True)
class Options:
    """What is said of the panels of runs; a study's own layout is only the default."""

    panels: tuple[str, ...] | None = None
    until: float | str | None = None
    plane: str | None = None
    curves: tuple[str, ...] | None = None
    against: str | None = None
    margins: tuple[str, ...] = ()
    limit: float = LIMIT_S
    width_mm: float | None = None
    height_mm: float | None = None
    caption: bool = True


PLAIN = Options()


@overload
def figure(
    shown: Shown,
    path: str | os.PathLike[str],
    /,
    *,
    dark: bool = False,
    dpi: float = 300.0,
    **options: Any,
) -> Path: ...


@overload
def figure(
    shown: Shown,
    path: None = None,
    /,
    *,
    kind: Kind = "png",
    dark: bool = False,
    dpi: float = 300.0,
    **options: Any,
) -> bytes: ...


@public
def figure(
    shown: Shown,
    path: str | os.PathLike[str] | None = None,
    /,
    *,
    kind: Kind = "png",
    dark: bool = False,
    dpi: float = 300.0,
    **options: Any,
) -> Path | bytes:
    """A figure of runs, one a row, or of a study as its paper arranges it.

    `shown` is a Run, up to six in a list, a Sweep, a study (which is trained), or the path of a
    run file or of a folder of them. With `path` (.pdf, .svg or .png) it is written, and the path
    returned; else its bytes are, of the `kind` "png", "svg" or "pdf". Equal runs give equal bytes.
    `dpi` is the resolution of PNGs, in dots per inch.

    Options, all of which are about single runs: `panels` (neurons, rotations, norms, margins,
    curves, spectrum, predictor), `until` (the last t shown, or a text such as "10^2.5"), `plane`
    of the neurons, `curves` (observables of one number a frame) and what they stand `against`
    (log10_time, step, norm_squared), `margins` (names of reference margins, or "all", drawn among
    those of the run, each computed in at most `limit` seconds), `width_mm` and `height_mm`, and
    `caption=False` for no caption.

    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> ms.figure(run, kind="svg", panels=["margins"])[:5]
    b'<?xml'

    Raises InputError for panels, curves and options that there are not, more than six runs, a run
    without frames, or another ending; DiskError where the disk is full.
    """
    chosen = _options(options)
    place = None if path is None else Path(path)
    if place is not None:
        check_figure_path(place)
    elif f".{kind}" not in SUFFIXES:
        raise InputError(f"kind = {kind!r:.40}; 'png', 'svg' and 'pdf' are possible.")
    with ExitStack() as stack:
        scene = _scene(shown, chosen, dark, stack)
        if place is None:
            check_resolution(scene, f".{kind}", dpi)
            return figure_bytes(scene, f".{kind}", dpi)
        save_figure(scene, place, dpi=dpi)
        return place


def _options(given: Mapping[str, Any]) -> Options:
    known = Options.__dataclass_fields__
    lost = next((name for name in given if name not in known), None)
    if lost is not None:
        raise InputError(f"figure has no option {lost!r:.60}; {did_you_mean(lost, known)}")
    lists = {
        name: (value,) if isinstance(value := given[name], str) else tuple(value)
        for name in ("panels", "curves", "margins")
        if given.get(name) is not None
    }
    return Options(**{**given, **lists})


def _scene(shown: Any, options: Options, dark: bool, stack: ExitStack) -> FigureScene:
    """What is drawn of what was given."""
    shown = read(shown, stack)
    if isinstance(shown, Path) and options == PLAIN:
        scene = _of_folder(shown, dark, stack)
        if scene is not None:
            return scene
    if isinstance(shown, Sweep) and options == PLAIN and core_study(shown.study).figure:
        return _of_sweep(shown, dark, stack)
    runs = runs_in(shown, stack)
    return scene_of([core_run(run) for run in runs], options, dark)


def read(shown: Any, stack: ExitStack) -> Any:
    """Paths and studies as what lies there: a run, or a folder of them; all else as it is."""
    if isinstance(shown, str | os.PathLike):
        shown = _of_path(shown, stack)
    return _trained(shown, stack) if isinstance(shown, Study) else shown


def runs_in(shown: Any, stack: ExitStack) -> list[Run]:
    """The runs of what was read; they are open as long as somebody holds them."""
    if isinstance(shown, Sweep):
        shown = list(shown.runs)
    if isinstance(shown, Path):
        paths = sorted(shown.glob(f"*{RUN}"), key=natural)
        shown = [stack.enter_context(open_run(path)) for path in paths]
    runs = list(shown) if isinstance(shown, Sequence) else [shown]
    wrong = next((one for one in runs if not isinstance(one, Run)), None)
    if wrong is not None:
        raise InputError(f"{wrong!r:.60} is no run; give a Run, several, a Sweep or a study.")
    return runs


def _of_path(shown: str | os.PathLike[str], stack: ExitStack) -> Run | Study | Path:
    """A run file, a folder of them, or a study."""
    text = os.fspath(shown)
    path = Path(text)
    if text in shipped_ids() or path.suffix == ".toml":
        return found(text, {})
    if path.is_dir():
        if not any(path.glob(f"*{RUN}")):
            raise InputError(f"The folder {path} holds no run files ({RUN}).")
        return path
    if path.suffix != RUN and not path.is_file():
        return found(text, {})  # says what there is, and what was meant
    return stack.enter_context(open_run(path))


def _trained(study: Study, stack: ExitStack) -> Path:
    """The folder of a study's runs, trained for this figure."""
    folder = Folder("figure")
    stack.callback(folder.close)  # which also holds it until the figure is drawn
    made = train(study, out=folder.path)
    for run in [made] if isinstance(made, Run) else made:
        run.close()
    return folder.path


def _of_folder(folder: Path, dark: bool, stack: ExitStack) -> FigureScene | None:
    """The figure of the study with a layout whose runs lie in a folder; None without one."""
    ledgers = sweeps_in(folder, values=False)
    study = layout_of(folder, [ledger.study for ledger in ledgers])
    if study is None:
        return None
    own = next((ledger for ledger in ledgers if ledger.study.id == study.id), None)
    verdicts, known = results_in(folder, own)
    paths, palette = runs_of(study.id, folder), DARK if dark else LIGHT
    return figure_of_runs(study, paths, stack.enter_context, palette, verdicts, known)


def _of_sweep(made: Sweep, dark: bool, stack: ExitStack) -> FigureScene:
    verdicts, known = results_in(made.folder, made._plan.ledger)
    paths = [cell.path for cell in made.cells if cell.state == "done"]
    palette = DARK if dark else LIGHT
    study = core_study(made.study)
    return figure_of_runs(study, paths, stack.enter_context, palette, verdicts, known)


def scene_of(runs: Sequence[CoreRun], options: Options, dark: bool = False) -> FigureScene:
    """The scene of runs, one a row."""
    return build_scene(
        runs,
        PANELS if options.panels is None else options.panels,
        _moment(options.until),
        FigureOptions(
            DARK if dark else LIGHT,
            COORDINATES if options.plane is None else parse_plane(options.plane),
            [drawn_margins(run, options.margins, options.limit) for run in runs]
            if options.margins
            else (),
            look=look_of(options.curves, options.against, runs),
            sheet=Sheet(options.width_mm, options.height_mm, caption=options.caption),
        ),
    )


def _moment(until: float | str | None) -> float | None:
    """log10 t of the last moment shown."""
    if until is None:
        return None
    time = parse_time(until if isinstance(until, str) else repr(float(until)))
    if time is None or math.isnan(time):
        raise InputError(f"until = {until!r:.60} is no time; give t, or a text such as '10^2.5'.")
    return time


def look_of(
    curves: tuple[str, ...] | None, against: str | None, runs: Sequence[CoreRun] = ()
) -> Look:
    """The curves of the panel of that name, the usual ones for None, against what they stand.
    Numbers that recorded loops passed are those of the `runs`."""
    curves = FIRST_CURVES if curves is None else curves
    numbers = dict.fromkeys(item.name for run in runs for item in numbers_of(run))
    known = [*(item.name for item in of_shape(Shape.SCALAR)), *numbers]
    for name in curves:
        if name not in known and observable_in(runs, name) is None:
            raise InputError(f"There is no curve {name!r:.60}; {did_you_mean(str(name), known)}")
    return Look(tuple(curves), against=ACROSS[0] if against is None else against)


def drawn_margins(run: CoreRun, which: Sequence[str], limit: float) -> tuple[ReferenceMargin, ...]:
    """The reference margins of a run by their names, or ("all",), that stand among its own."""
    names: Iterable[str] | None = None if tuple(which) == ("all",) else which
    margins = Margins(run.problem, names, limit)
    return tuple(one for one in map(margins.computed, margins) if one.drawable)
