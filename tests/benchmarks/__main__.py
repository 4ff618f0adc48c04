"""`make bench`: the figures the program promises, measured here and now, on one core."""

from __future__ import annotations

import argparse
import subprocess
import sys

import torch
from threadpoolctl import threadpool_limits

from tests.benchmarks import engines, views, window
from tests.benchmarks.measure import row

PARTS = ("descent", "flow", "far", "views", "window")


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
        return
    torch.set_num_threads(1)
    with threadpool_limits(1):
        row("medians of interleaved rounds", "ours", "theirs", "ratio", "")
        if "descent" in parts:
            engines.descent_speed(arguments.rounds)
        if "flow" in parts:
            engines.flow_speed(arguments.rounds)
        if "far" in parts:
            engines.far_flow()
    if "views" in parts:
        print()
        views.main()
    if "window" in parts:
        window.main(arguments.rounds)


if __name__ == "__main__":
    main()
