"""Shipped result of the study in the form: figure, verdicts, and the runs of its points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.state.headings import heading_of
from app.study.result_drawer import HINT, LINE_HINT, ResultDrawer
from app.training.cell_runs import CellRunController
from app.training.studies import shipped_study_of
from app.widgets.screen_text import shown_number
from app.worker import Request, Worker
from core.figures.export import FigureProcess
from core.figures.palette import PALETTES, Palette
from core.program import result_file
from core.studies.study import Study

if TYPE_CHECKING:
    from core.figures.study_spots import Spot
    from core.studies.shipped_result import ShippedResult

RESIZED_MS = 200
MM_PER_PIXEL = 0.26  # scale of a figure with legible letters on the screen
LEAST_DPI, MOST_DPI = 40.0, 400.0
NONE_SHIPPED = (
    "No result for these settings yet. Run the whole study to see its figure and verdicts."
)
NO_FIGURE = "The figure could not be drawn (internal error). Details are in the log."
OF_RUNS = "Shipped result of {count} runs at quick size."
OF_ALL = "Shipped result of all {count} runs."
DRAWING = "Drawing the figure ..."


@final
@dataclass(frozen=True, slots=True, eq=False)
class ShownResult:
    """Result of a study, with its figure as PNG, and points in shares of the figure's size.

    A study without a figure has no PNG.
    """

    result: ShippedResult
    png: bytes = b""
    spots: tuple[Spot, ...] = ()
    places: tuple[tuple[float, float], ...] = ()


def result_drawn(
    request: Request, study: Study, palette: str, width: int, ratio: float, process: FigureProcess
) -> ShownResult | None:
    """Read the shipped result of a study, and draw its figure `width` points wide."""
    from core.figures.primitives import MM_PER_INCH
    from core.figures.study_scene import WIDTHS, Caption, scene_of_lines
    from core.figures.study_spots import spots_of
    from core.studies.shipped_result import shipped_result

    result, layout = shipped_result(study.id), study.layout()
    if result is None or layout is None:
        return None if result is None else ShownResult(result)
    fitting = [k for k in WIDTHS if k <= layout.columns and WIDTHS[k] <= width * MM_PER_PIXEL]
    layout = layout.model_copy(update={"columns": max(fitting, default=1)})
    scene = scene_of_lines(layout, result.panels, Caption("", note=study.note), PALETTES[palette])
    dpi = min(max(width * ratio * MM_PER_INCH / scene.width_mm, LEAST_DPI), MOST_DPI)
    png = process.draw(scene, ".png", dpi, request.is_cancelled)
    spots = spots_of(scene, layout, result.panels)
    places = tuple((one.left / scene.width_mm, one.top / scene.height_mm) for one in spots)
    return ShownResult(result, png, spots, places)


@final
class ResultController(QObject):
    """Shows the loaded study's result in its drawer, and opens runs of its points."""

    whole_requested = Signal()
    """Emitted to train all runs of the study."""
    result_offered = Signal()
    """Emitted when the chosen study has a figure to show."""

    def __init__(
        self,
        drawer: ResultDrawer,
        runs: CellRunController,
        process: FigureProcess,
        palette: Palette,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.drawer, self._runs = drawer, runs
        self._process, self._palette = process, palette
        self._study: Study | None = None
        self.shown: ShownResult | None = None
        # Study, palette and width of the drawn picture.
        self._drawn: tuple[str, str, int] = "", "", 0
        self.worker = Worker("result", result_drawn, self, our_error=NO_FIGURE, one_core=True)
        self._resized = QTimer(self, singleShot=True, interval=RESIZED_MS)
        self._resized.timeout.connect(self._draw)
        self.worker.result.connect(self._on_result)
        self.worker.error.connect(drawer.picture.show_words)
        for changed in (drawer.opened, drawer.picture.resized):
            changed.connect(self._resized.start)
        drawer.picture.spot_chosen.connect(self._on_spot_chosen)
        drawer.whole.clicked.connect(self.whole_requested)

    def close(self) -> None:
        """Cancel all work, and wait for the thread."""
        self._resized.stop()
        self.worker.close()

    def set_colours(self, palette: Palette) -> None:
        """Draw the figure in the colours of a palette."""
        self._palette = palette
        self.drawer.set_colours(palette)
        self._draw()

    # ------------------------------------------------------------------------------ the study

    def show_study(self, study: Study) -> None:
        """Show the result of a loaded study."""
        study = shipped_study_of(study)
        self._study, self.shown = study, None
        drawer = self.drawer
        drawer.title.setText(study.title)
        drawer.origin.setText("")
        drawer.claims.show_study(study)
        drawer.hint.setVisible(False)
        has_result = self._has_result
        drawer.set_has_figure(bool(study.figure) or not has_result)
        drawer.picture.show_words(DRAWING if has_result else NONE_SHIPPED)
        self._drawn = "", "", 0
        self._draw()

    @property
    def _has_result(self) -> bool:
        study = self._study
        return study is not None and study.folder is None and result_file(study.id).is_file()

    def offer(self) -> None:
        """Request the drawer for a study that the user chose, if it has a figure."""
        if self._has_result and self._study is not None and self._study.figure:
            self.result_offered.emit()

    # ------------------------------------------------------------------------------ the figure

    def _draw(self) -> None:
        """Request the figure if the drawer is open and another is shown."""
        picture, study = self.drawer.picture, self._study
        if study is None or not self._has_result or not self.drawer.isVisible():
            return
        ratio = picture.devicePixelRatioF()
        width = round(picture.pixels_wide() / ratio)
        if (key := (study.id, self._palette.name, width)) != self._drawn:
            self._drawn = key
            self.worker.request(study, self._palette.name, width, ratio, self._process)

    def _on_result(self, result: ShownResult | None) -> None:
        if result is None or self._study is None:
            self.drawer.picture.show_words(NONE_SHIPPED)
            return
        self.shown = result
        runs = result.result.runs
        words = OF_ALL if runs == self._study.count else OF_RUNS
        self.drawer.origin.setText(words.format(count=runs))
        self.drawer.claims.show_judged(result.result.claims)
        if result.png:
            tips = [_tip(spot) for spot in result.spots]
            self.drawer.picture.show_png(result.png, result.places, tips)
            has_points = not all(spot.of_line for spot in result.spots)
            self.drawer.hint.setText(HINT if has_points else LINE_HINT)
            self.drawer.hint.setVisible(bool(tips))

    def _on_spot_chosen(self, number: int) -> None:
        if self.shown is not None and self._study is not None:
            self._runs.open_cell(self._study, self.shown.spots[number].name)


def _tip(spot: Spot) -> str:
    """Describe a point in words."""
    words = heading_of(spot.name)
    if not spot.of_line:
        words += f": {shown_number(spot.mean, 4)}"
    if spot.count > 1:
        words += f", mean of {spot.count} runs"
    return f"{words}\nClick to open the run."
