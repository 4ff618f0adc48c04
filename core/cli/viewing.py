"""`viewer`: the page that opens run files in a browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.cli.output import print_line


def viewer(arguments: argparse.Namespace) -> int:
    """Write the viewer into a folder."""
    from core.figures.viewer import save_viewer

    print_line(save_viewer(Path(arguments.out)))
    return 0
