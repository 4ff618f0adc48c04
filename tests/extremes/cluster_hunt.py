"""`python -m tests.extremes.cluster_hunt ARGUMENTS`: a hunt on a Dask cluster of two workers."""

from __future__ import annotations

import sys

from core.cli.main import main as command


def main(given: list[str]) -> int:
    """Return the status of `hunt ARGUMENTS --cluster ADDRESS`."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        return command(["hunt", *given, "--cluster", cluster.scheduler_address])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
