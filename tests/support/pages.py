"""Helpers for tests of pages: a page's data, read back, and a hostile run."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.figures.options import FigureOptions
from core.figures.page import PageOptions, page_html
from core.runs import Run

DATA = re.compile(r'<script type="application/json" id="material">(.*?)</script>', re.DOTALL)
HOSTILE = '</script><img src=x onerror="document.title=1;alert(1)"><b>&\u2028{{script}}'


def data_of(text: str) -> dict[str, Any]:
    """Return the content of a page, with arrays unpacked."""
    match = DATA.search(text)
    assert match is not None
    found: dict[str, Any] = unpack_data(json.loads(match[1]))
    return found


def decode_array(item: dict[str, Any]) -> np.ndarray:
    """Return an array, decoded like in a page."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(item["data"])), dtype=np.uint8)
    content = planes.reshape(int(item["type"][1:]), -1).T.tobytes()
    return np.frombuffer(content, dtype=f"<{item['type']}").reshape(item["shape"])


def unpack_data(value: Any) -> Any:
    """Return the data with packed arrays replaced by arrays."""
    if isinstance(value, list):
        return [unpack_data(one) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"type", "shape", "data"}:
        return decode_array(value)
    return {key: unpack_data(one) for key, one in value.items()}


def page_of(
    runs: Sequence[Run],
    panels: Sequence[str] | None = None,
    shown: FigureOptions | None = None,
    **more,
) -> dict[str, Any]:
    """Return the data of a page of some runs."""
    return data_of(page_html(runs, panels, shown, PageOptions(**more)))


def points_at(row: dict[str, Any], panel: dict[str, Any], stop: int) -> np.ndarray:
    """Return the nodes' positions on the axes at a stop, (m, 2), as the page draws them."""
    shares = row["nodes"]["points"][stop].astype(np.float64)
    state = panel["states"][panel["state"][stop]]
    places = shares * row["nodes"]["reach"][stop] * 10.0 ** (panel["power"] - state["power"])
    if panel["rooted"]:
        places = np.sign(places) * np.sqrt(np.abs(places))
    return places


def flat(pieces: Sequence[Sequence[str]]) -> str:
    return "".join(text for text, _ in pieces)
