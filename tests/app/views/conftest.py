"""A recorded run for the views, and a panel that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.run_panel import RunPanel
from core.figures.palette import LIGHT
from core.runs import open_run
from tests.app.options import show_frame
from tests.recording import recorded

FRAMES = 60


@pytest.fixture(scope="session")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return Figure 1's run with 16 nodes and 60 frames."""
    path = tmp_path_factory.mktemp("views") / "run.msrun"
    recorded(path, f"recording.frames={FRAMES}")
    return path


@pytest.fixture
def data(run_file: Path) -> Iterator[DisplayData]:
    with open_run(run_file) as run:
        shown = DisplayData(run)
        while not shown.complete:
            shown.update()
        yield shown


@pytest.fixture
def panel(qtbot: QtBot, data: DisplayData) -> RunPanel:
    """Return a visible panel nine frames before the last."""
    panel = RunPanel(LIGHT)
    qtbot.addWidget(panel)
    panel.resize(900, 800)
    panel.set_data(data, "m = 16")
    panel.show()
    qtbot.waitExposed(panel)
    show_frame(panel, data.frames - 10)
    return panel
