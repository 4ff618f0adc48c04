"""`python -m tests.tools.fuzz [--every N]`: open all damaged files, and many in a window.

It counts what came of them."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter

from tests.tools.fuzz import window
from tests.tools.fuzz.formats import FORMATS

GOOD = ("opened", "refused")


def counted(place: int, step: int) -> tuple[Counter[str], list[str]]:
    """Return the outcomes of a format, and a line for each file neither opened nor refused.

    A process that dies takes one file with it; the next one goes on behind that.
    """
    kind, outcomes, faults = FORMATS[place], Counter[str](), []
    first = 0
    while first < kind.count:
        told = [str(number) for number in (place, first, kind.count, step)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.tools.fuzz.opening", *told],
            capture_output=True,
            text=True,
            check=False,
        )
        for line in done.stdout.splitlines():
            _, number, result = line.split(" ", 2)
            first = int(number) + step
            outcomes[result if result in GOOD else result.partition(":")[0]] += 1
            if result not in GOOD:
                faults.append(f"{kind.name} {number}: {result}")
        if done.returncode == 0:
            break
        outcomes["crashed"] += 1
        faults.append(f"{kind.name} {first}: crashed ({done.returncode}) {done.stderr[-300:]}")
        first += step
    return outcomes, faults


def main() -> int:
    """Print a line for each format and one for each fault; return 1 if there are faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.fuzz")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th file")
    step = parser.parse_args().every
    total, faults = Counter[str](), []
    for place, kind in enumerate(FORMATS):
        begun = time.perf_counter()
        outcomes, wrong = counted(place, step)
        told = ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items()))
        seconds = time.perf_counter() - begun
        print(f"{kind.name:<20} {outcomes.total():>5}: {told} ({seconds:.0f} s)", flush=True)
        total += outcomes
        faults += wrong
    outcomes, wrong = window.results(window.COUNT // step)
    told = ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items()))
    print(f"{'in a window':<20} {outcomes.total():>5}: {told}", flush=True)
    total += outcomes
    faults += wrong
    told = ", ".join(f"{count} {what}" for what, count in sorted(total.items()))
    print(f"{'all':<20} {total.total():>5}: {told}")
    for fault in faults:
        print(fault)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
