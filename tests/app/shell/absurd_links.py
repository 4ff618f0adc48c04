"""Absurd links, and a window's response to them."""

from __future__ import annotations

import faulthandler
import random
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from app.shell.application import Marginscope
from app.state.intent import MARGIN_AXES, NEURON_RANGES
from app.state.views import VIEWS
from tests.app.shell.shared_window import is_quiet, trained, wait_until

SECONDS = 2.0  # of the window's thread
HUNG_S = 60.0  # of the clock: the machine may have other work
ALLOWED = (-1e100, -1e15, -7e3, -1.0, -0.1, -1e-99, 0.0, 1e-99, 1e-12, 0.1, 1.0, 7e3, 1e12, 1e99)
ABSURD = ("1e300", "-1e308", "5e-324", "1e-310", "-0.0", "nan", "inf", "1e400", "1_0", "x", "")
TIMES = ("0", "1e300", "10^1e300", "10^-1e300", "10^1e308", "10^700", "5e-324", "10^x", "1e999")
CHOICES: dict[str, Collection[str]] = {
    "log": ("yes", "no"),
    "equal": ("yes", "no"),
    "linked": ("yes", "no"),
    "against": MARGIN_AXES,
    "range": NEURON_RANGES,
    "views": VIEWS,
    "pin": ("0:0-3", "1:9999999"),
}
# Each hung the window, ended in an exception, or is as far as a zoom may be.
WORST = (
    "zoom=0:margins:0,1e300,0,1",
    "zoom=0:margins:-1e308,1e308,-1e308,1e308",
    "zoom=0:margins:0,1e100,-1e100,1e100&zoom=0:neurons:0,1e100,0,1e-100",
    "zoom=0:margins:0,1e-100,1,1.000000000002&zoom=0:neurons:1,1.000000000002,0,1",
    "zoom=0:curves:0,5e-324,0,1e99&log=yes&views=curves",
)


def links(paths: Sequence[Path], seed: int = 0) -> Iterator[str]:
    """Yield links to runs endlessly: the worst first, then random ones."""
    named = "&".join(f"run={quote(str(path))}" for path in paths)
    for query in WORST:
        yield f"marginscope://view?{named}&{query}"
    chance = random.Random(seed)
    while True:
        yield f"marginscope://view?{named}&{_query(chance, len(paths))}"


def _query(chance: random.Random, runs: int) -> str:
    wild = chance.random() < 0.3  # most are not refused at once
    parts = []
    for _ in range(chance.randint(1, 4)):
        pairs = (sorted(chance.sample(ALLOWED, 2)) for _ in range(2))
        ends = [f"{end:g}".replace("e+", "e") for pair in pairs for end in pair]
        if wild:
            ends[chance.randrange(4)] = chance.choice(ABSURD)
        parts.append(f"zoom={chance.randrange(runs)}:{chance.choice([*VIEWS])}:{','.join(ends)}")
    if chance.random() < 0.4:
        parts.append(f"t={chance.choice(TIMES if wild else TIMES[:3])}")
    if chance.random() < 0.2:
        parts += [f"interval={moment}" for moment in (TIMES[3], chance.choice(TIMES[4:]))]
    for name, values in CHOICES.items():
        if chance.random() < 0.25:
            parts.append(f"{name}={chance.choice([*values])}")
    return "&".join(parts)


@contextmanager
def watchdog() -> Iterator[None]:
    """End the process and write where it hung if the block takes longer than HUNG_S.

    Nothing milder works: Qt goes on after an exception in a paint event, and hangs again.
    """
    faulthandler.dump_traceback_later(HUNG_S, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def is_at_rest(program: Marginscope) -> bool:
    """Return True if all runs are read as far as possible and nothing is computed."""
    failed = any(run.failure for run in program.session)
    return failed or (trained(program) and is_quiet(program))


def open_link(program: Marginscope, link: str) -> str:
    """Open a link or a file in a window and wait until the window rests.

    Returns "opened", "refused", or what is wrong.
    """
    start = time.thread_time()
    program.files.open_files([link])
    wait_until(lambda: is_at_rest(program), HUNG_S)
    program.window.grab()  # all is painted, also what lies under other windows
    seconds = time.thread_time() - start
    said = program.window.bar.text
    if seconds > SECONDS:
        return f"slow: {seconds:.1f} s"
    if "Internal error" in said:
        return f"error: {said}"
    return "refused" if said else "opened"
