"""How unequal the nodes are: the share of all |alpha_j| |u_j| that the largest nodes have."""

from __future__ import annotations

from typing import final

import numpy as np
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.state.views import VIEWS, ViewKind
from app.views.view import RunView
from app.widgets.items import CurveStack, path_of, pen_of
from app.widgets.plot_item import Home
from core.figures.palette import Palette
from core.observables.nodes import node_norms


@final
class SharesView(RunView):
    """The cumulated share against rank / m, the largest node first; a diagonal if all are alike."""

    shows = ("largest_share",)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, "shares of the largest nodes", parent, horizontal="rank / m")
        self.curve = self.plot.add(CurveStack())

    def _absence(self, data: DisplayData) -> str:
        return "" if data.has_nodes else "a kernel predictor has no neurons"

    def refit(self, data: DisplayData) -> None:
        self.plot.set_home(Home(0.0, 1.02, 0.0, 1.02))

    def _show(self, data: DisplayData, frame: int) -> None:
        norms = np.sort(node_norms(data.run, frame))[::-1]
        ranks = np.arange(norms.size + 1) / norms.size
        shares = np.append(0.0, np.cumsum(norms)) / max(float(norms.sum()), 1e-300)
        width = 2.0 * self.plot.devicePixelRatioF()
        pen = pen_of(self._palette.foreground, width)
        self.curve.set_curves([(path_of(ranks, shares), pen)])

    def _clear(self) -> None:
        self.curve.set_curves(())


VIEWS.add(ViewKind("shares", "Shares", SharesView))
