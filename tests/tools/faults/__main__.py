"""Inject all faults and count the losses.

`python -m tests.tools.faults [--only WORDS] [--times N]` (`make faults`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.tools.faults.fault import Fault, Tally, kept_folder
from tests.tools.faults.mounting import CAN_MOUNT
from tests.tools.faults.table import FAULTS

HEAD = ("times", "reported", "lost", "crashes", "unclear", "left", "wrong")


def tried(fault: Fault, times: int) -> tuple[Tally, list[str]]:
    """Return the sum of all attempts, and a line for each failure."""
    total, wrong = Tally(), []
    for number in range(times):
        folder = Path(tempfile.mkdtemp(prefix="marginscope-fault-"))
        try:
            tally = fault.attempt(folder, number)
            if not tally.clean:
                wrong.append(f"{fault.name}, attempt {number}: {tally}")
            total += tally
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            at = f"{Path(last.filename).name}:{last.lineno}"
            wrong.append(f"{fault.name}, attempt {number}: {type(error).__name__} {error} ({at})")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return total, wrong


def main() -> int:
    """Print a line for each fault and one for all failures; return 1 if any occurred."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.faults")
    parser.add_argument("--only", default="", metavar="WORDS", help="faults with these in the name")
    parser.add_argument("--times", type=int, default=None, metavar="N", help="at most so often")
    options = parser.parse_args()
    os.environ["MARGINSCOPE_CACHE"] = str(kept_folder("cache"))
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    print(f"{'':<44}" + "".join(f"{name:>9}" for name in HEAD))
    faults, attempts, sums = [], 0, Tally()
    for fault in FAULTS:
        if options.only not in fault.name:
            continue
        if fault.mounts and not CAN_MOUNT:
            print(f"{fault.name:<44} left out: only root can mount a disk for it")
            continue
        begun = time.monotonic()
        times = fault.times if options.times is None else min(fault.times, options.times)
        tally, wrong = tried(fault, times)
        print(f"{fault.name:<44}{_row(times, tally, len(wrong))}  {time.monotonic() - begun:.0f} s")
        for line in wrong:
            print(f"    {line}", flush=True)
        faults += wrong
        attempts, sums = attempts + times, sums + tally
    print(f"{'all':<44}{_row(attempts, sums, len(faults))}", flush=True)
    return int(bool(faults))


def _row(times: int, tally: Tally, wrong: int) -> str:
    counts = (times, tally.told, tally.lost, tally.crashes, tally.unsaid, tally.left, wrong)
    return "".join(f"{count:>9,}" for count in counts)


if __name__ == "__main__":
    sys.exit(main())
