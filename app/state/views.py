"""Views of a run by name, in their order in the menu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, final

import app
from core.settings import Registry

if TYPE_CHECKING:
    from app.state.display import DisplayData


def _applies_always(data: DisplayData) -> bool:
    return True


def _has_nodes(data: DisplayData) -> bool:
    return data.has_nodes


def _has_margins(data: DisplayData) -> bool:
    return data.has_nodes and not data.run.dataset.real


def _has_inner(data: DisplayData) -> bool:
    return data.has_nodes and data.has_inner


def _can_turn(data: DisplayData) -> bool:
    """Return True if training turns the neurons: inner weights that are not fixed features."""
    return _has_inner(data) and not data.run.network.fixed_features


def _has_waves(data: DisplayData) -> bool:
    from core.observables.fourier import is_modular_addition

    return is_modular_addition(data.run)


def _has_kernel(data: DisplayData) -> bool:
    from core.observables.kernel_matrix import why_no_kernel

    return not why_no_kernel(data.run)


@final
@dataclass(frozen=True, slots=True)
class ViewKind:
    """View of a run: its name in settings, its title in the menu, and the maker of its widget.

    `maker` takes (palette, parent) and gives an `app.views.view.RunView`. "module:name" is loaded
    when the view is first shown, so that the window opens before pyqtgraph and the views are there.
    `fits` returns True if it has something to show of a run; `needs` names what that takes.
    """

    name: str
    title: str
    maker: str | Callable[[Any, Any], Any]
    fits: Callable[[DisplayData], bool] = _applies_always
    needs: str = ""

    def load(self) -> Callable[[Any, Any], Any]:
        """Return the factory of the widget."""
        if not isinstance(self.maker, str):
            return self.maker
        module, _, name = self.maker.partition(":")
        factory: Callable[[Any, Any], Any] = getattr(import_module(module), name)
        return factory


INNER = "Only for networks whose neurons have inner weights"
TURNING = "Only for networks with trained inner weights"
NODES = "Only for networks with neurons"
LABELS = "Only for networks with neurons and data with labels"
GRADIENTS = "Only for networks whose outputs have gradients in their weights"
ADDITION = "Only for quadratic networks on addition mod p"
# Views of the paper's figure.
FIGURE_1 = ("neurons", "rotations", "norms", "margins")
HERE = f"{app.__name__}.views"
VIEWS: Registry[ViewKind] = Registry(
    attrgetter("name"),
    ViewKind("neurons", "Neurons", f"{HERE}.neurons:NeuronsView", _has_inner, INNER),
    ViewKind("rotations", "Rotations", f"{HERE}.sorted_nodes:rotations_view", _can_turn, TURNING),
    ViewKind("norms", "Norms", f"{HERE}.sorted_nodes:norms_view", _has_nodes, NODES),
    ViewKind("margins", "Margins", f"{HERE}.margins:MarginsView", _has_margins, LABELS),
    ViewKind("curves", "Curves", f"{HERE}.curves:CurvesView", _has_nodes, NODES),
    ViewKind("spectrum", "Spectrum", f"{HERE}.curves:SpectrumView", _has_inner, INNER),
    ViewKind("predictor", "Predictor", f"{HERE}.predictor:PredictorView"),
    ViewKind("kernel", "Kernel", f"{HERE}.kernel:KernelView", _has_kernel, GRADIENTS),
    ViewKind("waves", "Waves", f"{HERE}.waves:WavesView", _has_waves, ADDITION),
    ViewKind("phases", "Phases", f"{HERE}.waves:PhasesView", _has_waves, ADDITION),
)

# Default views by the number of input coordinates.
ON_A_LINE = ("norms", "margins", "curves", "predictor")
ON_A_PLANE = ("neurons", "rotations", "margins", "predictor")
# Replacements for views that have nothing to show of a run.
NEXT = (
    *("margins", "norms", "curves", "predictor", "rotations", "neurons", "spectrum"),
    *("waves", "phases", "kernel"),
)


def known_views(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that are views, each once, in the order given."""
    return tuple(name for name in dict.fromkeys(names) if name in VIEWS)


def choose_views(wished: Sequence[str], runs: Sequence[DisplayData]) -> tuple[str, ...]:
    """Return the views for some runs: those wished by a study, or the usual ones for its data.

    Views without content for any of the runs are replaced by others.
    """
    if not runs:
        return known_views(wished) or FIGURE_1
    useful = [name for name in VIEWS if any(VIEWS[name].fits(run) for run in runs)]
    first = known_views(wished) or _default_views(runs)
    count = len(first)
    if "margins" not in useful:  # show the risk instead
        first = known_views(["curves" if name == "margins" else name for name in first])
    chosen = [name for name in first if name in useful]
    hidden_views = [
        name for name in dict.fromkeys((*NEXT, *VIEWS)) if name in useful and name not in chosen
    ]
    chosen += hidden_views[: count - len(chosen)]
    for run in runs:  # no run is left with explanatory texts only
        own = [name for name in dict.fromkeys((*NEXT, *VIEWS)) if VIEWS[name].fits(run)]
        if own and not set(own) & set(chosen):
            chosen[-1:] = own[:1]
    return known_views(chosen) or first


def _default_views(runs: Sequence[DisplayData]) -> tuple[str, ...]:
    dimensions = {run.run.dataset.d for run in runs}
    if dimensions == {1}:
        return ON_A_LINE
    return ON_A_PLANE if dimensions == {2} else FIGURE_1
