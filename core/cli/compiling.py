"""`warm`: compile the kernels, with progress that other programs can read.

The format is documented in core.compiled.kernel_groups.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
from dataclasses import asdict

from core.cli.output import print_notice
from core.compiled import kernel_groups, store
from core.errors import DiskError, InputError
from core.program.stopping import exit_when_input_closes

BEHIND = 5


def warm(arguments: argparse.Namespace) -> int:
    """Compile the groups of kernels of --only, by default all, that are not in the cache.

    Prints the progress: a line for each compiled group, or JSON with --progress. Raises InputError
    if nothing can be saved.
    """
    if arguments.progress:
        # Safe to kill: files enter the cache complete or not at all.
        exit_when_input_closes()
        if hasattr(os, "nice"):  # lower priority than the window or run that needs the kernels
            os.nice(BEHIND)
    requested = tuple(arguments.only)
    absent = kernel_groups.missing_groups(requested)
    if absent and (problem := store.problem()):
        raise InputError(problem)
    if absent and not arguments.progress:
        print_notice(
            f"Compiling {len(absent)} groups of kernels; each is saved as soon as it is ready."
        )
    # numba's objects are needed to the end; garbage collection would take a tenth of the time.
    gc.disable()
    # This import loads numba and is slow; the line above must be printed before.
    from core.dynamics.compilation import Progress, warm_up

    def report(progress: Progress) -> None:
        """Print that a group is compiled; raise DiskError if it could not be saved."""
        if kernel_groups.missing_groups([progress.group]):
            sentence = (
                f"The compiled kernels of {progress.group} could not be saved in "
                f"{store.folder()}; free some disk space, or set NUMBA_CACHE_DIR to another "
                "folder."
            )
            raise DiskError(store.problem() or sentence)
        if arguments.progress:
            print(json.dumps(asdict(progress)), flush=True)
        elif progress.group in absent:
            place = f"{progress.done} of {progress.of}"
            print_notice(f"{place}: {progress.group} ({progress.seconds:.1f} s)")

    warm_up(requested, report)
    print_notice(f"Compiled kernels are in {store.folder()}.")
    return 0
