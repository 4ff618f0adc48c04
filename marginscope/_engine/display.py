"""A run as a notebook shows it: its facts, and a still figure."""

from __future__ import annotations

import math
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from core.problem.schedule import time_text

if TYPE_CHECKING:
    from marginscope._engine.run import Run

DPI = 110.0
LAST_VALUES = ("risk", "hard_margin", "train_error")
STYLE = "max-width: 100%; background: white"


def still(run: Run) -> bytes | None:
    """A PNG of the run as it is now; None while there is nothing to draw."""
    from marginscope._engine.figures import figure

    return figure(run, dpi=DPI, caption=False) if len(run) else None  # `html` has the facts


def html(run: Run) -> str:
    """Facts and figure. Titles and names come from files, and mean nothing but themselves."""
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts(run))
    table = f'<table class="marginscope">{rows}</table>'
    png = run._repr_png_()
    if png is None:
        return table
    words = escape(f"{run.title}: the figure of the run", quote=True)
    data = b64encode(png).decode()
    return f'{table}<img style="{STYLE}" alt="{words}" src="data:image/png;base64,{data}">'


def facts(run: Run) -> list[tuple[str, str]]:
    """What a run is, in a few words each."""
    from marginscope._engine.run import core_run

    experiment = run.settings
    n, d = run.x.shape
    reached = f"{len(run)} frames"
    if len(run):
        # Not t itself, which is infinite beyond 10^308.
        end = f"t = {time_text(float(run.log10_t[-1]))}"
        reached += f" to step {run.steps[-1]}" if core_run(run).counts_steps else f" to {end}"
    told = [
        ("run", run.title),
        ("data", f"{experiment['data']['kind']}, n = {n}, d = {d}"),
        ("network", f"{experiment['network']['kind']}, m = {experiment['network']['m']}"),
        ("loss", str(experiment["loss"]["kind"])),
        ("dynamics", str(experiment["dynamics"]["kind"])),
        ("state", f"{run.status}, {reached}"),
    ]
    if len(run):
        known = run.observables  # real targets have no margins
        numbers = {name: run[name][-1] for name in LAST_VALUES if name in known}
        words = [f"{k} = {v:.4g}" for k, v in numbers.items() if not math.isnan(v)]
        told += [("at the end", ", ".join(words))] if words else []
    return [*told, ("file", str(run.path))]
