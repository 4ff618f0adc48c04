"""Figure files: formats, physical size, fonts, the same bytes again, and clean refusals."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache

import matplotlib
import numpy as np
import pytest
from PIL import Image

from core.errors import DiskError, InputError
from core.figures import export
from core.figures.draw import matplotlib_style
from core.figures.draw_keys import font_text
from core.figures.export import figure_bytes, save_figure
from core.figures.scene import build_scene
from tests.support.made_up_figures import far_run, two_runs


@cache
def small_scene():
    return build_scene(two_runs()[:1], ["neurons"])


@cache
def small_bytes(suffix: str) -> bytes:
    return figure_bytes(small_scene(), suffix, 80)


def test_pdf_has_truetype_fonts_and_its_physical_size(tmp_path) -> None:
    scene = small_scene()
    path = tmp_path / "deep" / "figure.pdf"
    save_figure(scene, path, draw=lambda scene, suffix, dpi: small_bytes(suffix))
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/FontFile2" in content
    assert b"DejaVuSans" in content
    assert b"/Type3" not in content
    assert b"CreationDate" not in content
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", content)
    expected = [scene.width_mm / 25.4 * 72.0, scene.height_mm / 25.4 * 72.0]
    assert [float(value) for value in box.groups()] == pytest.approx(expected, abs=0.01)
    assert [entry.name for entry in path.parent.iterdir()] == ["figure.pdf"]


def test_svg_is_xml_of_the_physical_size(tmp_path) -> None:
    scene = small_scene()
    save_figure(scene, tmp_path / "figure.SVG")
    root = ET.fromstring((tmp_path / "figure.SVG").read_text(encoding="utf-8"))
    assert root.tag.endswith("svg")
    width = float(root.get("width", "").removesuffix("pt"))
    assert width == pytest.approx(scene.width_mm / 25.4 * 72.0, abs=0.01)
    assert not root.findall(".//{*}text")  # outlines look the same everywhere


@pytest.mark.parametrize("dpi", [100, 150])
def test_png_has_its_resolution_and_size(tmp_path, dpi) -> None:
    scene = small_scene()
    save_figure(scene, tmp_path / "figure.png", dpi=dpi)
    with Image.open(tmp_path / "figure.png") as image:
        assert image.info["dpi"] == pytest.approx((dpi, dpi), rel=1e-3)
        expected = np.array([scene.width_mm, scene.height_mm]) / 25.4 * dpi
        assert np.abs(np.array(image.size) - expected).max() <= 1.0
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("suffix", [".pdf", ".svg", ".png"])
def test_equal_scenes_give_equal_bytes(suffix) -> None:
    before = dict(matplotlib.rcParams)
    first = small_bytes(suffix)
    with matplotlib.rc_context({"lines.linewidth": 9.0, "font.size": 30.0, "axes.grid": True}):
        second = figure_bytes(build_scene(two_runs()[:1], ["neurons"]), suffix, 80)
    assert first == second
    assert dict(matplotlib.rcParams) == before


def test_a_far_run_is_drawn() -> None:
    assert figure_bytes(build_scene([far_run()], ["rotations", "margins"]), ".svg")


def test_nothing_is_drawn_outside_the_page() -> None:
    from core.figures.draw import draw_scene

    for scene in (build_scene(two_runs()), build_scene([far_run()], ["rotations", "margins"])):
        with matplotlib_style():
            figure = draw_scene(scene, 100)
            tight = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert tight.x0 >= 0.0
        assert tight.y0 >= 0.0
        assert tight.x1 <= width
        assert tight.y1 <= height


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "figure.pdf.bak"])
def test_another_ending_is_refused(tmp_path, name) -> None:
    with pytest.raises(InputError, match=r"must end in \.pdf, \.svg or \.png") as caught:
        save_figure(small_scene(), tmp_path / name)
    assert str(caught.value).endswith(".")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dpi", [0, 19, 2401, float("nan")])
def test_a_resolution_without_sense_is_refused(tmp_path, dpi) -> None:
    with pytest.raises(InputError, match="choose 20 to 2400"):
        save_figure(small_scene(), tmp_path / "figure.png", dpi=dpi)


def test_a_picture_too_large_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(export, "MOST_PIXELS", 1000)
    with pytest.raises(InputError, match="million pixels"):
        save_figure(small_scene(), tmp_path / "figure.png")


def test_a_folder_that_cannot_be_written_is_said(tmp_path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        save_figure(small_scene(), tmp_path / "file" / "figure.svg")


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, monkeypatch) -> None:
    def full(*arguments, **words):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.files.os.fdopen", full)
    with pytest.raises(DiskError, match="disk is full"):
        save_figure(small_scene(), tmp_path / "figure.svg")
    assert not list(tmp_path.iterdir())


def test_letters_that_the_font_lacks_become_question_marks() -> None:
    assert font_text("a\u4e2d\u00df") == "a?\u00df"
