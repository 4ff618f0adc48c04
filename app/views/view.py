"""Base of all views of a run: a header, a plot, and the interface that sets their content."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, final

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.state.display import DisplayData
from app.state.intent import Intent
from app.state.node_values import Floats
from app.style import LEAST_PLOT
from app.widgets.axis import title_height
from app.widgets.header import ViewHeader
from app.widgets.keyboard import PlotFocus
from app.widgets.layouts import add_all, space
from app.widgets.overlay import HoverReadout, Overlay
from app.widgets.plot_item import Plot
from core.figures.palette import Palette
from core.numbers import time_text

if TYPE_CHECKING:
    from core.figures.strips import Extent
    from core.library.entry import MomentNote
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise


Numbers = Sequence[tuple[str, Floats]]  # heading and column, all columns of equal length


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """Values promised by a statement, or predicted, one per frame (T,), in a view or a strip.

    `view` is "margins", or the observable that they belong to.
    """

    name: str
    view: str
    values: Floats
    tip: str = ""
    predicted: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class ShownTheory:
    """Lines and curves that theory adds to a run, and the promise of its shares."""

    references: Sequence[ReferenceMargin] = ()
    bounds: Sequence[Bound] = ()
    promise: Promise | None = None


def render_widget(widget: QWidget, scale: float) -> QPixmap:
    """Return a picture of a widget, at `scale` pixels to one of the screen."""
    pixmap = QPixmap(widget.size() * scale)
    pixmap.setDevicePixelRatio(scale)
    widget.render(pixmap)
    return pixmap


class RunView(QWidget):
    """View of one run at one frame. Without content it shows the sentence of `_absence`.

    `values_requested`: slow values are needed; `on_values` is called when new ones are computed.
    """

    shows: ClassVar[tuple[str, ...]] = ()
    on_plane: ClassVar[bool] = False  # True if it shows the chosen plane
    # True if its ranges can be linked with the same view of other runs.
    links: ClassVar[bool] = False

    node_hovered = Signal(int)  # -1: none
    node_clicked = Signal(int)  # -1: the background
    nodes_selected = Signal(object)  # frozenset[int]
    moment_clicked = Signal(float)  # in the schedule's coordinate
    values_requested = Signal()
    menu_requested = Signal(QPoint)  # position on the screen
    range_changed = Signal()  # the range is another one
    least_size_changed = Signal()
    zoomed = Signal()

    def __init__(
        self, palette: Palette, title: str, parent: QWidget | None = None, **options: Any
    ) -> None:
        """`options` are those of the plot."""
        super().__init__(parent)
        self._palette = palette
        # Palette and font of the last painting.
        self._painted_style: tuple[Palette, str] | None = None
        self.data: DisplayData | None = None
        self.frame = -1
        self.notes: tuple[MomentNote, ...] = ()
        self._absent = ""
        self._hovered, self._pinned = -1, frozenset[int]()
        self.header = ViewHeader(palette, title, movable=True)
        self.plot = Plot(palette, **options)
        for part in (self.header, self.plot):
            part.menu_requested.connect(self.menu_requested)
        self.focus = PlotFocus(self.plot)
        self.focus.menu_requested.connect(self.plot.request_menu)
        self._heading = ""
        self._describe()
        self.plot.home_changed.connect(self.range_changed)
        self.plot.zoomed.connect(self.zoomed)
        self.plot.hovered.connect(self._point)
        self.plot.pointer_left.connect(self._point_nowhere)
        add_all(space(QVBoxLayout(self), spacing=0), self.header, (self.plot, 1))
        self._above: RunView | None = None
        self._below: RunView | None = None
        self.set_column(None, None)

    # ---------------------------------------------------------------------------------- column

    def set_column(self, above: RunView | None, below: RunView | None) -> None:
        """Set the same view of the run above, and of the lowest run; None at the rim of a column.

        The uppermost one shows the title, and the lowest one the name of the horizontal axis.
        """
        self._above, self._below = above, below
        self.header.set_row(above is None, above.header if above is not None else None)
        self._set_least_size()
        self.show_axis_title()

    def _set_least_size(self) -> None:
        """Set the least legible size of the plot."""
        before = self.plot.minimumHeight()
        height = self._least_plot_height() + (
            0 if self._below is not None else self._title_height()
        )
        self.plot.setMinimumSize(LEAST_PLOT[0], height)
        if before != height:
            self.least_size_changed.emit()

    def _least_plot_height(self) -> int:
        return LEAST_PLOT[1]

    def show_axis_title(self) -> None:
        """Name the horizontal axis, unless it is that of the lowest run."""
        axis, below = self.plot.bottom, self._below
        self.plot.set_axis_title(below is None or not axis.has_same_quantity(below.plot.bottom))

    def _title_height(self) -> int:
        return math.ceil(title_height(self.plot.lettering()[0]))

    @property
    def least_height(self) -> int:
        """Least legible height of the plot in pixels."""
        return self.header.sizeHint().height() + int(self.plot.minimumHeight())

    def render_picture(self, scale: float) -> QPixmap:
        """Return the view with its title and axes, at `scale` pixels per screen pixel."""
        column = self._above, self._below
        self.set_column(None, None)
        self._lay_out_now()
        pixmap = render_widget(self, scale)
        self.set_column(*column)
        self._lay_out_now()
        return pixmap

    def _lay_out_now(self) -> None:
        layout = self.layout()
        assert layout is not None
        layout.activate()

    # --------------------------------------------------------------------------------- content

    def set_data(self, data: DisplayData | None) -> None:
        """Show another run, or none; its first frame is drawn by `show_frame`."""
        if self.data is not None:
            self._withdraw_requests(self.data)
        self.data, self.frame = data, -1
        self._absent = self._absence(data) if data is not None else ""
        self.plot.reset_range()  # a zoom belonged to the previous run
        self.plot.set_common(None)
        self.header.set_key()
        self._clear()
        self.plot.set_bare(bool(self._absent))
        self.plot.set_overlay(Overlay(note=self._absent))
        self._fit()
        self._describe()
        self.range_changed.emit()

    def set_heading(self, heading: str) -> None:
        """Set the run's name for screen readers."""
        self._heading = heading
        self._describe()

    def set_options(self, options: Intent) -> None:
        """Show the options; a view that already shows them draws nothing."""
        self.plot.set_always_equal(options.equal)

    @property
    def extents(self) -> Mapping[str, Extent]:
        """Extents of the quantities with their own axes, by name."""
        return {}

    def set_common_extents(self, extents: Mapping[str, Extent]) -> None:
        """Set the extents that axes must contain because other runs share them."""

    def set_theory(self, theory: ShownTheory) -> None:
        """Show results of theory, in views with a place for them (RunPanel.set_theory)."""

    def set_notes(self, notes: tuple[MomentNote, ...]) -> None:
        """Show the notes of the run, in views with a place for them."""
        if notes != self.notes:
            self.notes = notes
            if self.data is not None and self.frame >= 0 and not self._absent:
                self._mark_nodes(self.data)

    def draft_note(self, place: QPoint) -> MomentNote | None:
        """Return a note without text at the curve point nearest to a position on the screen."""
        return None

    def redraw(self) -> None:
        """Update the ranges, and redraw the frame, whose scale may have changed."""
        self.redraw_at(self.frame)

    def redraw_at(self, frame: int) -> None:
        """Update the ranges, and draw a frame once."""
        self.frame = -1
        self._fit()
        if frame >= 0:
            self.show_frame(frame)
        self.range_changed.emit()  # the axes may show another quantity in the same range

    def set_colours(self, palette: Palette) -> None:
        """Redraw everything if the palette or the font changed."""
        style = (palette, self.font().toString())
        if style == self._painted_style:
            return
        self._painted_style = style
        self._palette = palette
        self.plot.set_colours(palette)
        self.header.set_colours(palette)
        self._recolour()
        self.set_column(self._above, self._below)  # the font may have changed
        self.redraw()

    def show_frame(self, frame: int) -> None:
        """Show the moment of a frame."""
        data = self.data
        if data is None or frame == self.frame or not 0 <= frame < data.frames:
            return
        self.frame = frame
        if not self._absent:
            self._show(data, frame)
        self._describe()

    def set_marked(self, hovered: int, pinned: frozenset[int]) -> None:
        """Mark neurons as hovered (-1: none) and pinned."""
        self._hovered, self._pinned = hovered, pinned
        if self.data is not None and self.frame >= 0 and not self._absent:
            self._mark_nodes(self.data)
            self._describe()

    @property
    def shows_something(self) -> bool:
        """True if the run has frames that this view can show."""
        return self.data is not None and self.data.frames > 0 and not self._absent

    def region(self) -> tuple[float, float, float, float]:
        """Return left, right, bottom and top of the range shown (core.figures.options.Region)."""
        view_range = self.plot.visible_range()
        return view_range.left(), view_range.right(), view_range.top(), view_range.bottom()

    def help_topics(self) -> tuple[str, ...]:
        """Return the names of the shown quantities, as in core.observables.registry."""
        return self.shows

    def numbers(self) -> Numbers:
        """Return the drawn numbers of the frame; nothing without a frame."""
        return self._drawn_numbers(self.data) if self.shows_something and self.data else ()

    def _drawn_numbers(self, data: DisplayData) -> Numbers:
        names = (str(self.plot.bottom.labelText), str(self.plot.side.labelText))
        return tuple(zip(names, self.plot.points.T, strict=True))

    def draw_pending(self, frame: int, grown: bool) -> bool:
        """Show a frame (-1: none), fit the ranges if the run grew, and draw new values.

        Return whether anything had to be drawn.
        """
        stale = grown or frame not in (-1, self.frame)
        if grown:
            self.redraw_at(frame)
        elif stale:
            self.show_frame(frame)
        return self.on_values() or stale

    def on_values(self) -> bool:
        """Draw requested numbers that have arrived; return True if there were any."""
        return False

    def _fit(self) -> None:
        """Fit the ranges to the frames that are read, unless nothing is shown."""
        data = self.data
        if data is not None and data.frames > 0 and not self._absent:
            self.refit(data)

    def _describe(self) -> None:
        """Describe the plot for screen readers, with its texts."""
        self.plot.setAccessibleName(", ".join(filter(None, (self.header.title, self._heading))))
        data, overlay = self.data, self.plot.overlay
        texts = [overlay.note]
        if data is not None and 0 <= self.frame < data.frames:
            texts.insert(0, time_text(float(data.log10_time[self.frame]), data.run.counts_steps))
            texts += [overlay.corner[0]] if overlay.corner else []
            readings = [one.text for one in overlay.readings if math.isfinite(one.value)]
            texts += readings or [self.header.key]
            texts += [mark.words for mark in overlay.marks]
        self.plot.setAccessibleDescription("; ".join(filter(None, texts)))

    # ----------------------------------------------------------------------------- the pointer

    def _point(self, x: float, y: float) -> None:
        can_point = self.data is not None and self.frame >= 0 and not self._absent
        self._set_readout(self._readout_at(x, y) if can_point else None)

    def _point_nowhere(self) -> None:
        self._set_readout(None)

    def _set_readout(self, pointed: HoverReadout | None) -> None:
        if pointed != self.plot.overlay.pointed:
            self.plot.set_overlay(replace(self.plot.overlay, pointed=pointed))

    def _readout_at(self, x: float, y: float) -> HoverReadout | None:
        """Return the reading at a pixel; views of neurons mark the neuron instead."""
        return None

    # ------------------------------------------------------------------- to implement by each view

    @abstractmethod
    def refit(self, data: DisplayData) -> None:
        """Update the range, the key and everything that depends on all frames read so far."""

    @abstractmethod
    def _show(self, data: DisplayData, frame: int) -> None:
        """Draw a frame."""

    @abstractmethod
    def _clear(self) -> None:
        """Draw nothing."""

    def _absence(self, data: DisplayData) -> str:
        """Return why a run has nothing to show; "" otherwise."""
        return ""

    def _withdraw_requests(self, data: DisplayData) -> None:
        """Withdraw all requests for numbers of a run."""

    def _recolour(self) -> None:
        """Rebuild everything with palette colours that belongs to no frame."""

    def _mark_nodes(self, data: DisplayData) -> None:
        """Show the hovered and pinned neurons."""
