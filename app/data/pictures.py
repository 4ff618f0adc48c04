"""A row of small images, as one picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap

SIDE, GAP = 48, 8


def picture_strip(pictures: NDArray[Any], ratio: float = 1.0) -> QPixmap:
    """Grey (p, h, w) or coloured (p, h, w, 3) bytes side by side, each 48 pixels high."""
    count, height, width = pictures.shape[:3]
    across = max(1, round(SIDE * width / height))
    strip = QPixmap(round((count * (across + GAP) - GAP) * ratio), round(SIDE * ratio))
    strip.setDevicePixelRatio(ratio)
    strip.fill(Qt.GlobalColor.transparent)
    painter = QPainter(strip)
    for place, picture in enumerate(pictures):
        painter.drawImage(QRect(place * (across + GAP), 0, across, SIDE), _image(picture))
    painter.end()
    return strip


def _image(picture: NDArray[Any]) -> QImage:
    picture = np.ascontiguousarray(picture)
    height, width = picture.shape[:2]
    grey = picture.ndim == 2
    form = QImage.Format.Format_Grayscale8 if grey else QImage.Format.Format_RGB888
    # The image only borrows the bytes of the array, so a copy is what lives on.
    return QImage(picture.data, width, height, width * (1 if grey else 3), form).copy()
