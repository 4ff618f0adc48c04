"""Style of the window: palette, style sheet, fonts and icons, all made from one Palette.

Lengths are multiples of 8 pixels, or of 4 inside a control. Nothing has a frame of its own that
stands in another frame: fields are tinted, groups are told apart by headings and space.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QIcon,
    QImage,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyleFactory, QToolTip

from app.style_sheet import SHEET
from core.figures.palette import LIGHT, Palette, rgb
from core.program import RESOURCES

# 16 pixels at screen scales 1, 1.5, 2 and 3.
ICON_SIZES = (16, 24, 32, 48)
# Pictures for the style sheet, which cannot tint them; their grey suits both palettes.
PICTURES = ("chevron", "cross", "check-light", "check-dark")

# Pixels for a line of text in a control, and for its upper and lower edges (2 each).
ROOM, EDGES = 20, 4
MARGIN = 8  # pixels around a line
PANEL = 280  # pixels, the width of a panel beside the views
LEAST_PLOT = (150, 130)  # pixels; a smaller plot is illegible

LINE_SCALE = "lineScale"  # property of the application

Role = QPalette.ColorRole


def line_of(font: QFont) -> int:
    """Return the height of one line: 24 pixels, or the next multiple of 4 for large type."""
    needed = QFontMetrics(font).height() + MARGIN
    return max(ROOM + EDGES, -(-needed // 4) * 4)


def panel_width(font: QFont) -> int:
    """Return the width of a panel beside the views, which grows with its lines."""
    return PANEL * line_of(font) // (ROOM + EDGES)


def mix(colour: str, second: str, share: float) -> str:
    """Return a colour mixed with a share of another one, as "#rrggbb".

    >>> mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    values = rgb(colour) + share * (rgb(second) - rgb(colour))
    return "#" + "".join(f"{round(float(value)):02x}" for value in values)


def shades(palette: Palette) -> dict[str, str]:
    """Return the colours of controls by their use, all mixed from the palette's own."""
    back, fore = palette.background, palette.foreground
    light = palette.name == LIGHT.name
    # Text needs more contrast than lines in the class colours: at least 4.5 to 1.
    accent = palette.positive if light else palette.references[3]
    danger = mix(palette.negative, palette.extreme, 0.18 if light else 0.30)
    return {
        "background": back,
        "foreground": fore,
        "muted": palette.muted,
        "line": palette.grid,
        "field": mix(back, fore, 0.05),
        "hover": mix(back, fore, 0.09),
        "pressed": mix(back, fore, 0.15),
        "handle": mix(back, fore, 0.28),
        "disabled": mix(back, palette.muted, 0.55),
        "accent": accent,
        "accent_hover": mix(accent, palette.extreme, 0.15),
        "on_accent": back,
        "danger": danger,
        "danger_field": mix(back, palette.negative, 0.10),
    }


def qt_palette(palette: Palette) -> QPalette:
    """Return the same colours for Qt's own drawing."""
    shade = shades(palette)
    result = QPalette()
    roles = {
        Role.Window: "background",
        Role.WindowText: "foreground",
        Role.Base: "background",
        Role.AlternateBase: "field",
        Role.Text: "foreground",
        Role.Button: "field",
        Role.ButtonText: "foreground",
        Role.BrightText: "foreground",
        Role.Highlight: "accent",
        Role.HighlightedText: "on_accent",
        Role.ToolTipBase: "background",
        Role.ToolTipText: "foreground",
        Role.PlaceholderText: "muted",
        Role.Link: "accent",
        Role.LinkVisited: "accent",
        Role.Light: "hover",
        Role.Midlight: "field",
        Role.Mid: "line",
        Role.Dark: "handle",
        Role.Shadow: "pressed",
        Role.Accent: "accent",
    }
    for role, name in roles.items():
        result.setColor(role, QColor(shade[name]))
    for role in (Role.WindowText, Role.Text, Role.ButtonText, Role.PlaceholderText):
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(shade["disabled"]))
    return result


def style_sheet(palette: Palette, room: int = ROOM) -> str:
    """Return the style sheet of the window in the colours of a palette.

    A line of text within a control has so many pixels.
    """
    text = SHEET.replace("@check", f"@check-{palette.name}").replace("@room", f"{room}px")
    for name in PICTURES:
        text = text.replace(f"@{name}", f'"{_icon_path(f"sheet/{name}").as_posix()}"')
    # Longest names first, so that @accent does not match within @accent_hover.
    shade = shades(palette)
    for name in sorted(shade, key=len, reverse=True):
        text = text.replace(f"@{name}", shade[name])
    return text


def small(font: QFont) -> QFont:
    """Return a slightly smaller font, for texts in and above plots."""
    result = QFont(font)
    if result.pointSizeF() > 0:  # -1 for a font sized in pixels
        result.setPointSizeF(0.9 * result.pointSizeF())
    return result


def apply(application: QApplication, palette: Palette) -> None:
    """Give the whole application this style; call it again to change it."""
    font = application.font()
    sheet = style_sheet(palette, line_of(font) - EDGES)
    signature = f"{font.toString()} {sheet}"
    if application.property("look") == signature:
        return  # the same sheet again would make Qt restyle every widget
    application.setProperty("look", signature)
    # Only once: each call restyles every widget.
    if not application.styleSheet():
        application.setStyle(QStyleFactory.create("Fusion"))
    colours = qt_palette(palette)
    application.setPalette(colours)
    QToolTip.setPalette(colours)
    application.setFont(font)
    application.setStyleSheet(sheet)


# ------------------------------------------------------------------------------------- icons


def _icon_path(name: str) -> Path:
    return RESOURCES.joinpath("icons", f"{name}.svg")


def icon_names() -> tuple[str, ...]:
    """Return the names that `icon` accepts, sorted."""
    return tuple(sorted(path.stem for path in _icon_path("run").parent.glob("*.svg")))


@cache
def _drawing(name: str) -> str:
    if name not in icon_names():
        raise KeyError(f"there is no icon {name}; there are {', '.join(icon_names())}")
    return _icon_path(name).read_text(encoding="utf-8")


@cache  # QImage, not QPixmap: an image may outlive the application
def _image(name: str, colour: str, size: int) -> QImage:
    text = _drawing(name).replace("currentColor", colour)
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(0.0, 0.0, size, size))
    painter.end()
    return image


def icon(name: str, palette: Palette) -> QIcon:
    """Return a line icon in the colours of a palette, paler for disabled buttons.

    Raises KeyError for a name without a drawing.
    """
    shade = shades(palette)
    return icon_of_colours(name, shade["foreground"], shade["disabled"])


def icon_of_colours(name: str, normal: str, disabled: str) -> QIcon:
    """Return a line icon in two colours, such as "#ff0000"."""
    result = QIcon()
    for size in ICON_SIZES:
        for mode, colour in ((QIcon.Mode.Normal, normal), (QIcon.Mode.Disabled, disabled)):
            result.addPixmap(QPixmap.fromImage(_image(name, colour, size)), mode)
    return result


def set_line_scale(scale: float) -> None:
    """Set the factor for the width of curves and markers in all plots."""
    application = QApplication.instance()
    assert application is not None
    application.setProperty(LINE_SCALE, scale)


def line_scale() -> float:
    """Return the factor for the width of curves and markers."""
    application = QApplication.instance()
    scale = None if application is None else application.property(LINE_SCALE)
    return 1.0 if scale is None else float(scale)
