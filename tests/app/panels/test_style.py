"""The look: every icon in both palettes, colours that can be read, and figures of equal width."""

from __future__ import annotations

import gc
import re
from importlib import resources

import pytest
from PySide6.QtGui import QColor, QIcon, QImage
from PySide6.QtWidgets import QLineEdit, QStyle, QWidget

from app.style import PICTURES, apply, icon, icon_names, shades, style_sheet
from app.widgets.labels import ElidedLabel
from core.figures.palette import DARK, LIGHT, Palette, rgb
from tests.contrast import contrast

PALETTES = [LIGHT, DARK]
NAMES = {
    "run",
    "pause",
    "stop",
    "restart",
    "seed",
    "weights",
    "continue",
    "play",
    "step-back",
    "step-forward",
    "first",
    "last",
    "loop",
    "follow",
    "open",
    "figure",
    "film",
    "data",
    "copy",
    "light",
    "dark",
    "lecture",
    *("settings", "theory", "numbers", "library", "views", "export", "compare", "dots"),
    "close",
}


def ink(image: QImage) -> int:
    """Number of pixels that are more than half covered."""
    size = range(image.width())
    return sum(image.pixelColor(x, y).alpha() > 127 for x in size for y in size)


def test_every_icon_has_a_drawing() -> None:
    assert set(icon_names()) >= NAMES


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_icons_are_drawn_in_the_palettes_colours(qapp, palette: Palette) -> None:
    for name in icon_names():
        image = icon(name, palette).pixmap(24, 24).toImage()
        assert 20 < ink(image) < 300, name
        strongest = max(
            (image.pixelColor(x, y) for x in range(24) for y in range(24)), key=QColor.alpha
        )
        assert strongest.name() == palette.foreground, name
        pale = icon(name, palette).pixmap(24, 24, QIcon.Mode.Disabled).toImage()
        assert pale != image, name


def test_drawings_share_one_grid_and_one_stroke() -> None:
    folder = resources.files("resources").joinpath("icons")
    for name in icon_names():
        text = folder.joinpath(f"{name}.svg").read_text(encoding="utf-8")
        assert 'viewBox="0 0 24 24"' in text and 'stroke="currentColor"' in text, name
        assert 'stroke-width="1.5"' in text, name


def test_an_unknown_icon_is_named(qapp) -> None:
    with pytest.raises(KeyError, match="no icon missing"):
        icon("missing", LIGHT)


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_text_stands_out(palette: Palette) -> None:
    shade = shades(palette)
    for text, grounds in {
        "foreground": ("background", "field", "hover", "pressed"),
        "muted": ("background", "field"),
        "danger": ("background", "danger_field"),
        "accent": ("background",),
        "on_accent": ("accent", "accent_hover"),
    }.items():
        for ground in grounds:
            assert contrast(rgb(shade[text]), shade[ground]) >= 4.5, (text, ground)
    assert contrast(rgb(shade["accent"]), shade["field"]) >= 3.0  # the ring of the focus


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_the_sheet_names_only_colours_and_pictures_that_are_there(palette: Palette) -> None:
    sheet = style_sheet(palette)
    assert "@" not in sheet
    assert set(re.findall(r"#[0-9a-f]{6}", sheet)) <= set(shades(palette).values())
    for path in re.findall(r'url\("([^"]+)"\)', sheet):
        assert QImage(path).width() > 0, path
    assert len(PICTURES) == 4


def test_a_change_of_palette_reaches_open_windows(qtbot, qapp) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    label = ElidedLabel(window)
    field = QLineEdit("0123456789", window)
    try:
        for palette in PALETTES:
            apply(qapp, palette)
            window.resize(160, 48)
            picture = window.grab().toImage()
            assert picture.pixelColor(150, 44).name() == palette.background
            assert field.palette().color(field.foregroundRole()).name() == palette.foreground
            assert label.palette().windowText().color().name() == palette.foreground
    finally:
        apply(qapp, LIGHT)
        qapp.setStyleSheet("")


def test_figures_are_equally_wide(qtbot, qapp) -> None:
    apply(qapp, LIGHT)
    label = QWidget()
    qtbot.addWidget(label)
    widths = {label.fontMetrics().horizontalAdvance(digit * 8) for digit in "0123456789"}
    qapp.setStyleSheet("")
    assert len(widths) == 1


def test_changes_of_palette_keep_no_style(qapp) -> None:
    """The application has one style, however often its colours change."""

    def styles() -> int:
        gc.collect()
        return sum(issubclass(type(one), QStyle) for one in gc.get_objects())

    apply(qapp, LIGHT)
    apply(qapp, DARK)
    before = styles()
    for palette in (LIGHT, DARK) * 5:
        apply(qapp, palette)
    assert styles() == before
    apply(qapp, LIGHT)
