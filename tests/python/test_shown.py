"""What a run looks like: figures, notebooks, tables of other libraries."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.run_files.frame import Frame
from core.runs import Recorder
from tests.python.small import FIGURE_1, NOT_SHOWN, SHORT, WIDTHS, command, trained, typed, written
from tests.support.loops import loop
from tests.support.made_up_figures import problem_of

pytestmark = pytest.mark.usefixtures("few_directions")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ms.Run]:
    with trained(path=tmp_path_factory.mktemp("run") / "a.msrun") as one:
        yield one


def test_a_figure_is_that_of_the_command_line(run: ms.Run, tmp_path: Path) -> None:
    small = {"panels": ["margins"], "dpi": 60}
    for suffix in ("svg", "png"):
        out, words = tmp_path / f"a.{suffix}", ("--panels", "margins", "--dpi", 60)
        assert command("figure", run.path, "--out", out, *words) == 0
        theirs = out.read_bytes()
        assert ms.figure(run, kind=suffix, **small) == theirs
        assert ms.figure(run, tmp_path / f"b.{suffix}", **small) == tmp_path / f"b.{suffix}"
        assert (tmp_path / f"b.{suffix}").read_bytes() == theirs
    assert run.figure(**small) == ms.figure(run.path, **small) == theirs
    assert command("figure", run.path, "--out", tmp_path / "c.png", "--dpi", 60) == 0
    assert run.figure(dpi=60) == (tmp_path / "c.png").read_bytes()


def test_options_are_those_of_the_command_line(run: ms.Run, tmp_path: Path) -> None:
    told = ["--panels", "curves,margins", "--until", "10^0.5", "--size", "85mm", "--dark"]
    told += ["--curves", "log10_risk,distance", "--against", "step", "--margins", "gamma_gl"]
    out = tmp_path / "a.svg"
    assert command("figure", run.path, "--out", out, "--no-caption", "--quiet", *told) == 0
    mine = run.figure(
        kind="svg",
        dark=True,
        panels=["curves", "margins"],
        until="10^0.5",
        width_mm=85,
        curves=("log10_risk", "distance"),
        against="step",
        margins="gamma_gl",
        caption=False,
    )
    assert mine == out.read_bytes()
    assert mine == run.figure(
        kind="svg",
        dark=True,
        panels=["curves", "margins"],
        until=10.0**0.5,
        width_mm=85,
        against="step",
        margins=["gamma_gl"],
        caption=False,
    )


LAYOUT = """
[[figure.panels]]
kind = "traces"
x = "t"
y = "risk"
"""


def test_studies_sweeps_and_folders_are_drawn_as_their_layout_says(tmp_path: Path) -> None:
    file = written(tmp_path / "mine.toml", LAYOUT)
    runs = tmp_path / "runs"
    assert command("run", file, "--out", runs, "--quiet") == 0
    assert command("figure", runs, "--out", tmp_path / "a.svg", "--quiet") == 0
    wanted = (tmp_path / "a.svg").read_bytes()
    assert ms.figure(runs, kind="svg") == wanted
    assert ms.figure(ms.sweep(file, out=runs, workers=1), kind="svg") == wanted
    assert b"risk" in ms.figure(file, kind="svg")
    assert ms.figure(runs, kind="svg", panels=["margins"]) != wanted


def test_a_study_is_trained_for_its_figure(tmp_path: Path) -> None:
    study = ms.study(FIGURE_1, **WIDTHS)
    out = tmp_path / "runs"
    assert command("run", FIGURE_1, "--out", out, "--quiet", *typed(WIDTHS)) == 0
    both = sorted(out.glob("*.msrun"))
    words = ("--panels", "margins", "--quiet")
    assert command("figure", *both, "--out", tmp_path / "a.svg", *words) == 0
    assert ms.figure(study, kind="svg", panels=["margins"]) == (tmp_path / "a.svg").read_bytes()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"panels": ["x"]}, "The panels x: choose one or more of neurons"),
        ({"curves": ["rsk"]}, "The curve 'rsk' does not exist; did you mean 'risk'"),
        ({"unti": 3}, "figure has no option 'unti'; did you mean 'until'"),
        ({"until": "soon"}, "until = 'soon' is not a time"),
        ({"until": float("nan")}, "until = nan is not a time"),
        ({"margins": ["x"]}, "'x' is not a reference margin"),
        ({"kind": "gif"}, "kind = 'gif'; choose 'png', 'svg' or 'pdf'"),
        ({"dpi": 1}, "The resolution cannot be 1 dots"),
        ({"dpi": 2400, "width_mm": 900, "height_mm": 900}, "lower the resolution or write a .pdf"),
        ({"against": "x"}, "The axis of curves is one of"),
        ({"plane": "x"}, "is not a plane"),
        ({"width_mm": 1}, "A figure cannot be 1 mm wide"),
    ],
)
def test_what_is_wrong_with_a_figure_is_a_sentence(
    options: dict[str, Any], sentence: str, run: ms.Run
) -> None:
    with pytest.raises(ms.InputError, match=sentence) as caught:
        ms.figure(run, **options)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(("shown", "sentence"), NOT_SHOWN)
def test_what_cannot_be_drawn_is_a_sentence(shown: Any, sentence: str) -> None:
    with pytest.raises(ms.InputError, match=sentence):
        ms.figure(shown)


def test_another_ending_is_a_sentence(run: ms.Run, tmp_path: Path) -> None:
    with pytest.raises(ms.InputError, match="must end in"):
        ms.figure(run, tmp_path / "a.gif")


# ----------------------------------------------------------------------------------- notebooks


class Seen(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += f"{data}\n"


def test_a_run_shows_itself_in_a_notebook(run: ms.Run) -> None:
    page = run._repr_html_()
    seen = Seen(page)
    assert set(seen.tags) == {"table", "tr", "th", "td", "img"}
    for part in ("Telgarsky 2022, Figure 1", "standard, m = 8", "n = 16, d = 4", "completed"):
        assert part in seen.text
    assert f"hard_margin = {run['hard_margin'][-1]:.4g}" in seen.text
    (data,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", page)
    assert base64.b64decode(data) == run._repr_png_()
    png = run._repr_png_()
    assert png is not None and png.startswith(b"\x89PNG")


def test_a_run_of_real_targets_shows_itself(tmp_path: Path) -> None:
    one, path = loop(), tmp_path / "a.msrun"
    told = {"loss": "least_squares", "targets": "real", "V0": one.V, "a0": one.a}
    with ms.record(path, one.x, np.linspace(-1.0, 1.0, one.y.size), **told) as r:
        r.frame(1, V=1.1 * one.V, a=one.a)
    with ms.open(path) as run:
        text = Seen(run._repr_html_()).text  # raised InputError: it has no 'hard_margin'
        assert f"risk = {run['risk'][-1]:.4g}\n" in text and "train_error" not in text


def test_a_time_beyond_floats_is_shown_as_a_power(tmp_path: Path) -> None:
    path, problem = tmp_path / "a.msrun", problem_of("dynamics.until_log10_time=400")
    recorder = Recorder(path, problem, engine="tests", planned=2, temperature_cap=None)
    flat = problem.start.parameters / np.linalg.norm(problem.start.parameters)
    recorder.append([Frame(0, -np.inf, 0.0, flat), Frame(1, 400.0, 9.0, flat)])
    recorder.finish("completed")
    with ms.open(path) as run:
        run._still = (len(run), b"drawn")  # the figure is not what is looked at
        assert "2 frames to t = 10^400\n" in Seen(run._repr_html_()).text  # "t = inf"


def test_titles_from_strangers_are_text(tmp_path: Path) -> None:
    one = loop()
    told = {"title": '<script>alert("x")</script>"><img onerror=1>'}
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", V0=one.V, a0=one.a, **told):
        pass
    with ms.open(tmp_path / "a.msrun") as run:
        page = run._repr_html_()
        assert "<script" not in page and "<img onerror" not in page
        assert told["title"] in Seen(page).text


# -------------------------------------------------------------------------------------- tables


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Install a fake library that stores its arguments."""
    module = ModuleType(name)
    module.DataFrame = lambda columns, index=None: {"columns": columns, "index": index}
    module.RangeIndex = lambda count, name: (count, name)
    module.Dataset = lambda values, coords, attrs: {"v": values, "c": coords, "a": attrs}
    monkeypatch.setitem(sys.modules, name, module)


def test_frames_as_a_table_of_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "pandas")
    run = trained()
    made = run.to_pandas()
    assert made["index"] == (len(run), "frame")
    columns = made["columns"]
    assert list(columns)[:3] == ["t", "log10_t", "step"]
    assert {"risk", "hard_margin"} < set(columns)
    assert all(np.shape(values) == (len(run),) for values in columns.values())
    for name in ("risk", "hard_margin"):
        assert np.array_equal(columns[name], run[name])
    assert list(run.to_pandas(["risk"])["columns"]) == ["t", "log10_t", "step", "risk"]
    with pytest.raises(ms.InputError, match="did you mean 'risk'"):
        run.to_pandas(["rsk"])
    sweep = ms.sweep(FIGURE_1, workers=1, **SHORT)
    assert sweep.to_pandas()["columns"] == sweep.table()


def test_frames_as_a_dataset_of_xarray(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "xarray")
    run = trained()
    made = run.to_xarray()
    sizes = {"frame": len(run), "node": 8, "coordinate": 4, "example": 16}
    for name, (axes, values) in made["v"].items():
        assert np.shape(values) == tuple(sizes[axis] for axis in axes), name
    assert made["v"]["V"][0] == ("frame", "node", "coordinate")
    assert np.array_equal(made["v"]["a"][1], run.a)
    assert np.array_equal(made["c"]["t"][1], run.t)
    assert made["a"]["status"] == "completed"


@pytest.mark.parametrize("name", ["pandas", "xarray"])
def test_a_library_that_is_not_there_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    run = trained()
    with pytest.raises(ms.InputError, match=f"to_{name} needs {name}.*pip install {name}"):
        getattr(run, f"to_{name}")()
