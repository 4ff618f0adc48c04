"""Small studies, and the results of the command line for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import marginscope as ms
from core.cli.main import main
from core.studies.tables import setting_text

FIGURE_1 = "telgarsky22-figure-1"
SHORT: dict[str, Any] = {
    "network.m": 8,
    "data.n": 16,
    "data.d": 4,
    "dynamics.until_log10_time": 1,
    "recording.frames": 20,
    "recording.log10_times": [0.5],
}
# What is no run to draw or to play, and what is said of it.
NOT_SHOWN: list[tuple[Any, str]] = [
    ("nothing", "The study 'nothing' does not exist"),
    ("a.msrun", "The run file a.msrun does not exist"),
    (3, "3 is not a run"),
    ([], "No run is given"),
]
WIDTHS = {**SHORT, "network.m": [4, 8]}


def trained(**settings: Any) -> ms.Run:
    run = ms.train(FIGURE_1, **{**SHORT, **settings})
    assert isinstance(run, ms.Run)
    return run


def typed(settings: dict[str, Any]) -> list[str]:
    """Return settings as options of the command line."""
    pairs = [setting_text(key, value) for key, value in settings.items()]
    return [word for pair in pairs for word in ("--set", pair)]


def command(*words: object) -> int:
    return main([str(word) for word in words])


def as_json(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    capsys.readouterr()
    assert command(*words, "--json", "--quiet") in (0, 1)
    return json.loads(capsys.readouterr().out)


def written(path: Path, claims: str = "") -> Path:
    """Write a study file with two widths, and return its path."""
    path.write_text(
        'title = "Mine"\n[data]\nd = 4\nn = 8\n[network]\nm = 4\n'
        "[dynamics]\nuntil_log10_time = 0.5\n[recording]\nframes = 6\n"
        f'[axes]\n"network.m" = [3, 5]\n{claims}'
    )
    return path
