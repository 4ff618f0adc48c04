"""`make bench`: the figures the program promises, measured here and now, on one core."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence

import torch
from threadpoolctl import threadpool_limits

from tests.benchmarks import (
    engines,
    filming,
    first_start,
    flows,
    following,
    large,
    library,
    margins,
    page,
    python,
    sweeps,
    tables,
    views,
    window,
)
from tests.benchmarks.measure import row

PARTS = (
    "engines",
    "networks",
    "seeds",
    "flow",
    "far",
    "table",
    "python",
    "margins",
    "library",
    "views",
    "page",
    "following",
    "large",
    "window",
    "filming",
    "start",
    "sweep",
)


def main() -> None:
    """Run all parts, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=(*PARTS, []), help="default: all")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default: 5)")
    arguments = parser.parse_args()
    parts = arguments.parts or PARTS
    if len(parts) > 1:
        # A process for each: memory that one part has freed would hide what another one leaks.
        for part in parts:
            command = [sys.executable, "-m", "tests.benchmarks", part]
            subprocess.run([*command, "--rounds", str(arguments.rounds)], check=True)
    elif "sweep" in parts:
        sweeps.main()
        sweeps.picture()
    elif "large" in parts:
        large.main()
    elif "filming" in parts:
        filming.main(arguments.rounds)
    elif "python" in parts:
        python.main(arguments.rounds)
    elif "following" in parts:
        following.main()
    elif "page" in parts:
        page.main()
    elif "start" in parts:
        first_start.main(arguments.rounds)
    else:
        _measure(parts, arguments.rounds)


def _measure(parts: Sequence[str], rounds: int) -> None:
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity") and not {"views", "window"} & set(parts):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # every contender on one core
    with threadpool_limits(1):
        row("medians of interleaved rounds", "ours", "theirs", "ratio", "")
        if "engines" in parts:
            engines.descent_speed(rounds)
            engines.stochastic_speed(rounds)
        if "networks" in parts:
            engines.network_speed(rounds)
        if "seeds" in parts:
            engines.seeds_speed(rounds)
        if "flow" in parts:
            flows.flow_speed(rounds)
        if "far" in parts:
            flows.far_flow()
        if "table" in parts:
            tables.tables(rounds)
            tables.recordings(rounds)
        if "margins" in parts:
            margins.global_margins()
    if "library" in parts:
        library.main(rounds)
    if "views" in parts:
        print()
        views.main()
    if "window" in parts:
        window.main(rounds)


if __name__ == "__main__":
    main()
