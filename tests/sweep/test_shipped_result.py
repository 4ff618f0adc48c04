"""Results that are shipped with the studies: as their studies say, and as their runs are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.figures.study_axes import scales_of
from core.figures.study_scene import Caption, scene_of_lines
from core.figures.study_spots import spots_of
from core.program import RESOURCES, result_file
from core.studies.shipped_result import (
    at_result_size,
    digest_of,
    parse_result,
    shipped_result,
)
from core.studies.statistics import are_equal
from core.studies.study import load_study, parse_study, shipped_ids
from tests.tools.results import make_result

SMALLEST = "homogeneity-theorem-4-1"  # six runs of parts of a second


def test_each_study_has_a_result_of_its_settings(subtests: pytest.Subtests) -> None:
    for study_id in shipped_ids():
        with subtests.test(study_id):
            study = load_study(study_id)
            table = json.loads(result_file(study_id).read_text("utf-8"))
            assert table["digest"] == digest_of(study), "make results"
            result = shipped_result(study_id)
            assert result is not None
            assert len(result.claims) == len(study.claims)
            assert all(one.verdict != "refuted" for one in result.claims)
            layout = study.layout()
            assert len(result.panels) == (0 if layout is None else len(layout.panels))
            assert result.runs == at_result_size(study).count
            for panel in result.panels:
                assert panel, "an empty panel"
                for line in panel:
                    assert line.x.shape == line.mean.shape == line.low.shape == line.high.shape
                    known = np.isfinite(line.mean)
                    assert known.any() and (line.low[known] <= line.high[known]).all()


@pytest.mark.slow
def test_a_result_is_that_of_its_runs(tmp_path: Path) -> None:
    """A study of few runs, trained again: but for the rounding of machines nothing differs."""
    study = at_result_size(load_study(SMALLEST))
    make_result(SMALLEST, tmp_path, tmp_path / "again.json")
    again = parse_result((tmp_path / "again.json").read_text("utf-8"))
    shipped = shipped_result(SMALLEST)
    assert shipped is not None and again.runs == shipped.runs == study.count
    assert [one.verdict for one in again.claims] == [one.verdict for one in shipped.claims]
    for old, new in zip(shipped.panels, again.panels, strict=True):
        for one, other in zip(old, new, strict=True):
            assert (one.value, one.names) == (other.value, other.names)
            for name in ("x", "mean", "low", "high"):
                known, made = getattr(one, name), getattr(other, name)
                assert made == pytest.approx(known, rel=1e-3, abs=1e-6, nan_ok=True), name


def test_spots_name_the_runs_whose_settings_stand_on_the_axis(subtests: pytest.Subtests) -> None:
    for study_id in shipped_ids():
        study = at_result_size(load_study(study_id))
        layout, result = study.layout(), shipped_result(study_id)
        assert result is not None
        if layout is None or study.count > 100:  # Table 1 has 504 cells, made one by one
            continue
        cells = {cell.name: cell for cell in study.cells()}
        scene = scene_of_lines(layout, result.panels, Caption(""))
        with subtests.test(study_id):
            for spot in spots_of(scene, layout, result.panels):
                assert spot.name in cells
                assert 0.0 < spot.left < scene.width_mm and 0.0 < spot.top < scene.height_mm
            for own, panel, lines in zip(layout.panels, scene.panels, result.panels, strict=True):
                if own.kind != "sweep" or own.x not in study.axes:
                    continue
                for line in lines:
                    values = [cells[name].values[own.x] for name in line.names]
                    assert all(map(are_equal, values, line.x.tolist()))
                # What is drawn at a spot is the mean of its line.
                x_scale, y_scale = scales_of(own, lines)
                drawn = {
                    (round(float(x), 6), round(float(y), 6))
                    for line in lines
                    for x, y in zip(x_scale.place(line.x), y_scale.place(line.mean), strict=True)
                }
                box = panel.box
                for spot in spots_of(scene, layout, result.panels):
                    across, up = (
                        (spot.left - box.left) / box.width,
                        1 - (spot.top - box.top) / box.height,
                    )
                    if 0.0 <= across <= 1.0 and 0.0 <= up <= 1.0:
                        x = panel.x.low + across * (panel.x.high - panel.x.low)
                        y = panel.y.low + up * (panel.y.high - panel.y.low)
                        assert min(abs(x - a) + abs(y - b) for a, b in drawn) < 1e-5


def test_words_of_a_study_change_no_digest_and_numbers_do() -> None:
    text = RESOURCES.joinpath("studies", "boursier25-spurious.toml").read_text("utf-8")
    before = digest_of(parse_study(text, "a"))
    other_words = text.replace("at every width", "whatever the width").replace("m = {}", "{}")
    assert digest_of(parse_study(other_words, "b")) == before
    for old, new in (
        ("tolerance = 1e-7", "tolerance = 1e-6"),
        ('measure = "risk"', 'measure = "norm_squared"'),
        ("until_log10_time = 2.47712125472", "until_log10_time = 2.5"),
        ('"run.seed" = [0, 1]', '"run.seed" = [0, 2]'),
        ('y = "risk"', 'y = "dead_nodes"'),
    ):
        assert old in text
        assert digest_of(parse_study(text.replace(old, new, 1), "a")) != before, new


def test_a_damaged_result_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.studies import shipped_result as module

    good = result_file(SMALLEST).read_text("utf-8")
    damaged = tmp_path / "damaged.json"
    monkeypatch.setattr(module, "result_file", lambda study_id: tmp_path / f"{study_id}.json")
    for text in ("", "[]", "{}", good[:-40], good.replace('"mean"', '"men"')):
        damaged.write_text(text)
        module.shipped_result.cache_clear()
        assert shipped_result("damaged") is None
    assert shipped_result("no-study") is None
    module.shipped_result.cache_clear()
