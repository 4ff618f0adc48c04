"""A run as a notebook shows it: its facts, and a still figure."""

from __future__ import annotations

import math
from base64 import b64encode
from html import escape

from core.observables.registry import observable_of
from core.problem.schedule import time_text
from core.runs import Run
from core.runs.settings import known_settings
from marginscope._engine.tables import names_of

LAST_VALUES = ("risk", "hard_margin", "train_error")
STYLE = "max-width: 100%; background: white"


def html(run: Run, png: bytes | None) -> str:
    """Return facts and figure. Titles come from files, and mean nothing but themselves."""
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts(run))
    table = f'<table class="marginscope">{rows}</table>'
    if png is None:
        return table
    words = escape(f"{run.title}: the figure of the run", quote=True)
    data = b64encode(png).decode()
    return f'{table}<img style="{STYLE}" alt="{words}" src="data:image/png;base64,{data}">'


def facts(run: Run) -> list[tuple[str, str]]:
    """Return what a run is, in a few words each."""
    settings, count = known_settings(run), run.frames
    reached = f"{count} frames"
    if count:
        # Not t itself, which is infinite beyond 10^308.
        end = f"t = {time_text(float(run.log10_time[-1]))}"
        reached += f" to step {run.steps[-1]}" if run.counts_steps else f" to {end}"
    told = [
        ("run", run.title),
        ("data", f"{settings['data']['kind']}, n = {run.dataset.n}, d = {run.dataset.d}"),
        ("network", f"{settings['network']['kind']}, m = {settings['network']['m']}"),
        ("loss", str(settings["loss"]["kind"])),
        ("dynamics", str(settings["dynamics"]["kind"])),
        ("state", f"{run.status}, {reached}"),
    ]
    if count:
        known = names_of(run)  # real targets have no margins
        last = {k: float(observable_of(k).at(run, count - 1)) for k in LAST_VALUES if k in known}
        words = [f"{k} = {v:.4g}" for k, v in last.items() if not math.isnan(v)]
        told += [("at the end", ", ".join(words))] if words else []
    return [*told, ("file", str(run.path))]
