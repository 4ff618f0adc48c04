"""`info` and `table`: what a run file holds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from core import trust
from core.cli.output import print_json, progress
from core.runs import Run, code_of, open_run


def facts(run: Run) -> dict[str, Any]:
    """What `info` tells of a run."""
    from core.observables.registry import last_values

    data = run.dataset
    experiment = run.experiment.model_dump(mode="json", exclude_none=True)
    return {
        "status": run.status,
        "reason": run.reason,
        "engine": run.engine,
        "frames": run.frames,
        "bytes": run.bytes_on_disk,
        "sizes": {"n": data.n, "d": data.d, "m": run.experiment.network.m},
        "study": {"title": run.title, "source": run.source, **experiment},
        "scalars": last_values(run),
    }


def info(arguments: argparse.Namespace) -> int:
    """Print the facts of a run, as JSON or as lines."""
    with open_run(Path(arguments.run)) as run:
        told = facts(run)
        times = run.log10_time[: run.frames]
        events = run.events()
    if arguments.json:
        print_json(told)
        return 0
    sizes = told["sizes"]
    print(told["study"]["title"])
    print(f"  {told['status']}{', ' + told['reason'] if told['reason'] else ''}; {told['engine']}")
    print(f"  n = {sizes['n']}, d = {sizes['d']}, m = {sizes['m']}; {told['bytes'] / 1e6:.2f} MB")
    if times.size:
        print(f"  {told['frames']} frames to log10 t = {times[-1]:.6g}")
    for name, value in told["scalars"].items():
        print(f"  {name:<18} {value:.6g}")
    for frame, kind, payload in events:
        details = ", ".join(f"{key} {value}" for key, value in payload.items())
        print(f"  after frame {frame}: {kind} ({details})")
    return 0


def trust_run(arguments: argparse.Namespace) -> int:
    """Show the Python code that a run carries, and with --yes remember it as trusted."""
    path = Path(arguments.run)
    code = code_of(path)
    if code is None:
        print(f"{path} holds no code; it can be read as it is.")
        return 0
    # Without control characters, which would steer the terminal that shows it.
    print("".join(c if c.isprintable() or c in "\n\t" else " " for c in code).rstrip())
    if arguments.yes:
        trust.trust(code)
        print(f"# Trusted: {path} can be read now.")
    else:
        print(f"# Reading {path} runs this code. If you trust it, say so with --yes.")
    return 0


def table(arguments: argparse.Namespace) -> int:
    """Write the observables of a run."""
    from core.observables.table import write_table

    out = Path(arguments.out)
    with (
        open_run(Path(arguments.run)) as run,
        progress("table", run.frames, arguments.quiet) as bar,
    ):
        write_table(run, out, arguments.parameters, bar.add)
    print(out)
    return 0
