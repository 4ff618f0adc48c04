"""Figures and films beside a selection: the others are dim, and the caption says what is chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.figures.film import film_frames
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT, dim_colours
from core.figures.primitives import FigureScene, Panel, PanelContent
from core.figures.scene import build_scene
from core.library.entry import RunNotes
from core.library.run_notes import change_about
from core.observables.node_sets import NodeSet, nodes_text, parse_nodes
from core.runs import Run, open_run
from tests.recording import recorded

NODES = frozenset({0, 3, 7})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    path = tmp_path / "a.msrun"
    recorded(path, "network.m=10", "data.d=4", "data.n=8", "recording.frames=20")
    return open_run(path)


def panel(scene: FigureScene, kind: str) -> Panel:
    return next(one for one in scene.panels if one.kind == kind)


def test_the_others_are_dim_on_paper(run: Run) -> None:
    plain, chosen = (
        build_scene([run], options=FigureOptions(selected=given))
        for given in ((), [NodeSet("early", NODES)])
    )
    before, after = (panel(scene, "neurons").ink for scene in (plain, chosen))
    marks = {tuple(point): colour for point, colour in _nodes(before)}
    places = np.array([point for point, _ in _nodes(after)])
    for position, (point, colour) in enumerate(_nodes(after)):
        bright = colour == marks[point]
        # Those that are dim are drawn first.
        assert bright == (position >= 7)
        if not bright:
            faint = dim_colours(np.array([marks[point]], dtype=np.uint8), LIGHT)[0]
            assert colour == tuple(faint.tolist())
    assert len({tuple(place) for place in places}) == 10
    norms = panel(chosen, "norms").ink.dots[-1]
    from core.observables.nodes import relative_norm

    wanted = relative_norm(run, run.frames - 1)
    ranks = wanted.argsort().argsort() + 1.0
    assert sorted(norms.y) == pytest.approx(sorted(wanted[sorted(NODES)]))
    assert sorted(norms.x) == pytest.approx(sorted(ranks[sorted(NODES)] / 10.0))
    words = " ".join(text.text for text in chosen.texts)
    assert "3 of 10 neurons (early)" in words.replace("\n", " ")
    assert "Selected" not in " ".join(text.text for text in plain.texts)


def _nodes(ink: PanelContent) -> list[tuple[tuple[float, float], tuple[int, ...]]]:
    dots = ink.dots[-1]
    assert dots.name == "nodes"
    return [
        ((float(x), float(y)), tuple(int(part) for part in colour))
        for x, y, colour in zip(dots.x, dots.y, dots.colours, strict=True)
    ]


@pytest.mark.parametrize("kind", ["neurons", "norms"])
def test_a_film_is_dim_as_well(run: Run, kind: str) -> None:
    films = [
        list(film_frames([run], kind, 2, (200, 160), FigureOptions(LIGHT, selected=given)))
        for given in ((), [NodeSet("", NODES)], [None])
    ]
    plain, chosen, none = (np.array(film, dtype=np.int64) for film in films)
    assert (plain == none).all()
    # Less ink: what is dim is nearer to the white ground.
    assert chosen.sum() > plain.sum()


def test_the_command_takes_a_name_or_nodes(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_about(run.path, lambda _: RunNotes(sets=(NodeSet("early", NODES),)))
    pictures = {}
    for text in ("early", "0,3,7", "1-2"):
        out = tmp_path / f"{len(pictures)}.svg"
        command = ["figure", str(run.path), "--panels", "neurons", "--out", str(out)]
        assert main([*command, "--select", text]) == 0
        pictures[text] = out.read_text()
    assert "early" in pictures["early"] and "early" not in pictures["0,3,7"]
    assert pictures["0,3,7"] != pictures["1-2"]
    capsys.readouterr()
    out = tmp_path / "none.svg"
    for text, words in (
        ("late", "the saved sets of these runs are early"),
        ("7-3", "starts with the smaller number"),
        ("10-12", "neurons 0 to 9"),
        ("0-9999999", "at most 100\u202f000"),
    ):
        assert main(["figure", str(run.path), "--out", str(out), "--select", text]) == 2
        assert words in capsys.readouterr().err
        assert not out.exists()


def test_nodes_are_written_and_read() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        nodes = frozenset(generator.choice(60, generator.integers(1, 60), replace=False).tolist())
        assert parse_nodes(nodes_text(nodes)) == nodes
    for text in ("", "a", "-1", "1-", "1.5", "3-1", "1,,2", "9" * 12):
        with pytest.raises(ValueError, match="neuron"):
            parse_nodes(text)
