"""`figure` of a folder of runs, and the layouts and claims of the shipped studies."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from core.cli.main import main
from core.errors import InputError
from core.figures.palette import LIGHT
from core.figures.study_figure import figure_of_runs, layout_of
from core.figures.study_panels import colours_of_lines
from core.studies.cells import check_formula, runs_of, studies_in
from core.studies.study import Study, load_study, shipped_ids
from core.sweep.folder import results_in, sweeps_in

TEXT = """
title = "A small study"
source = "telgarsky22"
[data]
kind = "parity"
d = 4
n = 8
[network]
kind = "standard"
m = 4
[dynamics]
kind = "gd"
step = 0.5
until_log10_time = 1.0
[recording]
frames = 5
[axes]
"network.m" = [4, 8]
"run.seed" = [0, 1]
[[claims]]
text = "Errors are shares."
measure = "train_error"
compare = "<="
value = 1.0
[figure]
columns = 1
[[figure.panels]]
kind = "sweep"
x = "network.m"
y = "risk / risk_0"
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    study = folder / "small.toml"
    study.write_text(TEXT)
    assert main(["run", str(study), "--out", str(folder / "runs"), "--quiet", "--jobs", "1"]) == 0
    return folder


def test_a_folder_is_drawn_by_its_layout(swept: Path, tmp_path: Path) -> None:
    out = tmp_path / "f.svg"
    assert main(["figure", str(swept / "runs"), "--out", str(out), "--quiet"]) == 0
    assert b"A small study" in out.read_bytes()
    rows = tmp_path / "rows.svg"
    given = ["figure", str(swept / "runs"), "--panels", "margins", "--out", str(rows), "--quiet"]
    assert main(given) == 0
    assert rows.read_bytes() != out.read_bytes()


def test_the_numbers_are_those_of_the_runs(swept: Path) -> None:
    """The last risks by the runs' own tables."""
    from core.observables.registry import OBSERVABLES
    from core.runs import open_run

    runs = swept / "runs"
    study = load_study(str(swept / "small.toml"))
    assert layout_of(runs, [study]) == study
    assert studies_in(runs, ["small", "smaller"]) == ["small"]
    with ExitStack() as stack:
        scene = figure_of_runs(study, runs_of(study.id, runs), stack.enter_context)
    shown = next(curves for curves in scene.panels[0].ink.curves if curves.name == "mean")
    for m, mean in zip((4, 8), shown.y[0], strict=True):
        ratios = []
        for path in sorted(runs.glob(f"small__network.m={m}__*.msrun")):
            with open_run(path) as run:
                risk = OBSERVABLES["risk"].trace(run)
                ratios.append(risk[-1] / risk[0])
        assert len(ratios) == 2
        assert mean == pytest.approx(sum(ratios) / 2.0)


def test_verdicts_stand_below(swept: Path, tmp_path: Path) -> None:
    (ledger,) = sweeps_in(swept / "runs")
    (line,), told = results_in(swept / "runs", ledger)
    assert line.startswith("confirmed: Errors are shares.")
    assert told is not None
    assert len(told) == 4
    assert results_in(tmp_path, None) == ([], None)


def test_a_figure_is_drawn_before_its_claims_are_judged(
    swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, judged, stopped = (tmp_path / f"{name}.svg" for name in ("without", "judged", "stop"))
    command = ["figure", str(swept / "runs"), "--quiet", "--out"]
    assert main([*command, str(without), "--no-claims"]) == 0
    assert main([*command, str(judged)]) == 0
    assert b"confirmed" in judged.read_bytes() and b"confirmed" not in without.read_bytes()

    def refuse(*_: object) -> NoReturn:
        raise InputError("judged")

    monkeypatch.setattr("core.sweep.folder.judged_in", refuse)
    assert main([*command, str(stopped)]) != 0
    assert stopped.read_bytes() == without.read_bytes()
    assert main([*command, str(stopped), "--no-claims"]) == 0


def test_colours_repeat_where_lines_are_many() -> None:
    lines = [SimpleNamespace(joined=True, value=float(k)) for k in range(20)]
    colours = colours_of_lines(lines, LIGHT)
    assert len(colours) == 20 and colours[0] == LIGHT.foreground
    period = 1 + len(LIGHT.references)
    assert colours[period:] == colours[:-period]


def test_shipped_layouts_name_what_studies_have(subtests: pytest.Subtests) -> None:
    """Formulas use known names, and each panel finds cells at both sizes."""
    studies = [study for study in map(load_study, shipped_ids()) if study.figure]
    assert studies
    for study in studies:
        with subtests.test(study=study.id):
            check_layout(study)


def check_layout(study: Study) -> None:
    layout = study.layout()
    for panel in layout.panels:
        for formula in panel.y:
            check_formula(formula, (*"dnmk", *(key.split(".")[1] for key in study.axes)))
    assert layout.panels
    for size in ("quick", "paper"):
        missing = list(layout.panels)
        for cell in study.at_size(size).iter_cells():  # up to the first cell of the last panel
            settings = cell.experiment.model_dump() | dict(cell.values)
            missing = [
                panel
                for panel in missing
                if not all(_has(settings, key, value) for key, value in panel.where)
            ]
            if not missing:
                break
        assert not missing, (study.id, size, [panel.title for panel in missing])


def _has(settings: dict[str, object], key: str, value: object) -> bool:
    section, _, name = key.partition(".")
    held = settings.get(key, settings.get(section))
    if isinstance(held, dict):
        held = held[name]
    allowed = value if isinstance(value, tuple) else (value,)
    return any(
        held == pytest.approx(one) if isinstance(one, float) else held == one for one in allowed
    )
