"""The process that draws the figures of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.figures.figure_beside import FigureDrawer


@pytest.fixture(scope="package")
def pen() -> Iterator[FigureDrawer]:
    """Return a started figure process, for tests about windows: a start costs a second."""
    pen = FigureDrawer()
    pen.begin()
    yield pen
    pen.end()


@pytest.fixture
def drawn_by_one(controller, pen: FigureDrawer) -> Iterator[None]:
    """Have the figures of a test's `controller` drawn by that process."""
    controller.drawer._drawer = pen
    yield
    controller.drawer._drawer = None  # else it would be ended with the controller
