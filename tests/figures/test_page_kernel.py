"""Tangent kernel on a page: the cosines of figures, drawn and read in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.figures.page import page_html
from core.figures.page_data import frames_of, numbers_in
from core.figures.page_kernel import KERNEL_EXAMPLES
from core.figures.palette import LIGHT
from core.observables.kernel_matrix import example_order, kernel_cosines, thin_order
from core.runs import Run, open_run
from tests.figures.test_page_in_browser import READY, SWEEP, inked
from tests.recording import recorded
from tests.support.browser import browser, browser_path
from tests.support.pages import page_of

KINDS = ("kernel",)
PROGRAM = browser_path()
SMALL = ("data.d=6", "network.m=12", "dynamics.until_log10_time=2", "recording.frames=7")


@pytest.fixture(params=[20, 90])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    """Return a run with fewer and with more examples than a page has."""
    recorded(tmp_path / "run.msrun", f"data.n={request.param}", *SMALL)
    with open_run(tmp_path / "run.msrun") as opened:
        yield opened


def test_cosines_are_those_of_figures_to_half_a_step(run: Run) -> None:
    (row,) = page_of([run], KINDS)["rows"]
    panel = row["panels"]["kernel"]
    count = min(run.dataset.n, KERNEL_EXAMPLES)
    order = thin_order(example_order(run), KERNEL_EXAMPLES)
    assert panel["examples"] == order.examples.size == count
    assert panel["colours"][0] == [LIGHT.negative, LIGHT.positive]
    levels = np.cumsum(panel["changes"], axis=0, dtype=np.uint8)
    lower = np.tril_indices(count)
    for stop, frame in enumerate(row["stops"].astype(int).tolist()):
        wanted = kernel_cosines(run, frame)
        chosen = np.isin(example_order(run).examples, order.examples)
        shown = (levels[stop].astype(float) - 127.0) / 127.0
        assert np.abs(shown - wanted[np.ix_(chosen, chosen)][lower]).max() <= 0.5 / 127.0 + 1e-12
    labels = run.dataset.y[order.examples]
    assert panel["borders"] == (np.flatnonzero(np.diff(labels)) + 1).tolist()
    assert panel["x"]["high"] == count
    assert 4 * numbers_in([run], KINDS, frames_of([run], 400)) >= levels.size


def test_another_run_beside_says_why_it_has_none(tmp_path: Path) -> None:
    recorded(tmp_path / "run.msrun", "data.n=20", *SMALL)
    study = ("network.m=24", "run.seed=0", "data.d=4", "variant=kernel")
    recorded(tmp_path / "other.msrun", *study, study="telgarsky22-table-1")
    with open_run(tmp_path / "run.msrun") as one, open_run(tmp_path / "other.msrun") as other:
        rows = page_of([one, other], KINDS)["rows"]
    assert "changes" in rows[0]["panels"]["kernel"]
    assert "changes" not in rows[1]["panels"]["kernel"]
    assert "one kernel at all times" in rows[1]["panels"]["kernel"]["note"]


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here, in which pages are tested")
def test_a_browser_draws_the_matrix_and_reads_its_cosines(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_html([run], KINDS), encoding="utf-8")
    assert PROGRAM is not None
    with browser(PROGRAM) as page:
        page.resize(700, 600)
        page.open(path, READY)
        assert all(count > 100 for count in inked(page))
        page.value("document.querySelector('input[type=range]').focus()")
        page.press("End", number=35)
        order = thin_order(example_order(run), KERNEL_EXAMPLES)
        found = page.value(SWEEP % 0)
        assert found and all("cosine: " in words for words in found)
        readings = {words.rsplit("cosine: ", 1)[1].strip() for words in found}
        cosines = kernel_cosines(run, run.frames - 1, order)
        levels = np.rint(127.0 + 127.0 * cosines) / 127.0 - 1.0
        values = {float(words.replace("\u2212", "-")) for words in readings}
        assert len(values) > 20
        # Two digits of a cosine that is right to half a step.
        for value in values:
            assert np.abs(levels - value).min() <= 0.0051
        assert page.log == []
