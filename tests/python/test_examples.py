"""The examples of docs/examples: each is run as it stands, and says what another route says."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from html import escape
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

import marginscope as ms
from tests.support.pages import data_of, flat

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NOTEBOOK = EXAMPLES / "figure_1.ipynb"


def imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


# A script whose libraries are not installed is not collected as it is; that of JAX is run below
# with a library that stands in for it, whatever is installed.
COMPLETE = [path for path in SCRIPTS if all(map(find_spec, imported(path)))]


def run(code: str | Path, folder: Path, *paths: Path) -> str:
    """Return what a script prints, run in a folder; nothing may go to standard error."""
    given = [str(code)] if isinstance(code, Path) else ["-c", code]
    path = os.pathsep.join(map(str, (*paths, ROOT)))
    done = subprocess.run(
        [sys.executable, *given],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text("utf-8")
    assert 30 <= len(text.splitlines()) <= 60
    assert ast.get_docstring(ast.parse(text)) and text.count("#") >= 2
    assert imported(path) <= {"marginscope", "numpy", "torch", "jax", "pathlib"}


@pytest.mark.slow
@pytest.mark.parametrize("path", COMPLETE, ids=lambda path: path.stem)
def test_an_example_runs_twice(path: Path, tmp_path: Path) -> None:
    """The second time what the first has left lies in its way."""
    first = run(path, tmp_path)
    assert first == run(path, tmp_path)
    (recorded,) = tmp_path.glob("*.msrun")
    with ms.open(recorded) as opened:
        assert opened.status == "completed" and len(opened) > 20
        assert repr(opened) in first
        assert np.isfinite(opened["risk"]).all()
        assert opened["risk"][-1] < 0.2 * opened["risk"][0]


@pytest.mark.slow
def test_the_loop_of_pytorch_is_judged(tmp_path: Path) -> None:
    """Its last frame is what PyTorch comes to, and its margin that of the weights by NumPy."""
    out = run(EXAMPLES / "pytorch_loop.py", tmp_path)
    assert "<gamma_gl = " in out and "telgarsky22" in out
    assert (tmp_path / "pytorch.png").read_bytes().startswith(b"\x89PNG")
    with ms.open(tmp_path / "pytorch.msrun") as run_:
        last = run_.frame(-1)
        f = np.maximum(run_.x @ last.V.T, 0.0) @ last.a
        size = np.sum(last.V**2) + np.sum(last.a**2)
        assert run_["hard_margin"][-1] == pytest.approx(np.min(run_.y * f) / size, rel=1e-5)
        assert (last.step, last.t) == (1000, pytest.approx(500.0))
        reached = run_["hard_margin"][-1] / (run_.margins()["gamma_gl"].upper / 2)
        assert f"reached: {reached:.0%} of gamma_gl / 2" in out


@pytest.mark.slow
def test_checkpoints_are_frames(tmp_path: Path) -> None:
    run(EXAMPLES / "checkpoints.py", tmp_path)
    with ms.open(tmp_path / "checkpoints.msrun") as run_:
        assert run_.steps.tolist() == list(range(0, 401, 20))
        for frame in run_:
            file = tmp_path / "checkpoints" / f"{frame.step:05}.pt"
            state = torch.load(file, weights_only=True)["model"]
            assert np.array_equal(frame.V, state["0.weight"].numpy())
            assert np.array_equal(frame.weights["c"], state["2.bias"].numpy())


# ----------------------------------------------------------------------------------------- JAX

STAND_IN = '''
"""As much of JAX as the example uses, by NumPy: gradients by central differences."""

import sys
import types

import numpy as np

numpy = sys.modules["jax.numpy"] = np


def jit(function):
    return function


def grad(function):
    def slopes(weights):
        found = {}
        for name, array in weights.items():
            found[name] = np.zeros_like(array)
            for place in np.ndindex(array.shape):
                ends = []
                for h in (1e-6, -1e-6):
                    moved = array.copy()
                    moved[place] += h
                    ends.append(function({**weights, name: moved}))
                found[name][place] = (ends[0] - ends[1]) / 2e-6
        return found

    return slopes


random = types.ModuleType("jax.random")
random.PRNGKey = np.random.SeedSequence
random.split = lambda key, count: key.spawn(count)
random.bernoulli = lambda key, p, shape: np.random.default_rng(key).random(shape) < p
random.normal = lambda key, shape: np.random.default_rng(key).standard_normal(shape)
sys.modules["jax.random"] = random
'''


@pytest.mark.slow
def test_the_loop_of_jax_runs_with_a_library_in_its_place(tmp_path: Path) -> None:
    """And its steps are those of gradients by hand, but for two at a kink at most."""
    (tmp_path / "jax.py").write_text(STAND_IN)
    out = run(EXAMPLES / "jax_loop.py", tmp_path, tmp_path)
    with ms.open(tmp_path / "jax.msrun") as run_:
        assert repr(run_) in out
        frames, x, y = list(run_), run_.x, run_.y
        off = []
        for one, two in pairwise(frames):
            if two.step != one.step + 1:
                continue
            z = one.V @ x.T
            q = y / (1.0 + np.exp(y * (one.a @ np.maximum(z, 0.0)))) / y.size
            V = one.V + 0.5 * ((z > 0.0) * one.a[:, None] * q) @ x
            a = one.a + 0.5 * np.maximum(z, 0.0) @ q
            off.append(max(np.abs(two.V - V).max(), np.abs(two.a - a).max()))
        assert len(off) > 40 and frames[-1].step == 300
        # Within a millionth of a kink central differences see half of both sides.
        assert sum(error > 1e-7 for error in off) <= 2


# ------------------------------------------------------------------------------------ notebook

SHOW = """
def _show(value):
    for name in ("_repr_html_", "_repr_png_"):
        told = getattr(value, name, lambda: None)()
        if told is not None:
            return print(name, len(told))
    print(repr(value))
"""


def cells() -> list[str]:
    book = json.loads(NOTEBOOK.read_text("utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(ids) == len(set(ids))
    for cell in book["cells"]:
        assert cell["cell_type"] in ("markdown", "code")
        assert cell.get("outputs", []) == []  # what is kept is what was written by hand
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]


def shown(cell: str) -> str:
    """Return a cell as a kernel runs it: the value of its last line is shown."""
    tree = ast.parse(cell)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.parse(f"_show({ast.unparse(last.value)})").body[0]
    return ast.unparse(tree)


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path) -> None:
    out = run("\n".join([SHOW, *map(shown, cells())]), tmp_path)
    assert (tmp_path / "figure-1.pdf").read_bytes().startswith(b"%PDF")
    page = (tmp_path / "figure-1.html").read_text("utf-8")
    assert [flat(row["heading"]) for row in data_of(page)["rows"]] == ["m = 16", "m = 256"]
    sizes = [int(size) for size in re.findall(r"_repr_html_ (\d+)", out)]
    assert 0 < max(sizes) - len(escape(page)) < 500  # of the frame around it
    for part in ("_repr_html_ ", "m = 16: hard margin", "<gamma_gl = ", "telgarsky22, Lemma"):
        assert part in out, out
