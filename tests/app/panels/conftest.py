"""A shared process that draws the figures of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.figures.export import FigureProcess


@pytest.fixture(scope="package")
def pen() -> Iterator[FigureProcess]:
    """Return a figure process started once, since a start takes a second."""
    pen = FigureProcess()
    pen.prestart()
    yield pen
    pen.stop()


@pytest.fixture
def drawn_by_one(controller, pen: FigureProcess) -> Iterator[None]:
    """Draw the figures of a test's `controller` in that process."""
    own, controller.figure_process = controller.figure_process, pen
    yield
    controller.figure_process = own  # which stops with the controller
