"""Content of the viewer in a browser, against the exported page of the same run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.figures.options import FigureOptions, ViewOptions
from core.figures.page import page_html
from core.figures.page_encoding import pieces
from core.figures.viewer import QUANTITIES, VIEWS
from core.runs import open_run
from tests.figures.test_viewer_numbers import random_run
from tests.networks import Case, at_a_random_point, small_problem
from tests.support.browser import Browser, browser, browser_path
from tests.support.made_up_runs import run_file
from tests.support.pages import data_of, flat
from tests.support.viewer import READY, numbers_of, write_probe

PROGRAM = browser_path()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
CLOSE = 1e-5  # digits of nodes on pages
# What the page of nodes states for its own reader: it has ticks of its own at every moment.
NODES = ("name", "ticks")
RUNS: dict[str, tuple[str, ...]] = {
    "figure 1": (),
    "one node": ("network.m=1",),
    "many examples": ("data.n=200", "data.d=3"),
    "one coordinate": ("data.d=1", "data.k=1", "data.n=3", "data.seed=1"),
    "far": ("dynamics.until_log10_time=10000",),
    "marks": ("recording.log10_times=[0.5,1.25,3]",),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        one.open(write_probe(tmp_path_factory.mktemp("probe") / "probe.html"), READY)
        yield one


def is_text(value: Any) -> bool:
    """Return True for pieces of a text: lists of a text and a style."""
    return isinstance(value, list) and all(
        isinstance(one, list | tuple) and len(one) == 2 and isinstance(one[1], str) for one in value
    )


def is_numeric(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(is_numeric(one) for one in value)
    return isinstance(value, int | float | np.ndarray) and not isinstance(value, bool)


def differences(own: Any, wanted: Any, place: str = "") -> Iterator[str]:
    """Yield the places where the viewer's content is not that of the page."""
    if isinstance(wanted, dict):
        for key in set(wanted) - set(NODES if "neurons" in place else ()):
            yield from differences(own.get(key), wanted[key], f"{place}.{key}")
    elif isinstance(wanted, list) and not is_numeric(wanted) and not is_text(wanted):
        if len(own) != len(wanted):
            yield f"{place}: {len(own)} for {len(wanted)}"
        for k, pair in enumerate(zip(own, wanted, strict=False)):
            yield from differences(*pair, f"{place}[{k}]")
    elif not is_same(own, wanted):
        yield f"{place}: {own!r} for {wanted!r}"


def is_same(own: Any, wanted: Any) -> bool:
    if is_numeric(wanted):
        left, right = (np.ravel(np.array(one, dtype=np.float64)) for one in (own, wanted))
        return left.shape == right.shape and np.allclose(
            left, right, rtol=CLOSE, atol=CLOSE * 1e-3, equal_nan=True
        )
    if is_text(wanted):
        return flat(own) == flat(wanted)
    return bool(own == wanted)


def compare(page: Browser, path: Path) -> list[str]:
    """Return where the content of the viewer differs from that of the exported page."""
    own = numbers_of(page, path)["content"]
    with open_run(path) as run:
        view = ViewOptions(curves=QUANTITIES)
        wanted = data_of(page_html([run], VIEWS, FigureOptions(view=view)))
        title = pieces(run.title)
    assert flat(own["title"]) == (flat(title) or "Marginscope")
    (row,), (wanted_row,) = own["rows"], wanted["rows"]
    for panels in (row["panels"], wanted_row["panels"]):
        for kind in {"margins", "curves"} & set(panels):
            states, notes = (panels[kind].pop(key) for key in ("state", "notes"))
            panels[kind]["said"] = [notes[int(k)].replace("$", "") for k in np.ravel(states)]
    assert own["kinds"] == wanted["kinds"] == list(row["panels"])
    found = list(differences(row["panels"], wanted_row["panels"], "panels"))
    found += differences(own["moments"], wanted["moments"], "moments")
    found += differences(own["themes"], wanted["themes"], "themes")
    found += differences(
        [pair[1] for pair in own["caption"]], [pair[1] for pair in wanted["caption"]]
    )
    plain = {key: wanted_row[key] for key in ("heading", "at", "stops", "m")}
    found += differences(row, plain, "row")
    nodes = {key: one for key, one in wanted_row["nodes"].items() if key not in ("points", "reach")}
    found += differences(row["nodes"], nodes, "nodes")
    shares, reach = wanted_row["nodes"]["points"], wanted_row["nodes"]["reach"]
    places = shares.astype(np.float64) * reach[:, None, None]
    largest = np.abs(places).max(axis=(1, 2), keepdims=True)
    own_places = row["nodes"]["points"].reshape(places.shape)
    if not (np.abs(own_places - places) <= CLOSE * largest).all():
        found.append("places of the nodes")
    return found


@pytest.mark.parametrize("name", RUNS)
def test_the_figure_is_that_of_the_exported_page(name: str, page: Browser, tmp_path: Path) -> None:
    assert compare(page, run_file(tmp_path / "a.msrun", *RUNS[name])) == []


@pytest.mark.parametrize(
    "case",
    [
        Case("multiclass", "cross_entropy", 3),
        Case("quadratic", "cross_entropy", 3),
        Case("fixed_outer", "exponential"),
        Case("batch_norm"),
        Case("normalised"),
    ],
    ids=str,
)
def test_networks_have_their_colours_and_captions(
    case: Case, page: Browser, tmp_path: Path
) -> None:
    problem, _ = at_a_random_point(small_problem(case))
    assert compare(page, random_run(tmp_path / "a.msrun", problem)) == []
