"""`cost`: what a study costs to run, by a model measured on this machine."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from core.cli.output import print_json
from core.errors import InputError
from core.studies.study import load_study
from core.sweep.cost import estimate, lines
from core.sweep.pools import cores


def cost(arguments: argparse.Namespace) -> int:
    """Print core-seconds a cell, the total, the wall time and the bytes."""
    count = arguments.cores if arguments.cores is not None else cores()
    if count < 1:
        raise InputError(f"--cores {count}: give 1 or more.")
    study = load_study(arguments.study).at_size(arguments.size).with_settings(arguments.settings)
    found = estimate(study, count)
    if arguments.json:
        told = {"core_seconds": found.total, "bytes": found.bytes, "cores": count}
        groups = [asdict(group) for group in found.groups]
        print_json(told | {"wall_seconds": found.wall, "groups": groups})
    else:
        print("\n".join(lines(found)))
    return 0
