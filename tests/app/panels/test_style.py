"""The look: every icon in both palettes, colours that can be read, and figures of equal width."""

from __future__ import annotations

import gc
import re
from importlib import resources
from typing import get_args

import numpy as np
import pytest
from PySide6.QtGui import QColor, QIcon, QImage
from PySide6.QtWidgets import QLineEdit, QStyle, QWidget

from app.style import PICTURES, apply, icon, icon_names, shades, style_sheet
from app.style_sheet import SHEET
from app.widgets.labels import ElidedLabel
from app.widgets.verdict_mark import Hue, hue_of
from core.figures.palette import (
    DARK,
    LIGHT,
    Palette,
    class_colours,
    rgb,
    run_colours,
    time_colours,
)
from tests.contrast import contrast

PALETTES = [LIGHT, DARK]
HUES: tuple[Hue, ...] = get_args(Hue)
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
    """Return number of pixels that are more than half covered."""
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


RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
STATE = re.compile(r"(?<!:):(?!:)[a-z-]+")  # of a widget; parts of one have two colons
WRITTEN = ("::tab", "::item", "::section")  # parts of widgets that hold text
MARKS = {'QPushButton[mark="true"]'}  # a dot, no text


def sheet_rules() -> dict[str, list[tuple[str, str]]]:
    """Return names of text and ground, "" where not set, of the enabled states of each widget."""
    found: dict[str, list[tuple[str, str]]] = {}
    for selectors, body in RULE.findall(SHEET):
        pairs = (part.partition(":") for part in body.split(";") if ":" in part)
        set_ = {name.strip(): value.strip().removeprefix("@") for name, _, value in pairs}
        colours = set_.get("color", ""), set_.get("background", "")
        for one in selectors.split(","):
            has_text = "::" not in one or any(part in one for part in WRITTEN)
            if has_text and any(colours) and ":disabled" not in one:
                found.setdefault(STATE.sub("", one.strip()), []).append(colours)
    return found


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_styled_texts_stand_out_in_all_states(palette: Palette) -> None:
    """WCAG 2, AA: 4.5 to 1, and 3 to 1 for marks. States that set one colour come together."""
    shade = shades(palette) | {"transparent": palette.background}
    rules = sheet_rules()
    assert len(rules) > 30
    for widget, states in rules.items():
        pairs = {(text, ground) for text, ground in states if text and ground}
        texts = {text for text, ground in states if text and not ground}
        grounds = {ground for text, ground in states if ground and not text}
        text, ground = states[0]
        plain = re.sub(r"\[.*", "", widget)
        ground = ground or next((one[1] for one in rules.get(plain, ()) if one[1]), "background")
        pairs |= {(one, ground) for one in texts}
        pairs |= {(one, other) for one in {*texts, text or "foreground"} for other in grounds}
        for text, ground in pairs:
            least = 3.0 if widget in MARKS else 4.5
            assert contrast(rgb(shade[text]), shade[ground]) >= least, (widget, text, ground)


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_words_of_verdicts_and_marks_of_data_stand_out(palette: Palette) -> None:
    shade = shades(palette)
    for hue in HUES:
        for ground in (palette.background, shade["field"]):
            assert contrast(rgb(hue_of(hue, palette)), ground) >= 4.5, (hue, ground)
    for colour in (*class_colours(6, palette), *run_colours(palette)):
        assert contrast(0.9 * rgb(colour) + 0.1 * rgb(palette.background), palette.background) >= 3
    moments = time_colours(np.linspace(0.0, 1.0, 9), palette)
    assert contrast(moments, palette.background).min() >= 3.0


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
