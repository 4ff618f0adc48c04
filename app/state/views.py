"""The views of a run by name, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any, final

from core.settings import Registry


@final
@dataclass(frozen=True, slots=True)
class ViewKind:
    """A view of a run: its name in settings, its title in the menu, and what makes the widget.

    `maker` takes (palette, parent) and gives an `app.views.view.RunView`. "module:name" is loaded
    when the view is first shown, so that the window opens before pyqtgraph and the views are there.
    """

    name: str
    title: str
    maker: str | Callable[[Any, Any], Any]

    def load(self) -> Callable[[Any, Any], Any]:
        """What makes the widget."""
        if not isinstance(self.maker, str):
            return self.maker
        module, _, name = self.maker.partition(":")
        made: Callable[[Any, Any], Any] = getattr(import_module(module), name)
        return made


# Their order is that on the screen, whatever the order in which they were chosen.
VIEWS: Registry[ViewKind] = Registry(
    attrgetter("name"),
    ViewKind("neurons", "Neurons", "app.views.neurons:NeuronsView"),
    ViewKind("rotations", "Rotations", "app.views.sorted_nodes:rotations_view"),
    ViewKind("norms", "Norms", "app.views.sorted_nodes:norms_view"),
    ViewKind("margins", "Margins", "app.views.margins:MarginsView"),
    ViewKind("curves", "Curves", "app.views.curves:CurvesView"),
    ViewKind("spectrum", "Spectrum", "app.views.spectrum:SpectrumView"),
    ViewKind("predictor", "Predictor", "app.views.predictor:PredictorView"),
)
