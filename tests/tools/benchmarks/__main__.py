"""`make bench`: measure the promised figures, and write their page (docs/benchmarks.md)."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

import torch
from threadpoolctl import threadpool_limits

from tests.tools.benchmarks import (
    cost,
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
    report,
    sharpness,
    sweeps,
    tables,
    views,
    window,
)

Part = Callable[[int], object]


def _its_own(part: Callable[[], object]) -> Part:
    """Return a part that sets its own number of measurements."""

    def measured(rounds: int) -> object:
        return part()

    return measured


def _engines(rounds: int) -> None:
    engines.descent_speed(rounds)
    engines.stochastic_speed(rounds)


def _networks(rounds: int) -> None:
    engines.network_speed(rounds)
    engines.optimiser_speed(rounds)


def _tables(rounds: int) -> None:
    tables.tables(rounds)
    tables.recordings(rounds)


def _sweeps(rounds: int) -> None:
    sweeps.main()
    sweeps.picture()


# On one core, every contender.
ON_ONE_CORE: dict[str, Part] = {
    "engines": _engines,
    "cost": cost.main,
    "networks": _networks,
    "flow": flows.flow_speed,
    "far": flows.far_flow,
    "table": _tables,
    "sharpness": sharpness.main,
    "margins": margins.global_margins,
}
ON_ALL: dict[str, Part] = {
    "python": python.main,
    "library": library.main,
    "views": _its_own(views.main),
    "page": _its_own(page.main),
    "following": _its_own(following.main),
    "large": large.main,
    "window": window.main,
    "filming": filming.main,
    "start": first_start.main,
    "sweep": _sweeps,
}
PARTS = ON_ONE_CORE | ON_ALL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=(*PARTS, []), help="default: all")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default: 5)")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        (part,) = arguments.parts
        alone(part, arguments.rounds)
    else:
        failed = each(arguments.parts or [*PARTS], arguments.rounds)
        if failed:
            raise SystemExit(f"These parts failed, and stand as they were: {', '.join(failed)}.")


def each(parts: Sequence[str], rounds: int) -> list[str]:
    """Run each part in its own process, since freed memory hides leaks; return the failed parts.

    The parts that failed, which do not keep the others from being measured.
    """
    failed = []
    for part in parts:
        command = [sys.executable, "-m", "tests.tools.benchmarks", part, "--alone"]
        environment = os.environ | report.environment(part)
        told = subprocess.run([*command, "--rounds", str(rounds)], check=False, env=environment)
        if told.returncode:
            failed.append(part)
        else:
            report.done(part)
            report.write(PARTS)
    print(f"\nAll figures: {report.PAGE}")
    return failed


def alone(part: str, rounds: int) -> None:
    if part in ON_ALL:
        ON_ALL[part](rounds)
        return
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with threadpool_limits(1):
        ON_ONE_CORE[part](rounds)


if __name__ == "__main__":
    main()
